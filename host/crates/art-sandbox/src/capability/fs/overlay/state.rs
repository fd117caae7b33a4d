//! The changes of a call to the files under one grant.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

use art_staging::{Before, Draft};

use super::host_files::HostFiles;
use super::{Found, Result, StagingArea};
use crate::capability::fs::bindings::types::{DescriptorType, DirectoryEntry, ErrorCode};
use crate::capability::fs::fault::code_of_error;
use crate::capability::fs::quota::Quota;

/// The granted files and the draft, which are opened at the first use, and the changes of the call since then.
#[derive(Debug)]
pub(super) struct State {
    host: HostFiles,
    draft: Draft,
    entries: BTreeMap<String, Entry>,
}

/// The change of the call at one path.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) kind: EntryKind,
    /// What was at the path on the host before the change.
    pub(super) before: Before,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    /// A file with the contents of a blob.
    File(String),
    Directory,
    /// What was there is removed.
    Nothing,
}

impl State {
    /// Opens the granted directory, and a draft for it.
    pub(super) fn open(granted: &Path, area: &StagingArea) -> Result<Self> {
        let (host, path) = HostFiles::open(granted)?;
        let draft = area.staging.draft(area.origin.clone(), &path);
        let draft = draft.inspect_err(|error| tracing::error!(%error, "no changes can be staged"));
        Ok(Self {
            host,
            draft: draft.ok().ok_or(ErrorCode::Io)?,
            entries: BTreeMap::new(),
        })
    }

    /// Returns the draft and the change at each path.
    pub(super) fn into_parts(self) -> (Draft, BTreeMap<String, Entry>) {
        (self.draft, self.entries)
    }

    /// Returns the path below the opened directory, for a path below the granted directory or file.
    pub(super) fn key(&self, below: &str) -> Result<String> {
        match (self.host.name(), below) {
            ("", below) => Ok(below.to_owned()),
            (name, "") => Ok(name.to_owned()),
            _ => Err(ErrorCode::NotDirectory),
        }
    }

    /// Returns whether a directory is granted, and not a single file.
    pub(super) fn grants_directory(&self) -> bool {
        self.host.name().is_empty()
    }

    /// Returns what is at a path. Refuses a path with a link in place of a directory. A link at the end is found, but not
    /// followed.
    pub(super) fn find(&self, key: &str) -> Result<Found> {
        match self.entries.get(key).map(|entry| &entry.kind) {
            Some(EntryKind::File(blob)) => {
                let file = self.draft.open_blob(blob).map_err(|error| code_of_error(&error))?;
                return Ok(Found::Staged(file));
            }
            Some(EntryKind::Directory) => return Ok(Found::NewDirectory),
            Some(EntryKind::Nothing) => return Ok(Found::Nothing),
            None => {}
        }
        for above in ancestors(key) {
            match self.entries.get(above).map(|entry| &entry.kind) {
                Some(EntryKind::Nothing) => return Ok(Found::Nothing),
                Some(EntryKind::File(_)) => return Err(ErrorCode::NotDirectory),
                Some(EntryKind::Directory) | None => {}
            }
            match self.host.find(above)? {
                Some(metadata) if metadata.is_symlink() => return Err(ErrorCode::Loop),
                _ => {}
            }
        }
        let found = self.host.find(key)?;
        Ok(found.map_or(Found::Nothing, |metadata| Found::Host(Box::new(metadata))))
    }

    pub(super) fn open_host_file(&mut self, key: &str) -> Result<File> {
        self.host.open_file(key)
    }

    /// Returns what was at a path on the host before the call changed it, for the check before a commit.
    fn before(&mut self, key: &str) -> Result<Before> {
        if let Some(entry) = self.entries.get(key) {
            return Ok(entry.before);
        }
        match self.host.find(key)? {
            None if self.host.was_opened(key) => Ok(Before::Unclear),
            None => Ok(Before::Nothing),
            Some(metadata) if metadata.is_dir() => Ok(Before::Directory),
            Some(metadata) if !metadata.is_file() => Ok(Before::Unclear),
            Some(_) => self.host.digest(key, None),
        }
    }

    /// Copies a file of the host into the draft, or creates an empty file for it there if `truncates` is set.
    pub(super) fn copy_up(&mut self, key: &str, truncates: bool, quota: &Quota) -> Result<File> {
        if !truncates {
            let length = self.host.find(key)?.map_or(0, |metadata| metadata.len());
            quota.add_bytes(length)?;
        }
        let (blob, mut file) = self.draft.new_blob().map_err(|error| code_of_error(&error))?;
        let copy = (!truncates).then_some(&mut file);
        let before = self.host.digest(key, copy)?;
        let kind = EntryKind::File(blob);
        self.entries.insert(key.to_owned(), Entry { kind, before });
        Ok(file)
    }

    pub(super) fn create(&mut self, key: &str, quota: &Quota) -> Result<File> {
        self.check_new(key)?;
        quota.add_file()?;
        let (blob, file) = self.draft.new_blob().map_err(|error| code_of_error(&error))?;
        self.put(key, EntryKind::File(blob))?;
        Ok(file)
    }

    pub(super) fn check_new(&self, key: &str) -> Result<()> {
        match self.find(key)? {
            Found::Nothing => self.check_parent(key),
            _ => Err(ErrorCode::Exist),
        }
    }

    fn check_parent(&self, key: &str) -> Result<()> {
        let parent = key.rsplit_once('/').map_or("", |(parent, _)| parent);
        match self.find(parent)? {
            Found::Nothing => Err(ErrorCode::NoEntry),
            found if found.is_directory() => Ok(()),
            _ => Err(ErrorCode::NotDirectory),
        }
    }

    /// Records the change at a path. Refuses to put a file in place of a directory of the host, or the reverse.
    pub(super) fn put(&mut self, key: &str, kind: EntryKind) -> Result<()> {
        if key.is_empty() {
            return Err(ErrorCode::NotPermitted);
        }
        let before = self.before(key)?;
        let is_other_kind = matches!(
            (&kind, before),
            (EntryKind::Directory, Before::File(_) | Before::Unclear) | (EntryKind::File(_), Before::Directory)
        );
        if is_other_kind {
            return Err(ErrorCode::NotPermitted);
        }
        let is_as_before = matches!(
            (&kind, before),
            (EntryKind::Nothing, Before::Nothing) | (EntryKind::Directory, Before::Directory)
        );
        if is_as_before {
            self.entries.remove(key);
        } else {
            self.entries.insert(key.to_owned(), Entry { kind, before });
        }
        Ok(())
    }

    pub(super) fn list(&mut self, key: &str) -> Result<Vec<DirectoryEntry>> {
        match self.find(key)? {
            Found::Nothing => return Err(ErrorCode::NoEntry),
            found if !found.is_directory() => return Err(ErrorCode::NotDirectory),
            _ => {}
        }
        let mut entries = self.staged_entries(key);
        let changed_names: BTreeSet<String> = entries.iter().map(|(name, _)| name.clone()).collect();
        for (name, type_) in self.host.list(key)? {
            if !changed_names.contains(&name) {
                entries.push((name, Some(type_)));
            }
        }
        let entry = |(name, type_): (String, Option<DescriptorType>)| Some(DirectoryEntry { type_: type_?, name });
        Ok(entries.into_iter().filter_map(entry).collect())
    }

    /// Returns the names in a directory that the call changed, with their types. A removed name has the type `None`.
    fn staged_entries(&self, key: &str) -> Vec<(String, Option<DescriptorType>)> {
        let prefix = if key.is_empty() {
            String::new()
        } else {
            format!("{key}/")
        };
        let below = self
            .entries
            .range(prefix.clone()..)
            .take_while(|(path, _)| path.starts_with(&prefix));
        let direct = below.filter_map(|(path, entry)| {
            let name = path
                .strip_prefix(&prefix)
                .filter(|name| !name.contains('/') && !name.is_empty())?;
            let type_ = match entry.kind {
                EntryKind::File(_) => Some(DescriptorType::RegularFile),
                EntryKind::Directory => Some(DescriptorType::Directory),
                EntryKind::Nothing => None,
            };
            Some((name.to_owned(), type_))
        });
        direct.collect()
    }

    /// Moves a file of the draft.
    pub(super) fn move_file(&mut self, old: &str, new: &str) -> Result<()> {
        let Some(Entry { kind, .. }) = self.entries.get(old).cloned() else {
            return Err(ErrorCode::Io);
        };
        if self.find(new)?.is_directory() {
            return Err(ErrorCode::IsDirectory);
        }
        self.check_parent(new)?;
        self.put(new, kind)?;
        self.put(old, EntryKind::Nothing)
    }
}

/// Returns the directories between the granted directory and a path, the outermost first.
fn ancestors(key: &str) -> impl Iterator<Item = &str> {
    key.match_indices('/').filter_map(|(index, _)| key.get(..index))
}
