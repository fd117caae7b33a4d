use art_core::agent::AgentProps;
use art_core::error::ErrorCode;
use art_core::pes::TodoItemStatus;
use art_core::prompt::Message;
use art_core::provider::RuntimeProviderConfig;
use art_core::stream::ModelReply;

use crate::event::{RunEvent, RunStart};
use crate::run::Run;

/// Returns a result that belongs to no call, which a valid prompt never contains.
fn orphan_result() -> Message {
    Message::tool_result("nobody", "clock", "noon")
}

fn started_run() -> Run {
    let props = AgentProps {
        query: "q".to_owned(),
        ..AgentProps::default()
    };
    let start = Box::new(RunStart::new(props, RuntimeProviderConfig::new("p", "m")));
    let mut run = Run::start(&RunEvent::Started { at: 1, start }).unwrap().0;
    assert_eq!(ask(&mut run), 1);
    run
}

/// Asks the models that can be asked, and returns their number.
fn ask(run: &mut Run) -> usize {
    run.ask_models(1, |_| String::new()).calls.len()
}

/// Applies the reply `text` of the model to the open action.
fn apply_reply(run: &mut Run, text: &str) {
    let action = *run.asked.keys().next().unwrap();
    let reply = ModelReply {
        text: text.to_owned(),
        ..ModelReply::default()
    };
    run.apply(&RunEvent::ModelReplied { at: 2, action, reply }).unwrap();
}

const PROBLEM: &str = "the prompt is not valid: message 2: the result belongs to the call `nobody`, which no earlier message made or which already has a result";

#[test]
fn an_invalid_planning_prompt_ends_the_run_with_its_error() {
    let mut run = started_run();
    run.conversation.messages.push(orphan_result());
    apply_reply(&mut run, "{no plan");
    assert_eq!(ask(&mut run), 0);
    let error = run.finished().unwrap().response.metadata.error.clone().unwrap();
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::PromptValidationFailed, PROBLEM)
    );
}

#[test]
fn an_invalid_prompt_of_a_step_fails_the_step_with_the_error_of_the_prompt() {
    let mut run = started_run();
    apply_reply(
        &mut run,
        r#"{"intent":"i","plan":"p","todoList":[{"id":"a","description":"think","stepType":"reasoning"}]}"#,
    );
    ask(&mut run);
    run.running.get_mut("a").unwrap().messages.push(orphan_result());
    apply_reply(&mut run, r#"{"toolCalls": 1}"#);
    ask(&mut run);
    let item = run.item("a").unwrap();
    assert_eq!(
        (item.status, item.error.as_deref()),
        (TodoItemStatus::Failed, Some(PROBLEM))
    );
}
