//! Each fuzz target has a check and a corpus of stored inputs. The tests pass each input to the check, which has a generous time
//! limit.

#[path = "../fuzz/cases/mod.rs"]
mod cases;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Calls `check` with each file of a corpus.
fn replay(target: &str, check: impl Fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let files: Vec<_> = fs::read_dir(corpus)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(files.len() >= 5, "{files:?}");
    for file in files {
        let bytes = fs::read(&file).unwrap();
        let start = Instant::now();
        check(&bytes);
        assert!(start.elapsed() < Duration::from_secs(10), "{}", file.display());
    }
}

#[test]
fn no_file_of_the_corpus_harms_the_loader() {
    cases::loader::prepare();
    replay("loader", cases::loader::check);
}

#[test]
fn every_schema_of_the_corpus_is_checked_in_bounded_time() {
    replay("schemas", |bytes| {
        let (schema, value) = cases::schemas::schema_and_value(bytes);
        cases::schemas::admit_and_check(&schema, value);
    });
}

#[test]
fn every_text_of_the_corpus_is_shown_without_control_characters() {
    replay("texts", cases::texts::check);
}

#[test]
fn every_grant_of_the_corpus_covers_only_requests_that_go_to_the_granted_host() {
    replay("addresses", cases::addresses::check);
}

#[test]
fn no_secret_of_the_corpus_is_left_in_redacted_bytes_however_the_bytes_are_split() {
    replay("secrets", cases::secrets::check);
}
