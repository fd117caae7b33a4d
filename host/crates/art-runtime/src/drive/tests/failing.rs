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

fn runtime_with_failing_model(phases: &'static [Phase]) -> (tempfile::TempDir, Runtime, Arc<AtomicBool>) {
    let (home, mut runtime) = runtime_with_population_tool();
    let shut_down = Arc::new(AtomicBool::new(false));
    runtime.engine = ReasoningEngine::with_model(Arc::new(Failing {
        model: Arc::new(crate::compose::embedded_model()),
        phases,
        shut_down: Arc::clone(&shut_down),
    }));
    (home, runtime, shut_down)
}

async fn ask_failing(phases: &'static [Phase]) -> Answer {
    let (_home, runtime, _) = runtime_with_failing_model(phases);
    ask(&runtime, question(), CancellationToken::new()).await.unwrap()
}

#[tokio::test]
async fn a_model_failure_that_the_run_recovers_from_is_not_reported() {
    let recovered = ask_failing(&[Phase::Execution]).await;
    assert!(
        recovered
            .report
            .items
            .iter()
            .any(|item| item.status == TodoItemStatus::Failed)
    );
    assert_eq!(recovered.report.model_error, None);
    let failed = ask_failing(&[Phase::Execution, Phase::Synthesis]).await;
    assert!(failed.report.model_error.is_some());
}

#[tokio::test]
async fn closing_a_runtime_shuts_its_model_down() {
    let (_home, runtime, shut_down) = runtime_with_failing_model(&[]);
    ask(&runtime, question(), CancellationToken::new()).await.unwrap();
    assert!(!shut_down.load(Ordering::Relaxed));
    runtime.close().await;
    assert!(shut_down.load(Ordering::Relaxed));
}
