//! Runs that are resumed after their host was stopped, and simultaneous questions of one thread.

use std::sync::atomic::{AtomicU32, Ordering};

use art_store::{Commit, JournalEntry, NewEvent, NewRun, StoreError};

use super::scripted::{ANSWER, Reply, calling_reply, completing_reply, plan_reply, scripted_runtime, text_reply, tool};
use super::*;
use crate::testing::json_text;

/// Number of tool calls of a run with [`replies`].
const ALL_CALLS: usize = 4;
/// Number of calls of the tool `counted` among them.
const COUNTED_CALLS: usize = 2;

/// Returns the replies of a run with two steps, each of which calls two tools at the same time.
fn replies() -> Vec<Reply> {
    let step = |id| json!({"id": id, "description": format!("do {id}"), "stepType": "tool", "dependencies": []});
    vec![
        plan_reply(&json!([step("a"), step("b")])),
        calling_reply(&["counted", "one"]),
        completing_reply(),
        calling_reply(&["counted", "two"]),
        completing_reply(),
        text_reply(ANSWER),
    ]
}

/// Returns a question whose steps run one after the other, so that each gets its own replies.
fn question_with_sequential_steps() -> Question {
    let mut question = Question::from("q");
    question.settings.execution.max_parallel_items = Some(1);
    question
}

/// Whether an interrupted call of a tool may be made again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeatable {
    Yes,
    No,
}

/// Returns a runtime with these replies and a tool `counted`, and the number of calls of this tool.
fn counting_runtime(replies: Vec<Reply>, repeatable: Repeatable) -> (tempfile::TempDir, Runtime, Arc<AtomicU32>) {
    let (home, runtime) = scripted_runtime(replies);
    let calls_made = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&calls_made);
    let tool = tool("counted", move || {
        counter.fetch_add(1, Ordering::SeqCst);
        std::future::ready(success(&json!(1)))
    });
    let tool = Arc::into_inner(tool).unwrap();
    let tool = match repeatable {
        Repeatable::Yes => tool.repeatable(),
        Repeatable::No => tool,
    };
    runtime.tools.registry().register(Arc::new(tool)).unwrap();
    (home, runtime, calls_made)
}

/// Returns a runtime whose store has the run of `answer` as if its host, `first`, had stopped after the entries in `journal`. The
/// model gives the replies that the run had not received by then. Also returns the number of calls of the tool `counted` in the
/// new runtime.
async fn runtime_after_stop(
    first: &Runtime,
    answer: &Answer,
    journal: &[JournalEntry],
    repeatable: Repeatable,
) -> (tempfile::TempDir, Runtime, Arc<AtomicU32>) {
    let received_replies = count_events(journal, "model_replied");
    let remaining_replies = replies().split_off(received_replies);
    let (home, mut runtime, calls_made) = counting_runtime(remaining_replies, repeatable);
    runtime.store = Arc::new(store_with_interrupted_run(first, answer, journal).await);
    (home, runtime, calls_made)
}

/// Returns a store with the run of `answer` as if its host had stopped after the entries in `journal`.
async fn store_with_interrupted_run(runtime: &Runtime, answer: &Answer, journal: &[JournalEntry]) -> MemoryStore {
    let (thread_id, trace_id) = (answer.thread_id.clone(), answer.trace_id.clone());
    let store = MemoryStore::new();
    let thread = runtime.store.get_thread(&thread_id).await.unwrap().unwrap();
    let thread = NewThread {
        id: thread_id.clone(),
        user_id: None,
        config: thread.config,
    };
    store.create_thread(thread).await.unwrap();
    let lease = store.acquire_lease(&thread_id).await.unwrap();
    let events = journal.iter().map(|entry| NewEvent {
        kind: entry.kind.clone(),
        payload: json_text(&parse_payload(entry)),
    });
    let commit = Commit {
        begin: Some(NewRun {
            trace_id: trace_id.clone(),
            thread_id,
            ..NewRun::default()
        }),
        trace_id,
        lease: lease.clone(),
        events: events.collect(),
        ..Commit::default()
    };
    store.commit(commit).await.unwrap();
    store.release_lease(&lease).await.unwrap();
    store
}

async fn resume(runtime: &Runtime, trace_id: &str) -> Result<Answer, RuntimeError> {
    runtime.resume(trace_id, CancellationToken::new(), &mut Unwatched).await
}

fn is_end_of_counted_call(entry: &JournalEntry) -> bool {
    parse_payload(entry).pointer("/end/result/toolName") == Some(&json!("counted"))
}

/// Returns the number of events of a kind.
fn count_events(journal: &[JournalEntry], kind: &str) -> usize {
    journal.iter().filter(|entry| entry.kind == kind).count()
}

// What a run had done when its host stopped is not done again (contract B33), and work in progress is done again
// (contract P86).
#[tokio::test]
async fn a_run_that_was_stopped_after_any_event_reaches_the_same_answer() {
    let (_home, first, calls_made) = counting_runtime(replies(), Repeatable::Yes);
    let answer = first.ask(question_with_sequential_steps()).await.unwrap();
    assert_eq!(
        (answer.text(), calls_made.load(Ordering::SeqCst) as usize),
        (ANSWER, COUNTED_CALLS)
    );
    let journal = stored_journal(first.store.as_ref(), &answer.trace_id).await;
    for stop in 1..journal.len() {
        let before_stop = &journal[..stop];
        let (_home, second, calls_made) = runtime_after_stop(&first, &answer, before_stop, Repeatable::Yes).await;
        let resumed = resume(&second, &answer.trace_id).await.unwrap();
        assert_eq!(
            (resumed.text(), resumed.status()),
            (ANSWER, RunStatus::Success),
            "{stop}"
        );
        let ended_before_stop = before_stop.iter().filter(|entry| is_end_of_counted_call(entry)).count();
        assert_eq!(
            calls_made.load(Ordering::SeqCst) as usize,
            COUNTED_CALLS - ended_before_stop,
            "{stop}: a call that had ended is not made again"
        );
        assert_eq!(
            resumed.calls.len(),
            ALL_CALLS,
            "{stop}: calls before the stop are listed as well"
        );
        let run = second.store.get_run(&answer.trace_id).await.unwrap().unwrap();
        assert_eq!(run.status, RunState::Success, "{stop}");
    }
}

#[tokio::test]
async fn an_interrupted_call_that_is_not_repeatable_has_an_unknown_outcome() {
    let (_home, first, _) = counting_runtime(replies(), Repeatable::No);
    let answer = first.ask(question_with_sequential_steps()).await.unwrap();
    let journal = stored_journal(first.store.as_ref(), &answer.trace_id).await;
    let stop = journal.iter().position(is_end_of_counted_call).unwrap();
    let before_stop = &journal[..stop];
    let (_home, second, calls_made) = runtime_after_stop(&first, &answer, before_stop, Repeatable::No).await;
    let resumed = resume(&second, &answer.trace_id).await.unwrap();
    assert!(count_events(before_stop, "tool_called") > 0);
    // A call with the event `tool_called` may have been made before the stop, so it is not made again.
    let announced_calls = before_stop
        .iter()
        .filter(|entry| parse_payload(entry)["toolName"] == "counted");
    assert_eq!(
        calls_made.load(Ordering::SeqCst) as usize,
        COUNTED_CALLS - announced_calls.count()
    );
    let results = resumed.steps().flat_map(|step| &step.tool_results);
    let unknown: Vec<_> = results
        .filter(|result| result.code == Some(art_core::error::ToolErrorCode::UnknownOutcome))
        .collect();
    assert!(!unknown.is_empty());
    assert!(
        unknown[0]
            .error
            .as_ref()
            .unwrap()
            .contains("not known whether `counted` took effect")
    );
}

#[tokio::test]
async fn a_run_that_ended_or_does_not_exist_cannot_be_resumed() {
    let (_home, runtime) = runtime_with_population_tool();
    let answer = ask(&runtime, question(), CancellationToken::new()).await.unwrap();
    let ended = resume(&runtime, &answer.trace_id).await.unwrap_err();
    assert!(ended.to_string().contains("has ended with `success`"), "{ended}");
    assert!(matches!(
        resume(&runtime, "none").await,
        Err(RuntimeError::NoRun { .. })
    ));
}

#[tokio::test]
async fn a_run_of_an_earlier_version_of_the_host_ends_with_an_error() {
    let (_home, first, _) = counting_runtime(replies(), Repeatable::Yes);
    let answer = first.ask(question_with_sequential_steps()).await.unwrap();
    let mut journal = stored_journal(first.store.as_ref(), &answer.trace_id).await;
    // Only the start remains, in the first version of the journal format.
    journal.truncate(1);
    let mut started = parse_payload(&journal[0]);
    started["start"]["version"] = json!(1);
    journal[0].payload = started.to_string();
    let (_home, mut second, _) = counting_runtime(replies(), Repeatable::Yes);
    second.store = Arc::new(store_with_interrupted_run(&first, &answer, &journal).await);
    let resumed = resume(&second, &answer.trace_id).await.unwrap();
    assert_eq!(resumed.status(), RunStatus::Error);
    assert!(resumed.text().contains("an earlier version of the host"), "{resumed}");
}

#[tokio::test]
async fn a_run_on_which_another_host_works_cannot_be_resumed() {
    let (_home, first, _) = counting_runtime(replies(), Repeatable::Yes);
    let answer = first.ask(question_with_sequential_steps()).await.unwrap();
    let journal = stored_journal(first.store.as_ref(), &answer.trace_id).await;
    let (_home, mut second, _) = counting_runtime(replies(), Repeatable::Yes);
    let only_start = &journal[..1];
    let store = store_with_interrupted_run(&first, &answer, only_start).await;
    store.acquire_lease(&answer.thread_id).await.unwrap();
    second.store = Arc::new(store);
    let busy = resume(&second, &answer.trace_id).await.unwrap_err();
    assert!(
        matches!(busy, RuntimeError::Store(StoreError::ThreadBusy { .. })),
        "{busy}"
    );
}

#[tokio::test]
async fn the_next_question_of_a_thread_ends_its_interrupted_run() {
    let (_home, first, _) = counting_runtime(replies(), Repeatable::Yes);
    let answer = first.ask(question_with_sequential_steps()).await.unwrap();
    let journal = stored_journal(first.store.as_ref(), &answer.trace_id).await;
    let (_home, mut second, _) = counting_runtime(replies(), Repeatable::Yes);
    // The host stopped early in the run.
    let first_entries = &journal[..3];
    second.store = Arc::new(store_with_interrupted_run(&first, &answer, first_entries).await);
    assert_eq!(
        second.interrupted_runs(art_store::Owner::Anyone).await.unwrap().len(),
        1
    );
    let next = Question::from("another").in_thread(&answer.thread_id);
    assert_eq!(second.ask(next).await.unwrap().text(), ANSWER);
    let run = second.store.get_run(&answer.trace_id).await.unwrap().unwrap();
    assert_eq!(run.status, RunState::Error);
    assert!(run.summary["error"].as_str().unwrap().contains("the host stopped"));
    assert!(
        second
            .interrupted_runs(art_store::Owner::Anyone)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn questions_of_one_thread_are_answered_one_after_the_other() {
    let (_home, runtime) = runtime_with_population_tool();
    let first = ask(&runtime, question(), CancellationToken::new()).await.unwrap();
    let asked_at_once = (0..5).map(|_| runtime.ask(question().in_thread(&first.thread_id)));
    for answer in futures_util::future::join_all(asked_at_once).await {
        assert_eq!(answer.unwrap().status(), RunStatus::Success);
    }
    let messages = runtime.store.list_messages(&first.thread_id, MessageOptions::default());
    let roles: Vec<_> = messages.await.unwrap().iter().map(|message| message.role).collect();
    assert_eq!(roles, [MessageRole::User, MessageRole::Ai].repeat(6));
}

// A host can pause for so long that its lease expires and another host takes the thread over.
#[tokio::test]
async fn a_host_that_lost_its_lease_fails_and_commits_nothing_more() {
    let (_home, runtime) = scripted_runtime([super::scripted::one_step_plan(), calling_reply(&["slow"])]);
    let store = Arc::clone(&runtime.store);
    let (started_tx, started_rx) = tokio::sync::oneshot::channel();
    let started_tx = std::sync::Mutex::new(Some(started_tx));
    let (taken_over_tx, taken_over_rx) = tokio::sync::watch::channel(false);
    let slow = tool("slow", move || {
        let mut taken_over_rx = taken_over_rx.clone();
        if let Some(started_tx) = started_tx.lock().unwrap().take() {
            started_tx.send(()).unwrap();
        }
        async move {
            taken_over_rx.wait_for(|taken_over| *taken_over).await.unwrap();
            success(&json!(1))
        }
    });
    runtime.tools.registry().register(slow).unwrap();
    let take_over = async {
        started_rx.await.unwrap();
        let run = store.list_runs(RunFilter::default()).await.unwrap().remove(0);
        // Whoever knows the thread and the number of a lease can release it. The first lease of a store has the number 1.
        let lease = art_store::Lease {
            thread_id: run.thread_id.clone(),
            number: 1,
        };
        store.release_lease(&lease).await.unwrap();
        store.acquire_lease(&run.thread_id).await.unwrap();
        taken_over_tx.send(true).unwrap();
        run
    };
    let (answer, run) = tokio::join!(runtime.ask("q"), take_over);
    let error = answer.unwrap_err();
    assert!(error.is_lost_lease(), "{error}");
    let after = store.get_run(&run.trace_id).await.unwrap().unwrap();
    assert_eq!(
        (after.status, after.last_sequence),
        (RunState::Running, run.last_sequence)
    );
}

#[test]
fn the_error_for_a_suspended_run_says_that_it_waits_and_what_to_do() {
    // A waiting run gives this error if an earlier version of the host suspended it. Such a run cannot be resumed.
    let error = RuntimeError::CannotResume {
        id: "r".to_owned(),
        status: RunState::Suspended,
    };
    let text = error.to_string();
    assert!(!text.contains("ended"), "{text}");
    assert!(
        text.contains("run `r` waits for the decision of a person") && text.contains("ask again"),
        "{text}"
    );
}
