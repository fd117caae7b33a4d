//! `art doctor`, which requests the list of models, without spending tokens. The mock has no list for Gemini.

use serde_json::Value;

use crate::connection::{
    ANTHROPIC, COMPATIBLE, Connection, DEEPSEEK, GEMINI, GROQ, KEY, Mode, OLLAMA, OPENAI, OPENAI_CHAT, OPENROUTER,
};
use crate::environment::Environment;
use crate::fixture;

/// The connections for which the mock lists the models.
const CONNECTIONS_WITH_LIST: [Connection; 8] = [
    OPENAI,
    OPENAI_CHAT,
    ANTHROPIC,
    OPENROUTER,
    DEEPSEEK,
    GROQ,
    OLLAMA,
    COMPATIBLE,
];

/// A key that the program does not send. The program sends [`KEY`], so a mock that accepts only `ANOTHER_KEY` refuses it.
const ANOTHER_KEY: &str = "sk-another";

/// Returns the verdict of `art doctor` on the model, and its details.
fn verdict(environment: &Environment) -> (String, String) {
    let ran = environment.art(&["--json", "doctor"]);
    let checks = ran.json();
    let checks = checks.as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "model").unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&check["verdict"]), text(&check["detail"]))
}

#[test]
fn a_listed_model_is_ok() {
    for connection in CONNECTIONS_WITH_LIST {
        // The mock lists the models of its fixtures.
        let listed = fixture::planning().for_model(connection.model);
        let environment = Environment::new(connection, Mode::Streaming, &[listed]);
        let (verdict, detail) = verdict(&environment);
        assert_eq!(verdict, "ok", "{connection:?}: {detail}");
        assert!(detail.contains("model listed"), "{connection:?}: {detail}");
        // No request asks the model for a plan, so no tokens are spent.
        assert!(environment.requests().iter().all(|request| !request.is_planning()));
    }
}

#[test]
fn an_unlisted_model_is_a_warning_that_names_the_most_similar_listed_model() {
    for connection in CONNECTIONS_WITH_LIST {
        let similar_name = format!("{}-2", connection.model);
        let environment = Environment::new(
            connection,
            Mode::Streaming,
            &[fixture::planning().for_model(&similar_name)],
        );
        let (verdict, detail) = verdict(&environment);
        assert_eq!(verdict, "warn", "{connection:?}: {detail}");
        assert!(detail.contains(&similar_name), "{connection:?}: {detail}");
    }
}

#[test]
fn a_refused_key_is_a_failure() {
    for connection in CONNECTIONS_WITH_LIST
        .into_iter()
        .filter(|connection| connection.key.is_some())
    {
        let environment = Environment::with_key(connection, Mode::Streaming, &[fixture::planning()], Some(ANOTHER_KEY));
        let (verdict, detail) = verdict(&environment);
        assert_eq!(verdict, "fail", "{connection:?}: {detail}");
        assert!(detail.contains("key"), "{connection:?}: {detail}");
    }
}

#[test]
fn an_address_without_a_list_of_models_is_a_failure_that_names_base_url() {
    let environment = Environment::with_key(GEMINI, Mode::Streaming, &[fixture::planning()], Some(KEY));
    let (verdict, detail) = verdict(&environment);
    assert_eq!(verdict, "fail", "{detail}");
    assert!(detail.contains("base_url"), "{detail}");
}
