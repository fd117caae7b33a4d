//! Redacts the outcome of a call. [`Outcome::intake`], which records what the call took in from outside so that the call can be
//! run again, is left as it is, because no secret is ever recorded there.

use std::borrow::Cow;

use serde_json::Value;

use super::Redactor;
use crate::JsonObject;
use crate::outcome::{Attachment, CallLog, Ending, Failure, Outcome, SubtaskRequest, Success, Suspension};
use crate::tool::Source;

impl Redactor {
    /// Replaces the secrets in an outcome. Returns the name of the first canary in it, or `None` if there is none. A canary is a
    /// decoy: a secret that is never sent, and that shows a leak wherever it is seen.
    pub fn redact_outcome(&self, outcome: &mut Outcome) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let mut redaction = OutcomeRedaction {
            redactor: self,
            canary: None,
        };
        redaction.redact_ending(&mut outcome.ending);
        redaction.redact_log(&mut outcome.log);
        for denial in &mut outcome.denials {
            redaction.redact_text(&mut denial.action);
            redaction.redact_text(&mut denial.resource);
            redaction.redact_text(&mut denial.reason);
            redaction.redact_optional_text(&mut denial.command);
        }
        for used in &mut outcome.uses {
            redaction.redact_text(&mut used.grant);
            redaction.redact_text(&mut used.resource);
        }
        redaction.canary
    }
}

/// The redaction of all texts of an outcome.
struct OutcomeRedaction<'a> {
    redactor: &'a Redactor,
    /// Name of the first canary that was found.
    canary: Option<String>,
}

impl OutcomeRedaction<'_> {
    fn redact_text(&mut self, text: &mut String) {
        let (clean, canary) = self.redactor.text_and_canary(text);
        self.note_canary(canary);
        if let Cow::Owned(clean) = clean {
            *text = clean;
        }
    }

    fn note_canary(&mut self, canary: Option<&str>) {
        if self.canary.is_none() {
            self.canary = canary.map(str::to_owned);
        }
    }

    fn redact_optional_text(&mut self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.redact_text(text);
        }
    }

    fn redact_bytes(&mut self, bytes: &mut Vec<u8>) {
        let (clean, canary) = self.redactor.bytes_and_canary(bytes);
        self.note_canary(canary);
        if let Cow::Owned(clean) = clean {
            *bytes = clean;
        }
    }

    fn redact_value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => self.redact_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(fields) => self.redact_object(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn redact_object(&mut self, fields: &mut JsonObject) {
        for (mut name, mut value) in std::mem::take(fields) {
            self.redact_text(&mut name);
            self.redact_value(&mut value);
            fields.insert(name, value);
        }
    }

    fn redact_optional_value(&mut self, value: &mut Option<Value>) {
        if let Some(value) = value {
            self.redact_value(value);
        }
    }

    fn redact_ending(&mut self, ending: &mut Ending) {
        match ending {
            Ending::Success(success) => self.redact_success(success),
            Ending::Failure(failure) => self.redact_failure(failure),
            Ending::Suspended(suspension) => self.redact_suspension(suspension),
            Ending::Continuation(request) => self.redact_subtask(request),
            Ending::Trap { message } | Ending::Denied { message } | Ending::HostError { message } => {
                self.redact_text(message)
            }
            Ending::InvalidOutput { reason } => self.redact_text(reason),
            Ending::FuelExhausted { .. }
            | Ending::Timeout { .. }
            | Ending::MemoryExhausted { .. }
            | Ending::StackOverflow
            | Ending::Cancelled
            | Ending::Busy => {}
        }
    }

    fn redact_success(&mut self, success: &mut Success) {
        self.redact_text(&mut success.output);
        self.redact_optional_text(&mut success.title);
        success.sources.iter_mut().for_each(|source| self.redact_source(source));
        success
            .attachments
            .iter_mut()
            .for_each(|attachment| self.redact_attachment(attachment));
        self.redact_object(&mut success.metadata);
    }

    fn redact_source(&mut self, source: &mut Source) {
        self.redact_text(&mut source.source_name);
        self.redact_optional_text(&mut source.url);
        self.redact_object(&mut source.extra);
    }

    fn redact_attachment(&mut self, attachment: &mut Attachment) {
        self.redact_text(&mut attachment.media_type);
        self.redact_optional_text(&mut attachment.filename);
        self.redact_bytes(&mut attachment.data);
    }

    fn redact_failure(&mut self, failure: &mut Failure) {
        self.redact_text(&mut failure.message);
        self.redact_object(&mut failure.metadata);
    }

    fn redact_suspension(&mut self, suspension: &mut Suspension) {
        self.redact_text(&mut suspension.message);
        self.redact_optional_value(&mut suspension.details);
        self.redact_optional_value(&mut suspension.preview_data);
        self.redact_optional_value(&mut suspension.feedback_schema);
    }

    fn redact_subtask(&mut self, request: &mut SubtaskRequest) {
        self.redact_text(&mut request.description);
        self.redact_value(&mut request.inputs);
        request
            .template_hints
            .iter_mut()
            .for_each(|hint| self.redact_text(hint));
        self.redact_optional_value(&mut request.context_management);
    }

    fn redact_log(&mut self, log: &mut CallLog) {
        log.records
            .iter_mut()
            .for_each(|record| self.redact_text(&mut record.message));
        self.redact_text(&mut log.stdout);
        self.redact_text(&mut log.stderr);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::capability::{Capability, Denial, GrantUse};
    use crate::error::ToolErrorCode;
    use crate::intake::Intake;
    use crate::outcome::{LogLevel, LogRecord};
    use crate::secret::{Secret, Secrets};
    use crate::usage::ToolUsage;

    /// The value of the secret.
    const SECRET: &str = "hunter2hunter2";

    /// Name of the secret.
    const NAME: &str = "A";

    fn redactor() -> Redactor {
        redactor_of(false)
    }

    fn redactor_of_a_canary() -> Redactor {
        redactor_of(true)
    }

    fn redactor_of(is_canary: bool) -> Redactor {
        let secret = Secret::new(NAME, &SECRET.into(), is_canary).unwrap();
        Secrets::new(vec![secret]).unwrap().redactor().clone()
    }

    fn object_with_secrets() -> JsonObject {
        JsonObject::from_iter([(SECRET.to_owned(), json!([{"a": SECRET}, 1]))])
    }

    /// Returns an outcome with the secret in all texts of its log, in a denial and in a use of a grant.
    fn outcome_with_secrets(ending: Ending) -> Outcome {
        let record = LogRecord {
            level: LogLevel::Info,
            message: SECRET.to_owned(),
        };
        Outcome {
            ending,
            usage: ToolUsage::default(),
            log: CallLog {
                records: vec![record],
                dropped: 0,
                stdout: SECRET.to_owned(),
                stderr: SECRET.to_owned(),
            },
            intake: Intake::default(),
            denials: vec![Denial::new(Capability::Http, "GET", SECRET, "x").with_command(SECRET.to_owned())],
            uses: vec![GrantUse {
                capability: Capability::Http,
                action: "GET".to_owned(),
                grant: SECRET.to_owned(),
                resource: SECRET.to_owned(),
            }],
        }
    }

    /// Returns each ending that has a text, with the secret in each of its texts.
    fn endings_with_secrets() -> Vec<Ending> {
        let text = || SECRET.to_owned();
        let value = || Some(json!({ SECRET: [SECRET] }));
        vec![
            Ending::Success(Success {
                output: text(),
                title: Some(text()),
                sources: vec![Source {
                    source_name: text(),
                    url: Some(text()),
                    extra: object_with_secrets(),
                }],
                attachments: vec![Attachment {
                    media_type: text(),
                    filename: Some(text()),
                    data: text().into_bytes(),
                }],
                metadata: object_with_secrets(),
            }),
            Ending::Failure(Failure {
                code: ToolErrorCode::Unknown,
                message: text(),
                retryable: false,
                metadata: object_with_secrets(),
            }),
            Ending::Suspended(Suspension {
                message: text(),
                details: value(),
                preview_data: value(),
                feedback_schema: value(),
            }),
            Ending::Continuation(SubtaskRequest {
                description: text(),
                inputs: json!(SECRET),
                template_hints: vec![text()],
                max_depth: None,
                context_management: value(),
            }),
            Ending::Trap { message: text() },
            Ending::InvalidOutput { reason: text() },
            Ending::Denied { message: text() },
            Ending::HostError { message: text() },
        ]
    }

    #[test]
    fn redaction_leaves_no_secret_in_any_part_of_an_outcome() {
        for ending in endings_with_secrets() {
            let mut outcome = outcome_with_secrets(ending);
            redactor().redact_outcome(&mut outcome);
            let shown = format!("{outcome:?}");
            assert!(!shown.contains(SECRET), "{shown}");
            if let Ending::Success(success) = &outcome.ending {
                assert_eq!(success.attachments[0].data, "«secret»".as_bytes());
            }
        }
    }

    #[test]
    fn a_canary_is_found_in_any_part_of_an_outcome() {
        let without_texts = || Outcome {
            log: CallLog::default(),
            denials: Vec::new(),
            uses: Vec::new(),
            ..outcome_with_secrets(Ending::Cancelled)
        };
        for ending in endings_with_secrets() {
            let mut outcome = Outcome {
                ending,
                ..without_texts()
            };
            assert_eq!(
                redactor_of_a_canary().redact_outcome(&mut outcome).as_deref(),
                Some(NAME)
            );
            // The canary was replaced, so it is not found again.
            assert_eq!(redactor_of_a_canary().redact_outcome(&mut outcome), None);
        }
        assert_eq!(redactor_of_a_canary().redact_outcome(&mut without_texts()), None);
        assert_eq!(
            redactor_of_a_canary()
                .redact_outcome(&mut outcome_with_secrets(Ending::Cancelled))
                .as_deref(),
            Some(NAME)
        );
    }
}
