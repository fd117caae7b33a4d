//! The export of a recorded run: one file, with which another host can replay the run without the store of the first host.
//!
//! An export has one JSON object in each line, and the only key of an object says what the line is:
//!
//! | line | value |
//! |---|---|
//! | `header`, first | `format`, always `art-run`, and `version`, now 1 |
//! | `run` | the run, as `art runs list --json` shows it |
//! | `entry`, for each event | an entry of the journal; `payload` is the event's text exactly as stored, which `digest` covers |
//! | `blob` | `digest`, and `data` in base64, of a large value of an event, or of a file or a log that the run names |
//! | `component` | `name`, `digest`, and `data` in base64, of a component that a call ran |
//! | `end`, last | `digest`: the BLAKE3 digest of all bytes before this line |
//!
//! An export has no API keys and no secrets, since no journal has them. Whoever reads an export sees the question, the
//! instructions of the operator, all results and all files of the run.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use art_core::json;
use art_sandbox::{Plugin, Sandbox};
use art_store::limits::MAX_JOURNAL_ENTRIES;
use art_store::{JournalEntry, RunRecord, digest, verify_journal};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::error::{RuntimeError, in_one_line};
use crate::journal;
use crate::plugins::{RefusedFile, component_digest, read_component};
use crate::recording::{Component, Recording};

/// Maximum size of an export, in bytes.
pub const MAX_FILE_BYTES: u64 = 256 << 20;
/// Maximum size of all payloads of the journal in an export, in bytes. It is lower than that of the export because payloads are
/// parsed, and parsed values need many times the memory of their text.
pub const MAX_JOURNAL_BYTES: usize = 64 << 20;
/// Maximum number of components in an export.
pub const MAX_COMPONENTS: usize = 256;
/// Maximum number of components of a recording that are compiled for a replay. Compiling one may take minutes.
pub const MAX_COMPILED_COMPONENTS: usize = 8;
/// Maximum number of blobs in an export.
const MAX_BLOBS: usize = 100_000;
/// Maximum memory of the values in all events of an export together, in bytes. Small values take many times the memory of their
/// text, and a replay keeps the results of all calls.
const MAX_PARSED_BYTES: usize = 1 << 30;

const FORMAT: &str = "art-run";
const VERSION: u32 = 1;

/// A line of an export.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Line {
    Header { format: String, version: u32 },
    Run(Box<RunRecord>),
    Entry(JournalEntry),
    Blob { digest: String, data: String },
    Component { name: String, digest: String, data: String },
    End { digest: String },
}

impl Recording {
    /// Adds the components that the calls ran. Their files in `folder` are read again. Returns the digests of the missing
    /// components: those that are not among `plugins`, and those that cannot be read.
    ///
    /// # Errors
    /// Fails if the journal cannot be understood.
    pub fn add_components(&mut self, folder: &Path, plugins: &[Arc<Plugin>]) -> Result<Vec<String>, RuntimeError> {
        let mut missing = Vec::new();
        for digest in self.component_digests()? {
            let plugin = plugins.iter().find(|plugin| plugin.digest() == digest);
            match plugin.map(|plugin| (plugin.name(), read_component(folder, plugin))) {
                Some((name, Ok(wasm))) => self.components.push(Component {
                    name: name.to_owned(),
                    wasm,
                }),
                Some((_, Err(_))) | None => missing.push(digest),
            }
        }
        Ok(missing)
    }

    /// Loads the components that the calls ran, each once and [`MAX_COMPILED_COMPONENTS`] at most. Returns the loaded components,
    /// and those that the sandbox refuses or that are too many. Blocks the thread while they are compiled.
    ///
    /// # Errors
    /// Fails if the journal cannot be understood.
    pub fn load_components(&self, sandbox: &Sandbox) -> Result<(Vec<Arc<Plugin>>, Vec<RefusedFile>), RuntimeError> {
        let (mut plugins, mut refused) = (Vec::new(), Vec::new());
        let by_digest: BTreeMap<_, _> = self
            .components
            .iter()
            .map(|component| (component_digest(&component.wasm), component))
            .collect();
        let called = self.component_digests()?;
        let called = called.iter().filter_map(|digest| by_digest.get(digest));
        for (index, Component { name, wasm }) in called.enumerate() {
            let loaded = match index < MAX_COMPILED_COMPONENTS {
                true => sandbox.load(name, wasm).map_err(|error| in_one_line(&error)),
                false => Err(format!(
                    "a replay compiles at most {MAX_COMPILED_COMPONENTS} components of a file"
                )),
            };
            match loaded {
                Ok(plugin) => plugins.push(Arc::new(plugin)),
                Err(reason) => refused.push(RefusedFile {
                    file: format!("{name}.wasm"),
                    reason,
                }),
            }
        }
        Ok((plugins, refused))
    }

    /// Returns the bytes of an export of the recording.
    ///
    /// # Errors
    /// Fails if the export would be over a size limit, or have too many events or components.
    pub fn to_file(&self) -> Result<Vec<u8>, RuntimeError> {
        let mut counts = PartCounts::default();
        let mut file = Vec::new();
        let header = Line::Header {
            format: FORMAT.to_owned(),
            version: VERSION,
        };
        write_line(&mut file, &header)?;
        write_line(&mut file, &Line::Run(Box::new(self.run.clone())))?;
        for entry in &self.entries {
            counts.add_entry(entry)?;
            write_line(&mut file, &Line::Entry(entry.clone()))?;
        }
        for (digest, bytes) in &self.blobs {
            counts.add_blob()?;
            let (digest, data) = (digest.clone(), STANDARD.encode(bytes));
            write_line(&mut file, &Line::Blob { digest, data })?;
        }
        for Component { name, wasm } in &self.components {
            counts.add_component()?;
            let line = Line::Component {
                name: name.clone(),
                digest: component_digest(wasm),
                data: STANDARD.encode(wasm),
            };
            write_line(&mut file, &line)?;
        }
        let digest = digest(&file);
        write_line(&mut file, &Line::End { digest })?;
        Ok(file)
    }

    /// Reads a recording from an export, and verifies the export and its journal.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is not a recorded run, has another version, was changed, or exceeds a limit.
    pub fn from_file(file: impl Read) -> Result<Self, RuntimeError> {
        let bytes = read_bounded(file)?;
        let lines = verify_lines(&bytes)?;
        let mut lines = lines.split_inclusive(|byte| *byte == b'\n');
        check_header(lines.next().unwrap_or_default())?;
        let mut parts = Parts::default();
        for line in lines {
            parts.add(parse_line(line)?)?;
        }
        parts.into_recording()
    }
}

/// Reads a whole export, up to the size limit.
fn read_bounded(file: impl Read) -> Result<Vec<u8>, RuntimeError> {
    let mut bytes = Vec::new();
    let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| damaged(format!("it could not be read: {error}")))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large("bytes", MAX_FILE_BYTES));
    }
    Ok(bytes)
}

/// Returns all lines but the last one. Fails unless the last one has their digest.
fn verify_lines(bytes: &[u8]) -> Result<&[u8], RuntimeError> {
    if !bytes.starts_with(br#"{"header":"#) {
        return Err(damaged("it is no recorded run; `art runs export last FILE` writes one"));
    }
    let no_end = || damaged("its end is missing");
    let without_last_break = bytes.strip_suffix(b"\n").ok_or_else(no_end)?;
    let last_break = without_last_break.iter().rposition(|byte| *byte == b'\n');
    let start_of_last = last_break.ok_or_else(no_end)? + 1;
    let (lines, last) = bytes.split_at_checked(start_of_last).ok_or_else(no_end)?;
    match parse_line(last) {
        Ok(Line::End { digest: expected }) if digest(lines) == expected => Ok(lines),
        Ok(Line::End { .. }) => Err(damaged("it was changed after it was written")),
        _ => Err(no_end()),
    }
}

fn check_header(line: &[u8]) -> Result<(), RuntimeError> {
    match parse_line(line)? {
        Line::Header { format, version } if format == FORMAT && version == VERSION => Ok(()),
        Line::Header { format, version } if format == FORMAT => Err(damaged(format!(
            "it has version {version}, and this program reads version {VERSION}; use the program that wrote it"
        ))),
        _ => Err(damaged("it is no recorded run; `art runs export last FILE` writes one")),
    }
}

fn parse_line(line: &[u8]) -> Result<Line, RuntimeError> {
    json::parse_slice(line).map_err(|error| damaged(format!("a line of it cannot be understood: {error}")))
}

fn decode_base64(data: &str) -> Result<Vec<u8>, RuntimeError> {
    STANDARD
        .decode(data)
        .map_err(|error| damaged(format!("a line of it is not base64: {error}")))
}

fn damaged(reason: impl std::fmt::Display) -> RuntimeError {
    RuntimeError::Damaged(format!("the file cannot be used: {reason}"))
}

fn too_large(what: &str, limit: u64) -> RuntimeError {
    RuntimeError::Damaged(format!("a recorded run as a file has at most {limit} {what}"))
}

/// Appends a line to an export.
fn write_line(file: &mut Vec<u8>, line: &Line) -> Result<(), RuntimeError> {
    serde_json::to_writer(&mut *file, line).map_err(RuntimeError::internal)?;
    file.write_all(b"\n").map_err(RuntimeError::internal)?;
    if file.len() as u64 > MAX_FILE_BYTES {
        return Err(too_large("bytes", MAX_FILE_BYTES));
    }
    Ok(())
}

/// The parts of an export that were read so far.
#[derive(Default)]
struct Parts {
    run: Option<RunRecord>,
    entries: Vec<JournalEntry>,
    blobs: BTreeMap<String, Vec<u8>>,
    components: Vec<Component>,
    counts: PartCounts,
}

impl Parts {
    fn add(&mut self, line: Line) -> Result<(), RuntimeError> {
        match line {
            Line::Run(run) if self.run.is_none() => self.run = Some(*run),
            Line::Entry(entry) => {
                self.counts.add_entry(&entry)?;
                self.entries.push(entry);
            }
            Line::Blob { digest: expected, data } => {
                self.counts.add_blob()?;
                let bytes = decode_base64(&data)?;
                if digest(&bytes) != expected {
                    return Err(damaged("a file in it does not have its digest"));
                }
                self.blobs.insert(expected, bytes);
            }
            Line::Component { name, digest, data } => {
                self.counts.add_component()?;
                let wasm = decode_base64(&data)?;
                if component_digest(&wasm) != digest {
                    return Err(damaged("a component in it does not have its digest"));
                }
                self.components.push(Component { name, wasm });
            }
            Line::Header { .. } | Line::Run(_) | Line::End { .. } => {
                return Err(damaged("it has a line in a place where such a line is not allowed"));
            }
        }
        Ok(())
    }

    fn into_recording(self) -> Result<Recording, RuntimeError> {
        let run = self.run.ok_or_else(|| damaged("it has no run"))?;
        check_memory(&self.entries, &self.blobs)?;
        verify_journal(&run, &self.entries)?;
        Ok(Recording {
            run,
            entries: self.entries,
            blobs: self.blobs,
            components: self.components,
        })
    }
}

/// Fails if the events would take too much memory. A value that several events refer to counts for each of them.
fn check_memory(entries: &[JournalEntry], blobs: &BTreeMap<String, Vec<u8>>) -> Result<(), RuntimeError> {
    let blob_bytes = blobs
        .iter()
        .map(|(digest, bytes)| (digest.as_str(), json::parsed_bytes(bytes)));
    let blob_bytes: BTreeMap<_, _> = blob_bytes.collect();
    let mut remaining = MAX_PARSED_BYTES;
    let mut take = |bytes: usize| -> Result<(), RuntimeError> {
        let left = remaining.checked_sub(bytes);
        remaining = left.ok_or_else(|| too_large("bytes of memory for its events", MAX_PARSED_BYTES as u64))?;
        Ok(())
    };
    for entry in entries {
        take(json::parsed_bytes(entry.payload.as_bytes()))?;
        for digest in journal::value_digests(&entry.payload) {
            take(blob_bytes.get(digest.as_str()).copied().unwrap_or_default())?;
        }
    }
    Ok(())
}

/// Counts the parts of an export whose number or size is limited, and fails when a limit is exceeded.
#[derive(Default)]
struct PartCounts {
    entries: u64,
    journal_bytes: usize,
    components: usize,
    blobs: usize,
}

impl PartCounts {
    fn add_entry(&mut self, entry: &JournalEntry) -> Result<(), RuntimeError> {
        self.entries += 1;
        self.journal_bytes = self.journal_bytes.saturating_add(entry.payload.len());
        if self.entries > MAX_JOURNAL_ENTRIES {
            return Err(too_large("events", MAX_JOURNAL_ENTRIES));
        }
        if self.journal_bytes > MAX_JOURNAL_BYTES {
            return Err(too_large("bytes of events", MAX_JOURNAL_BYTES as u64));
        }
        Ok(())
    }

    fn add_blob(&mut self) -> Result<(), RuntimeError> {
        self.blobs += 1;
        if self.blobs > MAX_BLOBS {
            return Err(too_large("files and large values", MAX_BLOBS as u64));
        }
        Ok(())
    }

    fn add_component(&mut self) -> Result<(), RuntimeError> {
        self.components += 1;
        if self.components > MAX_COMPONENTS {
            return Err(too_large("components", MAX_COMPONENTS as u64));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use art_agent::{RunEvent, RunStart};
    use art_core::agent::AgentProps;
    use art_core::provider::RuntimeProviderConfig;
    use art_store::NewEvent;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::store_with_run;

    /// Returns a recording of a run that has only started, with a file whose content is `file` and a component whose bytes are
    /// `wasm`.
    fn recording() -> Recording {
        let props = AgentProps {
            query: "q".to_owned(),
            thread_id: "t".to_owned(),
            trace_id: Some("r".to_owned()),
            ..AgentProps::default()
        };
        let started = RunEvent::Started {
            at: 0,
            start: Box::new(RunStart::new(props, RuntimeProviderConfig::default())),
        };
        let event = NewEvent {
            kind: "started".to_owned(),
            payload: art_store::JsonText::of("an event", "r", &started).unwrap(),
        };
        let read = async {
            let store = store_with_run(|commit| commit.events = vec![event]).await;
            Recording::read(&store, "r").await.unwrap()
        };
        let mut recording = futures_util::FutureExt::now_or_never(read).unwrap();
        recording.blobs.insert(digest(b"file"), b"file".to_vec());
        recording.components.push(Component {
            name: "tool".to_owned(),
            wasm: b"wasm".to_vec(),
        });
        recording
    }

    fn exported_file() -> Vec<u8> {
        recording().to_file().unwrap()
    }

    /// Returns the lines of [`exported_file`] before the last one, which has their digest.
    fn lines_without_end() -> String {
        let file = String::from_utf8(exported_file()).unwrap();
        let start_of_end = file.trim_end().rfind('\n').unwrap() + 1;
        file[..start_of_end].to_owned()
    }

    /// Returns a file of these lines with the right digest at its end.
    fn file_with_end(lines: &str) -> Vec<u8> {
        let digest = digest(lines.as_bytes());
        format!("{lines}{{\"end\":{{\"digest\":\"{digest}\"}}}}\n").into_bytes()
    }

    /// Returns the message with which a file is refused.
    fn refusal(file: &[u8]) -> String {
        Recording::from_file(file).unwrap_err().to_string()
    }

    #[test]
    fn a_recording_is_unchanged_after_its_file_is_written_and_read() {
        let recording = recording();
        let file = recording.to_file().unwrap();
        assert_eq!(Recording::from_file(file.as_slice()).unwrap(), recording);
    }

    #[test]
    fn a_file_of_another_kind_or_a_later_version_is_refused() {
        assert!(refusal(b"hello").contains("no recorded run"));
        assert!(refusal(b"").contains("no recorded run"));
        let other = file_with_end("{\"header\":{\"format\":\"x\",\"version\":1}}\n");
        assert!(refusal(&other).contains("no recorded run"));
        let later = file_with_end("{\"header\":{\"format\":\"art-run\",\"version\":2}}\n");
        assert!(refusal(&later).contains("it has version 2"));
    }

    #[test]
    fn a_file_without_its_last_line_is_refused() {
        assert!(refusal(lines_without_end().as_bytes()).contains("its end is missing"));
    }

    #[test]
    fn a_file_whose_journal_was_changed_is_refused_even_if_the_digest_of_the_file_is_right() {
        let changed = lines_without_end().replace(r#"\"query\":\"q\""#, r#"\"query\":\"p\""#);
        let changed = file_with_end(&changed);
        let error = Recording::from_file(changed.as_slice()).unwrap_err();
        assert!(
            matches!(error, RuntimeError::Store(art_store::StoreError::BrokenChain { .. })),
            "{error}"
        );
    }

    #[test]
    fn an_export_with_a_blob_or_component_that_does_not_match_its_digest_is_refused() {
        for (content, what) in [(b"file", "a file"), (b"wasm", "a component")] {
            let changed = lines_without_end().replace(&STANDARD.encode(content), "AAAA");
            let changed = file_with_end(&changed);
            assert!(refusal(&changed).contains(what), "{what}");
        }
    }

    #[test]
    fn more_components_than_allowed_are_not_written() {
        let mut recording = recording();
        let component = recording.components.remove(0);
        recording.components = vec![component; MAX_COMPONENTS];
        assert!(recording.to_file().is_ok());
        recording.components.push(recording.components[0].clone());
        assert!(recording.to_file().is_err());
    }

    proptest! {
        #[test]
        fn a_file_with_any_changed_byte_is_refused(position in any::<prop::sample::Index>(), flip in 1_u8..) {
            let mut file = exported_file();
            let index = position.index(file.len());
            file[index] ^= flip;
            prop_assert!(Recording::from_file(file.as_slice()).is_err());
        }

        #[test]
        fn a_truncated_file_is_refused(position in any::<prop::sample::Index>()) {
            let file = exported_file();
            prop_assert!(Recording::from_file(&file[..position.index(file.len())]).is_err());
        }

        #[test]
        fn no_content_of_a_file_makes_the_reader_panic(
            lines in prop::collection::vec("\\PC{0,60}", 0..5),
            has_end in any::<bool>(),
        ) {
            let header = "{\"header\":{\"format\":\"art-run\",\"version\":1}}\n";
            let lines = format!("{header}{}\n", lines.join("\n"));
            let file = if has_end { file_with_end(&lines) } else { lines.into_bytes() };
            prop_assert!(Recording::from_file(file.as_slice()).is_err());
        }
    }
}
