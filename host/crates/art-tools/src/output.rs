//! Turns the ending of a call (a success, a failure, a suspension, a timeout and so on) into the report of the call, which
//! contains the result for the model. No output of a tool can turn a failure into a success (contract D16).

use std::collections::BTreeSet;

use art_core::JsonObject;
use art_core::capability::Denial;
use art_core::error::ToolErrorCode as Code;
use art_core::outcome::{Attachment, Ending, EndingKind, Failure, Success, Suspension};
use art_core::text::{printable, truncate};
use art_core::tool::{AttachmentInfo, ParsedToolCall, Source, ToolResult, ToolStatus};
use serde_json::Value;

use crate::assist;
use crate::compiled::RegisteredTool;
use crate::executor::CheckedCall;
use crate::form::{ToolQuestion, question_of_grant, question_of_tool};
use crate::parse;
use crate::report::{ToolReport, about_tool};
use crate::shape::{JsonSize, MAX_DEPTH, MAX_NODES, text_len};

/// Maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 500;
/// Message of a failure for which the tool gave no message (contract T4).
const DEFAULT_MESSAGE: &str = "Unknown execution error";
/// Maximum length of an error message, in characters.
const MAX_MESSAGE_CHARS: usize = 8_000;
/// Maximum number of lines of standard error that an error message has.
const MAX_STDERR_LINES: usize = 10;
/// Maximum length of these lines, in characters.
const MAX_STDERR_CHARS: usize = 1_000;
/// Maximum size of each value that accompanies an output (metadata, sources, parts of a suspension), in bytes.
const MAX_METADATA_BYTES: usize = 64 << 10;
/// Maximum length of an identifier, a file name or a media type that a tool chose, in characters.
const MAX_NAME_CHARS: usize = 200;

/// Maximum number of sources of one output.
const MAX_SOURCES: usize = 100;
/// Maximum number of attachments of one output.
const MAX_ATTACHMENTS: usize = 100;
/// Maximum length of the address of a source, in characters.
const MAX_URL_CHARS: usize = 4_000;

/// Key in the metadata: the identifier that the tool chose for its suspension (contract X2).
pub const TOOL_SUSPENSION_ID: &str = "toolSuspensionId";
/// Key in the metadata: true if the tool asks the model for help. The model reads the result like any other and
/// continues.
pub const ASSIST_REQUIRED: &str = "llmAssistRequired";
/// Keys of metadata that only the host may set. They are removed from the metadata of a tool. `suspensionId` is missing here,
/// because it is not removed but renamed to [`TOOL_SUSPENSION_ID`].
const RESERVED_KEYS: [&str; 11] = [
    "title",
    "sources",
    "attachments",
    "retryable",
    "notRun",
    "denials",
    "forDisplay",
    "logDigest",
    "rejected",
    TOOL_SUSPENSION_ID,
    ASSIST_REQUIRED,
];

/// Parses and validates the output of a call, and returns the report of the call. Only the report of a suspension contains the
/// arguments, so for other endings the arguments of `call` may be missing.
pub(crate) fn report(call: &ParsedToolCall, tool: &RegisteredTool, ending: Ending) -> ToolReport {
    let report = match ending {
        Ending::Success(success) => success_report(call, tool, success),
        Ending::Suspended(suspension) => suspension_report(call, tool, suspension),
        Ending::Failure(failure) => failure_report(call, failure),
        other => return report_without_tool_result(call, &other),
    };
    let mut report =
        report.unwrap_or_else(|reason| report_without_tool_result(call, &Ending::InvalidOutput { reason }));
    if assist::is_requested(&report.result) {
        let extra = &mut report.result.metadata.extra;
        extra.insert(ASSIST_REQUIRED.to_owned(), Value::Bool(true));
    }
    report
}

/// Returns the report of a call that ended without a result of its tool.
pub(crate) fn report_without_tool_result(call: &ParsedToolCall, ending: &Ending) -> ToolReport {
    let (code, text) = ending.error().unwrap_or_else(|| {
        // The only ending here without an error is `Ending::Continuation`: the tool asked for a subtask.
        let text = "asked for a subtask, which this host cannot run yet";
        (Code::NotImplemented, text.to_owned())
    });
    let text = match ending {
        Ending::Denied { .. } => format!("was denied a right: {text}"),
        _ => text,
    };
    let text = about_tool(&call.tool_name, &truncate(&text, MAX_MESSAGE_CHARS));
    ToolReport::error(call, ending.into(), code, text)
}

/// Adds what a call that ran was denied, and the end of its standard error if it broke off. Whatever a tool reports itself may
/// follow from any denial. A call that broke off may only follow from some of them: the others are mentioned, and are no denials
/// of the call.
pub(crate) fn add_denials_of_run(report: &mut ToolReport, denials: Vec<Denial>, call: &CheckedCall, stderr: &str) {
    if !matches!(report.ending, EndingKind::Trap | EndingKind::InvalidOutput) {
        return add_denials(report, denials);
    }
    let may_explain = |denial: &Denial| call.grants().may_explain_trap(denial, &call.call().arguments);
    let (explaining, others): (Vec<_>, Vec<_>) = denials.into_iter().partition(may_explain);
    if let Some(error) = &mut report.result.error {
        if let Some(lines) = last_lines(stderr) {
            error.push_str(&format!("; its standard error ends with: {lines}"));
        }
        if explaining.is_empty() && !others.is_empty() {
            error.push_str(&format!(" (before that, it was denied to {})", list(&others)));
        }
    }
    add_denials(report, explaining);
}

/// Returns the last lines of a text that are not empty, or `None` if there is none.
fn last_lines(text: &str) -> Option<String> {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(MAX_STDERR_LINES)..)?.join("\n");
    let excess = last.chars().count().saturating_sub(MAX_STDERR_CHARS);
    let end: String = last.chars().skip(excess).collect();
    (!end.is_empty()).then(|| printable(&end))
}

/// Adds the `denials`: what the call was not allowed to do. If they may be the reason why the call failed, its error also lists
/// them, names the commands with which a person can allow them, and tells the model not to make the same call again. A call that
/// only the operating system denied something is an I/O error.
pub(crate) fn add_denials(report: &mut ToolReport, denials: Vec<Denial>) {
    let may_be_reason = !denials.is_empty() && may_follow_from_denials(report.ending);
    if let (Some(error), true) = (&mut report.result.error, may_be_reason) {
        if !error.ends_with(['.', '!', '?']) {
            error.push('.');
        }
        error.push_str(&describe_denials(&denials));
        let by_system = denials.iter().all(|denial| denial.by_system);
        (report.ending, report.result.code) = match by_system {
            true => (EndingKind::Failure, Some(Code::IoError)),
            false => (EndingKind::Denied, Some(Code::PermissionDenied)),
        };
        report.result.metadata.retryable = false;
    }
    report.result.metadata.denials = denials;
}

/// Returns whether a call may have ended like this because it was denied something. A call that the host stopped, for example at
/// its time limit, ended for another reason.
const fn may_follow_from_denials(ending: EndingKind) -> bool {
    matches!(
        ending,
        EndingKind::Failure | EndingKind::Denied | EndingKind::Trap | EndingKind::InvalidOutput
    )
}

fn describe_denials(denials: &[Denial]) -> String {
    if denials.iter().all(|denial| denial.by_system) {
        let list = list(denials);
        return format!(" The operating system denied: {list}. Do not make the same call again.");
    }
    let commands: BTreeSet<_> = denials.iter().filter_map(|denial| denial.command.as_deref()).collect();
    let advice = if commands.is_empty() {
        "Do not make the same call again.".to_owned()
    } else {
        let commands = Vec::from_iter(commands).join("`, `");
        format!("Only a person can allow this, with `{commands}`: say so, and do not make the same call again.")
    };
    format!(" The host denied: {}. {advice}", list(denials))
}

fn list(denials: &[Denial]) -> String {
    let list: Vec<_> = denials.iter().map(ToString::to_string).collect();
    list.join("; ")
}

/// Returns the report of a call that was not run because it lacks a grant. If a person could give the grant, the report contains
/// the question whether to do so.
pub(crate) fn denial_report(call: &ParsedToolCall, tool: &RegisteredTool, denials: Vec<Denial>) -> ToolReport {
    let question = question_of_grant(call, tool, &denials);
    let text = about_tool(&call.tool_name, "was not run.");
    let mut report = ToolReport::error(call, EndingKind::Denied, Code::PermissionDenied, text).marked_not_run();
    report.grant_question = question.map(Box::new);
    add_denials(&mut report, denials);
    report
}

fn success_report(call: &ParsedToolCall, tool: &RegisteredTool, success: Success) -> Result<ToolReport, String> {
    let bytes = u64::try_from(success.output.len()).unwrap_or(u64::MAX);
    if bytes > tool.limits.output_bytes {
        return Err(format!(
            "{bytes} bytes, more than the {} that `output_bytes` allows",
            tool.limits.output_bytes
        ));
    }
    let (output, size, exact_output) = parse::exact(&success.output).map_err(|error| error.to_string())?;
    if let Some(schema) = &tool.output_schema {
        schema
            .check(&output, &size, "output")
            .map_err(|violations| violations.to_string())?;
    }
    let mut result = ToolResult::success(call, exact_output.unwrap_or(output));
    let metadata = &mut result.metadata;
    metadata.title = success.title.map(|title| truncate(&title, MAX_TITLE_CHARS));
    metadata.sources = limit_sources(success.sources)?;
    metadata.attachments = describe_attachments(&success.attachments)?;
    metadata.extra = allowed_metadata(success.metadata)?;
    metadata.for_display = tool.is_display();
    let ending = if fail_if_metadata_has_error(&mut result) {
        EndingKind::Failure
    } else {
        EndingKind::Success
    };
    Ok(ToolReport {
        attachments: success.attachments.into(),
        ..ToolReport::new(result, ending)
    })
}

/// Turns a success into an error if its metadata has an `error` that is a non-empty text or `true` (contract C81).
/// Returns whether there was such an `error`. The output is kept, because it may contain more detail.
fn fail_if_metadata_has_error(result: &mut ToolResult) -> bool {
    let error = match result.metadata.extra.get("error") {
        Some(Value::String(error)) if !error.is_empty() => truncate(error, MAX_MESSAGE_CHARS),
        Some(Value::Bool(true)) => DEFAULT_MESSAGE.to_owned(),
        _ => return false,
    };
    let code = match error.as_str() {
        assist::ASSIST_REQUEST => Code::LlmAssistRequired,
        _ => Code::Unknown,
    };
    result.status = ToolStatus::Error;
    result.error = Some(error);
    result.code = Some(code);
    true
}

/// Returns the report of a suspension (contract C19), with the question to the person. Any tool may suspend its call
/// (contract P64).
fn suspension_report(
    call: &ParsedToolCall,
    tool: &RegisteredTool,
    suspension: Suspension,
) -> Result<ToolReport, String> {
    let asked = ToolQuestion {
        message: truncate(&suspension.message, MAX_MESSAGE_CHARS),
        form: suspension
            .feedback_schema
            .map(|form| check_size("form", form))
            .transpose()?,
        details: suspension
            .details
            .map(|details| check_size("details", details))
            .transpose()?,
        preview: suspension
            .preview_data
            .map(|preview| check_size("preview", preview))
            .transpose()?,
    };
    let mut result = ToolResult::success(call, suspension_output(&asked));
    let id_chosen_by_tool = asked.details.as_ref().and_then(|details| details.get("suspensionId"));
    if let Some(id) = id_chosen_by_tool {
        insert_tool_suspension_id(&mut result.metadata.extra, id);
    }
    let question =
        question_of_tool(call, tool, asked).map_err(|problem| format!("the form of its question: {problem}"))?;
    result.status = ToolStatus::Suspended;
    result.metadata.suspension_id = Some(question.suspension_id.clone());
    Ok(ToolReport {
        suspension: Some(Box::new(question)),
        ..ToolReport::new(result, EndingKind::Suspended)
    })
}

/// Returns the output of a call that ended as suspended: what the tool asks, without the form.
fn suspension_output(asked: &ToolQuestion) -> Value {
    let mut output = JsonObject::new();
    output.insert("message".to_owned(), asked.message.as_str().into());
    let values = [("details", &asked.details), ("previewData", &asked.preview)];
    let given = values
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)));
    output.extend(given);
    Value::Object(output)
}

/// Returns the report of a failure. The message is the one that the tool wrote (contract T4).
fn failure_report(call: &ParsedToolCall, failure: Failure) -> Result<ToolReport, String> {
    let message = match failure.message.as_str() {
        "" => DEFAULT_MESSAGE.to_owned(),
        message => truncate(message, MAX_MESSAGE_CHARS),
    };
    let mut result = ToolResult::error(call, failure.code, message);
    result.metadata.retryable = failure.retryable;
    result.metadata.extra = allowed_metadata(failure.metadata)?;
    Ok(ToolReport::new(result, EndingKind::Failure))
}

/// Returns the metadata of a tool without the keys that only the host may set. The identifier that the tool chose for a
/// suspension is kept under another key (contract X2).
fn allowed_metadata(metadata: JsonObject) -> Result<JsonObject, String> {
    let mut extra = check_object_size("metadata", metadata)?;
    let suspension_id = extra.shift_remove("suspensionId");
    extra.retain(|name, _| !RESERVED_KEYS.contains(&name.as_str()));
    if let Some(id) = suspension_id {
        insert_tool_suspension_id(&mut extra, &id);
    }
    Ok(extra)
}

/// Adds the identifier that the tool chose for its suspension, if it is a text.
fn insert_tool_suspension_id(metadata: &mut JsonObject, id: &Value) {
    if let Value::String(id) = id {
        metadata.insert(TOOL_SUSPENSION_ID.to_owned(), truncate(id, MAX_NAME_CHARS).into());
    }
}

fn check_object_size(name: &str, object: JsonObject) -> Result<JsonObject, String> {
    match check_size(name, Value::Object(object))? {
        Value::Object(object) => Ok(object),
        // Never happens: the check returns the object unchanged.
        _ => Ok(JsonObject::new()),
    }
}

/// Returns a value that accompanies an output, or fails if it is too large to be stored with the result. `name` says in the error
/// what the value is.
fn check_size(name: &str, value: Value) -> Result<Value, String> {
    // Check the depth first, because computing the length recurses.
    JsonSize::measure(&value, MAX_DEPTH, MAX_NODES).map_err(|problem| format!("{name} {problem}"))?;
    match text_len(&value) {
        bytes if bytes > MAX_METADATA_BYTES => Err(format!("{name} of {bytes} bytes, more than {MAX_METADATA_BYTES}")),
        _ => Ok(value),
    }
}

fn limit_sources(sources: Vec<Source>) -> Result<Vec<Source>, String> {
    if sources.len() > MAX_SOURCES {
        return Err(format!("{} sources, more than {MAX_SOURCES}", sources.len()));
    }
    sources.into_iter().map(limit_source).collect()
}

fn limit_source(source: Source) -> Result<Source, String> {
    let mut extra = check_object_size("source", source.extra)?;
    // These keys are already the fields of a source.
    extra.retain(|name, _| name != "sourceName" && name != "url");
    Ok(Source {
        source_name: truncate(&source.source_name, MAX_TITLE_CHARS),
        url: source.url.map(|url| truncate(&url, MAX_URL_CHARS)),
        extra,
    })
}

fn describe_attachments(attachments: &[Attachment]) -> Result<Vec<AttachmentInfo>, String> {
    if attachments.len() > MAX_ATTACHMENTS {
        return Err(format!(
            "{} attachments, more than {MAX_ATTACHMENTS}",
            attachments.len()
        ));
    }
    let info = |attachment: &Attachment| AttachmentInfo {
        media_type: truncate(&attachment.media_type, MAX_NAME_CHARS),
        filename: attachment.filename.as_ref().map(|name| truncate(name, MAX_NAME_CHARS)),
        bytes: u64::try_from(attachment.data.len()).unwrap_or(u64::MAX),
        // Set when the attachment is stored.
        digest: None,
    };
    Ok(attachments.iter().map(info).collect())
}

#[cfg(test)]
mod tests;
