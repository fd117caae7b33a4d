use super::*;
use art_core::limits::LimitOverrides;
use std::path::Path;

/// Loads the configuration with `--home` set to this folder, whose `art.toml` is read if it exists.
fn load(home: &Path, overrides: Overrides) -> Result<Config, ConfigError> {
    Config::load(
        &Overrides {
            home: Some(home.to_owned()),
            ..overrides
        },
        &BTreeMap::new(),
    )
}

#[test]
fn without_a_file_the_embedded_model_is_the_default() {
    let home = tempfile::tempdir().unwrap();
    let config = load(home.path(), Overrides::default()).unwrap();
    assert_eq!(
        config.model,
        Setting {
            value: "embedded".to_owned(),
            origin: Origin::Default
        }
    );
    assert_eq!(config.file, None);
}

#[test]
fn a_flag_takes_precedence_over_the_file() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("art.toml"), "model = \"file\"").unwrap();
    let model_flag = Overrides {
        model: Some("flag".to_owned()),
        ..Overrides::default()
    };
    assert_eq!(load(home.path(), model_flag).unwrap().model.value, "flag");
    assert_eq!(
        load(home.path(), Overrides::default()).unwrap().model.origin,
        Origin::File
    );
}

#[test]
fn the_origin_of_a_value_from_the_environment_is_the_environment() {
    let home = tempfile::tempdir().unwrap();
    let overrides = Overrides {
        model: Some("x".to_owned()),
        from_environment: vec!["model"],
        ..Overrides::default()
    };
    assert_eq!(load(home.path(), overrides).unwrap().model.origin, Origin::Environment);
}

#[test]
fn an_unknown_key_is_refused() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("art.toml"), "modle = \"x\"").unwrap();
    let error = load(home.path(), Overrides::default()).unwrap_err();
    assert!(matches!(error, ConfigError::Parse { source, .. } if source.to_string().contains("modle")));
}

#[test]
fn an_api_key_that_was_typed_into_the_file_is_not_shown() {
    for (text, expected) in [
        (
            "model = \"x\"\n[providers.openai]\napi_key = \"sk-secret\"",
            "line 3, column 1: unknown field `api_key`",
        ),
        (
            // The message leaves out the value: it has the text before the value, and the text from the last `expected` on. This
            // value contains `expected` as well.
            "[providers]\nopenai = \"sk-secret, expected sk-secret\"",
            "line 2, column 10: invalid type: string",
        ),
        (
            "[providers.mine]\napi = \"sk-secret\"",
            "line 2, column 7: unknown variant, expected ",
        ),
        (
            "[models]\nmax_retries = \"sk-secret\"",
            "line 2, column 15: invalid type: string, expected ",
        ),
        ("openai = sk-secret", "line 1, column "),
    ] {
        let error = load_with_file(text, Overrides::default()).unwrap_err();
        let message = crate::error::in_one_line(&error);
        assert!(message.contains(expected), "{message}");
        assert!(!format!("{message}{error:?}").contains("secret"), "{error:?}");
    }
}

#[test]
fn a_relative_plugins_folder_is_resolved_against_the_folder_of_the_file() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("art.toml"), "plugins = \"tools\"").unwrap();
    assert_eq!(
        load(home.path(), Overrides::default()).unwrap().plugins.value,
        home.path().join("tools")
    );
}

#[test]
fn without_a_home_the_error_names_the_flag_to_pass() {
    let error = Config::load(&Overrides::default(), &BTreeMap::new()).unwrap_err();
    assert!(error.to_string().contains("--home DIR"));
}

#[test]
fn the_variable_home_is_ignored_if_it_is_not_an_absolute_path() {
    for home in ["", "relative", "."] {
        let environment = BTreeMap::from([("HOME", OsString::from(home))]);
        let loaded = Config::load(&Overrides::default(), &environment);
        assert!(matches!(loaded, Err(ConfigError::NoHome)), "`{home}`");
    }
    let home = tempfile::tempdir().unwrap();
    let environment = BTreeMap::from([("HOME", home.path().as_os_str().to_owned())]);
    let config = Config::load(&Overrides::default(), &environment).unwrap();
    assert!(config.database.value.starts_with(home.path()));
}

/// Loads the configuration with `--home` set to a new folder, in which `art.toml` has this text.
fn load_with_file(text: &str, overrides: Overrides) -> Result<Config, ConfigError> {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("art.toml"), text).unwrap();
    load(home.path(), overrides)
}

#[test]
fn an_unknown_key_of_a_table_is_refused() {
    for table in [
        "sandbox",
        "tools",
        "execution",
        "models",
        "persona",
        "persona.prompts",
        "system_prompt",
        "system_prompts.brief",
        "providers.mine",
        "prices.\"mine:m\"",
    ] {
        let error = load_with_file(&format!("[{table}]\nnonsense = 1"), Overrides::default()).unwrap_err();
        let ConfigError::Parse { source, .. } = error else {
            panic!("`{table}`: {error}");
        };
        assert!(!source.to_string().is_empty(), "`{table}`");
    }
    let error = load_with_file("[prompts]\nnonsense = \"x\"", Overrides::default()).unwrap_err();
    assert!(error.to_string().contains("`nonsense`"), "{error}");
}

#[test]
fn settings_of_models_and_prompts_are_read_from_the_file() {
    let text = r#"
        model = "mine:m"
        system_prompt = { content = "Be brief.", strategy = "prepend" }
        [persona]
        name = "Ada"
        prompts.synthesis = "Rhyme."
        [prompts]
        pes_planning_instructions = "Plan."
        [providers.mine]
        api = "openai-chat"
        base_url = "https://models.example/v1"
        api_key_file = "key"
        [prices."mine:m"]
        input = 1.0
        output = 2.0
        [models]
        max_retries = 1
        [params]
        reasoningEffort = "low"
        [execution]
        maxTokens = 1000
        maxCostUsd = 0.5
    "#;
    let config = load_with_file(text, Overrides::default()).unwrap();
    let mine = &config.models.providers["mine"];
    assert!(
        mine.api_key_file.as_ref().unwrap().is_absolute(),
        "a relative path is resolved against the folder of the file"
    );
    assert_eq!(config.models.limits.max_retries, 1);
    assert_eq!(config.models.prices.0["mine:m"].output, 2.0);
    assert_eq!(config.execution.value.max_cost_usd, Some(0.5));
    assert_eq!(
        config.execution.value.max_iterations,
        ExecutionConfig::default().max_iterations
    );
    assert_eq!(config.persona.value.prompts.synthesis.as_deref(), Some("Rhyme."));
    assert_eq!(config.params.value["reasoningEffort"], "low");
    assert_eq!(config.prompts.origin, Origin::File);
    assert!(config.system_prompt.value.is_some());
}

#[test]
fn a_system_prompt_has_a_text_or_the_tag_of_a_template() {
    let template =
        "[system_prompts.brief]\ntemplate = \"Use {{n}} words.\"\nvariables = { n = 9 }\nstrategy = \"prepend\"";
    let load = |prompt: &str| load_with_file(&format!("system_prompt = {prompt}\n{template}"), Overrides::default());
    let config = load("{ tag = \"brief\", variables = { n = 7 } }").unwrap();
    let spec = &config.system_prompts.value.specs["brief"];
    assert_eq!(
        (spec.template.as_str(), &spec.default_variables["n"]),
        ("Use {{n}} words.", &9.into())
    );
    assert_eq!(spec.merge_strategy, Some(art_core::prompt::MergeStrategy::Prepend));
    let Some(SystemPromptOverride::Detailed { tag, variables, .. }) = config.system_prompt.value else {
        panic!("the system prompt is not a table");
    };
    assert_eq!((tag.as_deref(), &variables["n"]), (Some("brief"), &7.into()));
    let unknown = load("{ tag = \"long\" }").unwrap_err().to_string();
    assert!(unknown.contains("there is no `[system_prompts.long]`"), "{unknown}");
    for invalid in [
        "{}",
        "{ strategy = \"append\" }",
        "{ tag = \"brief\", content = \"x\" }",
    ] {
        assert!(
            matches!(load(invalid), Err(ConfigError::InvalidSystemPrompt)),
            "{invalid}"
        );
    }
}

#[test]
fn the_bounds_on_the_number_of_tool_calls_are_read_from_the_file() {
    let load = |text: &str| load_with_file(text, Overrides::default());
    let tools = load("[tools]\nmax_parallel = 1\nmax_queue = 0").unwrap().tools;
    let smallest = ToolBounds {
        max_parallel: 1,
        max_queue: 0,
        ..ToolBounds::default()
    };
    assert_eq!((tools.value.bounds, tools.origin), (smallest, Origin::File));
    let largest = load("[tools]\nmax_parallel = 1024\nmax_queue = 65536")
        .unwrap()
        .tools
        .value
        .bounds;
    assert_eq!((largest.max_parallel, largest.max_queue), (1_024, 65_536));
    let only_one_set = load("[tools]\nmax_queue = 7").unwrap().tools.value.bounds;
    assert_eq!(
        (only_one_set.max_parallel, only_one_set.max_queue),
        (ToolBounds::default().max_parallel, 7)
    );
    let grace = load("[tools]\ncancel_grace_ms = 1000").unwrap().tools.value.bounds;
    assert_eq!(grace.cancel_grace_ms, 1_000);
    assert_eq!(load("").unwrap().tools.origin, Origin::Default);
}

#[test]
fn a_bound_on_the_number_of_tool_calls_that_is_out_of_range_is_refused() {
    for (setting, expected) in [
        (
            "max_parallel = 0",
            "`tools.max_parallel` is `0`; it must be from 1 to 1024",
        ),
        (
            "max_parallel = 1025",
            "`tools.max_parallel` is `1025`; it must be from 1 to 1024",
        ),
        (
            "cancel_grace_ms = 1001",
            "`tools.cancel_grace_ms` is `1001`; it must be from 0 to 1000",
        ),
        (
            "max_queue = 65537",
            "`tools.max_queue` is `65537`; it must be from 0 to 65536",
        ),
    ] {
        let error = load_with_file(&format!("[tools]\n{setting}"), Overrides::default()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    for setting in ["max_parallel = -1", "max_queue = \"many\"", "max_queue = 1.5"] {
        let error = load_with_file(&format!("[tools]\n{setting}"), Overrides::default());
        assert!(matches!(error, Err(ConfigError::Parse { .. })), "{setting}");
    }
}

#[test]
fn the_limits_of_tools_are_read_from_the_file() {
    // Keys that begin with `max_` set ceilings: the most that a tool may request. `max` alone is the name of a tool.
    let text = "[tools]\nfuel = 7\nmax_memory_bytes = 9\n[tools.csv_query]\ntimeout_ms = 5\n[tools.max]\n";
    let limits = load_with_file(text, Overrides::default()).unwrap().tools.value.limits;
    let limits_with = |set: fn(&mut LimitOverrides)| {
        let mut limits = LimitOverrides::default();
        set(&mut limits);
        limits
    };
    assert_eq!(limits.defaults, limits_with(|limits| limits.fuel = Some(7)));
    assert_eq!(limits.ceilings, limits_with(|limits| limits.memory_bytes = Some(9)));
    assert_eq!(
        limits.tools,
        BTreeMap::from([
            (
                "csv_query".to_owned(),
                limits_with(|limits| limits.timeout_ms = Some(5))
            ),
            ("max".to_owned(), LimitOverrides::default())
        ])
    );
}

#[test]
fn a_limit_out_of_range_or_above_its_ceiling_and_an_invalid_tool_name_are_refused() {
    for (text, expected) in [
        ("fuel = 0", "`tools.fuel` is `0`; it must be from 1 to 50000000000"),
        (
            "max_timeout_ms = 300001",
            "`tools.max_timeout_ms` is `300001`; it must be from 1 to 300000",
        ),
        (
            "a.output_bytes = 4194305",
            "`tools.a.output_bytes` is `4194305`; it must be from 1 to 4194304",
        ),
        (
            "fuel = 3\nmax_fuel = 2",
            "`tools.fuel` is `3`, which exceeds the ceiling `tools.max_fuel`, `2`; lower `tools.fuel` or raise `tools.max_fuel`",
        ),
        (
            "No.fuel = 2",
            "`[tools.No]` does not name a tool: a name consists of lower-case letters, digits, `_` and `-`, and starts with a letter",
        ),
    ] {
        let error = load_with_file(&format!("[tools]\n{text}"), Overrides::default()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn an_invalid_setting_of_tools_is_reported_with_its_line() {
    for (text, expected) in [
        (
            "max_paralel = 3",
            "line 2, column 15: invalid type: integer `3`, expected a table with the limits of a tool, since no setting has \
             that name: `art config --help` lists them all",
        ),
        (
            "a = { memory = 3 }",
            "line 2, column 5: unknown field `memory`, expected one of `fuel`, `timeout_ms`, `memory_bytes`, `output_bytes`",
        ),
        (
            "fuel = -1",
            "line 2, column 8: invalid value: integer `-1`, expected u64",
        ),
    ] {
        let error = load_with_file(&format!("[tools]\n{text}"), Overrides::default()).unwrap_err();
        let error = std::error::Error::source(&error).unwrap().to_string();
        assert_eq!(error, expected);
    }
}

/// The address that [`overrides_for`] sets.
const OVERRIDING_URL: &str = "https://overriding.example";
/// The name of the environment variable with the API key that [`overrides_for`] sets.
const OVERRIDING_KEY_VARIABLE: &str = "OVERRIDING_KEY";

/// Returns the flags `--model`, `--base-url` and `--api-key-env`, with this model. A test lists in `from_environment` those
/// values that come from the environment instead.
fn overrides_for(model: &str) -> Overrides {
    Overrides {
        model: Some(model.to_owned()),
        base_url: Some(OVERRIDING_URL.to_owned()),
        api_key_env: Some(OVERRIDING_KEY_VARIABLE.to_owned()),
        ..Overrides::default()
    }
}

#[test]
fn flags_for_the_address_and_the_key_apply_to_the_provider_of_the_model() {
    let text = "[providers.mine]\napi_key_file = \"key\"\n[providers.other]\nbase_url = \"https://other.example\"";
    let config = load_with_file(text, overrides_for("mine:a:b/c")).unwrap();
    let (mine, other) = (&config.models.providers["mine"], &config.models.providers["other"]);
    assert_eq!(mine.base_url.as_deref(), Some(OVERRIDING_URL));
    assert_eq!(
        (mine.api_key_env.as_deref(), &mine.api_key_file),
        (Some(OVERRIDING_KEY_VARIABLE), &None)
    );
    assert_eq!(other.base_url.as_deref(), Some("https://other.example"));
}

#[test]
fn a_flag_for_the_address_of_the_embedded_model_is_refused_and_a_variable_is_ignored() {
    let error = load_with_file("", overrides_for("embedded")).unwrap_err();
    assert!(
        matches!(error, ConfigError::NoProvider { flag: "--base-url" }),
        "{error}"
    );
    let from_environment = Overrides {
        from_environment: vec!["base_url", "api_key_env"],
        ..overrides_for("embedded")
    };
    let config = load_with_file("", from_environment).unwrap();
    assert!(config.models.providers.is_empty());
    assert_eq!((config.base_url.value, config.api_key_env.value), (None, None));
    assert_eq!(config.notes, Vec::<String>::new());
}

#[test]
fn address_and_key_of_the_environment_are_ignored_if_meant_for_another_provider() {
    let own_without_address = "[providers.own]\napi = \"openai-chat\"\n";
    let own_with_address = "[providers.own]\napi = \"openai-chat\"\nbase_url = \"https://own.example\"\n";
    let load = |text: &str, model: &str, from_environment: &[&'static str]| {
        let overrides = Overrides {
            from_environment: from_environment.to_vec(),
            ..overrides_for(model)
        };
        load_with_file(text, overrides).unwrap()
    };
    let address_and_key = ["base_url", "api_key_env"];
    // The provider has an address already, in the catalog of built-in providers or in the file, and the environment does not
    // name the model: the address and key of the environment are ignored.
    for (text, model) in [("", "openai:m"), ("", "ollama:m"), (own_with_address, "own:m")] {
        let config = load(text, model, &address_and_key);
        let provider = config
            .models
            .providers
            .get(provider_name(model))
            .cloned()
            .unwrap_or_default();
        assert_ne!(provider.base_url.as_deref(), Some(OVERRIDING_URL), "{model}");
        assert_eq!(provider.api_key_env, None, "{model}");
        assert_eq!((config.base_url.value, config.api_key_env.value), (None, None));
        assert!(config.notes[0].starts_with("`ART_BASE_URL` and `ART_API_KEY_ENV` ignored"));
    }
    // The provider has no address, the environment also names the model, or all values are flags: the address and key are used.
    for (text, model, from_environment) in [
        ("", "compatible:m", &address_and_key[..]),
        (own_without_address, "own:m", &address_and_key),
        ("", "openai:m", &["model", "base_url", "api_key_env"]),
        ("", "openai:m", &[]),
    ] {
        let config = load(text, model, from_environment);
        let provider = &config.models.providers[provider_name(model)];
        assert_eq!(provider.base_url.as_deref(), Some(OVERRIDING_URL), "{model}");
        assert_eq!(
            provider.api_key_env.as_deref(),
            Some(OVERRIDING_KEY_VARIABLE),
            "{model}"
        );
        assert_eq!(config.notes, Vec::<String>::new());
    }
}

#[test]
fn an_address_of_a_flag_applies_although_the_key_of_the_environment_is_ignored() {
    let overrides = Overrides {
        from_environment: vec!["api_key_env"],
        ..overrides_for("openai:m")
    };
    let config = load_with_file("", overrides).unwrap();
    let openai = &config.models.providers["openai"];
    assert_eq!(openai.base_url.as_deref(), Some(OVERRIDING_URL));
    assert_eq!((&openai.api_key_env, config.notes.len()), (&None, 1));
}

#[test]
fn a_key_variable_of_the_environment_is_not_used_with_the_address_of_a_flag() {
    let overrides = Overrides {
        from_environment: vec!["api_key_env"],
        // This provider has no address in the catalog, so the address is that of the flag.
        ..overrides_for("compatible:m")
    };
    let config = load_with_file("", overrides).unwrap();
    let compatible = &config.models.providers["compatible"];
    assert_eq!(compatible.base_url.as_deref(), Some(OVERRIDING_URL));
    assert_eq!((&compatible.api_key_env, config.notes.len()), (&None, 1));
}

#[test]
fn a_blank_environment_variable_is_ignored() {
    let overrides_with = |text: &str, from_environment: &[&'static str]| Overrides {
        model: Some(text.to_owned()),
        base_url: Some(text.to_owned()),
        api_key_env: Some(text.to_owned()),
        from_environment: from_environment.to_vec(),
        ..Overrides::default()
    };
    for blank in ["", "  "] {
        let config = load_with_file(
            "model = \"ollama:m\"",
            overrides_with(blank, &["model", "base_url", "api_key_env"]),
        );
        let config = config.unwrap();
        assert_eq!(
            (config.model.value.as_str(), config.model.origin),
            ("ollama:m", Origin::File)
        );
        assert_eq!((config.base_url.value, config.api_key_env.value), (None, None));
        assert_eq!(config.notes, Vec::<String>::new());
    }
    assert!(
        load_with_file("", overrides_with("", &[])).is_err(),
        "a blank flag is an error"
    );
}

/// Returns the provider in `PROVIDER:MODEL`.
fn provider_name(model: &str) -> &str {
    model.split_once(':').unwrap().0
}

#[test]
fn a_value_that_looks_like_an_api_key_is_refused_as_the_name_of_a_variable() {
    let load = |name: &str| {
        let text = format!("[providers.openai]\napi_key_env = \"{name}\"");
        load_with_file(&text, Overrides::default())
    };
    for key in [
        "gsk_a",
        "hf_abc",
        "sk_live",
        "AIzaSyA",
        "0123456789abcdef0123456789abcdef",
    ] {
        let error = load(key).unwrap_err();
        assert!(matches!(error, ConfigError::NotAVariableName { .. }), "{key}: {error}");
    }
    for name in [
        "OPENAI_API_KEY",
        "MY_SECOND_OPENAI_API_KEY_2",
        "key2",
        "work_key",
        "the_key_of_our_gateway",
    ] {
        assert!(load(name).is_ok(), "{name}");
    }
}

#[test]
fn an_api_key_in_place_of_the_name_of_a_variable_is_refused_and_not_shown() {
    let in_flag = Overrides {
        api_key_env: Some("sk-secret".to_owned()),
        ..overrides_for("openai")
    };
    let in_file = "[providers.openai]\napi_key_env = \"sk-secret\"";
    for error in [
        load_with_file("", in_flag).unwrap_err(),
        load_with_file(in_file, Overrides::default()).unwrap_err(),
    ] {
        let text = error.to_string();
        assert!(
            text.contains("not the key itself") && !text.contains("secret"),
            "{text}"
        );
    }
}

#[test]
fn two_default_templates_are_refused_and_the_error_names_both() {
    let default_template = |tag| format!("[system_prompts.{tag}]\ntemplate = \"x\"\ndefault = true\n");
    let error = load_with_file(&(default_template("a") + &default_template("b")), Overrides::default()).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("`[system_prompts.a]`") && error.contains("`[system_prompts.b]`"),
        "{error}"
    );
}
