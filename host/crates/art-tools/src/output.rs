//! Turns the ending of a call into its report. A failure never becomes a success (D16).

use art_core::JsonObject;
use art_core::error::ToolErrorCode as Code;
use art_core::outcome::{Attachment, Ending, Failure, Success, Suspension};
use art_core::text::truncate;
use art_core::tool::{AttachmentInfo, ParsedToolCall, Source, ToolResult, ToolStatus};
use serde_json::Value;

use crate::assist;
use crate::compiled::Tool;
use crate::parse;
use crate::report::{CallEnding, ToolReport, about};
use crate::shape::{MAX_DEPTH, MAX_NODES, Shape, text_len};

/// Maximum length of a title, in characters.
const MAX_TITLE: usize = 500;
/// Message for an error that has none (T4).
const UNEXPLAINED: &str = "Unknown execution error";
/// Maximum length of an error message, in characters.
const MAX_MESSAGE: usize = 8_000;
/// Maximum size of each value that accompanies an output (metadata, sources, parts of a suspension), in bytes.
const MAX_ASIDE_BYTES: usize = 64 << 10;
/// Maximum length of an identifier, a file name or a media type that a tool chose, in characters.
const MAX_NAME: usize = 200;

/// Maximum number of sources of one output.
const MAX_SOURCES: usize = 100;
/// Maximum number of attachments of one output.
const MAX_ATTACHMENTS: usize = 100;
/// Maximum length of the address of a source, in characters.
const MAX_URL: usize = 4_000;

/// Key in the metadata of a suspension: the schema of the answer as the tool wrote it, not validated.
pub const FEEDBACK_SCHEMA: &str = "feedbackSchema";
/// Key in the metadata: the identifier that the tool chose for its suspension (X2).
pub const TOOL_SUSPENSION_ID: &str = "toolSuspensionId";
/// Key in the metadata: true if the tool asks the model for help. The call has ended like any other: the model reads
/// the result and continues.
pub const ASSIST_REQUIRED: &str = "llmAssistRequired";
/// Keys of metadata that only the host may set.
const RESERVED: [&str; 10] = [
    "title",
    "sources",
    "attachments",
    "retryable",
    "notRun",
    "forDisplay",
    "logDigest",
    FEEDBACK_SCHEMA,
    TOOL_SUSPENSION_ID,
    ASSIST_REQUIRED,
];

/// Returns the report of a call with that ending. The output is parsed and validated here.
pub(crate) fn report(call: &ParsedToolCall, tool: &Tool, ending: Ending) -> ToolReport {
    let report = match ending {
        Ending::Success(success) => succeeded(call, tool, success),
        Ending::Suspended(suspension) => suspended(call, suspension),
        Ending::Failure(failure) => failed(call, failure),
        other => return ended(call, &other),
    };
    let mut report = report.unwrap_or_else(|reason| ended(call, &Ending::InvalidOutput { reason }));
    if assist::asks(&report.result) {
        let extra = &mut report.result.metadata.extra;
        extra.insert(ASSIST_REQUIRED.to_owned(), Value::Bool(true));
    }
    report
}

/// Returns the report of a call whose ending has no payload, or one that is ignored.
pub(crate) fn ended(call: &ParsedToolCall, ending: &Ending) -> ToolReport {
    let (code, text) = ending.error().unwrap_or_else(|| {
        let text = "asked for a subtask, which this host cannot run yet";
        (Code::NotImplemented, text.to_owned())
    });
    let text = match ending {
        Ending::Denied { .. } => format!("was denied a right: {text}"),
        _ => text,
    };
    let text = about(&call.tool_name, &truncate(&text, MAX_MESSAGE));
    ToolReport::error(call, ending.into(), code, text)
}

fn succeeded(call: &ParsedToolCall, tool: &Tool, success: Success) -> Result<ToolReport, String> {
    let bytes = u64::try_from(success.output.len()).unwrap_or(u64::MAX);
    if bytes > tool.limits.output_bytes {
        return Err(format!("{bytes} bytes, more than {}", tool.limits.output_bytes));
    }
    let (output, shape) = parse::strict(&success.output).map_err(|error| error.to_string())?;
    if let Some(schema) = &tool.output {
        schema
            .check(&output, &shape, "output")
            .map_err(|violations| violations.to_string())?;
    }
    let mut result = ToolResult::success(call, output);
    let metadata = &mut result.metadata;
    metadata.title = success.title.map(|title| truncate(&title, MAX_TITLE));
    metadata.sources = sources(success.sources)?;
    metadata.attachments = attachments(&success.attachments)?;
    metadata.extra = extra(success.metadata)?;
    metadata.for_display = tool.is_display();
    let ending = if fail_if_metadata_has_error(&mut result) {
        CallEnding::Failure
    } else {
        CallEnding::Success
    };
    Ok(ToolReport {
        text: Some(success.output),
        attachments: success.attachments.into(),
        ..ToolReport::new(result, ending)
    })
}

/// Turns a success into an error if its metadata has an `error` that is a text or `true`. Returns whether it did (C81).
/// The output is kept, because it may contain more detail.
fn fail_if_metadata_has_error(result: &mut ToolResult) -> bool {
    let error = match result.metadata.extra.get("error") {
        Some(Value::String(error)) if !error.is_empty() => truncate(error, MAX_MESSAGE),
        Some(Value::Bool(true)) => UNEXPLAINED.to_owned(),
        _ => return false,
    };
    let code = match error.as_str() {
        assist::ASSIST => Code::LlmAssistRequired,
        _ => Code::Unknown,
    };
    result.status = ToolStatus::Error;
    result.error = Some(error);
    result.code = Some(code);
    true
}

fn suspended(call: &ParsedToolCall, suspension: Suspension) -> Result<ToolReport, String> {
    let own_id = suspension
        .details
        .as_ref()
        .and_then(|details| details.get("suspensionId"));
    let mut more = JsonObject::new();
    if let Some(own_id) = own_id {
        more.insert("suspensionId".to_owned(), own_id.clone());
    }
    let mut output = JsonObject::new();
    output.insert("message".to_owned(), truncate(&suspension.message, MAX_MESSAGE).into());
    for (name, part) in [
        ("details", suspension.details),
        ("previewData", suspension.preview_data),
    ] {
        if let Some(part) = part {
            output.insert(name.to_owned(), aside(part)?);
        }
    }
    let mut result = ToolResult::success(call, Value::Object(output));
    result.status = ToolStatus::Suspended;
    result.metadata.suspension_id = Some(art_core::id::random());
    result.metadata.extra = extra(more)?;
    if let Some(schema) = suspension.feedback_schema {
        result.metadata.extra.insert(FEEDBACK_SCHEMA.to_owned(), aside(schema)?);
    }
    Ok(ToolReport::new(result, CallEnding::Suspended))
}

/// Returns the report of a failure. The message is the one that the tool wrote (T4).
fn failed(call: &ParsedToolCall, failure: Failure) -> Result<ToolReport, String> {
    let message = match failure.message.as_str() {
        "" => UNEXPLAINED.to_owned(),
        message => truncate(message, MAX_MESSAGE),
    };
    let mut result = ToolResult::error(call, failure.code, message);
    result.metadata.retryable = failure.retryable;
    result.metadata.extra = extra(failure.metadata)?;
    Ok(ToolReport::new(result, CallEnding::Failure))
}

/// Returns the metadata of a tool without the keys that only the host may set. The identifier that the tool chose for a
/// suspension is kept under another key (X2).
fn extra(metadata: JsonObject) -> Result<JsonObject, String> {
    let Value::Object(mut extra) = aside(Value::Object(metadata))? else {
        return Ok(JsonObject::new());
    };
    if extra.is_empty() {
        return Ok(extra);
    }
    let own_id = extra.shift_remove("suspensionId");
    extra.retain(|name, _| !RESERVED.contains(&name.as_str()));
    if let Some(Value::String(own_id)) = own_id {
        let own_id = truncate(&own_id, MAX_NAME);
        extra.insert(TOOL_SUSPENSION_ID.to_owned(), own_id.into());
    }
    Ok(extra)
}

/// Checks that a value that accompanies an output is small enough to be stored with the result.
fn aside(value: Value) -> Result<Value, String> {
    if value.as_object().is_some_and(JsonObject::is_empty) {
        return Ok(value);
    }
    // Check the depth first, because computing the length recurses.
    Shape::measure(&value, MAX_DEPTH, MAX_NODES).map_err(|problem| format!("metadata {problem}"))?;
    match text_len(&value) {
        bytes if bytes > MAX_ASIDE_BYTES => Err(format!("metadata of {bytes} bytes, more than {MAX_ASIDE_BYTES}")),
        _ => Ok(value),
    }
}

fn sources(sources: Vec<Source>) -> Result<Vec<Source>, String> {
    if sources.len() > MAX_SOURCES {
        return Err(format!("{} sources, more than {MAX_SOURCES}", sources.len()));
    }
    let clean = |source: Source| {
        let mut extra = aside(Value::Object(source.extra)).map(|extra| match extra {
            Value::Object(extra) => extra,
            _ => JsonObject::new(),
        })?;
        // These keys are already the fields of a source.
        extra.retain(|name, _| name != "sourceName" && name != "url");
        Ok(Source {
            source_name: truncate(&source.source_name, MAX_TITLE),
            url: source.url.map(|url| truncate(&url, MAX_URL)),
            extra,
        })
    };
    sources.into_iter().map(clean).collect()
}

fn attachments(attachments: &[Attachment]) -> Result<Vec<AttachmentInfo>, String> {
    if attachments.len() > MAX_ATTACHMENTS {
        return Err(format!(
            "{} attachments, more than {MAX_ATTACHMENTS}",
            attachments.len()
        ));
    }
    let info = |attachment: &Attachment| AttachmentInfo {
        media_type: truncate(&attachment.media_type, MAX_NAME),
        filename: attachment.filename.as_ref().map(|name| truncate(name, MAX_NAME)),
        bytes: u64::try_from(attachment.data.len()).unwrap_or(u64::MAX),
        digest: None,
    };
    Ok(attachments.iter().map(info).collect())
}

#[cfg(test)]
mod tests;
