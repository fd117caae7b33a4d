use art_agent::{ActionId, CallEnd, RunStart};
use art_core::agent::{AgentProps, QueryAttachment};
use art_core::outcome::CallEnding;
use art_core::provider::RuntimeProviderConfig;
use art_core::tool::{ParsedToolCall, ToolResult};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// The blobs that a run stores besides its journal, and the cache of its tool declarations.
#[derive(Default)]
struct Blobs(BTreeMap<String, Vec<u8>>, Declarations);

impl Blobs {
    fn encode(&mut self, event: &RunEvent) -> String {
        let store = |blob: Blob| {
            self.0.insert(blob.digest().to_owned(), blob.bytes().to_vec());
            Some(blob.digest().to_owned())
        };
        encode("r", event, &self.1, store).unwrap().payload.into_string()
    }

    fn decode(&self, payload: &str) -> RunEvent {
        serde_json::from_str(&restore_values(payload, &self.0).unwrap()).unwrap()
    }
}

fn tool_ended(output: Value) -> RunEvent {
    let call = ParsedToolCall {
        call_id: "c".to_owned(),
        tool_name: "t".to_owned(),
        arguments: json!({}),
    };
    let result = ToolResult::success(&call, output);
    RunEvent::ToolEnded {
        at: 1,
        action: ActionId(2),
        end: Box::new(CallEnd::new(result, CallEnding::Success)),
    }
}

/// Returns the start of a run with two tools, whose descriptions have this length, and with a large attachment.
fn run_started(description_length: usize) -> RunEvent {
    let props = AgentProps {
        query: "q".to_owned(),
        trace_id: Some("r".to_owned()),
        attachments: vec![QueryAttachment {
            text: "x".repeat(2 * LARGE),
            ..QueryAttachment::default()
        }],
        ..AgentProps::default()
    };
    let mut start = Box::new(RunStart::new(props, RuntimeProviderConfig::default()));
    let tool = |name: &str| {
        let description = "d".repeat(description_length);
        serde_json::from_value(json!({"name": name, "description": description, "inputSchema": {"type": "object"}}))
    };
    start.tools = vec![tool("a").unwrap(), tool("b").unwrap()];
    RunEvent::Started { at: 0, start }
}

#[test]
fn a_small_event_is_stored_as_it_is() {
    let mut blobs = Blobs::default();
    let event = tool_ended(json!({"n": 1}));
    let payload = blobs.encode(&event);
    assert_eq!(payload, serde_json::to_string(&event).unwrap());
    assert!(blobs.0.is_empty());
    assert_eq!(blobs.decode(&payload), event);
}

#[test]
fn a_large_output_is_stored_once_by_its_digest() {
    let mut blobs = Blobs::default();
    let event = tool_ended(json!({"text": "x".repeat(LARGE), "after": 1}));
    let (first, second) = (blobs.encode(&event), blobs.encode(&event));
    assert!(first.len() < 1_000, "{first}");
    assert_eq!(blobs.0.len(), 1);
    assert_eq!((first.as_str(), digests(&first).len()), (second.as_str(), 1));
    assert_eq!(blobs.decode(&first), event);
}

#[test]
fn a_large_value_keeps_the_order_of_its_keys() {
    let mut blobs = Blobs::default();
    let output = json!({"z": "x".repeat(LARGE), "a": {"y": 1, "b": "x".repeat(LARGE)}, "c": 0.1});
    let payload = blobs.encode(&tool_ended(output.clone()));
    let RunEvent::ToolEnded { end, .. } = blobs.decode(&payload) else {
        panic!("another event");
    };
    assert_eq!(end.result.output.unwrap().to_string(), output.to_string());
}

#[test]
fn each_large_tool_declaration_is_stored_as_its_own_blob() {
    let mut blobs = Blobs::default();
    let event = run_started(LARGE);
    let payload = blobs.encode(&event);
    // Two tools, and the attachments.
    assert_eq!((digests(&payload).len(), blobs.0.len()), (3, 3));
    assert_eq!(blobs.decode(&payload), event);
}

#[test]
fn a_declaration_with_reordered_keys_is_stored_as_another_blob() {
    let mut blobs = Blobs::default();
    let parse_tool = |properties: &str| {
        let text = format!(
            r#"{{"name": "a", "description": "{}", "inputSchema": {{{properties}}}}}"#,
            "d".repeat(LARGE)
        );
        serde_json::from_str::<ToolSchema>(&text).unwrap()
    };
    let (first, reordered) = (parse_tool(r#""x": 1, "y": 2"#), parse_tool(r#""y": 2, "x": 1"#));
    assert_eq!(first, reordered);
    for (tool, blob_count) in [(&first, 2), (&first, 2), (&reordered, 3), (&first, 3)] {
        let mut event = run_started(10);
        let RunEvent::Started { start, .. } = &mut event else {
            unreachable!()
        };
        start.tools = vec![tool.clone()];
        let payload = blobs.encode(&event);
        let RunEvent::Started { start, .. } = blobs.decode(&payload) else {
            unreachable!()
        };
        assert_eq!(json!(start.tools[0]).to_string(), json!(tool).to_string());
        // The declarations, and the attachment.
        assert_eq!(blobs.0.len(), blob_count);
    }
}

#[test]
fn small_declarations_of_tools_stay_in_the_event() {
    let mut blobs = Blobs::default();
    let event = run_started(10);
    let payload = blobs.encode(&event);
    // That of the attachments.
    assert_eq!(digests(&payload).len(), 1);
    assert_eq!(blobs.decode(&payload), event);
}

#[test]
fn a_large_value_without_room_in_the_store_stays_in_the_event() {
    for event in [run_started(LARGE), tool_ended(json!("x".repeat(LARGE)))] {
        let payload = encode("r", &event, &Declarations::default(), |_| None).unwrap().payload;
        assert!(digests(&payload).is_empty());
        assert_eq!(Blobs::default().decode(&payload), event);
    }
}

#[test]
fn an_output_that_looks_like_a_blob_reference_is_read_as_data() {
    let mut blobs = Blobs::default();
    let digest = art_store::digest(b"\"secret\"");
    blobs.0.insert(digest.clone(), b"\"secret\"".to_vec());
    for output in [
        json!({"values": [["/end/result/output", digest]]}),
        json!(format!("\"values\":[[\"/end/result/output\",\"{digest}\"]]")),
    ] {
        let event = tool_ended(output);
        let payload = blobs.encode(&event);
        assert_eq!(blobs.decode(&payload), event);
    }
}

#[test]
fn a_missing_blob_and_an_unknown_place_are_errors() {
    let mut blobs = Blobs::default();
    let payload = blobs.encode(&tool_ended(json!("x".repeat(LARGE))));
    let missing = restore_values(&payload, &BTreeMap::new()).unwrap_err();
    assert!(missing.ends_with("is missing"), "{missing}");
    let moved = payload.replace("/end/result/output", "/end/nowhere/output");
    let misplaced = restore_values(&moved, &blobs.0).unwrap_err();
    assert!(misplaced.contains("no place `/end/nowhere/output`"), "{misplaced}");
}

#[test]
fn values_that_are_too_large_together_are_refused() {
    let blob = serde_json::to_vec(&"x".repeat(16 << 20)).unwrap();
    let digest = art_store::digest(&blob);
    let blobs = BTreeMap::from([(digest.clone(), blob)]);
    let payload = json!({"type": "t", "a": null, "values": vec![("/a", digest); 5]}).to_string();
    let refused = restore_values(&payload, &blobs).unwrap_err();
    assert!(refused.contains("more than 67108864 bytes"), "{refused}");
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(Value::from),
        (0..3 * LARGE).prop_map(|n| json!("é".repeat(n)))
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a/~\"]{0,3}", inner), 0..3).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_event_with_any_output_is_read_as_it_was_stored(output in any_value(), has_room in any::<bool>()) {
        let mut blobs = Blobs::default();
        let event = tool_ended(output);
        let payload = if has_room {
            blobs.encode(&event)
        } else {
            encode("r", &event, &Declarations::default(), |_| None).unwrap().payload.into_string()
        };
        prop_assert_eq!(blobs.decode(&payload), event);
    }

    #[test]
    fn no_text_of_an_event_makes_the_reader_panic(payload in "\\PC{0,80}", place in "[/a0~]{0,6}") {
        let blobs = BTreeMap::from([("d".to_owned(), b"1".to_vec())]);
        drop(restore_values(&payload, &blobs));
        let payload = json!({"a": [0, {}], "values": [[place, "d"]]}).to_string();
        drop(restore_values(&payload, &blobs));
    }
}
