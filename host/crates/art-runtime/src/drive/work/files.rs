//! Moves logs and files of tool calls to the store, and files from the store into arguments.

use art_agent::FileArgument;
use art_core::error::ToolErrorCode;
use art_core::tool::ParsedToolCall;
use art_store::{Store, StoreError};
use art_tools::ToolReport;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Stores the logs and files of calls, and adds their digests to the results. A log or file that cannot be stored gets no digest.
pub(super) async fn store_files(store: &dyn Store, trace_id: &str, reports: &mut [ToolReport]) {
    for report in reports {
        let metadata = &mut report.result.metadata;
        if !report.log.is_empty() {
            let log = serde_json::to_vec(&report.log).unwrap_or_default();
            metadata.log_digest = store_blob(store, trace_id, log).await;
        }
        for (info, file) in metadata.attachments.iter_mut().zip(report.attachments.iter()) {
            info.digest = store_blob(store, trace_id, file.data.clone()).await;
        }
    }
}

/// Stores `bytes` and returns their digest, or `None` if the store refuses them.
async fn store_blob(store: &dyn Store, trace_id: &str, bytes: Vec<u8>) -> Option<String> {
    match store.put_blob(trace_id, bytes).await {
        Ok(digest) => Some(digest),
        Err(error @ StoreError::BlobsFull { .. }) => {
            tracing::warn!(%error, "a file or log of a tool is not stored");
            None
        }
        Err(error) => {
            tracing::error!(%error, "a file or log of a tool could not be stored");
            None
        }
    }
}

/// Replaces the arguments at `places` by the content of stored files. Returns the calls, and a report for each call whose files
/// cannot be read.
pub(super) async fn insert_files(
    store: &dyn Store,
    thread_id: &str,
    calls: Vec<ParsedToolCall>,
    places: &[FileArgument],
) -> (Vec<ParsedToolCall>, Vec<ToolReport>) {
    let (mut ready, mut refused) = (Vec::with_capacity(calls.len()), Vec::new());
    for mut call in calls {
        let files = places.iter().filter(|place| place.call_id == call.call_id);
        match insert_call_files(store, thread_id, &mut call.arguments, files).await {
            Ok(()) => ready.push(call),
            Err(reason) => refused.push(ToolReport::not_run(&call, ToolErrorCode::IoError, reason)),
        }
    }
    (ready, refused)
}

async fn insert_call_files(
    store: &dyn Store,
    thread_id: &str,
    arguments: &mut Value,
    files: impl Iterator<Item = &FileArgument>,
) -> Result<(), String> {
    for file in files {
        let bytes = store.get_blob(thread_id, &file.digest).await;
        let bytes = bytes.map_err(|error| format!("not called: a file cannot be read: {error}"))?;
        let bytes = bytes.ok_or("not called: a file that it names is not kept any more; leave it out")?;
        if let Some(argument) = arguments.pointer_mut(&file.pointer) {
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
    use crate::testing::store_with_run;
    use art_store::digest;
    use serde_json::json;

    fn call(id: &str) -> ParsedToolCall {
        ParsedToolCall {
            call_id: id.to_owned(),
            tool_name: "tool".to_owned(),
            arguments: json!({"a": ["attachment:x", "attachment:y"]}),
        }
    }

    fn file(call_id: &str, pointer: &str, digest: String) -> FileArgument {
        FileArgument {
            call_id: call_id.to_owned(),
            pointer: pointer.to_owned(),
            digest,
        }
    }

    #[tokio::test]
    async fn the_content_of_a_file_is_inserted_without_further_replacement() {
        let store = store_with_run().await;
        let text = store.put_blob("r", b"attachment:y".to_vec()).await.unwrap();
        let bytes = store.put_blob("r", vec![0xff, 0]).await.unwrap();
        let files = [file("c", "/a/0", text), file("c", "/a/1", bytes)];
        let (calls, refused) = insert_files(&store, "t", vec![call("c")], &files).await;
        assert_eq!(calls[0].arguments, json!({"a": ["attachment:y", "/wA="]}));
        assert_eq!(refused, []);
    }

    #[tokio::test]
    async fn a_call_whose_file_is_missing_is_refused() {
        let files = [file("gone", "/a/0", digest(b"never kept"))];
        let (calls, refused) =
            insert_files(&store_with_run().await, "t", vec![call("gone"), call("other")], &files).await;
        assert_eq!(calls, [call("other")]);
        let result = &refused[0].result;
        assert_eq!((result.call_id.as_str(), result.metadata.not_run), ("gone", true));
        assert!(result.error.as_ref().unwrap().contains("not kept any more"));
    }
}
