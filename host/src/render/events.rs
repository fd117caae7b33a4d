//! Events of a run as JSON lines, for programs.

use art_core::stream::{StreamContext, StreamEnvelope};
use art_runtime::{ReplyPiece, Watcher};
use art_store::Clock;
use art_store::clock::SystemClock;

use super::json_line;

/// Writes a line of JSON for each streamed piece of a model's reply.
#[derive(Debug)]
pub(crate) struct EventLines;

impl Watcher for EventLines {
    fn stream(&mut self, piece: &ReplyPiece<'_>) {
        if let Some(line) = envelope(piece) {
            json_line(&line);
        }
    }
}

/// Returns the piece together with the run and the phase that it belongs to. Two kinds of pieces have no line: `State`, such as
/// signed thoughts, which only the provider can read, and `Unanswered`, because the end of the run lists the unanswered parts of
/// the question.
fn envelope(piece: &ReplyPiece<'_>) -> Option<StreamEnvelope> {
    let context = StreamContext {
        thread_id: piece.thread_id.to_owned(),
        trace_id: piece.trace_id.to_owned(),
        session_id: None,
        phase: Some(piece.phase),
        step: piece.step.cloned(),
    };
    StreamEnvelope::new(piece.event, &context, Some(SystemClock.now()))
}
