//! The state that a provider wants back with a turn, and the positions of text and calls in it.
//!
//! The state of a turn is a list: an object is sent back unchanged, `"text"` stands for the text of the turn and
//! `"call"` for its next call. Text and calls come from the prompt, which may have changed them.

use art_core::stream::ProviderState;
use serde_json::{Value, json};

use super::reply::MAX_STATE;

/// The state of one turn. Over the limit all of it is dropped, because a part is useless.
#[derive(Debug, Default)]
pub(super) struct Places {
    list: Vec<Value>,
    bytes: usize,
    keeps: bool,
}

impl Places {
    /// Whether the provider wants anything back.
    pub(super) const fn keeps(&self) -> bool {
        self.keeps
    }

    /// Adds an object that the provider wants back.
    pub(super) fn keep(&mut self, item: Value) {
        self.keeps = true;
        self.push(item);
    }

    /// Adds the position of the text.
    pub(super) fn text(&mut self) {
        let again = self.list.last().and_then(Value::as_str) == Some("text");
        if !again {
            self.push(json!("text"));
        }
    }

    /// Adds the position of a call.
    pub(super) fn call(&mut self) {
        self.push(json!("call"));
    }

    /// Returns the state of the turn for the protocol `wire`, if the provider wants anything back.
    pub(super) fn take(&mut self, wire: &str) -> Option<ProviderState> {
        let places = std::mem::take(self);
        (places.keeps && places.bytes <= MAX_STATE).then(|| ProviderState {
            wire: wire.to_owned(),
            content: places.list.into(),
        })
    }

    fn push(&mut self, item: Value) {
        self.bytes = self.bytes.saturating_add(item.to_string().len() + 1);
        if self.bytes <= MAX_STATE {
            self.list.push(item);
        }
    }
}

/// Arranges a turn: `text` and `calls` at their positions in `state`, or one after the other.
pub(super) fn arrange(state: Option<&Value>, text: Option<Value>, calls: Vec<Value>) -> Vec<Value> {
    let places = state.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let text_has_place = places.iter().any(|place| place == "text");
    let (mut text, mut calls) = (text.into_iter(), calls.into_iter());
    let mut turn = Vec::new();
    for place in places {
        match place.as_str() {
            Some("text") => turn.extend(text.next()),
            Some("call") => {
                if !text_has_place {
                    turn.extend(text.next());
                }
                turn.extend(calls.next());
            }
            _ if place.is_object() => turn.push(place.clone()),
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

    fn arranged(state: &Value) -> Value {
        arrange(Some(state), Some(json!("T")), vec![json!("A"), json!("B")]).into()
    }

    #[test]
    fn a_turn_is_put_back_in_the_order_in_which_it_came() {
        let mut places = Places::default();
        places.keep(json!({"k": 1}));
        places.text();
        places.text();
        places.call();
        places.keep(json!({"k": 2}));
        places.call();
        let state = places.take("w").unwrap();
        assert_eq!(arranged(&state.content), json!([{"k": 1}, "T", "A", {"k": 2}, "B"]));
    }

    #[test]
    fn text_and_calls_without_a_place_follow_each_other() {
        assert_eq!(arranged(&json!(null)), json!(["T", "A", "B"]));
        assert_eq!(arranged(&json!([{"k": 1}])), json!([{"k": 1}, "T", "A", "B"]));
        assert_eq!(
            arranged(&json!([{"k": 1}, "call", 7, "other", "call", "call"])),
            json!([{"k": 1}, "T", "A", "B"])
        );
    }

    #[test]
    fn nothing_is_wanted_back_of_a_turn_that_keeps_nothing_or_too_much() {
        let mut places = Places::default();
        places.text();
        places.call();
        assert_eq!(places.take("w"), None);
        places.keep(json!("x".repeat(MAX_STATE)));
        assert_eq!(places.take("w"), None);
        places.keep(json!({}));
        assert!(places.take("w").is_some());
    }
}
