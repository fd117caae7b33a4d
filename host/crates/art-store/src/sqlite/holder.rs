//! The holders of leases. A [lease](crate::Lease) is the right to write the runs of a thread. Each store that can write is a
//! holder, and keeps a locked file while it is open. By this lock other processes see whether the holder of a lease still runs.
//! The leases of a holder that has ended are free.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use art_core::id;

use super::file::{io_error, with_suffix};
use crate::error::StoreError;
use crate::fail_point::FailPoint;

/// This store as a holder of leases. Dropping it removes its file.
#[derive(Debug)]
pub(super) struct Holder {
    /// Identifier, which is also the name of the file.
    pub(super) id: String,
    path: PathBuf,
    /// The system releases the lock on the file when the process ends, even by a crash.
    _file: File,
}

impl Holder {
    /// Creates the file of a new holder and removes the files of holders that have ended. The caller must have the
    /// [guard](super::file::Guard), a lock that only one store has at a time. Otherwise another store could remove the new file
    /// before it is locked.
    pub(super) fn register(database: &Path) -> Result<Self, StoreError> {
        let holders = Holders::of(database);
        let created = DirBuilder::new().recursive(true).mode(0o700).create(&holders.directory);
        created.map_err(|source| io_error("create the directory", &holders.directory, source))?;
        holders.remove_ended()?;
        let id = id::time_ordered();
        let path = holders.directory.join(&id);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(|source| io_error("create", &path, source))?;
        FailPoint::BeforeHolderLock.reach();
        file.lock().map_err(|source| io_error("lock", &path, source))?;
        Ok(Self { id, path, _file: file })
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// The holders of leases in a database.
#[derive(Clone, Debug)]
pub(super) struct Holders {
    directory: PathBuf,
}

impl Holders {
    /// Returns the holders of the database at that path.
    pub(super) fn of(database: &Path) -> Self {
        Self {
            directory: with_suffix(database, "-hosts"),
        }
    }

    /// Returns whether a holder may still run. If it has ended, removes its file.
    pub(super) fn is_alive(&self, id: &str) -> bool {
        // An identifier from a database that somebody tampered with must not lead out of the directory.
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return false;
        }
        let path = self.directory.join(id);
        // A shared lock: two processes that check at the same time can both have it, and do not take each other for the holder.
        match art_files::open_regular(&path).map(|file| file.try_lock_shared()) {
            Ok(Ok(())) => {
                remove(&path);
                false
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            // `WouldBlock` means that the holder has the lock. After any other error it is uncertain whether the holder runs. It
            // then counts as running, and its leases stay until they expire.
            Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_))) | Err(_) => true,
        }
    }

    fn remove_ended(&self) -> Result<(), StoreError> {
        let entries = fs::read_dir(&self.directory).map_err(|source| io_error("list", &self.directory, source))?;
        for entry in entries.flatten() {
            if let Some(id) = entry.file_name().to_str() {
                // Removes the file as a side effect.
                self.is_alive(id);
            }
        }
        Ok(())
    }
}

fn remove(path: &Path) {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::debug!(path = %path.display(), %error, "failed to remove the file of a holder of leases");
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_is_alive_until_it_is_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("art.db");
        let holders = Holders::of(&database);
        let (first, second) = (
            Holder::register(&database).unwrap(),
            Holder::register(&database).unwrap(),
        );
        assert!(holders.is_alive(&first.id) && holders.is_alive(&second.id));
        let id = first.id.clone();
        drop(first);
        assert!(!holders.is_alive(&id));
        assert!(holders.is_alive(&second.id));
    }

    #[test]
    fn registering_a_holder_removes_the_files_of_ended_holders() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("art.db");
        let holder = Holder::register(&database).unwrap();
        let ended = holder.path.with_file_name("ended");
        fs::write(&ended, "").unwrap();
        drop(Holder::register(&database).unwrap());
        assert!(!ended.exists());
        assert!(holder.path.exists());
    }

    #[test]
    fn an_invalid_identifier_names_no_holder_and_removes_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("art.db");
        let _holder = Holder::register(&database).unwrap();
        let other = directory.path().join("other");
        fs::write(&other, "").unwrap();
        assert!(!Holders::of(&database).is_alive("../other"));
        assert!(!Holders::of(&database).is_alive(""));
        assert!(other.exists());
    }
}
