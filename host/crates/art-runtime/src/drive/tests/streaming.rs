//! The pieces of a model's replies, which a watcher gets as they arrive.

use std::sync::atomic::{AtomicUsize, Ordering};

use art_core::provider::{ModelCapability, ModelRequest, RuntimeProviderConfig};
use art_core::stream::{Phase, StreamEvent};
use art_model::{Model, ReasoningEngine};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;

use super::scripted::{completing_reply, one_step_plan, scripted_model, text_reply};
use super::*;

/// A model with a counter of the pieces that it has sent.
#[derive(Debug)]
struct CountingModel {
    model: Arc<dyn Model>,
    sent_pieces: Arc<AtomicUsize>,
}

impl Model for CountingModel {
    fn config(&self) -> &RuntimeProviderConfig {
        self.model.config()
    }

    fn capabilities(&self) -> &[ModelCapability] {
        self.model.capabilities()
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        let sent_pieces = Arc::clone(&self.sent_pieces);
        let count = move |_: &StreamEvent| {
            sent_pieces.fetch_add(1, Ordering::Relaxed);
        };
        self.model.stream(request).inspect(count).boxed()
    }
}

/// A watcher that records every piece, and how many pieces the model was ahead.
#[derive(Default)]
struct PieceRecorder {
    sent_pieces: Arc<AtomicUsize>,
    pieces: Vec<RecordedPiece>,
    /// Maximum number of pieces that the model had sent and the watcher did not have yet.
    max_ahead: usize,
}

struct RecordedPiece {
    phase: Phase,
    step_id: Option<String>,
    event: StreamEvent,
}

impl Watcher for PieceRecorder {
    fn stream(&mut self, piece: &ReplyPiece<'_>) {
        self.pieces.push(RecordedPiece {
            phase: piece.phase,
            step_id: piece.step.map(|step| step.step_id.clone()),
            event: piece.event.clone(),
        });
        let sent_pieces = self.sent_pieces.load(Ordering::Relaxed);
        self.max_ahead = self.max_ahead.max(sent_pieces - self.pieces.len());
    }
}

/// Asks a question. Returns its answer, and the watcher that recorded the pieces.
async fn ask_and_record() -> (tempfile::TempDir, Runtime, Answer, PieceRecorder) {
    let (home, mut runtime) = runtime_with_population_tool();
    let mut recorder = PieceRecorder::default();
    runtime.engine = ReasoningEngine::with_model(Arc::new(CountingModel {
        model: scripted_model([one_step_plan(), completing_reply(), text_reply("done")]),
        sent_pieces: Arc::clone(&recorder.sent_pieces),
    }));
    let answer = runtime
        .ask_watched(question(), CancellationToken::new(), &mut recorder)
        .await;
    (home, runtime, answer.unwrap(), recorder)
}

#[tokio::test]
async fn pieces_of_replies_have_their_phase_and_step() {
    let (_home, _runtime, answer, recorder) = ask_and_record().await;
    let in_phase = |phase| recorder.pieces.iter().filter(move |piece| piece.phase == phase);
    assert!(in_phase(Phase::Planning).all(|piece| piece.step_id.is_none()));
    let step_id = answer.report.items.first().map(|item| item.id.clone());
    assert!(in_phase(Phase::Execution).all(|piece| piece.step_id == step_id));
    for phase in [Phase::Planning, Phase::Execution, Phase::Synthesis] {
        assert!(
            in_phase(phase).any(|piece| matches!(piece.event, StreamEvent::Token(_))),
            "{phase:?}"
        );
    }
}

#[tokio::test]
async fn no_piece_is_requested_before_the_watcher_has_the_previous_one() {
    let (_home, _runtime, _answered, recorder) = ask_and_record().await;
    assert_eq!(recorder.max_ahead, 0);
}

#[tokio::test]
async fn the_journal_has_each_complete_reply_once() {
    let (_home, runtime, answer, recorder) = ask_and_record().await;
    let mut streamed = String::new();
    for piece in &recorder.pieces {
        if let StreamEvent::Token(text) = &piece.event {
            streamed.push_str(text);
        }
    }
    let journal = stored_journal(runtime.store.as_ref(), &answer.trace_id).await;
    let replies = journal
        .iter()
        .filter_map(|entry| parse_payload(entry).pointer("/reply/text").cloned());
    let journaled: String = replies.filter_map(|text| text.as_str().map(str::to_owned)).collect();
    assert_eq!(journaled, streamed);
}
