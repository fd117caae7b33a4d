//! An instance of the host, for programs that serve several persons. Each of its managers reads and writes the threads, the
//! messages or the observations of one person, or those without an owner.

mod conversations;
mod gate;
mod observations;
mod publishing;
mod state;
mod subscribers;

use std::sync::Arc;
use std::time::Duration;

use art_core::agent::{AgentFinalResponse, AgentProps};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::builder::RuntimeBuilder;
use crate::drive::{Answer, Question, Unwatched, UserRun, Watcher};
use crate::error::RuntimeError;
use crate::runtime::Runtime;
use gate::Gate;
use publishing::PublishingStore;

pub use conversations::ConversationManager;
pub use observations::ObservationManager;
pub use state::{StateManager, StateSaving, ThreadContext};
pub use subscribers::Subscription;

/// Answers questions of several persons, and gives access to their conversations, settings and observations. Wraps a
/// [`Runtime`] and notifies subscribers of what its store has stored. Can be closed while other tasks use it.
#[derive(Debug)]
pub struct ArtInstance {
    runtime: Arc<Runtime>,
    /// The store of the runtime.
    publishing_store: Arc<PublishingStore>,
    /// Counts the runs in progress, and refuses further ones once the instance is closed.
    gate: Gate,
    /// When [`StateManager::save_state_if_modified`] saves the state of a thread.
    saving: StateSaving,
    /// Held while settings of a thread are read, changed and written.
    settings_lock: Arc<Mutex<()>>,
}

/// Creates an instance from a builder.
///
/// # Errors
/// Same as [`RuntimeBuilder::build`].
pub async fn create_art_instance(builder: RuntimeBuilder<'_>) -> Result<ArtInstance, RuntimeError> {
    let saving = builder.saving();
    let mut runtime = builder.build().await?;
    let publishing_store = Arc::new(PublishingStore::new(Arc::clone(&runtime.store)));
    runtime.store = Arc::clone(&publishing_store) as Arc<dyn art_store::Store>;
    Ok(ArtInstance {
        runtime: Arc::new(runtime),
        publishing_store,
        gate: Gate::default(),
        saving,
        settings_lock: Arc::default(),
    })
}

impl ArtInstance {
    /// Answers the question of a person. An empty `thread_id` begins a conversation, whose identifier is in the response.
    ///
    /// # Errors
    /// Same as [`Runtime::ask`]. Also fails if `trace_id` is set, since the host creates the identifiers of runs, and after
    /// [`close`](Self::close).
    pub async fn process(&self, props: AgentProps) -> Result<AgentFinalResponse, RuntimeError> {
        let question = question_from_props(props)?;
        let answer = self.ask(question, CancellationToken::new(), &mut Unwatched).await?;
        Ok(answer.report.response)
    }

    /// Same as [`Runtime::ask_watched`]. The run counts as in progress for [`close`](Self::close).
    ///
    /// # Errors
    /// Same as [`Runtime::ask_watched`]. Also fails after [`close`](Self::close).
    pub async fn ask(
        &self,
        question: Question,
        cancel: CancellationToken,
        watcher: &mut dyn Watcher,
    ) -> Result<Answer, RuntimeError> {
        let run = self.runtime.ask_watched(question, cancel.clone(), watcher);
        self.gate.begin_run()?.carry_out(&cancel, run).await
    }

    /// Same as [`Runtime::resume`]. The run counts as in progress for [`close`](Self::close).
    ///
    /// # Errors
    /// Same as [`Runtime::resume`]. Also fails after [`close`](Self::close).
    pub async fn resume(
        &self,
        run: impl Into<UserRun>,
        cancel: CancellationToken,
        watcher: &mut dyn Watcher,
    ) -> Result<Answer, RuntimeError> {
        let run = self.runtime.resume(run, cancel.clone(), watcher);
        self.gate.begin_run()?.carry_out(&cancel, run).await
    }

    /// Returns the manager of threads without an owner, with their settings and states. [`StateManager::of_user`] makes it the
    /// manager of a person's threads.
    #[must_use]
    pub fn state_manager(&self) -> StateManager {
        StateManager::new(Arc::clone(&self.runtime), self.saving, Arc::clone(&self.settings_lock))
    }

    /// Returns the manager of the messages of threads without an owner. [`ConversationManager::of_user`] makes it the manager
    /// of a person's messages.
    #[must_use]
    pub fn conversation_manager(&self) -> ConversationManager {
        ConversationManager::new(Arc::clone(&self.runtime), Arc::clone(&self.publishing_store))
    }

    /// Returns the manager of the observations of threads without an owner. [`ObservationManager::of_user`] makes it the
    /// manager of the observations of a person's threads.
    #[must_use]
    pub fn observation_manager(&self) -> ObservationManager {
        ObservationManager::new(Arc::clone(&self.runtime), Arc::clone(&self.publishing_store))
    }

    /// Returns the runtime, with its configuration, its tools and its plans. [`close`](Self::close) does not wait for questions
    /// that are asked directly with the runtime.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Closes the instance (contract B27): refuses further questions, waits for runs in progress, cancels those that
    /// have not ended after `patience`, and shuts the models down. Returns how many runs did not end although they were
    /// cancelled. Such a run can be resumed once its lease has expired.
    pub async fn close(&self, patience: Duration) -> usize {
        let unfinished = self.gate.close(patience).await;
        self.runtime.engine.shutdown().await;
        unfinished
    }
}

fn question_from_props(props: AgentProps) -> Result<Question, RuntimeError> {
    if props.trace_id.is_some() {
        let reason = "the host creates the identifiers of runs; leave `traceId` out";
        return Err(RuntimeError::Request(reason.to_owned()));
    }
    let mut question = Question {
        query: props.query,
        thread_id: Some(props.thread_id).filter(|id| !id.is_empty()),
        user_id: props.user_id,
        session_id: props.session_id,
        attachments: props.attachments,
        ..Question::default()
    };
    question.settings.raw = props.raw;
    Ok(question)
}

#[cfg(test)]
mod tests;
