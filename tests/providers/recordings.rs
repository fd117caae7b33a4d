//! Streams that a provider's own test suite recorded, read by our dialect (M04, M05, M10).
//!
//! They are fetched, not kept here. What a recording should give is taken from the recording itself, by a reader that is
//! as simple as it can be: it knows whole files and nothing of splits, errors or bounds.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use art_core::stream::{ModelReply, StreamEvent};
use art_model::{Api, replay};
use serde_json::Value;

/// Names the directory with the recordings of Anthropic's SDK, one stream in each file.
const RECORDINGS: &str = "ART_PROVIDER_RECORDINGS";
/// What is known to be there; fewer would be a suite that tests nothing.
const FILES: usize = 19;

struct Recording {
    name: String,
    bytes: Vec<u8>,
}

impl Recording {
    /// Returns the events of it when it comes in `chunks`.
    fn events<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<StreamEvent> {
        replay(Api::Anthropic, "anthropic", chunks)
    }

    fn whole(&self) -> Vec<StreamEvent> {
        Self::events([self.bytes.as_slice()])
    }

    /// Returns the JSON of its `data` lines, in order.
    fn data(&self) -> Vec<Value> {
        let text = std::str::from_utf8(&self.bytes).unwrap();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|json| serde_json::from_str(json).unwrap()).collect()
    }

    /// Returns where the event that says why it stopped begins.
    fn stop(&self) -> usize {
        let text = std::str::from_utf8(&self.bytes).unwrap();
        text.find("event: message_delta").unwrap()
    }
}

fn recordings() -> Vec<Recording> {
    let dir = crate::mock::required(RECORDINGS, "names the folder of recordings");
    let mut paths: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(
        paths.len() >= FILES,
        "there are {} recordings, not {FILES}",
        paths.len()
    );
    let read = |path: PathBuf| Recording {
        name: path.file_stem().unwrap().to_string_lossy().into_owned(),
        bytes: fs::read(&path).unwrap(),
    };
    paths.into_iter().map(read).collect()
}

/// What the simple reader finds: text, calls as identifier, name and arguments, and why it stopped.
#[derive(Debug, Default, PartialEq)]
struct Said {
    text: String,
    calls: Vec<[String; 3]>,
    stopped: String,
}

/// Returns the simple reader. A call counts when its block was closed.
fn said(recording: &Recording) -> Said {
    let mut said = Said::default();
    let mut open: BTreeMap<u64, [String; 3]> = BTreeMap::new();
    let string = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for event in recording.data() {
        let index = event["index"].as_u64().unwrap_or(u64::MAX);
        let (block, delta) = (&event["content_block"], &event["delta"]);
        match event["type"].as_str().unwrap_or_default() {
            "content_block_start" if block["type"] == "tool_use" => {
                open.insert(index, [string(&block["id"]), string(&block["name"]), String::new()]);
            }
            "content_block_delta" if delta["type"] == "text_delta" => said.text += &string(&delta["text"]),
            "content_block_delta" if delta["type"] == "input_json_delta" => {
                if let Some([.., arguments]) = open.get_mut(&index) {
                    *arguments += &string(&delta["partial_json"]);
                }
            }
            "content_block_stop" => said.calls.extend(open.remove(&index)),
            "message_delta" => said.stopped = string(&delta["stop_reason"]),
            _ => {}
        }
    }
    said
}

/// Returns the same of what our dialect gave.
fn heard(events: &[StreamEvent]) -> Said {
    let mut reply = ModelReply::default();
    for event in events {
        reply.push(event.clone()).unwrap();
    }
    let calls = reply.tool_calls.into_iter();
    Said {
        text: reply.text,
        calls: calls
            .map(|call| [call.id, call.function.name, call.function.arguments])
            .collect(),
        stopped: reply.metadata.stop_reason.map(String::from).unwrap_or_default(),
    }
}

/// Anthropic's reasons to stop in the words of the contract (C41).
fn in_our_words(reason: &str) -> &str {
    match reason {
        "end_turn" | "stop_sequence" => "stop",
        "tool_use" => "tool_calls",
        "max_tokens" => "length",
        "refusal" => "content_filter",
        other => other,
    }
}

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
fn a_recording_gives_the_text_the_calls_and_the_reason_that_are_in_it() {
    for recording in recordings() {
        let mut expected = said(&recording);
        expected.stopped = in_our_words(&expected.stopped).to_owned();
        assert_eq!(heard(&recording.whole()), expected, "{}", recording.name);
    }
}

#[test]
fn a_recording_ends_with_its_counts_once() {
    for recording in recordings() {
        let kinds = kinds(&recording.whole());
        assert!(kinds.ends_with(&["metadata", "end"]), "{}: {kinds:?}", recording.name);
        let counts = kinds.iter().filter(|kind| **kind == "metadata").count();
        assert_eq!(counts, 1, "{}", recording.name);
    }
}

#[test]
fn a_recording_says_the_same_wherever_it_is_split() {
    for recording in recordings() {
        let whole = recording.whole();
        for at in 0..recording.bytes.len() {
            let (before, after) = recording.bytes.split_at(at);
            assert_eq!(Recording::events([before, after]), whole, "{} at {at}", recording.name);
        }
        assert_eq!(
            Recording::events(recording.bytes.chunks(1)),
            whole,
            "{}",
            recording.name
        );
    }
}

#[test]
fn a_recording_says_the_same_with_other_ends_of_lines() {
    for recording in recordings() {
        let text = String::from_utf8(recording.bytes.clone()).unwrap();
        for end in ["\r\n", "\r"] {
            let other = text.replace('\n', end);
            for size in [1, 7, other.len()] {
                let events = Recording::events(other.as_bytes().chunks(size));
                assert_eq!(events, recording.whole(), "{} in pieces of {size}", recording.name);
            }
        }
    }
}

#[test]
fn a_recording_that_is_cut_before_its_reason_to_stop_is_an_error_without_calls() {
    for recording in recordings() {
        for at in 0..recording.stop() {
            let events = Recording::events([&recording.bytes[..at]]);
            let kinds = kinds(&events);
            assert_eq!(kinds.last(), Some(&"error"), "{} at {at}: {kinds:?}", recording.name);
            assert!(!kinds.contains(&"call"), "{} at {at}: {kinds:?}", recording.name);
        }
    }
}
