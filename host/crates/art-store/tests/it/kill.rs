//! Commits that were acknowledged survive when the process is killed, and every commit is stored as a whole or not at all.

use std::path::Path;
use std::sync::Arc;

use art_store::{Commit, MessageOptions, ObservationFilter, SqliteStore, Store};
use serde_json::json;

use crate::children::{self, ChildTest};
use crate::fixture::{block_on, event, message, new_path, new_run, new_thread, thought};

/// The identifiers of the threads. Each thread has one run, whose identifier is that of the thread.
const THREADS: [&str; 4] = ["a", "b", "c", "d"];
/// Number of child processes that are killed one after the other.
const ROUNDS: usize = 8;
/// Number of acknowledged commits for which the parent waits before it kills the first child. It waits for twice as many of the
/// second child, and so on.
const ACKNOWLEDGEMENTS_IN_FIRST_ROUND: usize = 23;
/// Maximum size of a file, in blocks of 512 bytes. The write-ahead log of SQLite reaches it after some commits.
const MAX_FILE_BLOCKS: u32 = 1_500;
/// Name of the test that runs in the child process.
const CHILD_TEST: &str = "kill::child_commits_until_it_is_killed";

/// Runs in the child processes of the tests below. Does nothing when the test runner starts it.
#[test]
fn child_commits_until_it_is_killed() {
    let Some(path) = children::database_path() else { return };
    let store = Arc::new(SqliteStore::open(path).unwrap());
    block_on(async {
        let writers = THREADS.map(|thread_id| tokio::spawn(commit_until_an_error(Arc::clone(&store), thread_id)));
        for writer in writers {
            writer.await.unwrap();
        }
    });
}

/// Makes commits until one fails. Each stores an event, an observation, a state and a message. After each commit that was
/// acknowledged, sends the parent process a line with the thread and the number of its events.
async fn commit_until_an_error(store: Arc<SqliteStore>, thread_id: &'static str) {
    if store.get_thread(thread_id).await.unwrap().is_none() && store.create_thread(new_thread(thread_id)).await.is_err()
    {
        return;
    }
    let Ok(lease) = store.acquire_lease(thread_id).await else {
        return;
    };
    let run_before = store.get_run(thread_id).await.unwrap();
    let mut begin = run_before.is_none().then(|| new_run(thread_id, thread_id));
    let mut last_sequence = run_before.map_or(0, |run| run.last_sequence);
    loop {
        let commit = Commit {
            begin: begin.take(),
            trace_id: thread_id.to_owned(),
            lease: lease.clone(),
            expected_last_sequence: last_sequence,
            events: vec![event("k", json!(last_sequence + 1))],
            state: Some(crate::fixture::json_text(&json!(last_sequence + 1))),
            messages: vec![message(
                &format!("{thread_id}{last_sequence}"),
                thread_id,
                last_sequence,
            )],
            observations: vec![thought(thread_id)],
            ..Commit::default()
        };
        let Ok(committed) = store.commit(commit).await else {
            return;
        };
        last_sequence = committed.run.last_sequence;
        children::send_line(&format!("{thread_id} {last_sequence}"));
    }
}

/// Asserts that each thread has as many messages and observations as events, and the state that was committed with its last
/// event. Returns the number of events of each thread.
fn count_whole_commits(store: &SqliteStore) -> [u64; 4] {
    THREADS.map(|thread_id| {
        block_on(async {
            let events = store.read_journal(thread_id).await.unwrap().len();
            let messages = store.list_messages(thread_id, MessageOptions::default()).await.unwrap();
            let observations = store
                .list_observations(thread_id, ObservationFilter::default())
                .await
                .unwrap();
            let state = store.load_state(thread_id).await.unwrap().map(|state| state.data);
            assert_eq!((messages.len(), observations.len()), (events, events));
            assert_eq!(state, (events > 0).then(|| json!(events)));
            events as u64
        })
    })
}

/// Returns the highest number of events that the child sent for each thread.
fn highest_acknowledged(lines: &[String]) -> [u64; 4] {
    let mut highest = [0; 4];
    for line in lines {
        let (thread_id, number) = line.split_once(' ').unwrap();
        let index = THREADS.iter().position(|id| *id == thread_id).unwrap();
        highest[index] = number.parse::<u64>().unwrap().max(highest[index]);
    }
    highest
}

/// Asserts that a database has every commit that a child reported as acknowledged in these lines.
fn assert_stored(path: &Path, lines: &[String]) {
    let stored = count_whole_commits(&SqliteStore::open(path).unwrap());
    let acknowledged = highest_acknowledged(lines);
    assert!(
        stored
            .iter()
            .zip(acknowledged)
            .all(|(stored, number)| *stored >= number),
        "{acknowledged:?} acknowledged, {stored:?} stored"
    );
}

#[test]
fn acknowledged_commits_survive_a_kill_and_no_commit_is_stored_in_part() {
    let (_directory, path) = new_path();
    for round in 1..=ROUNDS {
        let mut child = ChildTest::start(CHILD_TEST, &path);
        let mut lines: Vec<_> = (0..round * ACKNOWLEDGEMENTS_IN_FIRST_ROUND)
            .map(|_| child.next_line().unwrap())
            .collect();
        child.kill();
        lines.extend(child.finish().0);
        assert_stored(&path, &lines);
    }
}

#[test]
fn reaching_a_file_size_limit_loses_no_acknowledged_commit() {
    let (_directory, path) = new_path();
    let mut child = ChildTest::start_with_limited_files(CHILD_TEST, &path, MAX_FILE_BLOCKS);
    let (lines, status) = child.finish();
    // The child ends by itself, at the first error of a commit.
    assert!(status.success());
    assert!(!lines.is_empty());
    assert_stored(&path, &lines);
    // Without the limit, a child can commit again.
    let mut child = ChildTest::start(CHILD_TEST, &path);
    let line = child.next_line().unwrap();
    child.kill();
    child.finish();
    assert_stored(&path, &[line]);
}
