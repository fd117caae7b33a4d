//! Measures how good the check of plans is, with a corpus of correct plans that call the first-party tools. The check has to find
//! no fault in them, and for nearly all references to outputs it has to find out, before the plan runs, that the value will fit.

use art_core::stream::ModelReply;

use super::*;
use crate::parse;
use crate::plan::items_for_question;
use crate::plan::review::Fit;

/// A plan of the corpus as a model would write it, with the names of the files that are attached to its question.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct CorpusPlan {
    #[serde(default)]
    files: Vec<String>,
    todo_list: Value,
}

/// Minimum number of references to outputs in the corpus of which the check has to know that they fit.
const MIN_KNOWN_TO_FIT: usize = 140;

/// Number of calls that the run may make. No plan of the corpus has as many.
const MAX_CORPUS_CALLS: usize = 64;

fn corpus() -> Vec<CorpusPlan> {
    serde_json::from_str(include_str!("../../../../tests/it/corpus/plans.json")).unwrap()
}

fn first_party_tools() -> Vec<ToolSchema> {
    let snapshot = include_str!("../../../../tests/it/corpus/tools.snap");
    // The header of a snapshot is between two lines of dashes.
    serde_json::from_str(snapshot.splitn(3, "---\n").nth(2).unwrap()).unwrap()
}

/// Returns what the check of the calls of a plan found.
fn check_plan(plan: &CorpusPlan, tools: &[ToolSchema]) -> CallCheck {
    let reply = ModelReply {
        text: json!({"todoList": plan.todo_list}).to_string(),
        ..ModelReply::default()
    };
    let draft = parse::parse_planning(&reply).outcome.unwrap();
    let (no_old_items, no_earlier_questions, created_at) = (&[], &[], 0);
    check_calls(CallCheckInput {
        items: &items_for_question(no_old_items, draft.items.unwrap(), no_earlier_questions, created_at),
        earlier: &[],
        tools,
        disabled: &[],
        files: &plan.files.iter().map(String::as_str).collect(),
        max_calls: MAX_CORPUS_CALLS,
        params: &BTreeMap::new(),
    })
}

#[test]
fn the_check_finds_no_faults_in_the_corpus_and_knows_that_nearly_all_references_fit() {
    let tools = first_party_tools();
    let checks: Vec<CallCheck> = corpus().iter().map(|plan| check_plan(plan, &tools)).collect();
    assert!(checks.iter().all(|check| check.faults.is_empty()));
    let references = checks.iter().flat_map(|check| &check.references);
    let to_outputs = references.filter(|checked| checked.reference.get("$from").is_some());
    let (known_to_fit, at_run_time): (Vec<_>, Vec<_>) = to_outputs.partition(|checked| checked.fit == Fit::Fits);
    let places_at_run_time: Vec<String> = at_run_time
        .iter()
        .map(|checked| format!("{}.{}", checked.step, checked.argument))
        .collect();
    // These values depend on the data: a cell of a table, a match in a text, or the output of a filter.
    let dependent_on_data = [
        "percent.expression",
        "left.expression",
        "time.text",
        "number.text",
        "numbers.text",
        "days.start",
        "length.text",
    ];
    assert_eq!(places_at_run_time, dependent_on_data);
    assert!(
        known_to_fit.len() >= MIN_KNOWN_TO_FIT,
        "{} references are known to fit",
        known_to_fit.len()
    );
    assert!(
        at_run_time.len() * 20 <= known_to_fit.len(),
        "for each reference that is checked at run time, fewer than 20 are known to fit"
    );
}

/// Returns the tools between which the plan passes outputs: pairs of the tool that gives an output and the tool that takes it.
fn tool_pairs(plan: &CorpusPlan) -> BTreeSet<(String, String)> {
    let steps = plan.todo_list.as_array().into_iter().flatten();
    let calls = steps.flat_map(|step| {
        let calls = step["toolCalls"].as_array().into_iter().flatten();
        calls.map(|call| (step["id"].as_str().unwrap(), call))
    });
    let calls: Vec<(&str, &Value)> = calls.collect();
    let tool_name = |call: &Value| call["toolName"].as_str().unwrap().to_owned();
    let mut pairs = BTreeSet::new();
    for (_, call) in &calls {
        visit_output_references(&call["arguments"], &mut |reference| {
            let source = calls.iter().find(|(id, _)| *id == reference.step);
            pairs.extend(source.map(|(_, source)| (tool_name(source), tool_name(call))));
        });
    }
    pairs
}

#[test]
fn the_corpus_passes_outputs_from_every_first_party_tool_to_every_other() {
    let found: BTreeSet<(String, String)> = corpus().iter().flat_map(tool_pairs).collect();
    let names: Vec<String> = first_party_tools().into_iter().map(|tool| tool.name).collect();
    let pairs = names
        .iter()
        .flat_map(|one| names.iter().map(move |other| (one.clone(), other.clone())));
    let missing: Vec<_> = pairs.filter(|pair| pair.0 != pair.1 && !found.contains(pair)).collect();
    assert_eq!(missing, []);
}
