//! Tests of the decoders of all protocols: properties of the decoded replies that hold whatever bytes a provider sends.

use art_core::stream::StreamEvent;
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::protocol::tests::{events_as_text, sse_bytes};
use crate::protocol::{Protocol, codec, replay};

/// Recorded streams of all protocols, each with a provider that uses the protocol.
const SAMPLES: [(Protocol, &str, &[u8]); 5] = [
    (Protocol::OpenaiChat, "deepseek", include_bytes!("../samples/chat.sse")),
    (
        Protocol::OpenaiChat,
        "openrouter",
        include_bytes!("../samples/chat_think.sse"),
    ),
    (
        Protocol::OpenaiResponses,
        "openai",
        include_bytes!("../samples/responses.sse"),
    ),
    (
        Protocol::Anthropic,
        "anthropic",
        include_bytes!("../samples/anthropic.sse"),
    ),
    (Protocol::Gemini, "gemini", include_bytes!("../samples/gemini.sse")),
];

#[test]
fn splitting_a_sample_does_not_change_its_events() {
    for (protocol, provider, sample) in SAMPLES {
        let expected = replay(protocol, provider, [sample]);
        assert_eq!(expected.last(), Some(&StreamEvent::End), "{protocol:?}");
        for at in 0..=sample.len() {
            assert_eq!(
                replay(protocol, provider, [&sample[..at], &sample[at..]]),
                expected,
                "{protocol:?} at {at}"
            );
        }
        assert_eq!(
            replay(protocol, provider, sample.chunks(1)),
            expected,
            "{protocol:?} byte by byte"
        );
    }
}

#[test]
fn a_truncated_stream_ends_normally_with_all_calls_or_in_an_error_without_calls() {
    for (protocol, provider, sample) in SAMPLES {
        let expected = replay(protocol, provider, [sample]);
        let count_calls = |events: &[StreamEvent]| {
            events
                .iter()
                .filter(|event| matches!(event, StreamEvent::ToolCall(_)))
                .count()
        };
        for at in (0..sample.len()).step_by(3) {
            let events = replay(protocol, provider, [&sample[..at]]);
            match events.last() {
                Some(StreamEvent::End) => {
                    assert_eq!(count_calls(&events), count_calls(&expected), "{protocol:?} at {at}")
                }
                Some(StreamEvent::Error(error)) => {
                    assert!(
                        error.message.starts_with("the stream was interrupted"),
                        "{protocol:?} at {at}: {error}"
                    );
                    assert_eq!(count_calls(&events), 0, "{protocol:?} at {at}");
                }
                other => panic!("{protocol:?} at {at}: {other:?}"),
            }
        }
    }
}

#[test]
fn line_ends_do_not_change_the_events() {
    for (protocol, provider, sample) in SAMPLES {
        let lines = std::str::from_utf8(sample).unwrap().replace("\r\n", "\n");
        let expected = events_as_text(&replay(protocol, provider, [sample]));
        for end in ["\n", "\r\n", "\r"] {
            let text = lines.replace('\n', end);
            assert_eq!(
                events_as_text(&replay(protocol, provider, [text.as_bytes()])),
                expected,
                "{protocol:?} {end:?}"
            );
        }
    }
}

/// Names and values of fields that the decoders look for, so that random server-sent events get past the first checks.
const WORDS: &[&str] = &[
    "choices",
    "delta",
    "message",
    "content",
    "index",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "id",
    "type",
    "usage",
    "finish_reason",
    "reasoning_content",
    "reasoning_details",
    "refusal",
    "prompt_tokens",
    "error",
    "code",
    "response",
    "output",
    "item",
    "output_index",
    "status",
    "summary",
    "encrypted_content",
    "response.completed",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "function_call",
    "reasoning",
    "response.function_call_arguments.delta",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "content_block",
    "tool_use",
    "thinking",
    "thinking_delta",
    "input_json_delta",
    "partial_json",
    "signature",
    "signature_delta",
    "text",
    "text_delta",
    "stop_reason",
    "candidates",
    "parts",
    "functionCall",
    "args",
    "thought",
    "thoughtSignature",
    "finishReason",
    "STOP",
    "stop",
    "length",
    "max_tokens",
    "usageMetadata",
    "promptTokenCount",
    "promptFeedback",
    "blockReason",
    "<think>",
    "</think>",
    "\n",
    "{}",
    "{\"a\":",
];

/// Generates texts, mostly from [`WORDS`].
fn word() -> impl Strategy<Value = String> {
    prop_oneof![4 => proptest::sample::select(WORDS).prop_map(str::to_owned), 1 => ".{0,8}"]
}

/// Generates JSON with fields and texts from [`word`].
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..4u64).prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 5, |inner| {
        let fields = proptest::collection::vec((word(), inner.clone()), 0..5);
        prop_oneof![
            2 => fields.prop_map(|fields| Value::Object(Map::from_iter(fields))),
            1 => proptest::collection::vec(inner, 0..4).prop_map(Value::from),
        ]
    })
}

/// Generates streams of the server-sent events of `sample`, in any order and number, with random events and bytes among them.
fn modified_sample(sample: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    let text = String::from_utf8_lossy(sample).replace("\r\n", "\n");
    let events: Vec<String> = text.split_inclusive("\n\n").map(str::to_owned).collect();
    let piece = prop_oneof![
        5 => proptest::sample::select(events).prop_map(String::into_bytes),
        1 => json().prop_map(|event| sse_bytes(&[event])),
        1 => proptest::collection::vec(any::<u8>(), 0..12),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Checks the `events` of a decoded reply: the last one is the only `End` or `Error`, `End` directly follows the only `Metadata`,
/// a reply with `Error` has no `Metadata`, and the events are not much larger than the `received_bytes`.
fn check_events(events: &[StreamEvent], received_bytes: usize) -> Result<(), TestCaseError> {
    let count = |matches: fn(&StreamEvent) -> bool| events.iter().filter(|event| matches(event)).count();
    let ends = count(|event| matches!(event, StreamEvent::End | StreamEvent::Error(_)));
    prop_assert_eq!(ends, 1);
    let metadata_events = count(|event| matches!(event, StreamEvent::Metadata(_)));
    match events.last() {
        Some(StreamEvent::End) => {
            prop_assert_eq!(metadata_events, 1);
            prop_assert!(matches!(events.iter().rev().nth(1), Some(StreamEvent::Metadata(_))));
        }
        last => {
            prop_assert!(matches!(last, Some(StreamEvent::Error(_))));
            prop_assert_eq!(metadata_events, 0);
        }
    }
    let size = events
        .iter()
        .map(|event| serde_json::to_string(event).unwrap().len())
        .sum::<usize>();
    // The bound is generous, because the JSON of each event adds field names and escapes, and even an empty reply has events.
    prop_assert!(size <= 16 * received_bytes + 8192, "{size} out of {received_bytes}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_events_decode_to_a_small_reply_with_one_end(events in proptest::collection::vec(json(), 0..12)) {
        let bytes = sse_bytes(&events);
        for (protocol, provider, _) in SAMPLES {
            check_events(&replay(protocol, provider, [bytes.as_slice()]), bytes.len())?;
        }
    }

    #[test]
    fn random_bodies_decode_to_a_small_reply_with_one_end(body in json()) {
        for (protocol, provider, _) in SAMPLES {
            let codec = codec(protocol, provider);
            check_events(&codec.decode_body(&body), body.to_string().len())?;
            // The names come from one list of the body, and each list that `json` generates has at most 3 entries.
            prop_assert!(codec.models(&body).len() <= 3);
        }
    }

    #[test]
    fn random_bytes_decode_to_a_small_reply_with_one_end(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for (protocol, provider, _) in SAMPLES {
            check_events(&replay(protocol, provider, [bytes.as_slice()]), bytes.len())?;
        }
    }

    #[test]
    fn splitting_a_modified_sample_does_not_change_its_events(
        (index, bytes) in (0..SAMPLES.len()).prop_flat_map(|index| (Just(index), modified_sample(SAMPLES[index].2))),
        piece_length in 1usize..40,
    ) {
        let (protocol, provider, _) = SAMPLES[index];
        let expected = replay(protocol, provider, [bytes.as_slice()]);
        check_events(&expected, bytes.len())?;
        prop_assert_eq!(replay(protocol, provider, bytes.chunks(piece_length)), expected);
    }
}
