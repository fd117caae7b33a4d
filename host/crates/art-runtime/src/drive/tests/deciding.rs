//! Runs that wait for the decision of a person. A suspension is one tool call that waits, with the question to
//! the person.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use art_core::hitl::Feedback;
use art_core::outcome::Suspension;
use art_core::suspension::{DecidedBy, Decision, ExpiryAction};
use art_core::tool::BlockingToolConfig;
use art_store::{Owner, SqliteStore, StoreError, SuspensionStatus};

use super::scripted::{Reply, calling_reply, completing_reply, one_step_plan, scripted_runtime, text_reply};
use super::*;

/// Returns a tool that asks a person, and that counts its approved calls in `effects`.
fn asking_tool(blocking_config: Option<Value>, effects: Arc<AtomicU32>) -> Arc<DirectTool> {
    let blocking_config = blocking_config.map(|config| serde_json::from_value::<BlockingToolConfig>(config).unwrap());
    let schema = ToolSchema {
        name: "asks".to_owned(),
        description: "Deletes a file after a person has approved.".to_owned(),
        input_schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}).into(),
        output_schema: None,
        examples: Vec::new().into(),
        execution_mode: ExecutionMode::Blocking,
        blocking_config,
        display_config: None,
    };
    let implementation = move |call: art_tools::DirectCall| {
        let effects = Arc::clone(&effects);
        async move {
            match call.context.hitl_context {
                Some(context) if context.was_approved == Some(true) => {
                    effects.fetch_add(1, Ordering::SeqCst);
                    success(&json!({"deleted": call.arguments, "answer": context.feedback}))
                }
                _ => Ending::Suspended(Suspension {
                    message: "Delete it?".to_owned(),
                    details: None,
                    preview_data: None,
                    feedback_schema: None,
                }),
            }
        }
    };
    Arc::new(DirectTool::new(schema, implementation))
}

/// Returns the replies of a run with one step, which calls the tool that asks.
fn replies() -> Vec<Reply> {
    vec![
        one_step_plan(),
        calling_reply(&["asks"]),
        completing_reply(),
        text_reply("Done."),
    ]
}

/// Returns a runtime whose run calls a tool that asks a person, and the number of approved calls of the tool.
fn runtime_that_asks(blocking_config: Option<Value>) -> (tempfile::TempDir, Runtime, Arc<AtomicU32>) {
    let (home, runtime) = scripted_runtime(replies());
    let effects = Arc::new(AtomicU32::new(0));
    let tool = asking_tool(blocking_config, Arc::clone(&effects));
    runtime.tools.registry().register(tool).unwrap();
    (home, runtime, effects)
}

fn approval() -> Feedback {
    let decided_at = 0;
    Feedback::new(true, decided_at)
}

fn rejection() -> Feedback {
    let decided_at = 0;
    Feedback::new(false, decided_at)
}

/// Returns the identifier of the only suspension that a run waits for.
fn only_suspension_id(answer: &Answer) -> String {
    assert_eq!(answer.status(), RunStatus::Suspended, "{answer}");
    let [record] = &answer.waits_for[..] else {
        panic!("{:?}", answer.waits_for)
    };
    record.id().to_owned()
}

async fn resume(runtime: &Runtime, answer: &Answer) -> Result<Answer, RuntimeError> {
    runtime
        .resume(&answer.trace_id, CancellationToken::new(), &mut Unwatched)
        .await
}

/// Approves the suspension `id`, and resumes its run.
async fn approve_and_resume(runtime: &Runtime, thread: &str, id: &str) -> Result<Answer, RuntimeError> {
    runtime
        .resume_execution(thread, id, approval(), CancellationToken::new(), &mut Unwatched)
        .await
}

// A run that is resumed by the identifier of its suspension goes on (contract A33). What a thread waits for can be
// looked up (contract A40).
#[tokio::test]
async fn a_run_waits_for_a_decision_and_continues_after_it() {
    let (_home, runtime, effects) = runtime_that_asks(None);
    let answer = runtime.ask("q").await.unwrap();
    let id = only_suspension_id(&answer);
    assert_eq!(effects.load(Ordering::SeqCst), 0);
    let run = runtime.store.get_run(&answer.trace_id).await.unwrap().unwrap();
    assert_eq!(run.status, RunState::Suspended);
    let state = runtime
        .check_for_suspended_state(&answer.thread_id, Owner::Anyone)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((state.suspension_id, state.tool_name), (id.clone(), "asks".to_owned()));
    let done = approve_and_resume(&runtime, &answer.thread_id, &id).await.unwrap();
    assert_eq!((done.text(), done.status()), ("Done.", RunStatus::Success));
    assert_eq!(done.trace_id, answer.trace_id);
    assert_eq!(effects.load(Ordering::SeqCst), 1);
    let state = runtime
        .check_for_suspended_state(&answer.thread_id, Owner::Anyone)
        .await;
    assert_eq!(state.unwrap(), None);
}

// The result of a tool with `completesOnApproval` is the decision (contract C16).
#[tokio::test]
async fn a_tool_whose_result_is_the_decision_does_not_run_after_an_approval() {
    let (_home, runtime, effects) = runtime_that_asks(Some(json!({"completesOnApproval": true})));
    let answer = runtime.ask("q").await.unwrap();
    let done = approve_and_resume(&runtime, &answer.thread_id, &only_suspension_id(&answer))
        .await
        .unwrap();
    assert_eq!(done.status(), RunStatus::Success);
    assert_eq!(effects.load(Ordering::SeqCst), 0);
    let output = done.report.items[0].tool_results[0].output.clone().unwrap();
    assert_eq!(output["message"], "User approved the action.");
}

/// Lets 200 clients decide about one suspension and resume its run, and checks that exactly one of them has an effect.
async fn race_clients(runtime: Runtime, effects: &AtomicU32) {
    let runtime = Arc::new(runtime);
    let answer = runtime.ask("q").await.unwrap();
    let id = only_suspension_id(&answer);
    let clients: Vec<_> = (0..200)
        .map(|_| {
            let (runtime, thread, id) = (Arc::clone(&runtime), answer.thread_id.clone(), id.clone());
            tokio::spawn(async move { approve_and_resume(&runtime, &thread, &id).await })
        })
        .collect();
    let mut successes = 0;
    for client in clients {
        match client.await.unwrap() {
            Ok(answer) => successes += u32::from(answer.status() == RunStatus::Success),
            Err(error) => assert!(
                matches!(error, RuntimeError::Store(StoreError::AlreadyDecided { .. })),
                "{error}"
            ),
        }
    }
    assert_eq!((successes, effects.load(Ordering::SeqCst)), (1, 1));
}

// Of several who resume one suspension exactly one has an effect (contract A38).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_200_clients_that_resume_the_same_suspension_one_has_an_effect() {
    for _ in 0..100 {
        let (_home, runtime, effects) = runtime_that_asks(None);
        race_clients(runtime, &effects).await;
    }
}

// The same with a database (contract A38). It syncs each commit, so there are fewer rounds; `ART_RACE_ROUNDS=100` runs
// as many as above.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_200_clients_that_resume_the_same_suspension_in_a_database_one_has_an_effect() {
    let rounds = std::env::var("ART_RACE_ROUNDS").map_or(20, |rounds| rounds.parse().unwrap());
    for _ in 0..rounds {
        let (home, mut runtime, effects) = runtime_that_asks(None);
        runtime.store = Arc::new(SqliteStore::open(home.path().join("art.db")).unwrap());
        race_clients(runtime, &effects).await;
    }
}

// A host can stop after a decision is stored and before the run applies it.
#[tokio::test]
async fn a_stored_decision_is_applied_when_the_run_is_resumed() {
    let (_home, runtime, effects) = runtime_that_asks(None);
    let answer = runtime.ask("q").await.unwrap();
    let id = only_suspension_id(&answer);
    let decided = runtime.decide(&id, approval()).await.unwrap();
    assert_eq!(decided.status, SuspensionStatus::Decided);
    assert_eq!(effects.load(Ordering::SeqCst), 0);
    assert_eq!(runtime.suspensions(Owner::Anyone, None).await.unwrap().len(), 1);
    assert_eq!(resume(&runtime, &answer).await.unwrap().status(), RunStatus::Success);
    assert_eq!(runtime.suspensions(Owner::Anyone, None).await.unwrap(), []);
}

#[tokio::test]
async fn resuming_a_run_that_still_waits_changes_nothing() {
    let (_home, runtime, _) = runtime_that_asks(None);
    let answer = runtime.ask("q").await.unwrap();
    let before = runtime.store.read_journal(&answer.trace_id).await.unwrap();
    let again = resume(&runtime, &answer).await.unwrap();
    assert_eq!(only_suspension_id(&again), only_suspension_id(&answer));
    assert_eq!(runtime.store.read_journal(&answer.trace_id).await.unwrap(), before);
}

// A decision about a suspension of another thread or person is refused like one about an unknown suspension (contract
// A34).
#[tokio::test]
async fn a_decision_about_an_unknown_foreign_or_ended_suspension_is_refused() {
    let (_home, runtime, _) = runtime_that_asks(None);
    let answer = runtime.ask("q").await.unwrap();
    let id = only_suspension_id(&answer);
    let unknown = approve_and_resume(&runtime, &answer.thread_id, "x").await.unwrap_err();
    let of_other_thread = approve_and_resume(&runtime, "other", &id).await.unwrap_err();
    let of_stranger = runtime
        .decide(crate::UserSuspension::from(&id).of_user("bob"), approval())
        .await
        .unwrap_err();
    for (error, id) in [
        (unknown, "x"),
        (of_other_thread, id.as_str()),
        (of_stranger, id.as_str()),
    ] {
        assert_eq!(
            error.to_string(),
            format!("nothing waits for a decision with the identifier `{id}`: list what waits")
        );
    }
    runtime.cancel(&answer.trace_id).await.unwrap();
    let closed = runtime.decide(&id, approval()).await.unwrap_err();
    assert_eq!(
        closed.to_string(),
        format!("the run of `{id}` has ended: there is nothing left to decide")
    );
}

#[tokio::test]
async fn a_thread_that_waits_refuses_another_question_until_its_run_is_cancelled() {
    let (_home, runtime, _) = runtime_that_asks(None);
    let answer = runtime.ask("q").await.unwrap();
    let id = only_suspension_id(&answer);
    let error = runtime
        .ask(Question::from("w").in_thread(&answer.thread_id))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "thread `{}` waits for a decision about `asks`, with the identifier `{id}`; decide, go on with run `{}` or cancel it, or ask in another thread",
            answer.thread_id, answer.trace_id
        )
    );
    runtime.cancel(&answer.trace_id).await.unwrap();
    let run = runtime.store.get_run(&answer.trace_id).await.unwrap().unwrap();
    assert_eq!(run.status, RunState::Cancelled);
    assert!(
        runtime
            .ask(Question::from("w").in_thread(&answer.thread_id))
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn an_approval_is_refused_if_the_tool_was_removed_while_its_call_waits() {
    let (_home, runtime, effects) = runtime_that_asks(None);
    let answer = runtime.ask("q").await.unwrap();
    let id = only_suspension_id(&answer);
    runtime.tools.registry().unregister("asks");
    let error = runtime.decide(&id, approval()).await.unwrap_err();
    assert!(
        error.to_string().contains("was removed or replaced by another version"),
        "{error}"
    );
    runtime.decide(&id, rejection()).await.unwrap();
    let rejected = resume(&runtime, &answer).await.unwrap();
    assert_eq!(effects.load(Ordering::SeqCst), 0);
    assert!(rejected.waits_for.is_empty());
}

// A suspension counts as rejected once its time limit has passed (contract Q4). The observation `SUSPENSION_TIMEOUT` is
// recorded when a host next resumes the run.
#[tokio::test]
async fn an_expired_suspension_is_rejected_when_the_run_is_resumed() {
    let (_home, runtime, effects) = runtime_that_asks(Some(json!({"timeoutMs": 1, "completesOnApproval": false})));
    let answer = runtime.ask("q").await.unwrap();
    // The suspension may expire before the run is stored as suspended.
    if answer.status() == RunStatus::Suspended {
        let id = only_suspension_id(&answer);
        tokio::time::sleep(Duration::from_millis(5)).await;
        let late = runtime.decide(&id, approval()).await.unwrap_err();
        assert!(
            matches!(late, RuntimeError::Store(StoreError::SuspensionExpired { .. })),
            "{late}"
        );
        assert!(resume(&runtime, &answer).await.unwrap().waits_for.is_empty());
    }
    assert_eq!(effects.load(Ordering::SeqCst), 0);
    let filter = ObservationFilter {
        types: vec![ObservationType::SuspensionTimeout],
        ..ObservationFilter::default()
    };
    let observed = runtime
        .store
        .list_observations(&answer.thread_id, filter)
        .await
        .unwrap();
    assert_eq!(observed.len(), 1);
}

// The operator may set the time limit of suspensions, and may decide that a suspension counts as approved once the limit has
// passed (contract Q4). Even then a suspension that asks for more than a confirmation, such as a text, counts as rejected.
#[tokio::test]
async fn an_expired_suspension_that_asks_only_to_confirm_is_approved_if_the_operator_wants_so() {
    for (input_type, expected_effects) in [("confirm", 1), ("text", 0)] {
        let form = json!({"inputType": input_type, "prompt": "Sure?"});
        let (_home, mut runtime, effects) =
            runtime_that_asks(Some(json!({"completesOnApproval": false, "feedbackSchema": form})));
        runtime.config.approval.value.timeout_ms = Some(20);
        runtime.config.approval.value.on_timeout = ExpiryAction::Approve;
        let answer = runtime.ask("q").await.unwrap();
        if answer.status() == RunStatus::Suspended {
            tokio::time::sleep(Duration::from_millis(25)).await;
            assert!(resume(&runtime, &answer).await.unwrap().waits_for.is_empty());
        }
        assert_eq!(effects.load(Ordering::SeqCst), expected_effects);
    }
}

#[tokio::test]
async fn changed_arguments_are_refused_if_the_suspension_does_not_allow_them() {
    let (_home, runtime, _) = runtime_that_asks(None);
    let answer = runtime.ask("q").await.unwrap();
    let changed = Feedback {
        modified_args: Some(json!({"path": "/b"})),
        ..approval()
    };
    let error = runtime.decide(&only_suspension_id(&answer), changed).await.unwrap_err();
    assert!(matches!(error, RuntimeError::Decision { .. }), "{error}");
}

// A suspension may have a form for the answer of the person (contract C12). The approved call gets the decision (contract C18).
#[tokio::test]
async fn an_approved_tool_runs_with_the_changed_arguments_and_the_answer_of_the_person() {
    let form = json!({"inputType": "text", "prompt": "Which word?", "allowModifyArgs": true});
    let blocking_config = json!({"feedbackSchema": form, "completesOnApproval": false});
    let (_home, runtime, _) = runtime_that_asks(Some(blocking_config));
    let answer = runtime.ask("q").await.unwrap();
    let feedback = Feedback {
        value: Some(json!("blue")),
        modified_args: Some(json!({"path": "/b"})),
        ..approval()
    };
    let decided = runtime
        .decide(&only_suspension_id(&answer), feedback.clone())
        .await
        .unwrap();
    let by = DecidedBy::Person { user_id: None };
    assert_eq!(decided.decision, Some(Decision { feedback, by }));
    let done = resume(&runtime, &answer).await.unwrap();
    let output = done.report.items[0].tool_results[0].output.clone().unwrap();
    assert_eq!(output, json!({"deleted": {"path": "/b"}, "answer": "blue"}));
}
