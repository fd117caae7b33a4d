//! Reads generated content. Each event is a complete body, so calls arrive complete.

use art_core::stream::{ProviderState, StopReason};
use serde_json::{Value, json};

use super::NAME;
use crate::wire::calls::TooMuch;
use crate::wire::reply::{self, MAX_STATE, Reply, items, text};

/// Content that is being read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// The signature of each call; null for a call that has none.
    signatures: Vec<Value>,
    /// The last signature of the text.
    text_signature: Option<String>,
    bytes: usize,
}

impl Reading {
    fn part(&mut self, part: &Value, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
        let said = text(part, "/text");
        let thought = part.get("thought").and_then(Value::as_bool).unwrap_or(false);
        let signature = self.fitting(text(part, "/thoughtSignature"));
        if let Some(call) = part.get("functionCall") {
            let index = u64::try_from(self.signatures.len()).unwrap_or(u64::MAX);
            self.signatures.push(signature.map_or(Value::Null, Value::from));
            let arguments = call.get("args").filter(|args| !args.is_null());
            let arguments = arguments.map(Value::to_string).unwrap_or_default();
            return reply
                .known
                .calls
                .begin(index, text(call, "/id"), text(call, "/name"), &arguments);
        }
        if thought {
            reply.thinking(said);
            return Ok(());
        }
        reply.text(said);
        if let Some(signature) = signature {
            self.text_signature = Some(signature.to_owned());
        }
        Ok(())
    }

    /// Returns the signature, if there is one and it fits the limit of the state.
    fn fitting<'a>(&mut self, signature: &'a str) -> Option<&'a str> {
        self.bytes = self.bytes.saturating_add(signature.len());
        (!signature.is_empty() && self.bytes <= MAX_STATE).then_some(signature)
    }
}

impl reply::Reading for Reading {
    fn read(&mut self, event: &Value, reply: &mut Reply<'_>) -> Result<(), TooMuch> {
        reply.usage(event);
        if !text(event, "/promptFeedback/blockReason").is_empty() {
            reply.known.stop = Some(StopReason::ContentFilter);
        }
        for part in items(event, "/candidates/0/content/parts") {
            self.part(part, reply)?;
        }
        reply.stop(text(event, "/candidates/0/finishReason"));
        Ok(())
    }

    fn state(&mut self, _calls: bool) -> Option<ProviderState> {
        let signatures = std::mem::take(&mut self.signatures);
        let signed = signatures.iter().any(Value::is_string) || self.text_signature.is_some();
        let kept = signed && self.bytes <= MAX_STATE;
        kept.then(|| ProviderState {
            wire: NAME.to_owned(),
            content: json!({"calls": signatures, "text": self.text_signature.take()}),
        })
    }
}
