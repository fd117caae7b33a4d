//! Collects the thoughts that a provider wants back with a turn.

use art_core::stream::ProviderState;
use serde_json::{Value, json};

use super::{NAME, Profile};
use crate::wire::reply::MAX_STATE;

/// Thoughts in the provider's own form. Over the limit all are dropped, because a part is useless.
#[derive(Debug, Default)]
pub(super) struct Kept {
    details: Vec<Value>,
    thoughts: String,
    bytes: usize,
}

impl Kept {
    /// Adds a piece of `reasoning_details`. Pieces of one text or summary are joined.
    pub(super) fn detail(&mut self, piece: &Value) {
        if !self.fits(piece.to_string().len()) {
            return;
        }
        match self.details.last_mut() {
            Some(last) if goes_on(last, piece) => append(last, piece),
            _ => self.details.push(piece.clone()),
        }
    }

    /// Adds a piece of `reasoning_content`.
    pub(super) fn thought(&mut self, piece: &str) {
        if self.fits(piece.len()) {
            self.thoughts.push_str(piece);
        }
    }

    /// Returns the state of the turn. DeepSeek wants thoughts only with `calls`, and refuses them elsewhere.
    pub(super) fn take(&mut self, profile: Profile, calls: bool) -> Option<ProviderState> {
        let kept = std::mem::take(self);
        if kept.bytes > MAX_STATE {
            return None;
        }
        let content = match profile {
            Profile::OpenRouter if !kept.details.is_empty() => json!({"reasoning_details": kept.details}),
            _ if profile.wants_thoughts() && calls && !kept.thoughts.is_empty() => {
                json!({"reasoning_content": kept.thoughts})
            }
            _ => return None,
        };
        Some(ProviderState {
            wire: NAME.to_owned(),
            content,
        })
    }

    fn fits(&mut self, bytes: usize) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        self.bytes <= MAX_STATE
    }
}

/// Whether `piece` continues the text or summary of `last`.
fn goes_on(last: &Value, piece: &Value) -> bool {
    let same = |name: &str| last.get(name) == piece.get(name);
    let kind = piece.get("type").and_then(Value::as_str);
    matches!(kind, Some("reasoning.text" | "reasoning.summary")) && same("type") && same("index")
}

fn append(last: &mut Value, piece: &Value) {
    let (Some(last), Some(piece)) = (last.as_object_mut(), piece.as_object()) else {
        return;
    };
    for (name, value) in piece.iter().filter(|(_, value)| !value.is_null()) {
        match (last.get_mut(name), value) {
            (Some(Value::String(text)), Value::String(more)) if matches!(name.as_str(), "text" | "summary") => {
                text.push_str(more);
            }
            _ => {
                last.insert(name.clone(), value.clone());
            }
        }
    }
}
