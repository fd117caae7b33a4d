//! What a command prints about a run besides its progress. Before the run: the model, warnings and interrupted runs. After it:
//! the answer, sources, files, cost and failures.

use std::time::Duration;

use art_core::agent::{QueryAttachment, RunStatus};
use art_core::capability::Denial;
use art_core::error::{ErrorContext, ModelError};
use art_core::provider::ModelCapability;
use art_core::text::{printable, quote_for_shell, shorten};
use art_model::{LocalServer, ModelInfo, ProviderInfo};
use art_runtime::config::Origin;
use art_runtime::{Answer, Runtime};
use art_store::{Owner, RunRecord};
use art_tools::ToolExecutor;
use serde_json::{Value, json};

use super::attachment::size_warning;
use crate::error::CommandError;
use crate::render::display::RunDisplay;
use crate::render::{self, drawing, plan, suggestions, units};
use crate::usage_summary::UsageSummary;

/// Start of [`ProviderInfo::key`] if the key of the provider comes from an environment variable. The name of the variable and a
/// backtick follow.
const KEY_FROM_VARIABLE_PREFIX: &str = "environment variable `";

/// Maximum number of interrupted runs that are listed.
const MAX_INTERRUPTED: usize = 3;
/// Maximum length of the question of an interrupted run, in characters.
const MAX_QUERY_CHARS: usize = 60;

/// Timeout for detecting a model server on this machine. It is short, since it delays runs that do not use the server.
const LOCAL_SERVER_TIMEOUT: Duration = Duration::from_millis(200);

/// Prints the model and its limitations, models that could be used instead, and problems with the tools.
pub(super) async fn show_model_and_problems(runtime: &Runtime, model: &ModelInfo) -> Result<(), CommandError> {
    render::note(&model_line(model));
    if runtime.config.model.origin == Origin::Default {
        let local = runtime.engine.local_server(LOCAL_SERVER_TIMEOUT).await;
        let hints = [
            provider_hint(&runtime.engine.providers()),
            local.as_ref().map(local_server_hint),
        ];
        hints.iter().flatten().for_each(|hint| render::note(hint));
    }
    if runtime.toolbox.plugins().is_empty() {
        let folder = runtime.config.plugins.value.display();
        render::note(&format!(
            "there are no tools in `{folder}`; `art quickstart` builds some"
        ));
    }
    for refused in &runtime.toolbox.refused {
        render::note(&format!("refused {refused}"));
    }
    Ok(())
}

/// Prints which runs were interrupted because their hosts were stopped, and how to resume them with `command`. Leaves out the
/// interrupted runs of `thread`: the question that is about to be asked there ends them.
pub(super) async fn note_interrupted_runs(
    runtime: &Runtime,
    owner: Owner,
    thread: Option<&str>,
    command: &str,
) -> Result<(), CommandError> {
    let mut runs = runtime.interrupted_runs(owner).await?;
    runs.retain(|run| Some(run.thread_id.as_str()) != thread);
    for run in runs.iter().take(MAX_INTERRUPTED) {
        render::note(&interrupted_run_line(run, command));
    }
    let more = runs.len().saturating_sub(MAX_INTERRUPTED);
    if more > 0 {
        render::note(&format!(
            "{more} more runs were interrupted; `art runs list` shows them"
        ));
    }
    Ok(())
}

/// Returns a line about an interrupted run, with the command that resumes it.
pub(super) fn interrupted_run_line(run: &RunRecord, command: &str) -> String {
    format!(
        "interrupted: \"{}\"; `{command} {}` goes on with it",
        shorten(&run.query, MAX_QUERY_CHARS),
        run.trace_id
    )
}

/// Warns if `maxCostUsd` is set for a model without a price, since it may then have no effect.
pub(super) fn warn_of_unknown_price(runtime: &Runtime) -> Result<(), CommandError> {
    let info = runtime.model_info()?;
    let has_cost_limit = runtime.config.execution.value.max_cost_usd.is_some();
    // A model in this process is free.
    if has_cost_limit && info.price.is_none() && !info.provider.in_process() {
        let model = &info.config;
        render::note(&format!(
            "warning: `{model}` has no price, so `maxCostUsd` counts only costs that the provider reports (hint: set \
            `[prices.\"{model}\"]` in art.toml)"
        ));
    }
    Ok(())
}

/// Warns about attachments that are too large for every tool.
pub(super) fn warn_of_large_attachments<'a>(
    runtime: &Runtime,
    attachments: impl IntoIterator<Item = &'a QueryAttachment>,
) {
    let plugins = runtime.toolbox.plugins();
    let input_limits = plugins.iter().map(|plugin| plugin.limits().input_bytes);
    let max_input_bytes = input_limits.max();
    let warnings = attachments
        .into_iter()
        .filter_map(|attachment| size_warning(attachment, max_input_bytes));
    warnings.for_each(|text| render::note(&format!("warning: {text}")));
}

/// Returns a line with the model, its address and its limitations.
pub(super) fn model_line(info: &ModelInfo) -> String {
    let mut text = format!("model {}", info.config);
    if let Some(url) = &info.provider.base_url {
        text.push_str(&format!(" at {url}"));
    }
    let no_vision = !info.capabilities.contains(&ModelCapability::Vision);
    let limitation = no_vision.then(|| "it cannot read pictures".to_owned());
    if let Some(notice) = info.notice.clone().or(limitation) {
        text.push_str(&format!(": {notice}"));
    }
    text
}

/// Returns a hint about providers whose key is set, for users who have not configured a model.
fn provider_hint(providers: &[ProviderInfo]) -> Option<String> {
    // The hint names a provider without a model, so it needs the default model of the provider.
    let with_default_model = providers.iter().filter(|provider| provider.default_model.is_some());
    let hints = with_default_model.filter_map(|provider| {
        let variable = provider
            .key
            .as_ref()?
            .strip_prefix(KEY_FROM_VARIABLE_PREFIX)?
            .strip_suffix('`')?;
        Some(format!("{variable} is set: --model {} uses it", provider.name))
    });
    let hints: Vec<_> = hints.collect();
    (!hints.is_empty()).then(|| hints.join("; "))
}

/// Returns a hint about how to use a model server on this machine.
pub(super) fn local_server_hint(server: &LocalServer) -> String {
    let found = format!("a model server runs at {}", server.base_url.trim_end_matches('/'));
    match server.models.first() {
        Some(model) => format!("{found}: --model {model} uses it"),
        None => format!("{found}, but has no model yet (hint: `ollama pull qwen3`, then `--model ollama:qwen3`)"),
    }
}

/// Ends the display of a run, and prints its answer. If the model failed, prints its error instead; if the run waits for a
/// decision, prints nothing. Returns the answer, or `None` if there is an error. An error in `result` is not printed: the
/// caller reports it.
pub(super) fn show_answer(display: RunDisplay, result: &Result<Answer, CommandError>) -> Option<&Answer> {
    let Ok(answer) = result else {
        display.abandon();
        return None;
    };
    if let Some(error) = answer.report.model_failure() {
        display.abandon();
        render::note(&format!("error: {error}"));
        return None;
    }
    let content = &answer.report.response.response.content;
    if !answer.waits_for.is_empty() {
        display.abandon();
        return Some(answer);
    }
    // A raw answer is the unchanged output of a tool.
    if answer.report.raw {
        display.abandon();
        render::tool_output(content);
    } else {
        display.finish(content);
        show_sources(answer, content);
        show_suggestions(answer);
    }
    Some(answer)
}

/// Prints the questions that the model suggests to ask next. They are not part of the answer.
fn show_suggestions(answer: &Answer) {
    let questions = answer.report.suggested_questions();
    if !questions.is_empty() {
        render::note("\nYou could ask next:");
    }
    for question in questions {
        render::note(&format!("- {question}"));
    }
}

/// Prints the sources of the answer, except those whose addresses its text has.
fn show_sources(answer: &Answer, text: &str) {
    let is_in_text = |url: &str| !url.is_empty() && text.contains(url);
    let sources = answer.report.sources.iter();
    let sources: Vec<_> = sources
        .filter(|source| !source.url.as_deref().is_some_and(is_in_text))
        .collect();
    if !sources.is_empty() {
        render::print("\nSources:");
    }
    for source in sources {
        render::print(&format!("- {source}"));
    }
}

/// Prints the files that tools produced, and how to save them.
pub(super) fn show_files(answer: &Answer) {
    for file in &answer.report.files {
        let (kind, bytes) = (&file.media_type, units::bytes(file.bytes));
        let (run, name) = (&answer.trace_id, quote_for_shell(&file.name));
        render::note(&format!(
            "file: {name} ({kind}, {bytes}); `art runs save {run} {name}` saves it"
        ));
    }
    let results = answer.report.items.iter().flat_map(|item| &item.tool_results);
    // A file without a digest is not in the store.
    let not_stored = results
        .flat_map(|result| &result.metadata.attachments)
        .filter(|file| file.digest.is_none());
    match not_stored.count() {
        0 => {}
        count => render::note(&format!("{count} files of tools were not kept")),
    }
}

/// Prints what the tools of the run were not allowed to do, each denial once, with the command that allows it.
fn show_denials(answer: &Answer) {
    let results = answer.report.items.iter().flat_map(|item| &item.tool_results);
    let denials = results.flat_map(|result| &result.metadata.denials);
    let mut lines: Vec<_> = denials.map(denial_line).collect();
    lines.sort();
    lines.dedup();
    lines.iter().for_each(|line| render::note(line));
}

fn denial_line(denial: &Denial) -> String {
    match &denial.command {
        Some(command) => format!(
            "denied: {denial}; to allow it: {}",
            printable(&suggestions::command(command))
        ),
        None => format!("denied: {denial}"),
    }
}

/// Returns advice for the user about an error of the model.
fn advice_about_model_error(answer: &Answer, error: &ModelError) -> String {
    error.code.user_message(&ErrorContext {
        retry_after_seconds: error.retry_after_ms.map(|wait| wait.div_ceil(1000)),
        ..error_context(answer)
    })
}

/// Returns the provider and model of the run, for error messages.
fn error_context(answer: &Answer) -> ErrorContext {
    ErrorContext {
        provider: Some(answer.model.provider_name.clone()),
        model: Some(answer.model.model_id.clone()),
        retry_after_seconds: None,
    }
}

/// Prints the notes that follow an answer: the files, what was denied, the limits that were hit, and advice about a failure.
pub(super) fn show_closing_notes(answer: &Answer) {
    show_files(answer);
    show_denials(answer);
    let metadata = &answer.report.response.metadata;
    for limit in &metadata.limits_hit {
        render::note(&format!("limit hit: {limit}"));
    }
    if metadata.status == RunStatus::Partial {
        render::note("the answer is not complete: see the steps above");
    }
    // `metadata.error` is the reason why the run has no answer.
    let advice = match (&answer.report.model_error, &metadata.error) {
        (Some(error), Some(_)) => Some(advice_about_model_error(answer, error)),
        (None, Some(error)) => Some(error.code.user_message(&error_context(answer))),
        (_, None) => None,
    };
    if let Some(advice) = advice {
        render::note(&advice);
    }
}

/// Prints the cost of the tool calls, and the usage of the run.
pub(super) fn show_cost(answer: &Answer) {
    if let Some(table) = plan::cost_table(&answer.calls) {
        render::note(&format!("\n{table}"));
    }
    render::note(&UsageSummary::from(answer).to_line());
}

/// Returns the answer and the report of its run as JSON, for programs.
pub(super) fn to_json(runtime: &Runtime, answer: &Answer) -> Value {
    let mut items = answer.report.items.clone();
    let results = items.iter_mut().flat_map(|item| &mut item.tool_results);
    suggestions::complete_denials(results.flat_map(|result| &mut result.metadata.denials));
    let calls = answer.calls.iter().map(|call| {
        json!({"stepId": call.item_id, "toolName": call.tool, "ending": call.ending, "usage": call.usage,
            "toolDigest": call.tool_digest.as_deref()})
    });
    json!({
        "threadId": answer.thread_id,
        "traceId": answer.trace_id,
        "answer": answer.report.response.response.content,
        "raw": answer.report.raw,
        "files": answer.report.files,
        "displayed": drawing::results_as_json(&answer.report),
        "sources": answer.report.sources,
        "uiMetadata": answer.report.ui_metadata,
        "unanswered": answer.report.unanswered,
        "steps": items,
        "calls": calls.collect::<Vec<_>>(),
        "metadata": answer.report.response.metadata,
        "waitsFor": suggestions::complete_waiting(&answer.waits_for),
        "refused": runtime.toolbox.refused,
    })
}
