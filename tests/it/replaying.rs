//! `art runs replay`: a replayed run of any kind is identical to the recorded one, including its fuel.
//!
//! A replay carries out a run again with the recorded replies of the model. It also runs the tool calls again, with the recorded
//! answers of the host. The result of a call that cannot be run again is taken from the journal of the run.

use std::collections::BTreeMap;
use std::sync::Arc;

use art_runtime::compose::open_store_read_only;
use art_runtime::config::{Config, Overrides};
use art_runtime::{Recording, Replay, Runtime};
use art_sandbox::Plugin;
use art_store::{RunFilter, RunState};
use serde_json::{Value, json};

use crate::harness::{components, load};
use crate::home::Home;
use crate::provider::{BEGINNING_OF_PLAN, Provider, Reply, is_planning, is_synthesis, plan_text};

/// Questions for several first-party tools, some with several steps, and some that no tool answers.
const QUESTIONS: [&str; 12] = [
    "What is 17.5% of 2340, and what is that divided by 7?",
    "What is 0.1 + 0.2?",
    "What is 1/0?",
    "How many days are there between 2024-02-27 and 2026-11-21?",
    "What weekday is 2026-12-25?",
    "What time is it in Tokyo?",
    "How many words are in \"to be or not to be\"?",
    "Convert 72 miles per hour to metres per second",
    "What is 2+2, and who won the football world cup in 2018?",
    "Who won the football world cup in 2018?",
    "Which email addresses are in \"write to ada@example.org or bob@example.com\"?",
    "What is the difference between \"the quick fox\" and \"the slow fox\"?",
];

/// Replays each run of a home. Asserts that all are identical and that fuel was compared for each call that was run again.
/// Returns the replays, the newest run first.
fn replay_all(home: &Home) -> Vec<Value> {
    let runs = home.art(&["--json", "runs", "list"]).json();
    let ids = runs.as_array().unwrap().iter();
    let ids = ids.map(|run| run.get("traceId").and_then(Value::as_str).unwrap());
    ids.map(|id| {
        let replayed = home.art(&["--json", "runs", "replay", id]);
        assert_eq!(replayed.code(), 0, "{replayed}");
        let replay = replayed.json();
        assert_eq!(replay.get("difference"), Some(&Value::Null), "{replay}");
        assert_eq!(replay.get("callsRun"), replay.get("fuelCompared"), "{replay}");
        replay
    })
    .collect()
}

/// Returns the sum of a numeric field over all replays.
fn total(replays: &[Value], field: &str) -> u64 {
    replays.iter().filter_map(|replay| replay.get(field)?.as_u64()).sum()
}

#[test]
fn questions_of_many_kinds_are_replayed_identically() {
    let home = Home::new();
    let sales = home.file("sales.csv", "city,amount\nBonn,3\nKiel,4.5\nBonn,10\n");
    let data = home.file("data.json", r#"{"items": [{"price": 1.5}, {"price": 2.25}]}"#);
    let mut lines = QUESTIONS.map(str::to_owned).to_vec();
    for (file, question) in [
        (&sales, "What is the sum of amount by city in sales.csv?"),
        (&data, "What is the sum of items[*].price in data.json?"),
    ] {
        lines.extend([format!("/attach {}", file.display()), question.to_owned()]);
    }
    home.art_with_input(&["chat"], &lines.join("\n"));
    let replays = replay_all(&home);
    assert_eq!(replays.len(), QUESTIONS.len() + 2);
    assert!(total(&replays, "callsRun") >= 10, "{replays:?}");
    // No request to the model is worded in another way than in the recorded run.
    assert_eq!(total(&replays, "requestsChanged"), 0, "{replays:?}");
    let not_run_again = replays.iter().flat_map(|replay| replay["taken"].as_array().unwrap());
    assert_eq!(not_run_again.collect::<Vec<_>>(), Vec::<&Value>::new());
}

/// Runs a plan in which each step makes one of these calls, in their order. In the place of a model, a mock provider replies to
/// each step with its call, and then with the text `done`.
fn run_calls(home: &Home, calls: &[(&'static str, Value)]) {
    let names = (0..calls.len()).map(|number| format!("step_{number}"));
    let steps: Vec<_> = names
        .zip(calls)
        .enumerate()
        .map(|(number, (id, (tool, _)))| {
            let dependencies: Vec<_> = number
                .checked_sub(1)
                .map(|before| format!("step_{before}"))
                .into_iter()
                .collect();
            json!({"id": id, "description": format!("Do {id}"), "stepType": "tool", "requiredTools": [tool],
                "dependencies": dependencies})
        })
        .collect();
    let steps = json!(steps);
    // The last reply comes first, because the provider pops its replies.
    let mut replies = Vec::new();
    for (tool, arguments) in calls.iter().rev() {
        replies.push(Reply::Text(vec!["done".to_owned()]));
        replies.push(Reply::Call(tool, arguments.clone()));
    }
    let provider = Provider::start(move |request| {
        if is_planning(request) {
            Reply::Text(vec![plan_text(&steps)])
        } else if is_synthesis(request) {
            Reply::Text(vec!["<mainContent>There.</mainContent>".to_owned()])
        } else {
            replies.pop().unwrap()
        }
    });
    home.art(&["--model", "compatible:m", "--base-url", &provider.base_url, "run", "Go"]);
}

#[test]
fn a_run_whose_tools_exchange_files_and_write_logs_is_replayed_identically() {
    let home = Home::empty();
    home.add("produces_files", components::PRODUCES_FILES);
    home.add("echo", components::ECHO);
    run_calls(
        &home,
        &[
            ("produces_files", json!({"name": "out.csv"})),
            // The host replaces this text by the content of the file.
            ("echo", json!({"text": "attachment:out.csv"})),
            // This call is refused, because its text is a number.
            ("echo", json!({"text": 0.1 + 0.2})),
        ],
    );
    let replays = replay_all(&home);
    assert_eq!(total(&replays, "callsRun"), 2, "{replays:?}");
    assert_eq!(replays[0]["taken"][0]["reason"], "refused", "{replays:?}");
}

#[test]
fn a_replay_takes_the_times_and_random_numbers_of_tools_from_the_journal() {
    let home = Home::empty();
    home.add("asks", components::ASKS);
    let questions = ["wall_clock", "clock", "random", "hash_seed", "sleep", "poll", "compute"];
    run_calls(&home, &[("asks", json!({"questions": questions, "n": 3}))]);
    let replays = replay_all(&home);
    assert_eq!(total(&replays, "callsRun"), 1, "{replays:?}");
}

#[test]
fn the_calls_of_a_changed_or_missing_component_are_taken_from_the_journal() {
    let home = Home::new();
    home.run("What is 2+2?").assert_answers(&["4"]);
    let calculator = home.plugins().join("calculator.wasm");
    std::fs::copy(components::ECHO, &calculator).unwrap();
    // In the first round, the component is another one; in the second round, it is missing.
    for _ in 0..2 {
        let replay = home.art(&["--json", "runs", "replay", "last"]).json();
        assert_eq!(replay["callsRun"], 0, "{replay}");
        assert_eq!(replay["taken"][0]["tool"], "calculator", "{replay}");
        assert_eq!(replay["taken"][0]["reason"], "no_component", "{replay}");
        drop(std::fs::remove_file(&calculator));
    }
}

#[test]
fn a_replay_needs_no_model_and_stores_nothing() {
    let home = Home::new();
    home.run("What is 2+2?").assert_answers(&["4"]);
    home.file("art.toml", "model = \"openai:gpt-5\"\n");
    let replayed = home.art(&["runs", "replay", "last"]);
    assert_eq!(replayed.code(), 0, "{replayed}");
    let stdout = replayed.stdout();
    assert!(stdout.contains(" is identical in all "), "{replayed}");
    assert!(
        stdout.contains("tool calls run again: 1; fuel compared in 1 of them"),
        "{replayed}"
    );
    let runs = home.art(&["--json", "runs", "list"]).json();
    assert_eq!(runs.as_array().unwrap().len(), 1);
}

/// Returns the configuration of a home.
fn config(home: &Home) -> Config {
    let overrides = Overrides {
        home: Some(home.dir.path().to_owned()),
        ..Overrides::default()
    };
    Config::load(&overrides, &BTreeMap::new()).unwrap()
}

/// Returns a home with a run of the calculator, the recording of that run, and the component.
async fn recorded_run() -> (Home, Recording, [Arc<Plugin>; 1]) {
    let home = Home::empty();
    let calculator = components::PLUGINS
        .iter()
        .find(|(name, _)| *name == "calculator")
        .unwrap();
    home.add("calculator", calculator.1);
    home.run("What is 2+2?").assert_answers(&["4"]);
    let store = open_store_read_only(&config(&home)).unwrap();
    let run = store.list_runs(RunFilter::default()).await.unwrap().remove(0);
    let recording = Recording::read(store.as_ref(), &run.trace_id).await.unwrap();
    (home, recording, [Arc::new(load(calculator.1).unwrap())])
}

/// Sets the value at `pointer` in the first event of a kind.
fn set_in_first_event(recording: &mut Recording, kind: &str, pointer: &str, value: Value) {
    let entry = recording.entries.iter_mut().find(|entry| entry.kind == kind).unwrap();
    let mut payload: Value = serde_json::from_str(&entry.payload).unwrap();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = payload.pointer_mut(parent).unwrap();
    parent.as_object_mut().unwrap().insert(key.to_owned(), value);
    entry.payload = payload.to_string();
}

/// Returns the kind of the difference, and the tool that it concerns.
fn difference_and_tool(replay: &Replay) -> Option<(&str, Option<&str>)> {
    let difference = replay.difference.as_ref()?;
    Some((difference.what.as_str(), difference.tool.as_deref()))
}

#[tokio::test]
async fn the_first_difference_from_the_journal_is_named() {
    let (_home, recording, plugins) = recorded_run().await;
    assert_eq!(difference_and_tool(&recording.replay(&plugins).await.unwrap()), None);
    for (kind, pointer, value, expected) in [
        ("tool_called", "/input", json!("blake3:0"), "input"),
        ("tool_ended", "/end/usage/fuel", json!(1), "fuel"),
        ("tool_ended", "/end/ending", json!("failure"), "ending"),
        (
            "tool_ended",
            "/end/result/output/result",
            json!(5),
            "result/output/result",
        ),
        (
            "tool_ended",
            "/end/result/metadata",
            json!({"title": "x"}),
            "result/metadata",
        ),
        (
            "tool_ended",
            "/end/intake",
            json!({"crossings": [{"kind": "waited"}]}),
            "crossing 1",
        ),
    ] {
        let mut changed = recording.clone();
        set_in_first_event(&mut changed, kind, pointer, value);
        let replay = changed.replay(&plugins).await.unwrap();
        assert_eq!(
            difference_and_tool(&replay),
            Some((expected, Some("calculator"))),
            "{replay:?}"
        );
    }
}

#[tokio::test]
async fn another_status_or_answer_of_the_run_is_a_difference() {
    let (_home, recording, plugins) = recorded_run().await;
    let mut another_status = recording.clone();
    another_status.run.status = RunState::Partial;
    assert_eq!(
        difference_and_tool(&another_status.replay(&plugins).await.unwrap()),
        Some(("status", None))
    );
    let mut another_answer = recording;
    another_answer.run.summary["answer"] = json!("5");
    assert_eq!(
        difference_and_tool(&another_answer.replay(&plugins).await.unwrap()),
        Some(("answer", None))
    );
}

#[tokio::test]
async fn fuel_of_another_engine_and_another_wording_of_prompts_are_no_differences() {
    let (_home, mut recording, plugins) = recorded_run().await;
    set_in_first_event(&mut recording, "started", "/start/fuelBasis", json!("another"));
    set_in_first_event(&mut recording, "tool_ended", "/end/usage/fuel", json!(1));
    set_in_first_event(&mut recording, "model_asked", "/request", json!("blake3:0"));
    let replay = recording.replay(&plugins).await.unwrap();
    assert_eq!(difference_and_tool(&replay), None);
    assert_eq!(
        (replay.calls_run, replay.fuel_compared, replay.requests_changed),
        (1, 0, 1)
    );
}

#[tokio::test]
async fn an_unfinished_run_is_replayed_as_far_as_it_goes() {
    let (_home, recording, plugins) = recorded_run().await;
    for length in 1..recording.entries.len() {
        let mut unfinished = recording.clone();
        unfinished.entries.truncate(length);
        unfinished.run.status = RunState::Running;
        let replay = unfinished.replay(&plugins).await.unwrap();
        assert_eq!(
            (difference_and_tool(&replay), replay.ended),
            (None, false),
            "{replay:?}"
        );
        let count = |kind: &str| {
            let entries = recording.entries[..length].iter();
            entries.filter(|entry| entry.kind == kind).count()
        };
        let (calls_begun, calls_ended) = (count("tool_called"), count("tool_ended"));
        // The replay runs only calls whose end is recorded. It skips a call that had only begun.
        assert_eq!(
            (replay.calls_run as usize, replay.skipped.len()),
            (calls_ended, calls_begun - calls_ended)
        );
    }
}

#[tokio::test]
async fn a_program_that_embeds_the_host_can_replay_a_run() {
    let (home, recording, _) = recorded_run().await;
    let builder = Runtime::builder().home(home.dir.path()).plugins(home.plugins());
    let replay = builder
        .build()
        .await
        .unwrap()
        .replay(&recording.run.trace_id)
        .await
        .unwrap();
    assert!(replay.is_identical());
    assert_eq!(replay.calls_run, 1);
}

#[test]
fn an_exported_run_is_replayed_and_verified_in_a_home_without_tools() {
    let home = Home::new();
    home.run("What is 2+2?").assert_answers(&["4"]);
    let file = home.dir.path().join("run.jsonl");
    let file = file.to_str().unwrap();
    let exported = home.art(&["--json", "runs", "export", "last", file]).json();
    assert_eq!((&exported["components"], &exported["missing"]), (&json!(1), &json!([])));
    let elsewhere = Home::empty();
    let replay = elsewhere.art(&["--json", "runs", "replay", file]);
    assert_eq!(replay.code(), 0, "{replay}");
    let replay = replay.json();
    assert_eq!(
        (&replay["callsRun"], &replay["fuelCompared"]),
        (&json!(1), &json!(1)),
        "{replay}"
    );
    let verified = |home: &Home, run: &str| home.art(&["--json", "runs", "verify", run]).json();
    assert_eq!(verified(&elsewhere, file), verified(&home, "last"));
}

#[test]
fn an_exported_run_with_files_is_replayed_elsewhere() {
    let home = Home::empty();
    home.add("produces_files", components::PRODUCES_FILES);
    home.add("echo", components::ECHO);
    // The host replaces this text by the content of the file.
    let text = json!({"text": "attachment:out.csv"});
    run_calls(&home, &[("produces_files", json!({"name": "out.csv"})), ("echo", text)]);
    let file = home.dir.path().join("run.jsonl");
    let file = file.to_str().unwrap();
    assert_eq!(home.art(&["runs", "export", "last", file]).code(), 0);
    let replay = Home::empty().art(&["--json", "runs", "replay", file]).json();
    assert_eq!(
        (&replay["callsRun"], &replay["difference"]),
        (&json!(2), &Value::Null),
        "{replay}"
    );
}

#[test]
fn an_export_overwrites_a_file_only_with_force() {
    let home = Home::empty();
    home.run("What is 2+2?");
    let file = home.file("run.jsonl", "mine");
    let export = |more: &[&str]| home.art(&[&["runs", "export", "last", file.to_str().unwrap()], more].concat());
    let refused = export(&[]);
    assert_eq!(refused.code(), 1, "{refused}");
    assert!(refused.stderr().contains("already exists"), "{refused}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(export(&["--force"]).code(), 0);
}

#[test]
fn an_exported_run_that_was_changed_is_refused() {
    let home = Home::empty();
    home.run("What is 2+2?");
    let file = home.dir.path().join("run.jsonl");
    home.art(&["runs", "export", "last", file.to_str().unwrap()]);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("2+2", "2+3")).unwrap();
    for command in ["replay", "verify"] {
        let refused = home.art(&["runs", command, file.to_str().unwrap()]);
        assert_eq!(refused.code(), 1, "{refused}");
        assert!(
            refused.stderr().contains("was changed after it was written"),
            "{refused}"
        );
    }
}

#[test]
fn an_export_contains_no_key_and_no_text_of_the_configuration_file() {
    let home = Home::empty();
    home.add("echo", components::ECHO);
    home.file(
        "art.toml",
        "# a comment of the operator\n[providers.compatible]\napi_key_env = \"SECRET_OF_TEST\"\n",
    );
    let provider = Provider::calling("echo", json!({"text": "x"}), "It is x.");
    let args = ["--model", "compatible:m", "--base-url", &provider.base_url, "run", "Go"];
    let ran = home.art_with_environment(&args, &[("SECRET_OF_TEST", "sk-secret-of-test")]);
    assert_eq!(ran.code(), 0, "{ran}");
    let sent = provider.take_requests();
    assert!(sent.iter().any(|request| {
        request
            .headers
            .iter()
            .any(|header| header.contains("sk-secret-of-test"))
    }));
    let file = home.dir.path().join("run.jsonl");
    home.art(&["runs", "export", "last", file.to_str().unwrap()]);
    let text = std::fs::read_to_string(&file).unwrap();
    for secret in ["sk-secret-of-test", "SECRET_OF_TEST", "a comment of the operator"] {
        assert!(!text.contains(secret), "{secret}");
    }
}

#[test]
fn a_journal_whose_bytes_were_changed_in_the_database_is_neither_verified_nor_replayed() {
    let home = Home::new();
    home.run("What is 2+2?").assert_answers(&["4"]);
    let verified = home.art(&["runs", "verify", "last"]);
    assert_eq!(verified.code(), 0, "{verified}");
    assert!(verified.stdout().contains(" are as they were written"), "{verified}");
    // The journal is damaged below, so the replay of all runs when the home is dropped would fail.
    let path = config(home.skip_check_on_drop()).database.value;
    let mut bytes = std::fs::read(&path).unwrap();
    let written = br#"{"type":"tool_called","#;
    let position = bytes
        .windows(written.len())
        .position(|window| window == written)
        .unwrap();
    // Change one bit of the event after its type.
    bytes[position + written.len() + 3] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    for command in ["verify", "replay"] {
        let refused = home.art(&["runs", command, "last"]);
        assert_eq!(refused.code(), 6, "{refused}");
        assert!(refused.stderr().contains("journal"), "{refused}");
    }
}

#[test]
fn the_costs_of_the_steps_of_a_run_add_up_to_those_of_its_summary() {
    let home = Home::new();
    home.run("What is 17.5% of 2340, and what is that divided by 7?");
    let shown = home.art(&["--json", "runs", "show", "last", "--cost"]).json();
    let (costs, metadata) = (&shown["costs"], &shown["run"]["summary"]["metadata"]);
    for (field, pointer) in [
        ("modelCalls", "/llmCalls"),
        ("tokensIn", "/tokens/promptTokens"),
        ("tokensOut", "/tokens/completionTokens"),
        ("toolCalls", "/toolCalls"),
        ("fuel", "/usage/fuel"),
        ("toolTimeUs", "/usage/wallUs"),
    ] {
        let total = metadata.pointer(pointer).and_then(Value::as_u64);
        assert_eq!(costs["total"][field].as_u64(), total, "{field}: {shown}");
        let steps = costs["steps"].as_array().unwrap().iter();
        assert_eq!(
            steps.filter_map(|step| step[field].as_u64()).sum::<u64>(),
            total.unwrap(),
            "{field}"
        );
    }
    assert_eq!(shown["run"]["interrupted"], false);
}

#[test]
fn a_run_whose_host_was_killed_is_marked_as_interrupted_and_can_be_replayed() {
    let (home, provider) = (Home::empty(), Provider::start(|_| Reply::Hang(BEGINNING_OF_PLAN)));
    let mut run = home.start(&["--model", "compatible:m", "--base-url", &provider.base_url, "run", "Go"]);
    provider.next_request();
    run.kill().unwrap();
    run.wait().unwrap();
    let listed = home.art(&["runs", "list"]);
    assert!(listed.stdout().contains("  interrupted  "), "{listed}");
    let shown = home.art(&["runs", "show", "last"]);
    assert!(shown.stdout().contains("status    interrupted\n"), "{shown}");
    assert!(shown.stderr().contains("art runs resume"), "{shown}");
    let replayed = home.art(&["--json", "runs", "replay", "last"]);
    assert_eq!(
        (replayed.code(), &replayed.json()["ended"]),
        (0, &json!(false)),
        "{replayed}"
    );
}
