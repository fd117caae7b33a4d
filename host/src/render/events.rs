//! A run as JSON lines, for programs that follow it.

use art_core::stream::{StreamContext, StreamEnvelope};
use art_runtime::{Streamed, Watcher};
use art_store::Clock;
use art_store::clock::SystemClock;

use super::json_line;

/// Writes a line for each piece that a model gives.
#[derive(Debug)]
pub(crate) struct EventLines;

impl Watcher for EventLines {
    fn stream(&mut self, piece: &Streamed<'_>) {
        if let Some(line) = envelope(piece) {
            json_line(&line);
        }
    }
}

/// The piece with where it belongs; what only the provider reads has no envelope.
fn envelope(piece: &Streamed<'_>) -> Option<StreamEnvelope> {
    let context = StreamContext {
        thread_id: piece.thread_id.to_owned(),
        trace_id: piece.trace_id.to_owned(),
        session_id: None,
        phase: Some(piece.phase),
        step: piece.step.cloned(),
    };
    StreamEnvelope::new(piece.event, &context, Some(SystemClock.now()))
}
