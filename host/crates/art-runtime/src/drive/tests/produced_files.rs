//! Files that tools produce.

use std::sync::atomic::{AtomicU8, Ordering};

use art_core::outcome::{Attachment, Success};

use super::*;

const PRODUCED_FILES: u32 = 5;

#[tokio::test]
async fn a_run_stores_files_up_to_its_limit_and_continues_without_the_others() {
    let (_home, runtime) = scripted::runtime_calling("produces_file", PRODUCED_FILES);
    let next_byte = AtomicU8::new(0);
    // The files have different bytes, since equal files are stored once. Each has the maximum size of a file, 16 MiB. A run
    // stores at most 64 MiB, which has room for three of these files: each counts as a little more than its size.
    let tool = scripted::tool("produces_file", move || {
        let file = Attachment {
            media_type: "text/plain".to_owned(),
            filename: Some("a.txt".to_owned()),
            data: vec![next_byte.fetch_add(1, Ordering::Relaxed); art_store::limits::MAX_VALUE_BYTES],
        };
        std::future::ready(Ending::Success(Success {
            output: "1".to_owned(),
            attachments: vec![file],
            ..Success::default()
        }))
    });
    runtime.tools.registry().register(tool).unwrap();
    let answer = ask(&runtime, question(), CancellationToken::new()).await.unwrap();
    assert_eq!(answer.report.response.metadata.status, RunStatus::Success);
    let names: Vec<_> = answer.report.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["a.txt", "a-2.txt", "a-3.txt"]);
    let results = &answer.report.items[0].tool_results;
    let is_stored: Vec<_> = results
        .iter()
        .map(|result| result.metadata.attachments[0].digest.is_some())
        .collect();
    assert_eq!(is_stored, [true, true, true, false, false]);
    for file in &answer.report.files {
        let bytes = runtime.store.get_blob(&answer.thread_id, &file.digest).await.unwrap();
        assert_eq!(bytes.unwrap().len() as u64, file.bytes);
    }
}
