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
    assert_eq!((report.cases, report.unanswerable, report.invented), (60, 20, 0));
    assert!(
        report.tools_right * 100 >= report.expected_calls * 85,
        "tools right: {}",
        report.tools_right
    );
    assert!(
        report.calls_right * 100 >= report.expected_calls * 60,
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
