//! Notes before and after a run: the model, warnings, sources, files, cost and failures.

use std::time::Duration;

use art_core::agent::{QueryAttachment, RunStatus};
use art_core::error::{ErrorContext, ModelError};
use art_core::provider::ModelCapability;
use art_model::{LocalServer, ProviderInfo};
use art_runtime::config::Origin;
use art_runtime::{Answer, Runtime};
use art_tools::ToolExecutor;
use serde_json::{Value, json};

use super::attachment::too_large_for_tools;
use super::tool::quoted;
use crate::error::CommandError;
use crate::render::display::Display;
use crate::render::{self, drawing, plan, units};
use crate::usage_summary::UsageSummary;

/// Prefix of [`ProviderInfo::key`] if the key comes from an environment variable.
const KEY_VARIABLE: &str = "environment variable `";

/// Timeout for detecting a model server on this machine. It is short, since it delays runs that do not use the server.
const LOCAL_TIMEOUT: Duration = Duration::from_millis(200);

/// Prints the model and its limitations, models that could be used instead, and problems with the tools.
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

/// Warns if `maxCostUsd` is set for a model without a price, since it may then have no effect.
pub(super) fn warn_of_cost(host: &Runtime) -> Result<(), CommandError> {
    let info = host.model_info()?;
    let limited = host.config.execution.value.max_cost_usd.is_some();
    // A model in this process is free.
    if limited && info.price.is_none() && !info.provider.in_process() {
        let model = &info.config;
        render::note(&format!(
            "warning: `{model}` has no price, so `maxCostUsd` counts only costs that the provider reports (hint: set \
            `[prices.\"{model}\"]` in art.toml)"
        ));
    }
    Ok(())
}

/// Warns about attachments that are too large for every tool.
pub(super) fn warn_of_size<'a>(host: &Runtime, attachments: impl IntoIterator<Item = &'a QueryAttachment>) {
    let inputs = host.toolbox.plugins.iter().map(|plugin| plugin.limits().input_bytes);
    let max = inputs.max();
    let warnings = attachments
        .into_iter()
        .filter_map(|attachment| too_large_for_tools(attachment, max));
    warnings.for_each(|text| render::note(&format!("warning: {text}")));
}

/// Returns a line with the model, its address and its limitations.
pub(super) fn introduction(host: &Runtime) -> Result<String, CommandError> {
    let info = host.model_info()?;
    let mut text = format!("model {}", info.config);
    if let Some(url) = &info.provider.base_url {
        text.push_str(&format!(" at {url}"));
    }
    let no_vision = !info.capabilities.contains(&ModelCapability::Vision);
    let limitation = no_vision.then(|| "it cannot read pictures".to_owned());
    if let Some(notice) = info.notice.or(limitation) {
        text.push_str(&format!(": {notice}"));
    }
    Ok(text)
}

/// Returns a hint about providers whose key is set, for users who have not configured a model.
fn offer(providers: &[ProviderInfo]) -> Option<String> {
    let usable = providers.iter().filter(|provider| provider.default_model.is_some());
    let offers = usable.filter_map(|provider| {
        let variable = provider.key.as_ref()?.strip_prefix(KEY_VARIABLE)?.strip_suffix('`')?;
        Some(format!("{variable} is set: --model {} uses it", provider.name))
    });
    let offers: Vec<_> = offers.collect();
    (!offers.is_empty()).then(|| offers.join("; "))
}

/// Returns a hint how to use a model server on this machine.
pub(super) fn local_offer(server: &LocalServer) -> String {
    let at = format!("a model server runs at {}", server.base_url.trim_end_matches('/'));
    match server.models.first() {
        Some(model) => format!("{at}: --model {model} uses it"),
        None => format!("{at}, but has no model yet (hint: `ollama pull qwen3`, then `--model ollama:qwen3`)"),
    }
}

/// Ends the display of a run: prints the answer, or why the model returned none. Returns the run if it has an answer. The
/// caller reports an error in `asked`.
pub(super) fn show_answer(display: Display, asked: &Result<Answer, CommandError>) -> Option<&Answer> {
    let Ok(answered) = asked else {
        display.abandon();
        return None;
    };
    if let Some(error) = answered.report.model_failure() {
        display.abandon();
        render::note(&format!("error: {error}"));
        return None;
    }
    display.finish(&answered.report.response.response.content);
    show_sources(answered);
    Some(answered)
}

/// Prints the sources of the answer.
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

/// Prints the files that tools produced, and how to save them.
fn show_files(answered: &Answer) {
    for file in &answered.report.files {
        let (kind, bytes) = (&file.media_type, units::bytes(file.bytes));
        let (run, name) = (&answered.trace_id, shell_word(&file.name));
        render::note(&format!(
            "file: {name} ({kind}, {bytes}); `art runs save {run} {name}` saves it"
        ));
    }
    let results = answered.report.own_items().flat_map(|item| &item.tool_results);
    let not_kept = results
        .flat_map(|result| &result.metadata.attachments)
        .filter(|info| info.digest.is_none());
    match not_kept.count() {
        0 => {}
        count => render::note(&format!("{count} files of tools were not kept")),
    }
}

/// Returns the name, quoted if it has characters that are special in a shell.
fn shell_word(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    if name.chars().all(plain) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// Returns what the user can do about an error of the model.
fn advice(host: &Runtime, error: &ModelError) -> String {
    error.code.user_message(&ErrorContext {
        retry_after_seconds: error.retry_after_ms.map(|wait| wait.div_ceil(1000)),
        ..error_context(host)
    })
}

/// Returns the provider and model of the run, for error messages.
fn error_context(host: &Runtime) -> ErrorContext {
    ErrorContext {
        provider: Some(host.model.provider_name.clone()),
        model: Some(host.model.model_id.clone()),
        retry_after_seconds: None,
    }
}

/// Prints the files, the limits that were hit, and what to do about a failure.
pub(super) fn show_ending(host: &Runtime, answered: &Answer) {
    show_files(answered);
    let metadata = &answered.report.response.metadata;
    for limit in &metadata.limits_hit {
        render::note(&format!("limit hit: {limit}"));
    }
    if metadata.status == RunStatus::Partial {
        render::note("the answer is not complete: see the steps above");
    }
    let advice = match (&answered.report.model_error, &metadata.error) {
        (Some(error), Some(_)) => Some(advice(host, error)),
        (None, Some(error)) => Some(error.code.user_message(&error_context(host))),
        (_, None) => None,
    };
    if let Some(advice) = advice {
        render::note(&advice);
    }
}

/// Prints what the run used.
pub(super) fn show_cost(answered: &Answer) {
    if let Some(table) = plan::cost_table(&answered.calls) {
        render::note(&format!("\n{table}"));
    }
    render::note(&UsageSummary::of(answered).to_line());
}

/// Returns the run as JSON, for programs.
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
