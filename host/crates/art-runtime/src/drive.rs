//! The driver, which carries out a run: the work on one question. A [`Run`] decides which models and tools to call next, but does
//! nothing by itself: it takes in events, and returns their effects, which are stored.
//!
//! The driver announces each call with an event, commits the event to the journal, and only then makes the call. The end of a
//! call is committed as an event as well, before anything else is done with it. So a host that continues the run after a crash
//! knows which calls were made. An event is first applied to the run and added to the [`RunLog`]. A commit then writes all added
//! events to the journal, which is in the store.

mod answer;
mod attached;
pub(crate) mod clock;
mod direct;
pub(crate) mod lease;
pub(crate) mod log;
mod notifier;
mod occasion;
pub(crate) mod prepare;
mod question;
pub(crate) mod records;
mod watcher;
pub(crate) mod work;

use std::collections::BTreeMap;
use std::sync::Arc;

use art_agent::{CallEnd, KnownCall, ModelCall, PlannedCallQuestion, Run, RunEvent, RunReport, RunStart, ToolCall};
use art_core::agent::RunStatus;
use art_core::error::{ArtError, ErrorCode};
use art_core::provider::ModelRequest;
use art_store::{FailPoint, NewRun, digest};
use art_tools::ToolReport;
use tokio_util::sync::CancellationToken;

use crate::decisions;
use crate::error::{RuntimeError, in_one_line};
use crate::recover::{self, TakenOverRun};
use crate::runtime::Runtime;
use clock::now;
use lease::ThreadLease;
use log::RunLog;
use notifier::Notifier;
use work::event::{EndedToolCall, WorkEvent};
use work::{Admission, AnnouncedCall, Work};

pub use answer::{Answer, CallUsage};
pub use direct::UserCall;
pub use question::{Question, QuestionSettings, UserRun};
pub use watcher::{ReplyPiece, Unwatched, Watcher};

impl Runtime {
    /// Asks a question and waits for its answer.
    ///
    /// # Errors
    /// Fails if the question is invalid, for example longer than [`Question::MAX_CHARS`], or if its model is not set up. Fails if
    /// the thread does not exist for the person who asks, if it waits for a decision, or if another question keeps it in use.
    /// Also fails if another host takes the run over, or if the store fails. Other failures are part of the answer: see
    /// [`Answer::status`].
    pub async fn ask(&self, question: impl Into<Question>) -> Result<Answer, RuntimeError> {
        self.ask_watched(question.into(), CancellationToken::new(), &mut Unwatched)
            .await
    }

    /// Asks a question and notifies `watcher` of everything that happens. Cancelling `cancel` ends the run early.
    ///
    /// # Errors
    /// Same as [`ask`](Self::ask).
    pub async fn ask_watched(
        &self,
        question: Question,
        cancel: CancellationToken,
        watcher: &mut dyn Watcher,
    ) -> Result<Answer, RuntimeError> {
        question.check()?;
        let strict_watcher = question.settings.strict_watcher;
        let (start, lease) = prepare::prepare(self, question, &cancel).await?;
        let mut driver = Driver::begin(self, start, lease, cancel, watcher)?;
        driver.notifier.set_strict(strict_watcher);
        driver.drive_and_release().await
    }

    /// Resumes a run that an earlier host left unfinished, or a suspended run after a decision about its calls. Calls that had
    /// ended are not repeated. A tool call that was in progress is made again if its tool is declared repeatable; otherwise it
    /// ends with `UNKNOWN_OUTCOME`. A model call that was in progress is made again, and its tokens count twice, the first time
    /// by an estimate.
    ///
    /// # Errors
    /// Fails if there is no such run for the person, the run has ended, its model is not set up, another process works on it, or
    /// the store fails. Waits for the other process only if that has just suspended the run, and then only for a moment.
    pub async fn resume(
        &self,
        run: impl Into<UserRun>,
        cancel: CancellationToken,
        watcher: &mut dyn Watcher,
    ) -> Result<Answer, RuntimeError> {
        let TakenOverRun {
            run,
            log,
            lease,
            call_usages,
        } = recover::take_over(self, &run.into()).await?;
        let mut driver = Driver::new(self, run, (log, lease), cancel, watcher);
        driver.call_usages = call_usages;
        driver.drive_and_release().await
    }
}

struct Driver<'a> {
    runtime: &'a Runtime,
    notifier: Notifier<'a>,
    cancel: CancellationToken,
    run: Run,
    log: RunLog,
    lease: ThreadLease,
    /// The calls in progress.
    work: Work<'a>,
    /// How often each tool had been replaced when the last call was checked: see [`Reloader::changes`]. `None` if another host
    /// carried the run out until then, which may have had other grants.
    ///
    /// [`Reloader::changes`]: crate::reload::Reloader::changes
    last_changes: Option<BTreeMap<String, u64>>,
    /// The resources that each ended tool call used.
    call_usages: Vec<CallUsage>,
    /// Ends of calls that are reported to the watcher once they are committed.
    unreported_ends: Vec<UnreportedEnd>,
    /// The report of a direct call (one that a person makes, without a model), once its end is committed.
    direct_call_report: Option<Box<ToolReport>>,
    /// The error, if the start of the run could not be added to the log. The run ends with this error once the watcher was
    /// notified of the start.
    start_error: Option<RuntimeError>,
}

/// The end of a call, for the watcher.
enum UnreportedEnd {
    Model(Box<RunEvent>),
    Tool(Box<ToolReport>),
}

impl UnreportedEnd {
    /// Returns the report of a tool call, or `None` for a model call.
    fn into_tool_report(self) -> Option<ToolReport> {
        match self {
            Self::Tool(report) => Some(*report),
            Self::Model(_) => None,
        }
    }
}

/// The calls to start, once the events that announce them are committed.
#[derive(Default)]
struct CallsToStart {
    models: Vec<ModelCall>,
    tools: Vec<AnnouncedCall>,
}

impl<'a> Driver<'a> {
    fn new(
        runtime: &'a Runtime,
        run: Run,
        (mut log, lease): (RunLog, ThreadLease),
        cancel: CancellationToken,
        watcher: &'a mut dyn Watcher,
    ) -> Self {
        log.release_lease_at_end();
        let trace_id = run.trace_id().to_owned();
        Self {
            runtime,
            notifier: Notifier::new(watcher, run.started_with(), &trace_id),
            work: Work::new(runtime, run.started_with(), &trace_id, &cancel),
            cancel,
            run,
            log,
            lease,
            last_changes: None,
            call_usages: Vec::new(),
            unreported_ends: Vec::new(),
            direct_call_report: None,
            start_error: None,
        }
    }

    /// Begins a new run, of which nothing is committed yet.
    fn begin(
        runtime: &'a Runtime,
        start: RunStart,
        lease: ThreadLease,
        cancel: CancellationToken,
        watcher: &'a mut dyn Watcher,
    ) -> Result<Self, RuntimeError> {
        // Tests of crashes stop the process here.
        FailPoint::LeaseAcquired.reach();
        let started = RunEvent::Started {
            at: now(),
            start: Box::new(start),
        };
        let (run, mut effects) = Run::start(&started).map_err(RuntimeError::internal)?;
        let stored_run = new_run(run.started_with());
        let mut log = RunLog::begin(
            Arc::clone(&runtime.store),
            Arc::clone(&runtime.declarations),
            lease.lease().clone(),
            stored_run,
        );
        attached::add_attachments(&mut log, &run.started_with().props.attachments, &mut effects);
        let start_error = log.add(&started, effects).err();
        Ok(Self {
            start_error,
            last_changes: Some(runtime.toolbox.changes()),
            ..Self::new(runtime, run, (log, lease), cancel, watcher)
        })
    }

    /// Carries out the run with [`drive`](Self::drive), ends it if that fails, and releases its thread.
    async fn drive_and_release(mut self) -> Result<Answer, RuntimeError> {
        let driven = self.drive().await;
        if let Err(error) = &driven {
            self.end_with_error(error).await;
        }
        let report = driven?;
        // If the run has ended, the commit of its end has released the lease as well. If it waits for a decision, the lease is
        // released here.
        let is_released = self.log.has_released_lease();
        let (answer, lease) = self.into_answer(report);
        if is_released {
            lease.mark_released();
        } else {
            lease.release().await;
        }
        Ok(answer)
    }

    /// Carries out the run and returns its report. Each event is first applied to the run, which refuses an event that does not
    /// fit. Then the event is committed with its effects, and only then acted upon and shown to the watcher.
    async fn drive(&mut self) -> Result<RunReport, RuntimeError> {
        self.notifier.run_started();
        if let Some(error) = self.start_error.take() {
            return Err(error);
        }
        loop {
            let announced = self.announce_calls().await?;
            if let Some(report) = self.run.finished().cloned() {
                return self.finish(report).await;
            }
            self.commit().await?;
            self.start_calls(announced);
            self.notifier.update(&self.run.view(), &self.call_usages);
            if let Some(report) = self.run.waiting_report() {
                if self.apply_ready_decisions().await? {
                    continue;
                }
                self.notifier.run_ended(None, &report.response.response.content);
                return Ok(report);
            }
            match self.wait_for_call_end().await? {
                Some(event) => self.apply_call_end(event)?,
                None => self.end_cancelled_run().await?,
            }
            self.apply_other_call_ends()?;
        }
    }

    /// Applies the decisions that were made meanwhile about suspended calls. Returns whether there are any decisions. The run is
    /// stored as suspended before the decisions are looked up. So a person whose decision comes too late for this look-up finds a
    /// suspended run and can resume it.
    async fn apply_ready_decisions(&mut self) -> Result<bool, RuntimeError> {
        let trace_id = self.run.trace_id();
        let ready = decisions::load_ready_decisions(self.runtime.store.as_ref(), trace_id).await;
        // The run is safely suspended, so if the decisions cannot be read, it can still be resumed later.
        let decided = ready.unwrap_or_else(|error| {
            tracing::warn!(run = trace_id, %error, "the decisions about a suspended run cannot be read");
            Vec::new()
        });
        for (suspension_id, decision) in &decided {
            if self.run.finished().is_none() {
                self.apply(&decisions::decided_event(suspension_id, decision))?;
            }
        }
        Ok(!decided.is_empty())
    }

    /// Applies events about the calls to make next. An event announces a call, asks a person about it, or ends it because it is
    /// refused. Returns the announced calls.
    async fn announce_calls(&mut self) -> Result<CallsToStart, RuntimeError> {
        let mut announced = CallsToStart::default();
        self.ask_about_planned_calls().await?;
        loop {
            // The run has applied the returned events itself, so they are only added to the log.
            let asked = self.run.ask_models(now(), request_digest);
            self.log.add_all(&asked.events, asked.effects)?;
            announced.models.extend(asked.calls);
            let ready = self.run.ready_calls();
            if ready.is_empty() {
                return Ok(announced);
            }
            for call in ready {
                if self.run.finished().is_some() {
                    // A refused call has ended the run.
                    return Ok(announced);
                }
                let (action, item_id) = (call.action, call.item_id.clone());
                let admission = self.work.admit(call).await;
                self.last_changes = Some(self.runtime.toolbox.changes());
                match admission {
                    Ok(Admission::Announced(call, event)) => {
                        self.apply(&event)?;
                        announced.tools.push(*call);
                    }
                    Ok(Admission::Suspended(suspension)) => {
                        let at = now();
                        self.apply(&RunEvent::CallSuspended { at, action, suspension })?;
                    }
                    // The call is refused.
                    Err(report) => self.apply_tool_end(EndedToolCall {
                        action,
                        item_id,
                        report: *report,
                    })?,
                }
            }
        }
    }

    /// If the configuration says so, asks a person about all calls of a plan together, before its first step starts: applies one
    /// event with the questions. Leaves out calls whose arguments are not known yet.
    async fn ask_about_planned_calls(&mut self) -> Result<(), RuntimeError> {
        let calls = self.run.calls_to_check();
        if calls.is_empty() {
            return Ok(());
        }
        let mut questions = Vec::new();
        for KnownCall {
            item_id,
            index,
            call,
            files,
        } in calls
        {
            let question = self.work.question_about_call(&item_id, call, &files).await;
            questions.extend(question.map(|suspension| PlannedCallQuestion {
                item_id,
                index,
                suspension,
            }));
        }
        self.apply(&RunEvent::PlanChecked { at: now(), questions })
    }

    fn start_calls(&mut self, announced: CallsToStart) {
        for call in announced.models {
            let model = &self.run.started_with().model;
            self.work.start_model_call(call, model, &mut self.notifier);
        }
        for call in announced.tools {
            self.work.start_tool_call(call);
        }
    }

    /// Waits until a call ends, and passes pieces of replies and the progress of tools to the watcher in the meantime. Returns
    /// `None` if the run was cancelled.
    ///
    /// # Errors
    /// Fails if another host has taken the run over, or if no call is in progress.
    async fn wait_for_call_end(&mut self) -> Result<Option<WorkEvent>, RuntimeError> {
        loop {
            let next = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Ok(None),
                lost = self.lease.wait_until_lost() => return Err(lost.into()),
                next = self.work.next() => next,
            };
            match next {
                Some(WorkEvent::Piece { call, piece }) => self.notifier.stream(&call, &piece),
                Some(WorkEvent::ToolProgress(progress)) => self.notifier.tool_progressed(&progress),
                Some(ended) => return Ok(Some(ended)),
                None => return Err(RuntimeError::internal("the run is stuck")),
            }
        }
    }

    /// Applies the ends of tool calls that have ended meanwhile, so that all of them share a commit.
    fn apply_other_call_ends(&mut self) -> Result<(), RuntimeError> {
        // After a cancellation, `end_cancelled_run` applies the ends: first those of calls that ended on their own, then those of
        // calls that the cancellation ended.
        while !self.cancel.is_cancelled()
            && self.run.finished().is_none()
            && let Some(ended) = self.work.next_ended_tool(&mut self.notifier)
        {
            self.apply_tool_end(ended)?;
        }
        Ok(())
    }

    /// Applies the end of a call.
    fn apply_call_end(&mut self, event: WorkEvent) -> Result<(), RuntimeError> {
        match event {
            WorkEvent::ModelEnded(event) => {
                self.apply_changed_grants()?;
                self.apply(&event)?;
                self.unreported_ends.push(UnreportedEnd::Model(event));
                Ok(())
            }
            WorkEvent::ToolEnded(call) => self.apply_tool_end(*call),
            WorkEvent::Piece { .. } | WorkEvent::ToolProgress(_) => Ok(()),
        }
    }

    /// If the grants of a tool have changed since one of its calls was denied, applies an event that says so: the model may make
    /// the call again.
    fn apply_changed_grants(&mut self) -> Result<(), RuntimeError> {
        let denied = self.run.denied_tools();
        if denied.is_empty() {
            return Ok(());
        }
        self.runtime.toolbox.refresh_grants();
        let changes = self.runtime.toolbox.changes();
        let has_changed = |tool: &&str| {
            let last_changes = self.last_changes.as_ref();
            last_changes.is_none_or(|last_changes| last_changes.get(*tool) != changes.get(*tool))
        };
        let tools: Vec<_> = denied.into_iter().filter(has_changed).map(str::to_owned).collect();
        self.last_changes = Some(changes);
        match tools.is_empty() {
            true => Ok(()),
            false => self.apply(&RunEvent::GrantsChanged { at: now(), tools }),
        }
    }

    /// Applies the end of a tool call. Adds the call's files, the log lines of its tool, and its usage of resources to the log of
    /// the run.
    fn apply_tool_end(&mut self, call: EndedToolCall) -> Result<(), RuntimeError> {
        let action = call.action;
        let end = Box::new(self.record_call(call));
        self.apply(&RunEvent::ToolEnded { at: now(), action, end })
    }

    /// Adds the files of a tool call, the log lines of its tool, and its usage of resources to the log of the run. Returns the
    /// end of the call, with the digests of the files and of the log lines.
    fn record_call(&mut self, call: EndedToolCall) -> CallEnd {
        let EndedToolCall {
            item_id, mut report, ..
        } = call;
        if let Some(question) = &mut report.suspension {
            // Set the time limit of the question.
            self.runtime.config.approval.value.set_expiry(question, now());
        }
        let metadata = &mut report.result.metadata;
        if !report.log.is_empty() {
            let tool_log = serde_json::to_vec(&report.log).unwrap_or_default();
            metadata.log_digest = self.log.add_blob(tool_log);
        }
        for (info, file) in metadata.attachments.iter_mut().zip(report.attachments.iter()) {
            info.digest = self.log.add_blob(file.data.clone());
        }
        let call_usage = CallUsage {
            item_id,
            tool: report.result.tool_name.clone(),
            ending: report.ending,
            usage: report.usage,
            tool_digest: report.digest.clone(),
        };
        self.log.add_call_usage(&call_usage);
        self.call_usages.push(call_usage);
        // `intake` is what the tool took in from outside, and `uses` are its uses of grants.
        let end = CallEnd {
            result: report.result.clone(),
            ending: report.ending,
            usage: report.usage,
            duration_ms: u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX),
            intake: self.log.limit_intake(std::mem::take(&mut report.intake)),
            uses: report.uses.clone(),
            suspension: report.suspension.clone(),
        };
        self.unreported_ends.push(UnreportedEnd::Tool(Box::new(report)));
        end
    }

    /// Commits what was applied, and then tells the watcher which calls ended.
    async fn commit(&mut self) -> Result<(), RuntimeError> {
        self.log.commit(&self.run).await?;
        for ended in self.unreported_ends.drain(..) {
            match ended {
                UnreportedEnd::Model(event) => self.notifier.model_ended(&event),
                UnreportedEnd::Tool(report) => {
                    self.notifier.tool_ended(&report);
                    self.direct_call_report = self.run.started_with().call.is_some().then_some(report);
                }
            }
        }
        Ok(())
    }

    /// Applies an event to the run, and adds it with its effects to the log, which the next commit stores.
    fn apply(&mut self, event: &RunEvent) -> Result<(), RuntimeError> {
        let effects = self.run.apply(event).map_err(RuntimeError::internal)?;
        self.log.add(event, effects)
    }

    /// Ends a cancelled run. First stops its calls, and applies the ends of tool calls, because their results are part of the
    /// run. One of these ends may finish the run; then it does not count as cancelled.
    async fn end_cancelled_run(&mut self) -> Result<(), RuntimeError> {
        let interrupted = self.work.interrupted_model_calls();
        for call in self.work.stop_calls(&mut self.notifier).await {
            self.apply_late_tool_end(call)?;
        }
        self.end_unrepeatable_calls("it did not stop when the run was cancelled")?;
        if self.run.finished().is_none() {
            let at = now();
            self.apply(&RunEvent::CancelRequested { at, interrupted })?;
        }
        Ok(())
    }

    /// Applies the end of a tool call. If the run has ended meanwhile, records the call with an observation, without an event.
    fn apply_late_tool_end(&mut self, call: EndedToolCall) -> Result<(), RuntimeError> {
        if self.run.finished().is_none() {
            return self.apply_tool_end(call);
        }
        let item_id = call.item_id.clone();
        let end = self.record_call(call);
        self.log
            .add_observation(self.run.observation_of_late_call(&item_id, &end));
        Ok(())
    }

    /// Commits the end of the run and notifies the watcher.
    async fn finish(&mut self, report: RunReport) -> Result<RunReport, RuntimeError> {
        for call in self.work.stop_calls(&mut self.notifier).await {
            self.apply_late_tool_end(call)?;
        }
        self.commit().await?;
        self.notifier.update(&self.run.view(), &self.call_usages);
        let response = &report.response;
        let failed = response.metadata.status == RunStatus::Error;
        let error = response.metadata.error.as_ref().filter(|_| failed);
        self.notifier.run_ended(error, &response.response.content);
        Ok(report)
    }

    /// Ends the run after an error of the runtime, unless the store fails as well or the run belongs to another host now.
    /// Notifies the watcher in any case.
    async fn end_with_error(&mut self, error: &RuntimeError) {
        let ended_calls = self.work.stop_calls(&mut self.notifier).await;
        let message = in_one_line(error);
        if !error.is_lost_lease()
            && let Err(error) = self.end_failed_run(&message, ended_calls).await
        {
            tracing::warn!(run = self.run.trace_id(), %error, "a run that failed could not be ended");
        }
        self.notifier
            .run_ended(Some(&run_error(error, &message)), &format!("Error: {message}"));
    }

    /// Rebuilds the run from its committed events, because the run in memory may contain events that were not committed, and
    /// ends it. The ends of tool calls that were not committed yet, and those of `ended_calls`, are committed now. Does nothing
    /// if no event is committed.
    async fn end_failed_run(&mut self, reason: &str, ended_calls: Vec<EndedToolCall>) -> Result<(), RuntimeError> {
        let Some(run) = self.log.reload().await? else {
            return Ok(());
        };
        self.run = run;
        let mut reports: BTreeMap<String, ToolReport> = BTreeMap::new();
        let uncommitted = std::mem::take(&mut self.unreported_ends)
            .into_iter()
            .filter_map(UnreportedEnd::into_tool_report);
        for report in uncommitted.chain(ended_calls.into_iter().map(|call| call.report)) {
            reports.insert(report.result.call_id.clone(), report);
        }
        for ToolCall {
            action, item_id, call, ..
        } in self.run.calls_in_progress()
        {
            if let (Some(report), None) = (reports.remove(&call.call_id), self.run.finished()) {
                self.apply_tool_end(EndedToolCall {
                    action,
                    item_id,
                    report,
                })?;
            }
        }
        self.end_unrepeatable_calls("the host failed while the tool ran")?;
        if self.run.finished().is_none() {
            let (at, reason) = (now(), reason.to_owned());
            self.apply(&RunEvent::HostFailed { at, reason })?;
        }
        self.commit().await
    }

    /// Ends, with an unknown outcome, the calls in progress whose tools are not repeatable.
    fn end_unrepeatable_calls(&mut self, why: &str) -> Result<(), RuntimeError> {
        let registry = self.runtime.tools.registry();
        let call_usages = recover::end_unrepeatable_calls(&mut self.run, &mut self.log, registry, why)?;
        self.call_usages.extend(call_usages);
        Ok(())
    }

    /// Returns the answer, and the lease to release.
    fn into_answer(self, report: RunReport) -> (Answer, ThreadLease) {
        let answer = Answer {
            waits_for: decisions::open_suspensions(&self.run),
            thread_id: self.run.started_with().props.thread_id.clone(),
            trace_id: self.run.trace_id().to_owned(),
            model: self.run.started_with().model.clone(),
            report,
            calls: self.call_usages,
            direct_call_report: self.direct_call_report,
            watcher_panics: self.notifier.panics(),
        };
        (answer, self.lease)
    }
}

/// Returns the digest of the JSON text of a request to a model.
pub(crate) fn request_digest(request: &ModelRequest) -> String {
    serde_json::to_vec(request).map_or_else(|_| String::new(), |json| digest(&json))
}

/// Returns what the store notes about a run when it begins. The run of a direct call has no model.
fn new_run(start: &RunStart) -> NewRun {
    NewRun {
        trace_id: start.props.trace_id.clone().unwrap_or_default(),
        thread_id: start.props.thread_id.clone(),
        query: start.props.query.clone(),
        model: start.call.is_none().then(|| start.model.to_string()),
    }
}

/// Converts an error of the runtime to an error of the run.
fn run_error(error: &RuntimeError, message: &str) -> ArtError {
    let code = match error {
        RuntimeError::Store(_) => ErrorCode::StorageError,
        _ => ErrorCode::AgentProcessingError,
    };
    ArtError {
        code,
        message: message.to_owned(),
        phase: "finalization".to_owned(),
    }
}

#[cfg(test)]
mod tests;
