//! Collects those thoughts of a reply that the provider expects back, together with the reply, in later requests.

use art_core::stream::ProviderState;
use serde_json::{Value, json};

use super::{PROTOCOL_NAME, Variant};
use crate::protocol::reply::MAX_PROVIDER_STATE_BYTES;

/// The thoughts of one reply, in the format of the provider. Thoughts over [`MAX_PROVIDER_STATE_BYTES`] are dropped, because
/// incomplete ones are useless.
#[derive(Debug, Default)]
pub(super) struct ThoughtsToSendBack {
    /// The field `reasoning_details`, which OpenRouter expects back.
    reasoning_details: Vec<Value>,
    /// The field `reasoning_content`, which DeepSeek and others expect back.
    reasoning_content: String,
    /// Size of both, in bytes.
    bytes: usize,
}

impl ThoughtsToSendBack {
    /// Adds a piece of `reasoning_details`. Pieces of one text or summary are joined.
    pub(super) fn add_reasoning_detail(&mut self, piece: &Value) {
        if !self.fits_after_adding(piece.to_string().len()) {
            return;
        }
        match self.reasoning_details.last_mut() {
            Some(last) if continues(last, piece) => append(last, piece),
            _ => self.reasoning_details.push(piece.clone()),
        }
    }

    /// Adds a piece of `reasoning_content`.
    pub(super) fn add_reasoning_content(&mut self, piece: &str) {
        if self.fits_after_adding(piece.len()) {
            self.reasoning_content.push_str(piece);
        }
    }

    /// Returns the thoughts as the [`ProviderState`] of the reply, if the provider expects them back. DeepSeek expects thoughts
    /// in a turn with calls, and refuses them in others.
    pub(super) fn take(&mut self, variant: Variant, has_calls: bool) -> Option<ProviderState> {
        let thoughts = std::mem::take(self);
        if thoughts.bytes > MAX_PROVIDER_STATE_BYTES {
            return None;
        }
        let content = match variant {
            Variant::OpenRouter if !thoughts.reasoning_details.is_empty() => {
                json!({"reasoning_details": thoughts.reasoning_details})
            }
            _ if variant.expects_reasoning_content() && has_calls && !thoughts.reasoning_content.is_empty() => {
                json!({"reasoning_content": thoughts.reasoning_content})
            }
            _ => return None,
        };
        Some(ProviderState {
            protocol: PROTOCOL_NAME.to_owned(),
            content,
        })
    }

    /// Adds `bytes` to the size of the thoughts. Returns whether they are still within the limit.
    fn fits_after_adding(&mut self, bytes: usize) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        self.bytes <= MAX_PROVIDER_STATE_BYTES
    }
}

/// Returns whether `piece` continues the text or summary of `last`.
fn continues(last: &Value, piece: &Value) -> bool {
    let has_same = |name: &str| last.get(name) == piece.get(name);
    let kind = piece.get("type").and_then(Value::as_str);
    matches!(kind, Some("reasoning.text" | "reasoning.summary")) && has_same("type") && has_same("index")
}

/// Appends the text or summary of `piece` to that of `last`, and copies the other fields of `piece` that are not null to `last`.
fn append(last: &mut Value, piece: &Value) {
    let (Some(last), Some(piece)) = (last.as_object_mut(), piece.as_object()) else {
        return;
    };
    for (name, value) in piece.iter().filter(|(_, value)| !value.is_null()) {
        match (last.get_mut(name), value) {
            (Some(Value::String(text)), Value::String(addition)) if matches!(name.as_str(), "text" | "summary") => {
                text.push_str(addition);
            }
            _ => {
                last.insert(name.clone(), value.clone());
            }
        }
    }
}
