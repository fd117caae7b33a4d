use art_agent::{ActionId, CallEnd, RunStart};
use art_core::agent::{AgentProps, QueryAttachment};
use art_core::outcome::EndingKind;
use art_core::provider::RuntimeProviderConfig;
use art_core::tool::{ParsedToolCall, ToolResult};
use proptest::prelude::*;
use serde_json::json;

use super::*;

const TRACE_ID: &str = "r";

/// A stand-in for the store. It keeps the blobs of a run by their digests.
#[derive(Default)]
struct BlobStore {
    blobs: BTreeMap<String, Vec<u8>>,
    declarations: DeclarationCache,
}

impl BlobStore {
    /// Returns the text of an event, and stores its large values.
    fn encode(&mut self, event: &RunEvent) -> String {
        let store_blob = |blob: Blob| {
            self.blobs.insert(blob.digest().to_owned(), blob.bytes().to_vec());
            Some(blob.digest().to_owned())
        };
        let encoded = encode(TRACE_ID, event, &self.declarations, store_blob).unwrap();
        encoded.payload.into_string()
    }

    fn decode(&self, payload: &str) -> RunEvent {
        serde_json::from_str(&restore_values(payload, &self.blobs).unwrap()).unwrap()
    }
}

/// Returns the text of an event whose run has no room for a blob.
fn encode_without_room(event: &RunEvent) -> String {
    let encoded = encode(TRACE_ID, event, &DeclarationCache::default(), |_| None).unwrap();
    encoded.payload.into_string()
}

/// Returns the end of a call with this output.
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
        end: Box::new(CallEnd::new(result, EndingKind::Success)),
    }
}

/// Returns the start of a run with a large attachment and two tools, whose descriptions have this length.
fn run_started(description_length: usize) -> RunEvent {
    let props = AgentProps {
        query: "q".to_owned(),
        trace_id: Some(TRACE_ID.to_owned()),
        attachments: vec![QueryAttachment {
            text: "x".repeat(2 * MAX_INLINE_BYTES),
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
    let mut store = BlobStore::default();
    let event = tool_ended(json!({"n": 1}));
    let payload = store.encode(&event);
    assert_eq!(payload, serde_json::to_string(&event).unwrap());
    assert!(store.blobs.is_empty());
    assert_eq!(store.decode(&payload), event);
}

#[test]
fn a_large_output_is_stored_once_by_its_digest() {
    let mut store = BlobStore::default();
    let event = tool_ended(json!({"text": "x".repeat(MAX_INLINE_BYTES), "after": 1}));
    let (first, second) = (store.encode(&event), store.encode(&event));
    assert!(first.len() < 1_000, "{first}");
    assert_eq!(value_digests(&first).len(), 1);
    assert_eq!(first, second);
    assert_eq!(store.blobs.len(), 1);
    assert_eq!(store.decode(&first), event);
}

#[test]
fn a_large_value_keeps_the_order_of_its_keys() {
    let mut store = BlobStore::default();
    let output = json!({"z": "x".repeat(MAX_INLINE_BYTES), "a": {"y": 1, "b": "x".repeat(MAX_INLINE_BYTES)}, "c": 0.1});
    let payload = store.encode(&tool_ended(output.clone()));
    let RunEvent::ToolEnded { end, .. } = store.decode(&payload) else {
        panic!("another event");
    };
    assert_eq!(end.result.output.unwrap().to_string(), output.to_string());
}

#[test]
fn each_large_tool_declaration_is_stored_as_its_own_blob() {
    let mut store = BlobStore::default();
    let event = run_started(MAX_INLINE_BYTES);
    let payload = store.encode(&event);
    // The blobs of the two declarations, and the blob of the list of attachments.
    assert_eq!((value_digests(&payload).len(), store.blobs.len()), (3, 3));
    assert_eq!(store.decode(&payload), event);
}

#[test]
fn a_declaration_with_reordered_keys_is_stored_as_another_blob() {
    let mut store = BlobStore::default();
    let parse_tool = |properties: &str| {
        let text = format!(
            r#"{{"name": "a", "description": "{}", "inputSchema": {{{properties}}}}}"#,
            "d".repeat(MAX_INLINE_BYTES)
        );
        serde_json::from_str::<ToolSchema>(&text).unwrap()
    };
    let (first, reordered) = (parse_tool(r#""x": 1, "y": 2"#), parse_tool(r#""y": 2, "x": 1"#));
    assert_eq!(first, reordered);
    // After each event, the store has `blob_count` blobs: those of the declarations so far, and that of the list of attachments.
    for (tool, blob_count) in [(&first, 2), (&first, 2), (&reordered, 3), (&first, 3)] {
        let mut event = run_started(10);
        let RunEvent::Started { start, .. } = &mut event else {
            unreachable!()
        };
        start.tools = vec![tool.clone()];
        let payload = store.encode(&event);
        let RunEvent::Started { start, .. } = store.decode(&payload) else {
            unreachable!()
        };
        assert_eq!(json!(start.tools[0]).to_string(), json!(tool).to_string());
        assert_eq!(store.blobs.len(), blob_count);
    }
}

#[test]
fn small_declarations_of_tools_stay_in_the_event() {
    let mut store = BlobStore::default();
    let event = run_started(10);
    let payload = store.encode(&event);
    // Only the list of attachments is stored as a blob.
    assert_eq!(value_digests(&payload).len(), 1);
    assert_eq!(store.decode(&payload), event);
}

#[test]
fn a_large_value_without_room_in_the_store_stays_in_the_event() {
    for event in [
        run_started(MAX_INLINE_BYTES),
        tool_ended(json!("x".repeat(MAX_INLINE_BYTES))),
    ] {
        let payload = encode_without_room(&event);
        assert!(value_digests(&payload).is_empty());
        assert_eq!(BlobStore::default().decode(&payload), event);
    }
}

#[test]
fn an_output_that_looks_like_a_blob_reference_is_read_as_data() {
    let mut store = BlobStore::default();
    let digest = art_store::digest(b"\"secret\"");
    store.blobs.insert(digest.clone(), b"\"secret\"".to_vec());
    for output in [
        json!({"values": [["/end/result/output", digest]]}),
        json!(format!("\"values\":[[\"/end/result/output\",\"{digest}\"]]")),
    ] {
        let event = tool_ended(output);
        let payload = store.encode(&event);
        assert_eq!(store.decode(&payload), event);
    }
}

#[test]
fn a_missing_blob_and_a_pointer_that_leads_nowhere_are_errors() {
    let mut store = BlobStore::default();
    let payload = store.encode(&tool_ended(json!("x".repeat(MAX_INLINE_BYTES))));
    let missing = restore_values(&payload, &BTreeMap::new()).unwrap_err();
    assert!(missing.ends_with("is missing"), "{missing}");
    let moved = payload.replace("/end/result/output", "/end/nowhere/output");
    let misplaced = restore_values(&moved, &store.blobs).unwrap_err();
    assert!(misplaced.contains("no place `/end/nowhere/output`"), "{misplaced}");
}

#[test]
fn values_that_are_too_large_together_are_refused() {
    // The event refers to a value of 16 MiB five times, and the limit is 64 MiB.
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
        (0..3 * MAX_INLINE_BYTES).prop_map(|n| json!("é".repeat(n)))
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
        let mut store = BlobStore::default();
        let event = tool_ended(output);
        let payload = if has_room {
            store.encode(&event)
        } else {
            encode_without_room(&event)
        };
        prop_assert_eq!(store.decode(&payload), event);
    }

    #[test]
    fn restoring_values_does_not_panic_for_any_text_and_any_pointer(payload in "\\PC{0,80}", pointer in "[/a0~]{0,6}") {
        let blobs = BTreeMap::from([("d".to_owned(), b"1".to_vec())]);
        drop(restore_values(&payload, &blobs));
        let payload = json!({"a": [0, {}], "values": [[pointer, "d"]]}).to_string();
        drop(restore_values(&payload, &blobs));
    }
}
