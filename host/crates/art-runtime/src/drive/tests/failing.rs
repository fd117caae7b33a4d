//! The error of a model in the report of a run, and the shutdown of models.

use std::sync::atomic::{AtomicBool, Ordering};

use art_core::pes::TodoItemStatus;
use art_core::provider::{ModelCapability, ModelRequest, RuntimeProviderConfig};
use art_core::stream::StreamEvent;
use art_model::{Model, ReasoningEngine};
use futures_util::stream::BoxStream;

use super::scripted::{Reply, failing_reply, one_step_plan, scripted_runtime, text_reply};
use super::*;

/// The embedded model, with a record of whether it was shut down.
#[derive(Debug)]
struct ShutdownRecordingModel {
    model: Arc<dyn Model>,
    shut_down: Arc<AtomicBool>,
}

impl Model for ShutdownRecordingModel {
    fn config(&self) -> &RuntimeProviderConfig {
        self.model.config()
    }

    fn capabilities(&self) -> &[ModelCapability] {
        self.model.capabilities()
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        self.model.stream(request)
    }

    fn shutdown(&self) {
        self.shut_down.store(true, Ordering::Relaxed);
    }
}

/// Returns a runtime, and a flag that its model sets when it is shut down.
fn runtime_with_recorded_shutdown() -> (tempfile::TempDir, Runtime, Arc<AtomicBool>) {
    let (home, mut runtime) = runtime_with_population_tool();
    let shut_down = Arc::new(AtomicBool::new(false));
    runtime.engine = ReasoningEngine::with_model(Arc::new(ShutdownRecordingModel {
        model: Arc::new(crate::compose::embedded_model()),
        shut_down: Arc::clone(&shut_down),
    }));
    (home, runtime, shut_down)
}

/// Asks a model that plans a step, fails when it should carry out the step, and then gives the last reply.
async fn ask_with_failing_step(last_reply: Reply) -> Answer {
    let (_home, runtime) = scripted_runtime([one_step_plan(), failing_reply(), last_reply]);
    ask(&runtime, question(), CancellationToken::new()).await.unwrap()
}

#[tokio::test]
async fn a_report_has_a_model_error_only_if_the_last_model_call_failed() {
    let answered = ask_with_failing_step(text_reply("It failed.")).await;
    assert!(
        answered
            .report
            .items
            .iter()
            .any(|item| item.status == TodoItemStatus::Failed)
    );
    assert_eq!(answered.report.model_error, None);
    let failed = ask_with_failing_step(failing_reply()).await;
    assert!(failed.report.model_error.is_some());
}

#[tokio::test]
async fn closing_a_runtime_shuts_its_model_down() {
    let (_home, runtime, shut_down) = runtime_with_recorded_shutdown();
    ask(&runtime, question(), CancellationToken::new()).await.unwrap();
    assert!(!shut_down.load(Ordering::Relaxed));
    runtime.close().await;
    assert!(shut_down.load(Ordering::Relaxed));
}
