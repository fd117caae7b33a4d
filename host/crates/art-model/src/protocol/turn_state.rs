//! The state that a provider expects to be sent back with a turn, and the positions of text and calls in it.
//!
//! The state of a turn is a list: an object is sent back unchanged, `"text"` is a placeholder for the text of the turn, and
//! `"call"` for its next call. Text and calls come from the prompt, where they may have changed.

use art_core::stream::ProviderState;
use serde_json::{Value, json};

use super::reply::MAX_STATE_BYTES;

/// The state of one turn. A state over the limit is dropped, because an incomplete one is useless.
#[derive(Debug, Default)]
pub(super) struct TurnState {
    list: Vec<Value>,
    bytes: usize,
    has_objects: bool,
}

impl TurnState {
    /// Returns whether the provider expects an object to be sent back.
    pub(super) const fn has_objects(&self) -> bool {
        self.has_objects
    }

    /// Adds an object to send back.
    pub(super) fn add_object(&mut self, item: Value) {
        self.has_objects = true;
        self.push(item);
    }

    /// Adds the position of the text.
    pub(super) fn add_text_position(&mut self) {
        let repeated = self.list.last().and_then(Value::as_str) == Some("text");
        if !repeated {
            self.push(json!("text"));
        }
    }

    /// Adds the position of a call.
    pub(super) fn add_call_position(&mut self) {
        self.push(json!("call"));
    }

    /// Returns the state of the turn for `protocol`, if it has an object and is within the limit.
    pub(super) fn take(&mut self, protocol: &str) -> Option<ProviderState> {
        let state = std::mem::take(self);
        (state.has_objects && state.bytes <= MAX_STATE_BYTES).then(|| ProviderState {
            wire: protocol.to_owned(),
            content: state.list.into(),
        })
    }

    fn push(&mut self, item: Value) {
        self.bytes = self.bytes.saturating_add(item.to_string().len() + 1);
        if self.bytes <= MAX_STATE_BYTES {
            self.list.push(item);
        }
    }
}

/// Returns the parts of a turn: the objects of `state`, with `text` and `calls` at their positions. Text without a position comes
/// before the first call; calls without positions come last.
pub(super) fn arrange(state: Option<&Value>, text: Option<Value>, calls: Vec<Value>) -> Vec<Value> {
    let entries = state.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let has_text_position = entries.iter().any(|entry| entry == "text");
    let (mut text, mut calls) = (text.into_iter(), calls.into_iter());
    let mut turn = Vec::new();
    for entry in entries {
        match entry.as_str() {
            Some("text") => turn.extend(text.next()),
            Some("call") => {
                if !has_text_position {
                    turn.extend(text.next());
                }
                turn.extend(calls.next());
            }
            _ if entry.is_object() => turn.push(entry.clone()),
            _ => {}
        }
    }
    turn.extend(text);
    turn.extend(calls);
    turn
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrange_parts(state: &Value) -> Value {
        arrange(Some(state), Some(json!("T")), vec![json!("A"), json!("B")]).into()
    }

    #[test]
    fn a_turn_is_restored_in_its_original_order() {
        let mut turn = TurnState::default();
        turn.add_object(json!({"k": 1}));
        turn.add_text_position();
        turn.add_text_position();
        turn.add_call_position();
        turn.add_object(json!({"k": 2}));
        turn.add_call_position();
        let state = turn.take("w").unwrap();
        assert_eq!(
            arrange_parts(&state.content),
            json!([{"k": 1}, "T", "A", {"k": 2}, "B"])
        );
    }

    #[test]
    fn text_and_calls_without_a_position_follow_each_other() {
        assert_eq!(arrange_parts(&json!(null)), json!(["T", "A", "B"]));
        assert_eq!(arrange_parts(&json!([{"k": 1}])), json!([{"k": 1}, "T", "A", "B"]));
        assert_eq!(
            arrange_parts(&json!([{"k": 1}, "call", 7, "other", "call", "call"])),
            json!([{"k": 1}, "T", "A", "B"])
        );
    }

    #[test]
    fn a_state_without_objects_or_over_the_limit_is_dropped() {
        let mut turn = TurnState::default();
        turn.add_text_position();
        turn.add_call_position();
        assert_eq!(turn.take("w"), None);
        turn.add_object(json!("x".repeat(MAX_STATE_BYTES)));
        assert_eq!(turn.take("w"), None);
        turn.add_object(json!({}));
        assert!(turn.take("w").is_some());
    }
}
