//! The `host` interface of `wit/tool.wit`, which every tool may call: logs, progress and cancellation.

use art_core::intake::{Answer, CrossingKind};
use art_core::outcome::LogLevel;
use wasmtime::component::Linker;

use crate::bindings::{host, types};
use crate::state::{CallState, HostFunctions};

/// Links the `host` interface.
pub(super) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    types::add_to_linker::<CallState, HostFunctions>(linker, |state| state)?;
    // `count_call` counts each call of the guest into the host, and returns the state.
    host::add_to_linker::<CallState, HostFunctions>(linker, CallState::count_call)
}

impl types::Host for CallState {}

impl host::Host for CallState {
    fn log(&mut self, level: host::Level, message: String) {
        self.meter.count_bytes(message.len());
        self.log_line(log_level(level), &message);
    }

    fn progress(&mut self, title: Option<String>, metadata: Option<String>) {
        let (title, metadata) = (title.unwrap_or_default(), metadata.unwrap_or_default());
        self.meter.count_bytes(title.len() + metadata.len());
        let (title, metadata) = (self.redact(&title), self.redact(&metadata));
        self.progress.report(&title, &metadata);
        let line = format!("progress: {title} {metadata}");
        self.log_line(LogLevel::Info, line.trim_end());
    }

    fn cancelled(&mut self) -> wasmtime::Result<bool> {
        // `ask` records the answer that the guest gets. If the call is a replay of a recorded call, `ask` returns the recorded
        // answer, and `answer_now` is not used.
        let is_cancelled = self.is_cancelled();
        let answer_now = || Answer::Cancelled(is_cancelled);
        self.outside
            .ask(CrossingKind::Cancelled, answer_now, |answer| match answer {
                Answer::Cancelled(is_cancelled) => Some(*is_cancelled),
                _ => None,
            })
    }
}

fn log_level(level: host::Level) -> LogLevel {
    match level {
        host::Level::Trace => LogLevel::Trace,
        host::Level::Debug => LogLevel::Debug,
        host::Level::Info => LogLevel::Info,
        host::Level::Warn => LogLevel::Warn,
        host::Level::Error => LogLevel::Error,
    }
}
