//! `art tool`: lists, shows and calls tools.

pub(super) mod call;

use std::sync::Arc;

use art_core::JsonObject;
use art_core::outcome::CallLog;
use art_core::text::quote_for_shell;
use art_core::tool::{ExecutionMode, RiskLevel, ToolSchema};
use art_runtime::compose::Toolbox;
use art_runtime::config::Config;
use art_sandbox::Plugin;
use art_tools::{ToolExecutor, same_name};
use serde_json::{Value, json};

use super::{check_plugins_folder, load_config, note_unread_grants};
use crate::cli::{GlobalOptions, ToolCommand};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::compiling::CompilationDisplay;
use crate::render::table::first_sentence;
use crate::render::{self, suggestions, table, units};

pub(super) fn tool(global: &GlobalOptions, command: ToolCommand) -> Result<Exit, CommandError> {
    let mut config = load_config(global)?;
    if let ToolCommand::Call { name, arguments } = &command {
        return call::call(global, config, name, arguments);
    }
    check_plugins_folder(&config)?;
    if matches!(command, ToolCommand::List { retry: true }) {
        // Without `--retry`, tools that take too long to compile are skipped. `--retry` compiles them without a time limit.
        config.compile_time = None;
    }
    let display = CompilationDisplay::new(global.json);
    let toolbox = Toolbox::load(&config, Vec::new(), &|compiled| display.show(compiled))?;
    note_unread_grants(&toolbox.unread);
    match command {
        ToolCommand::List { .. } => {
            list(global, &toolbox);
            Ok(Exit::Success)
        }
        ToolCommand::Show { name } => {
            let unknown = || unknown_tool_error(&config, &toolbox, &name);
            let plugin = find_plugin(&toolbox, &name).ok_or_else(unknown)?;
            let schema = toolbox.registry.schema(&name).ok_or_else(unknown)?;
            show(global, &plugin, &schema);
            Ok(Exit::Success)
        }
        // Handled above.
        ToolCommand::Call { .. } => Ok(Exit::Success),
    }
}

fn list(global: &GlobalOptions, toolbox: &Toolbox) {
    let schemas = toolbox.registry.list();
    if global.json {
        let plugins = toolbox.plugins();
        let limits: JsonObject = plugins
            .iter()
            .map(|plugin| (plugin.schema().name.clone(), json!(plugin.limits())))
            .collect();
        return render::json(&json!({"tools": schemas, "limits": limits, "refused": toolbox.refused}));
    }
    let mut rows = vec![vec!["tool".to_owned(), "what it does".to_owned()]];
    rows.extend(
        schemas
            .into_iter()
            .map(|schema| vec![schema.name, first_sentence(&schema.description)]),
    );
    render::print(&table::lines(&rows).join("\n"));
    if !toolbox.refused.is_empty() {
        render::print("\nrefused:");
    }
    for refused in &toolbox.refused {
        render::print(&suggestions::in_text(&format!("  {refused}")));
    }
}

fn find_plugin(toolbox: &Toolbox, name: &str) -> Option<Arc<Plugin>> {
    let mut plugins = toolbox.plugins().into_iter();
    plugins.find(|plugin| same_name(&plugin.schema().name, name))
}

/// Returns the error for a tool that does not exist.
fn unknown_tool_error(config: &Config, toolbox: &Toolbox, name: &str) -> CommandError {
    let of_tool = |file: &str| file.strip_suffix(".wasm").is_some_and(|file| same_name(file, name));
    if let Some(refused) = toolbox.refused.iter().find(|refused| of_tool(&refused.file)) {
        return CommandError::Usage(format!("there is no tool `{name}`: its file was refused: {refused}"));
    }
    let names = toolbox.names();
    if names.is_empty() {
        let folder = config.plugins.value.display();
        return CommandError::Usage(format!(
            "there is no tool `{name}`: no component loaded from `{folder}`"
        ));
    }
    CommandError::Usage(format!(
        "there is no tool `{name}`; available: `{}`",
        names.join("`, `")
    ))
}

fn show(global: &GlobalOptions, plugin: &Plugin, schema: &ToolSchema) {
    if global.json {
        render::json(&to_json(plugin, schema));
    } else {
        render::print(&to_text(plugin, schema));
    }
}

fn to_json(plugin: &Plugin, schema: &ToolSchema) -> Value {
    json!({
        "schema": schema,
        "limits": plugin.limits(),
        "imports": plugin.inspection().imports,
        "manifest": plugin.inspection().manifest,
        "file": format!("{}.wasm", plugin.name()),
        "digest": plugin.digest(),
    })
}

fn to_text(plugin: &Plugin, schema: &ToolSchema) -> String {
    let limits = plugin.limits();
    let to_pretty_json = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default();
    let mut text = format!(
        "{}\n\n{}\n\ninput:\n{}\n",
        schema.name,
        schema.description,
        to_pretty_json(&schema.input_schema)
    );
    if let Some(output) = &schema.output_schema {
        text.push_str(&format!("\noutput:\n{}\n", to_pretty_json(output)));
    }
    for example in schema.examples.iter() {
        let input = quote_for_shell(&example.input.to_string());
        text.push_str("\nexample:\n");
        // The description of an example is the question that the call answers.
        if let Some(question) = &example.description {
            let run = format!("art run {}", quote_for_shell(question));
            text.push_str(&format!("  {}\n", suggestions::command(&run)));
        }
        let call = format!("art tool call {} {input}", schema.name);
        text.push_str(&format!("  {}\n", suggestions::command(&call)));
    }
    text.push_str(&format!("\n{}", about_lines(plugin, schema).join("\n")));
    text.push_str(&format!(
        "\nlimits: {} fuel, {}, {} of memory, {} of output\nimports: {}\nfile: {}.wasm\ndigest: {}",
        units::count(limits.fuel),
        units::micros(limits.timeout_ms.saturating_mul(1_000)),
        units::bytes(limits.memory_bytes),
        units::bytes(limits.output_bytes),
        plugin.inspection().imports.join(", "),
        plugin.name(),
        plugin.digest(),
    ));
    text
}

/// Returns lines about how a tool is called, what it asks for, and who made it.
fn about_lines(plugin: &Plugin, schema: &ToolSchema) -> Vec<String> {
    let mode = match schema.execution_mode {
        ExecutionMode::Functional => "functional",
        ExecutionMode::Blocking => "blocking (it asks a person)",
        ExecutionMode::Display => "display (its output is drawn for a person)",
    };
    let risk = schema.blocking_config.as_ref().and_then(|config| config.risk_level);
    let risk = risk.map_or("not declared", RiskLevel::name);
    let mut lines = vec![format!("mode: {mode}"), format!("risk: {risk}")];
    match plugin.inspection().requests() {
        None => lines.push("asks to: anything (it has no manifest), so it gets whatever is granted".to_owned()),
        Some(requests) if requests.is_empty() => lines.push("asks to: nothing".to_owned()),
        Some(requests) => lines.extend(requests.iter().map(|request| format!("asks to: {request}"))),
    }
    let manifest = plugin.inspection().manifest.clone().unwrap_or_default();
    let said = [
        ("version", manifest.version),
        ("author", manifest.author),
        ("license", manifest.license),
    ];
    let said = said.into_iter().filter(|(_, text)| !text.is_empty());
    lines.extend(said.map(|(name, text)| format!("{name}: {text}")));
    lines
}

/// Returns what a tool logged in a call, and what it wrote to stdout and stderr, in lines.
pub(super) fn log_lines(log: &CallLog) -> Vec<String> {
    let mut lines: Vec<_> = log
        .records
        .iter()
        .map(|record| format!("log: {}", record.message))
        .collect();
    if log.dropped > 0 {
        lines.push(format!("{} log lines dropped", log.dropped));
    }
    let streams = [("stdout", &log.stdout), ("stderr", &log.stderr)];
    let written_streams = streams.into_iter().filter(|(_, text)| !text.is_empty());
    lines.extend(written_streams.map(|(name, text)| format!("{name}: {}", text.trim_end())));
    lines
}
