//! What a run begins with.

use art_agent::RunStart;
use art_core::agent::{AgentProps, ThreadConfig};
use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::id;
use art_core::pes::PesAgentStateData;
use art_store::{MessageOptions, NewThread, Thread};

use super::Question;
use crate::compose::Host;
use crate::error::CommandError;

/// Messages of a conversation that a model is shown when its settings say nothing.
const HISTORY: usize = 20;

/// Finds or makes the thread and gathers what the run begins with, and the version of the state that it goes on from.
pub(super) async fn prepare(host: &Host, question: Question) -> Result<(RunStart, Option<u64>), CommandError> {
    let thread = open_thread(host, question.thread_id).await?;
    let history = history(host, &thread).await?;
    let (prior, version) = prior(host, &thread.id).await?;
    let props = AgentProps {
        query: question.query,
        thread_id: thread.id,
        attachments: question.attachments,
        trace_id: Some(id::ordered()),
        ..AgentProps::default()
    };
    let config = thread.config;
    let start = RunStart {
        tools: host.tools.registry().available(&config.enabled_tools),
        history,
        config: config.execution_config.unwrap_or(host.config.execution.value),
        persona: config.persona.unwrap_or_default(),
        system_prompts: config.system_prompt.into_iter().collect(),
        prior,
        ..RunStart::new(props, host.model.config().clone())
    };
    Ok((start, version))
}

/// The thread of that identifier, which must exist, or a new one. Its model and its tools are those of the host now; the
/// rest of its settings stays.
async fn open_thread(host: &Host, thread_id: Option<String>) -> Result<Thread, CommandError> {
    let Some(id) = thread_id else {
        let id = id::ordered();
        let config = with_host(host, ThreadConfig::default());
        let new = NewThread {
            id,
            user_id: None,
            config,
        };
        return Ok(host.store.create_thread(new).await?);
    };
    let unknown = || CommandError::Failed(format!("there is no thread `{id}`; `art thread list` shows all"));
    let thread = host.store.get_thread(&id).await?.ok_or_else(unknown)?;
    let config = with_host(host, thread.config);
    Ok(host.store.set_thread_config(&id, config).await?)
}

fn with_host(host: &Host, config: ThreadConfig) -> ThreadConfig {
    ThreadConfig {
        provider_config: Some(host.model.config().clone()),
        enabled_tools: host.tool_names(),
        ..config
    }
}

async fn history(host: &Host, thread: &Thread) -> Result<Vec<ConversationMessage>, CommandError> {
    let limit = match thread.config.history_limit {
        0 => HISTORY,
        limit => usize::try_from(limit).unwrap_or(usize::MAX),
    };
    let options = MessageOptions {
        limit: Some(limit),
        roles: vec![MessageRole::User, MessageRole::Ai],
        ..MessageOptions::default()
    };
    Ok(host.store.list_messages(&thread.id, options).await?)
}

async fn prior(host: &Host, thread_id: &str) -> Result<(Option<PesAgentStateData>, Option<u64>), CommandError> {
    let Some(state) = host.store.load_state(thread_id).await? else {
        return Ok((None, None));
    };
    let damaged = |error| CommandError::Failed(format!("the state of the thread is damaged: {error}"));
    let data = serde_json::from_value(state.data).map_err(damaged)?;
    Ok((Some(data), Some(state.version)))
}
