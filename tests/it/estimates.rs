//! Estimates of plans come from the recorded calls of earlier runs. A plan whose estimate exceeds a budget is refused before any
//! tool runs.

use serde_json::{Value, json};

use crate::home::Home;
use crate::program::CommandOutput;
use crate::provider::{Provider, Reply, Request, plan_text};

/// Returns whether the model is asked for the answer. If not, it is asked for the plan.
fn asks_for_answer(request: &Request) -> bool {
    request.body.to_string().contains("Write the answer to the query now.")
}

/// Starts a provider whose plan has one call. The output of the call is much larger than its input.
fn provider_with_large_output() -> Provider {
    let arguments = json!({"text": "a".repeat(100), "pattern": "a", "limit": 100});
    let call = json!({"toolName": "regex_extract", "arguments": arguments});
    let steps = json!([{"id": "step_1", "description": "Find", "toolCalls": [call]}]);
    Provider::start(move |request| {
        let text = if asks_for_answer(request) {
            "Many.".to_owned()
        } else {
            plan_text(&steps)
        };
        Reply::Text(vec![text])
    })
}

fn ask(home: &Home, provider: &Provider) -> CommandOutput {
    let model = ["--json", "--model", "compatible:m", "--base-url", &provider.base_url];
    home.art(&[&model[..], &["run", "Find the letters"]].concat())
}

#[test]
fn the_estimates_of_steps_and_answers_come_from_earlier_runs() {
    let provider = Provider::calling("calculator", json!({"expression": "6 * 7"}), "It is 42.");
    let home = Home::new();
    let model = ["--model", "compatible:m", "--base-url", &provider.base_url];
    let art = |args: &[&str]| home.art(&[&model[..], args].concat());
    let estimate = || art(&["--json", "plan", "Count it"]).json()["check"]["estimate"].clone();
    let before = estimate();
    // Nothing is recorded, so the estimate of the step is its limit: 5 model calls, the default of `maxIterations`.
    assert_eq!(before["steps"][0]["basis"], json!({"source": "limits"}), "{before}");
    assert_eq!(
        before["steps"][0]["modelCalls"],
        json!({"median": 5, "p95": 5}),
        "{before}"
    );
    assert_eq!(before["answer"]["basis"], json!({"source": "assumption"}), "{before}");
    let ran = art(&["--json", "run", "Count it"]);
    assert_eq!(ran.code(), 0, "{ran}");
    let after = estimate();
    assert_eq!(
        after["steps"][0]["basis"],
        json!({"source": "records", "count": 1}),
        "{after}"
    );
    assert_eq!(
        after["steps"][0]["modelCalls"],
        json!({"median": 2, "p95": 2}),
        "{after}"
    );
    assert_eq!(
        after["answer"]["basis"],
        json!({"source": "records", "count": 1}),
        "{after}"
    );
    assert_eq!(after["model"]["modelCalls"], json!({"median": 3, "p95": 3}), "{after}");
    // The provider counts 1,050 tokens for each request, 50 of them for the reply.
    assert_eq!(
        after["steps"][0]["tokens"],
        json!({"median": 2_100, "p95": 2_100}),
        "{after}"
    );
    assert_eq!(
        after["answer"]["outputTokens"],
        json!({"median": 50, "p95": 50}),
        "{after}"
    );
    let shown = art(&["plan", "Count it"]).stdout();
    let step = shown.lines().find(|line| line.starts_with("step_1    ")).unwrap();
    // The row of the step: two model calls, estimated from one recorded step.
    assert!(step.ends_with("1 step") && step.contains("  2  "), "{shown}");
    assert!(shown.contains(" out (as 1 answer had)"), "{shown}");
    assert!(shown.contains("all model calls: 3, with "), "{shown}");
}

/// Returns what the host had recorded about the tool `regex_extract` when the run of a report started.
fn tool_record(home: &Home, report: &Value) -> Value {
    let run = report.get("traceId").and_then(Value::as_str).unwrap();
    let shown = home.art(&["--json", "runs", "show", run]).json();
    let pointer = "/journal/0/payload/start/records/regex_extract";
    shown.pointer(pointer).unwrap().clone()
}

#[test]
fn a_run_starts_with_the_records_of_the_calls_of_earlier_runs() {
    let (home, provider) = (Home::new(), provider_with_large_output());
    let first = ask(&home, &provider);
    assert_eq!(first.code(), 0, "{first}");
    let first = first.json();
    let call = &first["calls"][0];
    let before_first_call = tool_record(&home, &first);
    // `sizes` contains the recorded calls, grouped by the size of their input.
    assert_eq!(
        before_first_call.get("sizes"),
        None,
        "nothing is recorded before the first call"
    );
    assert_eq!(before_first_call["limits"]["fuel"], 2_000_000_000_u64);
    let before_second_call = tool_record(&home, &ask(&home, &provider).json());
    assert_eq!(before_second_call["digest"], call["toolDigest"]);
    assert_eq!(before_second_call["digest"].as_str().unwrap().len(), 64);
    let [group] = &before_second_call["sizes"].as_array().unwrap()[..] else {
        panic!("{before_second_call}")
    };
    assert_eq!(group["calls"], 1);
    for field in ["fuel", "wallUs", "bytesOut"] {
        assert_eq!(group["usage"][field]["p95"], call["usage"][field], "{field}");
    }
}

// A plan that exceeds a budget (contract M12).
#[test]
fn a_plan_over_the_budget_is_refused_before_any_tool_runs() {
    let (home, provider) = (Home::new(), provider_with_large_output());
    home.file("art.toml", "[execution]\nmaxTokens = 3000\nplanRepairs = 0\n");
    let allowed = ask(&home, &provider);
    assert_eq!(
        allowed.code(),
        0,
        "without records, nothing is known about the output: {allowed}"
    );
    // One call; two requests, for the plan and for the answer.
    assert_eq!(
        (
            allowed.json()["calls"].as_array().unwrap().len(),
            provider.take_requests().len()
        ),
        (1, 2)
    );
    let refused = ask(&home, &provider);
    // Exit code 3: a limit was hit. Since the first run there was one request, for the plan.
    assert_eq!((refused.code(), provider.take_requests().len()), (3, 1), "{refused}");
    let report = refused.json();
    assert_eq!((&report["calls"], &report["steps"]), (&json!([]), &json!([])));
    let limit = report["metadata"]["limitsHit"][0].as_str().unwrap();
    assert!(
        limit.contains("tokens (95th percentile), the run used 1050, and its maximum is 3000"),
        "{limit}"
    );
}
