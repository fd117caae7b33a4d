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
    sent: Arc<AtomicUsize>,
}

impl Model for CountingModel {
    fn config(&self) -> &RuntimeProviderConfig {
        self.model.config()
    }

    fn capabilities(&self) -> &[ModelCapability] {
        self.model.capabilities()
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        let sent = Arc::clone(&self.sent);
        let count = move |_: &StreamEvent| {
            sent.fetch_add(1, Ordering::Relaxed);
        };
        self.model.stream(request).inspect(count).boxed()
    }
}

/// Records every piece, and how many pieces the model was ahead.
#[derive(Default)]
struct PieceRecorder {
    sent: Arc<AtomicUsize>,
    pieces: Vec<(Phase, Option<String>, StreamEvent)>,
    /// Maximum number of pieces that the model had sent and the watcher did not have yet.
    max_ahead: usize,
}

impl Watcher for PieceRecorder {
    fn stream(&mut self, piece: &Streamed<'_>) {
        let step = piece.step.map(|step| step.step_id.clone());
        self.pieces.push((piece.phase, step, piece.event.clone()));
        let sent = self.sent.load(Ordering::Relaxed);
        self.max_ahead = self.max_ahead.max(sent - self.pieces.len());
    }
}

async fn ask_and_record() -> (tempfile::TempDir, Runtime, Answer, PieceRecorder) {
    let (home, mut runtime) = runtime_with_population_tool();
    let mut recorder = PieceRecorder::default();
    runtime.engine = ReasoningEngine::with_model(Arc::new(CountingModel {
        model: scripted_model([one_step_plan(), completing_reply(), text_reply("done")]),
        sent: Arc::clone(&recorder.sent),
    }));
    let answer = runtime
        .ask_watched(question(), CancellationToken::new(), &mut recorder)
        .await;
    (home, runtime, answer.unwrap(), recorder)
}

#[tokio::test]
async fn pieces_of_replies_have_their_phase_and_step() {
    let (_home, _runtime, answer, recorder) = ask_and_record().await;
    let in_phase = |phase| recorder.pieces.iter().filter(move |piece| piece.0 == phase);
    assert!(in_phase(Phase::Planning).all(|piece| piece.1.is_none()));
    let step = answer.report.items.first().map(|item| item.id.clone());
    assert!(in_phase(Phase::Execution).all(|piece| piece.1 == step));
    for phase in [Phase::Planning, Phase::Execution, Phase::Synthesis] {
        assert!(
            in_phase(phase).any(|piece| matches!(piece.2, StreamEvent::Token(_))),
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
        if let StreamEvent::Token(text) = &piece.2 {
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
