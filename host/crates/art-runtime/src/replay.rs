//! Runs a recorded run again, offline. The replies of models and the data that each call took in come from the journal.
//! Components really run, and everything that they return is compared with the journal.
//!
//! The journal *announces* a call before its tool runs (`ToolCalled`), and has another event for its end (`ToolEnded`). Where a
//! call is announced, the replay runs it again and compares its end. A call that cannot be run again is *skipped*: its recorded
//! result is used without a check.

mod compare;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use art_agent::{ActionId, CallEnd, Run, RunEvent, ToolCall};
use art_core::capability::Capability;
use art_core::intake::DivergenceReason;
use art_core::limits::Limits;
use art_core::outcome::EndingKind;
use art_core::tool::ToolResult;
use art_sandbox::{Plugin, Sandbox};
use art_store::RunState;
use art_tools::{CallScope, EnabledTools, ReplayableCall, ToolExecutor as _, ToolSystem};
use serde::Serialize;

use crate::compose::Toolbox;
use crate::decisions;
use crate::drive::request_digest;
use crate::drive::work::files::insert_file;
use crate::error::RuntimeError;
use crate::recording::Recording;
use crate::runtime::Runtime;

/// The result of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replay {
    /// The run.
    pub trace_id: String,
    /// Number of events in its journal.
    pub events: u64,
    /// Whether the journal has the end of the run.
    pub ended: bool,
    /// Number of tool calls that were run again.
    pub calls_run: u64,
    /// Number of these calls whose use of fuel was compared, because the recording host had the same engine and fuel prices.
    pub fuel_compared: u64,
    /// The tool calls that were not run again. Their recorded results were used.
    #[serde(rename = "taken")]
    pub skipped: Vec<SkippedCall>,
    /// Number of requests to models that were compared. Only a request whose digest is in the journal can be compared.
    pub requests: u64,
    /// Number of these requests that the current prompts word differently. This does not count as a difference, since the replay
    /// uses the recorded replies.
    pub requests_changed: u64,
    /// The first difference, with which the replay ended; `None` if the replay was identical.
    pub difference: Option<Difference>,
}

impl Replay {
    /// Returns whether everything that was run again gave the recorded result.
    #[must_use]
    pub const fn is_identical(&self) -> bool {
        self.difference.is_none()
    }
}

/// A tool call that was not run again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkippedCall {
    /// Number of the event, from 1.
    pub event: u64,
    /// The step of the plan, if it is known.
    pub step: Option<String>,
    /// Name of the tool.
    pub tool: String,
    /// Why it was not run again.
    pub reason: SkipReason,
}

/// Why a tool call was not run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// The tool is not a component.
    Native,
    /// The component is not there, or it is another version.
    NoComponent,
    /// The call was refused before its tool ran.
    Refused,
    /// The end of the call depended on time, on a cancellation or on the state of the host. Or the call ended with a trap, so
    /// that its use of fuel is only approximate.
    NotRepeatable,
    /// The journal announces the call, but has no end that belongs to this announcement.
    Unfinished,
    /// The journal does not have what the call took in, because an earlier version of the host wrote it.
    NoRecord,
    /// What the call took in exceeds the limits of records.
    TookTooMuch,
    /// The call took in a secret, and secrets are not recorded.
    TookSecret,
    /// The tool read or wrote files, which the host that made the call did not record.
    TookFiles,
    /// The tool sent requests, whose responses the host that made the call did not record.
    TookResponses,
    /// The arguments of the call refer to a file that the store does not have any more.
    NoFile,
    /// The recorded call had higher limits than this host allows to the tool, and needs them.
    OverLimits,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native => "its tool is no component",
            Self::NoComponent => "its component is not there, or it is another version",
            Self::Refused => "it was refused before its tool ran",
            Self::NotRepeatable => "its end cannot be repeated exactly",
            Self::Unfinished => "it had not ended",
            Self::NoRecord => "what it took in is not recorded",
            Self::TookTooMuch => "it took in more than is recorded",
            Self::TookSecret => "it took in a secret, which is not recorded",
            Self::TookFiles => "it took in files, which are not recorded",
            Self::TookResponses => "it took in responses to requests, which are not recorded",
            Self::NoFile => "a file that it takes is not kept any more",
            Self::OverLimits => "it needs more than this host allows to the tool",
        })
    }
}

impl From<DivergenceReason> for SkipReason {
    /// Converts the reason why the record of what a call took in is incomplete. The other reasons do not occur here: they say why
    /// a replay differs from a complete record.
    fn from(reason: DivergenceReason) -> Self {
        match reason {
            DivergenceReason::Truncated => Self::TookTooMuch,
            DivergenceReason::Secret => Self::TookSecret,
            DivergenceReason::Unrecorded {
                capability: Capability::Fs,
            } => Self::TookFiles,
            DivergenceReason::Unrecorded { .. } => Self::TookResponses,
            _ => Self::NoRecord,
        }
    }
}

/// The first difference between a run and its replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Number of the event, from 1.
    pub event: u64,
    /// The step of the plan, if the event belongs to one.
    pub step: Option<String>,
    /// Name of the tool, if the difference is about a call.
    pub tool: Option<String>,
    /// What differs, such as `fuel` or `result/output/value`.
    pub what: String,
    /// The recorded value, shortened.
    pub recorded: String,
    /// The value of the replay, shortened.
    pub found: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {}", self.event)?;
        if let Some(step) = &self.step {
            write!(f, ", step `{step}`")?;
        }
        if let Some(tool) = &self.tool {
            write!(f, ", tool `{tool}`")?;
        }
        let (what, recorded, found) = (&self.what, &self.recorded, &self.found);
        write!(f, ": {what} differs: recorded {recorded}, found {found}")
    }
}

impl Runtime {
    /// Runs a recorded run again with the components of the plugins folder. Calls no model, and writes nothing to the store.
    ///
    /// # Errors
    /// Fails if there is no such run, or its journal was changed or cannot be understood.
    pub async fn replay(&self, trace_id: &str) -> Result<Replay, RuntimeError> {
        let recording = Recording::read(self.store.as_ref(), trace_id).await?;
        recording.replay(&self.toolbox.plugins()).await
    }
}

impl Recording {
    /// Runs the run again. For a call whose component is not in `plugins`, the recorded result is used.
    ///
    /// # Errors
    /// Fails if the journal cannot be understood.
    pub async fn replay(&self, plugins: &[Arc<Plugin>]) -> Result<Replay, RuntimeError> {
        let mut replayer = Replayer::new(self, plugins)?;
        let first = self.event(1)?;
        let mut run = Run::restore(&first).map_err(|error| self.damaged(1, error))?;
        replayer.fuel_basis.clone_from(&run.started_with().fuel_basis);
        for (number, event) in (2..).zip(self.events().skip(1)) {
            let event = event?;
            replayer.compare(number, &run, &event).await?;
            if replayer.replay.difference.is_some() {
                return Ok(replayer.replay);
            }
            run.apply_recorded(&event)
                .map_err(|error| self.damaged(number, error))?;
        }
        replayer.compare_end(&run);
        Ok(replayer.replay)
    }
}

/// A replay in progress.
struct Replayer<'a> {
    recording: &'a Recording,
    /// A tool system for each component that the run called, with the limits that this host allows to its tool, by the digest of
    /// the component.
    tools: BTreeMap<String, (ToolSystem, Limits)>,
    /// The number of the event that ends a call, by the number of the event that announces the call.
    end_by_announcement: BTreeMap<u64, u64>,
    /// The numbers of the events that end announced calls.
    ends_of_announced: BTreeSet<u64>,
    /// Identifies the engine and the fuel prices of the recording host. Empty if the journal is from an earlier version of the
    /// host, which did not record this; such a journal does not have what a call took in either.
    fuel_basis: String,
    replay: Replay,
}

/// A call that the journal announces.
struct AnnouncedCall<'a> {
    /// Number of the event that announces it.
    event: u64,
    call: ToolCall,
    /// Digest of the component; `None` if the tool is not a component.
    tool_digest: Option<&'a str>,
    /// Digest of the input; empty if it is not recorded.
    input_digest: &'a str,
}

impl<'a> Replayer<'a> {
    fn new(recording: &'a Recording, plugins: &[Arc<Plugin>]) -> Result<Self, RuntimeError> {
        let called = recording.component_digests()?;
        let mut tools = BTreeMap::new();
        for plugin in plugins.iter().filter(|plugin| called.contains(&plugin.digest())) {
            let system = Toolbox::with_plugin(plugin)?.system();
            tools.insert(plugin.digest(), (system, plugin.limits()));
        }
        let end_by_announcement = find_call_ends(recording)?;
        Ok(Self {
            recording,
            tools,
            ends_of_announced: end_by_announcement.values().copied().collect(),
            end_by_announcement,
            fuel_basis: String::new(),
            replay: Replay {
                trace_id: recording.run.trace_id.clone(),
                events: recording.run.last_sequence,
                ..Replay::default()
            },
        })
    }

    /// Compares an event with what the replay gives. `run` is the run as it was before the event.
    async fn compare(&mut self, number: u64, run: &Run, event: &RunEvent) -> Result<(), RuntimeError> {
        match event {
            RunEvent::ModelAsked { action, request, .. } if !request.is_empty() => {
                self.compare_request(run, *action, request);
            }
            RunEvent::ToolCalled {
                action,
                call_id,
                tool_digest,
                input,
                ..
            } => {
                if let Some(call) = run.open_call(*action, call_id) {
                    let call = AnnouncedCall {
                        event: number,
                        call,
                        tool_digest: tool_digest.as_deref(),
                        input_digest: input,
                    };
                    self.replay_announced(run, call).await?;
                }
            }
            // A call that ends without an announcement was refused before its tool ran.
            RunEvent::ToolEnded { action, end, .. } if !self.ends_of_announced.contains(&number) => {
                self.note_skipped_result(number, run, *action, &end.result, SkipReason::Refused);
            }
            // In journals of version 1, this event ends all calls of a batch, and what they took in is not recorded.
            RunEvent::ToolsReturned { action, results, .. } => {
                for result in results {
                    self.note_skipped_result(number, run, *action, result, SkipReason::NoRecord);
                }
            }
            RunEvent::Resumed { fuel_basis, .. } => self.fuel_basis.clone_from(fuel_basis),
            _ => {}
        }
        Ok(())
    }

    /// Counts a request, and whether the current prompts word it differently.
    fn compare_request(&mut self, run: &Run, action: ActionId, recorded_digest: &str) {
        let current_digest = run.next_call(action).map(|call| request_digest(&call.request));
        self.replay.requests += 1;
        self.replay.requests_changed += u64::from(current_digest.as_deref() != Some(recorded_digest));
    }

    /// Runs an announced call again and compares its end, or notes that the call is skipped, and why.
    async fn replay_announced(&mut self, run: &Run, call: AnnouncedCall<'_>) -> Result<(), RuntimeError> {
        let Some(end_number) = self.end_by_announcement.get(&call.event).copied() else {
            self.note_skipped_call(&call, SkipReason::Unfinished);
            return Ok(());
        };
        let RunEvent::ToolEnded { end, .. } = self.recording.event(end_number)? else {
            return Ok(());
        };
        match self.replay_call(run, &call, end_number, &end).await {
            Ok(difference) => {
                self.replay.calls_run += 1;
                self.replay.fuel_compared += u64::from(self.has_same_fuel_basis());
                self.replay.difference = difference;
            }
            Err(reason) => self.note_skipped_call(&call, reason),
        }
        Ok(())
    }

    /// Runs a call again that ended with the event `end_number`. Returns the first difference, or the reason why the call cannot
    /// be run again.
    async fn replay_call(
        &self,
        run: &Run,
        announced: &AnnouncedCall<'_>,
        end_number: u64,
        recorded: &CallEnd,
    ) -> Result<Option<Difference>, SkipReason> {
        if !is_repeatable(recorded.ending) {
            return Err(SkipReason::NotRepeatable);
        }
        match recorded.intake.why_incomplete() {
            Some(reason) => return Err(reason.into()),
            None if self.fuel_basis.is_empty() => return Err(SkipReason::NoRecord),
            None => {}
        }
        let digest = announced.tool_digest.ok_or(SkipReason::Native)?;
        let (tools, limits) = self.tools.get(digest).ok_or(SkipReason::NoComponent)?;
        let difference_of = |event, (what, recorded, found)| call_difference(announced, event, what, recorded, found);
        let admitted = match self.admit(run, tools, &announced.call).await? {
            Ok(admitted) => admitted,
            Err(refusal) => {
                let refused = ("admission".to_owned(), "admitted".to_owned(), refusal);
                return Ok(Some(difference_of(announced.event, refused)));
            }
        };
        if let Some(mismatch) = compare::input_mismatch(announced.input_digest, admitted.input_json()) {
            return Ok(Some(difference_of(announced.event, mismatch)));
        }
        let replayed = tools
            .replay(admitted, &recorded.intake)
            .await
            .ok_or(SkipReason::Native)?;
        let mismatch = compare::call_mismatch(recorded, &replayed, self.has_same_fuel_basis());
        if mismatch.is_some() && had_higher_limits(recorded, *limits) && reached_a_limit(replayed.report.ending) {
            return Err(SkipReason::OverLimits);
        }
        Ok(mismatch.map(|mismatch| difference_of(end_number, mismatch)))
    }

    /// Inserts the files of a call into its arguments, and admits the call: checks it against the schema of its tool. The inner
    /// error is the text of a refusal.
    async fn admit(
        &self,
        run: &Run,
        tools: &ToolSystem,
        call: &ToolCall,
    ) -> Result<Result<ReplayableCall, String>, SkipReason> {
        let mut parsed = call.call.clone();
        for file in &call.files {
            let bytes = self.recording.blobs.get(&file.digest).ok_or(SkipReason::NoFile)?;
            insert_file(&mut parsed.arguments, file, bytes.clone());
        }
        let props = &run.started_with().props;
        let scope = CallScope {
            thread_id: props.thread_id.clone(),
            trace_id: run.trace_id().to_owned(),
            user_id: props.user_id.clone(),
            session_id: props.session_id.clone(),
            enabled_tools: EnabledTools::named([parsed.tool_name.clone()]),
            parent_id: Some(call.item_id.clone()),
            ..CallScope::default()
        };
        let refusal = |report: Box<art_tools::ToolReport>| report.result.error.unwrap_or_default();
        let admitted = tools.admit_for_replay(parsed, &scope).await.map_err(refusal);
        // If the tool itself asked a person before, it receives the decision, as it did in the recorded run.
        Ok(admitted.map(
            |admitted| match call.approval.as_deref().and_then(decisions::hitl_context) {
                Some(decision) => admitted.decided(decision),
                None => admitted,
            },
        ))
    }

    fn has_same_fuel_basis(&self) -> bool {
        self.fuel_basis == Sandbox::fuel_basis()
    }

    fn note_skipped_call(&mut self, announced: &AnnouncedCall<'_>, reason: SkipReason) {
        let ToolCall { item_id, call, .. } = &announced.call;
        self.replay.skipped.push(SkippedCall {
            event: announced.event,
            step: Some(item_id.clone()),
            tool: call.tool_name.clone(),
            reason,
        });
    }

    /// Notes that a call without an announcement is skipped, so that its recorded `result` is used.
    fn note_skipped_result(
        &mut self,
        event: u64,
        run: &Run,
        action: ActionId,
        result: &ToolResult,
        reason: SkipReason,
    ) {
        let call = run.open_call(action, &result.call_id);
        self.replay.skipped.push(SkippedCall {
            event,
            step: call.map(|call| call.item_id),
            tool: result.tool_name.clone(),
            reason,
        });
    }

    /// Compares status and answer of the replayed run with those that the store has for the run.
    fn compare_end(&mut self, run: &Run) {
        let record = &self.recording.run;
        let (status, answer) = match run.finished() {
            Some(report) => {
                let response = &report.response;
                (
                    response.metadata.status.into(),
                    Some(response.response.content.as_str()),
                )
            }
            None if run.waits_for_decision() => (RunState::Suspended, None),
            None => (RunState::Running, None),
        };
        self.replay.ended = run.finished().is_some();
        let recorded_answer = record.summary.get("answer").and_then(serde_json::Value::as_str);
        let difference_of = |what: &str, recorded: &str, found: &str| Difference {
            event: record.last_sequence,
            step: None,
            tool: None,
            what: what.to_owned(),
            recorded: compare::excerpt(recorded),
            found: compare::excerpt(found),
        };
        if record.status != status {
            self.replay.difference = Some(difference_of("status", record.status.name(), status.name()));
        } else if let (Some(recorded), Some(found)) = (recorded_answer, answer)
            && recorded != found
        {
            self.replay.difference = Some(difference_of("answer", recorded, found));
        }
    }
}

/// Returns the number of the event that ends each call, by the number of the event that announces the call. A call that is made
/// again after its host stopped is announced again, and only its last announcement has an end.
fn find_call_ends(recording: &Recording) -> Result<BTreeMap<u64, u64>, RuntimeError> {
    let (mut announced, mut ends) = (BTreeMap::new(), BTreeMap::new());
    for (number, event) in (1..).zip(recording.events()) {
        match event? {
            RunEvent::ToolCalled { call_id, .. } => {
                announced.insert(call_id, number);
            }
            RunEvent::ToolEnded { end, .. } => {
                let announcement = announced.remove(&end.result.call_id);
                ends.extend(announcement.map(|announcement| (announcement, number)));
            }
            RunEvent::Resumed { .. } => announced.clear(),
            _ => {}
        }
    }
    Ok(ends)
}

/// Returns whether a call with this ending has the same ending when it is run again. Time, cancellations and the load of the host
/// are not recorded, and after a trap the use of fuel is only approximate.
const fn is_repeatable(ending: EndingKind) -> bool {
    use EndingKind as E;
    match ending {
        E::Success
        | E::Failure
        | E::Suspended
        | E::Continuation
        | E::FuelExhausted
        | E::MemoryExhausted
        | E::StackOverflow
        | E::InvalidOutput
        | E::Denied => true,
        E::Timeout
        | E::Trap
        | E::Cancelled
        | E::Busy
        | E::HostError
        | E::Disabled
        | E::NotFound
        | E::InvalidArguments
        | E::NotRun
        | E::UnknownOutcome => false,
    }
}

/// Returns whether a recorded call had a limit that is higher than that of this host.
fn had_higher_limits(recorded: &CallEnd, limits: Limits) -> bool {
    let recorded_limits = recorded.intake.given.as_ref().map(|given| given.limits);
    recorded_limits.is_some_and(|recorded_limits| recorded_limits.at_most(limits) != recorded_limits)
}

/// Returns whether a call may have ended like this because it reached one of its limits.
const fn reached_a_limit(ending: EndingKind) -> bool {
    use EndingKind as E;
    matches!(
        ending,
        E::FuelExhausted | E::Timeout | E::MemoryExhausted | E::InvalidOutput | E::Trap
    )
}

fn call_difference(
    announced: &AnnouncedCall<'_>,
    event: u64,
    what: String,
    recorded: String,
    found: String,
) -> Difference {
    Difference {
        event,
        step: Some(announced.call.item_id.clone()),
        tool: Some(announced.call.call.tool_name.clone()),
        what,
        recorded,
        found,
    }
}
