//! `art run`: a question in, an answer out.

use std::path::Path;

use art_core::agent::{QueryAttachment, RunStatus};
use art_core::text::printable;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{config, runtime};
use crate::cli::{Global, RunArgs};
use crate::compose::Host;
use crate::drive::{self, Answered, Question};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::{self, plan};

/// Largest attachment, in bytes: what a tool takes as its input.
const MAX_ATTACHMENT_BYTES: u64 = 1 << 20;

pub(super) fn run(global: &Global, args: &RunArgs) -> Result<Exit, CommandError> {
    let attachments = args
        .attach
        .iter()
        .map(|path| attachment(path))
        .collect::<Result<_, _>>()?;
    let question = Question {
        query: args.query.join(" "),
        thread_id: args.thread.clone(),
        attachments,
    };
    let host = Host::open(config(global, &args.model)?)?;
    ask(global, &host, question)
}

/// Asks and shows the plan, the answer and the cost.
pub(super) fn ask(global: &Global, host: &Host, question: Question) -> Result<Exit, CommandError> {
    introduce(global, host);
    let answered = runtime()?.block_on(async {
        let cancel = CancellationToken::new();
        let on_interrupt = cancel.clone();
        tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                on_interrupt.cancel();
            }
        });
        drive::answer(host, question, cancel, plan::watcher(global.json).as_mut()).await
    })?;
    show(global, &answered);
    let metadata = &answered.report.response.metadata;
    Ok(Exit::of_run(metadata.status, metadata.tool_calls))
}

/// The first line says which model is at work and what it cannot do.
fn introduce(global: &Global, host: &Host) {
    if global.json {
        return;
    }
    let config = host.model.config();
    let name = format!("{}:{}", config.provider_name, config.model_id);
    match host.model.notice() {
        Some(notice) => render::note(&format!("model {name}: {notice}")),
        None => render::note(&format!("model {name}")),
    }
    if host.plugins.is_empty() {
        let folder = host.config.plugins.value.display();
        render::note(&format!(
            "there are no tools in `{folder}`; `art quickstart` builds some"
        ));
    }
    for refused in &host.refused {
        render::note(&printable(&format!("refused {}: {}", refused.file, refused.reason)));
    }
}

fn show(global: &Global, answered: &Answered) {
    if global.json {
        return render::json(&to_json(answered));
    }
    let report = &answered.report;
    render::note("");
    render::answer(&printable(report.response.response.content.trim_end()));
    if !report.sources.is_empty() {
        render::answer("\nSources:");
    }
    for source in &report.sources {
        let url = source.url.as_ref().map(|url| format!(" ({url})")).unwrap_or_default();
        render::answer(&printable(&format!("- {}{url}", source.source_name)));
    }
    show_cost(answered);
}

fn show_cost(answered: &Answered) {
    let metadata = &answered.report.response.metadata;
    if let Some(table) = plan::cost_table(&answered.calls) {
        render::note(&format!("\n{table}"));
    }
    for limit in &metadata.limits_hit {
        render::note(&format!("limit hit: {limit}"));
    }
    if metadata.status == RunStatus::Partial {
        render::note("the answer is not complete: see the steps above");
    }
    render::note(&format!("run {} of thread {}", answered.trace_id, answered.thread_id));
}

fn to_json(answered: &Answered) -> Value {
    let calls = answered
        .calls
        .iter()
        .map(|call| json!({"stepId": call.item_id, "toolName": call.tool, "ending": call.ending, "usage": call.usage}));
    json!({
        "threadId": answered.thread_id,
        "traceId": answered.trace_id,
        "answer": answered.report.response.response.content,
        "sources": answered.report.sources,
        "uiMetadata": answered.report.ui_metadata,
        "steps": answered.report.items,
        "calls": calls.collect::<Vec<_>>(),
        "metadata": answered.report.response.metadata,
    })
}

fn attachment(path: &Path) -> Result<QueryAttachment, CommandError> {
    let size = std::fs::metadata(path).map_err(CommandError::file("read", path))?.len();
    if size > MAX_ATTACHMENT_BYTES {
        let path = path.display();
        return Err(CommandError::Usage(format!(
            "`{path}` has {size} bytes, more than the {MAX_ATTACHMENT_BYTES} allowed"
        )));
    }
    let text = std::fs::read_to_string(path).map_err(CommandError::file("read as UTF-8 text", path))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(QueryAttachment {
        media_type: media_type(path).to_owned(),
        name,
        text,
    })
}

fn media_type(path: &Path) -> &'static str {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => "text/csv",
        Some("tsv") => "text/tab-separated-values",
        Some("json") => "application/json",
        Some("md") => "text/markdown",
        _ => "text/plain",
    }
}
