//! Keeps the state that a provider expects to be sent back with a turn of the model, such as signed thoughts, and puts it back
//! into the turn in the original order.
//!
//! The state of a turn is a list. Each object in it is sent back unchanged. The string `"text"` is a placeholder for the text of
//! the turn, and each `"call"` for the next tool call of the turn. Text and calls are not stored in the list: they come from the
//! prompt that is sent, where they may have changed.

use art_core::stream::ProviderState;
use serde_json::{Value, json};

use super::reply::MAX_PROVIDER_STATE_BYTES;

/// The state to send back with one turn. It is collected while the reply that becomes the turn is parsed. A state over
/// [`MAX_PROVIDER_STATE_BYTES`] is dropped, because a part of a state is useless.
#[derive(Debug, Default)]
pub(super) struct StateToSendBack {
    /// Objects and placeholders, in the order of the reply.
    list: Vec<Value>,
    /// Size of all added entries, in bytes, including those that are not in `list` because they exceed the limit.
    bytes: usize,
    has_objects: bool,
}

impl StateToSendBack {
    /// Returns whether there is an object to send back.
    pub(super) const fn has_objects(&self) -> bool {
        self.has_objects
    }

    /// Adds an object to send back.
    pub(super) fn add_object(&mut self, object: Value) {
        self.has_objects = true;
        self.push(object);
    }

    /// Adds a placeholder for the text, unless the last entry is one already.
    pub(super) fn add_text_placeholder(&mut self) {
        let is_repeated = self.list.last().and_then(Value::as_str) == Some("text");
        if !is_repeated {
            self.push(json!("text"));
        }
    }

    /// Adds a placeholder for a call.
    pub(super) fn add_call_placeholder(&mut self) {
        self.push(json!("call"));
    }

    /// Takes the collected state and labels it with the name of its `protocol`. Returns `None` if it has no object or is over the
    /// limit.
    pub(super) fn take(&mut self, protocol: &str) -> Option<ProviderState> {
        let state = std::mem::take(self);
        (state.has_objects && state.bytes <= MAX_PROVIDER_STATE_BYTES).then(|| ProviderState {
            protocol: protocol.to_owned(),
            content: state.list.into(),
        })
    }

    fn push(&mut self, entry: Value) {
        // The additional byte is the comma. Entries over the limit are not stored, because `take` then drops the whole list.
        self.bytes = self.bytes.saturating_add(entry.to_string().len() + 1);
        if self.bytes <= MAX_PROVIDER_STATE_BYTES {
            self.list.push(entry);
        }
    }
}

/// Returns the parts of a turn: the objects of `state`, with `text` and `calls` in place of their placeholders. Text without a
/// placeholder comes before the first call; calls without placeholders come last.
pub(super) fn restore_order(state: Option<&Value>, text: Option<Value>, calls: Vec<Value>) -> Vec<Value> {
    let entries = state.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let has_text_placeholder = entries.iter().any(|entry| entry == "text");
    let (mut text, mut calls) = (text.into_iter(), calls.into_iter());
    let mut turn = Vec::new();
    for entry in entries {
        match entry.as_str() {
            Some("text") => turn.extend(text.next()),
            Some("call") => {
                if !has_text_placeholder {
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

    /// Returns the parts of a turn with `state`, the text `T` and the calls `A` and `B`.
    fn parts_with_state(state: &Value) -> Value {
        restore_order(Some(state), Some(json!("T")), vec![json!("A"), json!("B")]).into()
    }

    #[test]
    fn a_turn_is_restored_in_its_original_order() {
        let mut state = StateToSendBack::default();
        state.add_object(json!({"k": 1}));
        state.add_text_placeholder();
        state.add_text_placeholder();
        state.add_call_placeholder();
        state.add_object(json!({"k": 2}));
        state.add_call_placeholder();
        let state = state.take("some-protocol").unwrap();
        assert_eq!(
            parts_with_state(&state.content),
            json!([{"k": 1}, "T", "A", {"k": 2}, "B"])
        );
    }

    #[test]
    fn without_placeholders_text_comes_before_the_first_call_and_calls_come_last() {
        assert_eq!(parts_with_state(&json!(null)), json!(["T", "A", "B"]));
        assert_eq!(parts_with_state(&json!([{"k": 1}])), json!([{"k": 1}, "T", "A", "B"]));
        assert_eq!(
            parts_with_state(&json!([{"k": 1}, "call", 7, "other", "call", "call"])),
            json!([{"k": 1}, "T", "A", "B"])
        );
    }

    #[test]
    fn a_state_without_objects_or_over_the_limit_is_dropped() {
        let mut state = StateToSendBack::default();
        state.add_text_placeholder();
        state.add_call_placeholder();
        assert_eq!(state.take("some-protocol"), None);
        state.add_object(json!("x".repeat(MAX_PROVIDER_STATE_BYTES)));
        assert_eq!(state.take("some-protocol"), None);
        state.add_object(json!({}));
        assert!(state.take("some-protocol").is_some());
    }
}
