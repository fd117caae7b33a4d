//! The costs of model calls that were cancelled, that broke off, or whose host was killed.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::home::Home;
use crate::program::CommandOutput;
use crate::provider::{BEGINNING_OF_PLAN, Provider, Reply};

/// Returns a home in which the model of the tests has a price.
fn priced_home() -> Home {
    let home = Home::empty();
    home.file(
        "art.toml",
        "[prices.\"compatible:m\"]\ninput = 100.0\noutput = 1000.0\n",
    );
    home
}

/// Returns `args` after the options that choose the model of `provider`.
fn with_model<'a>(provider: &'a Provider, args: &[&'a str]) -> Vec<&'a str> {
    let mut all_args = vec!["--model", "compatible:m", "--base-url", &provider.base_url];
    all_args.extend(args);
    all_args
}

/// Runs `art` with `args`, and sends it `signal` when the provider has received the request.
fn run_and_send_signal(home: &Home, provider: &Provider, args: &[&str], signal: Signal) -> CommandOutput {
    let run = home.start(&with_model(provider, args));
    provider.next_request();
    kill_process(Pid::from_child(&run), signal).unwrap();
    CommandOutput(run.wait_with_output().unwrap())
}

/// Checks that a run has one model call, and that the usage of this call is an estimate.
fn assert_one_estimated_call(metadata: &Value) {
    let field = |pointer: &str| metadata.pointer(pointer).cloned().unwrap_or_default();
    assert_eq!((field("/llmCalls"), field("/estimatedCalls")), (json!(1), json!(1)));
    assert_eq!(field("/llmMetadata/estimated"), true, "{metadata}");
    let tokens = field("/tokens/promptTokens").as_f64().unwrap();
    assert!(tokens > 100.0, "{metadata}");
    // The input price of [`priced_home`] is for a million tokens.
    let cost = field("/llmCost").as_f64().unwrap();
    assert!(cost >= tokens * 100.0 / 1e6, "{metadata}");
}

/// Checks the metadata of the newest run, and returns the line of `art runs show` with the usage of that run.
fn checked_usage_of_newest_run(home: &Home) -> String {
    let runs = home.art(&["--json", "runs", "list"]).json();
    assert_one_estimated_call(runs.pointer("/0/summary/metadata").unwrap());
    let newest = runs.pointer("/0/traceId").and_then(Value::as_str).unwrap();
    let shown = home.art(&["runs", "show", newest]).stdout();
    let usage = shown.lines().find(|line| line.starts_with("used "));
    usage
        .unwrap_or_else(|| panic!("no usage is shown:\n{shown}"))
        .to_owned()
}

// The cost of a call that was cancelled (contract M12).
#[test]
fn the_usage_of_a_model_call_that_a_signal_cancels_is_estimated() {
    let (home, provider) = (priced_home(), Provider::start(|_| Reply::Hang(BEGINNING_OF_PLAN)));
    let ran = run_and_send_signal(&home, &provider, &["--json", "run", "Hello"], Signal::TERM);
    assert_eq!(ran.code(), 130, "{ran}");
    assert_one_estimated_call(&ran.json()["metadata"]);
    assert!(checked_usage_of_newest_run(&home).ends_with(", 1 model call estimated"));
    let shown = run_and_send_signal(&home, &provider, &["run", "Hello"], Signal::TERM);
    assert!(shown.stderr().contains(", 1 model call estimated"), "{shown}");
}

// The cost of a call whose reply broke off (contract M12).
#[test]
fn a_reply_that_breaks_off_is_counted_with_the_tokens_that_arrived() {
    let (home, provider) = (priced_home(), Provider::start(|_| Reply::Break("123456789")));
    let ran = home.art(&with_model(&provider, &["--json", "run", "Hello"]));
    let metadata = &ran.json()["metadata"];
    assert_one_estimated_call(metadata);
    // An estimate: one token for every four of the nine characters, rounded up.
    assert_eq!(metadata["tokens"]["completionTokens"], 3, "{metadata}");
}

/// Returns a home with a run whose host was killed while its model replied.
fn home_with_interrupted_run() -> Home {
    let (home, provider) = (priced_home(), Provider::start(|_| Reply::Hang(BEGINNING_OF_PLAN)));
    let run = home.start(&with_model(&provider, &["run", "Hello"]));
    provider.next_request();
    kill_process(Pid::from_child(&run), Signal::KILL).unwrap();
    run.wait_with_output().unwrap();
    home
}

fn greeting_provider() -> Provider {
    Provider::start(|_| Reply::Text(vec!["Hi.".to_owned()]))
}

// The cost of a call whose host was killed (contract M12).
#[test]
fn a_resumed_run_counts_and_repeats_the_model_call_of_its_killed_host() {
    let (home, provider) = (home_with_interrupted_run(), greeting_provider());
    let resumed = home.art(&with_model(&provider, &["--json", "runs", "resume", "last"]));
    let answer = resumed.json();
    assert_eq!(answer["answer"], "Hi.", "{resumed}");
    let metadata = &answer["metadata"];
    assert_eq!(
        (&metadata["llmCalls"], &metadata["estimatedCalls"]),
        (&json!(2), &json!(1))
    );
    // Each of the two prompts has more than 100 tokens.
    assert!(metadata["tokens"]["promptTokens"].as_f64() > Some(200.0), "{metadata}");
}

// The cost of a call whose host was killed (contract M12).
#[test]
fn the_next_question_of_a_conversation_ends_and_counts_its_interrupted_run() {
    let (home, provider) = (home_with_interrupted_run(), greeting_provider());
    let ask = ["run", "--thread", "last", "Hello again"];
    home.art(&with_model(&provider, &ask)).assert_answers(&["Hi."]);
    let runs = home.art(&["--json", "runs", "list"]).json();
    let killed = runs.as_array().unwrap().last().unwrap();
    assert_eq!(killed["status"], "error");
    assert_one_estimated_call(&killed["summary"]["metadata"]);
}

#[test]
fn a_person_is_told_which_run_was_interrupted_and_how_to_go_on_with_it() {
    let (home, provider) = (home_with_interrupted_run(), greeting_provider());
    let stderr = home.art(&with_model(&provider, &["run", "Something else"])).stderr();
    let line = stderr.lines().find(|line| line.contains("interrupted")).unwrap();
    let (_, command) = line.split_once("`art ").unwrap();
    let (command, _) = command.split_once('`').unwrap();
    let words: Vec<_> = command.split(' ').collect();
    home.art(&with_model(&provider, &words)).assert_answers(&["Hi."]);
    let stderr = home.art(&with_model(&provider, &["run", "Again"])).stderr();
    assert!(!stderr.contains("interrupted"), "{stderr}");
}
