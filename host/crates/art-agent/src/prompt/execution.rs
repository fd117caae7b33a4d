//! The prompts of one step and the messages inside its loop (P42 to P56).

use art_core::pes::{TodoItem, TodoItemStatus};
use art_core::prompt::Message;
use art_core::stream::Phase;
use art_core::text::truncate;
use art_core::tool::{ToolResult, ToolSchema, ToolStatus};
use serde_json::{Value, json};

use super::fragment::Fragment;
use super::guidance::{guidance, identity};
use super::manager::PromptManager;
use super::quote::{EARLIER_RESULTS, attachments, file_entry, one_line, problem_list, quote, section};
use crate::attachment;
use crate::event::RunStart;
use crate::file::RunFile;
use crate::plan::upstream;
use crate::report::{last_output, readable, unwrap_data};
use crate::taef::is_tool_step;

/// The messages that a step begins with (P44, P45, P46). `items` is the whole plan.
pub(crate) fn begin_step(
    start: &RunStart,
    items: &[TodoItem],
    item: &TodoItem,
    tools: &[ToolSchema],
    files: &[RunFile],
) -> Vec<Message> {
    let user = format!("Execute the task:\n{}", quote(&item.description));
    vec![
        Message::system(instructions(start, items, item, tools, files)),
        Message::user(user),
    ]
}

fn instructions(
    start: &RunStart,
    items: &[TodoItem],
    item: &TodoItem,
    tools: &[ToolSchema],
    files: &[RunFile],
) -> String {
    let tool_step = is_tool_step(item);
    let fragments = PromptManager::new(&start.fragments);
    let (role, rules, format) = if tool_step {
        let rules = Fragment::ToolStepInstructions;
        let format = if start.native_tools {
            Fragment::NativeToolFormatInstructions
        } else {
            Fragment::ToolFormatInstructions
        };
        ("You carry out one step of a plan with tools.", rules, format)
    } else {
        let rules = Fragment::ReasoningStepInstructions;
        (
            "You carry out one step of a plan by thinking.",
            rules,
            Fragment::ReasoningFormatInstructions,
        )
    };
    let results = earlier_results(start, items, item);
    let parts = [
        Some(identity(start, role)),
        guidance(start, Phase::Execution),
        Some(fragments.text(rules).to_owned()),
        Some(fragments.text(format).to_owned()),
        Some(section("Task", &quote(&item.description))),
        item.expected_outcome
            .as_ref()
            .map(|text| section("Expected outcome", &quote(text))),
        Some(section("Query", &quote(&start.props.query))),
        tool_step.then(|| section("Required tools", &one_line(&item.required_tools))),
        attachments(start, files),
        Some(section(EARLIER_RESULTS, &one_line(&results))),
        tool_step.then(|| section("Tools", &one_line(&listed(start, tools)))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// The tools of a step: their names when the schemas stand beside the prompt, else all that a model has to know (P44).
fn listed(start: &RunStart, tools: &[ToolSchema]) -> Vec<Value> {
    let entry = |tool: &ToolSchema| {
        if start.native_tools {
            json!(tool.name)
        } else {
            full_schema(tool)
        }
    };
    tools.iter().map(entry).collect()
}

/// Name, description, schemas and examples; how the host treats a call is no matter of the model's.
fn full_schema(tool: &ToolSchema) -> Value {
    let mut schema = json!({
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
    });
    if let Some(map) = schema.as_object_mut() {
        map.extend(
            tool.output_schema
                .clone()
                .map(|output| ("outputSchema".to_owned(), output)),
        );
        map.insert("examples".to_owned(), json!(tool.examples));
    }
    schema
}

/// What the steps that `item` depends on brought, or all that was completed when it depends on none (P43).
fn earlier_results(start: &RunStart, items: &[TodoItem], item: &TodoItem) -> Vec<Value> {
    use TodoItemStatus::{Completed, Failed};
    let earlier: Vec<_> = if item.dependencies.is_empty() {
        items.iter().filter(|other| other.status == Completed).collect()
    } else {
        let upstream = upstream(items, item).into_iter();
        upstream
            .filter(|other| matches!(other.status, Completed | Failed))
            .collect()
    };
    let parts: usize = earlier.iter().map(|item| item.tool_results.len() + 1).sum();
    let share = start.config.tool_result_max_length / parts.max(1);
    earlier.into_iter().map(|item| step_results(item, share)).collect()
}

fn step_results(item: &TodoItem, share: usize) -> Value {
    let results: Vec<_> = item
        .tool_results
        .iter()
        .map(|result| shown_result(result, share))
        .collect();
    let mut shown = json!({"stepId": item.id, "description": item.description, "results": results});
    if let Some(map) = shown.as_object_mut() {
        // The last tool output was shown already; what the model itself wrote was not.
        let own = item
            .result
            .as_ref()
            .filter(|result| last_output(&item.tool_results).as_deref() != Some(*result));
        map.extend(own.map(|result| ("result".to_owned(), bounded(result, share))));
        map.extend(
            item.error
                .as_ref()
                .map(|error| ("error".to_owned(), json!(truncate(error, share)))),
        );
    }
    shown
}

fn shown_result(result: &ToolResult, share: usize) -> Value {
    let mut shown = json!({"tool": result.tool_name, "status": result.status});
    let Some(map) = shown.as_object_mut() else {
        return shown;
    };
    if let Some(error) = &result.error {
        map.insert("error".to_owned(), json!(truncate(error, share)));
    }
    let output = readable(result);
    if let Some(output) = output.as_deref().map(unwrap_data) {
        match bounded_text(output, share) {
            None => map.insert("output".to_owned(), output.clone()),
            Some(cut) => map.insert("outputText".to_owned(), json!(cut)),
        };
    }
    shown
}

/// The value itself when its text fits, else the beginning of its text.
pub(super) fn bounded(value: &Value, share: usize) -> Value {
    bounded_text(value, share).map_or_else(|| value.clone(), Value::from)
}

fn bounded_text(value: &Value, share: usize) -> Option<String> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    (text.chars().count() > share).then(|| truncate(&text, share))
}

/// The turn that answers one call (P63). Every output is bounded, whatever the tool gave (B21).
pub(crate) fn tool_message(result: &ToolResult, files: &[RunFile], share: usize) -> Message {
    let text = match (readable(result), &result.error) {
        (output, Some(error)) => error_text(result, error, output.as_deref(), share),
        (Some(output), None) => truncate(&one_line(output.as_ref()), share),
        (None, None) if result.status == ToolStatus::Success => "null".to_owned(),
        (None, None) => one_line(&json!({"error": "the tool gave no reason", "code": result.code})),
    };
    let left: Vec<_> = files
        .iter()
        .filter(|file| file.call_id == result.call_id)
        .take(attachment::NAMED)
        .map(file_entry)
        .collect();
    let text = match left.as_slice() {
        [] => text,
        // Behind the output, on a line of its own, since the output is one line and cannot write another.
        left => format!(
            "{text}\nFiles, which a call can take as `attachment:NAME`: {}",
            one_line(left)
        ),
    };
    Message::tool_result(result.call_id.as_str(), result.tool_name.as_str(), text)
}

/// What the model reads of a failure. A tool may have an output beside its error, which says more (C81, T13).
fn error_text(result: &ToolResult, error: &str, output: Option<&Value>, share: usize) -> String {
    let mut text = json!({"error": truncate(error, share), "code": result.code});
    if let (Some(map), Some(output)) = (text.as_object_mut(), output) {
        map.insert("output".to_owned(), bounded(output, share));
    }
    one_line(&text)
}

/// What a strict step is told when its reply does not call what it must, and what else was wrong with it (P53). A change of
/// the plan in the reply holds.
pub(crate) fn enforcement(missing: &[String], problems: &[String]) -> Message {
    let calls: Vec<_> = missing
        .iter()
        .take(1)
        .map(|tool| json!({"toolName": tool, "arguments": {}}))
        .collect();
    let unused = match problems {
        [] => " ".to_owned(),
        problems => format!("\n{}\n", unusable(problems)),
    };
    Message::user(format!(
        "VALIDATION FAILED: the reply did not call the required tools {}. None of its calls was carried \
         out.{unused}Call the required tools, with their arguments filled in:\n{}",
        one_line(missing),
        one_line(&json!({"toolCalls": calls})),
    ))
}

fn unusable(problems: &[String]) -> String {
    format!("This part of the reply could not be used:\n{}", problem_list(problems))
}

/// What a model is told of the parts of its reply that could not be used.
pub(crate) fn complaint(problems: &[String]) -> Message {
    Message::user(format!(
        "{}\nReply with corrected JSON, or end the step.",
        unusable(problems)
    ))
}

/// What a model is told that wants to go on but did nothing.
pub(crate) fn go_on() -> Message {
    Message::user("The step is still open. Call a tool, or end the step with `complete_item` or `fail_item`.")
}
