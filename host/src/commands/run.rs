//! `art run`: a question in, an answer out.

use art_core::agent::RunStatus;
use art_model::EmbeddedModel;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::{attachment, config, runtime};
use crate::cli::{Global, RunArgs};
use crate::compose::Host;
use crate::config::Config;
use crate::drive::{self, Answered, Question};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::{self, plan};

pub(super) fn run(global: &Global, args: &RunArgs) -> Result<Exit, CommandError> {
    let question = Question {
        query: args.query.join(" "),
        thread_id: args.thread.clone(),
        attachments: attachment::read_all(&args.attach)?,
    };
    open_and_ask(global, config(global)?, question)
}

/// Opens the host, asks, and shows the plan, the answer and the cost.
pub(super) fn open_and_ask(global: &Global, config: Config, question: Question) -> Result<Exit, CommandError> {
    runtime()?.block_on(async {
        let host = Host::open(config).await?;
        introduce(global, &host);
        let cancel = CancellationToken::new();
        let signals = tokio::spawn(stop_on_signals(cancel.clone()));
        let answered = drive::answer(&host, question, cancel, plan::watcher(global.json).as_mut()).await;
        signals.abort();
        let answered = answered?;
        show(global, &host, &answered);
        let embedded = host.model.config().provider_name == EmbeddedModel::PROVIDER;
        Ok(Exit::of_run(&answered.report, embedded))
    })
}

/// The first signal cancels the run, the second one ends the process.
async fn stop_on_signals(cancel: CancellationToken) {
    let signals = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    let (Ok(mut interrupt), Ok(mut terminate)) = signals else {
        return tracing::warn!("signals cannot be caught, so the run cannot be cancelled");
    };
    let mut next = async || tokio::select! { _ = interrupt.recv() => (), _ = terminate.recv() => () };
    next().await;
    render::note("stopping; press again to stop at once");
    cancel.cancel();
    next().await;
    std::process::exit(i32::from(Exit::Cancelled as u8));
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
    if host.toolbox.plugins.is_empty() {
        let folder = host.config.plugins.value.display();
        render::note(&format!(
            "there are no tools in `{folder}`; `art quickstart` builds some"
        ));
    }
    for refused in &host.toolbox.refused {
        render::note(&format!("refused {refused}"));
    }
}

fn show(global: &Global, host: &Host, answered: &Answered) {
    if global.json {
        return render::json(&to_json(host, answered));
    }
    let report = &answered.report;
    render::note("");
    render::answer(report.response.response.content.trim_end());
    if !report.sources.is_empty() {
        render::answer("\nSources:");
    }
    for source in &report.sources {
        let url = source.url.as_ref().map(|url| format!(" ({url})")).unwrap_or_default();
        render::answer(&format!("- {}{url}", source.source_name));
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

fn to_json(host: &Host, answered: &Answered) -> Value {
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
        "refused": host.toolbox.refused,
    })
}
