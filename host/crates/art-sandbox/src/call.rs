//! One call of a tool. It runs in a store and an instance of its own, and ends in an outcome, which states what the call used.
//!
//! The store has the memory of the guest and what the host knows of the call ([`CallState`]). A [`Guard`] stops the call at its
//! deadline or when it is cancelled. What the guest learns from outside of its sandbox is its *intake*. This is recorded, so
//! that the call can be replayed.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use art_core::JsonObject;
use art_core::capability::{CallGrants, Denial};
use art_core::error::ToolErrorCode;
use art_core::intake::{Answer, Divergence, FileAnswer, GivenByOperator, Intake, Replayed};
use art_core::limits::Limits;
use art_core::outcome::{CallLog, Ending, ExhaustedLimit, ExhaustedMemory, Failure, Outcome};
use art_core::secret::Secrets;
use art_core::text::byte_prefix;
use art_core::usage::ToolUsage;
use art_tools::NewestProgress;
use tokio_util::sync::CancellationToken;
use wasmtime::{PoolConcurrencyLimitError, Store, Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;

use crate::bindings::{ToolPluginPre, types};
use crate::capability::fs::{FileTree, ProtectedPlaces, StagingArea, WriteNotes};
use crate::capability::http::{Http, Network};
use crate::convert;
use crate::crossing::{CrossingHook, TooManyHostCalls};
use crate::error::{Retention, is_transient};
use crate::guard::{Grace, Guard, StopReason};
use crate::host_memory::{HostMemoryExhausted, MAX_HOST_MEMORY_BYTES};
use crate::meter::MAX_INTERVAL_FUEL;
use crate::outside::Outside;
use crate::schema_text::SchemaText;
use crate::secrets::quarantine_ending;
use crate::state::CallState;
use crate::stubs::NotGranted;

/// Number of bytes that a guest may pass to the host at once in addition to its maximum output, for titles, metadata
/// and log lines.
const EXTRA_TRANSFER_BYTES: u64 = 1 << 20;
/// Maximum size of an error message of the engine, in bytes. The rest is cut off.
const MAX_TRAP_BYTES: usize = 500;

/// One call of a tool, with its store, its limits and its guard. It is boxed, because otherwise each future through which it
/// passes would be larger by its size, and thousands of calls may wait at the same time.
pub(crate) struct Invocation {
    store: Store<CallState>,
    guard: Guard,
    limits: Limits,
    /// What the operator gave to the call, for the record of the call: limits, linked interfaces and environment variables.
    given: GivenByOperator,
    bytes_in: u64,
}

/// What `execute` of the tool gets.
pub(crate) struct ExecuteArguments {
    pub(crate) input: String,
    pub(crate) context: types::ExecutionContext,
}

/// A call that ended.
pub(crate) struct EndedCall {
    /// The outcome and, if the call was a replay that differed from its record, the first difference. Every call has this field,
    /// whether or not it was a replay.
    pub(crate) replayed: Replayed,
    /// The canary (a decoy secret) that was seen in what the tool sent, returned or logged.
    pub(crate) canary: Option<String>,
}

/// The call of `schema()` failed.
#[derive(Debug)]
pub(crate) struct SchemaCallError {
    /// What happened; completes a sentence whose subject is `schema()`.
    pub(crate) reason: String,
    /// How long the cache keeps the failure.
    pub(crate) retention: Retention,
}

impl SchemaCallError {
    /// Creates an error that the cache does not keep, because the next call may succeed.
    pub(crate) const fn transient(reason: String) -> Self {
        Self {
            reason,
            retention: Retention::Never,
        }
    }
}

impl Invocation {
    pub(crate) fn new(
        instance_pre: &ToolPluginPre<CallState>,
        limits: &Limits,
        grants: Arc<CallGrants>,
        cancel: CancellationToken,
    ) -> wasmtime::Result<Box<Self>> {
        let given = GivenByOperator {
            limits: *limits,
            links: grants.link_set(),
            env: grants.env.clone(),
        };
        let state = CallState::new(limits, grants, cancel.clone());
        let guard = Guard::new(limits, cancel, state.meter.time_slice().clone());
        let mut store = Store::new(instance_pre.engine(), state);
        store.limiter(|state| &mut state.limiter);
        store.call_hook_async(CrossingHook);
        store.set_fuel(limits.fuel)?;
        // The engine calls the host after each interval of fuel. `CrossingHook`, which runs when execution passes from the guest
        // to the host or back, sets the length of each interval when the interval begins.
        store.fuel_async_yield_interval(Some(MAX_INTERVAL_FUEL))?;
        store.set_hostcall_fuel(usize::try_from(limits.output_bytes + EXTRA_TRANSFER_BYTES).unwrap_or(usize::MAX));
        store.set_max_component_handles(limits.handles as usize);
        Ok(Box::new(Self {
            store,
            guard,
            limits: *limits,
            given,
            bytes_in: 0,
        }))
    }

    /// Sends the progress reports of the guest to `progress`.
    pub(crate) fn with_progress(mut self: Box<Self>, progress: NewestProgress) -> Box<Self> {
        self.store.data_mut().progress = progress;
        self
    }

    /// Lets the call go on for a time after its cancellation.
    pub(crate) fn with_grace(mut self: Box<Self>, grace: Grace) -> Box<Self> {
        self.guard.set_grace(grace);
        self
    }

    /// Lets the guest send requests through `network`.
    pub(crate) fn with_network(mut self: Box<Self>, network: Arc<Network>) -> Box<Self> {
        self.store.data_mut().network = Some(network);
        self
    }

    /// Adds secrets to the requests of the guest where its grants say so, and redacts secrets everywhere else.
    pub(crate) fn with_secrets(mut self: Box<Self>, secrets: Arc<Secrets>) -> Box<Self> {
        self.store.data_mut().secrets = secrets;
        self
    }

    /// Sets the limits, linked interfaces and environment variables that the record of the call states. They may differ from
    /// those with which the call runs, for example in the time limit.
    pub(crate) fn with_given(mut self: Box<Self>, given: GivenByOperator) -> Box<Self> {
        self.given = given;
        self
    }

    /// Makes the call a replay: the guest gets all answers of the host from the record.
    pub(crate) fn with_record(mut self: Box<Self>, recorded: Intake) -> Box<Self> {
        self.store.data_mut().outside = Outside::replay(recorded);
        self
    }

    /// Stages the changes that the guest makes to files under grants with `stage = true`: they go to drafts in `area`.
    pub(crate) fn with_staging(mut self: Box<Self>, area: Option<StagingArea>) -> Box<Self> {
        self.store.data_mut().staging = area;
        self
    }

    /// Opens the files that are granted to the call. None of the grants may lead to one of the `protected` places. `notes` get the
    /// directories in which the call writes.
    ///
    /// # Errors
    /// Fails with the denials of the grants that lead through a link, or to a protected place. Then the guest must not run.
    pub(crate) fn with_files(
        mut self: Box<Self>,
        protected: Arc<ProtectedPlaces>,
        notes: Option<Arc<WriteNotes>>,
    ) -> Result<Box<Self>, Vec<Denial>> {
        let state = self.store.data_mut();
        state.protected = protected;
        state.write_notes = notes;
        state.open_files()?;
        Ok(self)
    }

    /// Calls `execute` of the tool.
    pub(crate) async fn execute(
        mut self: Box<Self>,
        instance_pre: &ToolPluginPre<CallState>,
        arguments: Box<ExecuteArguments>,
    ) -> EndedCall {
        self.bytes_in = arguments.input.len() as u64;
        let store = &mut self.store;
        let call = async {
            // The future of the instantiation is boxed, because it is three times as large as that of `call_execute`. Unboxed, it
            // would reserve its memory for as long as the call waits.
            let tool = Box::pin(instance_pre.instantiate_async(&mut *store)).await?;
            let ExecuteArguments { input, context } = &*arguments;
            tool.art_tool_tool().call_execute(store, input, context).await
        };
        let (result, cpu) = self.guard.run(pin!(call)).await;
        let outcome = self.finish(result, cpu).await;
        let (outcome, canary) = self.redact(outcome);
        let divergence = self.store.data().outside.divergence();
        let replayed = Replayed { outcome, divergence };
        EndedCall { replayed, canary }
    }

    /// Calls `schema` of the tool.
    pub(crate) async fn schema(
        mut self: Box<Self>,
        instance_pre: &ToolPluginPre<CallState>,
    ) -> Result<SchemaText, SchemaCallError> {
        let store = &mut self.store;
        let call = async {
            let tool = instance_pre.instantiate_async(&mut *store).await?;
            tool.art_tool_tool().call_schema(store).await
        };
        let (result, _cpu) = self.guard.run(pin!(call)).await;
        match result {
            Ok(Ok(schema)) => Ok(schema.into()),
            Ok(Err(error)) => Err(SchemaCallError {
                reason: schema_error_text(&self.ending_of_error(&error)),
                retention: self.retention(&error),
            }),
            // A guest that only computes runs out of fuel long before the deadline. So this guest slept or the machine was busy,
            // which may be different later.
            Err(stop) => Err(SchemaCallError {
                reason: schema_error_text(&self.ending_of_stop(stop)),
                retention: Retention::OneDay,
            }),
        }
    }

    /// Returns how long to keep a failure: always if the tool caused it, and never if the machine lacked a resource.
    fn retention(&self, error: &wasmtime::Error) -> Retention {
        let caused_by_tool = self.store.data().limiter.refused_last_growth() || !is_transient(error);
        if caused_by_tool {
            Retention::Always
        } else {
            Retention::Never
        }
    }

    /// Removes the secrets from an outcome. If a canary is in the outcome, or in what the call sent or reported before, the
    /// ending becomes a denial. Also returns the canary.
    fn redact(&self, mut outcome: Outcome) -> (Outcome, Option<String>) {
        let state = self.store.data();
        let in_outcome = state.secrets.redactor().redact_outcome(&mut outcome);
        let canary = state.canary().or(in_outcome);
        if let Some(canary) = &canary {
            outcome.ending = quarantine_ending(canary);
            // A replay has no secrets, so it could not reproduce this ending. So the record of the call is withheld.
            outcome.intake.withhold();
        }
        (outcome, canary)
    }

    async fn finish(&mut self, result: Result<wasmtime::Result<types::Outcome>, StopReason>, cpu: Duration) -> Outcome {
        let bytes_out = match &result {
            Ok(Ok(outcome)) => outcome_size(outcome),
            _ => 0,
        };
        let usage = self.usage(bytes_out, cpu);
        let ending = match result {
            // The engine limits only the fuel of the guest's instructions. The usage also has the fuel of calls into the host.
            Ok(Ok(_)) if usage.fuel > self.limits.fuel => self.fuel_exhausted_ending(),
            Ok(Ok(_)) if bytes_out > self.limits.output_bytes => self.too_large_ending(bytes_out),
            Ok(Ok(outcome)) => convert::ending(outcome),
            Ok(Err(error)) => self.ending_of_error(&error),
            Err(stop) => self.ending_of_stop(stop),
        };
        // The uses of grants are taken first, because they are in `files`, which `finish_files` drops.
        let uses = self.store.data_mut().take_uses();
        let ending = match self.store.data_mut().files.take() {
            // The future is boxed, because most calls do not need it.
            Some(files) => Box::pin(self.finish_files(files, ending)).await,
            None => ending,
        };
        // In a replay, the record says what could not be stored.
        let ending = match self.store.data_mut().outside.recorded_write_failure() {
            Some(reason) => with_write_failure(ending, reason),
            None => ending,
        };
        Outcome {
            ending,
            usage,
            log: self.take_log(),
            intake: self.take_intake(),
            denials: self.store.data_mut().outside.take_denials(),
            uses,
        }
    }

    /// Returns the record of what the guest learned from outside, with the limits, interfaces and variables of the call.
    fn take_intake(&mut self) -> Intake {
        let state = self.store.data_mut();
        state.note_denied_requests();
        state.outside.take_intake(self.given.clone(), state.secrets.redactor())
    }

    /// Ends the use of files: makes the writes of a call that was not stopped visible, and turns the changes that a successful call
    /// staged into change sets, which a person later commits or drops. Drops all others. Also notes what the quotas did not
    /// allow. Returns the ending, which becomes an error if a successful call's files cannot be written.
    async fn finish_files(&mut self, files: Arc<FileTree>, ending: Ending) -> Ending {
        let state = self.store.data_mut();
        files
            .quota_denials()
            .into_iter()
            .for_each(|denial| state.outside.note_denial(denial));
        let ending = if returned(&ending) && files.has_writes() {
            // A call that is stopped now has written nothing.
            match self.guard.run(pin!(files.store())).await.0 {
                Ok(()) => ending,
                Err(stop) => self.ending_of_stop(stop),
            }
        } else {
            ending
        };
        if let Err(error) = files.finish_writes(returned(&ending)) {
            let state = self.store.data_mut();
            let reason = state.redact(&error.to_string()).into_owned();
            state
                .outside
                .record(Answer::File(FileAnswer::NotWritten(reason.clone())));
            return with_write_failure(ending, reason);
        }
        match files.finish_drafts(matches!(ending, Ending::Success(_))) {
            Ok(()) => ending,
            Err(error) => Ending::HostError {
                message: format!("the changes of files cannot be staged: {error}"),
            },
        }
    }

    fn take_log(&mut self) -> CallLog {
        self.store.data_mut().take_log()
    }

    fn usage(&self, bytes_out: u64, cpu: Duration) -> ToolUsage {
        let state = self.store.data();
        let fuel_left = self.store.get_fuel().unwrap_or_default();
        ToolUsage {
            fuel: self
                .limits
                .fuel
                .saturating_sub(fuel_left)
                .saturating_add(state.host_fuel()),
            peak_memory_bytes: state.limiter.peak(),
            wall_us: micros(self.guard.elapsed()),
            cpu_us: micros(cpu),
            bytes_in: self.bytes_in,
            bytes_out,
            host_calls: state.meter.host_calls(),
            http_requests: state.sent_requests().map_or(0, Http::requests),
            http_bytes: state.sent_requests().map_or(0, Http::bytes),
        }
    }

    fn ending_of_stop(&self, reason: StopReason) -> Ending {
        match reason {
            StopReason::Timeout => Ending::Timeout {
                limit_ms: self.limits.timeout_ms,
            },
            StopReason::Cancelled => Ending::Cancelled,
        }
    }

    fn fuel_exhausted_ending(&self) -> Ending {
        let Limits { fuel, host_calls, .. } = self.limits;
        let limit = if self.store.data().meter.host_calls() > host_calls {
            ExhaustedLimit::HostCalls(host_calls)
        } else {
            ExhaustedLimit::Fuel(fuel)
        };
        Ending::FuelExhausted { limit }
    }

    fn too_large_ending(&self, bytes: u64) -> Ending {
        Ending::InvalidOutput {
            reason: format!(
                "{bytes} bytes, more than the {} that `output_bytes` allows",
                self.limits.output_bytes
            ),
        }
    }

    /// Returns the ending for an error of the engine. After the guest was refused memory, any error counts as a consequence of
    /// that, except a full pool, a divergence of a replay, exhausted fuel and a stack overflow.
    fn ending_of_error(&self, error: &wasmtime::Error) -> Ending {
        if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
            return Ending::Busy;
        }
        if let Some(divergence) = error.downcast_ref::<Divergence>() {
            return Ending::HostError {
                message: divergence.to_string(),
            };
        }
        let trap = error.downcast_ref::<Trap>();
        match trap {
            Some(Trap::OutOfFuel) => self.fuel_exhausted_ending(),
            Some(Trap::StackOverflow) => Ending::StackOverflow,
            _ if error.is::<HostMemoryExhausted>() => Ending::MemoryExhausted {
                limit: ExhaustedMemory::Host(MAX_HOST_MEMORY_BYTES as u64),
            },
            _ if self.store.data().limiter.refused_last_growth() => Ending::MemoryExhausted {
                limit: ExhaustedMemory::Guest(self.limits.memory_bytes),
            },
            Some(trap) => Ending::Trap {
                message: trap_message(trap),
            },
            None if error.is::<TooManyHostCalls>() => self.fuel_exhausted_ending(),
            None => self.ending_of_non_trap(error),
        }
    }

    /// Returns the ending for an error that is not a trap: an error of a host function, or of converting the values of
    /// the guest.
    fn ending_of_non_trap(&self, error: &wasmtime::Error) -> Ending {
        if let Some(I32Exit(code)) = error.downcast_ref() {
            return Ending::Trap {
                message: format!("the tool exited with code {code}; a tool returns a result or an error"),
            };
        }
        if let Some(denied) = error.downcast_ref::<NotGranted>() {
            return Ending::Denied {
                message: denied.to_string(),
            };
        }
        let (cause, backtrace) = cause_and_backtrace(error);
        // The engine has no error types for too much data and for invalid values, so their errors are recognized by their text.
        if cause.contains("fuel allocated for hostcalls") {
            let limit = self.limits.output_bytes + EXTRA_TRANSFER_BYTES;
            let reason = format!("more than {limit} bytes were passed to the host at once");
            return Ending::InvalidOutput { reason };
        }
        if cause.contains("utf-8") || cause.contains("discriminant") {
            let reason = byte_prefix(&cause, MAX_TRAP_BYTES).to_owned();
            return Ending::InvalidOutput { reason };
        }
        let message = backtrace.map_or(cause.clone(), |backtrace| format!("{cause}; {backtrace}"));
        Ending::Trap {
            message: byte_prefix(&message, MAX_TRAP_BYTES).to_owned(),
        }
    }
}

/// Returns the ending of a call that succeeded, but some of whose files could not be stored.
/// Returns the ending of a call whose files could not be written for this reason. A failure that the tool reports, perhaps without
/// this reason, gets it too.
fn with_write_failure(ending: Ending, reason: String) -> Ending {
    match ending {
        Ending::Failure(mut failure) => {
            failure.message = format!("{} ({reason})", failure.message);
            Ending::Failure(failure)
        }
        ending if ending.error().is_some() => ending,
        _ => Ending::Failure(Failure {
            code: ToolErrorCode::IoError,
            message: reason,
            retryable: false,
            metadata: JsonObject::new(),
        }),
    }
}

/// Returns whether the tool returned something, and was neither stopped nor trapped.
fn returned(ending: &Ending) -> bool {
    matches!(
        ending,
        Ending::Success(_) | Ending::Failure(_) | Ending::Suspended(_) | Ending::Continuation(_)
    )
}

fn trap_message(trap: &Trap) -> String {
    let text = trap.to_string();
    text.strip_prefix("wasm trap: ").unwrap_or(&text).to_owned()
}

/// Returns the text of an error without its backtrace, and the backtrace. The engine puts the backtrace first, and it
/// may be so long that the text would be cut off.
fn cause_and_backtrace(error: &wasmtime::Error) -> (String, Option<String>) {
    let backtrace = error.downcast_ref::<WasmBacktrace>().map(ToString::to_string);
    let causes = error.chain().map(ToString::to_string);
    let causes: Vec<_> = causes.filter(|text| Some(text) != backtrace.as_ref()).collect();
    (causes.join(": "), backtrace)
}

/// Returns the error of a call of `schema()` as the rest of a sentence whose subject is `schema()`.
fn schema_error_text(ending: &Ending) -> String {
    ending
        .error()
        .map_or_else(|| "returned no schema".to_owned(), |(_, text)| text)
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Returns the size of everything that the tool returned, in bytes.
fn outcome_size(outcome: &types::Outcome) -> u64 {
    let bytes = match outcome {
        types::Outcome::Success(success) => success_size(success),
        types::Outcome::Failure(failure) => failure.message.len() + text_size(&failure.metadata),
        types::Outcome::Suspended(suspension) => {
            let optional = [&suspension.details, &suspension.preview, &suspension.feedback_schema];
            suspension.message.len() + optional.into_iter().map(text_size).sum::<usize>()
        }
        types::Outcome::Continuation(request) => {
            let hints: usize = request.template_hints.iter().map(String::len).sum();
            request.description.len() + request.inputs.len() + hints + text_size(&request.context_management)
        }
    };
    bytes as u64
}

fn success_size(success: &types::Success) -> usize {
    let attachment_size = |a: &types::Attachment| a.data.len() + a.media_type.len() + text_size(&a.filename);
    let source_size = |s: &types::Source| s.source_name.len() + text_size(&s.url) + text_size(&s.extra);
    let attachments: usize = success.attachments.iter().map(attachment_size).sum();
    let sources: usize = success.sources.iter().map(source_size).sum();
    success.output.len() + text_size(&success.title) + text_size(&success.metadata) + attachments + sources
}

fn text_size(text: &Option<String>) -> usize {
    text.as_ref().map_or(0, String::len)
}
