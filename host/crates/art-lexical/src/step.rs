//! Carries out a step: the call that its plan chose, and after its result the end of the step.

use art_core::task::StepTask;
use serde_json::{Value, json};

use crate::catalog::Catalog;
use crate::earlier::Earlier;
use crate::find::Finder;

/// Returns the reply that carries out `task`.
pub(crate) fn reply(task: &StepTask, catalog: &Catalog) -> String {
    let reply = match task.results.last() {
        None => call(task, catalog),
        Some(result) => match &result.error {
            Some(error) => Err(error.clone()),
            // Without a content, the output of the call is the result of the step.
            None => Ok(json!({"content": "", "nextStepDecision": "complete_item"})),
        },
    };
    let reply = reply.unwrap_or_else(|reason| json!({"content": reason, "nextStepDecision": "fail_item"}));
    reply.to_string()
}

fn call(task: &StepTask, catalog: &Catalog) -> Result<Value, String> {
    if task.tools.is_empty() {
        return Err("this step names no tool, and the embedded model can neither reason nor write prose".to_owned());
    }
    let result = task.earlier.iter().rev().find_map(|step| step.result());
    let earlier = result.map(Earlier::of);
    let (files, earlier) = (task.files.as_slice(), earlier.as_ref());
    let finder = Finder {
        catalog,
        files,
        earlier,
    };
    let call = finder.find(&task.description)?;
    Ok(json!({"toolCalls": [{"toolName": call.tool, "arguments": call.arguments}]}))
}
