//! A [`Disk`] records, in order, what happens to the files of a database, and makes operations fail if a test asks for that.

use std::ffi::c_int;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::ffi::{
    SQLITE_CANTOPEN, SQLITE_FULL, SQLITE_IOERR_FSYNC, SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_WRITE,
    SQLITE_OK, SQLITE_OPEN_CREATE, SQLITE_OPEN_READONLY, SQLITE_OPEN_READWRITE,
};

/// An operation on a file, or the moment at which a caller of the store was told that its write is durable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DiskEvent {
    Create {
        file: String,
    },
    Write {
        file: String,
        offset: u64,
        bytes: Vec<u8>,
    },
    Truncate {
        file: String,
        size: u64,
    },
    Sync {
        file: String,
    },
    /// The sync failed. The operating system has forgotten what was not on the disk yet.
    SyncFailed {
        file: String,
    },
    Delete {
        file: String,
        /// Whether SQLite asked for a sync of the directory afterwards.
        syncs_directory: bool,
    },
    /// A caller of the store was told that its write is durable.
    Acknowledged {
        /// Index into [`WRITERS`](crate::history::WRITERS).
        writer: usize,
    },
}

/// An operation that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Open,
    Write,
    Truncate,
    Sync,
    /// The index of the write-ahead log (`-shm`) grows.
    GrowIndex,
}

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The device has an error.
    Device,
    /// No space is left.
    Full,
    /// Half of the bytes are written, and then no space is left.
    HalfWritten,
    /// The file can only be read.
    ReadOnly,
}

/// Which operations fail, as a test asks for it, and how.
#[derive(Clone, Debug)]
pub(crate) struct FailurePlan {
    pub(crate) operation: Operation,
    /// End of the names of the files whose operations fail.
    pub(crate) file_suffix: &'static str,
    /// Number of such operations that succeed before the first one fails.
    pub(crate) successes_before: u64,
    /// Number of operations that fail then. Later ones succeed again.
    pub(crate) failures: u64,
    pub(crate) failure: Failure,
}

/// The files of a database and what happened to them.
#[derive(Debug)]
pub(crate) struct Disk {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    events: Vec<DiskEvent>,
    plan: Option<FailurePlan>,
    /// Number of operations that failed since the plan was made.
    failure_count: u64,
}

/// The disks of all tests that run at the moment.
static DISKS: Mutex<Vec<Arc<Disk>>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the disk of a file, or `None` if no test records what happens to the file.
pub(crate) fn find_disk(path: &Path) -> Option<Arc<Disk>> {
    let text = path.to_str()?;
    let disks = lock(&DISKS);
    let disk = disks
        .iter()
        .find(|disk| text.starts_with(disk.path.to_str().unwrap_or_default()));
    disk.cloned()
}

/// A guard: the operations on its disk are recorded, and can fail, until the guard is dropped.
#[derive(Debug)]
pub(crate) struct Recording(Arc<Disk>);

impl Recording {
    /// Records what happens to the database at that path, and to the files beside it whose names begin with its name.
    pub(crate) fn start(path: &Path) -> Self {
        crate::vfs::install();
        let disk = Arc::new(Disk {
            path: path.to_owned(),
            state: Mutex::default(),
        });
        lock(&DISKS).push(Arc::clone(&disk));
        Self(disk)
    }
}

impl std::ops::Deref for Recording {
    type Target = Disk;

    fn deref(&self) -> &Disk {
        &self.0
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        lock(&DISKS).retain(|disk| !Arc::ptr_eq(disk, &self.0));
    }
}

impl Disk {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Returns what happened so far.
    pub(crate) fn events(&self) -> Vec<DiskEvent> {
        self.state().events.clone()
    }

    /// Records that a caller was told that its write is durable.
    pub(crate) fn acknowledge(&self, writer: usize) {
        self.state().events.push(DiskEvent::Acknowledged { writer });
    }

    /// Makes the operations of `plan` fail from now on, and no others. Resets the count of failures.
    pub(crate) fn fail(&self, plan: FailurePlan) {
        let mut state = self.state();
        (state.plan, state.failure_count) = (Some(plan), 0);
    }

    /// Lets all operations succeed from now on.
    pub(crate) fn stop_failing(&self) {
        self.state().plan = None;
    }

    /// Returns the number of operations that failed by the last plan.
    pub(crate) fn failure_count(&self) -> u64 {
        self.state().failure_count
    }

    /// Records the creation of a file if opening it creates it. Returns the flags with which the VFS of the system has to open
    /// the file, or the error for SQLite.
    pub(crate) fn open(&self, name: &str, flags: c_int) -> Result<c_int, c_int> {
        let exists = fs::exists(self.path.with_file_name(name)).unwrap_or(true);
        let mut state = self.state();
        match state.next_failure(Operation::Open, name) {
            // Opens the file for reading only, as the VFS of the system does if the process has no permission to write the file.
            Some(Failure::ReadOnly) => Ok(flags & !(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) | SQLITE_OPEN_READONLY),
            Some(_) => Err(SQLITE_CANTOPEN),
            None => {
                if !exists && flags & SQLITE_OPEN_CREATE != 0 {
                    state.events.push(DiskEvent::Create { file: name.to_owned() });
                }
                Ok(flags)
            }
        }
    }

    pub(crate) fn delete(&self, name: &str, syncs_directory: bool) {
        let file = name.to_owned();
        self.state().events.push(DiskEvent::Delete { file, syncs_directory });
    }

    /// Records a write. Returns how many of the bytes are written, and the result code for SQLite.
    pub(crate) fn write(&self, name: &str, offset: u64, bytes: &[u8]) -> (usize, c_int) {
        let mut state = self.state();
        let (written, code) = match state.next_failure(Operation::Write, name) {
            None => (bytes.len(), SQLITE_OK),
            Some(Failure::Device | Failure::ReadOnly) => (0, SQLITE_IOERR_WRITE),
            Some(Failure::Full) => (0, SQLITE_FULL),
            Some(Failure::HalfWritten) => (bytes.len() / 2, SQLITE_FULL),
        };
        if written > 0 {
            state.events.push(DiskEvent::Write {
                file: name.to_owned(),
                offset,
                bytes: bytes[..written].to_vec(),
            });
        }
        (written, code)
    }

    pub(crate) fn truncate(&self, name: &str, size: u64) -> Result<(), c_int> {
        let mut state = self.state();
        if state.next_failure(Operation::Truncate, name).is_some() {
            return Err(SQLITE_IOERR_TRUNCATE);
        }
        let file = name.to_owned();
        state.events.push(DiskEvent::Truncate { file, size });
        Ok(())
    }

    pub(crate) fn sync(&self, name: &str) -> Result<(), c_int> {
        let mut state = self.state();
        let file = name.to_owned();
        if state.next_failure(Operation::Sync, name).is_some() {
            state.events.push(DiskEvent::SyncFailed { file });
            return Err(SQLITE_IOERR_FSYNC);
        }
        state.events.push(DiskEvent::Sync { file });
        Ok(())
    }

    pub(crate) fn grow_index(&self) -> Result<(), c_int> {
        match self.state().next_failure(Operation::GrowIndex, "") {
            Some(_) => Err(SQLITE_IOERR_SHMSIZE),
            None => Ok(()),
        }
    }
}

impl State {
    /// Returns how the operation that is about to be made fails by the plan, or `None` if it succeeds.
    fn next_failure(&mut self, operation: Operation, name: &str) -> Option<Failure> {
        let plan = self.plan.as_mut()?;
        if plan.operation != operation || !name.ends_with(plan.file_suffix) {
            return None;
        }
        if plan.successes_before > 0 {
            plan.successes_before -= 1;
            return None;
        }
        if plan.failures == 0 {
            return None;
        }
        plan.failures -= 1;
        self.failure_count += 1;
        Some(plan.failure)
    }
}
