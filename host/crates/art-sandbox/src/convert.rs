//! Converts between the types that are generated from `wit/tool.wit` and the types of `art-core`.

use art_core::JsonObject;
use art_core::error::ToolErrorCode;
use art_core::json::with_exact_integers;
use art_core::outcome::{Attachment, Ending, Failure, SubtaskRequest, Success, Suspension};
use art_core::tool::{ExecutionContext, Source, ToolExample, ToolSchema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::bindings::types;
use crate::schema_text::{ExampleText, SchemaText};

/// The error for a field from the guest that is too large, or is not the JSON that `wit/tool.wit` requires.
pub(crate) struct InvalidField(String);

impl InvalidField {
    /// Returns the name of the field and the reason, in one sentence.
    pub(crate) fn into_reason(self) -> String {
        self.0
    }
}

/// Maximum size in bytes of a JSON field, except for the output, which is not parsed here. Parsed JSON takes many times the
/// memory of its text.
const MAX_FIELD_BYTES: usize = 64 << 10;

fn parse_json<T: DeserializeOwned>(field: &str, text: &str) -> Result<T, InvalidField> {
    if text.len() > MAX_FIELD_BYTES {
        let bytes = text.len();
        return Err(InvalidField(format!(
            "`{field}` has {bytes} bytes, more than the {MAX_FIELD_BYTES} allowed"
        )));
    }
    serde_json::from_str(text).map_err(|error| InvalidField(format!("`{field}` is invalid: {error}")))
}

fn parse_optional_json<T: DeserializeOwned>(field: &str, text: Option<&String>) -> Result<Option<T>, InvalidField> {
    text.map(|text| parse_json(field, text)).transpose()
}

/// Parses a value that a call returns, in which an integer of more than 64 bits becomes a string.
fn parse_exact_json<T: DeserializeOwned>(field: &str, text: Option<&String>) -> Result<Option<T>, InvalidField> {
    text.map(|text| parse_json(field, &with_exact_integers(text)))
        .transpose()
}

/// Converts the schema of a tool, which the tool's own function `schema()` returns, and parses its JSON fields.
pub(crate) fn schema(schema: &SchemaText) -> Result<ToolSchema, InvalidField> {
    Ok(ToolSchema {
        input_schema: parse_json("input-schema", &schema.input_schema)?,
        output_schema: parse_optional_json("output-schema", schema.output_schema.as_ref())?,
        blocking_config: parse_optional_json("blocking-config", schema.blocking_config.as_ref())?,
        display_config: parse_optional_json("display-config", schema.display_config.as_ref())?,
        examples: schema
            .examples
            .iter()
            .map(example)
            .collect::<Result<Vec<_>, _>>()?
            .into(),
        execution_mode: schema.execution_mode,
        name: schema.name.clone(),
        description: schema.description.clone(),
    })
}

fn example(example: &ExampleText) -> Result<ToolExample, InvalidField> {
    Ok(ToolExample {
        input: parse_json("input of an example", &example.input)?,
        output: parse_optional_json("output of an example", example.output.as_ref())?,
        description: example.description.clone(),
    })
}

/// Converts the context of a call into the form that the tool gets. `hitl` (human in the loop) is the
/// decision of a person for which the call waited.
pub(crate) fn context(context: &ExecutionContext) -> types::ExecutionContext {
    types::ExecutionContext {
        thread_id: context.thread_id.clone(),
        trace_id: context.trace_id.clone(),
        call_id: context.call_id.clone(),
        user_id: context.user_id.clone(),
        session_id: context.session_id.clone(),
        hitl: context.hitl_context.as_ref().map(|hitl| types::HitlContext {
            suspension_id: hitl.suspension_id.clone().unwrap_or_default(),
            approved: hitl.was_approved.unwrap_or_default(),
            feedback: hitl.feedback.clone().unwrap_or(Value::Null).to_string(),
            original_arguments: hitl.original_args.clone().unwrap_or(Value::Null).to_string(),
        }),
    }
}

/// Converts the outcome that the tool returned. One invalid JSON field makes the whole outcome [`Ending::InvalidOutput`].
pub(crate) fn ending(outcome: types::Outcome) -> Ending {
    let converted = match outcome {
        types::Outcome::Success(success) => self::success(success).map(Ending::Success),
        types::Outcome::Failure(failure) => self::failure(failure).map(Ending::Failure),
        types::Outcome::Suspended(suspension) => self::suspension(&suspension).map(Ending::Suspended),
        types::Outcome::Continuation(request) => subtask(request).map(Ending::Continuation),
    };
    converted.unwrap_or_else(|InvalidField(reason)| Ending::InvalidOutput { reason })
}

/// Parses a JSON object. Returns an empty object if there is no text.
fn parse_object(field: &str, text: Option<&String>) -> Result<JsonObject, InvalidField> {
    Ok(parse_exact_json(field, text)?.unwrap_or_default())
}

fn success(success: types::Success) -> Result<Success, InvalidField> {
    Ok(Success {
        metadata: parse_object("metadata", success.metadata.as_ref())?,
        sources: success.sources.into_iter().map(source).collect::<Result<_, _>>()?,
        attachments: success
            .attachments
            .into_iter()
            .map(|attachment| Attachment {
                media_type: attachment.media_type,
                filename: attachment.filename,
                data: attachment.data,
            })
            .collect(),
        output: success.output,
        title: success.title,
    })
}

fn source(source: types::Source) -> Result<Source, InvalidField> {
    Ok(Source {
        extra: parse_object("extra of a source", source.extra.as_ref())?,
        source_name: source.source_name,
        url: source.url,
    })
}

fn failure(failure: types::Failure) -> Result<Failure, InvalidField> {
    Ok(Failure {
        code: error_code(failure.code),
        metadata: parse_object("metadata", failure.metadata.as_ref())?,
        message: failure.message,
        retryable: failure.retryable,
    })
}

fn suspension(suspension: &types::Suspension) -> Result<Suspension, InvalidField> {
    Ok(Suspension {
        message: suspension.message.clone(),
        details: parse_exact_json("details", suspension.details.as_ref())?,
        preview_data: parse_exact_json("preview", suspension.preview.as_ref())?,
        feedback_schema: parse_optional_json("feedback-schema", suspension.feedback_schema.as_ref())?,
    })
}

fn subtask(request: types::SubtaskRequest) -> Result<SubtaskRequest, InvalidField> {
    Ok(SubtaskRequest {
        inputs: Value::Object(parse_object("inputs", Some(&request.inputs))?),
        context_management: parse_optional_json("context-management", request.context_management.as_ref())?,
        description: request.description,
        template_hints: request.template_hints,
        max_depth: request.max_depth,
    })
}

fn error_code(code: types::ErrorCode) -> ToolErrorCode {
    match code {
        types::ErrorCode::ValidationError => ToolErrorCode::ValidationError,
        types::ErrorCode::IoError => ToolErrorCode::IoError,
        types::ErrorCode::ConfigError => ToolErrorCode::ConfigError,
        types::ErrorCode::PermissionDenied => ToolErrorCode::PermissionDenied,
        types::ErrorCode::RateLimited => ToolErrorCode::RateLimited,
        types::ErrorCode::NotFound => ToolErrorCode::NotFound,
        types::ErrorCode::LlmAssistRequired => ToolErrorCode::LlmAssistRequired,
        types::ErrorCode::Timeout => ToolErrorCode::Timeout,
        types::ErrorCode::Unknown => ToolErrorCode::Unknown,
    }
}
