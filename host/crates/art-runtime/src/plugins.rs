//! Loading every component of a folder, in parallel, without letting a bad file keep the others from loading. What has to be
//! compiled comes last, since it takes so much longer that whoever waits is on_compiled. Small files come first: no large one takes
//! their place or their time.

use std::collections::HashSet;
use std::fmt;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use art_files::{NotRegular, open_entry};
use art_sandbox::{ComponentSource, LoadError, MAX_COMPONENT_BYTES, Plugin, Sandbox};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde::Serialize;

use crate::error::in_one_line;

/// What a folder held.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Components that loaded, by file name.
    pub plugins: Vec<Arc<Plugin>>,
    /// Files that were refused, by file name.
    pub refused: Vec<RefusedFile>,
}

/// A file that is not a tool of this host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedFile {
    /// Name of the file.
    pub file: String,
    /// Why it was refused and what to do.
    pub reason: String,
}

/// One line, whatever the name of the file.
impl fmt::Display for RefusedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = format!("{}: {}", self.file, self.reason).replace(['\n', '\r', '\t'], " ");
        f.write_str(&art_core::text::printable(&line))
    }
}

/// How far the components are compiled that no compiled code was found for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// Components that are compiled, or refused.
    pub done: usize,
    /// All of them.
    pub of: usize,
}

/// What whoever waits is on_compiled of compiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompileProgress<'a> {
    /// How far it is: before the first component and after each.
    Count(CompileCount),
    /// The file of a component that takes long. Each is on_compiled once.
    Slow(&'a str),
}

/// Is on_compiled of compiling. Never, when nothing has to be compiled.
pub type OnCompiled<'a> = &'a (dyn Fn(CompileProgress<'_>) + Sync);

/// Bytes that the host keeps of all components of a folder, when all of them are called: some thousand ordinary tools.
const FOLDER_BYTES: u64 = 256 << 20;
/// Bytes of all files of a folder that are read: a second's work.
const FOLDER_FILES: u64 = 512 << 20;
/// The part of the time for compiling that every component gets while there is any left, however many there are.
const LEAST_SHARE: u32 = 12;
/// What takes longer is on_compiled of by name.
const SLOW: Duration = Duration::from_secs(2);

/// Loads every `.wasm` file of `folder`. A folder that does not exist holds nothing.
///
/// # Errors
/// When the folder exists and cannot be read.
pub fn load_folder(sandbox: &Sandbox, folder: &Path, on_compiled: OnCompiled<'_>) -> std::io::Result<Loaded> {
    let dir = match Dir::open_ambient_dir(folder, ambient_authority()) {
        Ok(dir) => dir,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Loaded::default()),
        Err(error) => return Err(error),
    };
    let (files, refused) = component_files(&dir, FOLDER_FILES)?;
    let dir = Arc::new(dir);
    let (mut results, mut fresh) = (Vec::new(), Vec::new());
    let known = |name: &str, wasm: &[u8], source: &ComponentSource| sandbox.load_without_compiling(name, wasm, source);
    for (file, loaded) in in_parallel(&files, |file| load_file(&dir, file, known)) {
        match loaded.transpose() {
            Some(loaded) => results.push((file, loaded)),
            None => fresh.push(file),
        }
    }
    fresh.sort();
    results.extend(compile(sandbox, &dir, &fresh, on_compiled));
    Ok(collect(results, refused))
}

/// An entry of the folder that is meant to be a component. The smallest comes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ComponentFile {
    bytes: u64,
    name: String,
}

type Results<T> = Vec<(ComponentFile, Result<T, String>)>;

/// Splits the processor time that a start has for compiling, so that slow components cannot use up the shares of the others.
struct Shares {
    least: Duration,
    left: Mutex<Left>,
}

struct Left {
    time: Duration,
    /// Components that have not begun.
    waiting: u32,
}

impl Shares {
    /// Shares out `time` of every processor.
    fn new(time: Duration, components: usize) -> Self {
        let left = Left {
            time: time * u32::try_from(threads()).unwrap_or(1),
            waiting: u32::try_from(components).unwrap_or(u32::MAX),
        };
        Self {
            least: time / LEAST_SHARE,
            left: Mutex::new(left),
        }
    }

    /// Takes the share of the next component.
    fn take(&self) -> Duration {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let share = (left.time / left.waiting.max(1)).max(self.least).min(left.time);
        left.waiting = left.waiting.saturating_sub(1);
        left.time -= share;
        share
    }

    /// Returns what a component did not use to the others.
    fn give_back(&self, rest: Duration) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).time += rest;
    }
}

/// How many components are loaded at once.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Loads what has to be compiled.
fn compile(sandbox: &Sandbox, dir: &Arc<Dir>, files: &[ComponentFile], on_compiled: OnCompiled<'_>) -> Results<Plugin> {
    if files.is_empty() {
        return Vec::new();
    }
    let compiled = |done| CompileProgress::Count(CompileCount { done, of: files.len() });
    on_compiled(compiled(0));
    let done = Mutex::new(0);
    let shares = sandbox.compile_time().map(|time| Shares::new(time, files.len()));
    in_parallel(files, |file| {
        let (share, begun) = (shares.as_ref().map(Shares::take), Instant::now());
        let loaded = report_if_slow(&file.name, on_compiled, || {
            load_file(dir, file, |name, wasm, source| {
                sandbox.compile_and_load(name, wasm, source, share)
            })
        });
        if let (Some(shares), Some(share)) = (&shares, share) {
            // Elapsed time approximates processor time, since one component is compiled per processor.
            shares.give_back(share.saturating_sub(begun.elapsed()));
        }
        // Held while it is on_compiled, so that the numbers come in their order.
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += 1;
        on_compiled(compiled(*done));
        loaded
    })
}

/// Does `work` for a file, and tells of it by name when it takes long.
fn report_if_slow<T>(file: &str, on_compiled: OnCompiled<'_>, work: impl FnOnce() -> T) -> T {
    let (working, ended) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if ended.recv_timeout(SLOW) == Err(RecvTimeoutError::Timeout) {
                on_compiled(CompileProgress::Slow(file));
            }
        });
        let done = work();
        drop(working);
        done
    })
}

/// The results of `load` for each file, in any order. One that panics is refused.
fn in_parallel<T: Send>(
    files: &[ComponentFile],
    load: impl Fn(&ComponentFile) -> Result<T, String> + Sync,
) -> Results<T> {
    let results = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let loaded = catch_unwind(AssertUnwindSafe(|| load(file)));
            let loaded = loaded.unwrap_or_else(|_panic| Err("the host panicked while it was loaded".to_owned()));
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.push((file.clone(), loaded));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads().min(files.len()) {
            scope.spawn(work);
        }
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Sorted by file name, so that the first of two files with one tool name is always the same.
fn collect(mut results: Results<Plugin>, refused: Vec<RefusedFile>) -> Loaded {
    results.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    let plugins = Vec::new();
    let mut loaded = Loaded { plugins, refused };
    let weight = |result: &Result<Plugin, String>| {
        let plugin = result.as_ref().ok()?;
        Some((plugin.digest(), plugin.inspection().host_bytes))
    };
    let weights: Vec<_> = results.iter().map(|(_, result)| weight(result)).collect();
    for ((file, result), fits) in results.into_iter().zip(fitting(&weights, FOLDER_BYTES)) {
        let too_heavy = || {
            let mib = FOLDER_BYTES >> 20;
            format!(
                "with the lighter tools it would take more than {mib} MiB of the host's memory (hint: move some away)"
            )
        };
        match result.and_then(|plugin| if fits { Ok(plugin) } else { Err(too_heavy()) }) {
            Ok(plugin) => loaded.plugins.push(Arc::new(plugin)),
            Err(reason) => loaded.refused.push(RefusedFile {
                file: file.name,
                reason,
            }),
        }
    }
    loaded.refused.sort_by(|a, b| a.file.cmp(&b.file));
    loaded
}

/// Which of the components may be in memory together, the lightest first: a heavy one takes the place of no other. The same
/// file twice counts once.
fn fitting(weights: &[Option<(String, u64)>], most: u64) -> Vec<bool> {
    let mut lightest: Vec<_> = weights.iter().flatten().collect();
    lightest.sort_by_key(|(digest, bytes)| (*bytes, digest));
    lightest.dedup();
    let (mut held, mut fit) = (0_u64, HashSet::new());
    for (digest, bytes) in lightest {
        held = held.saturating_add(*bytes);
        if held <= most {
            fit.insert(digest);
        }
    }
    let fits = |weight: &Option<(String, u64)>| weight.as_ref().is_none_or(|(digest, _)| fit.contains(digest));
    weights.iter().map(fits).collect()
}

/// The `.wasm` entries, the smallest first, and the entries that are meant to be components and are not read: because of their
/// name, or because the smaller ones are all that is read of one folder.
fn component_files(dir: &Dir, most_bytes: u64) -> std::io::Result<(Vec<ComponentFile>, Vec<RefusedFile>)> {
    let (mut files, mut refused) = (Vec::new(), Vec::new());
    for entry in dir.entries()? {
        let entry = entry?;
        let name = entry.file_name();
        let ending = Path::new(&name).extension().unwrap_or_default();
        if !ending.eq_ignore_ascii_case("wasm") {
            continue;
        }
        let reason = match name.to_str() {
            Some(utf8) if ending == "wasm" => {
                files.push(ComponentFile {
                    // What is gone has none, and is on_compiled of when it is opened.
                    bytes: entry.metadata().map_or(0, |found| found.len()),
                    name: utf8.to_owned(),
                });
                continue;
            }
            Some(_) => "its name has to end with `.wasm` in lower case; rename it",
            None => "its name is not UTF-8; rename it",
        };
        let file = name.to_string_lossy().into_owned();
        let reason = reason.to_owned();
        refused.push(RefusedFile { file, reason });
    }
    files.sort();
    let mut read = 0_u64;
    let too_many = files.iter().position(|file| {
        read = read.saturating_add(file.bytes.min(MAX_COMPONENT_BYTES));
        read > most_bytes
    });
    let unread = files.split_off(too_many.unwrap_or(files.len()));
    refused.extend(unread.into_iter().map(|file| RefusedFile {
        file: file.name,
        reason: format!(
            "is not read: with the smaller files the folder has more than {} MiB (hint: move some away)",
            most_bytes >> 20
        ),
    }));
    Ok((files, refused))
}

fn load_file<T>(
    dir: &Arc<Dir>,
    ComponentFile { name: file, .. }: &ComponentFile,
    load: impl Fn(&str, &[u8], &ComponentSource) -> Result<T, LoadError>,
) -> Result<T, String> {
    let _span = tracing::info_span!("component", file).entered();
    let wasm = read(dir, file)?;
    let name = file.strip_suffix(".wasm").unwrap_or(file);
    load(name, &wasm, &again(dir, file)).map_err(|error| in_one_line(&error))
}

/// Reads the file again, when a call needs it compiled.
fn again(dir: &Arc<Dir>, file: &str) -> ComponentSource {
    let (dir, file) = (Arc::clone(dir), file.to_owned());
    Arc::new(move || read(&dir, &file).map_err(std::io::Error::other))
}

/// Reads a regular file of the folder: no link, no pipe, no device, nothing beyond the size limit.
fn read(dir: &Dir, file: &str) -> Result<Vec<u8>, String> {
    let io = |error: std::io::Error| format!("could not be read: {error}");
    let opened = open_entry(dir, file).map_err(|error| {
        if NotRegular::is_cause_of(&error) {
            return NotRegular.to_string();
        }
        io(error)
    })?;
    let length = opened.metadata().map_err(io)?.len();
    if length > MAX_COMPONENT_BYTES {
        return Err(format!(
            "the file has {length} bytes, more than the {MAX_COMPONENT_BYTES} allowed"
        ));
    }
    let mut bytes = Vec::new();
    opened
        .take(MAX_COMPONENT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(io)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_name_that_is_no_name_of_a_component_is_refused_and_not_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        for name in [&b"a.wasm"[..], b"B.WASM", b"c\xff.wasm", b"README.md"] {
            std::fs::write(folder.path().join(OsStr::from_bytes(name)), "").unwrap();
        }
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        let (files, mut refused) = component_files(&dir, FOLDER_FILES).unwrap();
        refused.sort_by(|a, b| a.file.cmp(&b.file));
        assert_eq!(
            files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(),
            ["a.wasm"]
        );
        assert_eq!(
            refused.iter().map(|refused| refused.file.as_str()).collect::<Vec<_>>(),
            ["B.WASM", "c\u{fffd}.wasm"]
        );
    }

    #[test]
    fn the_smallest_files_are_read_and_the_others_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in [("a.wasm", 700), ("b.wasm", 300), ("c.wasm", 200), ("d.wasm", 400)] {
            std::fs::write(folder.path().join(name), vec![0; bytes]).unwrap();
        }
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        let names = |most_bytes| {
            let (files, refused) = component_files(&dir, most_bytes).unwrap();
            let files: Vec<_> = files.into_iter().map(|file| file.name).collect();
            let refused: Vec<_> = refused.into_iter().map(|refused| refused.file).collect();
            (files.join(" "), refused.join(" "))
        };
        assert_eq!(names(900), ("c.wasm b.wasm d.wasm".to_owned(), "a.wasm".to_owned()));
        assert_eq!(names(899), ("c.wasm b.wasm".to_owned(), "d.wasm a.wasm".to_owned()));
    }

    #[test]
    fn each_component_gets_a_fair_share_of_the_time_that_is_left() {
        let share = |components| Shares::new(Duration::from_secs(60), components).take();
        let processors = u32::try_from(threads()).unwrap();
        assert_eq!(share(6), Duration::from_secs(10) * processors);
        assert_eq!(share(10_000), Duration::from_secs(5));
        assert_eq!(share(1), Duration::from_secs(60) * processors);
        assert_eq!(Shares::new(Duration::ZERO, 1).take(), Duration::ZERO);
    }

    #[test]
    fn what_a_component_did_not_use_is_left_to_the_others() {
        let shares = Shares::new(Duration::from_secs(60), 2);
        let first = shares.take();
        shares.give_back(first);
        assert_eq!(shares.take(), first * 2);
    }

    #[test]
    fn the_lightest_components_fit_and_the_same_one_counts_once() {
        let weight = |digest: &str, bytes| Some((digest.to_owned(), bytes));
        let weights = [
            weight("heavy", 60),
            weight("light", 10),
            None,
            weight("middle", 40),
            weight("middle", 40),
        ];
        assert_eq!(fitting(&weights, 50), [false, true, true, true, true]);
        assert_eq!(fitting(&weights, 110), [true; 5]);
        assert_eq!(fitting(&weights, 9), [false, false, true, false, false]);
    }

    #[test]
    fn a_refused_file_is_told_in_one_line() {
        let refused = RefusedFile {
            file: "a\nb\u{1b}[2J.wasm".to_owned(),
            reason: "empty".to_owned(),
        };
        assert_eq!(refused.to_string(), "a b\\u{1b}[2J.wasm: empty");
    }
}
