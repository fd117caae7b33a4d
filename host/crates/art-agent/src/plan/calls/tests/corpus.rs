//! Measures how many references of good plans over the first-party tools the check knows to fit before the plans run.

use art_core::stream::ModelReply;

use super::*;
use crate::parse;
use crate::plan::plan_question;
use crate::plan::review::Fit;

/// A plan as a model would write it, with the names of the files of its question.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct GoodPlan {
    #[serde(default)]
    files: Vec<String>,
    todo_list: Value,
}

fn first_party_tools() -> Vec<ToolSchema> {
    let snapshot = include_str!("../../../../tests/it/corpus/tools.snap");
    serde_json::from_str(snapshot.splitn(3, "---\n").nth(2).unwrap()).unwrap()
}

/// Returns what the check of the calls of a plan found.
fn check_plan(good: &GoodPlan, tools: &[ToolSchema]) -> CallCheck {
    let reply = ModelReply {
        text: json!({"todoList": good.todo_list}).to_string(),
        ..ModelReply::default()
    };
    let draft = parse::parse_planning(&reply).outcome.unwrap();
    check_calls(Surroundings {
        items: &plan_question(&[], draft.items.unwrap(), &[], 0),
        earlier: &[],
        tools,
        disabled: &[],
        files: &good.files.iter().map(String::as_str).collect(),
        max_calls: 64,
        params: &BTreeMap::new(),
    })
}

#[test]
fn nearly_all_references_of_good_plans_are_known_to_fit() {
    let (tools, plans) = (
        first_party_tools(),
        include_str!("../../../../tests/it/corpus/plans.json"),
    );
    let plans: Vec<GoodPlan> = serde_json::from_str(plans).unwrap();
    let found: Vec<CallCheck> = plans.iter().map(|good| check_plan(good, &tools)).collect();
    assert!(found.iter().all(|found| found.faults.is_empty()));
    let references = found.iter().flat_map(|found| &found.references);
    let outputs = references.filter(|checked| checked.reference.get("$from").is_some());
    let (known, at_run_time): (Vec<_>, Vec<_>) = outputs.partition(|checked| checked.fit == Fit::Fits);
    // These values depend on the data: a cell of a table, a match in a text, or the output of a filter.
    let places: Vec<String> = at_run_time
        .iter()
        .map(|checked| format!("{}.{}", checked.step, checked.argument))
        .collect();
    let expected = [
        "percent.expression",
        "left.expression",
        "time.text",
        "number.text",
        "numbers.text",
        "days.start",
        "length.text",
    ];
    assert_eq!(places, expected);
    assert!(known.len() >= 140, "{} references are known to fit", known.len());
    assert!(
        at_run_time.len() * 20 <= known.len(),
        "fewer than 95 % of the references are known to fit"
    );
}

/// Returns a pair of tools, producer and consumer, for each reference to an output in a plan.
fn tool_pairs(good: &GoodPlan) -> BTreeSet<(String, String)> {
    let steps = good.todo_list.as_array().into_iter().flatten();
    let calls = steps.flat_map(|step| {
        let calls = step["toolCalls"].as_array().into_iter().flatten();
        calls.map(|call| (step["id"].as_str().unwrap(), call))
    });
    let calls: Vec<(&str, &Value)> = calls.collect();
    let tool = |call: &Value| call["toolName"].as_str().unwrap().to_owned();
    let mut pairs = BTreeSet::new();
    for (_, call) in &calls {
        visit_origins(&call["arguments"], &mut |origin| {
            let producer = calls.iter().find(|(id, _)| *id == origin.step);
            pairs.extend(producer.map(|(_, producer)| (tool(producer), tool(call))));
        });
    }
    pairs
}

#[test]
fn the_good_plans_pass_outputs_from_every_first_party_tool_to_every_other() {
    let plans: Vec<GoodPlan> = serde_json::from_str(include_str!("../../../../tests/it/corpus/plans.json")).unwrap();
    let found: BTreeSet<(String, String)> = plans.iter().flat_map(tool_pairs).collect();
    let names: Vec<String> = first_party_tools().into_iter().map(|tool| tool.name).collect();
    let pairs = names
        .iter()
        .flat_map(|one| names.iter().map(move |other| (one.clone(), other.clone())));
    let missing: Vec<_> = pairs.filter(|pair| pair.0 != pair.1 && !found.contains(pair)).collect();
    assert_eq!(missing, []);
}
