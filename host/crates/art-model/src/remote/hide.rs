//! Redacts the key of a provider in its replies, because a service may echo it.

use art_core::stream::{LlmMetadata, ProviderState, StopReason, StreamEvent};
use art_core::tool::ToolCallRequest;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::fault::Redactor;
use crate::key::Key;

/// Redacts the key in the events of one reply. The end of a piece that may be the beginning of the key is held until
/// the next piece.
#[derive(Debug)]
pub(super) struct Hiding {
    redactor: Redactor,
    text: String,
    thinking: String,
}

impl Hiding {
    pub(super) fn new(key: &Key) -> Self {
        let key = key.secret.as_ref();
        // Some JSON writers escape each `/` as `\/`.
        let escaped = key.map(|key| SecretString::from(key.expose_secret().replace('/', "\\/")));
        Self {
            redactor: Redactor::new(key.cloned().into_iter().chain(escaped)),
            text: String::new(),
            thinking: String::new(),
        }
    }

    /// Returns the event without the key; none while all of it is held.
    pub(super) fn pass(&mut self, event: StreamEvent) -> Option<StreamEvent> {
        let said = |text: String| (!text.is_empty()).then_some(text);
        match event {
            StreamEvent::Token(text) => said(self.redactor.hide_piece(&mut self.text, &text)).map(StreamEvent::Token),
            StreamEvent::Thinking(text) => {
                said(self.redactor.hide_piece(&mut self.thinking, &text)).map(StreamEvent::Thinking)
            }
            StreamEvent::ToolCall(call) => Some(StreamEvent::ToolCall(self.call(call))),
            StreamEvent::State(state) => Some(StreamEvent::State(ProviderState {
                content: self.value(state.content),
                ..state
            })),
            StreamEvent::Metadata(metadata) => Some(StreamEvent::Metadata(self.metadata(metadata))),
            event => Some(event),
        }
    }

    /// Returns what was held when the reply ended.
    pub(super) fn rest(&mut self) -> impl Iterator<Item = StreamEvent> {
        let thinking = self.redactor.hide(&std::mem::take(&mut self.thinking));
        let text = self.redactor.hide(&std::mem::take(&mut self.text));
        let thinking = (!thinking.is_empty()).then_some(StreamEvent::Thinking(thinking));
        let text = (!text.is_empty()).then_some(StreamEvent::Token(text));
        thinking.into_iter().chain(text)
    }

    fn call(&self, mut call: ToolCallRequest) -> ToolCallRequest {
        call.id = self.redactor.hide(&call.id);
        call.function.name = self.redactor.hide(&call.function.name);
        let arguments = &mut call.function.arguments;
        match serde_json::from_str::<Value>(arguments) {
            // The JSON text may have the key in an escaped form.
            Ok(value) => {
                let hidden = self.value(value.clone());
                if hidden != value {
                    *arguments = hidden.to_string();
                }
            }
            Err(_) => *arguments = self.redactor.hide(arguments),
        }
        call
    }

    fn metadata(&self, metadata: LlmMetadata) -> LlmMetadata {
        let reason = |reason| match reason {
            StopReason::Other(text) => StopReason::Other(self.redactor.hide(&text)),
            reason => reason,
        };
        LlmMetadata {
            stop_reason: metadata.stop_reason.map(reason),
            provider_raw_usage: metadata.provider_raw_usage.map(|usage| self.value(usage)),
            ..metadata
        }
    }

    /// Returns the value with the key redacted in all texts and names.
    fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redactor.hide(&text)),
            Value::Array(values) => values.into_iter().map(|value| self.value(value)).collect(),
            Value::Object(map) => {
                let entries = map.into_iter();
                entries
                    .map(|(name, value)| (self.redactor.hide(&name), self.value(value)))
                    .collect()
            }
            value => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeySource;
    use crate::testing::{KEY, token};
    use art_core::tool::{FunctionCall, FunctionKind};
    use proptest::prelude::*;
    use serde_json::json;

    fn hiding(key: &str) -> Hiding {
        Hiding::new(&Key {
            source: KeySource::None,
            secret: Some(SecretString::from(key)),
        })
    }

    /// What is said in the end when a reply is given in those pieces.
    fn said(key: &str, pieces: &[&str]) -> String {
        let mut hiding = hiding(key);
        let mut events: Vec<_> = pieces.iter().filter_map(|piece| hiding.pass(token(piece))).collect();
        events.extend(hiding.rest());
        let texts = events.into_iter().map(|event| match event {
            StreamEvent::Token(text) => text,
            other => panic!("{other:?}"),
        });
        texts.collect()
    }

    #[test]
    fn a_key_is_hidden_however_a_reply_is_cut() {
        let text = format!("Your key is {KEY}, and again {KEY}{KEY}.");
        let hidden = "Your key is [key], and again [key][key].";
        for length in 1..text.len() {
            let (first, second) = text.split_at(length);
            assert_eq!(said(KEY, &[first, second]), hidden);
        }
        let letters: Vec<_> = text.split_inclusive(|_: char| true).collect();
        assert_eq!(said(KEY, &letters), hidden);
    }

    #[test]
    fn what_begins_like_a_key_and_is_none_stays() {
        assert_eq!(said(KEY, &["sk-t", "ea"]), "sk-tea");
        assert_eq!(said(KEY, &["the end is s"]), "the end is s");
    }

    #[test]
    fn a_key_that_a_reply_breaks_off_leaves_no_part_of_itself() {
        assert_eq!(said(KEY, &["it is ", &KEY[..10]]), "it is [key]");
    }

    #[test]
    fn a_key_with_a_slash_is_hidden_in_json_too() {
        assert_eq!(said("abc/def/ghi", &[r#"{"a": "abc\/def\/ghi"}"#]), r#"{"a": "[key]"}"#);
    }

    #[test]
    fn a_key_in_the_arguments_of_a_call_is_hidden_even_when_it_is_written_in_another_way() {
        let arguments = |text: &str| {
            let call = ToolCallRequest {
                id: KEY.to_owned(),
                kind: FunctionKind::Function,
                function: FunctionCall {
                    name: "f".to_owned(),
                    arguments: text.to_owned(),
                },
            };
            match hiding(KEY).pass(StreamEvent::ToolCall(call)) {
                Some(StreamEvent::ToolCall(call)) => {
                    assert_eq!(call.id, "[key]");
                    call.function.arguments
                }
                other => panic!("{other:?}"),
            }
        };
        let escaped = KEY.replace('-', "\\u002d");
        assert_eq!(arguments(&format!("{{\"a\": [\"{escaped}\"]}}")), r#"{"a":["[key]"]}"#);
        assert_eq!(arguments(&format!("{{ \"{KEY}\" : 1 }}")), r#"{"[key]":1}"#);
        assert_eq!(arguments(&format!("not JSON: {KEY}")), "not JSON: [key]");
        assert_eq!(arguments("{ \"a\" : 1.50 }"), "{ \"a\" : 1.50 }");
    }

    #[test]
    fn a_key_in_what_a_provider_says_beside_its_text_is_hidden() {
        let state = ProviderState {
            wire: "w".to_owned(),
            content: json!({"a": [KEY]}),
        };
        let metadata = LlmMetadata {
            stop_reason: Some(StopReason::Other(KEY.to_owned())),
            provider_raw_usage: Some(json!({KEY: KEY})),
            ..LlmMetadata::default()
        };
        for event in [
            StreamEvent::State(state),
            StreamEvent::Metadata(metadata),
            StreamEvent::Thinking(KEY.to_owned()),
        ] {
            let hidden = format!("{:?}", hiding(KEY).pass(event));
            assert!(hidden.contains("[key]") && !hidden.contains(KEY), "{hidden}");
        }
    }

    proptest! {
        #[test]
        fn a_text_without_the_key_stays_as_it_is(pieces in prop::collection::vec("[sk tes-]{0,6}", 0..20)) {
            let pieces: Vec<_> = pieces.iter().map(String::as_str).collect();
            let text = pieces.concat();
            prop_assume!(!text.contains("sk-tes"));
            prop_assert_eq!(said(KEY, &pieces), text);
        }
    }
}
