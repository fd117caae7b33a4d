//! Stores the files of a question with its run, so that later questions of the thread can use them.

use art_agent::Effect;
use art_core::agent::QueryAttachment;
use art_core::conversation::{AttachedFile, MessageRole};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::log::RunLog;

/// Adds the files of a question to the log of its run, and names them in the message that adds the question to the conversation.
pub(super) fn add_attachments(log: &mut RunLog, attachments: &[QueryAttachment], effects: &mut [Effect]) {
    if attachments.is_empty() {
        return;
    }
    for effect in effects {
        if let Effect::AddMessage(message) = effect
            && message.role == MessageRole::User
        {
            let files: Vec<_> = attachments
                .iter()
                .map(|attachment| add_attachment(log, attachment))
                .collect();
            message.set_attachments(&files);
        }
    }
}

/// Adds the content of a file to the log. Returns the description of the file, which has no digest if the content is not
/// stored.
fn add_attachment(log: &mut RunLog, attachment: &QueryAttachment) -> AttachedFile {
    let content = match &attachment.base64 {
        None => Some(attachment.text.clone().into_bytes()),
        Some(base64) => STANDARD.decode(base64).ok(),
    };
    AttachedFile {
        name: attachment.name.clone(),
        media_type: attachment.media_type.clone(),
        bytes: content.as_ref().map_or(0, |content| content.len() as u64),
        digest: content.and_then(|content| log.add_blob(content)),
        keep: attachment.keep,
    }
}
