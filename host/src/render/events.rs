//! A run as JSON lines, for programs that follow it.

use art_core::stream::{StreamContext, StreamEnvelope};

use super::json_line;
use crate::drive::{Streamed, Watcher, now};

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

/// The piece with where it belongs (C38); what only the provider reads has no envelope.
fn envelope(piece: &Streamed<'_>) -> Option<StreamEnvelope> {
    let context = StreamContext {
        thread_id: piece.thread_id.to_owned(),
        trace_id: piece.trace_id.to_owned(),
        session_id: None,
        phase: Some(piece.phase),
        step: piece.step.cloned(),
    };
    StreamEnvelope::new(piece.event, &context, Some(now()))
}
