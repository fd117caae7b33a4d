//! `art approve preview`: what rules would have decided about the calls of earlier runs.

use std::path::Path;

use art_core::text::truncate;
use art_runtime::config::read_approval_policy;
use art_runtime::preview::{ApprovalPreview, PreviewedCall, PreviewedVerdict};
use art_store::RunFilter;
use serde_json::json;

use crate::cli::GlobalOptions;
use crate::commands::{load_config, open_runtime_without_model};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::{self, table};
use crate::tokio_runtime::new_executor;

/// Maximum length of the last column of the table, in characters. It has the arguments of a call, or the reason why the call is
/// invalid.
const MAX_DETAIL_CHARS: usize = 60;

pub(super) fn preview(global: &GlobalOptions, rules: Option<&Path>, runs: usize) -> Result<Exit, CommandError> {
    let config = load_config(global)?;
    let policy = match rules {
        Some(file) => read_approval_policy(file).map_err(art_runtime::RuntimeError::from)?,
        None => config.approval.value.clone(),
    };
    let filter = RunFilter {
        owner: global.owner(),
        limit: Some(runs),
        ..RunFilter::default()
    };
    let executor = new_executor()?;
    let runtime = executor.block_on(open_runtime_without_model(global, config))?;
    let preview = executor.block_on(runtime.preview_approval(&policy, filter));
    executor.block_on(runtime.close());
    let preview = preview?;
    if global.json {
        render::json(&json!(preview));
    } else {
        show(&preview);
    }
    Ok(Exit::Success)
}

fn show(preview: &ApprovalPreview) {
    if !preview.calls.is_empty() {
        let header = ["now", "then", "tool", "run", "arguments or reason"];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        rows.extend(preview.calls.iter().map(table_row));
        render::print(&table::lines(&rows).join("\n"));
    }
    for (run, reason) in &preview.unreadable {
        render::note(&format!("run {run} is left out: {reason}"));
    }
    render::note(&summary(preview));
}

/// Returns what the rules decide about a call now, and what was decided when the call was made.
fn table_row(call: &PreviewedCall) -> Vec<String> {
    let decided_then = match (call.was_asked, call.ran) {
        (false, true) => "ran",
        (true, true) => "approved",
        (true, false) => "asked",
        (false, false) => "refused",
    };
    let (decided_now, detail) = match &call.now {
        PreviewedVerdict::Allowed { .. } => ("allowed", &call.arguments),
        PreviewedVerdict::Asked { .. } => ("asked", &call.arguments),
        PreviewedVerdict::Refused { .. } => ("refused", &call.arguments),
        PreviewedVerdict::Invalid { reason } => ("invalid", reason),
    };
    vec![
        decided_now.to_owned(),
        decided_then.to_owned(),
        call.tool.clone(),
        call.trace_id.clone(),
        truncate(detail, MAX_DETAIL_CHARS),
    ]
}

fn summary(preview: &ApprovalPreview) -> String {
    let count = |is_counted: fn(&PreviewedVerdict) -> bool| {
        let counted = preview.calls.iter().filter(|call| is_counted(&call.now));
        counted.count()
    };
    let asked = count(|now| matches!(now, PreviewedVerdict::Asked { .. }));
    let refused = count(|now| matches!(now, PreviewedVerdict::Refused { .. }));
    let invalid = count(|now| matches!(now, PreviewedVerdict::Invalid { .. }));
    let allowed = preview.calls.len() - asked - refused - invalid;
    let plural = |number: usize, name| format!("{number} {name}{}", if number == 1 { "" } else { "s" });
    let mut text = format!(
        "{} in {}: {allowed} allowed, {asked} asked about, {refused} refused",
        plural(preview.calls.len(), "call"),
        plural(preview.runs, "run")
    );
    if invalid > 0 {
        text.push_str(&format!(", {invalid} not valid any more"));
    }
    text
}
