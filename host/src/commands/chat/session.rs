//! A conversation as it stands: its model, its thread, what goes with the next question, what was used.

use std::path::Path;

use art_core::agent::QueryAttachment;
use art_core::conversation::{ConversationMessage, MessageRole};
use art_runtime::{Answer, Question, Runtime, Watcher};
use art_store::MessageOptions;
use tokio_util::sync::CancellationToken;

use super::{attachment, ids};
use crate::error::CommandError;
use crate::spent::Spent;

pub(super) struct Session {
    pub(super) host: Runtime,
    /// None until the first question.
    thread_id: Option<String>,
    /// Go with the next question, the newest last.
    pub(super) attachments: Vec<QueryAttachment>,
    /// What all questions of the session used.
    pub(super) spent: Spent,
    /// What the last one used.
    pub(super) last: Option<Spent>,
}

impl Session {
    /// A session that begins a thread with its first question.
    pub(super) fn new(host: Runtime) -> Self {
        Self {
            host,
            thread_id: None,
            attachments: Vec::new(),
            spent: Spent::default(),
            last: None,
        }
    }

    /// Asks in the thread of the session, with what was attached. What was attached stays when the question was not taken.
    pub(super) async fn ask(
        &mut self,
        query: String,
        cancel: CancellationToken,
        watcher: &mut dyn Watcher,
    ) -> Result<Answer, CommandError> {
        let question = Question {
            query,
            thread_id: self.thread_id.clone(),
            attachments: self.attachments.clone(),
            ..Question::default()
        };
        let answered = self.host.ask_watched(question, cancel, watcher).await?;
        self.attachments.clear();
        self.thread_id = Some(answered.thread_id.clone());
        let spent = Spent::of(&answered);
        self.spent += spent;
        self.last = Some(spent);
        Ok(answered)
    }

    /// The thread that the next question belongs to.
    pub(super) fn thread(&self) -> Option<&str> {
        self.thread_id.as_deref()
    }

    pub(super) fn begin_thread(&mut self) {
        self.thread_id = None;
    }

    /// Goes on with the thread that `typed` means.
    ///
    /// # Errors
    /// When it means none or several.
    pub(super) async fn go_on_with(&mut self, typed: &str) -> Result<(), CommandError> {
        self.thread_id = Some(ids::thread(self.host.store.as_ref(), typed).await?);
        Ok(())
    }

    /// What was said in the thread, oldest first.
    pub(super) async fn messages(&self) -> Result<Vec<ConversationMessage>, CommandError> {
        let Some(id) = &self.thread_id else {
            return Ok(Vec::new());
        };
        let options = MessageOptions {
            roles: vec![MessageRole::User, MessageRole::Ai],
            ..MessageOptions::default()
        };
        Ok(self.host.store.list_messages(id, options).await?)
    }

    /// Reads a file for the next question and gives its name.
    ///
    /// # Errors
    /// When the file cannot be sent, or not together with those that are attached; they stay as they are then.
    pub(super) fn attach(&mut self, path: &Path) -> Result<String, CommandError> {
        let read = attachment::read_all(&[path.to_owned()])?;
        let name = read.first().map(|read| read.name.clone()).unwrap_or_default();
        // The same name again is the file as it is now.
        let others = self.attachments.iter().filter(|other| other.name != name);
        let together: Vec<_> = others.cloned().chain(read).collect();
        attachment::check_together(&together)?;
        self.attachments = together;
        Ok(name)
    }

    /// Forgets what was attached and gives the names.
    pub(super) fn detach(&mut self) -> Vec<String> {
        let attachments = std::mem::take(&mut self.attachments);
        attachments.into_iter().map(|attachment| attachment.name).collect()
    }
}
