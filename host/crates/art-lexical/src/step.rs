//! Carries out a step: the call that its plan chose, and after its result the end of the step.

use art_core::task::StepTask;
use serde_json::{Value, json};

use crate::earlier::Earlier;
use crate::find::Finder;
use crate::known::Known;

/// The reply that carries out `task`.
pub(crate) fn reply(task: &StepTask, known: &Known) -> String {
    let reply = match task.results.last() {
        None => call(task, known),
        Some(result) => match &result.error {
            Some(error) => fail(error),
            // Without a content, the output of the call is the result of the step.
            None => json!({"content": "", "nextStepDecision": "complete_item"}),
        },
    };
    reply.to_string()
}

fn fail(why: &str) -> Value {
    json!({"content": why, "nextStepDecision": "fail_item"})
}

fn call(task: &StepTask, known: &Known) -> Value {
    if task.tools.is_empty() {
        return fail("this step names no tool, and the embedded model can neither reason nor write prose");
    }
    let result = task.earlier.iter().rev().find_map(|step| step.result());
    let earlier = result.map(Earlier::of);
    let finder = Finder {
        known,
        files: &task.files,
    };
    match finder.find(&task.description, earlier.as_ref()) {
        Ok(found) => json!({"toolCalls": [{"toolName": found.tool, "arguments": found.arguments}]}),
        Err(why) => fail(&why),
    }
}
