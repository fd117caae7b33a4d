//! `art eval`: measures how well a model selects tools and fills in arguments. Each line of a file is a case: a question with
//! the calls that are expected for it.

use std::fs::File;

use art_core::tool::ToolSchema;
use art_model::eval::{EvalCase, EvalReport, ProposedCall, evaluate, parse_cases};
use art_runtime::compose::{Toolbox, open_engine, resolve_model};
use art_runtime::config::Config;
use art_runtime::dry_run::proposed_calls;

use super::load_config;
use crate::bounded_read;
use crate::cli::{EvalArgs, GlobalOptions};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::{self, table};
use crate::tokio_runtime::new_executor;

/// Maximum size of the file with the cases, in bytes.
const MAX_BYTES: u64 = 16 << 20;

pub(super) fn eval(global: &GlobalOptions, args: &EvalArgs) -> Result<Exit, CommandError> {
    let file = File::open(&args.file).map_err(CommandError::file("open", &args.file))?;
    let text = bounded_read::read_text(file, &args.file, MAX_BYTES)?;
    let invalid_file = |error| CommandError::Usage(format!("`{}`: {error}", args.file.display()));
    let cases = parse_cases(&text).map_err(invalid_file)?;
    let config = load_config(global)?;
    let engine = open_engine(&config)?;
    let model = resolve_model(&engine, &config.model.value)?;
    let executor = new_executor()?;
    let default_tools = load_default_tools(&config, &cases)?;
    let report = executor.block_on(evaluate(&cases, async |case: &EvalCase| {
        let tools = case.tools.as_ref().unwrap_or(&default_tools);
        let calls = proposed_calls(&config, &engine, &model, &case.query, tools).await?;
        Ok(calls
            .into_iter()
            .map(|call| to_proposed_call(call.tool_name, call.arguments))
            .collect())
    }));
    executor.block_on(engine.shutdown());
    if global.json {
        render::json(&report);
    } else {
        show(&report, args.failures);
    }
    Ok(Exit::Success)
}

/// Loads the tools of the plugins folder, for cases that list no tools. Returns no tools if every case lists its own.
fn load_default_tools(config: &Config, cases: &[EvalCase]) -> Result<Vec<ToolSchema>, CommandError> {
    if cases.iter().all(|case| case.tools.is_some()) {
        return Ok(Vec::new());
    }
    Ok(Toolbox::load(config, Vec::new(), &|_| {})?.registry.list())
}

/// Converts a call that the model proposed, to compare it with the expected calls. Arguments that are no object become an empty
/// object.
fn to_proposed_call(tool_name: String, arguments: serde_json::Value) -> ProposedCall {
    let arguments = match arguments {
        serde_json::Value::Object(arguments) => arguments,
        _ => serde_json::Map::new(),
    };
    ProposedCall { tool_name, arguments }
}

/// Prints the counts, and with `lists_failures` every case that failed.
fn show(report: &EvalReport, lists_failures: bool) {
    let row = |name: &str, count: usize, total: usize| {
        let percent = 100 * count / total.max(1);
        vec![name.to_owned(), format!("{count} of {total}"), format!("{percent} %")]
    };
    let rows = [
        row("lines right", report.cases_right, report.cases),
        row("tools right", report.tools_right, report.expected_calls),
        row("whole calls right", report.calls_right, report.expected_calls),
        row("arguments right", report.arguments_right, report.arguments),
        // A case is unanswerable if no tool fits, so that no call is expected.
        row("unanswerable refused", report.unanswerable_right, report.unanswerable),
        vec!["calls invented".to_owned(), report.extra_calls.to_string()],
        vec!["lines with an error".to_owned(), report.errors.to_string()],
    ];
    render::print(&table::lines(&rows).join("\n"));
    for result in report
        .results
        .iter()
        .filter(|result| lists_failures && !result.is_right())
    {
        let calls = serde_json::to_string(&result.calls).unwrap_or_default();
        render::print(&format!("\nline {}: {}\n  {calls}", result.line, result.query));
    }
}
