//! Builds the questions to a person about a call: those of its tool, those of approval rules, and those about missing grants.

use art_core::Timestamp;
use art_core::capability::Denial;
use art_core::hitl::FeedbackSchema;
use art_core::suspension::{ExpiryAction, SuspendedCall, SuspensionCause};
use art_core::text::truncate;
use art_core::tool::{BlockingToolConfig, ParsedToolCall};
use serde_json::Value;

use super::prompt::{interpolate, one_line};
use super::{FormProblem, MAX_TEXT_CHARS, admit};
use crate::compiled::RegisteredTool;

/// Maximum length of the reason why an approval rule asks, in characters.
const MAX_RULE_REASON_CHARS: usize = 500;

/// What a tool asks, bounded in size.
#[derive(Debug, Default)]
pub(crate) struct ToolQuestion {
    /// The text of the question; may be empty.
    pub(crate) message: String,
    /// The form or the JSON Schema of the answer, not yet checked by [`admit`].
    pub(crate) form: Option<Value>,
    /// Information for the decision.
    pub(crate) details: Option<Value>,
    /// What happens on approval.
    pub(crate) preview: Option<Value>,
}

/// Returns the question of a tool that ran and ended as suspended. `ToolSystem::run` adds the time limit of the question.
///
/// # Errors
/// Fails if the form of the tool is not admitted.
pub(crate) fn question_of_tool(
    call: &ParsedToolCall,
    tool: &RegisteredTool,
    asked: ToolQuestion,
) -> Result<SuspendedCall, FormProblem> {
    let config = tool.schema.blocking_config.as_ref();
    let form = match asked.form.filter(|form| !form.is_null()) {
        Some(form) => admit(parse_form(form)?)?,
        None => config
            .and_then(|config| config.feedback_schema.clone())
            .unwrap_or_else(|| FeedbackSchema::confirm("")),
    };
    let form = with_prompt(form, prompt(call, config, &asked.message));
    Ok(SuspendedCall {
        details: asked.details,
        preview: asked.preview,
        // Without any settings the tool expects to run again and to find the decision in its context.
        runs_on_approval: config.is_none_or(|config| !config.completes_on_approval),
        ..question(call, tool, SuspensionCause::Tool, form)
    })
}

/// Returns the question of an approval rule about a call that has not run. `reason` says in words why the rule asks. If the tool
/// limits the time for a decision, this time begins at `now`. An approved call always runs, and the person may edit its
/// arguments.
pub(crate) fn question_of_rule(
    call: &ParsedToolCall,
    tool: &RegisteredTool,
    reason: &str,
    now: Timestamp,
) -> SuspendedCall {
    let config = tool.schema.blocking_config.as_ref();
    let prompt = prompt(call, config, "").unwrap_or_else(|| {
        let name = &call.tool_name;
        match config.and_then(|config| config.risk_level) {
            Some(risk) => format!("Run `{name}`? Its risk is {}.", risk.name()),
            None => format!("Run `{name}`?"),
        }
    });
    let mut form = FeedbackSchema::confirm(prompt);
    form.allow_modify_args = true;
    let reason = truncate(&one_line(reason), MAX_RULE_REASON_CHARS);
    let question = question(call, tool, SuspensionCause::Rule { reason }, form);
    let timeout_ms = config.and_then(|config| config.timeout_ms);
    SuspendedCall {
        expires: timeout_ms.map(|timeout_ms| now.saturating_add(timeout_ms)),
        ..question
    }
}

/// Returns the question whether to grant what a call needs, or `None` if grants could not allow the call. A person cannot edit
/// the arguments of the call, because the grants are made for these arguments.
pub(crate) fn question_of_grant(
    call: &ParsedToolCall,
    tool: &RegisteredTool,
    denials: &[Denial],
) -> Option<SuspendedCall> {
    let grant_commands = denials
        .iter()
        .map(|denial| denial.command.as_deref().filter(|_| denial.needs_grant()));
    let commands: Option<Vec<_>> = grant_commands.collect();
    let commands = commands.filter(|commands| !commands.is_empty())?;
    let prompt = format!("Grant what this call needs, now and later? {}", commands.join("; "));
    let cause = SuspensionCause::Grant {
        denials: denials.to_vec(),
    };
    Some(question(call, tool, cause, FeedbackSchema::confirm(prompt)))
}

fn question(
    call: &ParsedToolCall,
    tool: &RegisteredTool,
    cause: SuspensionCause,
    form: FeedbackSchema,
) -> SuspendedCall {
    let config = tool.schema.blocking_config.as_ref();
    SuspendedCall {
        suspension_id: art_core::id::random(),
        call: call.clone(),
        tool_digest: tool.digest.as_deref().map(str::to_owned),
        input_digest: input_digest(call.arguments.to_string().as_bytes()),
        cause,
        form,
        details: None,
        preview: None,
        risk_level: config.and_then(|config| config.risk_level),
        runs_on_approval: true,
        allow_retry: config.is_none_or(|config| config.allow_retry_on_reject),
        expires: None,
        on_expiry: ExpiryAction::Reject,
    }
}

/// Returns the digest of the input of a tool, written as in the journal and the store.
fn input_digest(input: &[u8]) -> String {
    format!("blake3:{}", blake3::hash(input).to_hex())
}

/// Reads a form. An object with `inputType` is a form, and everything else is the JSON Schema of an answer.
fn parse_form(mut value: Value) -> Result<FeedbackSchema, FormProblem> {
    let is_form = value.get("inputType").is_some();
    if !is_form {
        let mut form = FeedbackSchema::confirm("");
        form.input_type = art_core::hitl::InputType::Custom;
        form.custom_schema = Some(value);
        return Ok(form);
    }
    if let Some(members) = value.as_object_mut() {
        // The prompt may be missing, because the message of the tool can take its place.
        members.entry("prompt").or_insert_with(|| "".into());
    }
    serde_json::from_value(value).map_err(|error| FormProblem::NotAForm(truncate(&error.to_string(), 200)))
}

/// Returns the message of the tool, or else the prompt of its settings with the arguments filled in, if there is one.
fn prompt(call: &ParsedToolCall, config: Option<&BlockingToolConfig>, message: &str) -> Option<String> {
    if !message.trim().is_empty() {
        return Some(message.to_owned());
    }
    let template = config?.approval_prompt.as_deref()?;
    Some(interpolate(template, &call.arguments)).filter(|prompt| !prompt.trim().is_empty())
}

/// Returns the form with this prompt. If the form has a different prompt, that one becomes a part of the hint, because it may say
/// what to enter. If `prompt` is `None`, the form keeps its own prompt or, if that is empty, gets a general one.
fn with_prompt(mut form: FeedbackSchema, prompt: Option<String>) -> FeedbackSchema {
    match prompt {
        Some(prompt) if form.prompt != prompt => {
            let own = std::mem::replace(&mut form.prompt, prompt);
            let texts = [Some(own), form.hint.take()].into_iter().flatten();
            let hint = texts
                .filter(|text| !text.trim().is_empty())
                .collect::<Vec<_>>()
                .join("\n");
            // Twice the limit of a hint, because the prompt of the form is now a part of it.
            form.hint = (!hint.is_empty()).then(|| truncate(&hint, 2 * MAX_TEXT_CHARS));
        }
        Some(_) => {}
        None if form.prompt.trim().is_empty() => form.prompt = "The tool asks for a decision.".to_owned(),
        None => {}
    }
    form
}

#[cfg(test)]
mod tests;
