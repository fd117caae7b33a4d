//! The interface through which a program follows a run.

use art_agent::{ActionId, RunView};
use art_core::error::{ArtError, ModelError};
use art_core::provider::{ModelRequest, RuntimeProviderConfig};
use art_core::span::SpanContext;
use art_core::stream::{ModelReply, Phase, StepContext, StreamEvent};
use art_core::tool::ParsedToolCall;
use art_tools::{ToolProgress, ToolReport};

use super::answer::CallUsage;

/// A piece of a model's reply, as it arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplyPiece<'a> {
    /// Span of the model call.
    pub span: &'a SpanContext,
    /// Identifier of the conversation.
    pub thread_id: &'a str,
    /// Identifier of the run.
    pub trace_id: &'a str,
    /// Provider of the model.
    pub provider: &'a str,
    /// Number of the model call. A run may have several open calls.
    pub call: ActionId,
    /// Phase of the run.
    pub phase: Phase,
    /// Whether this call may answer the question. The text of its reply is then the answer, unless the reply calls tools or is
    /// a plan. A call may answer in the synthesis, and also in the planning if the model supports function calls.
    /// [`AnswerStream`](art_agent::AnswerStream) extracts the answer from the pieces.
    pub may_answer: bool,
    /// Step of the plan; `None` in other phases than execution.
    pub step: Option<&'a StepContext>,
    /// The piece.
    pub event: &'a StreamEvent,
}

/// A watcher that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {}

/// Follows a run in progress (contract C76). Every method is optional. Methods are called on the task of the run, which
/// waits for them, so they should return quickly. After a panic the watcher is not called again, and the run continues
/// (contract X10): see [`Answer::watcher_panics`](super::Answer::watcher_panics), and `strict_watcher` of
/// [`QuestionSettings`](super::QuestionSettings) for tests of watchers.
///
/// A run is the root span of a trace. The identifier of the trace is that of the run, a UUID, without its hyphens. Each model
/// call or tool call is a child of the root, with the same span at its start and its end. The order is: `run_started`; for each
/// model call `model_called`, `stream` for each piece, and `model_replied` or `model_failed`; for each tool call `tool_called`,
/// `tool_progressed` for each progress report, and `tool_returned`; `run_failed` if an error prevents an answer; and `run_ended`.
/// The events of concurrent calls are interleaved. All tool calls that a reply requests end before the next model call of the
/// same step. A retry of a model call is not reported as another call, but as a piece: [`StreamEvent::Retry`].
///
/// The end of a model call that is dropped when its run ends is not reported. Nor is the end of a tool call that did not stop
/// when its run was cancelled. A watcher that exports spans closes the spans of such calls in
/// `run_ended`.
pub trait Watcher: Send {
    /// The state of the run may have changed. `_call_usages` has the resources that each ended tool call used.
    fn update(&mut self, _view: &RunView<'_>, _call_usages: &[CallUsage]) {}

    /// The run started with this question.
    fn run_started(&mut self, _span: &SpanContext, _query: &str) {}

    /// A model call started.
    fn model_called(&mut self, _span: &SpanContext, _model: &RuntimeProviderConfig, _request: &ModelRequest) {}

    /// A model sent a piece of its reply. The journal does not contain the piece, because it stores only complete replies.
    fn stream(&mut self, _piece: &ReplyPiece<'_>) {}

    /// A model call ended with a reply, whose metadata contains the token counts.
    fn model_replied(&mut self, _span: &SpanContext, _reply: &ModelReply) {}

    /// A model call failed after all retries. The run may still have an answer.
    fn model_failed(&mut self, _span: &SpanContext, _error: &ModelError) {}

    /// A tool call started. A call that never starts, for example because the tool does not exist or the arguments are
    /// invalid, is reported neither here nor in `tool_returned`. The model gets an error, and an observation is stored.
    fn tool_called(&mut self, _span: &SpanContext, _call: &ParsedToolCall) {}

    /// A running tool reported its progress. This is called at most ten times a second for each call. Progress is not recorded
    /// in the journal.
    fn tool_progressed(&mut self, _span: &SpanContext, _progress: &ToolProgress) {}

    /// A tool call ended. The report says how it ended, and has its result and the resources that it used.
    fn tool_returned(&mut self, _span: &SpanContext, _report: &ToolReport) {}

    /// The run failed. `run_ended` follows.
    fn run_failed(&mut self, _span: &SpanContext, _error: &ArtError) {}

    /// The run ended or waits for a decision, with the answer or the text that replaces it. No other method is called after this.
    fn run_ended(&mut self, _span: &SpanContext, _answer: &str) {}
}
