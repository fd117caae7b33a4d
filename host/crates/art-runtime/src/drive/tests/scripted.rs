//! A runtime whose model reads its replies from a script, and helpers to write such scripts.

use std::collections::VecDeque;
use std::sync::Mutex;

use art_core::error::{ModelErrorCode, ToolErrorCode};
use art_core::provider::{ModelCapability, ModelRequest, RuntimeProviderConfig};
use art_core::stream::{LlmMetadata, StreamEvent};
use art_model::{Model, ReasoningEngine};
use art_tools::direct::failure;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};

use super::*;

/// The result of one model call: the text of the reply, or the error with which the call fails.
pub(super) type Reply = Result<String, ModelError>;

/// The answer at the end of most scripts.
pub(super) const ANSWER: &str = "The answer.";

/// Length of the text that the tool `large` returns.
pub(super) const LARGE_OUTPUT_CHARS: usize = 100_000;

/// A model that replies from a list, and fails when the list is empty.
#[derive(Debug)]
struct ScriptedModel {
    /// The embedded model, which lends its configuration and its capabilities.
    embedded_model: Arc<dyn Model>,
    replies: Mutex<VecDeque<Reply>>,
}

impl Model for ScriptedModel {
    fn config(&self) -> &RuntimeProviderConfig {
        self.embedded_model.config()
    }

    fn capabilities(&self) -> &[ModelCapability] {
        self.embedded_model.capabilities()
    }

    fn stream(&self, _request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        let reply = self.replies.lock().unwrap().pop_front().unwrap_or_else(failing_reply);
        let metadata = LlmMetadata {
            input_tokens: Some(10),
            output_tokens: Some(2),
            ..LlmMetadata::default()
        };
        let events = match reply {
            Ok(text) => vec![
                StreamEvent::Token(text),
                StreamEvent::Metadata(metadata),
                StreamEvent::End,
            ],
            Err(error) => vec![StreamEvent::Error(error)],
        };
        stream::iter(events).boxed()
    }
}

/// Returns a reply with a plan of these steps.
pub(super) fn plan_reply(steps: &Value) -> Reply {
    let plan = json!({"title": "T", "intent": "I", "plan": "P", "todoList": steps});
    Ok(format!("---JSON_OUTPUT_START---\n{plan}\n---JSON_OUTPUT_END---"))
}

/// Returns a reply with a plan of one step, `a`.
pub(super) fn one_step_plan() -> Reply {
    plan_reply(&json!([{"id": "a", "description": "do a", "stepType": "tool", "dependencies": []}]))
}

/// Returns a reply that calls each of `tools` once, without arguments.
pub(super) fn calling_reply(tools: &[&str]) -> Reply {
    let calls: Vec<_> = tools
        .iter()
        .map(|tool| json!({"toolName": tool, "arguments": {}}))
        .collect();
    Ok(json!({ "toolCalls": calls }).to_string())
}

/// Returns a reply that calls no tool and completes the step.
pub(super) fn completing_reply() -> Reply {
    Ok(json!({"content": "done", "nextStepDecision": "complete_item"}).to_string())
}

pub(super) fn text_reply(text: &str) -> Reply {
    Ok(text.to_owned())
}

/// Returns an error after which the model call is not repeated.
pub(super) fn failing_reply() -> Reply {
    Err(ModelError {
        code: ModelErrorCode::AuthenticationError,
        message: "the key is wrong".to_owned(),
        retry_after_ms: None,
        request_not_read: false,
    })
}

/// Creates a tool without parameters, whose function is `run`.
pub(super) fn tool<F>(name: &str, run: impl Fn() -> F + Send + Sync + 'static) -> Arc<DirectTool>
where
    F: Future<Output = Ending> + Send + 'static,
{
    let schema = serde_json::from_value(json!({
        "name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object"},
    }));
    Arc::new(DirectTool::new(schema.unwrap(), move |_call| run()))
}

/// Creates a runtime whose model calls `tool` `count` times in one step, and then answers. The argument `n` of the calls is 0,
/// 1, 2 and so on.
pub(super) fn runtime_calling(tool: &str, count: u32) -> (tempfile::TempDir, Runtime) {
    let call = |n| json!({"toolName": tool, "arguments": {"n": n}});
    let calls: Vec<_> = (0..count).map(call).collect();
    scripted_runtime([
        one_step_plan(),
        Ok(json!({ "toolCalls": calls }).to_string()),
        completing_reply(),
        text_reply(ANSWER),
    ])
}

/// Creates a runtime with tools for tests: `one` returns 1, `two` returns 2, `large` returns a large text, `fails` fails,
/// and `panics` panics. Its model gives `replies`, and fails when it is called once more.
pub(super) fn scripted_runtime(replies: impl IntoIterator<Item = Reply>) -> (tempfile::TempDir, Runtime) {
    let (home, mut runtime) = runtime_with_population_tool();
    let tools = runtime.tools.registry();
    let tool_returning = |name, output: Value| tool(name, move || std::future::ready(success(&output)));
    for tool in [
        tool_returning("one", json!(1)),
        tool_returning("two", json!(2)),
        tool_returning("large", json!("x".repeat(LARGE_OUTPUT_CHARS))),
        tool("fails", || async {
            failure(ToolErrorCode::IoError, "the disk is full")
        }),
        tool("panics", || async { panic!("as requested") }),
    ] {
        tools.register(tool).unwrap();
    }
    runtime.engine = ReasoningEngine::with_model(scripted_model(replies));
    (home, runtime)
}

/// Creates a model that gives `replies`.
pub(super) fn scripted_model(replies: impl IntoIterator<Item = Reply>) -> Arc<dyn Model> {
    Arc::new(ScriptedModel {
        embedded_model: Arc::new(crate::compose::embedded_model()),
        replies: Mutex::new(replies.into_iter().collect()),
    })
}
