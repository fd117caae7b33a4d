//! Questions with one wrong letter, measured over the evaluation set.

use art_model::eval::{EvalCase, parse_cases};
use art_model::{Model, open};
use serde_json::json;

use crate::{prompts, tools};

/// `word` with two letters swapped, one left out, one wrong and one doubled.
fn misspelled(word: &str) -> [String; 4] {
    let at = word.len() / 2;
    let (head, tail) = word.split_at(at);
    let (first, second) = (&tail[..1], &tail[1..2]);
    [
        format!("{head}{second}{first}{}", &tail[2..]),
        format!("{head}{}", &tail[1..]),
        format!("{head}q{}", &tail[1..]),
        format!("{head}{first}{tail}"),
    ]
}

fn planned(model: &dyn Model, query: &str, case: &EvalCase) -> Vec<String> {
    let plan = prompts::plan(model, query, &case.tools, &json!([]));
    let items = plan["todoList"].as_array().unwrap().iter();
    items
        .map(|item| item["requiredTools"][0].as_str().unwrap().to_owned())
        .collect()
}

fn cases() -> Vec<EvalCase> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/eval/tools.jsonl");
    parse_cases(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The words of the query that one of its tools says too, each misspelled in four ways.
fn wrong_queries(case: &EvalCase) -> Vec<String> {
    let said = case
        .tools
        .iter()
        .map(|tool| format!("{} {}", tool.name, tool.description))
        .collect::<String>()
        .to_lowercase();
    let words = case.query.split(|c: char| !c.is_ascii_alphabetic());
    let telling = words.filter(|word| word.len() >= 6 && said.contains(&word.to_lowercase()));
    telling
        .flat_map(|word| misspelled(word).map(|wrong| case.query.replacen(word, &wrong, 1)))
        .collect()
}

#[test]
fn a_typo_never_routes_to_a_wrong_tool_and_most_still_route() {
    let model = open("embedded").unwrap();
    let (mut right, mut all, mut wrong) = (0, 0, Vec::new());
    for case in cases() {
        let expected: Vec<&String> = case.expected.iter().map(|call| &call.tool_name).collect();
        for query in wrong_queries(&case) {
            let found = planned(model.as_ref(), &query, &case);
            all += 1;
            right += usize::from(found.iter().collect::<Vec<_>>() == expected);
            if found.iter().any(|tool| !expected.contains(&tool)) {
                wrong.push(format!("{query} {found:?}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(all > 100 && right * 100 >= all * 90, "{right} of {all}");
}

#[test]
fn a_word_that_only_looks_like_a_tool_s_word_is_left_alone() {
    let model = open("embedded").unwrap();
    for query in [
        "Find me a concert in Oslo",
        "Which convent is 5 km from Rome?",
        "What is a good measurer?",
    ] {
        let plan = prompts::plan(model.as_ref(), query, &tools::all(), &json!([]));
        assert_eq!(plan["todoList"], json!([]), "{query}");
    }
}

#[test]
fn politeness_changes_nothing() {
    let model = open("embedded").unwrap();
    for query in [
        "Convert 5 km to miles",
        "hey, could you please convert 5 km to miles?",
        "Hi there! I was wondering if you could maybe convert 5 km to miles for me, thanks a lot",
        "um, sorry to bother you, convert 5 km to miles pls",
        "Convrt 5 km to miles",
    ] {
        let calls = prompts::calls(model.as_ref(), query, &tools::all(), &json!([]));
        let calls: Vec<_> = calls
            .into_iter()
            .map(|call| json!({call.tool_name: call.arguments}))
            .collect();
        assert_eq!(
            calls,
            [json!({"unit_convert": {"value": 5, "from": "km", "to": "miles"}})],
            "{query}"
        );
    }
}
