//! The tools `effect` and `repeatable_effect`. Each call appends a line to a file: its effect. The file outlives the process, so
//! that a test can count the effects, also after a kill.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use art_runtime::art_core::error::ToolErrorCode;
use art_runtime::art_core::limits::Limits;
use art_runtime::art_core::outcome::Ending;
use art_runtime::art_core::tool::{ExecutionMode, ToolSchema};
use art_runtime::art_tools::direct::{DirectCall, failure, success};
use art_runtime::prelude::{DirectTool, json};
use art_runtime::{RuntimeBuilder, serde_json::Value};

/// The environment variable with the path of the file to which the tools append.
const EFFECTS_VARIABLE: &str = "ART_TEST_EFFECTS";

/// Adds the two tools, if [`EFFECTS_VARIABLE`] names a file.
pub(crate) fn add_tools(builder: RuntimeBuilder<'_>) -> RuntimeBuilder<'_> {
    match std::env::var_os(EFFECTS_VARIABLE) {
        None => builder,
        Some(file) => builder
            .tool(effect_tool("effect", file.clone()))
            // `repeatable`: if the host stopped during a call, it may make the call again.
            .tool(effect_tool("repeatable_effect", file).repeatable()),
    }
}

/// Returns the tool `name`, which appends to `file`. A call takes `ms` milliseconds, and its line contains `key`.
fn effect_tool(name: &'static str, file: OsString) -> DirectTool {
    let schema = ToolSchema {
        name: name.to_owned(),
        description: "Appends a line to a file outside of the sandbox, so that a test can count the calls.".to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {"key": {"type": "string"}, "ms": {"type": "integer", "minimum": 0}},
            "required": ["key", "ms"],
            "additionalProperties": false,
        })
        .into(),
        output_schema: None,
        examples: Vec::new().into(),
        // A call needs no decision of a person, and its output goes to the model.
        execution_mode: ExecutionMode::Functional,
        blocking_config: None,
        display_config: None,
    };
    let execute = move |call| append_between_waits(name, file.clone(), call);
    DirectTool::new(schema, execute).with_limits(Limits {
        // Longer than the default of 30 s, for tests that interrupt a slow call.
        timeout_ms: 60_000,
        ..Limits::EXECUTE
    })
}

/// Waits, writes the line, and waits again, `ms` milliseconds in total, so that a kill can fall before or after the effect.
async fn append_between_waits(name: &'static str, file: OsString, call: DirectCall) -> Ending {
    let ms = call.arguments.get("ms").and_then(Value::as_u64).unwrap_or_default();
    let key = call.arguments.get("key").and_then(Value::as_str).unwrap_or_default();
    let half = Duration::from_millis(ms / 2);
    tokio::time::sleep(half).await;
    let context = &call.context;
    // A line consists of the identifiers of the run and of the call, the name of the tool, and the key.
    let line = format!("{} {} {name} {key}\n", context.trace_id, context.call_id);
    if let Err(error) = append(Path::new(&file), &line) {
        return failure(ToolErrorCode::IoError, error.to_string());
    }
    tokio::time::sleep(half).await;
    success(&json!({"done": key}))
}

/// Appends a line in one write, and returns when it is on the disk.
fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(line.as_bytes())?;
    file.sync_data()
}
