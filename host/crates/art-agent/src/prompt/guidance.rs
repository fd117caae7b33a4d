//! Joins persona and system prompts (P6): the persona's guidance for the stage, then the texts of the instance, the
//! thread and the call.

use art_core::agent::AgentProps;
use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::prompt::Message;
use art_core::stream::Phase;
use art_core::text::{DEFAULT_STRINGIFY_LIMIT, truncate};
use serde_json::Value;

use super::fragment::Fragment;
use super::manager::PromptManager;
use super::quote::{defuse, quote};
use super::system::resolve_system_prompt;
use super::template::{Missing, render};
use crate::event::RunStart;

/// Returns the operator's guidance for a phase, quoted between markers, if there is any.
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

/// Returns one sentence that says who the agent is.
pub(crate) fn identity(start: &RunStart, role: &str) -> String {
    match start.persona.name.trim() {
        "" => role.to_owned(),
        name => {
            let name = quote(name).trim_start_matches("> ").replace('\n', " ");
            let variables = [("name", name.as_str()), ("role", role)];
            let variables = variables.map(|(key, value)| (key.to_owned(), Value::from(value)));
            let text = PromptManager::new(&start.fragments).text(Fragment::SystemDefault);
            render(text, &variables.into_iter().collect(), Missing::Kept)
        }
    }
}

/// Returns the turns of person and model in the thread, each bounded. Turns of systems and tools are left out, since
/// the calls that they answer are not part of the history (B32). So is the question itself, if the application stored
/// it before asking (P11).
pub(crate) fn history(messages: &[ConversationMessage], props: &AgentProps) -> Vec<Message> {
    let asked = |message: &&ConversationMessage| message.role == MessageRole::User && message.content == props.query;
    let earlier = match messages.split_last() {
        Some((last, earlier)) if asked(&last) => earlier,
        _ => messages,
    };
    earlier
        .iter()
        .filter(|message| !message.content.trim().is_empty())
        .filter_map(turn)
        .collect()
}

fn turn(message: &ConversationMessage) -> Option<Message> {
    let text = defuse(&truncate(&message.content, DEFAULT_STRINGIFY_LIMIT));
    match message.role {
        MessageRole::User => Some(Message::user(text)),
        MessageRole::Ai => Some(Message::assistant(text)),
        MessageRole::System | MessageRole::Tool => None,
    }
}
