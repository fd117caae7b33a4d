//! Tools whose effects outlive the process, so that a test can count the effects.

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

/// The variable with the file to which the tools append.
const EFFECTS_VARIABLE: &str = "ART_TEST_EFFECTS";

/// Adds the tools, if a test named the file of their effects.
pub(crate) fn add(builder: RuntimeBuilder<'_>) -> RuntimeBuilder<'_> {
    match std::env::var_os(EFFECTS_VARIABLE) {
        None => builder,
        Some(file) => builder
            .tool(tool("effect", file.clone()))
            .tool(tool("repeatable_effect", file).repeatable()),
    }
}

fn tool(name: &'static str, file: OsString) -> DirectTool {
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
        execution_mode: ExecutionMode::Functional,
        blocking_config: None,
        display_config: None,
    };
    let execute = move |call| act(name, file.clone(), call);
    DirectTool::new(schema, execute).with_limits(Limits {
        timeout_ms: 60_000,
        ..Limits::EXECUTE
    })
}

/// Waits, writes the line, and waits again, `ms` milliseconds in total, so that a kill can fall before or after the effect.
async fn act(name: &'static str, file: OsString, call: DirectCall) -> Ending {
    let ms = call.arguments.get("ms").and_then(Value::as_u64).unwrap_or_default();
    let key = call.arguments.get("key").and_then(Value::as_str).unwrap_or_default();
    let half = Duration::from_millis(ms / 2);
    tokio::time::sleep(half).await;
    let context = &call.context;
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
