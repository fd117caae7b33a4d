//! `art tool`: what there is, what it takes, what it gives.

use std::io::Read;

use art_core::id;
use art_core::text::printable;
use art_core::tool::{ParsedToolCall, ToolSchema, ToolStatus};
use art_sandbox::Plugin;
use art_store::NewThread;
use art_tools::{CallScope, ToolExecutor};
use serde_json::{Value, json};

use super::{config, runtime};
use crate::cli::{Global, ModelArgs, ToolCommand};
use crate::compose::Host;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::{self, table, units};

pub(super) fn tool(global: &Global, command: ToolCommand) -> Result<Exit, CommandError> {
    let host = Host::open(config(global, &ModelArgs::default())?)?;
    match command {
        ToolCommand::List => list(global, &host),
        ToolCommand::Show { name } => show(global, &host, &name),
        ToolCommand::Call { name, arguments } => call(global, &host, name, &arguments),
    }
}

fn list(global: &Global, host: &Host) -> Result<Exit, CommandError> {
    let schemas = host.tools.registry().list();
    if global.json {
        render::json(&json!({"tools": schemas, "refused": host.refused}));
        return Ok(Exit::Success);
    }
    let mut rows = vec![vec!["tool".to_owned(), "what it does".to_owned()]];
    rows.extend(
        schemas
            .into_iter()
            .map(|schema| vec![schema.name, first_sentence(&schema.description)]),
    );
    render::answer(&table::lines(&rows).join("\n"));
    if !host.refused.is_empty() {
        render::answer("\nrefused:");
    }
    for refused in &host.refused {
        render::answer(&printable(&format!("  {}: {}", refused.file, refused.reason)));
    }
    Ok(Exit::Success)
}

fn first_sentence(text: &str) -> String {
    text.split_inclusive(". ")
        .next()
        .unwrap_or_default()
        .trim_end()
        .to_owned()
}

fn find<'a>(host: &'a Host, name: &str) -> Result<&'a Plugin, CommandError> {
    let found = host.plugins.iter().find(|plugin| plugin.schema().name == name);
    found.map(AsRef::as_ref).ok_or_else(|| unknown(host, name))
}

fn unknown(host: &Host, name: &str) -> CommandError {
    let names = host.tool_names().join("`, `");
    CommandError::Usage(format!("there is no tool `{name}`; there are `{names}`"))
}

fn show(global: &Global, host: &Host, name: &str) -> Result<Exit, CommandError> {
    let plugin = find(host, name)?;
    if global.json {
        render::json(&to_json(plugin));
    } else {
        render::answer(&printable(&in_words(plugin)));
    }
    Ok(Exit::Success)
}

fn to_json(plugin: &Plugin) -> Value {
    json!({
        "schema": plugin.schema(),
        "limits": plugin.limits(),
        "imports": plugin.inspection().imports,
        "manifest": plugin.inspection().manifest,
        "file": format!("{}.wasm", plugin.name()),
        "digest": plugin.digest(),
    })
}

fn in_words(plugin: &Plugin) -> String {
    let (schema, limits): (&ToolSchema, _) = (plugin.schema(), plugin.limits());
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default();
    let mut text = format!(
        "{}\n\n{}\n\ninput:\n{}\n",
        schema.name,
        schema.description,
        pretty(&schema.input_schema)
    );
    if let Some(output) = &schema.output_schema {
        text.push_str(&format!("\noutput:\n{}\n", pretty(output)));
    }
    for example in &schema.examples {
        text.push_str(&format!(
            "\nexample:\n  art tool call {} '{}'\n",
            schema.name, example.input
        ));
    }
    text.push_str(&format!(
        "\nlimits: {} fuel, {}, {} of memory, {} of output\nimports: {}\nfile: {}.wasm\ndigest: {}",
        units::count(limits.fuel),
        units::micros(limits.timeout_ms * 1_000),
        units::bytes(limits.memory_bytes),
        units::bytes(limits.output_bytes),
        plugin.inspection().imports.join(", "),
        plugin.name(),
        plugin.digest(),
    ));
    text
}

/// Calls through the whole pipeline. The result goes to stdout, also a failed one.
fn call(global: &Global, host: &Host, name: String, arguments: &str) -> Result<Exit, CommandError> {
    if host.tools.registry().get(&name).is_none() {
        return Err(unknown(host, &name));
    }
    let arguments = parse(arguments)?;
    let call = ParsedToolCall {
        call_id: id::call_id(),
        tool_name: name.clone(),
        arguments,
    };
    let report = runtime()?.block_on(async {
        let thread = NewThread {
            id: id::ordered(),
            ..NewThread::default()
        };
        let thread_id = host.store.create_thread(thread).await?.id;
        let trace_id = id::ordered();
        let scope = CallScope {
            thread_id,
            trace_id,
            enabled_tools: vec![name],
            ..CallScope::default()
        };
        let mut reports = host.tools.execute_batch(vec![call], &scope).await;
        host.store.delete_thread(&scope.thread_id).await?;
        reports
            .pop()
            .ok_or_else(|| CommandError::Failed("the call has no result".to_owned()))
    })?;
    if global.json {
        let (result, usage) = (&report.result, &report.usage);
        render::json(&json!({"result": result, "usage": usage, "ending": report.ending, "log": report.log}));
    } else {
        tell(&report);
    }
    let failed = report.result.status == ToolStatus::Error;
    Ok(if failed { Exit::ToolError } else { Exit::Success })
}

fn tell(report: &art_tools::ToolReport) {
    for record in &report.log.records {
        render::note(&printable(&format!("log: {}", record.message)));
    }
    for (name, text) in [("stdout", &report.log.stdout), ("stderr", &report.log.stderr)] {
        if !text.is_empty() {
            render::note(&printable(&format!("{name}: {}", text.trim_end())));
        }
    }
    match (&report.result.output, &report.result.error) {
        (_, Some(error)) => render::note(&printable(&format!("error: {error}"))),
        (Some(output), None) => render::answer(&serde_json::to_string_pretty(output).unwrap_or_default()),
        (None, None) => render::note("the tool gave no output"),
    }
    let usage = &report.usage;
    let (wall, fuel) = (units::micros(usage.wall_us), units::count(usage.fuel));
    render::note(&format!(
        "{wall}, {fuel} fuel, {}",
        units::bytes(usage.peak_memory_bytes)
    ));
}

fn parse(arguments: &str) -> Result<Value, CommandError> {
    let mut text = arguments.to_owned();
    if arguments == "-" {
        text.clear();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(CommandError::file("read", "stdin"))?;
    }
    let hint = "hint: quote them for the shell, as in '{\"name\":\"value\"}'";
    serde_json::from_str(&text)
        .map_err(|error| CommandError::Usage(format!("the arguments are not JSON: {error} ({hint})")))
}
