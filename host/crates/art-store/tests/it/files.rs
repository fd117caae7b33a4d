//! The files of a database: what is stored in them, and which files are refused and left unchanged.

use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use art_store::{Commit, MessageOptions, SqliteStore, Store, StoreError};
use serde_json::json;

use crate::fixture::{block_on, event, message, new_path, new_run, new_thread, thought};

/// Number of messages that [`fill`] stores.
const MESSAGES: u64 = 500;

/// Size of a page of the database, in bytes.
const PAGE: u64 = 4_096;

/// Creates a database with the thread `t`, which has an observation, a state, [`MESSAGES`] messages, and the run `r` with one
/// event.
fn fill(path: &Path) {
    let store = SqliteStore::open(path).unwrap();
    block_on(async {
        store.create_thread(new_thread("t")).await.unwrap();
        store.record(thought("t")).await.unwrap();
        store.save_state("t", json!({"a": 1}), None).await.unwrap();
        let commit = Commit {
            begin: Some(new_run("r", "t")),
            trace_id: "r".to_owned(),
            events: vec![event("k", json!(1))],
            lease: store.acquire_lease("t").await.unwrap(),
            ..Commit::default()
        };
        store.commit(commit).await.unwrap();
        let messages = (0..MESSAGES).map(|n| message(&format!("m{n}"), "t", n)).collect();
        store.append_messages("t", messages).await.unwrap();
    });
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

/// Returns the permissions of a file.
fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Asserts that a file cannot be opened as a database, neither for writing nor for reading only, and that it stays unchanged.
/// Returns the error of opening it for writing.
fn assert_refused(path: &Path) -> StoreError {
    let before = fs::read(path).unwrap();
    let error = SqliteStore::open(path).unwrap_err();
    assert!(SqliteStore::open_read_only(path).is_err());
    assert_eq!(fs::read(path).unwrap(), before);
    error
}

#[test]
fn a_store_that_is_opened_again_has_all_its_data() {
    let (_directory, path) = new_path();
    fill(&path);
    let store = SqliteStore::open(&path).unwrap();
    block_on(async {
        let messages = store.list_messages("t", MessageOptions::default()).await.unwrap();
        assert_eq!(messages.len() as u64, MESSAGES);
        assert_eq!(store.record(thought("t")).await.unwrap().sequence, 2);
        assert_eq!(store.load_state("t").await.unwrap().unwrap().data, json!({"a": 1}));
        assert_eq!(store.read_journal("r").await.unwrap().len(), 1);
        assert_eq!(store.save_state("t", json!(2), Some(1)).await.unwrap(), 2);
    });
}

#[test]
fn only_the_owner_can_read_the_files() {
    let (_directory, path) = new_path();
    let store = SqliteStore::open(&path).unwrap();
    block_on(store.create_thread(new_thread("t"))).unwrap();
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    // The directory `-hosts` has a locked file for each open store that can write.
    assert_eq!(mode(&with_suffix(&path, "-hosts")), 0o700);
    for suffix in ["", "-wal", "-shm", "-lock"] {
        assert_eq!(mode(&with_suffix(&path, suffix)), 0o600, "{suffix}");
    }
}

#[test]
fn a_database_that_others_can_read_is_restricted_when_it_is_opened() {
    let (_directory, path) = new_path();
    fill(&path);
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    drop(SqliteStore::open(&path).unwrap());
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn closing_leaves_no_write_ahead_log_and_no_temporary_file() {
    let (_directory, path) = new_path();
    fill(&path);
    assert!(!with_suffix(&path, "-wal").exists());
    assert!(!with_suffix(&path, "-new").exists());
}

#[test]
fn opening_fails_as_busy_while_another_host_keeps_the_lock_file_locked() {
    let (_directory, path) = new_path();
    fill(&path);
    let lock_file = OpenOptions::new()
        .write(true)
        .open(with_suffix(&path, "-lock"))
        .unwrap();
    lock_file.lock().unwrap();
    assert!(matches!(SqliteStore::open(&path), Err(StoreError::Busy { .. })));
    drop(lock_file);
    SqliteStore::open(&path).unwrap();
}

#[test]
fn a_read_only_store_can_read_the_data_and_cannot_write() {
    let (_directory, path) = new_path();
    fill(&path);
    let reader = SqliteStore::open_read_only(&path).unwrap();
    block_on(async {
        assert!(reader.get_thread("t").await.unwrap().is_some());
        let error = reader.create_thread(new_thread("new")).await.unwrap_err();
        assert!(error.to_string().ends_with("is open for reading only"));
    });
}

#[test]
fn opening_a_missing_database_for_reading_creates_no_files() {
    let (_directory, path) = new_path();
    assert!(matches!(SqliteStore::open_read_only(&path), Err(StoreError::Io { .. })));
    assert!(!path.parent().unwrap().exists());
}

#[test]
fn a_database_of_a_newer_format_is_refused() {
    const NEWER_FORMAT: u32 = 7;
    let (_directory, path) = new_path();
    fill(&path);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", NEWER_FORMAT).unwrap();
    connection.close().unwrap();
    assert_eq!(
        assert_refused(&path).to_string(),
        format!(
            "the database `{}` has format {NEWER_FORMAT}, this host supports up to 5: use a newer art or another --home",
            path.display()
        )
    );
}

#[test]
fn a_database_with_an_impossible_format_number_is_refused() {
    for format in [0, -1] {
        let (_directory, path) = new_path();
        fill(&path);
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.pragma_update(None, "user_version", format).unwrap();
        connection.close().unwrap();
        assert!(matches!(assert_refused(&path), StoreError::Damaged { .. }), "{format}");
    }
}

#[test]
fn a_database_of_another_program_is_refused() {
    let (directory, _) = new_path();
    let path = directory.path().join("other.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE theirs (x)").unwrap();
    connection.close().unwrap();
    assert!(matches!(assert_refused(&path), StoreError::NotOurs { .. }));
}

#[test]
fn a_file_that_is_not_a_database_is_refused() {
    let (directory, _) = new_path();
    let path = directory.path().join("notes.txt");
    for content in [&b""[..], b"my notes", &[0; 8192], b"SQLite format 3\0"] {
        fs::write(&path, content).unwrap();
        let error = assert_refused(&path);
        assert!(
            error
                .to_string()
                .contains("is not a database of this host: move it away")
        );
    }
}

#[test]
fn a_directory_in_place_of_the_database_is_refused() {
    let (directory, _) = new_path();
    assert!(matches!(
        SqliteStore::open(directory.path()),
        Err(StoreError::NotOurs { .. })
    ));
}

#[test]
fn a_log_without_its_database_is_refused() {
    let (_directory, path) = new_path();
    fill(&path);
    fs::remove_file(&path).unwrap();
    fs::write(with_suffix(&path, "-wal"), b"log").unwrap();
    let error = SqliteStore::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }));
    assert!(!path.exists());
}

#[test]
fn a_file_left_by_a_crash_during_creation_is_replaced() {
    let (_directory, path) = new_path();
    fs::create_dir(path.parent().unwrap()).unwrap();
    fs::write(with_suffix(&path, "-new"), b"half a database").unwrap();
    fill(&path);
    assert!(!with_suffix(&path, "-new").exists());
}

#[test]
fn a_truncated_database_is_refused() {
    let (_directory, path) = new_path();
    fill(&path);
    let length = fs::metadata(&path).unwrap().len();
    OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(length / 2)
        .unwrap();
    let error = assert_refused(&path);
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(error.to_string().contains("restore a backup or use another --home"));
}

#[test]
fn at_least_nine_of_ten_databases_with_an_overwritten_page_are_refused_and_unchanged() {
    /// Size of the header at the beginning of page 1, in bytes.
    const DATABASE_HEADER: u64 = 100;
    let (_directory, path) = new_path();
    fill(&path);
    let pages = fs::metadata(&path).unwrap().len() / PAGE;
    let good = fs::read(&path).unwrap();
    let mut refusals = 0;
    for page in 0..pages {
        fs::write(&path, &good).unwrap();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        // Page 1, whose index is 0, keeps its header, so that the file still begins like a database of this host.
        let start = if page == 0 { DATABASE_HEADER } else { page * PAGE };
        let noise: Vec<u8> = (0..(page + 1) * PAGE - start).map(|n| (n * 167 % 251) as u8).collect();
        file.write_all_at(&noise, start).unwrap();
        let before = fs::read(&path).unwrap();
        match SqliteStore::open(&path) {
            Err(StoreError::Damaged { .. } | StoreError::NotOurs { .. } | StoreError::Sqlite { .. }) => {
                refusals += 1;
                assert_eq!(fs::read(&path).unwrap(), before);
            }
            // A change of an unused page cannot be noticed.
            Ok(_) => {}
            Err(error) => panic!("page {page}: {error:?}"),
        }
    }
    assert!(refusals * 10 >= pages * 9, "{refusals} of {pages}");
}
