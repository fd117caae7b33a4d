//! Redacts the key of a provider in its replies, because a provider may echo the key.

use art_core::stream::{LlmMetadata, ProviderState, StopReason, StreamEvent};
use art_core::tool::ToolCallRequest;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::fault::Redactor;
use crate::key::Key;

/// Redacts the key in the events of one reply. If the end of a piece of text may be the beginning of the key, that end is held
/// back until the next piece.
#[derive(Debug)]
pub(super) struct ReplyRedactor {
    redactor: Redactor,
    /// The end of the text so far, if it may be the beginning of the key.
    pending_text: String,
    /// The end of the thoughts so far, if it may be the beginning of the key.
    pending_thinking: String,
}

impl ReplyRedactor {
    pub(super) fn new(key: &Key) -> Self {
        let key = key.secret.as_ref();
        // Some JSON writers escape each `/` as `\/`.
        let escaped = key.map(|key| SecretString::from(key.expose_secret().replace('/', "\\/")));
        Self {
            redactor: Redactor::new(key.cloned().into_iter().chain(escaped)),
            pending_text: String::new(),
            pending_thinking: String::new(),
        }
    }

    /// Returns the event without the key, or `None` while all of its text is pending.
    pub(super) fn redact_event(&mut self, event: StreamEvent) -> Option<StreamEvent> {
        let non_empty = |text: String| (!text.is_empty()).then_some(text);
        match event {
            StreamEvent::Token(text) => {
                non_empty(self.redactor.redact_piece(&mut self.pending_text, &text)).map(StreamEvent::Token)
            }
            StreamEvent::Thinking(text) => {
                non_empty(self.redactor.redact_piece(&mut self.pending_thinking, &text)).map(StreamEvent::Thinking)
            }
            StreamEvent::ToolCall(call) => Some(StreamEvent::ToolCall(self.redact_call(call))),
            StreamEvent::State(state) => Some(StreamEvent::State(ProviderState {
                content: self.redact_value(state.content),
                ..state
            })),
            StreamEvent::Metadata(metadata) => Some(StreamEvent::Metadata(self.redact_metadata(metadata))),
            event => Some(event),
        }
    }

    /// Returns the pending thoughts and text at the end of the reply.
    pub(super) fn flush(&mut self) -> impl Iterator<Item = StreamEvent> {
        let thinking = self.redactor.redact(&std::mem::take(&mut self.pending_thinking));
        let text = self.redactor.redact(&std::mem::take(&mut self.pending_text));
        let thinking = (!thinking.is_empty()).then_some(StreamEvent::Thinking(thinking));
        let text = (!text.is_empty()).then_some(StreamEvent::Token(text));
        thinking.into_iter().chain(text)
    }

    fn redact_call(&self, mut call: ToolCallRequest) -> ToolCallRequest {
        call.id = self.redactor.redact(&call.id);
        call.function.name = self.redactor.redact(&call.function.name);
        let arguments = &mut call.function.arguments;
        match serde_json::from_str::<Value>(arguments) {
            // The JSON text may contain the key in an escaped form.
            Ok(value) => {
                let redacted = self.redact_value(value.clone());
                if redacted != value {
                    *arguments = redacted.to_string();
                }
            }
            Err(_) => *arguments = self.redactor.redact(arguments),
        }
        call
    }

    fn redact_metadata(&self, metadata: LlmMetadata) -> LlmMetadata {
        let redact_reason = |reason| match reason {
            StopReason::Other(text) => StopReason::Other(self.redactor.redact(&text)),
            reason => reason,
        };
        LlmMetadata {
            stop_reason: metadata.stop_reason.map(redact_reason),
            provider_raw_usage: metadata.provider_raw_usage.map(|usage| self.redact_value(usage)),
            ..metadata
        }
    }

    /// Returns the value with the key redacted in all strings and object keys.
    fn redact_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redactor.redact(&text)),
            Value::Array(values) => values.into_iter().map(|value| self.redact_value(value)).collect(),
            Value::Object(map) => {
                let entries = map.into_iter();
                entries
                    .map(|(name, value)| (self.redactor.redact(&name), self.redact_value(value)))
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
    use crate::testing::{API_KEY, token};
    use art_core::tool::{FunctionCall, FunctionKind};
    use proptest::prelude::*;
    use serde_json::json;

    fn redactor(key: &str) -> ReplyRedactor {
        ReplyRedactor::new(&Key {
            source: KeySource::None,
            secret: Some(SecretString::from(key)),
        })
    }

    /// Returns the redacted text of a reply that arrives in `pieces`.
    fn redact_pieces(key: &str, pieces: &[&str]) -> String {
        let mut redactor = redactor(key);
        let mut events: Vec<_> = pieces
            .iter()
            .filter_map(|piece| redactor.redact_event(token(piece)))
            .collect();
        events.extend(redactor.flush());
        let texts = events.into_iter().map(|event| match event {
            StreamEvent::Token(text) => text,
            other => panic!("{other:?}"),
        });
        texts.collect()
    }

    #[test]
    fn a_key_is_redacted_however_a_reply_is_split() {
        let text = format!("Your key is {API_KEY}, and again {API_KEY}{API_KEY}.");
        let redacted = "Your key is [key], and again [key][key].";
        for length in 1..text.len() {
            let (first, second) = text.split_at(length);
            assert_eq!(redact_pieces(API_KEY, &[first, second]), redacted);
        }
        let letters: Vec<_> = text.split_inclusive(|_: char| true).collect();
        assert_eq!(redact_pieces(API_KEY, &letters), redacted);
    }

    #[test]
    fn text_that_only_begins_like_a_key_is_unchanged() {
        assert_eq!(redact_pieces(API_KEY, &["sk-t", "ea"]), "sk-tea");
        assert_eq!(redact_pieces(API_KEY, &["the end is s"]), "the end is s");
    }

    #[test]
    fn a_truncated_key_at_the_end_is_redacted() {
        assert_eq!(redact_pieces(API_KEY, &["it is ", &API_KEY[..10]]), "it is [key]");
    }

    #[test]
    fn a_key_with_an_escaped_slash_is_redacted() {
        assert_eq!(
            redact_pieces("abc/def/ghi", &[r#"{"a": "abc\/def\/ghi"}"#]),
            r#"{"a": "[key]"}"#
        );
    }

    #[test]
    fn a_key_in_call_arguments_is_redacted_in_any_encoding() {
        let redact_arguments = |text: &str| {
            let call = ToolCallRequest {
                id: API_KEY.to_owned(),
                kind: FunctionKind::Function,
                function: FunctionCall {
                    name: "f".to_owned(),
                    arguments: text.to_owned(),
                },
            };
            match redactor(API_KEY).redact_event(StreamEvent::ToolCall(call)) {
                Some(StreamEvent::ToolCall(call)) => {
                    assert_eq!(call.id, "[key]");
                    call.function.arguments
                }
                other => panic!("{other:?}"),
            }
        };
        let escaped = API_KEY.replace('-', "\\u002d");
        assert_eq!(
            redact_arguments(&format!("{{\"a\": [\"{escaped}\"]}}")),
            r#"{"a":["[key]"]}"#
        );
        assert_eq!(redact_arguments(&format!("{{ \"{API_KEY}\" : 1 }}")), r#"{"[key]":1}"#);
        assert_eq!(redact_arguments(&format!("not JSON: {API_KEY}")), "not JSON: [key]");
        assert_eq!(redact_arguments("{ \"a\" : 1.50 }"), "{ \"a\" : 1.50 }");
    }

    #[test]
    fn a_key_in_state_metadata_or_thoughts_is_redacted() {
        let state = ProviderState {
            protocol: "some-protocol".to_owned(),
            content: json!({"a": [API_KEY]}),
        };
        let metadata = LlmMetadata {
            stop_reason: Some(StopReason::Other(API_KEY.to_owned())),
            provider_raw_usage: Some(json!({API_KEY: API_KEY})),
            ..LlmMetadata::default()
        };
        for event in [
            StreamEvent::State(state),
            StreamEvent::Metadata(metadata),
            StreamEvent::Thinking(API_KEY.to_owned()),
        ] {
            let redacted = format!("{:?}", redactor(API_KEY).redact_event(event));
            assert!(redacted.contains("[key]") && !redacted.contains(API_KEY), "{redacted}");
        }
    }

    proptest! {
        #[test]
        fn a_text_without_the_first_six_characters_of_the_key_is_unchanged(
            pieces in prop::collection::vec("[sk tes-]{0,6}", 0..20),
        ) {
            let pieces: Vec<_> = pieces.iter().map(String::as_str).collect();
            let text = pieces.concat();
            // At the end of a text, the first six characters of the key are redacted as a truncated key.
            prop_assume!(!text.contains("sk-tes"));
            prop_assert_eq!(redact_pieces(API_KEY, &pieces), text);
        }
    }
}
