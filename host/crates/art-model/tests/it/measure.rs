//! Measures the embedded model on evaluation sets.

use art_model::eval::{EvalCase, EvalReport, evaluate, parse_cases};
use art_model::open;
use futures_util::FutureExt;
use serde_json::json;

use crate::prompts;

fn measure(text: &str) -> EvalReport {
    let model = open("embedded").unwrap();
    let cases = parse_cases(text).unwrap();
    let run = evaluate(&cases, async |case: &EvalCase| {
        Ok(prompts::calls(model.as_ref(), &case.query, &case.tools, &json!([])))
    });
    run.now_or_never().unwrap()
}

#[test]
fn our_evaluation_set_stays_above_its_marks() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/eval/tools.jsonl");
    let report = measure(&std::fs::read_to_string(path).unwrap());
    assert_eq!((report.cases, report.unanswerable, report.invented), (91, 32, 0));
    assert!(
        report.tools_right * 100 >= report.expected_calls * 95,
        "tools right: {}",
        report.tools_right
    );
    assert!(
        report.calls_right * 100 >= report.expected_calls * 95,
        "calls right: {}",
        report.calls_right
    );
}

/// `ART_EVAL=FILE ART_EVAL_OUT=REPORT cargo test -p art-model --test it -- --ignored --nocapture` measures any file.
#[test]
#[ignore = "needs a file named by `ART_EVAL`"]
fn a_file_can_be_measured() {
    let report = measure(&std::fs::read_to_string(std::env::var("ART_EVAL").unwrap()).unwrap());
    std::fs::write(
        std::env::var("ART_EVAL_OUT").unwrap(),
        serde_json::to_string(&report).unwrap(),
    )
    .unwrap();
}

/// `cargo test --release -p art-model --test it -- --ignored --nocapture speed` prints how long a plan over 50 tools takes.
#[test]
#[ignore = "measures time"]
fn speed_over_fifty_tools() {
    let tools: Vec<_> = (0..9).flat_map(|_| crate::tools::all()).take(50).collect();
    let model = open("embedded").unwrap();
    let request = prompts::planning(
        "What is 17.5% of 2340, and what is that divided by 7?",
        &tools,
        &json!([]),
        None,
    );
    let requests = vec![request; 100];
    let start = std::time::Instant::now();
    for request in requests {
        prompts::text(model.as_ref(), request);
    }
    let micros = start.elapsed().as_micros() / 100;
    assert!(micros < 100_000, "{micros} microseconds for one plan");
    std::fs::write(std::env::temp_dir().join("art-model-speed"), format!("{micros} us")).unwrap();
}
