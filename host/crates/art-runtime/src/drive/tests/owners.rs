//! Threads with owners: what belongs to a person does not exist for others.

use std::sync::Mutex;

use art_agent::{PlanToRun, RunEvent};
use art_store::{Commit, NewEvent, NewRun, Owner};

use super::*;

/// Identifier of the owner of a thread, or of the person who asks for the thread. `None` is for a thread without an owner, or a
/// request that names no person.
type User = Option<&'static str>;

const USERS: [User; 3] = [Some("ada"), Some("bob"), None];

/// Returns the question of a user.
fn user_question(user: User) -> Question {
    Question {
        user_id: user.map(str::to_owned),
        ..question()
    }
}

/// Returns the run `trace_id`, to be looked up for a user.
fn user_run(trace_id: &str, user: User) -> UserRun {
    match user {
        Some(user) => UserRun::from(trace_id).of_user(user),
        None => UserRun::from(trace_id),
    }
}

/// Creates a thread of a user, and in it a run whose host stopped. Returns the identifiers of both.
async fn create_thread_with_interrupted_run(runtime: &Runtime, user: User) -> (String, String) {
    let (start, lease) = prepare::prepare(runtime, user_question(user), &CancellationToken::new())
        .await
        .unwrap();
    let (thread_id, trace_id) = (start.props.thread_id.clone(), start.props.trace_id.clone().unwrap());
    let started = RunEvent::Started {
        at: now(),
        start: Box::new(start),
    };
    let commit = Commit {
        begin: Some(NewRun {
            trace_id: trace_id.clone(),
            thread_id: thread_id.clone(),
            ..NewRun::default()
        }),
        trace_id: trace_id.clone(),
        lease: lease.lease().clone(),
        events: vec![NewEvent {
            kind: "started".to_owned(),
            payload: crate::testing::json_text(&started),
        }],
        ..Commit::default()
    };
    runtime.store.commit(commit).await.unwrap();
    lease.release().await;
    (thread_id, trace_id)
}

/// Calls five methods of the runtime that take a thread or a run, for a user. Returns the error of each, or `ok`.
async fn call_methods(runtime: &Runtime, thread_id: &str, trace_id: &str, user: User) -> Vec<String> {
    fn result_text<T>(result: Result<T, RuntimeError>, id: &str) -> String {
        result.map_or_else(|error| error.to_string().replace(id, "ID"), |_| "ok".to_owned())
    }
    let in_thread = || user_question(user).in_thread(thread_id);
    let with_plan = Question {
        plan: Some(PlanToRun::default()),
        ..in_thread()
    };
    let cancel = CancellationToken::new();
    let resumed = runtime.resume(user_run(trace_id, user), cancel, &mut Unwatched).await;
    vec![
        result_text(runtime.model_for(&in_thread()).await, thread_id),
        result_text(runtime.plan(in_thread()).await, thread_id),
        result_text(runtime.review_plan(with_plan).await, thread_id),
        result_text(resumed, trace_id),
        result_text(runtime.ask(in_thread()).await, thread_id),
    ]
}

// A thread or run of another person is like one that does not exist (contract B23).
#[tokio::test]
async fn requests_for_threads_and_runs_of_others_fail_like_those_for_unknown_ones() {
    for owner in USERS {
        for user in USERS {
            let (_home, runtime) = runtime_with_population_tool();
            let (thread_id, trace_id) = create_thread_with_interrupted_run(&runtime, owner).await;
            let results = call_methods(&runtime, &thread_id, &trace_id, user).await;
            let results_for_unknown_ids = call_methods(&runtime, "unknown", "missing", user).await;
            let expected = if owner == user {
                vec!["ok".to_owned(); 5]
            } else {
                results_for_unknown_ids
            };
            assert_eq!(results, expected, "{owner:?} {user:?}");
        }
    }
}

#[tokio::test]
async fn a_refused_request_changes_nothing() {
    let (_home, runtime) = runtime_with_population_tool();
    let (thread_id, trace_id) = create_thread_with_interrupted_run(&runtime, Some("ada")).await;
    let before = runtime.store.get_thread(&thread_id).await.unwrap();
    call_methods(&runtime, &thread_id, &trace_id, Some("bob")).await;
    assert_eq!(runtime.store.get_thread(&thread_id).await.unwrap(), before);
    assert_eq!(runtime.store.read_journal(&trace_id).await.unwrap().len(), 1);
}

#[tokio::test]
async fn interrupted_runs_are_listed_for_their_owner() {
    let (_home, runtime) = runtime_with_population_tool();
    let (_, trace_id) = create_thread_with_interrupted_run(&runtime, Some("ada")).await;
    for (owner, is_found) in [
        (Owner::user(Some("ada")), true),
        (Owner::user(Some("bob")), false),
        (Owner::user(None), false),
        (Owner::Anyone, true),
    ] {
        let runs = runtime.interrupted_runs(owner.clone()).await.unwrap();
        assert_eq!(runs.iter().any(|run| run.trace_id == trace_id), is_found, "{owner:?}");
    }
}

#[tokio::test]
async fn the_person_and_the_session_are_recorded_and_passed_to_the_tool() {
    let ids_in_call = Arc::new(Mutex::new(None));
    let in_tool = Arc::clone(&ids_in_call);
    let (_home, runtime) = scripted::scripted_runtime([
        scripted::one_step_plan(),
        scripted::calling_reply(&["who"]),
        scripted::completing_reply(),
        scripted::text_reply("done"),
    ]);
    let schema = json!({"name": "who", "description": "Tells who asks.", "inputSchema": {"type": "object"}});
    let tool = DirectTool::new(serde_json::from_value(schema).unwrap(), move |call| {
        *in_tool.lock().unwrap() = Some((call.context.user_id.clone(), call.context.session_id.clone()));
        std::future::ready(success(&json!(1)))
    });
    runtime.tools.registry().register(Arc::new(tool)).unwrap();
    let answer = runtime.ask(question().of_user("ada").in_session("s1")).await.unwrap();
    let (ada, session) = (Some("ada".to_owned()), Some("s1".to_owned()));
    assert_eq!(answer.report.response.metadata.user_id, ada);
    assert_eq!(ids_in_call.lock().unwrap().clone(), Some((ada.clone(), session)));
    let journal = journal(&runtime, &answer.trace_id).await;
    assert_eq!(journal[0]["start"]["props"]["userId"], "ada");
    assert_eq!(journal[0]["start"]["props"]["sessionId"], "s1");
    let thread = runtime.store.get_thread(&answer.thread_id).await.unwrap().unwrap();
    assert_eq!(thread.user_id, ada);
}

#[tokio::test]
async fn an_identifier_of_a_person_or_a_session_has_1_to_256_bytes() {
    let (_home, runtime) = runtime_with_population_tool();
    for (id, allowed) in [
        ("", false),
        ("a", true),
        (&"x".repeat(256), true),
        (&"x".repeat(257), false),
    ] {
        assert_eq!(
            runtime.ask(question().of_user(id)).await.is_ok(),
            allowed,
            "{}",
            id.len()
        );
        assert_eq!(
            runtime.ask(question().in_session(id)).await.is_ok(),
            allowed,
            "{}",
            id.len()
        );
    }
}
