//! Parses replies of the `generateContent` protocol. Each event has the form of a reply that did not stream, so calls
//! arrive complete.

use art_core::stream::{ProviderState, StopReason};
use serde_json::{Value, json};

use super::PROTOCOL_NAME;
use crate::protocol::calls::CallsTooLarge;
use crate::protocol::reply::{self, MAX_PROVIDER_STATE_BYTES, ReplyBuilder, items_at, text_at};

/// Parses one reply. The provider signs its thoughts: a signature comes with a call or with text, and is sent back with that
/// call or text.
#[derive(Debug, Default)]
pub(super) struct Parser {
    /// The signature of each call; null for a call without one.
    call_signatures: Vec<Value>,
    /// The last signature that came with text.
    text_signature: Option<String>,
    /// Size of all signatures, in bytes.
    signature_bytes: usize,
}

impl Parser {
    fn add_part(&mut self, part: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        let content = text_at(part, "/text");
        let is_thought = part.get("thought").and_then(Value::as_bool).unwrap_or(false);
        let signature = self.signature_within_limit(text_at(part, "/thoughtSignature"));
        if let Some(call) = part.get("functionCall") {
            let index = u64::try_from(self.call_signatures.len()).unwrap_or(u64::MAX);
            self.call_signatures.push(signature.map_or(Value::Null, Value::from));
            let arguments = call.get("args").filter(|args| !args.is_null());
            let arguments = arguments.map(Value::to_string).unwrap_or_default();
            return reply
                .collected
                .calls
                .start(index, text_at(call, "/id"), text_at(call, "/name"), &arguments);
        }
        if is_thought {
            reply.add_thought(content);
            return Ok(());
        }
        reply.add_text(content);
        if let Some(signature) = signature {
            self.text_signature = Some(signature.to_owned());
        }
        Ok(())
    }

    /// Counts the size of a signature. Returns the signature if it is not empty and all signatures are still within the limit.
    fn signature_within_limit<'a>(&mut self, signature: &'a str) -> Option<&'a str> {
        self.signature_bytes = self.signature_bytes.saturating_add(signature.len());
        (!signature.is_empty() && self.signature_bytes <= MAX_PROVIDER_STATE_BYTES).then_some(signature)
    }
}

impl reply::EventParser for Parser {
    fn read_event(&mut self, event: &Value, reply: &mut ReplyBuilder<'_>) -> Result<(), CallsTooLarge> {
        reply.add_usage(event);
        if !text_at(event, "/promptFeedback/blockReason").is_empty() {
            reply.collected.stop_reason = Some(StopReason::ContentFilter);
        }
        for part in items_at(event, "/candidates/0/content/parts") {
            self.add_part(part, reply)?;
        }
        reply.set_stop_reason(text_at(event, "/candidates/0/finishReason"));
        Ok(())
    }

    fn state_to_send_back(&mut self, _has_calls: bool) -> Option<ProviderState> {
        let signatures = std::mem::take(&mut self.call_signatures);
        let has_signature = signatures.iter().any(Value::is_string) || self.text_signature.is_some();
        if !has_signature || self.signature_bytes > MAX_PROVIDER_STATE_BYTES {
            return None;
        }
        Some(ProviderState {
            protocol: PROTOCOL_NAME.to_owned(),
            content: json!({"calls": signatures, "text": self.text_signature.take()}),
        })
    }
}
