//! The parts of a prompt that come from the operator and from the conversation: the name of the agent, its guidance and the
//! earlier messages.
//!
//! The operator gives the agent a persona: a name, and a text for each phase. The guidance for a phase is the text of the persona
//! for this phase, merged with the system prompts of the agent instance, of the thread and of this question alone (contract P6).

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
use super::template::{UnsetVariables, render};
use crate::event::RunStart;

/// Returns the guidance of the operator for a phase, quoted between markers, if there is any.
pub(crate) fn guidance(start: &RunStart, phase: Phase) -> Option<String> {
    let prompts = &start.persona.prompts;
    let persona_text = match phase {
        Phase::Planning => &prompts.planning,
        Phase::Execution => &prompts.execution,
        Phase::Synthesis => &prompts.synthesis,
    };
    let persona_text = persona_text.as_deref().unwrap_or_default();
    let text = resolve_system_prompt(persona_text, &start.system_prompts_registry, &start.system_prompts);
    (!text.is_empty()).then(|| format!("[BEGIN_CUSTOM_GUIDANCE]\n{}\n[END_CUSTOM_GUIDANCE]", quote(&text)))
}

/// Returns the beginning of a prompt, which says who the agent is: its name, if it has one, and then the sentence `role`, which
/// states its task.
pub(crate) fn identity(start: &RunStart, role: &str) -> String {
    match start.persona.name.trim() {
        "" => role.to_owned(),
        name => {
            let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
            // `quote` replaces the markers that could enclose a plan, and puts `> ` before the name. The `> ` is removed, since
            // the name is in a sentence.
            let name = quote(&name).trim_start_matches("> ").to_owned();
            let variables = [("name", name.as_str()), ("role", role)];
            let variables = variables.map(|(key, value)| (key.to_owned(), Value::from(value)));
            let text = PromptManager::new(&start.fragments).text(Fragment::SystemDefault);
            render(text, &variables.into_iter().collect(), UnsetVariables::Keep)
        }
    }
}

/// Returns the messages of the person and of the agent in the thread (contract B32), each cut to a limit. Messages of
/// the system are not included, and neither are messages of tools, because the calls that they answer are not in the
/// history. The question is not included either if the application stored it as the last message before asking
/// (contract P11).
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

/// Returns the message of a prompt for a message of the conversation, or `None` for a message of the system or of a tool.
fn prompt_message(message: &ConversationMessage) -> Option<Message> {
    let text = sanitize(&truncate(&message.content, DEFAULT_STRINGIFY_LIMIT));
    match message.role {
        MessageRole::User => Some(Message::user(text)),
        MessageRole::Ai => Some(Message::assistant(text)),
        MessageRole::System | MessageRole::Tool => None,
    }
}
