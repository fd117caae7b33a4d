//! What is told of a run that ended, besides its answer.

use std::time::Duration;

use art_core::agent::{QueryAttachment, RunStatus};
use art_core::error::{ErrorContext, ModelError};
use art_core::provider::ModelCapability;
use art_model::{LocalServer, ProviderInfo};
use art_runtime::config::Origin;
use art_runtime::{Answer, Runtime};
use art_tools::ToolExecutor;
use serde_json::{Value, json};

use super::attachment::beyond_tools;
use super::tool::quoted;
use crate::error::CommandError;
use crate::render::display::Display;
use crate::render::{self, drawing, plan, units};
use crate::spent::Spent;

/// What stands before the name when a key comes from the environment; see [`ProviderInfo::key`].
const KEY_VARIABLE: &str = "environment variable `";

/// How long a model server on this machine has to say that it is there. It is asked before an answer that does not need it.
const LOCAL_TIMEOUT: Duration = Duration::from_millis(200);

/// The first lines say which model is at work and what it cannot do, and what is wrong with the tools.
pub(super) async fn introduce(host: &Runtime) -> Result<(), CommandError> {
    render::note(&introduction(host)?);
    if host.config.model.origin == Origin::Default {
        let local = host.engine.local_server(LOCAL_TIMEOUT).await;
        let offers = [offer(&host.engine.providers()), local.as_ref().map(local_offer)];
        offers.iter().flatten().for_each(|offer| render::note(offer));
    }
    if host.toolbox.plugins.is_empty() {
        let folder = host.config.plugins.value.display();
        render::note(&format!(
            "there are no tools in `{folder}`; `art quickstart` builds some"
        ));
    }
    for refused in &host.toolbox.refused {
        render::note(&format!("refused {refused}"));
    }
    Ok(())
}

/// A limit of the cost stops nothing while no cost is known; says so.
pub(super) fn warn_of_cost(host: &Runtime) -> Result<(), CommandError> {
    let info = host.model_info()?;
    let limited = host.config.execution.value.max_cost_usd.is_some();
    // A model in this process costs nothing.
    if limited && info.price.is_none() && !info.provider.in_process() {
        let model = &info.config;
        render::note(&format!(
            "warning: `maxCostUsd` counts only what the provider itself says that a call costs, since `{model}` has no \
             price (hint: set `[prices.\"{model}\"]` in art.toml)"
        ));
    }
    Ok(())
}

/// Says which attachments no tool of the host can take.
pub(super) fn warn_of_size<'a>(host: &Runtime, attachments: impl IntoIterator<Item = &'a QueryAttachment>) {
    let inputs = host.toolbox.plugins.iter().map(|plugin| plugin.limits().input_bytes);
    let most = inputs.max();
    let told = attachments
        .into_iter()
        .filter_map(|attachment| beyond_tools(attachment, most));
    told.for_each(|text| render::note(&format!("warning: {text}")));
}

/// The model, where it is, and what it cannot do, in one line.
pub(super) fn introduction(host: &Runtime) -> Result<String, CommandError> {
    let info = host.model_info()?;
    let mut text = format!("model {}", info.config);
    if let Some(url) = &info.provider.base_url {
        text.push_str(&format!(" at {url}"));
    }
    let blind = !info.capabilities.contains(&ModelCapability::Vision);
    let lacks = blind.then(|| "it does not look at pictures".to_owned());
    if let Some(notice) = info.notice.or(lacks) {
        text.push_str(&format!(": {notice}"));
    }
    Ok(text)
}

/// The models that a person has a key for, while the embedded one is asked because nobody chose.
fn offer(providers: &[ProviderInfo]) -> Option<String> {
    let usable = providers.iter().filter(|provider| provider.default_model.is_some());
    let offers = usable.filter_map(|provider| {
        let variable = provider.key.as_ref()?.strip_prefix(KEY_VARIABLE)?.strip_suffix('`')?;
        Some(format!("{variable} is set: --model {} uses it", provider.name))
    });
    let offers: Vec<_> = offers.collect();
    (!offers.is_empty()).then(|| offers.join("; "))
}

/// A model server that answers on this machine, and how to use it.
pub(super) fn local_offer(server: &LocalServer) -> String {
    let at = format!("a model server answers at {}", server.base_url.trim_end_matches('/'));
    match server.models.first() {
        Some(model) => format!("{at}: --model {model} uses it"),
        None => format!("{at}, without a model yet (hint: `ollama pull qwen3`, then `--model ollama:qwen3`)"),
    }
}

/// Ends the display of a run: with the answer, or in one sentence why the model gave none. An error is left to the caller.
/// Gives the run when it has an answer.
pub(super) fn show_answer(display: Display, asked: &Result<Answer, CommandError>) -> Option<&Answer> {
    let Ok(answered) = asked else {
        display.give_up();
        return None;
    };
    if let Some(error) = answered.report.model_failure() {
        display.give_up();
        render::note(&format!("error: {error}"));
        return None;
    }
    display.finish(&answered.report.response.response.content);
    show_sources(answered);
    Some(answered)
}

/// Where the answer comes from.
fn show_sources(answered: &Answer) {
    let sources = &answered.report.sources;
    if !sources.is_empty() {
        render::answer("\nSources:");
    }
    for source in sources {
        let url = source.url.as_ref().map(|url| format!(" ({url})")).unwrap_or_default();
        render::answer(&format!("- {}{url}", source.source_name));
    }
}

/// What tools left beside their outputs, and how to get it.
fn show_files(answered: &Answer) {
    for file in &answered.report.files {
        let (kind, bytes) = (&file.media_type, units::bytes(file.bytes));
        let (run, name) = (&answered.trace_id, in_a_shell(&file.name));
        render::note(&format!(
            "file: {name} ({kind}, {bytes}); `art runs save {run} {name}` saves it"
        ));
    }
    let results = answered.report.own_items().flat_map(|item| &item.tool_results);
    let lost = results
        .flat_map(|result| &result.metadata.attachments)
        .filter(|info| info.digest.is_none());
    match lost.count() {
        0 => {}
        lost => render::note(&format!("{lost} files of tools were not kept")),
    }
}

/// A name as it stands, or quoted where a shell would take it for more.
fn in_a_shell(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    if name.chars().all(plain) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// What a person can do about a model that failed.
fn advice(host: &Runtime, error: &ModelError) -> String {
    error.code.user_message(&ErrorContext {
        retry_after_seconds: error.retry_after_ms.map(|wait| wait.div_ceil(1000)),
        ..asked(host)
    })
}

/// Which model the run asked.
fn asked(host: &Runtime) -> ErrorContext {
    ErrorContext {
        provider: Some(host.model.provider_name.clone()),
        model: Some(host.model.model_id.clone()),
        retry_after_seconds: None,
    }
}

/// What is left to say of how the run ended.
pub(super) fn show_ending(host: &Runtime, answered: &Answer) {
    show_files(answered);
    let metadata = &answered.report.response.metadata;
    for limit in &metadata.limits_hit {
        render::note(&format!("limit hit: {limit}"));
    }
    if metadata.status == RunStatus::Partial {
        render::note("the answer is not complete: see the steps above");
    }
    let told = match (&answered.report.model_error, &metadata.error) {
        (Some(error), Some(_)) => Some(advice(host, error)),
        (None, Some(error)) => Some(error.code.user_message(&asked(host))),
        (_, None) => None,
    };
    if let Some(told) = told {
        render::note(&told);
    }
}

/// What the run used, in full.
pub(super) fn show_cost(answered: &Answer) {
    if let Some(table) = plan::cost_table(&answered.calls) {
        render::note(&format!("\n{table}"));
    }
    render::note(&Spent::of(answered).in_words());
}

/// The run for programs.
pub(super) fn to_json(host: &Runtime, answered: &Answer) -> Value {
    let calls = answered
        .calls
        .iter()
        .map(|call| json!({"stepId": call.item_id, "toolName": call.tool, "ending": call.ending, "usage": call.usage}));
    json!({
        "threadId": answered.thread_id,
        "traceId": answered.trace_id,
        "answer": answered.report.response.response.content,
        "files": answered.report.files,
        "displayed": drawing::for_programs(&answered.report),
        "sources": answered.report.sources,
        "uiMetadata": answered.report.ui_metadata,
        "unanswered": answered.report.unanswered,
        "steps": answered.report.items,
        "calls": calls.collect::<Vec<_>>(),
        "metadata": answered.report.response.metadata,
        "refused": host.toolbox.refused,
    })
}
