//! The prompt that asks for a plan. It contains the role of the agent, the guidance of the operator, the rules and the form of a
//! plan (contract P20), the tools (contract P23), and, if an earlier run did not finish its plan, that plan (contract P25).

use art_core::pes::{PesAgentStateData, TodoItem};
use art_core::prompt::Message;
use art_core::stream::Phase;
use art_core::text::truncate;
use serde_json::{Value, json};

use super::fragment::Fragment;
use super::guidance::{guidance, history, identity};
use super::manager::PromptManager;
use super::quote::{attachment_section, one_line, problem_list, quote, sanitize, section};
use super::step::{earlier_questions_section, result_count};
use super::tools::ShownTools;
use crate::event::{Occasion, RunStart};
use crate::file::RunFile;
use crate::parse::{MARKER_END, MARKER_START};
use crate::plan::earlier_steps;

/// Maximum total length of the results of earlier questions, in characters.
const MAX_EARLIER_CHARS: usize = 8_000;

/// Maximum length of a reply of the planner in its conversation, in characters.
const MAX_REPLY_CHARS: usize = 8_000;

/// The conversation of the host with the planner. It begins with the rules, the earlier messages of the thread and the question.
/// The replies of the planner and the results of the plan are added at the end, so every request begins with the text of the
/// previous one, which providers can read from a cache.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlannerConversation {
    pub(crate) messages: Vec<Message>,
    /// Index of the message with the question.
    pub(crate) question_index: usize,
    /// Names of the tools whose schemas the planner is shown.
    pub(crate) shown_tools: Vec<String>,
}

/// Returns the conversation that asks for a plan. `state` is the state that earlier runs of the thread stored.
pub(crate) fn planner_conversation(
    start: &RunStart,
    state: &PesAgentStateData,
    files: &[RunFile],
) -> PlannerConversation {
    let shown = ShownTools::new(start, state);
    let mut messages = vec![Message::system(instructions(start, &shown))];
    messages.extend(history(&start.history, &start.props));
    let mut sections = vec![section("Query", &quote(&start.props.query))];
    sections.extend(attachment_section(start, files));
    sections.extend(earlier_results_section(start, state));
    sections.extend(current_plan_section(start, state));
    sections.extend(shown.question_sections(start.native_tools, &start.props.query));
    sections.extend(start.occasion.as_ref().map(today_section));
    messages.push(Message::user(sections.join("\n\n")));
    PlannerConversation {
        question_index: messages.len() - 1,
        messages,
        shown_tools: shown.full.iter().map(|tool| tool.name.clone()).collect(),
    }
}

/// Returns the section that tells when and where the question is asked.
pub(super) fn today_section(occasion: &Occasion) -> String {
    let Occasion {
        date,
        time_zone,
        locale,
    } = occasion;
    let locale = locale
        .as_ref()
        .map_or_else(String::new, |locale| format!(", locale {locale}"));
    section("Today", &quote(&format!("{date}, time zone {time_zone}{locale}")))
}

/// Returns a reply of the planner as a message of its conversation. The markers around a plan are removed, not replaced by
/// `[marker]` as elsewhere, because a model copies what it sees.
pub(crate) fn planner_message(reply: &str) -> Message {
    let reply = reply.replace(MARKER_START, "").replace(MARKER_END, "");
    let text = match reply.trim() {
        "" => "(empty reply)",
        text => text,
    };
    Message::assistant(sanitize(&truncate(text, MAX_REPLY_CHARS)))
}

/// Returns the text that asks for a corrected plan, with all problems of the plan.
pub(crate) fn repair_text(problems: &[String]) -> String {
    format!(
        "The plan cannot be used:\n{}\nGive the whole plan again, corrected, in the same form.",
        problem_list(problems)
    )
}

/// Returns the system message. It is the same for every question of a thread, as long as the tools and the guidance of the
/// operator stay the same.
fn instructions(start: &RunStart, shown: &ShownTools<'_>) -> String {
    let fragments = PromptManager::new(&start.fragments);
    let form = if start.native_tools {
        Fragment::SubmitPlanInstructions
    } else {
        Fragment::PlanFormatInstructions
    };
    let parts = [
        Some(identity(start, "You answer queries, with tools where they help.")),
        guidance(start, Phase::Planning),
        Some(fragments.text(Fragment::PlanningInstructions).to_owned()),
        Some(fragments.text(form).to_owned()),
        Some(fragments.text(Fragment::SynthesisInstructions).to_owned()),
        shown.stable_section(start.native_tools),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// Returns the section on the results of earlier questions, and how to use them, if there are any.
fn earlier_results_section(start: &RunStart, state: &PesAgentStateData) -> Option<String> {
    let questions = &state.earlier_questions;
    let total_results: usize = earlier_steps(questions).map(|step| result_count(step.item)).sum();
    let max_total_chars = start.config.tool_result_max_length.min(MAX_EARLIER_CHARS);
    // All steps of the earlier questions are shown.
    let results = earlier_questions_section(questions, max_total_chars / total_results.max(1), |_| true)?;
    let rules = PromptManager::new(&start.fragments).text(Fragment::FollowUpInstructions);
    Some(format!("{results}\n{rules}"))
}

/// Returns the section on a plan that was not finished, and how to continue it, if there is one (contract P25): its
/// question, its intent and its items with their statuses. Results are not included: if the planner repeats a completed
/// item in its new plan, the host keeps the result of this item.
fn current_plan_section(start: &RunStart, state: &PesAgentStateData) -> Option<String> {
    if state.todo_list.is_empty() {
        return None;
    }
    let items: Vec<_> = state.todo_list.iter().map(item_outline).collect();
    let plan = one_line(&json!({"question": state.query, "intent": state.intent, "todoList": items}));
    let rules = PromptManager::new(&start.fragments).text(Fragment::UnfinishedPlanInstructions);
    Some(section("Current plan", &format!("{plan}\n{rules}")))
}

fn item_outline(item: &TodoItem) -> Value {
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
        let calls = &item.tool_calls;
        map.extend((!calls.is_empty()).then(|| ("toolCalls".to_owned(), json!(calls))));
    }
    outline
}
