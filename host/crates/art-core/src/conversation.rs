//! Messages between people and agents.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{JsonObject, Timestamp};

/// Author of a message (contract C31).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum MessageRole {
    User,
    Ai,
    System,
    Tool,
}

/// One message of a conversation, which is also called thread (contract C32).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationMessage {
    /// Identifier of the message, unique in the store.
    pub message_id: String,
    /// Identifier of the conversation.
    pub thread_id: String,
    /// Author.
    pub role: MessageRole,
    /// Text.
    pub content: String,
    /// Creation time.
    pub timestamp: Timestamp,
    /// Further fields, such as `traceId`, `error` and `stepId`.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub metadata: JsonObject,
}

/// A file that came with a question. The store keeps its content under its digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachedFile {
    /// File name.
    pub name: String,
    /// Media type, for example `text/csv`.
    pub media_type: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Digest of the content; absent if it was too large to be stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Whether later questions may use the file without naming it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
}

/// Key of the attached files in the metadata of a message.
const ATTACHMENTS: &str = "attachments";

impl ConversationMessage {
    /// Returns the files that came with this question, as listed in its metadata. Returns none if this message is no question,
    /// or if the list cannot be read.
    #[must_use]
    pub fn attachments(&self) -> Vec<AttachedFile> {
        let listed = self
            .metadata
            .get(ATTACHMENTS)
            .filter(|_| self.role == MessageRole::User);
        let files = listed.map(|files| serde_json::from_value(files.clone()).unwrap_or_default());
        files.unwrap_or_default()
    }

    /// Writes the list of the files that came with this question into its metadata.
    pub fn set_attachments(&mut self, files: &[AttachedFile]) {
        self.metadata.insert(ATTACHMENTS.to_owned(), json!(files));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn message(role: MessageRole) -> ConversationMessage {
        ConversationMessage {
            message_id: "m".to_owned(),
            thread_id: "t".to_owned(),
            role,
            content: "text".to_owned(),
            timestamp: 1,
            metadata: JsonObject::new(),
        }
    }

    #[test]
    fn a_question_lists_its_files_and_an_answer_has_none() {
        let file = AttachedFile {
            name: "a.csv".to_owned(),
            media_type: "text/csv".to_owned(),
            bytes: 3,
            digest: Some("d".to_owned()),
            keep: false,
        };
        for (role, expected) in [(MessageRole::User, vec![file.clone()]), (MessageRole::Ai, vec![])] {
            let mut message = message(role);
            message.set_attachments(std::slice::from_ref(&file));
            assert_eq!(message.attachments(), expected, "{role:?}");
        }
    }

    #[test]
    fn a_list_of_files_that_cannot_be_read_is_empty() {
        let mut message = message(MessageRole::User);
        for wrong in [Value::Null, json!("a.csv"), json!([1])] {
            message.metadata.insert("attachments".to_owned(), wrong);
            assert_eq!(message.attachments(), []);
        }
    }
}
