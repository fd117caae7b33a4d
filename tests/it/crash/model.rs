//! A model whose plans call tools with effects.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::provider::{Provider, Reply, Request, is_planning, is_synthesis, plan};

/// The answer to every question.
pub(super) const ANSWER: &str = "All is done.";

/// A word in a question for which the plan has one short step.
pub(super) const SHORT: &str = "shortly";

/// A word in a question for which the plan's call takes so long that a test can stop the process meanwhile.
pub(super) const SLOWLY: &str = "slowly";

/// Starts the model, and returns its address. Each call that the model plans has a different key.
pub(super) fn start() -> String {
    let keys = AtomicU64::new(0);
    Provider::start(move |request| reply(request, &|| keys.fetch_add(1, Ordering::SeqCst))).base_url
}

fn reply(request: &Request, key: &dyn Fn() -> u64) -> Reply {
    let arguments = |ms| json!({"key": format!("key-{}", key()), "ms": ms});
    let body = request.body.to_string();
    if is_synthesis(request) {
        std::thread::sleep(Duration::from_millis(2));
        Reply::Text(vec![format!("<mainContent>{ANSWER}</mainContent>")])
    } else if is_planning(request) {
        Reply::Text(vec![plan(&steps(&body, &arguments))])
    } else if body.contains("\"role\":\"tool\"") {
        Reply::Text(vec!["It is done.".to_owned()])
    } else {
        Reply::Call("effect", arguments(20))
    }
}

/// Returns the steps: two whose calls are in the plan, and then one in which the model makes a call. With [`SHORT`] in the question,
/// there is only the first of them.
fn steps(body: &str, arguments: &dyn Fn(u64) -> Value) -> Value {
    let call = |tool: &str, ms| json!({"toolName": tool, "arguments": arguments(ms)});
    let ms = if body.contains(SLOWLY) { 10_000 } else { 30 };
    let first = json!({"id": "a", "description": "Act", "toolCalls": [call("effect", ms)]});
    if body.contains(SHORT) {
        return json!([first]);
    }
    let calls = [call("repeatable_effect", 30), call("effect", 10)];
    json!([
        first,
        {"id": "b", "description": "Act twice", "toolCalls": calls},
        {"id": "c", "description": "Act again", "stepType": "tool", "requiredTools": ["effect"], "dependencies": ["a", "b"]},
    ])
}
