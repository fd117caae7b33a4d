//! A model whose plans call tools with effects.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::provider::{Provider, Reply, Request, is_planning, is_synthesis, plan_text};

/// The answer to every question.
pub(super) const ANSWER: &str = "All is done.";

/// If a question contains this word, its plan has only the first step, with one call.
pub(super) const ONE_STEP: &str = "shortly";

/// If a question contains this word, the first call of its plan takes so long that a test can stop the process meanwhile.
pub(super) const SLOWLY: &str = "slowly";

/// Starts the model, and returns its address. Each call that it makes or plans has a different `key`, so that no two calls are
/// the same.
pub(super) fn start() -> String {
    let keys = AtomicU64::new(0);
    Provider::start(move |request| reply(request, &|| keys.fetch_add(1, Ordering::SeqCst))).base_url
}

fn reply(request: &Request, next_key: &dyn Fn() -> u64) -> Reply {
    let arguments = |ms| json!({"key": format!("key-{}", next_key()), "ms": ms});
    let body = request.body.to_string();
    if is_synthesis(request) {
        // Delays the answer, so that a kill at a random moment can happen after the calls and before the answer.
        std::thread::sleep(Duration::from_millis(2));
        Reply::Text(vec![format!("<mainContent>{ANSWER}</mainContent>")])
    } else if is_planning(request) {
        Reply::Text(vec![plan_text(&steps(&body, &arguments))])
    } else if body.contains("\"role\":\"tool\"") {
        // The request contains the result of the only call that the model makes, in the last step ("Act again", see `steps`).
        Reply::Text(vec!["It is done.".to_owned()])
    } else {
        // The last step begins.
        Reply::Call("effect", arguments(20))
    }
}

/// Returns the steps: two whose calls are in the plan, and then one in which the model makes a call. With [`ONE_STEP`] in the
/// question, there is only the first of them.
fn steps(body: &str, arguments: &dyn Fn(u64) -> Value) -> Value {
    let call = |tool: &str, ms| json!({"toolName": tool, "arguments": arguments(ms)});
    let ms = if body.contains(SLOWLY) { 10_000 } else { 30 };
    let first = json!({"id": "a", "description": "Act", "toolCalls": [call("effect", ms)]});
    if body.contains(ONE_STEP) {
        return json!([first]);
    }
    let calls = [call("repeatable_effect", 30), call("effect", 10)];
    json!([
        first,
        {"id": "b", "description": "Act twice", "toolCalls": calls},
        {"id": "c", "description": "Act again", "stepType": "tool", "requiredTools": ["effect"], "dependencies": ["a", "b"]},
    ])
}
