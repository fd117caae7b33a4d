use std::sync::atomic::{AtomicBool, Ordering};

use art_core::error::ModelErrorCode;
use art_core::pes::TodoItemStatus;
use art_core::provider::{ModelCapability, ModelRequest, RuntimeProviderConfig};
use art_core::stream::{Phase, StreamEvent};
use art_model::{Model, ReasoningEngine};
use futures_util::stream::{BoxStream, StreamExt, iter};

use super::*;

/// The embedded model, which fails in some phases.
#[derive(Debug)]
struct Failing {
    model: Arc<dyn Model>,
    phases: &'static [Phase],
    shut_down: Arc<AtomicBool>,
}

impl Model for Failing {
    fn config(&self) -> &RuntimeProviderConfig {
        self.model.config()
    }

    fn capabilities(&self) -> &[ModelCapability] {
        self.model.capabilities()
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        if !self.phases.contains(&request.phase) {
            return self.model.stream(request);
        }
        let error = ModelError {
            code: ModelErrorCode::AuthenticationError,
            message: "no".to_owned(),
            retry_after_ms: None,
        };
        iter([StreamEvent::Error(error)]).boxed()
    }

    fn shutdown(&self) {
        self.shut_down.store(true, Ordering::Relaxed);
    }
}

fn host_that_fails(phases: &'static [Phase]) -> (tempfile::TempDir, Runtime, Arc<AtomicBool>) {
    let (home, mut runtime) = counted();
    let shut_down = Arc::new(AtomicBool::new(false));
    runtime.engine = ReasoningEngine::with_model(Arc::new(Failing {
        model: Arc::new(crate::compose::embedded_model()),
        phases,
        shut_down: Arc::clone(&shut_down),
    }));
    (home, runtime, shut_down)
}

async fn answered(phases: &'static [Phase]) -> Answer {
    let (_home, runtime, _) = host_that_fails(phases);
    ask(&runtime, question(), CancellationToken::new()).await.unwrap()
}

#[tokio::test]
async fn a_failure_that_the_run_got_over_is_not_its_ending() {
    let recovered = answered(&[Phase::Execution]).await;
    assert!(
        recovered
            .report
            .items
            .iter()
            .any(|item| item.status == TodoItemStatus::Failed)
    );
    assert_eq!(recovered.report.model_error, None);
    let failed = answered(&[Phase::Execution, Phase::Synthesis]).await;
    assert!(failed.report.model_error.is_some());
}

#[tokio::test]
async fn a_host_that_is_closed_shuts_its_model_down() {
    let (_home, runtime, shut_down) = host_that_fails(&[]);
    ask(&runtime, question(), CancellationToken::new()).await.unwrap();
    assert!(!shut_down.load(Ordering::Relaxed));
    runtime.close().await;
    assert!(shut_down.load(Ordering::Relaxed));
}
