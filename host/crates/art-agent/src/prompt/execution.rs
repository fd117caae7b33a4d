//! The prompt of one step, and the messages of its loop (P43, P44, P45, P46).

use art_core::pes::{TodoItem, TodoItemStatus};
use art_core::prompt::Message;
use art_core::stream::Phase;
use art_core::text::truncate;
use art_core::tool::{ToolResult, ToolSchema, ToolStatus};
use serde_json::{Value, json};

use super::example::{most_similar, most_similar_calls};
use super::fragment::Fragment;
use super::guidance::{guidance, identity};
use super::manager::PromptManager;
use super::planning::occasion;
use super::quote::{EARLIER_RESULTS, attachments, file_entry, one_line, problem_list, quote, section};
use crate::attachment;
use crate::event::RunStart;
use crate::file::RunFile;
use crate::plan::upstream;
use crate::report::{last_output, output_for_model, unwrap_data};
use crate::taef::is_tool_step;

/// Returns the first messages of a step (P44, P45, P46). `items` is the whole plan.
pub(crate) fn begin_step(
    start: &RunStart,
    items: &[TodoItem],
    item: &TodoItem,
    tools: &[ToolSchema],
    files: &[RunFile],
) -> Vec<Message> {
    vec![
        Message::system(instructions(start, item)),
        Message::user(task(start, items, item, tools, files)),
    ]
}

/// Returns the system message of a step, which is the same for all steps of its kind.
fn instructions(start: &RunStart, item: &TodoItem) -> String {
    let fragments = PromptManager::new(&start.fragments);
    let (role, rules, format) = if is_tool_step(item) {
        let format = if start.native_tools {
            Fragment::NativeToolFormatInstructions
        } else {
            Fragment::ToolFormatInstructions
        };
        (
            "You carry out one step of a plan with tools.",
            Fragment::ToolStepInstructions,
            format,
        )
    } else {
        (
            "You carry out one step of a plan by thinking.",
            Fragment::ReasoningStepInstructions,
            Fragment::ReasoningFormatInstructions,
        )
    };
    let parts = [
        Some(identity(start, role)),
        guidance(start, Phase::Execution),
        Some(fragments.text(rules).to_owned()),
        Some(fragments.text(format).to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// Returns the task of a step with all that it may use.
fn task(start: &RunStart, items: &[TodoItem], item: &TodoItem, tools: &[ToolSchema], files: &[RunFile]) -> String {
    let tool_step = is_tool_step(item);
    let results = earlier_results(start, items, item);
    let sections = [
        Some(section("Task", &quote(&item.description))),
        item.expected_outcome
            .as_ref()
            .map(|text| section("Expected outcome", &quote(text))),
        Some(section("Query", &quote(&start.props.query))),
        start.occasion.as_ref().map(occasion),
        attachments(start, files),
        Some(section(EARLIER_RESULTS, &one_line(&results))),
        tool_step.then(|| section("Required tools", &one_line(&item.required_tools))),
        tool_step.then(|| section("Tools", &one_line(&tool_entries(start, item, tools)))),
    ];
    sections.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// Describes the tools of a step: by name with a few examples if the request contains their schemas, else in full (P44).
fn tool_entries(start: &RunStart, item: &TodoItem, tools: &[ToolSchema]) -> Vec<Value> {
    let entry = |tool: &ToolSchema| {
        if start.native_tools {
            name_and_examples(tool, &item.description)
        } else {
            full_schema(tool, &item.description)
        }
    };
    tools.iter().map(entry).collect()
}

/// Returns the name and the examples of a tool whose schema is in the request. No provider's format has a field for examples.
fn name_and_examples(tool: &ToolSchema, query: &str) -> Value {
    match most_similar_calls(tool, query).as_slice() {
        [] => json!(tool.name),
        examples => json!({"name": tool.name, "examples": examples}),
    }
}

/// Returns name, description, schemas and examples, without the settings that concern only the host.
fn full_schema(tool: &ToolSchema, query: &str) -> Value {
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
        map.insert("examples".to_owned(), json!(most_similar(tool, query)));
    }
    schema
}

/// Returns the results of earlier steps that `item` reads (P43).
fn earlier_results(start: &RunStart, items: &[TodoItem], item: &TodoItem) -> Vec<Value> {
    let earlier = earlier_items(items, item);
    let parts: usize = earlier.iter().map(|item| item.tool_results.len() + 1).sum();
    let share = start.config.tool_result_max_length / parts.max(1);
    earlier.into_iter().map(|item| step_results(item, share)).collect()
}

/// Returns the steps whose results `item` reads: those that it depends on, or all completed ones if it has no
/// dependencies (P43).
fn earlier_items<'a>(items: &'a [TodoItem], item: &TodoItem) -> Vec<&'a TodoItem> {
    use TodoItemStatus::{Completed, Failed};
    if item.dependencies.is_empty() {
        return items.iter().filter(|other| other.status == Completed).collect();
    }
    let upstream = upstream(items, item).into_iter();
    upstream
        .filter(|other| matches!(other.status, Completed | Failed))
        .collect()
}

/// Describes the results of a step, each cut to `share` characters.
fn step_results(item: &TodoItem, share: usize) -> Value {
    let results: Vec<_> = item
        .tool_results
        .iter()
        .map(|result| result_entry(result, share))
        .collect();
    let mut entry = json!({"stepId": item.id, "description": item.description, "results": results});
    if let Some(map) = entry.as_object_mut() {
        // Add the model's result unless it only repeats the last tool output.
        let model_result = item
            .result
            .as_ref()
            .filter(|result| last_output(&item.tool_results).as_deref() != Some(*result));
        map.extend(model_result.map(|result| ("result".to_owned(), bounded(result, share))));
        map.extend(
            item.error
                .as_ref()
                .map(|error| ("error".to_owned(), json!(truncate(error, share)))),
        );
    }
    entry
}

/// Describes the result of a call, with texts cut to `share` characters.
fn result_entry(result: &ToolResult, share: usize) -> Value {
    let mut entry = json!({"tool": result.tool_name, "status": result.status});
    let Some(map) = entry.as_object_mut() else {
        return entry;
    };
    if let Some(error) = &result.error {
        map.insert("error".to_owned(), json!(truncate(error, share)));
    }
    let output = output_for_model(result);
    if let Some(output) = output.as_deref().map(unwrap_data) {
        match bounded_text(output, share) {
            None => map.insert("output".to_owned(), output.clone()),
            Some(cut) => map.insert("outputText".to_owned(), json!(cut)),
        };
    }
    entry
}

/// Returns the value if its text fits into `share` characters, else the beginning of its text.
pub(super) fn bounded(value: &Value, share: usize) -> Value {
    bounded_text(value, share).map_or_else(|| value.clone(), Value::from)
}

/// Returns the beginning of the text of `value` if the text has more than `share` characters.
fn bounded_text(value: &Value, share: usize) -> Option<String> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    (text.chars().count() > share).then(|| truncate(&text, share))
}

/// Returns the message with the result of one call, whose output is cut to `share` characters (B21).
pub(crate) fn tool_message(result: &ToolResult, files: &[RunFile], share: usize) -> Message {
    let text = match (output_for_model(result), &result.error) {
        (output, Some(error)) => error_text(result, error, output.as_deref(), share),
        (Some(output), None) => truncate(&one_line(output.as_ref()), share),
        (None, None) if result.status == ToolStatus::Success => "null".to_owned(),
        (None, None) => one_line(&json!({"error": "the tool gave no reason", "code": result.code})),
    };
    let produced: Vec<_> = files
        .iter()
        .filter(|file| file.call_id == result.call_id)
        .take(attachment::MAX_LISTED_FILES)
        .map(file_entry)
        .collect();
    let text = match produced.as_slice() {
        [] => text,
        // List the files on a separate line. The output is one line, so it cannot forge that line.
        produced => format!(
            "{text}\nFiles, which a call can take as `attachment:NAME`: {}",
            one_line(produced)
        ),
    };
    Message::tool_result(result.call_id.as_str(), result.tool_name.as_str(), text)
}

/// Returns the text of a failure for the model, including an output that the tool may have returned with its error.
fn error_text(result: &ToolResult, error: &str, output: Option<&Value>, share: usize) -> String {
    let mut text = json!({"error": truncate(error, share), "code": result.code});
    if let (Some(map), Some(output)) = (text.as_object_mut(), output) {
        map.insert("output".to_owned(), bounded(output, share));
    }
    one_line(&text)
}

/// Returns the message for a reply that does not call the required tools of a strict step. It includes the other
/// problems of the reply, whose plan update stays valid.
pub(crate) fn enforcement(missing: &[String], problems: &[String]) -> Message {
    let calls: Vec<_> = missing
        .iter()
        .take(1)
        .map(|tool| json!({"toolName": tool, "arguments": {}}))
        .collect();
    let problems_text = match problems {
        [] => " ".to_owned(),
        problems => format!("\n{}\n", unusable_parts(problems)),
    };
    Message::user(format!(
        "VALIDATION FAILED: the reply did not call the required tools {}. None of its calls was carried \
         out.{problems_text}Call the required tools, with their arguments filled in:\n{}",
        one_line(missing),
        one_line(&json!({"toolCalls": calls})),
    ))
}

fn unusable_parts(problems: &[String]) -> String {
    format!("This part of the reply could not be used:\n{}", problem_list(problems))
}

/// Returns the message that lists the unusable parts of a reply.
pub(crate) fn problem_message(problems: &[String]) -> Message {
    Message::user(format!(
        "{}\nReply with corrected JSON, or end the step.",
        unusable_parts(problems)
    ))
}

/// Returns the text for a call of the planner that was not made.
pub(crate) fn unmade_call(item: &TodoItem) -> String {
    let reason = item.error.as_deref().unwrap_or("the run ended before it");
    one_line(&json!({"error": format!("not called: {reason}")}))
}

/// Returns the message for a step whose planned calls could not be made.
pub(crate) fn unresolved(problem: &str) -> Message {
    Message::user(format!(
        "The calls that were planned for this step could not be made: {problem}\nMake the calls that are needed, or end the step."
    ))
}

/// Returns the message for a reply that neither calls a tool nor ends the step.
pub(crate) fn continue_message() -> Message {
    Message::user("The step is still open. Call a tool, or end the step with `complete_item` or `fail_item`.")
}
