//! Between the generated types of the contract and the shared vocabulary.

use art_core::JsonObject;
use art_core::error::ToolErrorCode;
use art_core::outcome::{Attachment, Ending, Failure, SubtaskRequest, Success, Suspension};
use art_core::tool::{ExecutionContext, Source, ToolExample, ToolSchema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::bindings::types;
use crate::schema_text::{ExampleText, SchemaText};

/// A field of the guest that should be JSON and is not.
pub(crate) struct NotJson(String);

impl NotJson {
    pub(crate) fn into_reason(self) -> String {
        self.0
    }
}

/// Maximum bytes of one JSON field other than the output. Parsed JSON takes many times the memory of its text.
const MAX_SIDE_BYTES: usize = 64 << 10;

fn json<T: DeserializeOwned>(field: &str, text: &str) -> Result<T, NotJson> {
    if text.len() > MAX_SIDE_BYTES {
        let bytes = text.len();
        return Err(NotJson(format!(
            "`{field}` has {bytes} bytes, more than the {MAX_SIDE_BYTES} allowed"
        )));
    }
    serde_json::from_str(text).map_err(|error| NotJson(format!("`{field}` is invalid: {error}")))
}

fn json_option<T: DeserializeOwned>(field: &str, text: Option<&String>) -> Result<Option<T>, NotJson> {
    text.map(|text| json(field, text)).transpose()
}

pub(crate) fn schema(found: &SchemaText) -> Result<ToolSchema, NotJson> {
    Ok(ToolSchema {
        input_schema: json("input-schema", &found.input_schema)?,
        output_schema: json_option("output-schema", found.output_schema.as_ref())?,
        blocking_config: json_option("blocking-config", found.blocking_config.as_ref())?,
        display_config: json_option("display-config", found.display_config.as_ref())?,
        examples: found.examples.iter().map(example).collect::<Result<_, _>>()?,
        execution_mode: found.execution_mode,
        name: found.name.clone(),
        description: found.description.clone(),
    })
}

fn example(found: &ExampleText) -> Result<ToolExample, NotJson> {
    Ok(ToolExample {
        input: json("input of an example", &found.input)?,
        output: json_option("output of an example", found.output.as_ref())?,
        description: found.description.clone(),
    })
}

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

/// Returns how the tool itself ended the call. An invalid side field makes the whole ending invalid.
pub(crate) fn ending(found: types::Outcome) -> Ending {
    let converted = match found {
        types::Outcome::Success(success) => self::success(success).map(Ending::Success),
        types::Outcome::Failure(failure) => self::failure(failure).map(Ending::Failure),
        types::Outcome::Suspended(suspension) => self::suspension(&suspension).map(Ending::Suspended),
        types::Outcome::Continuation(request) => subtask(request).map(Ending::Continuation),
    };
    converted.unwrap_or_else(|NotJson(reason)| Ending::InvalidOutput { reason })
}

fn object(field: &str, text: Option<&String>) -> Result<JsonObject, NotJson> {
    Ok(json_option(field, text)?.unwrap_or_default())
}

fn success(found: types::Success) -> Result<Success, NotJson> {
    Ok(Success {
        metadata: object("metadata", found.metadata.as_ref())?,
        sources: found.sources.into_iter().map(source).collect::<Result<_, _>>()?,
        attachments: found
            .attachments
            .into_iter()
            .map(|a| Attachment {
                media_type: a.media_type,
                filename: a.filename,
                data: a.data,
            })
            .collect(),
        output: found.output,
        title: found.title,
    })
}

fn source(found: types::Source) -> Result<Source, NotJson> {
    Ok(Source {
        extra: object("extra of a source", found.extra.as_ref())?,
        source_name: found.source_name,
        url: found.url,
    })
}

fn failure(found: types::Failure) -> Result<Failure, NotJson> {
    Ok(Failure {
        code: error_code(found.code),
        metadata: object("metadata", found.metadata.as_ref())?,
        message: found.message,
        retryable: found.retryable,
    })
}

fn suspension(found: &types::Suspension) -> Result<Suspension, NotJson> {
    Ok(Suspension {
        message: found.message.clone(),
        details: json_option("details", found.details.as_ref())?,
        preview_data: json_option("preview", found.preview.as_ref())?,
        feedback_schema: json_option("feedback-schema", found.feedback_schema.as_ref())?,
    })
}

fn subtask(found: types::SubtaskRequest) -> Result<SubtaskRequest, NotJson> {
    Ok(SubtaskRequest {
        inputs: Value::Object(object("inputs", Some(&found.inputs))?),
        context_management: json_option("context-management", found.context_management.as_ref())?,
        description: found.description,
        template_hints: found.template_hints,
        max_depth: found.max_depth,
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
