//! Decoding of recorded streams, which come from the tests of Anthropic's SDK. They are decoded whole, split in pieces, and
//! truncated (contracts M04, M05, M10).
//!
//! The recordings are downloaded, not part of the repository. The expected result is extracted from the recording
//! itself by a deliberately simple parser, which reads whole files and handles no splits, errors or limits.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use art_core::stream::{ModelReply, StreamEvent};
use art_model::{Protocol, replay};
use serde_json::Value;

/// The variable with the folder of the recordings of Anthropic's SDK, one stream in each file.
const RECORDINGS_VARIABLE: &str = "ART_PROVIDER_RECORDINGS";
/// Minimum number of recordings, so that the suite fails if some or all of them are missing.
const MIN_RECORDINGS: usize = 19;

struct Recording {
    name: String,
    bytes: Vec<u8>,
}

impl Recording {
    /// Returns the events of a recording that arrives in `chunks`.
    fn events<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<StreamEvent> {
        replay(Protocol::Anthropic, "anthropic", chunks)
    }

    /// Returns the events of the recording if it arrives as one chunk.
    fn events_of_one_chunk(&self) -> Vec<StreamEvent> {
        Self::events([self.bytes.as_slice()])
    }

    /// Returns the JSON of its `data` lines, in order.
    fn data(&self) -> Vec<Value> {
        let text = std::str::from_utf8(&self.bytes).unwrap();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|json| serde_json::from_str(json).unwrap()).collect()
    }

    /// Returns the offset of the event with the stop reason.
    fn stop_offset(&self) -> usize {
        let text = std::str::from_utf8(&self.bytes).unwrap();
        text.find("event: message_delta").unwrap()
    }
}

fn recordings() -> Vec<Recording> {
    let dir = crate::mock::required_variable(RECORDINGS_VARIABLE, "names the folder of recordings");
    let mut paths: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(
        paths.len() >= MIN_RECORDINGS,
        "there are {} recordings, fewer than {MIN_RECORDINGS}",
        paths.len()
    );
    let read = |path: PathBuf| Recording {
        name: path.file_stem().unwrap().to_string_lossy().into_owned(),
        bytes: fs::read(&path).unwrap(),
    };
    paths.into_iter().map(read).collect()
}

/// A parsed recording: its text, its calls (each as identifier, name and arguments), and its stop reason.
#[derive(Debug, Default, PartialEq)]
struct Parsed {
    text: String,
    calls: Vec<[String; 3]>,
    stop_reason: String,
}

/// Parses a recording with the simple parser. A call counts if its block was closed.
fn parse_simply(recording: &Recording) -> Parsed {
    let mut parsed = Parsed::default();
    let mut open_calls: BTreeMap<u64, [String; 3]> = BTreeMap::new();
    let string = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for event in recording.data() {
        let index = event["index"].as_u64().unwrap_or(u64::MAX);
        let (block, delta) = (&event["content_block"], &event["delta"]);
        match event["type"].as_str().unwrap_or_default() {
            "content_block_start" if block["type"] == "tool_use" => {
                open_calls.insert(index, [string(&block["id"]), string(&block["name"]), String::new()]);
            }
            "content_block_delta" if delta["type"] == "text_delta" => parsed.text += &string(&delta["text"]),
            "content_block_delta" if delta["type"] == "input_json_delta" => {
                if let Some([.., arguments]) = open_calls.get_mut(&index) {
                    *arguments += &string(&delta["partial_json"]);
                }
            }
            "content_block_stop" => parsed.calls.extend(open_calls.remove(&index)),
            "message_delta" => parsed.stop_reason = string(&delta["stop_reason"]),
            _ => {}
        }
    }
    parsed
}

/// Returns the content of `events`, which the protocol has decoded from a recording.
fn parsed_from_events(events: &[StreamEvent]) -> Parsed {
    let mut reply = ModelReply::default();
    for event in events {
        reply.push(event.clone()).unwrap();
    }
    let calls = reply.tool_calls.into_iter();
    Parsed {
        text: reply.text,
        calls: calls
            .map(|call| [call.id, call.function.name, call.function.arguments])
            .collect(),
        stop_reason: reply.metadata.stop_reason.map(String::from).unwrap_or_default(),
    }
}

/// Maps a stop reason of Anthropic to the common name (contract C41).
fn normalize_stop_reason(reason: &str) -> &str {
    match reason {
        "end_turn" | "stop_sequence" => "stop",
        "tool_use" => "tool_calls",
        "max_tokens" => "length",
        "refusal" => "content_filter",
        other => other,
    }
}

/// Returns the kind of each event.
fn kinds(events: &[StreamEvent]) -> Vec<&'static str> {
    let kind = |event: &StreamEvent| match event {
        StreamEvent::Metadata(_) => "metadata",
        StreamEvent::ToolCall(_) => "call",
        StreamEvent::Error(_) => "error",
        StreamEvent::End => "end",
        _ => "piece",
    };
    events.iter().map(kind).collect()
}

#[test]
fn a_recording_is_parsed_to_its_text_calls_and_stop_reason() {
    for recording in recordings() {
        let mut expected = parse_simply(&recording);
        expected.stop_reason = normalize_stop_reason(&expected.stop_reason).to_owned();
        assert_eq!(
            parsed_from_events(&recording.events_of_one_chunk()),
            expected,
            "{}",
            recording.name
        );
    }
}

#[test]
fn a_recording_has_one_metadata_event_which_directly_precedes_its_end() {
    for recording in recordings() {
        let kinds = kinds(&recording.events_of_one_chunk());
        assert!(kinds.ends_with(&["metadata", "end"]), "{}: {kinds:?}", recording.name);
        let count = kinds.iter().filter(|kind| **kind == "metadata").count();
        assert_eq!(count, 1, "{}", recording.name);
    }
}

#[test]
fn a_recording_is_parsed_the_same_wherever_it_is_split() {
    for recording in recordings() {
        let expected = recording.events_of_one_chunk();
        for at in 0..recording.bytes.len() {
            let (before, after) = recording.bytes.split_at(at);
            assert_eq!(
                Recording::events([before, after]),
                expected,
                "{} at {at}",
                recording.name
            );
        }
        assert_eq!(
            Recording::events(recording.bytes.chunks(1)),
            expected,
            "{}",
            recording.name
        );
    }
}

#[test]
fn a_recording_is_parsed_the_same_with_other_line_ends() {
    for recording in recordings() {
        let text = String::from_utf8(recording.bytes.clone()).unwrap();
        for end in ["\r\n", "\r"] {
            let other = text.replace('\n', end);
            for size in [1, 7, other.len()] {
                let events = Recording::events(other.as_bytes().chunks(size));
                assert_eq!(
                    events,
                    recording.events_of_one_chunk(),
                    "{} in pieces of {size}",
                    recording.name
                );
            }
        }
    }
}

#[test]
fn a_recording_truncated_before_its_stop_reason_is_an_error() {
    for recording in recordings() {
        for at in 0..recording.stop_offset() {
            let events = Recording::events([&recording.bytes[..at]]);
            let kinds = kinds(&events);
            assert_eq!(kinds.last(), Some(&"error"), "{} at {at}: {kinds:?}", recording.name);
            assert!(!kinds.contains(&"call"), "{} at {at}: {kinds:?}", recording.name);
        }
    }
}
