//! Good plans over the first-party tools, and mutants: faulty plans that a program makes from the good ones. Every good plan
//! runs as it is. Every mutant is refused before anything runs, and the refusal names the place of its fault.

mod mutants;

use std::collections::{BTreeMap, BTreeSet};

use art_agent::{PlanResources, Run, RunEvent, RunStart, SavedPlan, ToolCall};
use art_core::agent::QueryAttachment;
use art_core::pes::TodoItemStatus;
use art_core::stream::Phase;
use art_core::tool::ToolSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::harness::{plan, start};
use mutants::{FaultKind, Mutant, mutants};

/// A question with a plan as a model would write it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GoodPlan {
    question: String,
    /// Names of the attachments of the question.
    #[serde(default)]
    files: Vec<String>,
    todo_list: Value,
}

fn good_plans() -> Vec<GoodPlan> {
    serde_json::from_str(include_str!("corpus/plans.json")).unwrap()
}

/// Returns the first-party tools with the schemas that `art tool list` shows. The test `tests/it/tool_schemas.rs` of the
/// workspace compares the stored schemas with the tools.
fn first_party_tools() -> Vec<ToolSchema> {
    let snapshot = include_str!("corpus/tools.snap");
    // The JSON follows the header of the snapshot, which is between two lines `---`.
    let json = snapshot.splitn(3, "---\n").nth(2).unwrap();
    serde_json::from_str(json).unwrap()
}

/// Returns the start of a run for the question of `good`.
fn start_for(good: &GoodPlan) -> RunStart {
    let mut start = start(&good.question);
    start.tools = first_party_tools();
    let file = |name: &String| QueryAttachment {
        name: name.clone(),
        media_type: "text/plain".to_owned(),
        text: "some text".to_owned(),
        base64: None,
        keep: false,
    };
    start.props.attachments = good.files.iter().map(file).collect();
    start
}

fn begin(start: RunStart) -> Run {
    let start = Box::new(start);
    Run::start(&RunEvent::Started { at: 1, start }).unwrap().0
}

/// What a run does with a plan.
#[derive(Debug)]
enum Reaction {
    /// The run carries out the plan, and makes these calls first.
    Adopted(Vec<ToolCall>),
    /// The plan goes back to the model with this message.
    SentBack(String),
}

/// Gives `run` the plan `list`, and returns what the run does with this plan.
fn propose(mut run: Run, list: &Value) -> Reaction {
    let digest = |_: &_| String::new();
    let action = run.ask_models(1, digest).calls[0].id;
    let reply = plan(list).unwrap();
    run.apply(&RunEvent::ModelReplied { at: 2, action, reply }).unwrap();
    let model_calls = run.ask_models(2, digest).calls;
    let planning = model_calls
        .into_iter()
        .find(|call| call.request.phase == Phase::Planning);
    let Some(planning) = planning else {
        let statuses = run.state().todo_list.iter().map(|item| item.status);
        assert!(statuses.into_iter().all(|status| status != TodoItemStatus::Failed));
        return Reaction::Adopted(run.ready_calls());
    };
    assert_eq!(run.ready_calls(), [], "nothing runs while the plan is corrected");
    Reaction::SentBack(planning.request.prompt.0.last().unwrap().content_text().to_owned())
}

/// Returns the plan with the arguments of its calls as JSON texts. Some providers accept arguments only in this form.
fn with_text_arguments(list: &Value) -> Value {
    let mut list = list.clone();
    let steps = list.as_array_mut().unwrap().iter_mut();
    let calls = steps.filter_map(|step| step.get_mut("toolCalls")?.as_array_mut());
    for call in calls.flatten() {
        call["arguments"] = json!(call["arguments"].to_string());
    }
    list
}

#[test]
fn every_good_plan_is_carried_out_at_once() {
    let plans = good_plans();
    assert!(plans.len() >= 60, "{} plans", plans.len());
    for good in &plans {
        for list in [&good.todo_list, &with_text_arguments(&good.todo_list)] {
            let reaction = propose(begin(start_for(good)), list);
            let is_adopted = matches!(&reaction, Reaction::Adopted(calls) if !calls.is_empty());
            assert!(is_adopted, "{}: {reaction:?}", good.question);
        }
    }
}

/// Returns whether this line of a refusal names the place of the fault of `mutant` and has the words for the kind of this fault.
fn names_fault(line: &str, mutant: &Mutant) -> bool {
    line.contains(&format!("`{}`", mutant.place)) && line.contains(mutant.kind.words_of_refusal())
}

/// Returns why `mutant` was not refused as it should be, or `None` if it was.
fn refusal_problem(run: Run, mutant: &Mutant) -> Option<String> {
    let name = format!("{:?} at {}", mutant.kind, mutant.place);
    match propose(run, &mutant.todo_list) {
        Reaction::Adopted(_) => Some(format!("{name}: adopted\n  {}", mutant.todo_list)),
        Reaction::SentBack(message) if message.lines().any(|line| names_fault(line, mutant)) => None,
        Reaction::SentBack(message) => Some(format!("{name}: another place was named: {message}")),
    }
}

/// Returns all faults of a saved plan with the steps `list`, one in each line.
fn faults_of_saved_plan(list: &Value, start: &RunStart) -> String {
    let files: BTreeSet<&str> = start.props.attachments.iter().map(|file| file.name.as_str()).collect();
    let saved = json!({"version": SavedPlan::VERSION, "question": "q", "files": &files, "steps": list});
    let plan = match SavedPlan::parse(&saved.to_string()) {
        Ok(plan) => plan,
        Err(problems) => return problems.join("\n"),
    };
    let check = plan.check(&PlanResources {
        tools: &start.tools,
        disabled: &start.disabled_tools,
        thread: "t",
        earlier: &[],
        files: &files,
        max_items: usize::try_from(start.config.max_items).unwrap(),
        max_calls: usize::try_from(start.config.max_tool_calls).unwrap(),
        plans_only: false,
    });
    let texts: Vec<String> = check.faults.into_iter().map(|fault| fault.text).collect();
    texts.join("\n")
}

#[test]
fn the_check_of_a_saved_plan_accepts_good_plans_and_names_the_place_of_every_fault() {
    let tools = first_party_tools();
    for good in &good_plans() {
        assert_eq!(
            faults_of_saved_plan(&good.todo_list, &start_for(good)),
            "",
            "{}",
            good.question
        );
        for mutant in mutants(&good.todo_list, &tools) {
            let mut start = start_for(good);
            // The fault of some mutants is in the start of the run, such as a disabled tool.
            mutant.change_start(&mut start);
            let faults = faults_of_saved_plan(&mutant.todo_list, &start);
            assert!(
                faults.lines().any(|line| names_fault(line, &mutant)),
                "{mutant:?}: {faults}"
            );
        }
    }
}

#[test]
fn every_mutant_is_refused_before_anything_runs_and_the_place_of_its_fault_is_named() {
    let tools = first_party_tools();
    let mut counts: BTreeMap<FaultKind, usize> = BTreeMap::new();
    let mut problems = Vec::new();
    for good in &good_plans() {
        let unchanged_run = begin(start_for(good));
        for mutant in mutants(&good.todo_list, &tools) {
            *counts.entry(mutant.kind).or_default() += 1;
            let run = if mutant.has_fault_in_start() {
                let mut start = start_for(good);
                mutant.change_start(&mut start);
                begin(start)
            } else {
                unchanged_run.clone()
            };
            problems.extend(refusal_problem(run, &mutant));
        }
    }
    println!("{counts:?}");
    assert_eq!(problems.len(), 0, "{}", problems.join("\n"));
    assert!(counts.values().sum::<usize>() >= 300, "{counts:?}");
    let rare_kinds: Vec<_> = FaultKind::ALL
        .iter()
        .filter(|kind| counts.get(kind).is_none_or(|count| *count < 10))
        .collect();
    assert!(
        rare_kinds.is_empty(),
        "fewer than ten mutants of {rare_kinds:?}: {counts:?}"
    );
}
