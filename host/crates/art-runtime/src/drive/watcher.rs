//! What a program may hear of a run while it goes on.

use art_agent::{ActionId, RunView};
use art_core::error::{ArtError, ModelError};
use art_core::provider::{ModelRequest, RuntimeProviderConfig};
use art_core::span::SpanContext;
use art_core::stream::{ModelReply, Phase, StepContext, StreamEvent};
use art_core::tool::ParsedToolCall;
use art_tools::{ToolProgress, ToolReport};

use super::answer::CallCost;

/// A piece of a model's reply, as it arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Streamed<'a> {
    /// The call of the model, as a span.
    pub span: &'a SpanContext,
    /// Conversation.
    pub thread_id: &'a str,
    /// Run.
    pub trace_id: &'a str,
    /// Provider of the model that is asked.
    pub provider: &'a str,
    /// The call of the model that the piece belongs to; a run may have several at a time.
    pub call: ActionId,
    /// Phase of the run that asked.
    pub phase: Phase,
    /// Step of the plan that asked, in the execution phase.
    pub step: Option<&'a StepContext>,
    /// The piece.
    pub event: &'a StreamEvent,
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {}

/// Follows a run while it goes on (C76). Every method may be left out; each is called on the task of the run, which waits
/// for it, so what it does should be short. A watcher that panics hears nothing more, and the run goes on (X10): see
/// [`Answer::watcher_panics`](super::Answer::watcher_panics), and `strict_watcher` of
/// [`CallSettings`](super::CallSettings) for tests of watchers.
///
/// A run is the root span of a trace with the digits of the run's identifier; each call of a model or a tool is a child of
/// the root, with the same span at its beginning and its end. The order is: `run_started`, then for each call of a model
/// `model_called`, `stream` for each piece, and `model_replied` or `model_failed`; for each call of a tool `tool_called`,
/// `tool_progressed` as often as there is news, and `tool_returned`; `run_failed` if there is no answer because of an error;
/// and `run_ended`. Calls that go on at the same time are told of as they begin and end. All calls of a reply have ended
/// before its step asks the model again. Each is told once, whatever the number of retries, which are pieces of the stream.
///
/// A call of a model that is dropped because its run ended has no end, nor has a tool that did not stop when its run was
/// cancelled; a watcher that keeps open spans closes them in `run_ended`.
pub trait Watcher: Send {
    /// Something changed.
    fn update(&mut self, _view: &RunView<'_>, _calls: &[CallCost]) {}

    /// The run begins with this question.
    fn run_started(&mut self, _span: &SpanContext, _query: &str) {}

    /// A model is asked.
    fn model_called(&mut self, _span: &SpanContext, _model: &RuntimeProviderConfig, _request: &ModelRequest) {}

    /// A model gave a piece of its reply. It is not in the journal yet: the journal gets the whole reply, once.
    fn stream(&mut self, _piece: &Streamed<'_>) {}

    /// A model replied; its usage is in the metadata of the reply.
    fn model_replied(&mut self, _span: &SpanContext, _reply: &ModelReply) {}

    /// A model did not reply, after all retries. The run may have an answer all the same.
    fn model_failed(&mut self, _span: &SpanContext, _error: &ModelError) {}

    /// A tool runs. A call that does not get so far, such as one of a tool that does not exist or with arguments that are
    /// not valid, is neither told of here nor in `tool_returned`; the model is told why, and an observation is stored.
    fn tool_called(&mut self, _span: &SpanContext, _call: &ParsedToolCall) {}

    /// A tool that runs said how far it is, in its own words; at most ten times a second for each call. It is in no journal.
    fn tool_progressed(&mut self, _span: &SpanContext, _progress: &ToolProgress) {}

    /// A tool that ran has ended, in whatever way: its result, what it used, and how it ended.
    fn tool_returned(&mut self, _span: &SpanContext, _report: &ToolReport) {}

    /// The run failed as a whole; `run_ended` follows.
    fn run_failed(&mut self, _span: &SpanContext, _error: &ArtError) {}

    /// The run ended, with an answer or with the text that stands in its place. Nothing follows.
    fn run_ended(&mut self, _span: &SpanContext, _answer: &str) {}
}
