//! Joins persona and system prompts (P6): the guidance of the persona for the phase, then the texts of the instance,
//! the thread and the call.

use art_core::agent::AgentProps;
use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::prompt::Message;
use art_core::stream::Phase;
use art_core::text::{DEFAULT_STRINGIFY_LIMIT, truncate};
use serde_json::Value;

use super::fragment::Fragment;
use super::manager::PromptManager;
use super::quote::{quote, sanitize};
use super::system::resolve_system_prompt;
use super::template::{Unset, render};
use crate::event::RunStart;

/// Returns the guidance of the operator for a phase, quoted between markers, if there is any.
pub(crate) fn guidance(start: &RunStart, phase: Phase) -> Option<String> {
    let prompts = &start.persona.prompts;
    let base = match phase {
        Phase::Planning => &prompts.planning,
        Phase::Execution => &prompts.execution,
        Phase::Synthesis => &prompts.synthesis,
    };
    let base = base.as_deref().unwrap_or_default();
    let text = resolve_system_prompt(base, &start.system_prompts_registry, &start.system_prompts);
    (!text.is_empty()).then(|| format!("[BEGIN_CUSTOM_GUIDANCE]\n{}\n[END_CUSTOM_GUIDANCE]", quote(&text)))
}

/// Returns a sentence with the name of the agent and its task, `role`.
pub(crate) fn identity(start: &RunStart, role: &str) -> String {
    match start.persona.name.trim() {
        "" => role.to_owned(),
        name => {
            let name = quote(name).trim_start_matches("> ").replace('\n', " ");
            let variables = [("name", name.as_str()), ("role", role)];
            let variables = variables.map(|(key, value)| (key.to_owned(), Value::from(value)));
            let text = PromptManager::new(&start.fragments).text(Fragment::SystemDefault);
            render(text, &variables.into_iter().collect(), Unset::Keep)
        }
    }
}

/// Returns the user and assistant messages of the thread, each cut to a limit. System and tool messages are left out,
/// because the history does not contain the calls that they belong to (B32). The question itself is left out if the
/// application stored it before asking (P11).
pub(crate) fn history(messages: &[ConversationMessage], props: &AgentProps) -> Vec<Message> {
    let is_question =
        |message: &&ConversationMessage| message.role == MessageRole::User && message.content == props.query;
    let earlier = match messages.split_last() {
        Some((last, earlier)) if is_question(&last) => earlier,
        _ => messages,
    };
    earlier
        .iter()
        .filter(|message| !message.content.trim().is_empty())
        .filter_map(prompt_message)
        .collect()
}

/// Returns the message of a prompt for a message of the conversation.
fn prompt_message(message: &ConversationMessage) -> Option<Message> {
    let text = sanitize(&truncate(&message.content, DEFAULT_STRINGIFY_LIMIT));
    match message.role {
        MessageRole::User => Some(Message::user(text)),
        MessageRole::Ai => Some(Message::assistant(text)),
        MessageRole::System | MessageRole::Tool => None,
    }
}
