//! The entries of a directory.

use std::collections::BTreeSet;
use std::ffi::OsString;

use art_core::capability::Access;
use cap_std::fs::{DirEntry, FileType, FileTypeExt as _, ReadDir};

use super::Fault;
use super::bindings::types::{DescriptorType, DirectoryEntry, ErrorCode};
use super::mount::{HostPlace, identity};
use super::name::guest_name;
use super::path::GuestPath;
use super::tree::{FileTree, GrantedPath, Target};
use super::writes::is_own_name;
use crate::host_memory::{Charge, HostMemory};

/// Maximum number of entries of one directory that a guest gets.
pub(super) const MAX_ENTRIES: u32 = 100_000;
/// Upper bound of the memory of a known entry without its name, in bytes.
const ENTRY_BYTES: usize = 64;

/// The entries that the guest has not read yet, of a directory that it lists.
#[derive(Debug)]
#[expect(unreachable_pub, reason = "the generated bindings export it again")]
pub struct Listing {
    entries: Entries,
    /// How many more entries of [`Entries::OnHost`] the guest may get. Those of [`Entries::Known`] are not counted.
    remaining: u32,
    /// What the names that are kept take of the memory of the host.
    _charge: Option<Charge>,
}

#[derive(Debug)]
enum Entries {
    /// Entries that were all known when the listing was created: those of a directory whose changes are staged, or of a directory
    /// above rights.
    Known(std::vec::IntoIter<DirectoryEntry>),
    /// The entries of a directory on the host, which are read as the guest asks for them.
    OnHost {
        granted: GrantedPath,
        place: HostPlace,
        entries: ReadDir,
        /// The names of files that the call wrote and that are not on the host, as far as is known.
        new_names: BTreeSet<OsString>,
    },
}

impl FileTree {
    /// Returns the entries of a directory.
    pub(super) fn list(&self, directory: &str) -> Result<Listing, Fault> {
        match self.target(GuestPath::join(directory, ".", Access::Read)?, Access::Read)? {
            Target::AboveRights(path) => Listing::known(self.entries_above_rights(&path), self.memory()),
            Target::Granted(granted) => {
                if let Some((overlay, host_path)) = granted.overlay() {
                    let entries = overlay.list(&host_path)?;
                    return Listing::known(entries, self.memory());
                }
                let place = granted.place(Access::Read)?;
                let entries = place.dir.read_dir(&place.path);
                let entries = entries.map_err(|error| granted.fault(&error, Access::Read))?;
                let writes = &granted.mount.writes;
                let new_names = match writes.is_empty() {
                    true => BTreeSet::new(),
                    false => {
                        let metadata = place.metadata(true);
                        let metadata = metadata.map_err(|error| granted.fault(&error, Access::Read))?;
                        writes.new_names_in(identity(&metadata)).into_iter().collect()
                    }
                };
                let bytes = new_names.iter().map(|name| name.len() + ENTRY_BYTES).sum();
                let charge = self.memory().try_charge(bytes);
                Ok(Listing {
                    entries: Entries::OnHost {
                        granted,
                        place,
                        entries,
                        new_names,
                    },
                    remaining: MAX_ENTRIES,
                    _charge: Some(charge.ok_or(ErrorCode::InsufficientMemory)?),
                })
            }
        }
    }

    /// Returns the entries of a directory above rights: only those that lead to rights.
    fn entries_above_rights(&self, path: &str) -> Vec<DirectoryEntry> {
        let entry = |(name, mount): (String, Option<std::sync::Arc<super::mount::Mount>>)| {
            let type_ = match mount {
                None => DescriptorType::Directory,
                Some(mount) => {
                    let follow = true;
                    let metadata = mount.place("").and_then(|place| place.metadata(follow));
                    metadata.map_or(DescriptorType::Unknown, |metadata| type_of(metadata.file_type()))
                }
            };
            DirectoryEntry { type_, name }
        };
        self.names_leading_to_rights(path).into_iter().map(entry).collect()
    }
}

impl Listing {
    /// Creates a listing without entries.
    pub(super) fn empty() -> Self {
        Self {
            entries: Entries::Known(Vec::new().into_iter()),
            remaining: MAX_ENTRIES,
            _charge: None,
        }
    }

    /// Creates a listing of known entries, and charges for them. Fails if the call has no memory of the host left for them.
    fn known(entries: Vec<DirectoryEntry>, memory: &HostMemory) -> Result<Self, Fault> {
        let bytes = entries.iter().map(|entry| entry.name.len() + ENTRY_BYTES).sum();
        let charge = memory.try_charge(bytes).ok_or(ErrorCode::InsufficientMemory)?;
        Ok(Self {
            entries: Entries::Known(entries.into_iter()),
            remaining: MAX_ENTRIES,
            _charge: Some(charge),
        })
    }

    /// Returns the next entry, or `None` at the end. An entry whose name is not UTF-8 has its escaped name.
    pub(super) fn next(&mut self) -> Result<Option<DirectoryEntry>, Fault> {
        match &mut self.entries {
            Entries::Known(entries) => Ok(entries.next()),
            Entries::OnHost {
                granted,
                place,
                entries,
                new_names,
            } => {
                for entry in entries {
                    self.remaining = self.remaining.checked_sub(1).ok_or(ErrorCode::Overflow)?;
                    let entry = entry.map_err(|error| granted.fault(&error, Access::Read))?;
                    new_names.remove(&entry.file_name());
                    let entry = directory_entry(&entry, place);
                    if !is_own_name(&entry.name) {
                        return Ok(Some(entry));
                    }
                }
                Ok(new_names.pop_first().map(|name| DirectoryEntry {
                    type_: DescriptorType::RegularFile,
                    name: guest_name(name, &place.dir, &place.path),
                }))
            }
        }
    }
}

fn directory_entry(entry: &DirEntry, directory: &HostPlace) -> DirectoryEntry {
    DirectoryEntry {
        type_: entry.file_type().map_or(DescriptorType::Unknown, type_of),
        name: guest_name(entry.file_name(), &directory.dir, &directory.path),
    }
}

/// Returns the type of a file or directory in the terms of the guest's interface.
pub(super) fn type_of(file_type: FileType) -> DescriptorType {
    match file_type {
        _ if file_type.is_dir() => DescriptorType::Directory,
        _ if file_type.is_file() => DescriptorType::RegularFile,
        _ if file_type.is_symlink() => DescriptorType::SymbolicLink,
        _ if file_type.is_block_device() => DescriptorType::BlockDevice,
        _ if file_type.is_char_device() => DescriptorType::CharacterDevice,
        _ if file_type.is_fifo() => DescriptorType::Fifo,
        _ if file_type.is_socket() => DescriptorType::Socket,
        _ => DescriptorType::Unknown,
    }
}
