use std::sync::atomic::{AtomicUsize, Ordering};

use art_core::provider::{ModelCapability, ModelRequest, RuntimeProviderConfig};
use art_core::stream::{Phase, StreamEvent};
use art_model::{Model, ReasoningEngine};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;

use super::*;

/// The embedded model, which counts the pieces that were requested of it.
#[derive(Debug)]
struct Counted {
    model: Arc<dyn Model>,
    given: Arc<AtomicUsize>,
}

impl Model for Counted {
    fn config(&self) -> &RuntimeProviderConfig {
        self.model.config()
    }

    fn capabilities(&self) -> &[ModelCapability] {
        self.model.capabilities()
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        let given = Arc::clone(&self.given);
        let count = move |_: &StreamEvent| {
            given.fetch_add(1, Ordering::Relaxed);
        };
        self.model.stream(request).inspect(count).boxed()
    }
}

/// Records every piece, and how many the model had sent by then.
#[derive(Default)]
struct Reader {
    given: Arc<AtomicUsize>,
    pieces: Vec<(Phase, Option<String>, StreamEvent)>,
    ahead: usize,
}

impl Watcher for Reader {
    fn stream(&mut self, piece: &Streamed<'_>) {
        let step = piece.step.map(|step| step.step_id.clone());
        self.pieces.push((piece.phase, step, piece.event.clone()));
        let given = self.given.load(Ordering::Relaxed);
        self.ahead = self.ahead.max(given - self.pieces.len());
    }
}

async fn read() -> (tempfile::TempDir, Runtime, Answer, Reader) {
    let (home, mut runtime) = counted();
    let mut reader = Reader::default();
    runtime.engine = ReasoningEngine::with_model(Arc::new(Counted {
        model: Arc::new(crate::compose::embedded_model()),
        given: Arc::clone(&reader.given),
    }));
    let answered = runtime
        .ask_watched(question(), CancellationToken::new(), &mut reader)
        .await;
    (home, runtime, answered.unwrap(), reader)
}

#[tokio::test]
async fn pieces_of_replies_come_with_their_phase_and_step() {
    let (_home, _host, answered, reader) = read().await;
    let of = |phase| reader.pieces.iter().filter(move |piece| piece.0 == phase);
    assert!(of(Phase::Planning).all(|piece| piece.1.is_none()));
    let step = answered.report.items.first().map(|item| item.id.clone());
    assert!(of(Phase::Execution).all(|piece| piece.1 == step));
    for phase in [Phase::Planning, Phase::Execution, Phase::Synthesis] {
        assert!(
            of(phase).any(|piece| matches!(piece.2, StreamEvent::Token(_))),
            "{phase:?}"
        );
    }
}

#[tokio::test]
async fn a_model_is_not_asked_for_a_piece_before_the_last_was_shown() {
    let (_home, _host, _answered, reader) = read().await;
    assert_eq!(reader.ahead, 0);
}

#[tokio::test]
async fn the_journal_has_each_reply_whole_and_once() {
    let (_home, runtime, answered, reader) = read().await;
    let mut shown = String::new();
    for piece in &reader.pieces {
        if let StreamEvent::Token(text) = &piece.2 {
            shown.push_str(text);
        }
    }
    let journal = runtime.store.read_journal(&answered.trace_id).await.unwrap();
    let replies = journal.iter().filter_map(|entry| entry.payload.pointer("/reply/text"));
    let kept: String = replies.filter_map(Value::as_str).collect();
    assert_eq!(kept, shown);
}
