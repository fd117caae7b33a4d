//! Writes an execution reply: the call of a step, and after its result the end of the step.

use art_core::prompt::{Message, Role};
use art_core::provider::ModelRequest;
use serde_json::{Value, json};

use super::fill::{Context, fill, refers};
use super::prompt::Sections;
use super::reading::Reading;
use super::refer;
use super::route::Router;
use super::schema::Tool;

/// The reply to an execution prompt.
pub(super) fn reply(request: &ModelRequest) -> String {
    let results: Vec<&Message> = last_results(&request.prompt.0);
    let answer = if results.is_empty() {
        call(request)
    } else {
        end(&results)
    };
    answer.to_string()
}

/// The tool results since the model spoke last.
fn last_results(messages: &[Message]) -> Vec<&Message> {
    messages
        .iter()
        .rev()
        .take_while(|message| message.role == Role::ToolResult)
        .collect()
}

/// Empty content means that the result of the step is the output of its call.
fn end(results: &[&Message]) -> Value {
    let error = |message: &&Message| {
        let content = serde_json::from_str::<Value>(message.content_text()).ok()?;
        let fields = content.as_object()?;
        // A code is with every error, and what a tool gave beside its error may follow.
        let only_error = fields
            .keys()
            .all(|key| matches!(key.as_str(), "error" | "code" | "output"))
            && fields.contains_key("code");
        fields
            .get("error")
            .filter(|_| only_error)?
            .as_str()
            .map(ToOwned::to_owned)
    };
    match results.iter().find_map(error) {
        Some(error) => fail(&error),
        None => json!({"content": "", "nextStepDecision": "complete_item"}),
    }
}

fn fail(why: &str) -> Value {
    json!({"content": why, "nextStepDecision": "fail_item"})
}

fn call(request: &ModelRequest) -> Value {
    let sections = Sections::of_system(request);
    let tools = sections.tools("tools", request);
    let required: Vec<String> = sections.list("required tools");
    let offered: Vec<Tool> = tools
        .into_iter()
        .filter(|tool| required.is_empty() || required.contains(&tool.name))
        .collect();
    if offered.is_empty() {
        return fail("this step names no tool, and the embedded model can neither reason nor write prose");
    }
    match arguments(request, &sections, &offered) {
        Ok((tool, arguments)) => json!({"toolCalls": [{"toolName": tool, "arguments": arguments}]}),
        Err(why) => fail(&why),
    }
}

/// The tool to call and its arguments, or why there are none.
fn arguments(request: &ModelRequest, sections: &Sections, tools: &[Tool]) -> Result<(String, Value), String> {
    let step = request.step.as_ref().map_or("", |step| step.step_description.as_str());
    let task = if sections.text("task").is_empty() {
        step
    } else {
        sections.text("task")
    };
    let whole = Reading::new(sections.query());
    let attachments = sections.attachments();
    let earlier = refer::value(&sections.json("results of earlier steps"));
    let mut part = Reading::new(task);
    if earlier.is_none() {
        part.forget_references();
    }
    let tool = match tools {
        [tool] => tool,
        _ => {
            let best = Router::new(tools).rank(&part, &whole, &attachments).into_iter().next();
            best.and_then(|best| tools.get(best.tool))
                .ok_or("no tool fits this step")?
        }
    };
    let filled = fill(
        tool,
        Context {
            part: &part,
            whole: &whole,
            attachments: &attachments,
        },
    );
    if let Some(left) = &filled.left {
        return Err(left.sentence(&tool.name));
    }
    if !filled.missing.is_empty() {
        let names: Vec<String> = filled.missing.iter().map(|name| format!("`{name}`")).collect();
        return Err(format!(
            "`{}` needs {}, which the query does not give",
            tool.name,
            names.join(", ")
        ));
    }
    let mut arguments = Value::Object(filled.arguments);
    if refers(&arguments) {
        let earlier = earlier.ok_or("an earlier step gave no result to go on with")?;
        refer::substitute(&mut arguments, &earlier);
    }
    Ok((tool.name.clone(), arguments))
}
