//! Writes, syncs and truncations that fail.
//!
//! Some tests let the first operation fail, in the next round the second, and so on until nothing fails any more. Whatever fails,
//! each acknowledged write is durable: to check this, tests also cut the power after a failure. A sync that fails loses what was
//! not on the disk yet, as on Linux. A commit that fails changes nothing that a reader of the same store sees.

use std::path::Path;

use art_store::{Lease, NewThread, SqliteStore, Store, StoreError};
use tempfile::TempDir;

use crate::chance::Chance;
use crate::disk::{Failure, FailurePlan, Operation, Recording};
use crate::history::{self, StoredData, WRITERS, block_on, new_path, next_commit, read_stored};
use crate::image::{DiskState, KeptChanges};

/// Name of the only writer of these tests, and of its thread and its run.
const WRITER: &str = WRITERS[0];

/// A store whose disk can be made to fail, the lease of its writer, and the state of the disk before the store was opened.
struct Fixture {
    _directory: TempDir,
    state_before_opening: DiskState,
    disk: Recording,
    store: SqliteStore,
    lease: Lease,
}

impl Fixture {
    fn new() -> Self {
        let (directory, path) = new_path();
        history::create(&path);
        let state_before_opening = DiskState::of(directory.path(), "art.db");
        let disk = Recording::start(&path);
        let store = history::open(&path).unwrap();
        let lease = block_on(store.acquire_lease(WRITER)).unwrap();
        Self {
            _directory: directory,
            state_before_opening,
            disk,
            store,
            lease,
        }
    }

    /// Commits the next step of the writer.
    fn commit(&self) -> Result<(), StoreError> {
        let run = block_on(self.store.get_run(WRITER)).unwrap();
        let last_sequence = run.map_or(0, |run| run.last_sequence);
        block_on(self.store.commit(next_commit(WRITER, &self.lease, last_sequence))).map(drop)
    }

    fn stored(&self) -> StoredData {
        block_on(read_stored(&self.store, WRITER))
    }

    /// Returns what the store would contain if the power was cut now and the database was opened again. `kept` says which of the
    /// changes that are not synced yet the disk has then.
    fn after_power_loss(&self, kept: KeptChanges) -> StoredData {
        let mut state = self.state_before_opening.clone();
        self.disk.events().iter().for_each(|event| state.apply(event));
        let (directory, path) = new_path();
        state.write_image(directory.path(), kept, &mut Chance::new(1));
        block_on(read_stored(&history::open(&path).unwrap(), WRITER))
    }
}

/// Returns a plan by which one operation of this kind fails, on any file, after `successes_before` operations of this kind have
/// succeeded.
fn one_failure(operation: Operation, failure: Failure, successes_before: u64) -> FailurePlan {
    FailurePlan {
        operation,
        file_suffix: "",
        successes_before,
        failures: 1,
        failure,
    }
}

/// Commits a step while one operation fails, as [`one_failure`] plans it. Returns the error of the commit, or `None` if the
/// commit succeeded because it needed no more than `successes_before` operations of this kind. Asserts that a failed commit is
/// not visible.
fn commit_with_failure(
    fixture: &Fixture,
    operation: Operation,
    failure: Failure,
    successes_before: u64,
) -> Option<StoreError> {
    let before = fixture.stored();
    fixture.disk.fail(one_failure(operation, failure, successes_before));
    let result = fixture.commit();
    fixture.disk.stop_failing();
    let Err(error) = result else {
        assert_eq!(
            fixture.disk.failure_count(),
            0,
            "a commit was acknowledged although an operation failed after {successes_before} others"
        );
        return None;
    };
    assert_eq!(fixture.stored(), before, "a part of a failed commit is visible");
    Some(error)
}

#[test]
fn a_commit_on_a_full_disk_changes_nothing_and_later_ones_succeed() {
    for failure in [Failure::Full, Failure::HalfWritten] {
        let fixture = Fixture::new();
        fixture.commit().unwrap();
        let mut successes_before = 0;
        while let Some(error) = commit_with_failure(&fixture, Operation::Write, failure, successes_before) {
            assert!(matches!(error, StoreError::NoSpace { .. }), "{error:?}");
            assert!(error.to_string().ends_with("free some space and try again"));
            successes_before += 1;
        }
        // Each write of a commit has failed once, and there were more than ten of them.
        assert!(successes_before > 10);
        assert_eq!(fixture.after_power_loss(KeptChanges::Nothing), fixture.stored());
    }
}

#[test]
fn no_part_of_a_failed_commit_is_found_after_a_power_loss() {
    let fixture = Fixture::new();
    fixture.commit().unwrap();
    let before = fixture.stored();
    // The commit makes more than ten writes; one of them fails in each round.
    for successes_before in [0, 1, 2, 7, 10] {
        let error = commit_with_failure(&fixture, Operation::Write, Failure::HalfWritten, successes_before);
        assert!(error.is_some());
        assert_eq!(fixture.after_power_loss(KeptChanges::Everything), before);
    }
}

/// Asserts that a store with an earlier failure accepts no write, can still be read, and has lost nothing that was acknowledged,
/// even if the power is cut or the database is opened again.
fn assert_poisoned(fixture: Fixture, acknowledged: &StoredData) {
    let refused = fixture.commit().unwrap_err();
    assert!(matches!(refused, StoreError::Poisoned { .. }), "{refused:?}");
    assert!(refused.to_string().ends_with("check the disk and restart"));
    assert_eq!(fixture.stored(), *acknowledged);
    assert_eq!(fixture.after_power_loss(KeptChanges::Nothing), *acknowledged);
    let path = fixture.store.path().to_owned();
    let Fixture { store, _directory, .. } = fixture;
    drop(store);
    let reopened = history::open(&path).unwrap();
    assert_eq!(block_on(read_stored(&reopened, WRITER)), *acknowledged);
}

#[test]
fn after_a_failed_write_or_sync_all_later_writes_are_refused() {
    for (operation, successes_before) in [(Operation::Write, 0), (Operation::Write, 9), (Operation::Sync, 0)] {
        let fixture = Fixture::new();
        fixture.commit().unwrap();
        let before = fixture.stored();
        let error = commit_with_failure(&fixture, operation, Failure::Device, successes_before).unwrap();
        assert!(matches!(error, StoreError::Sqlite { .. }), "{error:?}");
        assert_poisoned(fixture, &before);
    }
}

#[test]
fn a_commit_whose_sync_failed_is_whole_or_missing_after_the_process_is_killed() {
    let fixture = Fixture::new();
    fixture.commit().unwrap();
    let before = fixture.stored();
    commit_with_failure(&fixture, Operation::Sync, Failure::Device, 0).unwrap();
    // The process is killed and the operating system goes on: it still has what it could not put on the disk.
    let (_directory, path) = new_path();
    for suffix in ["", "-wal"] {
        let name = |path: &Path| format!("{}{suffix}", path.display());
        std::fs::copy(name(fixture.store.path()), name(&path)).unwrap();
    }
    let after = block_on(read_stored(&history::open(&path).unwrap(), WRITER));
    assert!(after == before || after.event_count() == before.event_count() + 1);
}

#[test]
fn commits_succeed_again_when_the_index_of_the_log_can_grow() {
    let fixture = Fixture::new();
    fixture.disk.fail(one_failure(Operation::GrowIndex, Failure::Full, 0));
    // The index grows with each 4,096 pages of the log. The reader keeps the log from being emptied before it is that long.
    let reader = rusqlite::Connection::open(fixture.store.path()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM threads").unwrap();
    let error = (0..1_000).find_map(|_| fixture.commit().err()).unwrap();
    assert!(matches!(error, StoreError::NoSpace { .. }), "{error:?}");
    fixture.disk.stop_failing();
    fixture.commit().unwrap();
}

#[test]
fn no_commit_is_lost_when_the_sync_of_the_database_after_copying_the_log_fails() {
    let fixture = Fixture::new();
    fixture.commit().unwrap();
    let reader = rusqlite::Connection::open(fixture.store.path()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM threads").unwrap();
    // These are enough commits for the log to be copied. It is copied only up to what the reader sees, so the database is not
    // synced yet.
    (0..150).for_each(|_| fixture.commit().unwrap());
    drop(reader);
    fixture.disk.fail(FailurePlan {
        file_suffix: ".db",
        ..one_failure(Operation::Sync, Failure::Device, 0)
    });
    // During these commits the whole log is copied into the database, and the sync of the database fails.
    let acknowledged = (0..300).take_while(|_| fixture.commit().is_ok()).count();
    assert_eq!(
        fixture.disk.failure_count(),
        1,
        "{acknowledged} commits were acknowledged"
    );
    let stored = fixture.stored();
    assert_eq!(fixture.after_power_loss(KeptChanges::Nothing), stored);
    assert_poisoned(fixture, &stored);
}

/// Makes files whose names end with `file_suffix` open for reading only from now on.
fn make_read_only(disk: &Recording, file_suffix: &'static str) {
    disk.fail(FailurePlan {
        file_suffix,
        failures: u64::MAX,
        ..one_failure(Operation::Open, Failure::ReadOnly, 0)
    });
}

#[test]
fn opening_a_read_only_database_fails_with_advice() {
    let (_directory, path) = new_path();
    history::create(&path);
    let disk = Recording::start(&path);
    make_read_only(&disk, ".db");
    let expected = format!(
        "the database `{}` cannot be written: make it and its folder writable or use another --home",
        path.display()
    );
    assert_eq!(history::open(&path).unwrap_err().to_string(), expected);
    disk.stop_failing();
    assert!(
        block_on(history::open(&path).unwrap().get_thread(WRITER))
            .unwrap()
            .is_some()
    );
}

#[test]
fn a_read_only_store_can_open_a_database_without_permission_to_write_while_another_writes() {
    let fixture = Fixture::new();
    fixture.commit().unwrap();
    make_read_only(&fixture.disk, "");
    let reader = SqliteStore::open_read_only(fixture.store.path()).unwrap();
    assert_eq!(block_on(read_stored(&reader, WRITER)), fixture.stored());
}

/// Prepares a database with `prepare`, opens it while one operation of this kind fails, opens it again without failures and calls
/// `check`. In the first round the first operation fails, in the next round the second one, and so on, until there is a round in
/// which none fails because opening needs no more operations. Opening makes many writes, so only every fourth write gets a round:
/// beginning with the first write for [`Failure::Device`], and with the third for the other failures.
fn open_with_failures(operation: Operation, failure: Failure, check: impl Fn(&SqliteStore), prepare: impl Fn(&Path)) {
    let (first_to_fail, interval) = match (operation, failure) {
        (Operation::Write, Failure::Device) => (0, 4),
        (Operation::Write, _) => (2, 4),
        _ => (0, 1),
    };
    for successes_before in (first_to_fail..).step_by(interval) {
        let (_directory, path) = new_path();
        prepare(&path);
        let disk = Recording::start(&path);
        disk.fail(one_failure(operation, failure, successes_before));
        drop(history::open(&path));
        disk.stop_failing();
        let store = history::open(&path).unwrap_or_else(|error| panic!("{operation:?} {successes_before}: {error:?}"));
        check(&store);
        if disk.failure_count() == 0 {
            return;
        }
    }
}

/// The operations that opening a database needs, and the ways in which they fail in these tests.
const FAILURES: [(Operation, Failure); 6] = [
    (Operation::Open, Failure::Device),
    (Operation::Write, Failure::Device),
    (Operation::Write, Failure::HalfWritten),
    (Operation::Truncate, Failure::Device),
    (Operation::Sync, Failure::Device),
    (Operation::GrowIndex, Failure::Full),
];

#[test]
fn a_database_whose_creation_failed_can_be_created_later() {
    for (operation, failure) in FAILURES {
        let check = |store: &SqliteStore| {
            let new = NewThread {
                id: "t".to_owned(),
                ..NewThread::default()
            };
            block_on(store.create_thread(new)).unwrap();
        };
        // Nothing is prepared, so opening creates the database.
        open_with_failures(operation, failure, check, |_| {});
    }
}

#[test]
fn no_commit_is_lost_when_opening_the_database_fails() {
    let (_directory, path) = new_path();
    history::create(&path);
    let store = history::open(&path).unwrap();
    let lease = block_on(store.acquire_lease(WRITER)).unwrap();
    for last_sequence in 0..3 {
        block_on(store.commit(next_commit(WRITER, &lease, last_sequence))).unwrap();
    }
    let expected = block_on(read_stored(&store, WRITER));
    // Copies the database with its log, as a killed process leaves them.
    let prepare = |copy: &Path| {
        for suffix in ["", "-wal"] {
            let name = |path: &Path| format!("{}{suffix}", path.display());
            std::fs::copy(name(&path), name(copy)).unwrap();
        }
    };
    let check = |store: &SqliteStore| assert_eq!(block_on(read_stored(store, WRITER)), expected);
    for (operation, failure) in FAILURES {
        open_with_failures(operation, failure, check, prepare);
    }
}
