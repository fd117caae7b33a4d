//! Notifies the watcher of a run. Each model call and tool call is reported with a span, its identity in the trace of the run.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use art_agent::{ActionId, RunEvent, RunStart, RunView};
use art_core::error::ArtError;
use art_core::provider::{ModelRequest, RuntimeProviderConfig};
use art_core::span::SpanContext;
use art_core::stream::StreamEvent;
use art_tools::{CallProgress, ToolReport};

use super::answer::CallUsage;
use super::watcher::{ReplyPiece, Watcher};
use super::work::event::StreamingCall;

/// Notifies the watcher of a run. The start of a call stores the span of the call, and its end removes the span. So the watcher
/// gets at most one end for each start, and no end without a start.
pub(super) struct Notifier<'a> {
    watcher: GuardedWatcher<'a>,
    query: String,
    thread_id: String,
    trace_id: String,
    model: RuntimeProviderConfig,
    /// Span of the run, the parent of the spans of its calls.
    root: SpanContext,
    /// Spans of model calls in progress.
    model_spans: BTreeMap<ActionId, SpanContext>,
    /// Spans of tool calls in progress, by call identifier.
    tool_spans: BTreeMap<String, SpanContext>,
}

impl<'a> Notifier<'a> {
    pub(super) fn new(watcher: &'a mut dyn Watcher, start: &RunStart, trace_id: &str) -> Self {
        Self {
            watcher: GuardedWatcher {
                watcher: Some(watcher),
                strict: false,
                panics: 0,
            },
            query: start.props.query.clone(),
            thread_id: start.props.thread_id.clone(),
            trace_id: trace_id.to_owned(),
            model: start.model.clone(),
            root: SpanContext::root_of_run(trace_id),
            model_spans: BTreeMap::new(),
            tool_spans: BTreeMap::new(),
        }
    }

    /// Sets whether a panic of the watcher becomes a panic of the run.
    pub(super) fn set_strict(&mut self, strict: bool) {
        self.watcher.strict = strict;
    }

    /// Returns the number of panics of the watcher.
    pub(super) fn panics(&self) -> u32 {
        self.watcher.panics
    }

    /// Reports that the state of the run may have changed.
    pub(super) fn update(&mut self, view: &RunView<'_>, call_usages: &[CallUsage]) {
        self.watcher.notify(|watcher| watcher.update(view, call_usages));
    }

    pub(super) fn run_started(&mut self) {
        self.watcher
            .notify(|watcher| watcher.run_started(&self.root, &self.query));
    }

    pub(super) fn model_called(&mut self, action: ActionId, request: &ModelRequest) {
        let span = self.root.child();
        tracing::debug!(run = self.trace_id, span = span.span_id, "a model is asked");
        self.watcher
            .notify(|watcher| watcher.model_called(&span, &self.model, request));
        self.model_spans.insert(action, span);
    }

    /// Reports a piece of a model's reply.
    pub(super) fn stream(&mut self, call: &StreamingCall, event: &StreamEvent) {
        let Some(span) = self.model_spans.get(&call.id) else {
            return;
        };
        let piece = ReplyPiece {
            span,
            thread_id: &self.thread_id,
            trace_id: &self.trace_id,
            provider: &self.model.provider_name,
            call: call.id,
            phase: call.phase,
            may_answer: call.may_answer,
            step: call.step.as_ref(),
            event,
        };
        self.watcher.notify(|watcher| watcher.stream(&piece));
    }

    /// Reports the end of a model call, if `event` is one.
    pub(super) fn model_ended(&mut self, event: &RunEvent) {
        let (action, reply) = match event {
            RunEvent::ModelReplied { action, reply, .. } => (action, Ok(reply)),
            RunEvent::ModelFailed { action, error, .. } => (action, Err(error)),
            _ => return,
        };
        if let Some(span) = self.model_spans.remove(action) {
            let replied = reply.is_ok();
            tracing::debug!(run = self.trace_id, span = span.span_id, replied, "a model ended");
            self.watcher.notify(|watcher| match reply {
                Ok(reply) => watcher.model_replied(&span, reply),
                Err(error) => watcher.model_failed(&span, error),
            });
        }
    }

    /// Reports that a tool call has started, or the progress of one that had started.
    pub(super) fn tool_progressed(&mut self, progress: &CallProgress) {
        match progress {
            CallProgress::Started(call) => {
                let span = self.root.child();
                tracing::debug!(
                    run = self.trace_id,
                    span = span.span_id,
                    tool = call.tool_name,
                    "a tool runs"
                );
                self.watcher.notify(|watcher| watcher.tool_called(&span, call));
                self.tool_spans.insert(call.call_id.clone(), span);
            }
            CallProgress::Reported(progress) => {
                if let Some(span) = self.tool_spans.get(&progress.call_id) {
                    self.watcher.notify(|watcher| watcher.tool_progressed(span, progress));
                }
            }
        }
    }

    /// Reports the end of a tool call that had started.
    pub(super) fn tool_ended(&mut self, report: &ToolReport) {
        if let Some(span) = self.tool_spans.remove(&report.result.call_id) {
            let ending = report.ending.as_str();
            tracing::debug!(run = self.trace_id, span = span.span_id, ending, "a tool ended");
            self.watcher.notify(|watcher| watcher.tool_returned(&span, report));
        }
    }

    /// Reports the end of the run: with an answer, or with an error and the text that replaces the answer.
    pub(super) fn run_ended(&mut self, error: Option<&ArtError>, text: &str) {
        if let Some(error) = error {
            self.watcher.notify(|watcher| watcher.run_failed(&self.root, error));
        }
        self.watcher.notify(|watcher| watcher.run_ended(&self.root, text));
    }
}

/// A watcher that is not called again after a panic, because its state may be inconsistent then.
struct GuardedWatcher<'a> {
    /// The watcher; `None` after a panic.
    watcher: Option<&'a mut dyn Watcher>,
    /// Whether a panic of the watcher becomes a panic of the run.
    strict: bool,
    panics: u32,
}

impl GuardedWatcher<'_> {
    /// Calls the watcher; no other code does. If the watcher panics in strict mode, the run panics as well. Otherwise the panic
    /// is counted, the watcher is not called again, and the run goes on (contract X10).
    fn notify(&mut self, call_watcher: impl FnOnce(&mut dyn Watcher)) {
        let Some(watcher) = self.watcher.as_deref_mut() else {
            return;
        };
        let Err(panic) = catch_unwind(AssertUnwindSafe(|| call_watcher(watcher))) else {
            return;
        };
        if self.strict {
            resume_unwind(panic);
        }
        tracing::error!("the watcher of a run panicked; the run goes on without it");
        self.watcher = None;
        self.panics += 1;
    }
}
