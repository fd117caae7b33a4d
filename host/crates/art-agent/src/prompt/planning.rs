//! The planning prompt (P20, P23, P25).

use art_core::pes::{PesAgentStateData, TodoItem};
use art_core::prompt::Message;
use art_core::stream::Phase;
use art_core::text::{prefix, truncate};
use art_core::tool::ToolSchema;
use serde_json::{Value, json};

use super::example::most_similar_calls;
use super::fragment::Fragment;
use super::guidance::{guidance, history, identity};
use super::manager::PromptManager;
use super::quote::{attachments, one_line, problem_list, quote, sanitize, section};
use crate::event::RunStart;
use crate::file::RunFile;
use crate::parse::{MARKER_END, MARKER_START};
use crate::shortlist;

/// Maximum length of a tool's description in its short form, in characters.
const MAX_SHORT_DESCRIPTION: usize = 200;

/// Maximum total length of the names of tools that are listed by name only, in characters.
const MAX_NAME_CHARS: usize = 4_000;

/// Maximum length of an invalid reply that is repeated to the model, in characters.
const MAX_ECHO_CHARS: usize = 8_000;

/// Returns the messages that request a plan. `state` is the state that earlier runs of the thread stored.
pub(crate) fn planning(start: &RunStart, state: &PesAgentStateData, files: &[RunFile]) -> Vec<Message> {
    let follow_up = !state.todo_list.is_empty();
    let mut messages = vec![Message::system(instructions(start, follow_up))];
    messages.extend(history(&start.history, &start.props));
    let sections = [
        Some(section("Query", &quote(&start.props.query))),
        attachments(start, files),
        follow_up.then(|| section("Current plan", &current_plan(state))),
        Some(section("Available tools", &available_tools(start, state))),
    ];
    messages.push(Message::user(
        sections.into_iter().flatten().collect::<Vec<_>>().join("\n\n"),
    ));
    messages
}

/// Returns the messages that request a corrected plan: the reply, and all of its problems.
pub(crate) fn repair(reply: &str, problems: &[String]) -> [Message; 2] {
    let problem_text = format!(
        "The plan cannot be used:\n{}\nReply with the whole plan again, corrected, between the two markers.",
        problem_list(problems)
    );
    // Markers are removed without replacement, because models copy what they see.
    let reply = reply.replace(MARKER_START, "").replace(MARKER_END, "");
    let echo = match reply.trim() {
        "" => "(empty reply)",
        text => text,
    };
    [
        Message::assistant(sanitize(&truncate(echo, MAX_ECHO_CHARS))),
        Message::user(problem_text),
    ]
}

fn instructions(start: &RunStart, follow_up: bool) -> String {
    let fragments = PromptManager::new(&start.fragments);
    let parts = [
        Some(identity(start, "You plan how to answer a query.")),
        guidance(start, Phase::Planning),
        Some(fragments.text(Fragment::PlanningInstructions).to_owned()),
        follow_up.then(|| fragments.text(Fragment::FollowUpInstructions).to_owned()),
        Some(fragments.text(Fragment::PlanFormatInstructions).to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// Returns the intent, and the items with their statuses. Results are left out, because the host keeps them in any case.
fn current_plan(state: &PesAgentStateData) -> String {
    let items: Vec<_> = state.todo_list.iter().map(outline).collect();
    one_line(&json!({"intent": state.intent, "todoList": items}))
}

fn outline(item: &TodoItem) -> Value {
    let mut outline = json!({"id": item.id, "description": item.description, "status": item.status});
    if let (Some(map), Some(step_type)) = (outline.as_object_mut(), item.step_type) {
        map.insert("stepType".to_owned(), json!(step_type));
    }
    if let Some(map) = outline.as_object_mut() {
        let lists = [
            ("requiredTools", &item.required_tools),
            ("dependencies", &item.dependencies),
        ];
        map.extend(lists.map(|(key, names)| (key.to_owned(), json!(names))));
    }
    outline
}

/// Describes every tool in full if the context is unlimited, else the tools most similar to the question in short (Q7).
fn available_tools(start: &RunStart, state: &PesAgentStateData) -> String {
    if start.context.is_unbounded() {
        return tool_list(&start.tools, &start.props.query);
    }
    let selected = shortlist::for_plan(start, state);
    let manifest = one_line(&selected.tools.iter().map(|tool| short_form(tool)).collect::<Vec<_>>());
    if selected.tools.len() == selected.total {
        return manifest;
    }
    format!(
        "{} of {} tools, the nearest to the query:\n{manifest}\nThe others, by name:\n{}",
        selected.tools.len(),
        selected.total,
        other_names(start, &selected.tools)
    )
}

/// Lists the names of the other tools, because a question may refer to one without sharing a word with it. A name costs
/// a few tokens, a schema hundreds.
fn other_names(start: &RunStart, selected: &[&ToolSchema]) -> String {
    let others = start.tools.iter().map(|tool| tool.name.as_str());
    let mut others = others.filter(|name| selected.iter().all(|tool| tool.name != *name));
    let mut remaining = MAX_NAME_CHARS;
    let mut names = Vec::new();
    for name in others.by_ref() {
        let Some(rest) = remaining.checked_sub(name.len()) else {
            break;
        };
        remaining = rest;
        names.push(name);
    }
    match others.count() {
        0 => one_line(&names),
        more => format!("{} and {more} more", one_line(&names)),
    }
}

/// Returns the short form of a tool, for planning. The step that calls the tool gets the complete schema.
fn short_form(tool: &ToolSchema) -> Value {
    let description = prefix(&tool.description, MAX_SHORT_DESCRIPTION);
    let more = if description.len() < tool.description.len() {
        "..."
    } else {
        ""
    };
    let parameters: Vec<_> = shortlist::parameters(tool).map(|(name, _)| name).collect();
    json!({"name": tool.name, "description": format!("{description}{more}"), "parameters": parameters})
}

fn tool_list(tools: &[ToolSchema], query: &str) -> String {
    let tools: Vec<_> = tools
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "inputSchema": tool.input_schema,
                "examples": most_similar_calls(tool, query),
            })
        })
        .collect();
    one_line(&tools)
}
