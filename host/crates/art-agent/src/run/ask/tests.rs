use art_core::agent::AgentProps;
use art_core::error::{ErrorCode, ModelError, ModelErrorCode};
use art_core::pes::TodoItemStatus;
use art_core::prompt::Message;
use art_core::provider::RuntimeProviderConfig;
use art_core::stream::{ModelReply, PartialReply};

use crate::event::{RunEvent, RunStart};
use crate::run::Run;

/// Returns a result that belongs to no call, which a valid prompt never contains.
fn orphan_result() -> Message {
    Message::tool_result("nobody", "clock", "noon")
}

/// Returns a run whose first model call, the one for the plan, is in progress.
fn run_that_waits_for_a_plan() -> Run {
    let props = AgentProps {
        query: "q".to_owned(),
        ..AgentProps::default()
    };
    let start = Box::new(RunStart::new(props, RuntimeProviderConfig::new("p", "m")));
    let mut run = Run::start(&RunEvent::Started { at: 1, start }).unwrap().0;
    assert_eq!(make_model_calls(&mut run), 1);
    run
}

/// Makes the open model calls that can be made, and returns their number. The digests of their requests are empty, because they
/// do not matter here.
fn make_model_calls(run: &mut Run) -> usize {
    run.ask_models(1, |_| String::new()).calls.len()
}

/// Ends the only model call in progress with the reply `text`.
fn apply_reply(run: &mut Run, text: &str) {
    let action = *run.model_calls_in_progress.keys().next().unwrap();
    let reply = ModelReply {
        text: text.to_owned(),
        ..ModelReply::default()
    };
    run.apply(&RunEvent::ModelReplied { at: 2, action, reply }).unwrap();
}

/// The error of a prompt with an [`orphan_result`] at position 2.
const ORPHAN_RESULT_ERROR: &str = "the prompt is not valid: message 2: the result belongs to the call `nobody`, which the last `assistant` message did not make, or which already has a result";

#[test]
fn an_invalid_planning_prompt_ends_the_run_with_the_error_of_the_prompt() {
    let mut run = run_that_waits_for_a_plan();
    run.conversation.messages.push(orphan_result());
    // The planner is asked again after such a reply, with the prompt that is invalid now.
    let reply_without_plan = "{no plan";
    apply_reply(&mut run, reply_without_plan);
    assert_eq!(make_model_calls(&mut run), 0);
    let error = run.finished().unwrap().response.metadata.error.clone().unwrap();
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::PromptValidationFailed, ORPHAN_RESULT_ERROR)
    );
}

#[test]
fn an_invalid_prompt_of_a_step_fails_the_step_with_the_error_of_the_prompt() {
    let mut run = run_that_waits_for_a_plan();
    apply_reply(
        &mut run,
        r#"{"intent":"i","plan":"p","todoList":[{"id":"a","description":"think","stepType":"reasoning"}]}"#,
    );
    make_model_calls(&mut run);
    run.running.get_mut("a").unwrap().messages.push(orphan_result());
    let unusable_reply = r#"{"toolCalls": 1}"#;
    apply_reply(&mut run, unusable_reply);
    make_model_calls(&mut run);
    let item = run.item("a").unwrap();
    assert_eq!(
        (item.status, item.error.as_deref()),
        (TodoItemStatus::Failed, Some(ORPHAN_RESULT_ERROR))
    );
}

#[test]
fn a_step_whose_request_cannot_be_shortened_fails_with_the_error_of_its_refused_call() {
    let mut run = run_that_waits_for_a_plan();
    apply_reply(
        &mut run,
        r#"{"intent":"i","plan":"p","todoList":[{"id":"a","description":"think","stepType":"reasoning"},
            {"id":"b","description":"think more","stepType":"reasoning"}]}"#,
    );
    assert_eq!(make_model_calls(&mut run), 2);
    let call_of_a = *run.model_calls_in_progress.keys().next().unwrap();
    let error = ModelError {
        code: ModelErrorCode::ContextLengthExceeded,
        message: "the request has too many tokens".to_owned(),
        retry_after_ms: None,
        request_not_read: true,
    };
    let failed = RunEvent::ModelFailed {
        at: 2,
        action: call_of_a,
        error,
        received: PartialReply::default(),
    };
    // The context is unbounded here, so the refused request counts as 0 tokens, and no request is shorter.
    run.apply(&failed).unwrap();
    // The reply about `b` clears the last model error of the run, so `a` can get its error only from its own refused call.
    let reply_of_b = r#"{"content":"done","nextStepDecision":"complete_item"}"#;
    apply_reply(&mut run, reply_of_b);
    make_model_calls(&mut run);
    let item = run.item("a").unwrap();
    assert_eq!(
        (item.status, item.error.as_deref()),
        (
            TodoItemStatus::Failed,
            Some("the model could not be asked: the request has too many tokens")
        )
    );
}
