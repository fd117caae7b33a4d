//! Writes, syncs and truncations that fail.
//!
//! Each test lets the first operation fail, then the second, and so on until nothing fails any more. Whatever fails, no caller is told
//! that a write is durable which is not: after each failure the power is cut as well, and a sync that failed has lost what was not
//! on the disk yet, as Linux does. A commit that fails changes nothing that a reader of this store sees.

use std::path::Path;

use art_store::{Lease, SqliteStore, Store, StoreError};
use tempfile::TempDir;

use crate::chance::Chance;
use crate::disk::{Failure, Fault, Operation, Recording};
use crate::history::{self, Stored, WRITERS, block_on, new_path, step, stored};
use crate::image::{Kept, Platter};

const WRITER: &str = WRITERS[0];

/// A store whose disk can fail, and what the writer was told.
struct Failing {
    _directory: TempDir,
    before: Platter,
    disk: Recording,
    store: SqliteStore,
    lease: Lease,
}

impl Failing {
    fn new() -> Self {
        let (directory, path) = new_path();
        history::create(&path);
        let before = Platter::of(directory.path(), "art.db");
        let disk = Recording::start(&path);
        let store = history::open(&path).unwrap();
        let lease = block_on(store.acquire_lease(WRITER)).unwrap();
        Self {
            _directory: directory,
            before,
            disk,
            store,
            lease,
        }
    }

    fn commit(&self) -> Result<(), StoreError> {
        let run = block_on(self.store.get_run(WRITER)).unwrap();
        let after = run.map_or(0, |run| run.last_sequence);
        block_on(self.store.commit(step(WRITER, &self.lease, after))).map(drop)
    }

    fn stored(&self) -> Stored {
        block_on(stored(&self.store, WRITER))
    }

    /// Returns what is stored after the power is cut now.
    fn after_power_loss(&self, kept: Kept) -> Stored {
        let mut platter = self.before.clone();
        self.disk.events().iter().for_each(|event| platter.apply(event));
        let (directory, path) = new_path();
        platter.write_image(directory.path(), kept, &mut Chance::new(1));
        block_on(stored(&history::open(&path).unwrap(), WRITER))
    }
}

fn fault(operation: Operation, failure: Failure, after: u64) -> Fault {
    Fault {
        operation,
        suffix: "",
        after,
        times: 1,
        failure,
    }
}

/// Lets operation number `after` of one commit fail. Returns the error, or `None` if the commit needed fewer operations.
fn fail_one(failing: &Failing, operation: Operation, failure: Failure, after: u64) -> Option<StoreError> {
    let before = failing.stored();
    failing.disk.fail(fault(operation, failure, after));
    let result = failing.commit();
    failing.disk.mend();
    let Err(error) = result else {
        assert_eq!(
            failing.disk.failures(),
            0,
            "a commit was acknowledged without its operation {after}"
        );
        return None;
    };
    assert_eq!(failing.stored(), before, "a part of a failed commit is visible");
    Some(error)
}

#[test]
fn a_commit_for_which_there_is_no_space_changes_nothing_and_later_ones_succeed() {
    for failure in [Failure::Full, Failure::Short] {
        let failing = Failing::new();
        failing.commit().unwrap();
        let mut refusals = 0;
        while let Some(error) = fail_one(&failing, Operation::Write, failure, refusals) {
            assert!(matches!(error, StoreError::NoSpace { .. }), "{error:?}");
            assert!(error.to_string().ends_with("free some space and try again"));
            refusals += 1;
        }
        assert!(refusals > 10);
        assert_eq!(failing.after_power_loss(Kept::Nothing), failing.stored());
    }
}

#[test]
fn a_failed_commit_leaves_nothing_after_the_power_was_cut() {
    let failing = Failing::new();
    failing.commit().unwrap();
    let before = failing.stored();
    for after in [0, 1, 2, 7, 10] {
        assert!(fail_one(&failing, Operation::Write, Failure::Short, after).is_some());
        assert_eq!(failing.after_power_loss(Kept::Everything), before);
    }
}

/// Asserts that after a failure no write is accepted, reads go on, and nothing that was acknowledged is lost.
fn assert_poisoned(failing: Failing, before: &Stored) {
    let refused = failing.commit().unwrap_err();
    assert!(matches!(refused, StoreError::Poisoned { .. }), "{refused:?}");
    assert!(refused.to_string().ends_with("check the disk and restart"));
    assert_eq!(failing.stored(), *before);
    assert_eq!(failing.after_power_loss(Kept::Nothing), *before);
    let path = failing.store.path().to_owned();
    let Failing { store, _directory, .. } = failing;
    drop(store);
    assert_eq!(block_on(stored(&history::open(&path).unwrap(), WRITER)), *before);
}

#[test]
fn after_a_failed_write_or_sync_no_write_is_accepted_until_the_database_is_opened_again() {
    for (operation, after) in [(Operation::Write, 0), (Operation::Write, 9), (Operation::Sync, 0)] {
        let failing = Failing::new();
        failing.commit().unwrap();
        let before = failing.stored();
        let error = fail_one(&failing, operation, Failure::Device, after).unwrap();
        assert!(matches!(error, StoreError::Sqlite { .. }), "{error:?}");
        assert_poisoned(failing, &before);
    }
}

#[test]
fn a_commit_whose_sync_failed_is_whole_or_missing_when_the_process_is_killed() {
    let failing = Failing::new();
    failing.commit().unwrap();
    let before = failing.stored();
    fail_one(&failing, Operation::Sync, Failure::Device, 0).unwrap();
    // The system still has what it could not put on the disk.
    let (_directory, path) = new_path();
    for suffix in ["", "-wal"] {
        let name = |path: &Path| format!("{}{suffix}", path.display());
        std::fs::copy(name(failing.store.path()), name(&path)).unwrap();
    }
    let after = block_on(stored(&history::open(&path).unwrap(), WRITER));
    assert!(after == before || after.events() == before.events() + 1);
}

/// Opens a database while one of its operations fails, and then opens it without failures, until no operation is left to fail. Of many
/// writes, only some fail.
fn open_with_failures(operation: Operation, failure: Failure, check: impl Fn(&SqliteStore), fill: impl Fn(&Path)) {
    let (first, step) = match (operation, failure) {
        (Operation::Write, Failure::Device) => (0, 4),
        (Operation::Write, _) => (2, 4),
        _ => (0, 1),
    };
    for after in (first..).step_by(step) {
        let (_directory, path) = new_path();
        fill(&path);
        let disk = Recording::start(&path);
        disk.fail(fault(operation, failure, after));
        drop(history::open(&path));
        disk.mend();
        let store = history::open(&path).unwrap_or_else(|error| panic!("{operation:?} {after}: {error:?}"));
        check(&store);
        if disk.failures() == 0 {
            return;
        }
    }
}

const FAILURES: [(Operation, Failure); 6] = [
    (Operation::Open, Failure::Device),
    (Operation::Write, Failure::Device),
    (Operation::Write, Failure::Short),
    (Operation::Truncate, Failure::Device),
    (Operation::Sync, Failure::Device),
    (Operation::GrowIndex, Failure::Full),
];

#[test]
fn nothing_is_lost_when_an_operation_of_opening_the_database_fails() {
    let (_directory, path) = new_path();
    history::create(&path);
    let store = history::open(&path).unwrap();
    let lease = block_on(store.acquire_lease(WRITER)).unwrap();
    for after in 0..3 {
        block_on(store.commit(step(WRITER, &lease, after))).unwrap();
    }
    let whole = block_on(stored(&store, WRITER));
    // A copy with the log, as a killed process leaves it.
    let fill = |copy: &Path| {
        for suffix in ["", "-wal"] {
            let name = |path: &Path| format!("{}{suffix}", path.display());
            std::fs::copy(name(&path), name(copy)).unwrap();
        }
    };
    let check = |store: &SqliteStore| assert_eq!(block_on(stored(store, WRITER)), whole);
    for (operation, failure) in FAILURES {
        open_with_failures(operation, failure, check, fill);
    }
}
