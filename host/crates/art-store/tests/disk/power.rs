//! Acknowledged writes survive when the power is cut, and every other write is stored as a whole or not at all.
//!
//! The [VFS](crate::vfs) of this program, through which SQLite uses files, [records](crate::disk) every write, truncation, sync,
//! creation and deletion while three writers commit to the store at the same time. From these records the tests make
//! [images](crate::image) of the disk at a moment between two operations. An image has everything up to the last sync of each
//! file. Of the later changes it has none, all, or any sectors of 512 bytes. Each image is opened with the store and compared
//! with what the writers read after each of their acknowledged writes.
//!
//! - A seed determines the random choices: `ART_POWER_SEED=N` makes other images. `ART_POWER_IMAGES=5000` makes more images of
//!   random moments than the default.
//! - Covered are the database, its write-ahead log and its directory entries, also when the power is cut again during the
//!   recovery. The index of the write-ahead log (`-shm`) has random content in each image.
//! - Not covered are disks that lie about a sync, change sectors that nobody wrote, or tear within a sector. The rename by which
//!   the store puts a complete new database in its place is not covered either, since it is not an operation of SQLite.

use std::fs;
use std::path::{Path, PathBuf};

use art_store::{SqliteStore, Store};
use tempfile::TempDir;

use crate::chance::Chance;
use crate::disk::{DiskEvent, Recording};
use crate::history::{self, StoredData, Versions, WRITERS, block_on, new_path};
use crate::image::{DiskState, KeptChanges};

/// Default number of images. `ART_POWER_IMAGES` sets another one.
const IMAGES: usize = 160;
/// Number of writes of each writer. Enough for the write-ahead log to be copied into the database several times.
const ROUNDS: u64 = 60;

/// Size of the index of a write-ahead log that has at most 4,062 pages.
const INDEX_BYTES: usize = 32_768;

/// Returns the number in an environment variable, or `default` if the variable is not set.
fn read_number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |number| number.parse().unwrap())
}

/// What happened on a disk, the state of the disk before that, in which everything was durable, and what the writers found.
struct DiskRecord {
    _directory: TempDir,
    state_before: DiskState,
    events: Vec<DiskEvent>,
    /// What each writer found before its first write and after each of its writes.
    versions: [Versions; 3],
}

/// Records what three writers do on a new database, from its opening until it is closed.
fn record() -> DiskRecord {
    let (directory, path) = new_path();
    history::create(&path);
    let state_before = DiskState::of(directory.path(), "art.db");
    let disk = Recording::start(&path);
    let store = history::open(&path).unwrap();
    let versions = history::commit_all(&store, &disk, ROUNDS);
    drop(store);
    DiskRecord {
        _directory: directory,
        state_before,
        events: disk.events(),
        versions,
    }
}

/// A directory with an image in it, as a host finds it after a loss of power.
struct Image {
    _directory: TempDir,
    /// The database.
    path: PathBuf,
}

impl Image {
    fn new(state: &DiskState, kept: KeptChanges, chance: &mut Chance) -> Self {
        let (directory, path) = new_path();
        state.write_image(directory.path(), kept, chance);
        let index: Vec<u8> = (0..INDEX_BYTES).map(|_| chance.below(256).to_le_bytes()[0]).collect();
        fs::write(directory.path().join("art.db-shm"), index).unwrap();
        Self {
            _directory: directory,
            path,
        }
    }
}

/// Returns a message about the first writer whose data is wrong, or `None` if all data is right. A store must have all
/// acknowledged writes of a writer, and may have the whole next write.
fn describe_wrong_data(store: &SqliteStore, state: &DiskState, versions: &[Versions; 3]) -> Option<String> {
    WRITERS.into_iter().enumerate().find_map(|(writer, name)| {
        let acknowledged = state.acknowledged_writes.get(&writer).copied().unwrap_or_default();
        let found = block_on(history::read_stored(store, name));
        let allowed_versions = versions[writer].iter().skip(acknowledged).take(2);
        let allowed_event_counts: Vec<_> = allowed_versions.map(StoredData::event_count).collect();
        let is_allowed = versions[writer]
            .iter()
            .skip(acknowledged)
            .take(2)
            .any(|version| *version == found);
        (!is_allowed).then(|| {
            let events = found.event_count();
            format!(
                "writer `{name}` has {events} journal events, and its data is no allowed version: {acknowledged} of \
                 its writes were acknowledged, so it must have a version with one of {allowed_event_counts:?} events"
            )
        })
    })
}

/// Opens the database of an image, and asserts that it has all acknowledged writes and no write in part, that it accepts a
/// commit, and that SQLite finds no damage. `description` says how the image was made.
fn assert_recovers(image: &Image, state: &DiskState, versions: &[Versions; 3], description: &str) {
    let store = history::open(&image.path).unwrap_or_else(|error| panic!("{description}: {error:?}"));
    assert_eq!(describe_wrong_data(&store, state, versions), None, "{description}");
    block_on(async {
        let lease = store.acquire_lease(WRITERS[0]).await.unwrap();
        let last_sequence = store.read_journal(WRITERS[0]).await.unwrap().len() as u64;
        let commit = history::next_commit(WRITERS[0], &lease, last_sequence);
        store.commit(commit).await.unwrap();
    });
    drop(store);
    let connection = rusqlite::Connection::open(&image.path).unwrap();
    let report = connection.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
    assert_eq!(report.unwrap(), "ok", "{description}");
}

/// Calls `check` for `count` random moments, in order. `check` gets the number of disk events before the moment and the state of
/// the disk at the moment. Every second moment is next to a sync, where data becomes durable.
fn check_at_moments(
    recorded: &DiskRecord,
    count: usize,
    chance: &mut Chance,
    mut check: impl FnMut(usize, &DiskState, &mut Chance),
) {
    let events = &recorded.events;
    let syncs: Vec<_> = (0..events.len())
        .filter(|at| matches!(events[*at], DiskEvent::Sync { .. }))
        .collect();
    let mut moments: Vec<_> = (0..count)
        .map(|number| match number % 2 {
            0 => chance.below(events.len() + 1),
            _ => syncs[chance.below(syncs.len())] + chance.below(3),
        })
        .collect();
    moments.sort_unstable();
    let (mut state, mut applied) = (recorded.state_before.clone(), 0);
    for moment in moments {
        let moment = moment.min(events.len());
        events[applied..moment].iter().for_each(|event| state.apply(event));
        applied = moment;
        check(moment, &state, chance);
    }
}

/// Returns the seed of the random choices, and prints it, so that a failed test can be repeated.
fn seed() -> u64 {
    let seed = read_number("ART_POWER_SEED", 1) as u64;
    println!("ART_POWER_SEED={seed}");
    seed
}

#[test]
fn acknowledged_writes_survive_a_power_loss_at_random_moments() {
    let (recorded, mut chance) = (record(), Chance::new(seed()));
    let is_sync_of_database = |event: &&DiskEvent| matches!(event, DiskEvent::Sync { file } if file == "art.db");
    assert!(
        recorded.events.iter().filter(is_sync_of_database).count() > 2,
        "the log was copied into the database too rarely"
    );
    let mut images_made = 0;
    check_at_moments(
        &recorded,
        read_number("ART_POWER_IMAGES", IMAGES),
        &mut chance,
        |moment, state, chance| {
            let kept = KeptChanges::ALL[images_made % KeptChanges::ALL.len()];
            images_made += 1;
            let image = Image::new(state, kept, chance);
            let description = format!("{kept:?} after {moment} of {} operations", recorded.events.len());
            assert_recovers(&image, state, &recorded.versions, &description);
        },
    );
}

#[test]
fn acknowledged_writes_survive_a_second_power_loss_during_recovery() {
    let (recorded, mut chance) = (record(), Chance::new(seed()));
    check_at_moments(&recorded, IMAGES / 20, &mut chance, |moment, state, chance| {
        let first_image = Image::new(state, KeptChanges::Torn, chance);
        let recovery = DiskRecord {
            state_before: DiskState::of(first_image.path.parent().unwrap(), "art.db"),
            events: record_opening(&first_image.path),
            versions: recorded.versions.clone(),
            _directory: first_image._directory,
        };
        check_at_moments(&recovery, 4, chance, |second_moment, state_in_recovery, chance| {
            let image = Image::new(state_in_recovery, KeptChanges::RandomSectors, chance);
            let description = format!("recovery after {moment} operations, cut after {second_moment}");
            // This passes `state` and not `state_in_recovery`, because only `state` counts the acknowledged writes: no write is
            // acknowledged during the recovery.
            assert_recovers(&image, state, &recovery.versions, &description);
        });
    });
}

/// Opens and closes a database, and returns what happens on the disk meanwhile.
fn record_opening(path: &Path) -> Vec<DiskEvent> {
    let disk = Recording::start(path);
    drop(history::open(path).unwrap());
    disk.events()
}

/// A database in format 4, an older format of the store, with the runs `run-t` and `run-other` in the threads `t` and `other`.
const FORMAT_4: &[u8] = include_bytes!("../it/data/format-4.db");

/// Reads the runs and the threads of a database that had format 4.
fn read_migrated(path: &Path) -> Vec<StoredData> {
    let store = history::open(path).unwrap();
    let read = |thread, run| block_on(history::read_stored_run(&store, thread, run));
    vec![read("t", "run-t"), read("other", "run-other")]
}

/// Cuts the power while a database of format 4 with this journal mode is migrated, and asserts that all its data is found later.
fn assert_migration_survives_power_loss(journal_mode: &str) {
    let (directory, path) = new_path();
    fs::write(&path, FORMAT_4).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "journal_mode", journal_mode).unwrap();
    connection.close().unwrap();
    let recorded = DiskRecord {
        state_before: DiskState::of(directory.path(), "art.db"),
        events: record_opening(&path),
        versions: Default::default(),
        _directory: directory,
    };
    let (expected, mut chance) = (read_migrated(&path), Chance::new(seed()));
    assert!(expected.iter().all(|stored| stored.event_count() == 3));
    let mut images_made = 0;
    check_at_moments(&recorded, IMAGES / 5, &mut chance, |moment, state, chance| {
        let kept = KeptChanges::ALL[images_made % KeptChanges::ALL.len()];
        images_made += 1;
        let image = Image::new(state, kept, chance);
        assert_eq!(read_migrated(&image.path), expected, "{kept:?} after {moment}");
    });
}

#[test]
fn a_power_loss_during_a_migration_loses_no_run() {
    assert_migration_survives_power_loss("wal");
}

#[test]
fn a_power_loss_during_a_migration_without_a_write_ahead_log_loses_no_run() {
    assert_migration_survives_power_loss("delete");
}

/// Shows that the other tests would notice a lost write.
#[test]
fn images_lack_acknowledged_writes_if_the_log_is_never_synced() {
    let mut recorded = record();
    let is_sync_of_log = |event: &DiskEvent| matches!(event, DiskEvent::Sync { file } if file == "art.db-wal");
    recorded.events.retain(|event| !is_sync_of_log(event));
    let (mut incomplete_images, mut chance) = (0, Chance::new(seed()));
    check_at_moments(&recorded, 20, &mut chance, |_, state, chance| {
        let image = Image::new(state, KeptChanges::Nothing, chance);
        let is_complete = history::open(&image.path)
            .is_ok_and(|store| describe_wrong_data(&store, state, &recorded.versions).is_none());
        incomplete_images += usize::from(!is_complete);
    });
    assert!(incomplete_images > 0);
}
