//! A call that waits for a decision, as a text for the person who decides. Words that come from a tool, a model or a file are
//! quoted, so that they cannot look like a line of the host. They stand either in indented lines that begin with `|`, or, after
//! their line ends were removed, inside a line that begins with words of the host.

use art_core::hitl::{FeedbackSchema, InputType, InputValidation};
use art_core::suspension::{ExpiryAction, SuspendedCall, SuspensionCause};
use art_core::text::{prefix, printable, truncate};
use art_store::{SuspensionRecord, SuspensionStatus};
use serde_json::Value;

use crate::render::{self, suggestions, units};

/// Maximum number of lines of one quoted value in the text of a [`question`]. The text of [`details`] has all lines.
const MAX_LINES: usize = 12;
/// Maximum length of a quoted line in the text of a question, in characters.
const MAX_LINE_CHARS: usize = 160;
/// Minimum length of the pieces into which long lines are split, in characters. It applies to very narrow terminals.
const MIN_WIDTH: usize = 20;

/// Returns a question as it is asked. Long values are cut, with a note on how to see them in full.
pub(super) fn question(record: &SuspensionRecord) -> String {
    describe(record, Some(MAX_LINES))
}

/// Returns everything about a question.
pub(super) fn details(record: &SuspensionRecord) -> String {
    describe(record, None)
}

/// Returns the message about a decision that the call does not accept. `problem` is quoted, because it may contain words of a
/// tool.
pub(super) fn refused_decision(problem: &str) -> String {
    format!(
        "this cannot be taken:\n{}",
        quote_lines(problem, Some(MAX_LINES)).join("\n")
    )
}

/// Returns the lines that say how to decide from another terminal.
pub(super) fn how_to_decide(record: &SuspensionRecord) -> String {
    let mut text = format!("waits for a decision about `{}`, from any terminal:", tool_name(record));
    for verb in ["show", "yes", "no"] {
        let command = format!("art approve {verb} {}", record.id());
        text.push_str(&format!("\n  {}", suggestions::command(&command)));
    }
    text
}

fn tool_name(record: &SuspensionRecord) -> &str {
    &record.call.call.tool_name
}

/// Returns the text about a call that waits. Quoted values with more than `max_lines` lines are cut.
fn describe(record: &SuspensionRecord, max_lines: Option<usize>) -> String {
    let call = &record.call;
    let mut lines = vec![headline(record)];
    lines.extend(quote_lines(&call.form.prompt, max_lines));
    lines.push(format!("arguments ({}):", call.input_digest));
    lines.extend(quote_lines(&to_pretty_json(&call.call.arguments), max_lines));
    for (name, value) in [("details", &call.details), ("preview", &call.preview)] {
        if let Some(value) = value {
            lines.push(format!("{name}:"));
            lines.extend(quote_lines(&to_readable(value), max_lines));
        }
    }
    lines.extend(answer_lines(&call.form, max_lines));
    lines.push(consequence(call));
    lines.push(format!(
        "decision {}\nrun {}, thread {}, step {}",
        record.id(),
        record.trace_id,
        record.thread_id,
        one_line(&record.item_id)
    ));
    lines.join("\n")
}

/// Returns the first line: who asks, the declared risk of the tool, and what happens when the time to decide is over.
fn headline(record: &SuspensionRecord) -> String {
    let call = &record.call;
    let mut line = match &call.cause {
        SuspensionCause::Tool => format!("the tool `{}` asks", tool_name(record)),
        SuspensionCause::Rule { reason } => format!("may `{}` be called? ({})", tool_name(record), one_line(reason)),
        SuspensionCause::Grant { denials } => {
            let wants: Vec<_> = denials
                .iter()
                .map(|denial| format!("{} `{}`", denial.action, one_line(&denial.resource)))
                .collect();
            format!("may `{}` {}? It is not granted", tool_name(record), wants.join(" and "))
        }
    };
    if let Some(risk) = call.risk_level {
        line.push_str(&format!("; its risk is {}", risk.name()));
    }
    match (record.status, call.expires) {
        (SuspensionStatus::Open, Some(expires)) => {
            let outcome = match call.on_expiry {
                ExpiryAction::Reject => "rejected",
                ExpiryAction::Approve => "approved",
            };
            line.push_str(&format!("; counts as {outcome} {}", units::from_now(expires)));
        }
        (SuspensionStatus::Open, None) => {}
        (SuspensionStatus::Decided | SuspensionStatus::Settled, _) => line.push_str("; decided"),
        (SuspensionStatus::Closed, _) => line.push_str("; its run has ended"),
    }
    line
}

/// Returns what an approval causes.
fn consequence(call: &SuspendedCall) -> String {
    let effect = match (&call.cause, call.runs_on_approval) {
        (SuspensionCause::Rule { .. }, _) => "on approval the tool runs with these arguments",
        (SuspensionCause::Grant { .. }, _) => {
            "on approval the grant is made, also for later calls, and the tool runs with these arguments"
        }
        (SuspensionCause::Tool, true) => "on approval the tool goes on",
        (SuspensionCause::Tool, false) => "the decision is the result of the call; the tool does not run again",
    };
    effect.to_owned()
}

/// Returns how to answer, for questions that need more than yes or no.
fn answer_lines(form: &FeedbackSchema, max_lines: Option<usize>) -> Vec<String> {
    if matches!(form.input_type, InputType::Confirm) {
        return Vec::new();
    }
    let mut lines = vec![format!(
        "an approval has an answer: {}",
        expected_answer(form.input_type)
    )];
    let options = form.options.iter().enumerate().map(|(n, option)| {
        let disabled = if option.disabled { " (cannot be chosen)" } else { "" };
        format!("{}. {}{disabled}", n + 1, one_line(&option.label))
    });
    lines.extend(quote_lines(&options.collect::<Vec<_>>().join("\n"), max_lines));
    if let Some(hint) = &form.hint {
        lines.extend(quote_lines(hint, max_lines));
    }
    if let Some(default) = &form.default_value {
        lines.push("default answer:".to_owned());
        lines.extend(quote_lines(&to_readable(default), max_lines));
    }
    if let Some(schema) = &form.custom_schema {
        lines.push("the answer has to be valid under this schema:".to_owned());
        lines.extend(quote_lines(&to_pretty_json(schema), max_lines));
    }
    lines.extend(form.validation.as_ref().and_then(validation_line));
    lines
}

/// Returns the rules that an answer must meet, as JSON on one quoted line, if there are any.
fn validation_line(validation: &InputValidation) -> Option<String> {
    let rules = serde_json::to_string(validation).unwrap_or_default();
    (*validation != InputValidation::default()).then(|| format!("  | {}", truncate(&rules, MAX_LINE_CHARS)))
}

/// Returns which kind of answer a question expects, in words.
pub(super) const fn expected_answer(kind: InputType) -> &'static str {
    match kind {
        InputType::Boolean => "yes or no",
        InputType::Text => "a text",
        InputType::Select => "one of these",
        InputType::Multiselect => "some of these, separated by commas",
        InputType::Number => "a number",
        InputType::Date => "a date such as 2026-12-24",
        InputType::Datetime => "a time such as 2026-12-24T18:00:00Z",
        InputType::File => "a file, by its path",
        InputType::Confirm => "none",
        InputType::Custom => "JSON",
    }
}

/// Quotes a text that the host did not write: returns its lines, each with the mark `|`. If `max_lines` is given, further
/// lines are left out and long lines are cut.
fn quote_lines(text: &str, max_lines: Option<usize>) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    let text_lines: Vec<&str> = text.split(['\n', '\r']).collect();
    let shown_count = max_lines.unwrap_or(text_lines.len()).min(text_lines.len());
    // A character takes up to two columns.
    let width = render::stderr_width().map_or(usize::MAX, |columns| (columns / 2).max(MIN_WIDTH));
    let mut lines = Vec::new();
    for line in text_lines.iter().take(shown_count) {
        let line = match max_lines {
            Some(_) => truncate(line, MAX_LINE_CHARS),
            None => (*line).to_owned(),
        };
        lines.extend(split_and_quote(&printable(&line), width));
    }
    let mut shown_lines = text_lines.iter().take(shown_count);
    let has_cut_line = shown_lines.any(|line| line.chars().count() > MAX_LINE_CHARS);
    match (max_lines, text_lines.len() - shown_count) {
        (Some(_), hidden @ 1..) => lines.push(format!("  ({hidden} more lines; `details` shows them)")),
        (Some(_), 0) if has_cut_line => lines.push("  (cut; `details` shows all)".to_owned()),
        _ => {}
    }
    lines
}

/// Returns a line in pieces of at most `width` characters, each with the mark `|`. The terminal itself would break a longer
/// line, and begin the rest of it without the mark.
fn split_and_quote(line: &str, width: usize) -> Vec<String> {
    let (mut pieces, mut rest) = (Vec::new(), line);
    loop {
        let piece = prefix(rest, width);
        pieces.push(format!("  | {piece}"));
        rest = rest.get(piece.len()..).unwrap_or_default();
        if rest.is_empty() {
            return pieces;
        }
    }
}

/// Returns the quoted lines of a value as JSON.
pub(super) fn quoted_json_lines(value: &Value) -> Vec<String> {
    quote_lines(&to_pretty_json(value), None)
}

/// Returns a text as it is, and any other value as indented JSON.
fn to_readable(value: &Value) -> String {
    value.as_str().map_or_else(|| to_pretty_json(value), str::to_owned)
}

/// Returns JSON with sorted keys, so that equal arguments look equal.
fn to_pretty_json(value: &Value) -> String {
    serde_json::to_string_pretty(&sort_keys(value)).unwrap_or_default()
}

fn sort_keys(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(name, _)| name.as_str());
            let entries = entries
                .into_iter()
                .map(|(name, value)| (name.clone(), sort_keys(value)));
            Value::Object(entries.collect())
        }
        Value::Array(list) => list.iter().map(sort_keys).collect(),
        other => other.clone(),
    }
}

/// Returns a text without its line ends and, if it is long, cut.
pub(super) fn one_line(text: &str) -> String {
    truncate(&text.split_whitespace().collect::<Vec<_>>().join(" "), MAX_LINE_CHARS)
}

#[cfg(test)]
mod tests;
