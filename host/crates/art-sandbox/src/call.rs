//! One call: a fresh store, a fresh instance, the guard around both, and what the call used.

use std::time::Duration;

use art_core::limits::Limits;
use art_core::outcome::{CallLog, Ending, ExhaustedLimit, Outcome};
use art_core::text::byte_prefix;
use art_core::tool::ExecutionContext;
use art_core::usage::Usage;
use art_tools::NewestProgress;
use tokio_util::sync::CancellationToken;
use wasmtime::{PoolConcurrencyLimitError, Store, Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;

use crate::bindings::{ToolPluginPre, types};
use crate::convert;
use crate::crossing::{CrossingHook, TooManyHostCalls};
use crate::error::{Retention, is_of_the_machine};
use crate::guard::{Stopped, Watch};
use crate::meter::YIELD_FUEL;
use crate::schema_text::SchemaText;
use crate::state::CallState;
use crate::stubs::NotGranted;

/// Bytes beyond its output that a guest may hand to the host in one go: its messages, titles and log lines.
const HOSTCALL_SLACK: u64 = 1 << 20;
/// Bytes of an error message of the engine that are kept.
const MAX_TRAP_BYTES: usize = 500;

/// One call that is about to run, with its store, its limits and its guard.
pub(crate) struct Invocation {
    store: Store<CallState>,
    watch: Watch,
    limits: Limits,
    bytes_in: u64,
}

/// Why there is no schema.
#[derive(Debug)]
pub(crate) struct NoSchema {
    /// What happened, in words.
    pub(crate) reason: String,
    /// Whether it would happen again.
    pub(crate) retention: Retention,
}

impl NoSchema {
    /// It may not happen again.
    pub(crate) const fn passing(reason: String) -> Self {
        Self {
            reason,
            retention: Retention::Not,
        }
    }
}

impl Invocation {
    pub(crate) fn new(
        pre: &ToolPluginPre<CallState>,
        limits: &Limits,
        cancel: CancellationToken,
    ) -> wasmtime::Result<Self> {
        let state = CallState::new(limits, cancel.clone());
        let watch = Watch::new(limits, cancel, state.meter.turn().clone());
        let mut store = Store::new(pre.engine(), state);
        store.limiter(|state| &mut state.limiter);
        store.call_hook_async(CrossingHook);
        store.set_fuel(limits.fuel)?;
        store.fuel_async_yield_interval(Some(YIELD_FUEL))?;
        store.set_hostcall_fuel(usize::try_from(limits.output_bytes + HOSTCALL_SLACK).unwrap_or(usize::MAX));
        store.set_max_component_handles(limits.handles as usize);
        Ok(Self {
            store,
            watch,
            limits: *limits,
            bytes_in: 0,
        })
    }

    /// Sends the progress reports of the guest to `progress`.
    pub(crate) fn with_progress(mut self, progress: NewestProgress) -> Self {
        self.store.data_mut().progress = progress;
        self
    }

    /// Runs `execute`.
    pub(crate) async fn execute(
        mut self,
        pre: &ToolPluginPre<CallState>,
        input: String,
        context: &ExecutionContext,
    ) -> Outcome {
        self.bytes_in = input.len() as u64;
        let context = convert::context(context);
        let store = &mut self.store;
        let run = async {
            let tool = pre.instantiate_async(&mut *store).await?;
            tool.art_tool_tool().call_execute(store, &input, &context).await
        };
        let (ended, cpu) = self.watch.guard(run).await;
        self.finish(ended, cpu)
    }

    /// Runs `schema`.
    pub(crate) async fn schema(mut self, pre: &ToolPluginPre<CallState>) -> Result<SchemaText, NoSchema> {
        let store = &mut self.store;
        let run = async {
            let tool = pre.instantiate_async(&mut *store).await?;
            tool.art_tool_tool().call_schema(store).await
        };
        let (ended, _cpu) = self.watch.guard(run).await;
        match ended {
            Ok(Ok(schema)) => Ok(schema.into()),
            Ok(Err(error)) => Err(NoSchema {
                reason: in_words(&self.classify(&error)),
                retention: self.retention(&error),
            }),
            // Its fuel is for a fraction of that time: it slept, or the machine did not get to it.
            Err(stopped) => Err(NoSchema {
                reason: in_words(&self.stopped(stopped)),
                retention: Retention::ForADay,
            }),
        }
    }

    /// What the tool did it does again; what the machine lacked may be there the next time.
    fn retention(&self, error: &wasmtime::Error) -> Retention {
        let of_the_tool = self.store.data().limiter.refused() || !is_of_the_machine(error);
        if of_the_tool { Retention::Always } else { Retention::Not }
    }

    fn finish(mut self, ended: Result<wasmtime::Result<types::Outcome>, Stopped>, cpu: Duration) -> Outcome {
        let bytes_out = match &ended {
            Ok(Ok(outcome)) => size_of(outcome),
            _ => 0,
        };
        let usage = self.usage(bytes_out, cpu);
        let ending = match ended {
            Ok(Ok(_)) if usage.fuel > self.limits.fuel => self.fuel_exhausted(),
            Ok(Ok(_)) if bytes_out > self.limits.output_bytes => self.too_large(bytes_out),
            Ok(Ok(outcome)) => convert::ending(outcome),
            Ok(Err(error)) => self.classify(&error),
            Err(stopped) => self.stopped(stopped),
        };
        Outcome {
            ending,
            usage,
            log: self.take_log(),
        }
    }

    fn take_log(&mut self) -> CallLog {
        self.store.data_mut().take_log()
    }

    fn usage(&self, bytes_out: u64, cpu: Duration) -> Usage {
        let state = self.store.data();
        let left = self.store.get_fuel().unwrap_or_default();
        Usage {
            fuel: self.limits.fuel.saturating_sub(left).saturating_add(state.host_fuel()),
            peak_memory_bytes: state.limiter.peak(),
            wall_us: micros(self.watch.elapsed()),
            cpu_us: micros(cpu),
            bytes_in: self.bytes_in,
            bytes_out,
            host_calls: state.meter.host_calls(),
        }
    }

    fn stopped(&self, stopped: Stopped) -> Ending {
        match stopped {
            Stopped::Timeout => Ending::Timeout {
                limit_ms: self.limits.timeout_ms,
            },
            Stopped::Cancelled => Ending::Cancelled,
        }
    }

    fn fuel_exhausted(&self) -> Ending {
        let Limits { fuel, host_calls, .. } = self.limits;
        let limit = if self.store.data().meter.host_calls() > host_calls {
            ExhaustedLimit::HostCalls(host_calls)
        } else {
            ExhaustedLimit::Fuel(fuel)
        };
        Ending::FuelExhausted { limit }
    }

    fn too_large(&self, bytes: u64) -> Ending {
        Ending::InvalidOutput {
            reason: format!("{bytes} bytes, more than the {} allowed", self.limits.output_bytes),
        }
    }

    /// What an error of the engine means. Refused memory comes first: what traps afterwards is its consequence.
    fn classify(&self, error: &wasmtime::Error) -> Ending {
        if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
            return Ending::Busy;
        }
        let trap = error.downcast_ref::<Trap>();
        match trap {
            Some(Trap::OutOfFuel) => self.fuel_exhausted(),
            Some(Trap::StackOverflow) => Ending::StackOverflow,
            _ if self.store.data().limiter.refused() => Ending::MemoryExhausted {
                limit: self.limits.memory_bytes,
            },
            Some(trap) => Ending::Trap {
                message: trap_message(trap),
            },
            None if error.is::<TooManyHostCalls>() => self.fuel_exhausted(),
            None => self.classify_host_error(error),
        }
    }

    /// An error of a host function, or of turning what the guest gave into values.
    fn classify_host_error(&self, error: &wasmtime::Error) -> Ending {
        if let Some(I32Exit(code)) = error.downcast_ref() {
            return Ending::Trap {
                message: format!("the tool exited with code {code}"),
            };
        }
        if let Some(denied) = error.downcast_ref::<NotGranted>() {
            return Ending::Denied {
                message: denied.to_string(),
            };
        }
        let (cause, running) = cause_and_backtrace(error);
        // The engine has no types for these two.
        if cause.contains("fuel allocated for hostcalls") {
            let limit = self.limits.output_bytes + HOSTCALL_SLACK;
            let reason = format!("more than {limit} bytes were handed to the host at once");
            return Ending::InvalidOutput { reason };
        }
        if cause.contains("utf-8") || cause.contains("discriminant") {
            let reason = byte_prefix(&cause, MAX_TRAP_BYTES).to_owned();
            return Ending::InvalidOutput { reason };
        }
        let message = running.map_or(cause.clone(), |running| format!("{cause}; {running}"));
        Ending::Trap {
            message: byte_prefix(&message, MAX_TRAP_BYTES).to_owned(),
        }
    }
}

fn trap_message(trap: &Trap) -> String {
    let text = trap.to_string();
    text.strip_prefix("wasm trap: ").unwrap_or(&text).to_owned()
}

/// What went wrong, and the functions that were running. The engine tells the functions first, and they may be many.
fn cause_and_backtrace(error: &wasmtime::Error) -> (String, Option<String>) {
    let running = error.downcast_ref::<WasmBacktrace>().map(ToString::to_string);
    let causes = error.chain().map(ToString::to_string);
    let causes: Vec<_> = causes.filter(|text| Some(text) != running.as_ref()).collect();
    (causes.join(": "), running)
}

fn in_words(ending: &Ending) -> String {
    ending
        .error()
        .map_or_else(|| "gave no schema".to_owned(), |(_, text)| text)
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Bytes of everything the tool returned.
fn size_of(outcome: &types::Outcome) -> u64 {
    let bytes = match outcome {
        types::Outcome::Success(success) => size_of_success(success),
        types::Outcome::Failure(failure) => failure.message.len() + text(&failure.metadata),
        types::Outcome::Suspended(suspension) => {
            let sides = text(&suspension.details) + text(&suspension.preview) + text(&suspension.feedback_schema);
            suspension.message.len() + sides
        }
        types::Outcome::Continuation(request) => {
            let hints: usize = request.template_hints.iter().map(String::len).sum();
            request.description.len() + request.inputs.len() + hints + text(&request.context_management)
        }
    };
    bytes as u64
}

fn size_of_success(success: &types::Success) -> usize {
    let attachment = |a: &types::Attachment| a.data.len() + a.media_type.len() + text(&a.filename);
    let source = |s: &types::Source| s.source_name.len() + text(&s.url) + text(&s.extra);
    let attachments: usize = success.attachments.iter().map(attachment).sum();
    let sources: usize = success.sources.iter().map(source).sum();
    success.output.len() + text(&success.title) + text(&success.metadata) + attachments + sources
}

fn text(text: &Option<String>) -> usize {
    text.as_ref().map_or(0, String::len)
}
