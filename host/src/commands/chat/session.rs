//! State of a chat: the runtime, the attachments of the next question, the usage, and the current thread, which is the
//! conversation that the next question continues.

use std::path::Path;

use art_core::agent::QueryAttachment;
use art_core::conversation::{ConversationMessage, MessageRole};
use art_runtime::{Answer, Question, Runtime, UserRun, Watcher};
use art_store::{MessageOptions, Owner, RunRecord};
use tokio_util::sync::CancellationToken;

use super::{attachment, ids};
use crate::error::CommandError;
use crate::usage_summary::UsageSummary;

/// What a chat does next.
pub(super) enum Request {
    /// Asks a question.
    Ask(String),
    /// Resumes the run that has this identifier.
    Resume(String),
}

/// The state of a chat.
pub(super) struct Session {
    pub(super) runtime: Runtime,
    /// The person who chats. `None` if the command line names no user.
    user: Option<String>,
    /// The current thread. `None` if the next question starts one.
    thread_id: Option<String>,
    /// Attachments of the next question, newest last.
    pub(super) attachments: Vec<QueryAttachment>,
    /// Usage of all questions and resumed runs of the session.
    pub(super) total_usage: UsageSummary,
    /// Usage of the last question or resumed run.
    pub(super) last_usage: Option<UsageSummary>,
}

impl Session {
    /// Creates a session whose first question starts a thread.
    pub(super) fn new(runtime: Runtime, user: Option<String>) -> Self {
        Self {
            runtime,
            user,
            thread_id: None,
            attachments: Vec::new(),
            total_usage: UsageSummary::default(),
            last_usage: None,
        }
    }

    /// Carries out the request. The thread of its run becomes the current one.
    pub(super) async fn carry_out(
        &mut self,
        request: Request,
        cancel: CancellationToken,
        watcher: &mut dyn Watcher,
    ) -> Result<Answer, CommandError> {
        let answer = match request {
            Request::Ask(query) => self.ask(query, cancel, watcher).await?,
            Request::Resume(run) => self.runtime.resume(self.run_key(&run), cancel, watcher).await?,
        };
        self.thread_id = Some(answer.thread_id.clone());
        let usage = UsageSummary::from(&answer);
        self.total_usage += usage;
        self.last_usage = Some(usage);
        Ok(answer)
    }

    /// Returns the owner whose conversations and runs the person sees.
    pub(super) fn owner(&self) -> Owner {
        Owner::user(self.user.as_deref())
    }

    /// Returns the person who chats, if the command line names one.
    pub(super) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Returns the key by which the runtime finds a run of this person.
    fn run_key(&self, run: &str) -> UserRun {
        UserRun::from(run).of(self.owner())
    }

    /// Asks a question in the current thread, with the attachments. If that fails, the attachments remain for the next question.
    async fn ask(
        &mut self,
        query: String,
        cancel: CancellationToken,
        watcher: &mut dyn Watcher,
    ) -> Result<Answer, CommandError> {
        let question = Question {
            query,
            thread_id: self.thread_id.clone(),
            user_id: self.user.clone(),
            attachments: self.attachments.clone(),
            ..Question::default()
        };
        let answer = self.runtime.ask_watched(question, cancel, watcher).await?;
        self.attachments.clear();
        Ok(answer)
    }

    /// Returns the interrupted runs of the current thread, newest first.
    pub(super) async fn interrupted_runs(&self) -> Result<Vec<RunRecord>, CommandError> {
        let mut runs = self.runtime.interrupted_runs(self.owner()).await?;
        runs.retain(|run| Some(run.thread_id.as_str()) == self.thread());
        Ok(runs)
    }

    /// Returns the identifier of the run to resume: the one that `typed` identifies, or else the newest interrupted run of the
    /// current thread. Without a current thread, that is the newest interrupted run of all threads.
    ///
    /// # Errors
    /// Fails if there is no such run.
    pub(super) async fn find_run_to_resume(&self, typed: Option<&str>) -> Result<String, CommandError> {
        let typed = typed.or(self.thread_id.is_none().then_some(ids::LAST));
        if let Some(typed) = typed {
            return ids::resolve_run_to_resume(self.runtime.store.as_ref(), &self.owner(), typed).await;
        }
        let newest = self.interrupted_runs().await?.into_iter().next();
        let message =
            "no run of this conversation was interrupted; `/resume RUN` goes on with one of another conversation";
        newest
            .map(|run| run.trace_id)
            .ok_or_else(|| CommandError::Failed(message.to_owned()))
    }

    /// Returns the identifier of the current thread, if there is one.
    pub(super) fn thread(&self) -> Option<&str> {
        self.thread_id.as_deref()
    }

    /// Leaves the current thread, so that the next question starts a new one.
    pub(super) fn leave_thread(&mut self) {
        self.thread_id = None;
    }

    /// Switches to the thread that `typed` identifies.
    ///
    /// # Errors
    /// Fails if no thread matches, or several do.
    pub(super) async fn switch_thread(&mut self, typed: &str) -> Result<(), CommandError> {
        self.thread_id = Some(ids::resolve_thread(self.runtime.store.as_ref(), &self.owner(), typed).await?);
        Ok(())
    }

    /// Returns the questions and answers of the current thread, oldest first.
    pub(super) async fn messages(&self) -> Result<Vec<ConversationMessage>, CommandError> {
        let Some(id) = &self.thread_id else {
            return Ok(Vec::new());
        };
        let options = MessageOptions {
            roles: vec![MessageRole::User, MessageRole::Ai],
            ..MessageOptions::default()
        };
        Ok(self.runtime.store.list_messages(id, options).await?)
    }

    /// Attaches a file to the next question and returns its name. `keep` lets later questions use it, too.
    ///
    /// # Errors
    /// Fails if the file cannot be attached, or if the attachments would be too large together. The attachments are then
    /// unchanged.
    pub(super) fn attach(&mut self, path: &Path, keep: bool) -> Result<String, CommandError> {
        // A list with one attachment.
        let mut added = attachment::read_all(&[path.to_owned()])?;
        added.iter_mut().for_each(|attachment| attachment.keep = keep);
        let name = added.first().map(|added| added.name.clone()).unwrap_or_default();
        // Attaching a file again replaces its earlier content.
        let others = self.attachments.iter().filter(|other| other.name != name);
        let attachments: Vec<_> = others.cloned().chain(added).collect();
        attachment::check_total_size(&attachments)?;
        self.attachments = attachments;
        Ok(name)
    }

    /// Removes all attachments and returns their names.
    pub(super) fn detach(&mut self) -> Vec<String> {
        let attachments = std::mem::take(&mut self.attachments);
        attachments.into_iter().map(|attachment| attachment.name).collect()
    }
}
