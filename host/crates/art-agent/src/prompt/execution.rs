//! The prompt of one step, and the messages that follow the replies of the model while it carries out the step.
//!
//! The prompt contains the task, the question and the results of earlier steps (contracts P43, P45) and, for a step that calls
//! tools, their schemas (contract P44), but not the conversation (contract P46).

use std::collections::BTreeSet;

use art_core::pes::{PesAgentStateData, TodoItem, TodoItemStatus};
use art_core::prompt::Message;
use art_core::stream::Phase;
use art_core::text::truncate;
use art_core::tool::{ToolResult, ToolSchema, ToolStatus};
use serde_json::{Value, json};

use super::example::{most_similar_example_calls, most_similar_examples};
use super::fragment::Fragment;
use super::guidance::{guidance, identity};
use super::manager::PromptManager;
use super::planning::today_section;
use super::quote::{EARLIER_STEP_RESULTS, attachment_section, file_entry, one_line, problem_list, quote, section};
use super::step::{earlier_questions_section, result_count, step_entry, truncate_value};
use crate::attachment;
use crate::event::RunStart;
use crate::file::RunFile;
use crate::plan::{EarlierStep, all_dependencies, earlier_steps, without_promises};
use crate::report::output_for_model;
use crate::required_tools::is_tool_step;

/// Returns the messages with which a step begins: the instructions and the task (contracts P44, P45, P46).
pub(crate) fn step_messages(
    start: &RunStart,
    state: &PesAgentStateData,
    item: &TodoItem,
    tools: &[ToolSchema],
    files: &[RunFile],
) -> Vec<Message> {
    vec![
        Message::system(instructions(start, item)),
        Message::user(task_text(start, state, item, tools, files)),
    ]
}

/// Returns the system message of a step. It differs only between steps with tools and steps without.
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

/// Returns the task of a step, with the question, results, files and tools that it may use.
fn task_text(
    start: &RunStart,
    state: &PesAgentStateData,
    item: &TodoItem,
    tools: &[ToolSchema],
    files: &[RunFile],
) -> String {
    let tool_step = is_tool_step(item);
    let [plan_results, earlier_question_results] = result_sections(start, state, item);
    let sections = [
        Some(section("Task", &quote(&item.description))),
        item.expected_outcome
            .as_ref()
            .map(|text| section("Expected outcome", &quote(text))),
        Some(section("Query", &quote(&start.props.query))),
        start.occasion.as_ref().map(today_section),
        attachment_section(start, files),
        plan_results,
        earlier_question_results,
        tool_step.then(|| section("Required tools", &one_line(&item.required_tools))),
        tool_step.then(|| section("Tools", &one_line(&tool_entries(start, item, tools)))),
    ];
    sections.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// Describes the tools of a step: by name with a few examples if the request contains their schemas, else in full
/// (contract P44).
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

/// Returns the name and the examples of a tool whose schema is in the request. The schemas in a request have no examples. `task`
/// is the description of the step.
fn name_and_examples(tool: &ToolSchema, task: &str) -> Value {
    match most_similar_example_calls(tool, task).as_slice() {
        [] => json!(tool.name),
        examples => json!({"name": tool.name, "examples": examples}),
    }
}

/// Returns name, description, schemas and examples of a tool, without the settings that concern only the host. `task` is the
/// description of the step.
fn full_schema(tool: &ToolSchema, task: &str) -> Value {
    let mut schema = json!({
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
    });
    if let Some(map) = schema.as_object_mut() {
        // The promises in an output schema say what the output for a certain input contains. Only the host uses them.
        map.extend(
            tool.output_schema
                .as_ref()
                .map(|output| ("outputSchema".to_owned(), without_promises(output))),
        );
        map.insert("examples".to_owned(), json!(most_similar_examples(tool, task)));
    }
    schema
}

/// Returns the sections on the results that `item` reads (contract P43): those of the plan, and those of earlier
/// questions.
fn result_sections(start: &RunStart, state: &PesAgentStateData, item: &TodoItem) -> [Option<String>; 2] {
    let plan_items = plan_items_to_read(&state.todo_list, item);
    let names_to_read = earlier_steps_to_read(state, item);
    let is_read = |step: &EarlierStep<'_>| names_to_read.contains(&step.name());
    let earlier = earlier_steps(&state.earlier_questions).filter(&is_read);
    let total_results: usize = plan_items
        .iter()
        .copied()
        .chain(earlier.map(|step| step.item))
        .map(result_count)
        .sum();
    let max_chars = start.config.tool_result_max_length / total_results.max(1);
    let entries: Vec<_> = plan_items
        .iter()
        .map(|item| step_entry(&item.id, item, max_chars))
        .collect();
    [
        Some(section(EARLIER_STEP_RESULTS, &one_line(&entries))),
        earlier_questions_section(&state.earlier_questions, max_chars, is_read),
    ]
}

/// Returns the names of the steps of earlier questions whose results `item` reads: those that it depends on, directly or not,
/// or all if it has no dependencies.
fn earlier_steps_to_read(state: &PesAgentStateData, item: &TodoItem) -> BTreeSet<String> {
    let plan_items = plan_items_to_read(&state.todo_list, item).into_iter();
    let dependencies: BTreeSet<&str> = plan_items
        .chain([item])
        .flat_map(|item| item.dependencies.iter().map(String::as_str))
        .collect();
    let earlier = earlier_steps(&state.earlier_questions).map(|step| step.name());
    earlier
        .filter(|name| item.dependencies.is_empty() || dependencies.contains(name.as_str()))
        .collect()
}

/// Returns the steps of the plan whose results `item` reads: the completed and failed steps that it depends on, directly or not,
/// or all completed steps if it has no dependencies (contract P43).
fn plan_items_to_read<'a>(items: &'a [TodoItem], item: &TodoItem) -> Vec<&'a TodoItem> {
    use TodoItemStatus::{Completed, Failed};
    if item.dependencies.is_empty() {
        return items.iter().filter(|other| other.status == Completed).collect();
    }
    let dependencies = all_dependencies(items, item).into_iter();
    dependencies
        .filter(|other| matches!(other.status, Completed | Failed))
        .collect()
}

/// Returns the message with the result of one call, whose output is cut to `max_chars` characters (contract B21).
pub(crate) fn tool_message(result: &ToolResult, files: &[RunFile], max_chars: usize) -> Message {
    let text = match (output_for_model(result), &result.error) {
        (output, Some(error)) => error_text(result, error, output.as_deref(), max_chars),
        (Some(output), None) => truncate(&one_line(output.as_ref()), max_chars),
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

/// Returns the text of a failure for the model. It includes the output if the tool returned one with its error.
fn error_text(result: &ToolResult, error: &str, output: Option<&Value>, max_chars: usize) -> String {
    let mut text = json!({"error": truncate(error, max_chars), "code": result.code});
    if let (Some(map), Some(output)) = (text.as_object_mut(), output) {
        map.insert("output".to_owned(), truncate_value(output, max_chars));
    }
    one_line(&text)
}

/// Returns the message for a reply that does not call the required tools of a step, for a step whose tool validation mode is
/// strict. The message includes the other problems of the reply. A plan update in the reply stays valid, so the message does not
/// mention it.
pub(crate) fn missing_tools_message(missing: &[String], problems: &[String]) -> Message {
    let example_calls: Vec<_> = missing
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
        one_line(&json!({"toolCalls": example_calls})),
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

/// Returns the message after a call that a person rejected (contract A36).
pub(crate) fn rejection_message(result: &ToolResult) -> Message {
    Message::user(format!(
        "IMPORTANT: The user has REJECTED the call of `{}`. It was not carried out. Do not make the same call again; find another \
         way that the user may want, or end the step with `fail_item` and say that the user decided against it.",
        result.tool_name
    ))
}

/// Returns the text that the planner gets as the result of a tool call that it made directly and that was not carried out. `item`
/// is the plan item that was created for the call.
pub(crate) fn unmade_call_text(item: &TodoItem) -> String {
    let reason = item.error.as_deref().unwrap_or("the run ended before it");
    one_line(&json!({"error": format!("not called: {reason}")}))
}

/// Returns the message for a step whose planned calls could not be made, so that the model carries it out instead.
pub(crate) fn unmade_planned_calls_message(problem: &str) -> Message {
    Message::user(format!(
        "The calls that were planned for this step could not be made: {problem}\nMake the calls that are needed, or end the step."
    ))
}

/// Returns the message for a reply that neither calls a tool nor ends the step.
pub(crate) fn continue_message() -> Message {
    Message::user("The step is still open. Call a tool, or end the step with `complete_item` or `fail_item`.")
}
