//! Replays the corpus of the fuzz target, each case within a generous time limit.

#[path = "../fuzz/cases.rs"]
mod cases;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

#[test]
fn every_case_of_the_corpus_ends() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/schemas");
    let files: Vec<_> = fs::read_dir(corpus)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(files.len() > 20, "{files:?}");
    for file in files {
        let (schema, value) = cases::schema_and_value(&fs::read(&file).unwrap());
        let start = Instant::now();
        cases::apply(&schema, value);
        assert!(start.elapsed() < Duration::from_secs(10), "{}", file.display());
    }
}
