//! A model server on this machine: the host suggests it to a person who has not chosen a model. The host does not contact it if
//! another model is chosen or the output is JSON.

use serde_json::{Value, json};

use crate::home::Home;
use crate::provider::{Provider, Reply};

/// The additional headers of a reply of the server: none.
const NO_HEADERS: &str = "";
/// A model that makes embeddings, and so cannot answer a question.
const EMBEDDING_MODEL: &str = "nomic-embed-text:latest";

/// Returns a server that lists these models, as Ollama does, and a home that uses its address for Ollama.
fn server_and_home(models: &[&str]) -> (Provider, Home) {
    let models: Vec<Value> = models
        .iter()
        .map(|id| json!({"id": id, "object": "model", "created": 1_760_000_000, "owned_by": "library"}))
        .collect();
    let list = json!({"object": "list", "data": models});
    let server = Provider::start(move |_| Reply::Json(200, NO_HEADERS, list.clone()));
    let home = Home::new();
    home.file(
        "art.toml",
        &format!("[providers.ollama]\nbase_url = \"{}\"\n", server.base_url),
    );
    (server, home)
}

#[test]
fn a_run_suggests_the_first_suitable_model_of_a_local_server() {
    let (server, home) = server_and_home(&[EMBEDDING_MODEL, "llama3.2:1b", "qwen3:8b"]);
    let ran = home.run("What is 2+2?");
    ran.assert_answers(&["4"]);
    let hint = format!(
        "a model server runs at {}: --model ollama:llama3.2:1b uses it",
        server.base_url
    );
    assert!(ran.stderr().lines().any(|line| line == hint), "{ran}");
    let requests = server.take_requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert_eq!(
        (requests[0].path.as_str(), &requests[0].body),
        ("/v1/models", &Value::Null)
    );
}

#[test]
fn the_suggested_option_selects_the_model_of_the_server() {
    let (server, home) = server_and_home(&["qwen3:8b"]);
    let ran = home.art(&["run", "--model", "ollama:qwen3:8b", "What is 2+2?"]);
    assert!(ran.stderr().contains("model ollama:qwen3:8b at "), "{ran}");
    assert_eq!(server.next_request().body["model"], "qwen3:8b");
}

#[test]
fn doctor_suggests_a_server_that_answers() {
    let (server, home) = server_and_home(&["qwen3:8b"]);
    let ran = home.art(&["doctor"]);
    let hint = format!(
        "a model server runs at {}: --model ollama:qwen3:8b uses it",
        server.base_url
    );
    assert!(ran.stdout().contains(&hint), "{ran}");
}

#[test]
fn a_server_without_a_model_that_can_answer_is_reported_with_a_hint() {
    let (_server, home) = server_and_home(&[EMBEDDING_MODEL]);
    let ran = home.run("What is 2+2?");
    assert!(
        ran.stderr().contains("but has no model yet (hint: `ollama pull qwen3`"),
        "{ran}"
    );
}

#[test]
fn a_server_is_not_contacted_if_a_model_is_chosen_or_output_is_json() {
    let (server, home) = server_and_home(&["qwen3:8b"]);
    for args in [
        &["run", "--model", "embedded", "What is 2+2?"][..],
        &["--json", "run", "What is 2+2?"],
    ] {
        home.art(args).assert_answers(&["4"]);
    }
    home.file(
        "art.toml",
        &format!(
            "model = \"embedded\"\n[providers.ollama]\nbase_url = \"{}\"\n",
            server.base_url
        ),
    );
    home.run("What is 2+2?").assert_answers(&["4"]);
    home.art(&["doctor"]);
    assert!(server.take_requests().is_empty(), "the server was contacted");
}

#[test]
fn a_server_without_a_list_of_models_is_not_suggested() {
    let refusing = Provider::failing(404, NO_HEADERS, json!({"error": "not found"}));
    // Sends an empty piece of a reply, and then nothing.
    let silent = Provider::start(|_| Reply::Hang(""));
    let no_server = "http://127.0.0.1:1/v1";
    for base_url in [&refusing.base_url, &silent.base_url, no_server] {
        let home = Home::new();
        home.file("art.toml", &format!("[providers.ollama]\nbase_url = \"{base_url}\"\n"));
        let ran = home.run("What is 2+2?");
        ran.assert_answers(&["4"]);
        assert!(!ran.stderr().contains("model server"), "{ran}");
    }
}
