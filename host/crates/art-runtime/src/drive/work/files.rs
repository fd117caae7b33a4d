//! Inserts the contents of stored files into the arguments of calls.

use art_agent::FileArgument;
use art_store::Store;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Replaces each argument that names a stored file by the content of the file. `file_arguments` has the position of each such
/// argument and the digest of its file.
///
/// # Errors
/// Fails with the reason if a file cannot be read.
pub(crate) async fn insert_files(
    store: &dyn Store,
    thread_id: &str,
    arguments: &mut Value,
    file_arguments: &[FileArgument],
) -> Result<(), String> {
    for file_argument in file_arguments {
        let bytes = store.get_blob(thread_id, &file_argument.digest).await;
        let bytes = bytes.map_err(|error| format!("not called: a file cannot be read: {error}"))?;
        let bytes =
            bytes.ok_or("not called: its arguments name a file that is not kept any more; leave that file out")?;
        insert_file(arguments, file_argument, bytes);
    }
    Ok(())
}

/// Replaces the argument at the position of `file_argument` by the content of its file.
pub(crate) fn insert_file(arguments: &mut Value, file_argument: &FileArgument, bytes: Vec<u8>) {
    if let Some(argument) = arguments.pointer_mut(&file_argument.pointer) {
        *argument = Value::from(text_or_base64(bytes));
    }
}

/// Returns the content of a file as text, or in base64 if it is not text.
fn text_or_base64(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| STANDARD.encode(error.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::store_with_run;
    use art_store::{Blob, digest};
    use serde_json::json;

    /// Returns the entry which says that the argument at `pointer` names a file with this content.
    fn file_argument(pointer: &str, bytes: &[u8]) -> FileArgument {
        FileArgument {
            pointer: pointer.to_owned(),
            digest: digest(bytes),
        }
    }

    #[tokio::test]
    async fn inserted_content_that_names_a_file_is_not_replaced_again() {
        let (content_of_x, content_of_y): (&[u8], &[u8]) = (b"attachment:y", &[0xff, 0]);
        let blobs = [content_of_x, content_of_y].map(|content| Blob::new(content.to_vec()));
        let store = store_with_run(|commit| commit.blobs = blobs.into()).await;
        let mut arguments = json!({"a": ["attachment:x", "attachment:y"]});
        let files = [file_argument("/a/0", content_of_x), file_argument("/a/1", content_of_y)];
        insert_files(&store, "t", &mut arguments, &files).await.unwrap();
        let base64_of_y = "/wA=";
        assert_eq!(arguments, json!({"a": ["attachment:y", base64_of_y]}));
    }

    #[tokio::test]
    async fn a_call_whose_file_is_missing_is_refused() {
        let store = store_with_run(|_| ()).await;
        let mut arguments = json!({"a": "attachment:x"});
        let refused = insert_files(&store, "t", &mut arguments, &[file_argument("/a", b"never kept")]).await;
        assert!(refused.unwrap_err().contains("not kept any more"));
    }
}
