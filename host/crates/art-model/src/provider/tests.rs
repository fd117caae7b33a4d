use super::*;
use crate::testing::{API_KEY, ScriptedModel, environment, settings};

/// Creates all providers, with these settings for the provider `p`.
fn providers_with(provider: ProviderSettings) -> Result<BTreeMap<String, Provider>, ModelError> {
    let mut all_settings = settings(String::new(), crate::settings::EngineLimits::default());
    all_settings.providers = BTreeMap::from([("p".to_owned(), provider)]);
    create_providers(&all_settings, &environment, &[])
}

fn settings_at(base_url: &str) -> ProviderSettings {
    ProviderSettings {
        api: Some(Protocol::OpenaiChat),
        base_url: Some(base_url.to_owned()),
        ..ProviderSettings::default()
    }
}

/// Returns the settings of a provider whose key is in the variable `P_KEY` of [`environment`].
fn settings_with_key(base_url: &str) -> ProviderSettings {
    ProviderSettings {
        api_key_env: Some("P_KEY".to_owned()),
        ..settings_at(base_url)
    }
}

/// Returns why the provider `p` with these settings cannot be called, if it cannot.
fn problem_with(provider: ProviderSettings) -> Option<String> {
    let providers = providers_with(provider).unwrap();
    let problem = providers["p"].as_remote().unwrap().problem.clone();
    problem.map(|problem| problem.message)
}

/// Returns the message of the error that refuses these settings of the provider `p`.
fn error_message(provider: ProviderSettings) -> String {
    let error = providers_with(provider).unwrap_err();
    assert_eq!(error.code, ModelErrorCode::ProviderNotConfigured);
    error.message
}

fn default_providers() -> BTreeMap<String, Provider> {
    create_providers(&ModelSettings::default(), &|_| None, &[in_process()]).unwrap()
}

/// Returns a model in this process, which becomes the provider `embedded`.
fn in_process() -> Arc<dyn Model> {
    Arc::new(ScriptedModel::named("embedded", "lexical"))
}

fn resolved_name(text: &str) -> String {
    resolve(&default_providers(), text).unwrap().to_string()
}

#[test]
fn a_provider_name_alone_means_its_default_model() {
    assert_eq!(resolved_name("embedded"), "embedded:lexical");
    assert_eq!(resolved_name("openai"), "openai:gpt-5.4-mini");
    assert_eq!(resolved_name(" groq "), "groq:openai/gpt-oss-20b");
}

#[test]
fn a_model_may_have_colons_and_slashes() {
    assert_eq!(resolved_name("ollama:qwen3:8b"), "ollama:qwen3:8b");
    assert_eq!(
        resolve(&default_providers(), "openrouter:meta/x:free")
            .unwrap()
            .model_id,
        "meta/x:free"
    );
}

#[test]
fn the_error_for_an_unknown_provider_lists_the_known_ones() {
    let error = resolve(&default_providers(), "opnai:gpt").unwrap_err();
    assert_eq!(error.code, ModelErrorCode::ProviderNotSupported);
    insta::assert_snapshot!(error, @"model provider `opnai` is not known; use `anthropic`, `deepseek`, `embedded`, `gemini`, `groq`, `ollama`, `openai`, `openrouter`, or define it with `api` and `base_url` in `[providers.opnai]`");
}

#[test]
fn a_built_in_provider_without_an_address_needs_one() {
    let error = resolve(&default_providers(), "compatible:m").unwrap_err();
    assert_eq!(error.code, ModelErrorCode::ProviderNotConfigured);
    insta::assert_snapshot!(error, @"provider `compatible` has no address; pass it with `--base-url`, or set `base_url` in `[providers.compatible]`");
}

#[test]
fn a_provider_without_a_default_model_needs_one() {
    for text in ["ollama", "ollama:"] {
        let error = resolve(&default_providers(), text).unwrap_err();
        assert_eq!(error.code, ModelErrorCode::ProviderNotConfigured);
        insta::allow_duplicates! {
            insta::assert_snapshot!(error, @"provider `ollama` has no default model; name one as `ollama:MODEL`, or set `default_model` in `[providers.ollama]`");
        }
    }
}

#[test]
fn the_error_for_an_unknown_model_in_this_process_names_the_available_one() {
    let error = resolve(&default_providers(), "embedded:huge").unwrap_err();
    assert_eq!(error.code, ModelErrorCode::ModelNotFound);
    insta::assert_snapshot!(error, @"provider `embedded` has no model `huge`; use `embedded:lexical`");
}

#[test]
fn an_invalid_model_name_is_refused() {
    let long = format!("openai:{}", "x".repeat(257));
    for text in ["openai:two words", "openai:m\u{1b}[2J", long.as_str()] {
        assert_eq!(
            resolve(&default_providers(), text).unwrap_err().code,
            ModelErrorCode::ModelNotFound
        );
    }
}

#[test]
fn the_error_for_a_missing_key_names_the_variable_and_the_setting() {
    let providers = default_providers();
    let problem = providers["openai"].as_remote().unwrap().problem.clone().unwrap();
    assert_eq!(problem.code, ModelErrorCode::ProviderNotConfigured);
    insta::assert_snapshot!(problem, @"provider `openai` has no key; set the environment variable `OPENAI_API_KEY`, or set `api_key_file` in `[providers.openai]` to a file with the key");
    assert!(providers["ollama"].as_remote().unwrap().problem.is_none());
}

#[test]
fn the_key_of_gemini_may_be_in_the_variable_google_api_key() {
    let environment = |name: &str| (name == "GOOGLE_API_KEY").then(|| API_KEY.to_owned());
    let providers = create_providers(&ModelSettings::default(), &environment, &[]).unwrap();
    assert!(providers["gemini"].as_remote().unwrap().problem.is_none());
}

#[test]
fn a_provider_that_is_not_built_in_needs_an_api_and_an_address() {
    let without_settings = ProviderSettings::default();
    insta::assert_snapshot!(error_message(without_settings), @"provider `p` is not built in; set its `api` and `base_url` in `[providers.p]`");
    let without_address = ProviderSettings {
        api: Some(Protocol::OpenaiChat),
        ..ProviderSettings::default()
    };
    insta::assert_snapshot!(error_message(without_address), @"`base_url` of `[providers.p]` is not set; pass the address of the provider with `--base-url`, such as `--base-url https://models.example/v1`, or set it");
    assert!(providers_with(settings_at("https://models.example/v1")).is_ok());
}

#[test]
fn an_address_that_cannot_be_used_is_refused_without_being_shown() {
    let wrong = [
        "models.example",
        "ftp://models.example",
        "https://user:s3cret@models.example",
        "https://models.example/?key=s3cret",
        "https://models.example/#s3cret",
    ];
    for url in wrong {
        let message = error_message(settings_at(url));
        assert!(message.starts_with("`base_url` of `[providers.p]`"), "{message}");
        assert!(!message.contains("s3cret"), "{message}");
    }
}

#[test]
fn a_key_is_sent_unencrypted_only_to_this_machine() {
    for url in [
        "http://localhost:1/v1",
        "http://127.0.0.1/v1",
        "http://[::1]:8080",
        "https://models.example",
    ] {
        assert_eq!(problem_with(settings_with_key(url)), None, "{url}");
    }
    assert_eq!(problem_with(settings_at("http://models.example/v1")), None);
    for url in [
        "http://models.example/v1",
        "http://localhost.example",
        "http://10.0.0.1",
    ] {
        assert!(problem_with(settings_with_key(url)).is_some(), "{url}");
    }
    insta::assert_snapshot!(problem_with(settings_with_key("http://models.example:8080/v1")).unwrap(), @"the key of provider `p` (environment variable `P_KEY`) would be sent to `models.example:8080` unencrypted; set `base_url` to an `https://` address");
}

fn settings_with_header(name: &str, value: &str) -> ProviderSettings {
    ProviderSettings {
        headers: BTreeMap::from([(name.to_owned(), value.to_owned())]),
        ..settings_at("https://models.example")
    }
}

#[test]
fn a_header_that_cannot_be_sent_is_refused_without_showing_its_value() {
    for (name, value) in [
        ("x-a", "s3crét"),
        ("x-a", "s3cret\n"),
        ("x a", "s3cret"),
        ("", "s3cret"),
    ] {
        assert!(!error_message(settings_with_header(name, value)).contains("s3cr"));
    }
    insta::assert_snapshot!(error_message(settings_with_header("x-a", "é")), @"header `x-a` of `[providers.p]` has a character that is not allowed in a header; use printable ASCII");
}

#[test]
fn a_header_must_not_carry_the_key() {
    insta::assert_snapshot!(error_message(settings_with_header("Authorization", "Bearer x")), @"header `Authorization` of `[providers.p]` cannot be set; a key is set with `api_key_env` or `api_key_file`");
    assert!(providers_with(settings_with_header("x-title", "mine")).is_ok());
}

#[test]
fn a_provider_in_this_process_cannot_be_configured() {
    let mut settings = ModelSettings::default();
    settings
        .providers
        .insert("embedded".to_owned(), ProviderSettings::default());
    assert!(create_providers(&settings, &|_| None, &[in_process()]).is_err());
}

#[test]
fn a_model_in_this_process_takes_the_place_of_a_built_in_provider_of_its_name() {
    let model: Arc<dyn Model> = Arc::new(ScriptedModel::named("openai", "own"));
    let providers = create_providers(&ModelSettings::default(), &|_| None, &[model]).unwrap();
    assert!(providers["openai"].as_remote().is_none());
    assert!(providers["anthropic"].as_remote().is_some());
}

#[test]
fn debug_output_has_no_key() {
    let providers = providers_with(settings_with_key("https://models.example")).unwrap();
    assert_eq!(providers["p"].as_remote().unwrap().key.expose(), Some(API_KEY));
    assert!(!format!("{providers:?}").contains(API_KEY));
}

#[test]
fn a_local_provider_gets_one_call_at_a_time_by_default() {
    let with_limit = ProviderSettings {
        max_parallel: Some(3),
        ..ProviderSettings::default()
    };
    for (settings, name, expected) in [
        (ProviderSettings::default(), "ollama", 1),
        (ProviderSettings::default(), "openai", DEFAULT_MAX_PARALLEL),
        (with_limit, "ollama", 3),
    ] {
        let settings = ModelSettings {
            providers: [(name.to_owned(), settings)].into(),
            ..ModelSettings::default()
        };
        let providers = create_providers(&settings, &|_| None, &[]).unwrap();
        assert_eq!(providers[name].max_parallel, expected, "{name}");
    }
}
