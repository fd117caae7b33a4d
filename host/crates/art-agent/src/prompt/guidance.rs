//! Persona and system prompts joined (P6, M28): the persona's guidance for the stage, then the thread's, then the call's.

use art_core::agent::AgentProps;
use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::prompt::{MergeStrategy, Message, SystemPromptOverride};
use art_core::stream::Phase;
use art_core::text::{DEFAULT_STRINGIFY_LIMIT, truncate};

use super::quote::{defuse, quote};
use crate::event::RunStart;

/// The guidance of the operator for a phase, quoted between its markers; nothing when there is none.
pub(crate) fn guidance(start: &RunStart, phase: Phase) -> Option<String> {
    let prompts = &start.persona.prompts;
    let base = match phase {
        Phase::Planning => &prompts.planning,
        Phase::Execution => &prompts.execution,
        Phase::Synthesis => &prompts.synthesis,
    };
    let joined = start
        .system_prompts
        .iter()
        .fold(base.clone().unwrap_or_default(), |base, next| join(&base, next));
    let text = joined.trim();
    (!text.is_empty()).then(|| format!("[BEGIN_CUSTOM_GUIDANCE]\n{}\n[END_CUSTOM_GUIDANCE]", quote(text)))
}

fn join(base: &str, next: &SystemPromptOverride) -> String {
    let (content, strategy) = match next {
        SystemPromptOverride::Text(content) => (content.as_str(), MergeStrategy::Append),
        SystemPromptOverride::Detailed { content, strategy } => (content.as_deref().unwrap_or_default(), *strategy),
    };
    let parts = match strategy {
        MergeStrategy::Append => [base, content],
        MergeStrategy::Prepend => [content, base],
    };
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.trim().is_empty()).collect();
    parts.join("\n\n")
}

/// Who the agent is, in one sentence.
pub(crate) fn identity(start: &RunStart, role: &str) -> String {
    match start.persona.name.trim() {
        "" => role.to_owned(),
        name => format!(
            "You are {}. {role}",
            quote(name).trim_start_matches("> ").replace('\n', " ")
        ),
    }
}

/// The turns of the thread, each bounded. What systems and tools said stays out: it has no partner here (B16, B32). The
/// question is left out when the application stored it before it asked (P11).
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

#[cfg(test)]
mod tests {
    use super::*;

    fn detailed(content: &str, strategy: MergeStrategy) -> SystemPromptOverride {
        SystemPromptOverride::Detailed {
            content: Some(content.to_owned()),
            strategy,
        }
    }

    #[test]
    fn an_override_is_appended_or_prepended() {
        assert_eq!(
            join("base", &SystemPromptOverride::Text("more".to_owned())),
            "base\n\nmore"
        );
        assert_eq!(join("base", &detailed("more", MergeStrategy::Prepend)), "more\n\nbase");
    }

    #[test]
    fn an_empty_override_changes_nothing() {
        assert_eq!(join("base", &detailed(" ", MergeStrategy::Append)), "base");
    }
}
