//! Tests of old homes, which are the directories of hosts that stored their database in an older format. A process that is killed
//! while it migrates such a database loses no data: the next process finds the old format or a newer one, and everything that
//! was stored.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use art_core::usage::ModelWork;
use art_store::{
    FailPoint, MessageOptions, ObservationFilter, RunFilter, RunState, SqliteStore, Store, digest, fail_point,
};
use rusqlite::{Connection, params};
use serde_json::json;

use crate::children::{self, ChildTest};
use crate::fixture::{block_on, new_path};

/// The scripts of the migrations to the formats 1 to 4, as hosts of these formats ran them.
const MIGRATIONS: [&str; 4] = [
    include_str!("../../src/sqlite/migrations/0001.sql"),
    include_str!("../../src/sqlite/migrations/0002.sql"),
    include_str!("../../src/sqlite/migrations/0003.sql"),
    include_str!("../../src/sqlite/migrations/0004.sql"),
];
/// The newest format.
const NEWEST_FORMAT: u32 = 5;
/// The application identifier in the header of each database of a host: `ARTS` in ASCII.
const APPLICATION_ID: i32 = 0x4152_5453;
/// Name of the test that runs in the child process.
const CHILD_TEST: &str = "old_homes::child_migrates_until_it_is_killed";
/// Number of conversation threads in the database, each with one run. Enough for a migration to take some hundredths of a second.
const RUNS: u32 = 20;
/// Number of events in the journal of each run.
const EVENTS: u32 = 40;
/// Number of moments at which the migration from each format is killed.
const KILL_MOMENTS: u32 = 3;

/// Creates a database of an older format, with the content that a host of that time stored.
fn create_database(path: &Path, format: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    connection
        .pragma_update(None, "application_id", APPLICATION_ID)
        .unwrap();
    let transaction = connection.unchecked_transaction().unwrap();
    for script in &MIGRATIONS[..format as usize] {
        transaction.execute_batch(script).unwrap();
    }
    (1..=RUNS).for_each(|number| store_thread_and_run(&transaction, number, format));
    transaction.pragma_update(None, "user_version", format).unwrap();
    transaction.commit().unwrap();
}

/// Stores the thread and the run with this number: a thread with a message, an observation and a state, and a run with events and
/// with rows in each further table that the format has.
fn store_thread_and_run(connection: &Connection, number: u32, format: u32) {
    let execute = |sql: &str| connection.execute(sql, [number]).unwrap();
    execute(
        "INSERT INTO threads (id, created, updated, config, observations)
         VALUES ('t' || ?1, 1, 1, '{\"enabledTools\":[],\"historyLimit\":0}', 1)",
    );
    execute(
        "INSERT INTO messages (id, thread, role, content, timestamp, metadata) VALUES ('m' || ?1, ?1, 'USER', 'hi', 1, '{}')",
    );
    execute(
        "INSERT INTO observations (id, thread, sequence, timestamp, type, content, metadata)
         VALUES ('o' || ?1, ?1, 1, 1, 'THOUGHTS', '{\"text\":\"hm\"}', '{}')",
    );
    execute("INSERT INTO states (thread, version, modified, data) VALUES (?1, 1, 1, '{\"plan\":1}')");
    execute(
        "INSERT INTO runs (trace_id, thread, query, status, started, ended, summary)
         VALUES ('r' || ?1, ?1, 'q', 'success', 1, 2, 'null')",
    );
    for sequence in 1..=EVENTS {
        let payload = json!({"n": sequence, "text": "x".repeat(500)}).to_string();
        let insert = "INSERT INTO journal (run, sequence, timestamp, kind, payload) VALUES (?1, ?2, 1, 'k', ?3)";
        connection.execute(insert, params![number, sequence, payload]).unwrap();
    }
    let set_sizes = "UPDATE runs SET entries = ?2, bytes = 1 WHERE seq = ?1";
    connection.execute(set_sizes, params![number, EVENTS]).unwrap();
    if format >= 2 {
        let insert = "INSERT INTO blobs (run, digest, bytes) VALUES (?1, ?2, ?3)";
        for bytes in [blob(number), b"shared".to_vec()] {
            connection
                .execute(insert, params![number, digest(&bytes), bytes])
                .unwrap();
        }
    }
    if format >= 3 {
        execute("INSERT INTO calls (run, tool_digest, fuel, peak_memory_bytes, wall_us, cpu_us, bytes_in, bytes_out, host_calls)
             VALUES (?1, 'd', 1, 1, 1, 1, 1, 1, 1)");
    }
    if format >= 4 {
        execute(
            "INSERT INTO model_work (run, model, work, model_calls, input_tokens, output_tokens)
             VALUES (?1, 'm', 'step', 1, 1, 1)",
        );
    }
}

fn blob(number: u32) -> Vec<u8> {
    format!("blob {number}").into_bytes()
}

/// Asserts that a store has all that [`create_database`] stored. `original_format` is the format in which it created the
/// database.
async fn assert_complete(store: &SqliteStore, original_format: u32) {
    assert_eq!(
        store.list_runs(RunFilter::default()).await.unwrap().len(),
        RUNS as usize
    );
    for number in 1..=RUNS {
        assert_thread(store, &format!("t{number}")).await;
        let trace_id = format!("r{number}");
        let run = store.get_run(&trace_id).await.unwrap().unwrap();
        assert_eq!((run.status, run.last_sequence), (RunState::Success, u64::from(EVENTS)));
        let journal = store.read_journal(&trace_id).await.unwrap();
        let numbers = journal.iter().map(|entry| {
            serde_json::from_str::<serde_json::Value>(&entry.payload).unwrap()["n"]
                .as_u64()
                .unwrap()
        });
        assert!(numbers.eq(1..=u64::from(EVENTS)));
        if original_format >= 2 {
            for bytes in [blob(number), b"shared".to_vec()] {
                let found = store.get_blob(&format!("t{number}"), &digest(&bytes)).await.unwrap();
                assert_eq!(found, Some(bytes));
            }
        }
    }
    let expected_rows = |introduced_in| {
        if original_format >= introduced_in {
            RUNS as usize
        } else {
            0
        }
    };
    assert_eq!(store.list_calls("d", None).await.unwrap().len(), expected_rows(3));
    let work = store.list_model_usage("m", ModelWork::Step, None).await;
    assert_eq!(work.unwrap().len(), expected_rows(4));
}

async fn assert_thread(store: &SqliteStore, id: &str) {
    let messages = store.list_messages(id, MessageOptions::default()).await;
    assert_eq!(messages.unwrap().len(), 1);
    let observations = store.list_observations(id, ObservationFilter::default()).await;
    assert_eq!(observations.unwrap().len(), 1);
    assert_eq!(store.load_state(id).await.unwrap().unwrap().data, json!({"plan": 1}));
}

fn read_format(path: &Path) -> u32 {
    let connection = Connection::open(path).unwrap();
    connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap()
}

/// Asserts that everything that was stored in a database is still there, before and after this process migrates it to the newest
/// format. `original_format` is the format in which the database was created. Returns the format that it had before this
/// migration.
fn assert_nothing_lost(path: &Path, original_format: u32) -> u32 {
    let found = read_format(path);
    assert!((original_format..=NEWEST_FORMAT).contains(&found), "format {found}");
    block_on(assert_complete(
        &SqliteStore::open_read_only(path).unwrap(),
        original_format,
    ));
    block_on(assert_complete(&SqliteStore::open(path).unwrap(), original_format));
    assert_eq!(read_format(path), NEWEST_FORMAT);
    found
}

/// Number of migrations that the child process commits before it kills itself in the next one.
static MIGRATIONS_LEFT: AtomicU32 = AtomicU32::new(u32::MAX);

/// Kills this process before it commits a migration, if [`MIGRATIONS_LEFT`] has reached 0.
fn kill_at_migration(place: FailPoint) {
    if place == FailPoint::BeforeMigrationCommit && MIGRATIONS_LEFT.fetch_sub(1, Ordering::SeqCst) == 0 {
        let process = std::process::id().to_string();
        Command::new("kill").args(["-s", "KILL", &process]).status().unwrap();
        // The signal ends this process during the wait.
        std::thread::sleep(Duration::from_secs(60));
    }
}

/// Runs in the child processes of the tests below. Does nothing when the test runner starts it.
#[test]
fn child_migrates_until_it_is_killed() {
    let Some(path) = children::database_path() else { return };
    if let Ok(migrations) = fs::read_to_string(stop_file(Path::new(&path))) {
        MIGRATIONS_LEFT.store(migrations.parse().unwrap(), Ordering::SeqCst);
        fail_point::install(kill_at_migration);
    }
    children::send_line("begins");
    drop(SqliteStore::open(path).unwrap());
}

/// Returns the path of the file that tells the child how many migrations it commits before it kills itself.
fn stop_file(path: &Path) -> std::path::PathBuf {
    path.with_extension("stop")
}

#[test]
fn a_kill_before_the_commit_of_any_migration_loses_nothing() {
    for format in 1..NEWEST_FORMAT {
        for migrations_before_kill in 0..NEWEST_FORMAT - format {
            let (_directory, path) = new_path();
            create_database(&path, format);
            fs::write(stop_file(&path), migrations_before_kill.to_string()).unwrap();
            let (_, status) = ChildTest::start(CHILD_TEST, &path).finish();
            assert!(
                !status.success(),
                "the child was not killed, because it did not reach the migration"
            );
            assert_eq!(assert_nothing_lost(&path, format), format + migrations_before_kill);
        }
    }
}

#[test]
fn kills_at_several_moments_of_a_migration_lose_nothing() {
    for format in 1..NEWEST_FORMAT {
        let (_directory, path) = new_path();
        create_database(&path, format);
        // Measure how long the migration takes if it is not killed.
        let mut child = ChildTest::start(CHILD_TEST, &path);
        child.next_line().unwrap();
        let start = Instant::now();
        assert!(child.finish().1.success());
        let duration = start.elapsed();
        assert_nothing_lost(&path, format);
        for moment in 0..KILL_MOMENTS {
            let (_directory, path) = new_path();
            create_database(&path, format);
            // Of two children that are killed, the second opens the database that the first left.
            for _ in 0..2 {
                let mut child = ChildTest::start(CHILD_TEST, &path);
                child.next_line().unwrap();
                std::thread::sleep(duration * moment / KILL_MOMENTS);
                child.kill();
                child.finish();
            }
            assert_nothing_lost(&path, format);
        }
    }
}
