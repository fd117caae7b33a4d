//! Moves logs and files of tool calls to the store, and files from the store into arguments.

use art_agent::FilePlace;
use art_core::error::ToolErrorCode;
use art_core::tool::ParsedToolCall;
use art_store::{Store, StoreError};
use art_tools::ToolReport;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Stores the logs and files of calls, and adds their digests to the results. What cannot be stored gets no digest.
pub(super) async fn store_files(store: &dyn Store, trace_id: &str, reports: &mut [ToolReport]) {
    for report in reports {
        let metadata = &mut report.result.metadata;
        if !report.log.is_empty() {
            let log = serde_json::to_vec(&report.log).unwrap_or_default();
            metadata.log_digest = put(store, trace_id, log).await;
        }
        for (info, file) in metadata.attachments.iter_mut().zip(report.attachments.iter()) {
            info.digest = put(store, trace_id, file.data.clone()).await;
        }
    }
}

async fn put(store: &dyn Store, trace_id: &str, bytes: Vec<u8>) -> Option<String> {
    match store.put_blob(trace_id, bytes).await {
        Ok(digest) => Some(digest),
        Err(error @ StoreError::BlobsFull { .. }) => {
            tracing::warn!(%error, "what a tool left is not kept");
            None
        }
        Err(error) => {
            tracing::error!(%error, "what a tool left cannot be kept");
            None
        }
    }
}

/// Returns the calls with the files of earlier calls in their arguments, and the reports of those whose files cannot be
/// read.
pub(super) async fn fill_in(
    store: &dyn Store,
    thread_id: &str,
    calls: Vec<ParsedToolCall>,
    files: &[FilePlace],
) -> (Vec<ParsedToolCall>, Vec<ToolReport>) {
    let (mut whole, mut refused) = (Vec::with_capacity(calls.len()), Vec::new());
    for mut call in calls {
        let places = files.iter().filter(|place| place.call_id == call.call_id);
        match fill_in_call(store, thread_id, &mut call.arguments, places).await {
            Ok(()) => whole.push(call),
            Err(reason) => refused.push(ToolReport::not_run(&call, ToolErrorCode::IoError, reason)),
        }
    }
    (whole, refused)
}

async fn fill_in_call(
    store: &dyn Store,
    thread_id: &str,
    arguments: &mut Value,
    places: impl Iterator<Item = &FilePlace>,
) -> Result<(), String> {
    for place in places {
        let bytes = store.get_blob(thread_id, &place.digest).await;
        let bytes = bytes.map_err(|error| format!("not called: a file cannot be read: {error}"))?;
        let bytes = bytes.ok_or("not called: a file that it names is not kept any more; leave it out")?;
        if let Some(argument) = arguments.pointer_mut(&place.pointer) {
            *argument = Value::from(content(bytes));
        }
    }
    Ok(())
}

/// Returns the content of a file as text, or in base64 if it is not text.
fn content(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| STANDARD.encode(error.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_store::{MemoryStore, NewRun, NewThread, digest};
    use serde_json::json;

    async fn store() -> MemoryStore {
        let store = MemoryStore::new();
        let thread = NewThread {
            id: "t".to_owned(),
            ..NewThread::default()
        };
        store.create_thread(thread).await.unwrap();
        let run = NewRun {
            trace_id: "r".to_owned(),
            thread_id: "t".to_owned(),
            ..NewRun::default()
        };
        store.begin_run(run).await.unwrap();
        store
    }

    fn call(id: &str) -> ParsedToolCall {
        ParsedToolCall {
            call_id: id.to_owned(),
            tool_name: "tool".to_owned(),
            arguments: json!({"a": ["attachment:x", "attachment:y"]}),
        }
    }

    fn place(call_id: &str, pointer: &str, digest: String) -> FilePlace {
        FilePlace {
            call_id: call_id.to_owned(),
            pointer: pointer.to_owned(),
            digest,
        }
    }

    #[tokio::test]
    async fn a_file_is_put_in_once_whatever_is_in_it() {
        let store = store().await;
        let text = store.put_blob("r", b"attachment:y".to_vec()).await.unwrap();
        let bytes = store.put_blob("r", vec![0xff, 0]).await.unwrap();
        let places = [place("c", "/a/0", text), place("c", "/a/1", bytes)];
        let (calls, refused) = fill_in(&store, "t", vec![call("c")], &places).await;
        assert_eq!(calls[0].arguments, json!({"a": ["attachment:y", "/wA="]}));
        assert_eq!(refused, []);
    }

    #[tokio::test]
    async fn a_call_whose_file_is_gone_is_answered_and_not_made() {
        let places = [place("gone", "/a/0", digest(b"never kept"))];
        let (calls, refused) = fill_in(&store().await, "t", vec![call("gone"), call("other")], &places).await;
        assert_eq!(calls, [call("other")]);
        let result = &refused[0].result;
        assert_eq!((result.call_id.as_str(), result.metadata.not_run), ("gone", true));
        assert!(result.error.as_ref().unwrap().contains("not kept any more"));
    }
}
