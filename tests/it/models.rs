//! Remote models: the requests that are sent, the output that is shown, and errors.
//!
//! The exit codes are those of `art --help`: 3 if there is an answer but a step failed or a limit was hit, 6 for an unusable
//! configuration, and 8 if the model gave no answer.

use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicUsize, Ordering};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;
use crate::provider::{
    BEGINNING_OF_PLAN, Provider, Reply, Request, instructions_contain, is_planning, is_synthesis, plan_text,
};

const KEY: &str = "sk-very-secret-0123456789";

/// Runs `art` with a model of `provider` and a key, and checks that the key is not shown.
fn art_with(home: &Home, provider: &Provider, args: &[&str]) -> CommandOutput {
    let mut all_args = vec!["--model", "compatible:m", "--base-url", &provider.base_url];
    all_args.extend(["--api-key-env", "TEST_KEY"]);
    all_args.extend(args);
    let ran = home.art_with_environment(&all_args, &[("TEST_KEY", KEY)]);
    for text in [ran.stdout(), ran.stderr()] {
        assert!(!text.contains(KEY), "the key is shown: {text}");
    }
    ran
}

/// Returns stderr, with the base URL of the provider replaced by `URL`, and its host and port elsewhere by `HOST`.
fn masked_stderr(ran: &CommandOutput, provider: &Provider) -> String {
    let host = provider.base_url.trim_end_matches("/v1").trim_start_matches("http://");
    ran.stderr().replace(&provider.base_url, "URL").replace(host, "HOST")
}

/// Runs a question, and asserts that it gets no answer because of the provider (exit code 8). Returns the masked stderr.
fn stderr_of_failure(provider: &Provider) -> String {
    let home = Home::new();
    home.file("art.toml", "[models]\nretry_base_ms = 1\nmax_retries = 1\n");
    let ran = art_with(&home, provider, &["run", "Hello"]);
    assert_eq!((ran.code(), ran.stdout().as_str()), (8, ""), "{}", ran.stderr());
    masked_stderr(&ran, provider)
}

#[test]
fn a_remote_model_answers() {
    let provider = Provider::answering(&["<mainCon", "tent>Hello to ", "you.</mainContent>"]);
    let ran = art_with(&Home::new(), &provider, &["run", "Hello"]);
    assert_eq!(
        (ran.code(), ran.stdout().as_str()),
        (0, "Hello to you.\n"),
        "{}",
        ran.stderr()
    );
    let requests = provider.take_requests();
    assert_eq!(requests.len(), 2, "one for the plan, and one for the answer");
    for request in requests {
        assert_eq!(request.path, "/v1/chat/completions");
        assert!(request.headers.contains(&format!("authorization: Bearer {KEY}")));
        assert_eq!(request.body["model"], "m");
    }
}

#[test]
fn suggested_questions_are_shown_below_the_answer_and_not_in_it() {
    let provider = Provider::answering(&[
        "It is 42 ",
        "metres.\n<uiMeta",
        r#"data>{"suggestedQuestions": ["And in yards?", "W\u001bhy?"]}</uiMetadata>"#,
    ]);
    let ran = art_with(&Home::new(), &provider, &["run", "How far is it?"]);
    assert_eq!(ran.stdout(), "It is 42 metres.\n", "{ran}");
    let shown = "\nYou could ask next:\n- And in yards?\n- W\\u{1b}hy?\n";
    assert!(ran.stderr().contains(shown), "{ran}");
    let report = art_with(&Home::new(), &provider, &["run", "--json", "How far is it?"]).json();
    assert_eq!(
        report.pointer("/uiMetadata/suggestedQuestions/0"),
        Some(&json!("And in yards?")),
        "{report}"
    );
}

#[test]
fn a_remote_model_calls_local_tools() {
    let provider = Provider::calling("calculator", json!({"expression": "6*7"}), "It is 42.");
    let ran = art_with(&Home::new(), &provider, &["--json", "run", "What is 6*7?"]);
    let report = ran.json();
    assert_eq!(report["answer"], "It is 42.", "{report}");
    assert_eq!(report["calls"][0]["toolName"], "calculator");
    let requests_with_result = provider
        .take_requests()
        .into_iter()
        .filter(|request| request.body.to_string().contains("\"tool\""));
    assert!(
        requests_with_result.count() > 0,
        "no request has the result of the call"
    );
}

/// Returns a provider that refuses requests with a list of tools, because its models cannot make function calls. For each
/// question, a model instead writes one call of `calculator` as text.
fn provider_without_function_calls() -> Provider {
    // Each plan has a step with an identifier that no earlier plan has.
    let plan_count = AtomicUsize::new(0);
    Provider::start(move |request| {
        if request.body.get("tools").is_some() {
            let error = json!({"error": {"message": "`tools` is not supported with this model"}});
            return Reply::Json(400, "", error);
        }
        let text = if is_planning(request) {
            let id = format!("step_{}", plan_count.fetch_add(1, Ordering::Relaxed));
            plan_text(
                &json!([{"id": id, "description": "Multiply", "stepType": "tool", "requiredTools": ["calculator"]}]),
            )
        } else if is_synthesis(request) {
            "<mainContent>It is 42.</mainContent>".to_owned()
        } else if request.body.to_string().contains("Result of `calculator`") {
            json!({"content": "42", "nextStepDecision": "complete_item"}).to_string()
        } else {
            json!({"toolCalls": [{"toolName": "calculator", "arguments": {"expression": "6*7"}}]}).to_string()
        };
        Reply::Text(vec![text])
    })
}

/// Returns the number of requests with a list of tools since the last count. Checks that the other requests contain no function
/// calls, and describe the tools with their input schemas in the text of the prompt.
fn count_requests_with_tools(provider: &Provider) -> usize {
    let requests = provider.take_requests();
    let (with, without): (Vec<_>, Vec<_>) = requests.iter().partition(|request| request.body.get("tools").is_some());
    for request in without {
        let body = request.body.to_string();
        assert!(
            !body.contains("tool_calls") && !body.contains("\"role\":\"tool\""),
            "{body}"
        );
        assert!(body.contains(r#"\"inputSchema\":{"#), "{body}");
    }
    with.len()
}

#[test]
fn a_provider_that_refuses_function_calls_gets_tools_as_text() {
    let provider = provider_without_function_calls();
    let home = Home::new();
    let ran = art_with(&home, &provider, &["--json", "run", "What is 6*7?"]);
    let report = ran.json();
    assert_eq!((ran.code(), &report["answer"]), (0, &json!("It is 42.")), "{report}");
    assert_eq!(report["calls"][0]["ending"], "success", "{report}");
    assert_eq!(count_requests_with_tools(&provider), 1);
    let args = [
        "--model",
        "compatible:m",
        "--base-url",
        &provider.base_url,
        "--json",
        "chat",
    ];
    let ran = home.art_with_input(&args, "What is 6*7?\nAnd again?\n");
    assert_eq!(ran.code(), 0, "{}", ran.stdout());
    // The chat has two questions, but sends the list of tools only until the provider has refused it once.
    assert_eq!(count_requests_with_tools(&provider), 1);
}

#[test]
fn a_model_configured_without_function_calls_is_never_sent_a_list_of_tools() {
    let provider = provider_without_function_calls();
    for settings in [
        "tools = false",
        "models.m = { tools = false }",
        "tools = false\nmodels.n = { tools = true }",
    ] {
        let home = Home::new();
        home.file("art.toml", &format!("[providers.compatible]\n{settings}\n"));
        assert_eq!(
            art_with(&home, &provider, &["run", "What is 6*7?"]).stdout(),
            "It is 42.\n"
        );
        assert_eq!(count_requests_with_tools(&provider), 0, "{settings}");
    }
}

#[test]
fn the_tools_setting_of_a_model_overrides_that_of_its_provider() {
    let provider = Provider::calling("calculator", json!({"expression": "6*7"}), "It is 42.");
    let home = Home::new();
    home.file(
        "art.toml",
        "[providers.compatible]\ntools = false\nmodels.m = { tools = true }\n",
    );
    assert_eq!(
        art_with(&home, &provider, &["run", "What is 6*7?"]).stdout(),
        "It is 42.\n"
    );
    assert_eq!(
        count_requests_with_tools(&provider),
        4,
        "one for the plan, two for the step, and one for the answer"
    );
}

#[test]
fn the_progress_of_a_tool_is_shown_only_at_a_terminal() {
    let home = Home::new();
    home.add("reports_progress", components::REPORTS_PROGRESS);
    let arguments = json!({"title": "walrus", "ms": 300});
    for args in [&["run", "Hi"][..], &["--json", "run", "Hi"], &["--json", "chat"]] {
        let provider = Provider::calling("reports_progress", arguments.clone(), "Done.");
        let ran = art_with(&home, &provider, args);
        assert_eq!(ran.code(), 0, "{}", ran.stderr());
        // The line of the call shows its arguments, so it contains `walrus` too. So the check includes the percentage.
        for output in [ran.stderr(), ran.stdout()] {
            assert!(!output.contains("walrus (50 %)"), "{output}");
        }
    }
}

/// Returns the bodies of all requests as texts.
fn prompts(provider: &Provider) -> Vec<String> {
    let requests = provider.take_requests().into_iter();
    requests.map(|request| request.body.to_string()).collect()
}

/// Returns a home with a `display` tool, whose output is shown to the person and not sent to the model, and a provider whose
/// model calls the tool and returns an empty text for its step.
pub(crate) fn display_tool_and_provider() -> (Home, Provider) {
    let home = Home::new();
    home.add("draws", components::DRAWS);
    let step = json!([{"id": "step_1", "description": "Draw", "stepType": "tool", "requiredTools": ["draws"],
        "dependencies": []}]);
    let mut called = false;
    let provider = Provider::start(move |request| {
        if is_planning(request) {
            Reply::Text(vec![plan_text(&step)])
        } else if is_synthesis(request) {
            Reply::Text(vec!["<mainContent>There it is.</mainContent>".to_owned()])
        } else if std::mem::replace(&mut called, true) {
            Reply::Text(vec![
                json!({"content": "", "nextStepDecision": "complete_item"}).to_string(),
            ])
        } else {
            Reply::Call("draws", json!({"name": "walrus"}))
        }
    });
    (home, provider)
}

#[test]
fn the_output_of_a_display_tool_is_above_the_answer_and_in_no_prompt() {
    let (home, provider) = display_tool_and_provider();
    let ran = art_with(&home, &provider, &["run", "Draw it"]);
    assert_eq!(ran.code(), 0, "{ran}");
    let expected = "Bars of walrus\nbar        height\nwalrus-3   3\nwalrus-14  14\nThere it is.\n";
    assert_eq!(ran.stdout(), expected, "{ran}");
    let prompts = prompts(&provider);
    assert_eq!(prompts.len(), 4);
    for prompt in &prompts {
        assert!(!prompt.contains("walrus-3"), "{prompt}");
    }
    let prompt_for_answer = &prompts[3];
    assert!(prompt_for_answer.contains("displayed"), "{prompt_for_answer}");
}

#[test]
fn invisible_characters_of_an_answer_are_escaped() {
    let provider = Provider::answering(&["<mainContent>a\u{2028}b\u{200b}", "c\u{2066}d</mainContent>"]);
    let ran = art_with(&Home::new(), &provider, &["run", "Hello"]);
    assert_eq!(ran.stdout(), "a\\u{2028}b\\u{200b}c\\u{2066}d\n", "{ran}");
}

#[test]
fn joiners_and_soft_hyphens_of_words_stay_in_an_answer() {
    let answer = "می\u{200c}خواهم Donau\u{ad}dampf 👩\u{200d}💻";
    let provider = Provider::answering(&[
        "<mainContent>می\u{200c}",
        "خواهم Donau\u{ad}dampf 👩\u{200d}💻</mainContent>",
    ]);
    let ran = art_with(&Home::new(), &provider, &["run", "Hello"]);
    assert_eq!(ran.stdout(), format!("{answer}\n"), "{ran}");
}

#[test]
fn the_output_of_a_display_tool_is_in_the_json_report() {
    let (home, provider) = display_tool_and_provider();
    let report = art_with(&home, &provider, &["--json", "run", "Draw it"]).json();
    let displayed = &report["displayed"];
    assert_eq!(displayed[0]["title"], "Bars of walrus", "{report}");
    assert_eq!(displayed[0]["output"][1], json!({"bar": "walrus-14", "height": 14}));
    assert_eq!(report["steps"][0]["result"], json!({"displayed": true}));
    assert!(prompts(&provider).iter().all(|prompt| !prompt.contains("walrus-3")));
}

#[test]
fn the_used_tokens_are_printed_with_their_price() {
    let home = Home::new();
    home.file("art.toml", "[prices.\"compatible:m\"]\ninput = 2.0\noutput = 10.0\n");
    let provider = Provider::answering(&["<mainContent>Hi.</mainContent>"]);
    let ran = art_with(&home, &provider, &["run", "Hello"]);
    // The provider counts 1000 tokens in and 50 out for each of the two requests. The prices are for a million tokens.
    assert!(
        ran.stderr()
            .contains("2 model calls, 0 tool calls, 2.0 k tokens in, 100 out, $0.0050"),
        "{}",
        ran.stderr()
    );
    let metadata = art_with(&home, &provider, &["--json", "run", "Hello"]).json()["metadata"].clone();
    assert_eq!(metadata["llmMetadata"]["inputTokens"], 2000);
    assert_eq!(metadata["llmCost"], 0.005);
}

#[test]
fn a_model_without_a_price_has_no_cost() {
    let provider = Provider::answering(&["<mainContent>Hi.</mainContent>"]);
    let ran = art_with(&Home::new(), &provider, &["run", "Hello"]);
    assert!(ran.stderr().contains("100 out, price unknown"), "{}", ran.stderr());
    let metadata = art_with(&Home::new(), &provider, &["--json", "run", "Hello"]).json()["metadata"].clone();
    assert!(metadata.get("llmCost").is_none(), "{metadata}");
}

#[test]
fn a_cost_limit_without_a_price_is_warned_about() {
    let home = Home::new();
    let provider = Provider::answering(&["<mainContent>Hi.</mainContent>"]);
    let limit = "[execution]\nmaxCostUsd = 0.5\n";
    let price = "[prices.\"compatible:m\"]\ninput = 2.0\noutput = 10.0\n";
    let warned = |args: &[&str]| {
        art_with(&home, &provider, args)
            .stderr()
            .contains("so `maxCostUsd` counts only")
    };
    assert!(!warned(&["run", "Hello"]));
    home.file("art.toml", limit);
    assert!(warned(&["run", "Hello"]));
    assert!(warned(&["--json", "run", "Hello"]));
    assert!(warned(&["chat"]));
    // The embedded model is free, so it needs no price.
    assert!(!home.run("What is 2+2?").stderr().contains("maxCostUsd"));
    home.file("art.toml", &format!("{limit}{price}"));
    assert!(!warned(&["run", "Hello"]));
}

#[test]
fn a_wrong_key_is_reported_in_one_sentence() {
    let error = json!({"error": {"message": format!("Incorrect API key provided: {KEY}"), "code": "invalid_api_key"}});
    assert_snapshot!(stderr_of_failure(&Provider::failing(401, "", error)));
}

/// Returns whether a file below `folder` contains the key.
fn has_key(folder: &std::path::Path) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return has_key(&path);
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes())
    })
}

#[test]
fn a_key_that_a_provider_sends_back_is_neither_shown_nor_stored() {
    let home = Home::new();
    // The key is split over several pieces of the streamed answer.
    const PIECES: [&str; 4] = [
        "<mainContent>It is ",
        "sk-very",
        "-secret-0123456789",
        ".</mainContent>",
    ];
    assert!(PIECES.concat().contains(KEY));
    let provider = Provider::answering(&PIECES);
    let ran = art_with(&home, &provider, &["run", "What is my key?"]);
    assert_eq!(ran.stdout(), "It is [key].\n", "{}", ran.stderr());
    let error = json!({"error": {"message": format!("Incorrect API key provided: {KEY}"), "code": "invalid_api_key"}});
    assert_eq!(
        art_with(&home, &Provider::failing(401, "", error), &["run", "Hello"]).code(),
        8
    );
    assert!(!has_key(home.dir.path()));
}

#[test]
fn an_unknown_model_is_reported_in_one_sentence() {
    let error = json!({"error": {"message": "The model `m` does not exist", "code": "model_not_found"}});
    assert_snapshot!(stderr_of_failure(&Provider::failing(404, "", error)));
}

#[test]
fn a_wrong_address_is_reported_with_its_correction() {
    let error =
        json!({"error": {"message": "Invalid URL (POST /v1/v1/chat/completions)", "type": "invalid_request_error"}});
    let mut provider = Provider::failing(404, "", error);
    provider.base_url.push_str("/v1");
    let stderr = stderr_of_failure(&provider);
    let error = stderr.lines().find(|line| line.contains("nothing at"));
    assert_snapshot!(error.unwrap(), @"error: `compatible:m`: `HOST` has nothing at `/v1/v1/chat/completions` (HTTP status 404: Invalid URL (POST /v1/v1/chat/completions)); correct `base_url`, which has `/v1` twice");
}

#[test]
fn a_model_without_an_address_names_the_option_for_it() {
    let ran = Home::new().art(&["run", "--model", "compatible:m", "Hello"]);
    assert_eq!((ran.code(), ran.stdout().as_str()), (6, ""));
    assert!(ran.stderr().contains("pass it with `--base-url`"), "{}", ran.stderr());
}

#[test]
fn an_exhausted_quota_is_reported_in_one_sentence() {
    let error = json!({"error": {"message": "You exceeded your current quota", "type": "insufficient_quota",
        "code": "insufficient_quota"}});
    assert_snapshot!(stderr_of_failure(&Provider::failing(429, "", error)));
}

#[test]
fn an_unreachable_provider_is_reported_in_one_sentence() {
    let mut provider = Provider::answering(&[]);
    // No server listens at this port.
    provider.base_url = "http://127.0.0.1:1/v1".to_owned();
    assert_snapshot!(stderr_of_failure(&provider));
}

#[test]
fn a_missing_key_is_reported_before_any_request() {
    let ran = Home::new().art(&["run", "--model", "openai", "Hello"]);
    assert_eq!((ran.code(), ran.stdout().as_str()), (6, ""));
    assert_snapshot!(ran.stderr());
}

#[test]
fn a_retried_call_is_reported_in_one_line() {
    let home = Home::new();
    home.file("art.toml", "[models]\nretry_base_ms = 1\n");
    let request_count = AtomicUsize::new(0);
    let provider = Provider::start(move |request| match request_count.fetch_add(1, Ordering::Relaxed) {
        0 => Reply::Json(429, "", json!({"error": {"message": "slow down"}})),
        _ if is_synthesis(request) => Reply::Text(vec!["<mainContent>Hi.</mainContent>".to_owned()]),
        _ => Reply::Text(vec![plan_text(&json!([]))]),
    });
    let ran = art_with(&home, &provider, &["run", "Hello"]);
    assert_eq!((ran.code(), ran.stdout().as_str()), (0, "Hi.\n"), "{}", ran.stderr());
    let line = "rate limited by compatible; trying again in 0 s (1 of 3)\n";
    assert!(ran.stderr().contains(line), "{}", ran.stderr());
}

#[test]
fn a_provider_that_fails_to_write_the_answer_is_named_with_a_remedy() {
    let home = Home::new();
    let step = json!([{"id": "step_1", "description": "Compute", "stepType": "tool", "requiredTools": ["calculator"],
        "dependencies": []}]);
    let step_request_count = AtomicUsize::new(0);
    let provider = Provider::start(move |request| {
        if is_synthesis(request) {
            Reply::Json(401, "", json!({"error": {"message": "bad key"}}))
        } else if is_planning(request) {
            Reply::Text(vec![plan_text(&step)])
        } else if step_request_count.fetch_add(1, Ordering::Relaxed) == 0 {
            Reply::Call("calculator", json!({"expression": "6*7"}))
        } else {
            Reply::Text(vec!["done".to_owned()])
        }
    });
    let ran = art_with(&home, &provider, &["run", "What is 6*7?"]);
    assert_eq!(ran.code(), 3, "{}", ran.stderr());
    let advice = "The provider `compatible` refused the key; check that it is set and still valid.\n";
    assert!(ran.stderr().contains(advice), "{}", ran.stderr());
}

#[test]
fn a_signal_cancels_the_run() {
    let provider = Provider::start(|_| Reply::Hang(BEGINNING_OF_PLAN));
    let home = Home::new();
    let run = home.start(&[
        "--model",
        "compatible:m",
        "--base-url",
        &provider.base_url,
        "run",
        "Hello",
    ]);
    // Wait until the run is in its first model call.
    provider.next_request();
    let process = rustix::process::Pid::from_child(&run);
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    let ran = CommandOutput(run.wait_with_output().unwrap());
    assert_eq!(ran.code(), 130, "{}", ran.stderr());
    assert!(ran.stdout().starts_with("The run was cancelled"), "{}", ran.stdout());
}

#[test]
fn a_configured_provider_is_used_by_its_name() {
    let provider = Provider::answering(&["<mainContent>Hi.</mainContent>"]);
    let home = Home::new();
    let key = home.file("key", &format!("{KEY}\n"));
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let url = &provider.base_url;
    home.file(
        "art.toml",
        &format!("model = \"lab\"\n[providers.lab]\napi = \"openai-chat\"\nbase_url = \"{url}\"\ndefault_model = \"small\"\napi_key_file = \"key\"\n"),
    );
    let ran = home.run("Hello");
    assert_eq!((ran.code(), ran.stdout().as_str()), (0, "Hi.\n"), "{}", ran.stderr());
    let request = provider.next_request();
    assert_eq!(request.body["model"], "small");
    assert!(request.headers.contains(&format!("authorization: Bearer {KEY}")));
    // A key file that other users can read is refused.
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = home.run("Hello");
    assert_eq!((ran.code(), ran.stdout().as_str()), (6, ""), "{}", ran.stderr());
}

#[test]
fn a_key_in_the_environment_gives_a_hint_how_to_use_it() {
    let home = Home::new();
    let key = [("GROQ_API_KEY", KEY)];
    let ran = home.art_with_environment(&["run", "What is 2+2?"], &key);
    let hint = "GROQ_API_KEY is set: --model groq uses it\n";
    assert!(ran.stderr().contains(hint), "{}", ran.stderr());
    assert!(!ran.stderr().contains("OPENAI"), "{}", ran.stderr());
    // There is no hint if a model was chosen.
    let ran = home.art_with_environment(&["run", "--model", "embedded", "What is 2+2?"], &key);
    assert!(!ran.stderr().contains(hint), "{}", ran.stderr());
}

#[test]
fn a_json_chat_prints_an_event_for_each_piece_of_a_streamed_answer() {
    let provider = Provider::answering(&["<mainContent>Hel", "lo.</mainContent>"]);
    let args = [
        "--model",
        "compatible:m",
        "--base-url",
        &provider.base_url,
        "--json",
        "chat",
    ];
    let ran = Home::new().art_with_input(&args, "Hello\n");
    let pieces = ran.stdout().matches("\"SYNTHESIS_LLM_RESPONSE\"").count();
    assert_eq!((ran.code(), pieces), (0, 2), "{}", ran.stdout());
}

#[test]
fn a_remote_model_can_be_evaluated() {
    let home = Home::new();
    let tool = json!({"name": "calculator", "description": "Calculates.", "inputSchema": {"type": "object"},
        "executionMode": "functional"});
    let case = json!({"query": "Hello", "tools": [tool], "expected": []});
    let file = home.file("cases.jsonl", &case.to_string());
    let provider = Provider::answering(&["<mainContent>Hello.</mainContent>"]);
    let ran = art_with(&home, &provider, &["--json", "eval", file.to_str().unwrap()]);
    let report = ran.json();
    assert_eq!(
        (report["cases"].as_u64(), report["errors"].as_u64()),
        (Some(1), Some(0)),
        "{report}"
    );
    assert!(!provider.take_requests().is_empty());
}

#[test]
fn an_evaluation_checks_calls_whose_arguments_come_from_earlier_outputs() {
    let tool = |name: &str, parameter: &str, parameter_type: &str, output_schema: Value| {
        let input_schema =
            json!({"type": "object", "properties": {parameter: {"type": parameter_type}}, "required": [parameter]});
        json!({"name": name, "description": name, "inputSchema": input_schema, "outputSchema": output_schema,
            "executionMode": "functional"})
    };
    // No tool runs: an evaluation makes up the outputs from the schemas and the examples. So the number of words is 120, its
    // minimum.
    let word_count_schema = json!({"type": "object", "properties": {"words": {"type": "integer", "minimum": 120}}});
    let mut halve = tool("halve", "value", "number", json!({"type": "number"}));
    halve["examples"] = json!([{"input": {"value": 120}, "output": 60}]);
    let tools = [
        tool("count", "text", "string", word_count_schema),
        halve,
        tool("say", "text", "string", json!({})),
    ];
    let step = |id: &str, tool: &str, arguments: Value| json!({"id": id, "description": id, "toolCalls": [{"toolName": tool, "arguments": arguments}]});
    let steps = json!([
        step("a", "count", json!({"text": "to be"})),
        step("b", "halve", json!({"value": {"$from": "a", "path": "/words"}})),
        step("c", "say", json!({"text": {"$concat": ["half is ", {"$from": "b"}]}})),
    ]);
    let expected = json!([
        {"toolName": "count", "arguments": {"text": ["to be"]}},
        {"toolName": "halve", "arguments": {"value": [120]}},
        {"toolName": "say", "arguments": {"text": ["half is 60"]}},
    ]);
    let case = json!({"query": "Half of the words?", "tools": tools, "expected": expected});
    let home = Home::new();
    let file = home.file("cases.jsonl", &case.to_string());
    let provider = Provider::start(move |_| Reply::Text(vec![plan_text(&steps)]));
    let report = art_with(&home, &provider, &["--json", "eval", file.to_str().unwrap()]).json();
    let counts = [&report["callsRight"], &report["expectedCalls"], &report["casesRight"]];
    assert_eq!(counts, [&json!(3), &json!(3), &json!(1)], "{report}");
}

#[test]
fn an_evaluation_sends_the_same_settings_as_a_run() {
    let home = Home::new();
    home.file(
        "art.toml",
        "system_prompt = \"Be brief.\"\n[persona]\nname = \"Ada\"\n[prompts]\npes_planning_instructions = \"Plan with care.\"\n\
         [params]\nseed = 7\n[execution]\nmaxModelCalls = 1\n",
    );
    let file = home.file(
        "cases.jsonl",
        &json!({"query": "Hello", "tools": [], "expected": []}).to_string(),
    );
    let provider = Provider::answering(&["<mainContent>Hello.</mainContent>"]);
    // The limit on model calls ends the run after the request for the plan.
    assert_eq!(art_with(&home, &provider, &["run", "Hello"]).code(), 3);
    let run_requests = provider.take_requests();
    assert_eq!(art_with(&home, &provider, &["eval", file.to_str().unwrap()]).code(), 0);
    let eval_requests = provider.take_requests();
    // Parts of the instructions are compared, since the whole text also names the tools, which differ.
    let parts = |request: &Request| {
        let found = ["Be brief.", "Ada", "Plan with care."].map(|text| instructions_contain(request, text));
        (found, request.body["seed"].clone())
    };
    for requests in [run_requests, eval_requests] {
        assert_eq!(requests.iter().map(parts).collect::<Vec<_>>(), [([true; 3], json!(7))]);
    }
}

#[test]
fn a_picture_is_sent_only_to_a_model_with_vision() {
    let home = Home::new();
    let picture = home.dir.path().join("a.png");
    std::fs::write(&picture, b"\x89PNG\r\n\x1a\nrest").unwrap();
    let picture = picture.to_str().unwrap();
    let provider = Provider::answering(&["<mainContent>A cat.</mainContent>"]);
    let picture_was_sent = |provider: &Provider| {
        let requests = provider.take_requests();
        requests.iter().any(|request| {
            request
                .body
                .to_string()
                .contains("data:image/png;base64,iVBORw0KGgpyZXN0")
        })
    };
    let ran = art_with(&home, &provider, &["run", "What is this?", "--attach", picture]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr());
    assert!(!picture_was_sent(&provider), "this model cannot read pictures");
    home.file("art.toml", "[providers.compatible]\nvision = true\n");
    let ran = art_with(&home, &provider, &["run", "What is this?", "--attach", picture]);
    assert_eq!(ran.stdout(), "A cat.\n", "{}", ran.stderr());
    assert!(!ran.stderr().contains("cannot read pictures"), "{}", ran.stderr());
    assert!(picture_was_sent(&provider));
}

#[test]
fn the_configured_system_prompt_persona_and_planning_instructions_reach_the_model() {
    let home = Home::new();
    home.file(
        "art.toml",
        "system_prompt = \"Be brief.\"\n[persona]\nname = \"Ada\"\n[prompts]\npes_planning_instructions = \"Plan with care.\"\n",
    );
    let provider = Provider::answering(&["<mainContent>Hi.</mainContent>"]);
    assert_eq!(art_with(&home, &provider, &["run", "Hello"]).code(), 0);
    let planning_request = provider.next_request();
    for text in ["Be brief.", "Ada", "Plan with care."] {
        assert!(
            instructions_contain(&planning_request, text),
            "`{text}` is missing: {}",
            planning_request.body
        );
    }
}

/// Starts a conversation and returns its identifier.
fn start_conversation(home: &Home) -> String {
    let ran = home.art(&["--json", "run", "What is 2+2?"]).json();
    ran.get("threadId").and_then(Value::as_str).unwrap().to_owned()
}

#[test]
fn the_settings_of_a_conversation_reach_the_model() {
    let home = Home::new();
    let thread = start_conversation(&home);
    let persona = r#"{"name": "Ada", "prompts": {"planning": "Plan with care."}}"#;
    for (setting, value) in [
        ("persona", persona),
        ("system-prompt", "Be brief."),
        ("history-limit", "1"),
    ] {
        let ran = home.art(&["thread", "set", &thread, setting, value]);
        assert_eq!(ran.code(), 0, "{}", ran.stderr());
    }
    let provider = Provider::answering(&["<mainContent>Hi.</mainContent>"]);
    assert_eq!(
        art_with(&home, &provider, &["run", "--thread", &thread, "Hello"]).code(),
        0
    );
    let planning_request = provider.next_request();
    for text in ["Be brief.", "Ada", "Plan with care."] {
        assert!(
            instructions_contain(&planning_request, text),
            "`{text}` is missing: {}",
            planning_request.body
        );
    }
}

#[test]
fn a_budget_of_a_conversation_stops_its_runs() {
    let home = Home::new();
    let thread = start_conversation(&home);
    home.art(&["thread", "set", &thread, "execution", r#"{"maxModelCalls": 1}"#]);
    let question = ["--json", "run", "--thread", &thread, "What is 3*5?"];
    let limits_hit = |ran: &CommandOutput| ran.json()["metadata"]["limitsHit"].to_string();
    let ran = home.art(&question);
    assert!(limits_hit(&ran).contains("model calls"), "{}", ran.stderr());
    home.art(&["thread", "set", &thread, "execution", "null"]);
    let ran = home.art(&question);
    assert!(!limits_hit(&ran).contains("model calls"), "{}", ran.stderr());
}

#[test]
fn an_invalid_setting_and_an_unknown_conversation_are_refused() {
    let home = Home::new();
    let thread = start_conversation(&home);
    let invalid_settings = [
        ("persona", r#"{"nmae": "Ada"}"#, "`nmae`"),
        ("history-limit", "many", "not JSON"),
        ("execution", r#"{"maxToolCalls": "5"}"#, "invalid type"),
        ("system-prompt", r#"{"tag": "none"}"#, "`none`"),
        ("colour", "1", "possible values"),
    ];
    for (setting, value, part_of_error) in invalid_settings {
        let ran = home.art(&["thread", "set", &thread, setting, value]);
        assert!(
            ran.code() != 0 && ran.stderr().contains(part_of_error),
            "{setting}: {}",
            ran.stderr()
        );
    }
    assert_eq!(home.art(&["thread", "set", "nowhere", "history-limit", "1"]).code(), 1);
}

#[test]
fn a_system_prompt_that_is_chosen_by_its_tag_reaches_the_model() {
    let home = Home::new();
    home.file(
        "art.toml",
        "system_prompt = { tag = \"brief\", variables = { n = 7 } }\n\
         [system_prompts.brief]\ntemplate = \"Use {{n}} words in {{language}}.\"\nvariables = { n = 9, language = \"Latin\" }\n",
    );
    let provider = Provider::answering(&["<mainContent>Hi.</mainContent>"]);
    assert_eq!(art_with(&home, &provider, &["run", "Hello"]).code(), 0);
    let planning_request = provider.next_request();
    assert!(
        instructions_contain(&planning_request, "Use 7 words in Latin."),
        "{}",
        planning_request.body
    );
}

#[test]
fn the_default_system_prompt_reaches_the_model_unless_another_is_named() {
    const TEMPLATES: &str = "[system_prompts.brief]\ntemplate = \"Be brief.\"\ndefault = true\n[system_prompts.long]\ntemplate = \"Be long.\"\n";
    for (setting, expected, other) in [
        ("", "Be brief.", "Be long."),
        ("system_prompt = { tag = \"long\" }\n", "Be long.", "Be brief."),
    ] {
        let home = Home::new();
        home.file("art.toml", &format!("{setting}{TEMPLATES}"));
        let provider = Provider::answering(&["<mainContent>Hi.</mainContent>"]);
        assert_eq!(art_with(&home, &provider, &["run", "Hello"]).code(), 0);
        let planning_request = provider.next_request();
        assert!(
            instructions_contain(&planning_request, expected) && !instructions_contain(&planning_request, other),
            "{}",
            planning_request.body
        );
    }
}

#[test]
fn an_exhausted_budget_ends_the_run() {
    let home = Home::new();
    home.file("art.toml", "[execution]\nmaxModelCalls = 1\n");
    let provider = Provider::answering(&["<mainContent>Hi.</mainContent>"]);
    let ran = art_with(&home, &provider, &["run", "Hello"]);
    assert_eq!(provider.take_requests().len(), 1);
    assert_eq!(ran.code(), 3, "{}", ran.stderr());
    assert!(ran.stderr().contains("limit hit: "), "{}", ran.stderr());
}

#[test]
fn tokens_that_a_provider_does_not_count_are_estimated() {
    let home = Home::new();
    home.file("art.toml", "[execution]\nmaxTokens = 10\n");
    let provider = Provider::start(|_| Reply::TextWithoutTokenCounts(plan_text(&json!([]))));
    let ran = art_with(&home, &provider, &["--json", "run", "Hello"]);
    assert_eq!((ran.code(), provider.take_requests().len()), (3, 1), "{}", ran.stderr());
    let metadata = &ran.json()["metadata"];
    assert!(metadata["limitsHit"].to_string().contains("tokens"), "{metadata}");
    assert_eq!(metadata["llmMetadata"]["estimated"], true, "{metadata}");
}

/// Returns the line of `art doctor` whose second word is `name`.
fn doctor_line(ran: &CommandOutput, name: &str) -> String {
    let lines = ran.stdout();
    let line = lines.lines().find(|line| line.split_whitespace().nth(1) == Some(name));
    line.unwrap_or_else(|| panic!("there is no line `{name}`: {lines}"))
        .to_owned()
}

/// Starts a provider that answers only requests for its list of models, with `models`. It panics at any other request, since that
/// would cost tokens.
fn provider_listing(models: &'static [&'static str]) -> Provider {
    Provider::start(move |request| match request.path.as_str() {
        "/v1/models" => {
            let models = models.iter().map(|id| json!({"id": id, "object": "model"}));
            Reply::Json(200, "", json!({"object": "list", "data": models.collect::<Vec<_>>()}))
        }
        path => panic!("`{path}` costs tokens"),
    })
}

#[test]
fn doctor_looks_for_the_model_without_spending_tokens() {
    let provider = provider_listing(&["k", "m"]);
    let ran = art_with(&Home::new(), &provider, &["doctor"]);
    let line = doctor_line(&ran, "model");
    assert!(line.starts_with("ok "), "{line}");
    // The line does not say that the key was accepted: a compatible service may list its models without checking the
    // key.
    assert!(line.contains("reachable, model listed ("), "{line}");
    assert_eq!(ran.code(), 0, "{}", ran.stdout());
}

#[test]
fn doctor_names_the_listed_models_nearest_to_a_configured_model_that_is_not_listed() {
    let ran = art_with(&Home::new(), &provider_listing(&["mm", "far-away"]), &["doctor"]);
    let line = doctor_line(&ran, "model");
    assert!(line.starts_with("warn "), "{line}");
    assert!(
        line.contains("model `m` is not listed; the nearest are `mm`, `far-away`"),
        "{line}"
    );
}

#[test]
fn doctor_fails_when_the_provider_of_the_configured_model_refuses_the_key() {
    let provider = Provider::failing(401, "", json!({"error": {"message": "bad key"}}));
    let ran = art_with(&Home::new(), &provider, &["doctor"]);
    let line = doctor_line(&ran, "model");
    assert!(
        line.starts_with("fail ") && line.contains("did not accept the key"),
        "{line}"
    );
    assert_eq!(ran.code(), 6);
}

#[test]
fn doctor_only_warns_about_a_provider_that_is_not_used() {
    let home = Home::new();
    let settings =
        "[providers.mine]\napi = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1\"\napi_key_env = \"TEST_KEY\"\n";
    home.file("art.toml", settings);
    let ran = home.art_with_environment(&["doctor"], &[("TEST_KEY", KEY)]);
    let line = doctor_line(&ran, "provider");
    assert!(line.starts_with("warn ") && line.contains("`mine`: "), "{line}");
    assert!(doctor_line(&ran, "model").starts_with("ok "));
    assert_eq!(ran.code(), 0, "{}", ran.stdout());
}

#[test]
fn the_configuration_shows_where_a_key_comes_from_and_never_the_key() {
    let home = Home::new();
    let provider = Provider::answering(&[]);
    let shown = art_with(&home, &provider, &["config"]).stdout();
    let row = |name: &str| {
        let line = shown.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        row("providers.compatible.key"),
        "providers.compatible.key environment variable `TEST_KEY` (set) flag"
    );
    assert_eq!(
        row("providers.compatible.base_url"),
        format!("providers.compatible.base_url {} flag", provider.base_url)
    );
    assert_eq!(row("providers.openai.key"), "providers.openai.key not set default");
    assert_eq!(row("execution.maxIterations"), "execution.maxIterations 5 default");
    let json = art_with(&home, &provider, &["--json", "config"]).json();
    let providers = json["providers"].as_array().unwrap().iter();
    let compatible = providers
        .filter(|info| info["name"] == "compatible")
        .collect::<Vec<_>>();
    assert_eq!(compatible[0]["keyOrigin"], "flag");
    assert_eq!(compatible[0]["baseUrl"], provider.base_url);
}

#[test]
fn the_configuration_shows_the_settings_of_model_calls_and_the_prices() {
    let home = Home::new();
    home.file(
        "art.toml",
        "[models]\nmax_retries = 1\n[prices.\"x:y\"]\ninput = 1.5\noutput = 2.0\n",
    );
    let shown = home.art(&["--json", "config"]).json();
    assert_eq!(shown["models"]["value"]["max_retries"], 1);
    assert_eq!(shown["models"]["origin"], "file");
    assert_eq!(shown["prices"]["value"]["x:y"]["input"], 1.5);
    assert_eq!(
        Home::new().art(&["--json", "config"]).json()["models"]["origin"],
        "default"
    );
}

#[test]
fn the_configuration_shows_the_limits_of_parallel_calls() {
    let home = Home::new();
    home.file("art.toml", "[tools]\nmax_parallel = 3\n");
    let shown = home.art(&["config"]).stdout();
    let row = |name: &str| {
        let line = shown.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("tools.max_parallel"), "tools.max_parallel 3 file");
    // `max_queue` is not in the file, but the whole table `[tools]` has one origin.
    assert_eq!(row("tools.max_queue"), "tools.max_queue 128 file");
    home.file("art.toml", "[tools]\nmax_parallel = 0\n");
    let ran = home.art(&["config"]);
    assert_eq!((ran.code(), ran.stdout().as_str()), (6, ""));
    assert!(
        ran.stderr()
            .contains("`tools.max_parallel` is `0`; it must be from 1 to 1024"),
        "{}",
        ran.stderr()
    );
}

#[test]
fn the_embedded_model_refuses_a_base_url_flag_and_ignores_a_base_url_variable() {
    let home = Home::new();
    let ran = home.art(&["run", "--base-url", "https://models.example/v1", "What is 2+2?"]);
    assert_eq!((ran.code(), ran.stdout().as_str()), (6, ""));
    assert!(
        ran.stderr().contains("add `--model compatible:MODEL`"),
        "{}",
        ran.stderr()
    );
    let variable = [("ART_BASE_URL", "https://models.example/v1")];
    home.art_with_environment(&["run", "What is 2+2?"], &variable)
        .assert_answers(&["4"]);
}
