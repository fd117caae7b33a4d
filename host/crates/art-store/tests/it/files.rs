//! Files: what is kept, what is refused and left alone.

use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use art_store::{MessageOptions, SqliteStore, Store, StoreError};
use serde_json::json;

use crate::world::{block_on, message, place, run, thought, thread};

fn fill(path: &Path) {
    let store = SqliteStore::open(path).unwrap();
    block_on(async {
        store.create_thread(thread("t")).await.unwrap();
        store.record(thought("t")).await.unwrap();
        store.save_state("t", json!({"a": 1}), None).await.unwrap();
        store.begin_run(run("r", "t")).await.unwrap();
        store.append_journal("r", 1, "k", json!(1)).await.unwrap();
        let messages = (0..500).map(|n| message(&format!("m{n}"), "t", n)).collect();
        store.append_messages("t", messages).await.unwrap();
    });
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Opens what is there in both ways; both refuse, and the file stays as it is.
fn refused(path: &Path) -> StoreError {
    let before = fs::read(path).unwrap();
    let error = SqliteStore::open(path).unwrap_err();
    assert!(SqliteStore::open_read_only(path).is_err());
    assert_eq!(fs::read(path).unwrap(), before);
    error
}

#[test]
fn a_store_that_is_opened_again_has_everything() {
    let (_directory, path) = place();
    fill(&path);
    let store = SqliteStore::open(&path).unwrap();
    block_on(async {
        let messages = store.list_messages("t", MessageOptions::default()).await.unwrap();
        assert_eq!(messages.len(), 500);
        assert_eq!(store.record(thought("t")).await.unwrap().sequence, 2);
        assert_eq!(store.load_state("t").await.unwrap().unwrap().data, json!({"a": 1}));
        assert_eq!(store.read_journal("r").await.unwrap().len(), 1);
        assert_eq!(store.save_state("t", json!(2), Some(1)).await.unwrap(), 2);
    });
}

#[test]
fn only_the_owner_can_read_the_files() {
    let (_directory, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    block_on(store.create_thread(thread("t"))).unwrap();
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for suffix in ["", "-wal", "-shm", "-lock"] {
        assert_eq!(mode(&beside(&path, suffix)), 0o600, "{suffix}");
    }
}

#[test]
fn a_database_that_others_can_read_is_restricted_when_it_is_opened() {
    let (_directory, path) = place();
    fill(&path);
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    drop(SqliteStore::open(&path).unwrap());
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn closing_leaves_one_complete_file() {
    let (_directory, path) = place();
    fill(&path);
    assert!(!beside(&path, "-wal").exists());
    assert!(!beside(&path, "-new").exists());
}

#[test]
fn a_second_host_is_refused_until_the_first_is_gone() {
    let (_directory, path) = place();
    let first = SqliteStore::open(&path).unwrap();
    let error = SqliteStore::open(&path).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the database `{}` is in use by another process: stop it or use another --home",
            path.display()
        )
    );
    drop(first);
    SqliteStore::open(&path).unwrap();
}

#[test]
fn a_reader_sees_what_the_host_wrote_and_cannot_write() {
    let (_directory, path) = place();
    fill(&path);
    let reader = SqliteStore::open_read_only(&path).unwrap();
    block_on(async {
        assert!(reader.get_thread("t").await.unwrap().is_some());
        let error = reader.create_thread(thread("new")).await.unwrap_err();
        assert!(error.to_string().ends_with("is open for reading only"));
    });
}

#[test]
fn reading_what_is_not_there_creates_nothing() {
    let (_directory, path) = place();
    assert!(matches!(SqliteStore::open_read_only(&path), Err(StoreError::Io { .. })));
    assert!(!path.parent().unwrap().exists());
}

#[test]
fn a_newer_database_is_refused() {
    let (_directory, path) = place();
    fill(&path);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 7).unwrap();
    connection.close().unwrap();
    assert_eq!(
        refused(&path).to_string(),
        format!(
            "the database `{}` has format 7, this host knows up to 2: use a newer art or another --home",
            path.display()
        )
    );
}

#[test]
fn a_database_of_another_program_is_refused() {
    let (directory, _) = place();
    let path = directory.path().join("other.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE theirs (x)").unwrap();
    connection.close().unwrap();
    assert!(matches!(refused(&path), StoreError::NotOurs { .. }));
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let (directory, _) = place();
    let path = directory.path().join("notes.txt");
    for content in [&b""[..], b"my notes", &[0; 8192], b"SQLite format 3\0"] {
        fs::write(&path, content).unwrap();
        let error = refused(&path);
        assert!(
            error
                .to_string()
                .contains("is not a database of this host: move it away")
        );
    }
}

#[test]
fn a_directory_in_its_place_is_refused() {
    let (directory, _) = place();
    assert!(matches!(
        SqliteStore::open(directory.path()),
        Err(StoreError::NotOurs { .. })
    ));
}

#[test]
fn a_log_without_its_database_is_refused() {
    let (_directory, path) = place();
    fill(&path);
    fs::remove_file(&path).unwrap();
    fs::write(beside(&path, "-wal"), b"log").unwrap();
    let error = SqliteStore::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }));
    assert!(!path.exists());
}

#[test]
fn what_a_crash_during_creation_left_is_replaced() {
    let (_directory, path) = place();
    fs::create_dir(path.parent().unwrap()).unwrap();
    fs::write(beside(&path, "-new"), b"half a database").unwrap();
    fill(&path);
    assert!(!beside(&path, "-new").exists());
}

#[test]
fn a_truncated_database_is_refused() {
    let (_directory, path) = place();
    fill(&path);
    let length = fs::metadata(&path).unwrap().len();
    OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(length / 2)
        .unwrap();
    let error = refused(&path);
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(error.to_string().contains("restore a backup or use another --home"));
}

#[test]
fn a_page_full_of_noise_is_never_taken_for_an_empty_database() {
    let (_directory, path) = place();
    fill(&path);
    let pages = fs::metadata(&path).unwrap().len() / 4096;
    let good = fs::read(&path).unwrap();
    let mut refusals = 0;
    for page in 0..pages {
        fs::write(&path, &good).unwrap();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        // Page 1 keeps its header, so that the file is still ours.
        let start = if page == 0 { 100 } else { page * 4096 };
        let noise: Vec<u8> = (0..(page + 1) * 4096 - start).map(|n| (n * 167 % 251) as u8).collect();
        file.write_all_at(&noise, start).unwrap();
        let before = fs::read(&path).unwrap();
        match SqliteStore::open(&path) {
            Err(StoreError::Damaged { .. } | StoreError::NotOurs { .. } | StoreError::Sqlite { .. }) => {
                refusals += 1;
                assert_eq!(fs::read(&path).unwrap(), before);
            }
            // A page that is in no table.
            Ok(_) => {}
            Err(error) => panic!("page {page}: {error:?}"),
        }
    }
    assert!(refusals * 10 >= pages * 9, "{refusals} of {pages}");
}
