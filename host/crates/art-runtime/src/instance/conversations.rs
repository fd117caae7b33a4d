//! The messages and files of conversations. In the store, a conversation is a thread.

use std::sync::Arc;

use art_core::conversation::ConversationMessage;
use art_store::{MessageOptions, Owner};

use super::publishing::PublishingStore;
use super::subscribers::Subscription;
use crate::error::RuntimeError;
use crate::runtime::Runtime;

/// Reads and writes the messages of one owner's conversations.
#[derive(Clone, Debug)]
pub struct ConversationManager {
    runtime: Arc<Runtime>,
    /// The store of `runtime`, which has the subscribers.
    publishing_store: Arc<PublishingStore>,
    /// Owner of the conversations.
    owner: Owner,
}

impl ConversationManager {
    /// Creates the manager for conversations without an owner.
    pub(super) fn new(runtime: Arc<Runtime>, publishing_store: Arc<PublishingStore>) -> Self {
        Self {
            runtime,
            publishing_store,
            owner: Owner::User(None),
        }
    }

    /// Makes this the manager of the conversations of a person.
    #[must_use]
    pub fn of_user(mut self, user_id: impl Into<String>) -> Self {
        self.owner = Owner::User(Some(user_id.into()));
        self
    }

    /// Adds a list of messages to a thread, all of them or none (contract M15), and then tells the subscribers of the
    /// thread. An empty list has no effect.
    ///
    /// # Errors
    /// Fails if the owner has no such thread, or the store refuses a message. Nothing is stored then.
    pub async fn add_messages(&self, thread_id: &str, messages: Vec<ConversationMessage>) -> Result<(), RuntimeError> {
        self.runtime.find_thread(thread_id, &self.owner).await?;
        Ok(self.runtime.store.append_messages(thread_id, messages).await?)
    }

    /// Returns messages of a thread, oldest first. The owner in `options` is not used.
    ///
    /// # Errors
    /// Fails if the owner has no such thread, or the store cannot be read.
    pub async fn get_messages(
        &self,
        thread_id: &str,
        options: MessageOptions,
    ) -> Result<Vec<ConversationMessage>, RuntimeError> {
        self.runtime.find_thread(thread_id, &self.owner).await?;
        let options = MessageOptions {
            owner: self.owner.clone(),
            ..options
        };
        Ok(self.runtime.store.list_messages(thread_id, options).await?)
    }

    /// Returns the content of the file with this digest, or `None` if no stored run of the thread uses such a file.
    ///
    /// # Errors
    /// Fails if the owner has no such thread, or the store cannot be read.
    pub async fn get_file(&self, thread_id: &str, digest: &str) -> Result<Option<Vec<u8>>, RuntimeError> {
        self.runtime.find_thread(thread_id, &self.owner).await?;
        Ok(self.runtime.store.get_blob(thread_id, digest).await?)
    }

    /// Calls `callback` for each message that is added to a thread, once it is stored, until the subscription is dropped. A panic
    /// of the callback is logged.
    ///
    /// # Errors
    /// Fails if the owner has no such thread, or the store cannot be read.
    pub async fn subscribe(
        &self,
        thread_id: &str,
        callback: impl Fn(&ConversationMessage) + Send + Sync + 'static,
    ) -> Result<Subscription<ConversationMessage>, RuntimeError> {
        self.runtime.find_thread(thread_id, &self.owner).await?;
        Ok(self.publishing_store.message_subscribers.subscribe(thread_id, callback))
    }
}
