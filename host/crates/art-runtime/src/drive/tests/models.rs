//! The model of a question: the one that the question names, else the one that a person chose with [`Runtime::use_model`], else
//! that of the thread, else that of the configuration.

use art_core::provider::RuntimeProviderConfig;

use super::*;

/// Creates the thread `t` with this model.
async fn create_thread_with_model(runtime: &Runtime, provider: &str, model: &str) {
    let config = ThreadConfig {
        provider_config: Some(RuntimeProviderConfig::new(provider, model)),
        ..ThreadConfig::default()
    };
    let new = NewThread {
        id: "t".to_owned(),
        config,
        ..NewThread::default()
    };
    runtime.store.create_thread(new).await.unwrap();
}

/// Returns a runtime that uses the embedded model and knows all providers. Models of `ollama` can be used, since this
/// provider needs no key.
async fn runtime_with_providers() -> Runtime {
    Runtime::builder().build().await.unwrap()
}

async fn model_name_for(runtime: &Runtime, question: Question) -> String {
    runtime.model_for(&question).await.unwrap().config.to_string()
}

#[tokio::test]
async fn a_question_uses_the_model_of_its_thread() {
    let runtime = runtime_with_providers().await;
    create_thread_with_model(&runtime, "ollama", "qwen3").await;
    assert_eq!(
        model_name_for(&runtime, question().in_thread("t")).await,
        "ollama:qwen3"
    );
    assert_eq!(model_name_for(&runtime, question()).await, runtime.model.to_string());
}

#[tokio::test]
async fn a_run_uses_the_model_of_its_thread_and_does_not_change_the_setting_of_the_thread() {
    let runtime = runtime_with_providers().await;
    create_thread_with_model(&runtime, "ollama", "qwen3").await;
    let asked = question().in_thread("t");
    let (start, _) = prepare::prepare(&runtime, asked, &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(start.model.to_string(), "ollama:qwen3");
    let thread = runtime.store.get_thread("t").await.unwrap().unwrap();
    assert_eq!(thread.config.provider_config, Some(start.model));
}

#[tokio::test]
async fn a_model_that_a_person_chose_takes_precedence_over_that_of_the_thread() {
    let mut runtime = runtime_with_providers().await;
    create_thread_with_model(&runtime, "ollama", "qwen3").await;
    runtime.use_model("embedded").unwrap();
    assert_eq!(
        model_name_for(&runtime, question().in_thread("t")).await,
        runtime.model.to_string()
    );
}

#[tokio::test]
async fn a_model_that_the_question_names_takes_precedence_over_all_others() {
    let mut runtime = runtime_with_providers().await;
    create_thread_with_model(&runtime, "ollama", "qwen3").await;
    runtime.use_model("embedded").unwrap();
    let mut asked = question().in_thread("t");
    asked.settings.model = Some("ollama:llama3".to_owned());
    assert_eq!(model_name_for(&runtime, asked).await, "ollama:llama3");
}

#[tokio::test]
async fn the_error_for_a_model_that_is_not_set_up_names_the_thread_that_is_set_to_it() {
    let runtime = runtime_with_providers().await;
    create_thread_with_model(&runtime, "nobody", "x").await;
    let error = runtime.ask(question().in_thread("t")).await.unwrap_err();
    assert!(matches!(error, RuntimeError::ThreadModel { .. }), "{error:?}");
    let text = crate::error::in_one_line(&error);
    assert!(
        text.starts_with("thread `t` is set to the model `nobody:x`, which cannot be used"),
        "{text}"
    );
    assert!(text.contains("give the thread another one"), "{text}");
}

#[tokio::test]
async fn an_unknown_model_of_a_question_is_refused_before_a_thread_is_created() {
    let runtime = runtime_with_providers().await;
    let mut asked = question();
    asked.settings.model = Some("nobody:x".to_owned());
    assert!(matches!(runtime.ask(asked).await, Err(RuntimeError::Model(_))));
    assert_eq!(runtime.store.list_threads(ThreadFilter::default()).await.unwrap(), []);
}
