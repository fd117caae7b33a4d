//! Writes that were acknowledged survive when the process is killed.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use art_store::{ObservationFilter, SqliteStore, Store};

use crate::fixture::{block_on, new_path, thought, thread};

/// Environment variable with the path of the database. Only the parent process sets it.
const PATH: &str = "ART_STORE_KILL_TEST";
const ROUNDS: usize = 8;

/// The child process of the test below. Does nothing when the test runner starts it.
#[test]
fn writes_until_it_is_killed() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let store = Arc::new(SqliteStore::open(path).unwrap());
    block_on(async {
        if store.get_thread("t").await.unwrap().is_none() {
            store.create_thread(thread("t")).await.unwrap();
        }
        let writers: Vec<_> = (0..8).map(|_| tokio::spawn(write(Arc::clone(&store)))).collect();
        for writer in writers {
            writer.await.unwrap();
        }
    });
}

async fn write(store: Arc<SqliteStore>) {
    loop {
        let sequence = store.record(thought("t")).await.unwrap().sequence;
        // One write for each line, so that lines of several tasks are not mixed.
        let line = format!("acknowledged {sequence}\n");
        io::stderr().write_all(line.as_bytes()).unwrap();
    }
}

/// Starts a child that writes, kills it after `lines` acknowledgements, and returns the highest sequence that it
/// printed.
fn write_and_kill(path: &Path, lines: usize) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::writes_until_it_is_killed", "--nocapture"])
        .env(PATH, path)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stderr.take().unwrap()).lines();
    let acknowledged = |line: io::Result<String>| line.ok()?.strip_prefix("acknowledged ")?.parse::<u64>().ok();
    let first = output.by_ref().filter_map(acknowledged).take(lines).max();
    child.kill().unwrap();
    let rest = output.filter_map(acknowledged).max();
    child.wait().unwrap();
    first.max(rest).unwrap()
}

#[test]
fn acknowledged_writes_survive_a_kill() {
    let (_directory, path) = new_path();
    for round in 1..=ROUNDS {
        let acknowledged = write_and_kill(&path, round * 23);
        let store = SqliteStore::open(&path).unwrap();
        let stored = block_on(async {
            let mut stored = 0;
            loop {
                let filter = ObservationFilter {
                    after_sequence: Some(stored),
                    ..ObservationFilter::default()
                };
                let page = store.list_observations("t", filter).await.unwrap();
                let end = stored + page.len() as u64;
                assert!(page.iter().map(|observation| observation.sequence).eq(stored + 1..=end));
                if page.is_empty() {
                    break stored;
                }
                stored = end;
            }
        });
        assert!(
            stored >= acknowledged,
            "round {round}: {acknowledged} acknowledged, {stored} stored"
        );
    }
}
