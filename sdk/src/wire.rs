//! Converts between the types of this crate and those of the contract (`wit/tool.wit`), which are in `types`. The functions
//! `wire_..` convert to the contract, the functions `.._from_wire` convert from it. The module exists only in a component.

use serde_json::{Map, Value};

use crate::bindings::art::tool::types;
use crate::bindings::exports::art::tool::tool::Guest;
use crate::tool::{Definition, Example, Mode, Tool};
use crate::{Attachment, Context, ErrorCode, Hitl, Outcome, Reply, Source, Subtask, Suspension, ToolError};

/// The exported functions of every component, implemented for each definition that `#[tool]` generates.
impl<D: Definition> Guest for D {
    fn schema() -> types::ToolSchema {
        let tool = Tool::from_definition::<D>();
        types::ToolSchema {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            input_schema: tool.input_schema().to_string(),
            output_schema: json_text(tool.output_schema()),
            execution_mode: wire_mode(tool.mode),
            blocking_config: tool.blocking_config(),
            display_config: tool.display_config(),
            examples: tool.examples.iter().map(wire_example).collect(),
        }
    }

    fn execute(input: String, context: types::ExecutionContext) -> types::Outcome {
        report_panics();
        wire_outcome(Tool::from_definition::<D>().run(&input, &context_from_wire(context)))
    }
}

/// Makes a component without WASI log the message of a panic, which would otherwise be lost. With WASI, the message goes to
/// standard error, which the host logs.
fn report_panics() {
    #[cfg(target_os = "unknown")]
    std::panic::set_hook(Box::new(|panic| {
        use crate::bindings::art::tool::host::{Level, log};
        let mut message = panic.to_string();
        // These are parts of the messages with which the standard library panics if it has no clock, or no function to sleep.
        if message.contains("not implemented on this platform") || message.contains("can't sleep") {
            message += " (hint: set `wasi = true` under `[package.metadata.art]` in `Cargo.toml`)";
        }
        log(Level::Error, &message);
    }));
}

/// Returns an object as JSON text.
pub(crate) fn object_text(object: &Map<String, Value>) -> String {
    // Cannot fail: keys are strings and values are JSON already.
    serde_json::to_string(object).unwrap_or_else(|_| "{}".to_owned())
}

fn json_text(value: Option<Value>) -> Option<String> {
    value.map(|value| value.to_string())
}

/// Returns an object as JSON text, or `None` if it is empty.
fn optional_object_text(object: &Map<String, Value>) -> Option<String> {
    (!object.is_empty()).then(|| object_text(object))
}

fn wire_mode(mode: Mode) -> types::ExecutionMode {
    match mode {
        Mode::Functional => types::ExecutionMode::Functional,
        Mode::Blocking => types::ExecutionMode::Blocking,
        Mode::Display => types::ExecutionMode::Display,
    }
}

fn wire_example(example: &Example) -> types::Example {
    types::Example {
        input: example.input.to_owned(),
        output: example.output.map(str::to_owned),
        // `ask` is a question of a person. In the contract, the field for it has the name `description`.
        description: example.ask.map(str::to_owned),
    }
}

fn context_from_wire(context: types::ExecutionContext) -> Context {
    Context {
        thread_id: context.thread_id,
        trace_id: context.trace_id,
        call_id: context.call_id,
        user_id: context.user_id,
        session_id: context.session_id,
        hitl: context.hitl.map(hitl_from_wire),
        host: crate::host::Host,
    }
}

fn hitl_from_wire(decision: types::HitlContext) -> Hitl {
    // The host serializes this JSON itself, so it always parses.
    let parse = |text: String| serde_json::from_str(&text).unwrap_or(Value::Null);
    Hitl {
        suspension_id: decision.suspension_id,
        approved: decision.approved,
        feedback: parse(decision.feedback),
        original_arguments: parse(decision.original_arguments),
    }
}

fn wire_outcome(outcome: Outcome<String>) -> types::Outcome {
    match outcome {
        Outcome::Success(reply) => types::Outcome::Success(wire_success(reply)),
        Outcome::Failure(error) => types::Outcome::Failure(wire_failure(error)),
        Outcome::Suspended(suspension) => types::Outcome::Suspended(wire_suspension(suspension)),
        Outcome::Continuation(subtask) => types::Outcome::Continuation(wire_subtask(subtask)),
    }
}

fn wire_success(reply: Reply<String>) -> types::Success {
    types::Success {
        output: reply.output,
        title: reply.title,
        sources: reply.sources.into_iter().map(wire_source).collect(),
        attachments: reply.attachments.into_iter().map(wire_attachment).collect(),
        metadata: optional_object_text(&reply.metadata),
    }
}

fn wire_source(source: Source) -> types::Source {
    types::Source {
        source_name: source.name,
        url: source.url,
        extra: optional_object_text(&source.extra),
    }
}

fn wire_attachment(file: Attachment) -> types::Attachment {
    types::Attachment {
        media_type: file.media_type,
        filename: file.filename,
        data: file.data,
    }
}

fn wire_failure(error: ToolError) -> types::Failure {
    types::Failure {
        code: wire_code(error.code),
        message: error.message,
        retryable: error.retryable,
        metadata: optional_object_text(&error.metadata),
    }
}

fn wire_code(code: ErrorCode) -> types::ErrorCode {
    match code {
        ErrorCode::ValidationError => types::ErrorCode::ValidationError,
        ErrorCode::IoError => types::ErrorCode::IoError,
        ErrorCode::ConfigError => types::ErrorCode::ConfigError,
        ErrorCode::PermissionDenied => types::ErrorCode::PermissionDenied,
        ErrorCode::RateLimited => types::ErrorCode::RateLimited,
        ErrorCode::NotFound => types::ErrorCode::NotFound,
        ErrorCode::LlmAssistRequired => types::ErrorCode::LlmAssistRequired,
        ErrorCode::Timeout => types::ErrorCode::Timeout,
        ErrorCode::Unknown => types::ErrorCode::Unknown,
    }
}

fn wire_suspension(suspension: Suspension) -> types::Suspension {
    types::Suspension {
        message: suspension.message,
        details: json_text(suspension.details),
        preview: json_text(suspension.preview),
        feedback_schema: json_text(suspension.feedback_schema),
    }
}

fn wire_subtask(subtask: Subtask) -> types::SubtaskRequest {
    types::SubtaskRequest {
        description: subtask.description,
        inputs: subtask.inputs.to_string(),
        template_hints: subtask.template_hints,
        max_depth: subtask.max_depth,
        context_management: json_text(subtask.context_management),
    }
}
