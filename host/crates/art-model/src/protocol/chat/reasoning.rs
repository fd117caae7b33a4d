//! Collects the thoughts that a provider expects to be sent back with a turn.

use art_core::stream::ProviderState;
use serde_json::{Value, json};

use super::{NAME, Profile};
use crate::protocol::reply::MAX_STATE_BYTES;

/// Thoughts in the format of the provider. Over the limit they are dropped, because incomplete thoughts are useless.
#[derive(Debug, Default)]
pub(super) struct Reasoning {
    details: Vec<Value>,
    thoughts: String,
    bytes: usize,
}

impl Reasoning {
    /// Adds a piece of `reasoning_details`. Pieces of one text or summary are joined.
    pub(super) fn add_detail(&mut self, piece: &Value) {
        if !self.fits(piece.to_string().len()) {
            return;
        }
        match self.details.last_mut() {
            Some(last) if continues(last, piece) => append(last, piece),
            _ => self.details.push(piece.clone()),
        }
    }

    /// Adds a piece of `reasoning_content`.
    pub(super) fn add_thought(&mut self, piece: &str) {
        if self.fits(piece.len()) {
            self.thoughts.push_str(piece);
        }
    }

    /// Returns the state of the turn. DeepSeek expects thoughts in a turn with calls, and refuses them in others.
    pub(super) fn take(&mut self, profile: Profile, has_calls: bool) -> Option<ProviderState> {
        let reasoning = std::mem::take(self);
        if reasoning.bytes > MAX_STATE_BYTES {
            return None;
        }
        let content = match profile {
            Profile::OpenRouter if !reasoning.details.is_empty() => {
                json!({"reasoning_details": reasoning.details})
            }
            _ if profile.expects_reasoning_content() && has_calls && !reasoning.thoughts.is_empty() => {
                json!({"reasoning_content": reasoning.thoughts})
            }
            _ => return None,
        };
        Some(ProviderState {
            wire: NAME.to_owned(),
            content,
        })
    }

    /// Counts `bytes` and returns whether the thoughts are within the limit.
    fn fits(&mut self, bytes: usize) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        self.bytes <= MAX_STATE_BYTES
    }
}

/// Returns whether `piece` continues the text or summary of `last`.
fn continues(last: &Value, piece: &Value) -> bool {
    let same = |name: &str| last.get(name) == piece.get(name);
    let kind = piece.get("type").and_then(Value::as_str);
    matches!(kind, Some("reasoning.text" | "reasoning.summary")) && same("type") && same("index")
}

/// Appends the text or summary of `piece` to `last`, and replaces the other fields.
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
