//! The observations of conversations: records of what the runs did, such as a plan or a tool call. In the store, a conversation
//! is a thread.

use std::sync::Arc;

use art_core::observation::{NewObservation, Observation};
use art_store::{ObservationFilter, Owner};

use super::publishing::PublishingStore;
use super::subscribers::Subscription;
use crate::error::RuntimeError;
use crate::runtime::Runtime;

/// Reads and writes the observations of one owner's conversations.
#[derive(Clone, Debug)]
pub struct ObservationManager {
    runtime: Arc<Runtime>,
    /// The store of `runtime`, which has the subscribers.
    publishing_store: Arc<PublishingStore>,
    /// Owner of the conversations.
    owner: Owner,
}

impl ObservationManager {
    /// Creates the manager for conversations without an owner.
    pub(super) fn new(runtime: Arc<Runtime>, publishing_store: Arc<PublishingStore>) -> Self {
        Self {
            runtime,
            publishing_store,
            owner: Owner::User(None),
        }
    }

    /// Makes this the manager of the observations of a person's conversations.
    #[must_use]
    pub fn of_user(mut self, user_id: impl Into<String>) -> Self {
        self.owner = Owner::User(Some(user_id.into()));
        self
    }

    /// Completes an observation with its identifier, time and title, stores it (contract M16), and then tells the
    /// subscribers of its thread.
    ///
    /// # Errors
    /// Fails if the owner has no such thread, or the store refuses the observation. No subscriber is told then.
    pub async fn record(&self, new: NewObservation) -> Result<Observation, RuntimeError> {
        self.runtime.find_thread(&new.thread_id, &self.owner).await?;
        Ok(self.runtime.store.record(new).await?)
    }

    /// Returns observations of a thread, oldest first. The owner in `filter` is not used.
    ///
    /// # Errors
    /// Fails if the owner has no such thread, or the store cannot be read.
    pub async fn get_observations(
        &self,
        thread_id: &str,
        filter: ObservationFilter,
    ) -> Result<Vec<Observation>, RuntimeError> {
        self.runtime.find_thread(thread_id, &self.owner).await?;
        let filter = ObservationFilter {
            owner: self.owner.clone(),
            ..filter
        };
        Ok(self.runtime.store.list_observations(thread_id, filter).await?)
    }

    /// Calls `callback` for each observation that is added to a thread, once the observation is stored, until the subscription is
    /// dropped. A panic of the callback is logged.
    ///
    /// # Errors
    /// Fails if the owner has no such thread, or the store cannot be read.
    pub async fn subscribe(
        &self,
        thread_id: &str,
        callback: impl Fn(&Observation) + Send + Sync + 'static,
    ) -> Result<Subscription<Observation>, RuntimeError> {
        self.runtime.find_thread(thread_id, &self.owner).await?;
        Ok(self
            .publishing_store
            .observation_subscribers
            .subscribe(thread_id, callback))
    }
}
