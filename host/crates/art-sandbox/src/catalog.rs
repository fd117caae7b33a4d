//! The catalogue of a plugins folder: what its files contain, so that a start of the host reads only the files that have changed.
//!
//! The catalogue is an authenticated file of the cache. The host uses the entry of a component instead of its file as long as the
//! file has the [`FileStamp`] of the entry. The first call of the tool reads the file and fails if its digest is not the one in
//! the entry.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::inspect::Inspection;
use crate::plugin::Plugin;
use crate::sandbox::Sandbox;
use crate::schema_text::SchemaText;

/// Maximum size of a catalogue, in bytes. The components for which there is no room are read at each start.
const MAX_BYTES: usize = 64 << 20;
/// Time for which a changed file has no stamp. File systems store times with limited precision, so the stamp could still be the
/// same after another change within this time.
const SETTLING_TIME: Duration = Duration::from_secs(2);

/// The identity of a file and of its last change. The owner of a file can set its modification time, but not its change time
/// (`ctime`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileStamp {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamp {
    /// Returns the stamp of a file, or `None` if it was changed so recently that a further change may leave the stamp as it is.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Option<Self> {
        let stamp = Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        };
        stamp.is_settled(SystemTime::now()).then_some(stamp)
    }

    fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(SystemTime::UNIX_EPOCH);
        let (changed, _) = self.changed;
        let changed = u64::try_from(changed).map(Duration::from_secs);
        matches!((now, changed), (Ok(now), Ok(changed)) if now > changed + SETTLING_TIME)
    }
}

/// What the host knows of a component without reading its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedComponent {
    stamp: FileStamp,
    /// Digest of the whole file.
    #[serde(with = "hex")]
    pub(crate) file_digest: blake3::Hash,
    /// Digest of the component without its `art:schema` section.
    #[serde(with = "hex")]
    pub(crate) digest: blake3::Hash,
    pub(crate) inspection: Inspection,
    pub(crate) schema: SchemaText,
}

impl ListedComponent {
    /// Returns the entry of a component whose file has this stamp.
    #[must_use]
    pub fn new(plugin: &Plugin, stamp: FileStamp) -> Self {
        Self {
            stamp,
            file_digest: plugin.file_digest,
            digest: *plugin.program.digest(),
            inspection: plugin.inspection.clone(),
            schema: plugin.schema_text.clone(),
        }
    }
}

/// Digests as hexadecimal text.
mod hex {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(digest: &blake3::Hash, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&digest.to_hex())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<blake3::Hash, D::Error> {
        let text = String::deserialize(deserializer)?;
        blake3::Hash::from_hex(text).map_err(D::Error::custom)
    }
}

/// The components of a folder, by the names of their files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog(BTreeMap<String, ListedComponent>);

impl Catalog {
    /// Returns the entry of a file with this name and stamp.
    #[must_use]
    pub fn get(&self, file: &str, stamp: FileStamp) -> Option<&ListedComponent> {
        self.0.get(file).filter(|listed| listed.stamp == stamp)
    }

    /// Returns the number of components.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no components.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a component.
    pub fn add(&mut self, file: &str, listed: ListedComponent) {
        self.0.insert(file.to_owned(), listed);
    }

    /// Writes a line for each component, and leaves out those with which the text would exceed `max_bytes`.
    fn to_text(&self, max_bytes: usize) -> String {
        let mut text = String::new();
        for entry in &self.0 {
            match serde_json::to_string(&entry) {
                Ok(line) if text.len() + line.len() < max_bytes => {
                    text.push_str(&line);
                    text.push('\n');
                }
                _ => {}
            }
        }
        text
    }

    /// Reads a catalogue from its text, and skips the lines that are not valid.
    fn from_text(text: &str) -> Self {
        let entries = text.lines().map(serde_json::from_str::<(String, ListedComponent)>);
        Self(entries.filter_map(Result::ok).collect())
    }
}

impl Sandbox {
    /// Returns the stored catalogue of a folder. It is empty if there is none, or if the sandbox has no cache.
    #[must_use]
    pub fn catalog(&self, folder: &Path) -> Catalog {
        // The cache takes an engine because a hash of its configuration is in the name of each cached file.
        let text = match (self.cache(), self.first_engine()) {
            (Some(cache), Ok(engine)) => cache.catalog(engine, &folder_key(folder)),
            _ => None,
        };
        text.map(|text| Catalog::from_text(&text)).unwrap_or_default()
    }

    /// Stores the catalogue of a folder for later starts.
    pub fn store_catalog(&self, folder: &Path, catalog: &Catalog) {
        if let (Some(cache), Ok(engine)) = (self.cache(), self.first_engine()) {
            cache.put_catalog(engine, &folder_key(folder), &catalog.to_text(MAX_BYTES));
        }
    }
}

/// Returns the key of a folder in the cache.
fn folder_key(folder: &Path) -> blake3::Hash {
    let path = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    blake3::hash(path.as_os_str().as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use art_core::tool::ExecutionMode;

    use super::*;

    /// Returns the stamp of a file that was changed at this time, in seconds since the Unix epoch.
    fn stamp_of_change_at(changed: i64) -> FileStamp {
        FileStamp {
            device: 1,
            inode: 2,
            bytes: 3,
            modified: (4, 5),
            changed: (changed, 0),
        }
    }

    fn component_changed_at(changed: i64) -> ListedComponent {
        ListedComponent {
            stamp: stamp_of_change_at(changed),
            file_digest: blake3::hash(b"file"),
            digest: blake3::hash(b"component"),
            inspection: Inspection::default(),
            schema: SchemaText {
                name: "tool".to_owned(),
                description: "Text\nin two lines.".to_owned(),
                input_schema: "{}".to_owned(),
                output_schema: None,
                execution_mode: ExecutionMode::Functional,
                blocking_config: None,
                display_config: None,
                examples: Vec::new(),
            },
        }
    }

    /// Returns a catalogue of files that were all changed at second 1000.
    fn catalog_of(files: &[&str]) -> Catalog {
        let mut catalog = Catalog::default();
        files
            .iter()
            .for_each(|file| catalog.add(file, component_changed_at(1_000)));
        catalog
    }

    #[test]
    fn a_catalogue_is_read_as_it_was_written() {
        let written = catalog_of(&["a.wasm", "b\n.wasm"]);
        assert_eq!(Catalog::from_text(&written.to_text(MAX_BYTES)), written);
    }

    #[test]
    fn an_entry_is_found_only_for_the_same_stamp() {
        let catalog = catalog_of(&["a.wasm"]);
        assert!(catalog.get("a.wasm", stamp_of_change_at(1_000)).is_some());
        assert!(catalog.get("a.wasm", stamp_of_change_at(1_001)).is_none());
        assert!(catalog.get("b.wasm", stamp_of_change_at(1_000)).is_none());
    }

    #[test]
    fn a_file_that_was_changed_just_now_has_no_stamp() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
        let is_settled = |changed| stamp_of_change_at(changed).is_settled(now);
        let (just_before, in_the_future, long_before) = (999, 2_000, 990);
        assert!(!is_settled(just_before) && !is_settled(in_the_future));
        assert!(is_settled(long_before));
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(FileStamp::of(&file.as_file().metadata().unwrap()), None);
    }

    #[test]
    fn components_for_which_the_text_has_no_room_are_left_out() {
        let all = catalog_of(&["a.wasm", "b.wasm", "c.wasm"]);
        let one_byte_too_few = all.to_text(MAX_BYTES).len() - 1;
        let text = all.to_text(one_byte_too_few);
        assert_eq!(Catalog::from_text(&text), catalog_of(&["a.wasm", "b.wasm"]));
    }
}
