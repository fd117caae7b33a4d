//! Finds the steps of a plan that could never be carried out, before any work is done, for example because they depend on each
//! other in a circle (contract B11) or require a tool that does not exist (contract B13). The planned calls of the
//! steps are checked elsewhere, by [`check_calls`](super::calls::check_calls).

use std::collections::{BTreeMap, BTreeSet};

use art_core::pes::{EarlierQuestion, TodoItem, TodoItemStatus, ToolValidationMode};
use art_core::tool::ToolSchema;

use super::calls::{Fault, source_steps};
use super::earlier::find_earlier_step;
use super::merge::{has_ended, repeats_earlier};
use crate::parse::{DraftItem, MAX_PROBLEMS, MAX_TODO_ITEMS};

/// Returns what keeps items from being carried out, in words for the model. Items may depend on steps of `earlier` questions.
/// Each fault belongs to one item; if the same is wrong with several items, each has a fault.
pub(crate) fn check_steps(items: &[TodoItem], tools: &[ToolSchema], earlier: &[EarlierQuestion]) -> Vec<Fault> {
    let mut faults = Vec::new();
    faults.extend(repeated_id_faults(items));
    faults.extend(reserved_id_faults(items, earlier));
    faults.extend(unknown_dependency_faults(items, earlier));
    faults.extend(cycle_faults(items));
    faults.extend(missing_tool_faults(items, tools));
    faults
}

/// Returns the texts of `faults`, without repetitions.
pub(crate) fn fault_texts(faults: &[Fault]) -> Vec<String> {
    let mut texts = Vec::new();
    for fault in faults {
        if !texts.contains(&fault.text) {
            texts.push(fault.text.clone());
        }
    }
    texts
}

/// Returns the problem of a plan with more items than any plan may have, or `None` for any other plan.
pub(crate) fn item_count_problem(items: &[TodoItem]) -> Option<String> {
    let count = items.len();
    (count > MAX_TODO_ITEMS).then(|| format!("the plan has {count} items, more than {MAX_TODO_ITEMS}"))
}

/// Returns a fault for each pending item after the first `max_items`, which is the number of items that the run may start.
pub(crate) fn excess_step_faults(items: &[TodoItem], max_items: usize) -> Vec<Fault> {
    let pending: Vec<&TodoItem> = items
        .iter()
        .filter(|item| item.status == TodoItemStatus::Pending)
        .collect();
    let text = format!(
        "the plan has too many open steps: {}, and the run may start only {max_items} (`maxItems`); use fewer steps, each with more \
         calls",
        pending.len()
    );
    let excess = pending.into_iter().skip(max_items);
    excess.map(|item| Fault::new(item, &text)).collect()
}

/// Returns a fault for each step that its planned calls cannot complete, so that a model would have to carry it out: the step has
/// no calls, or it lacks a call of a required tool and its tool validation mode is strict. These are faults only if the model of
/// the run can plan but cannot carry out steps.
pub(crate) fn left_to_model_faults(items: &[TodoItem]) -> Vec<Fault> {
    let fault = |item: &TodoItem| {
        let strict = item.tool_validation_mode.unwrap_or_default() == ToolValidationMode::Strict;
        let missing = item
            .required_tools
            .iter()
            .find(|tool| strict && !calls_tool(item, tool));
        let reason = match missing {
            _ if item.tool_calls.is_empty() => "it has no calls".to_owned(),
            Some(tool) => format!("it requires the tool `{tool}`, which none of its calls names"),
            None => return None,
        };
        let text = format!("`{}`: {reason}, and the model in use cannot carry out a step", item.id);
        Some(Fault::new(item, &text))
    };
    unfinished(items).filter_map(fault).collect()
}

/// Gives a new identifier to each item of a draft whose identifier is taken: by an item before it, or by a step of an earlier
/// question. An item that only repeats the result of such a step keeps the identifier. New identifiers differ from those of
/// `current`, the items of the plan that the draft changes. Returns a fault for each item that got a new identifier.
pub(crate) fn give_unique_ids(
    items: &mut [DraftItem],
    current: &[TodoItem],
    earlier: &[EarlierQuestion],
) -> Vec<Fault> {
    let current = current.iter().map(|item| item.id.clone());
    let mut taken: BTreeSet<String> = items.iter().map(|item| item.id.clone()).chain(current).collect();
    let (mut seen, mut faults) = (BTreeSet::new(), Vec::new());
    for item in items.iter_mut().filter(|item| !repeats_earlier(earlier, item)) {
        if seen.insert(item.id.clone()) && find_earlier_step(earlier, &item.id).is_none() {
            continue;
        }
        let mut free_ids = (2..)
            .map(|number: u32| format!("{}_{number}", item.id))
            .filter(|id| !taken.contains(id) && find_earlier_step(earlier, id).is_none());
        let Some(id) = free_ids.next() else { continue };
        let text = format!("its id `{}` is the name of another step or result", item.id);
        taken.insert(id.clone());
        item.id.clone_from(&id);
        faults.push(Fault { step: id, text });
    }
    faults
}

/// Returns the items that have not ended. Items that have ended are not checked, because their tools and dependencies may no
/// longer exist.
fn unfinished(items: &[TodoItem]) -> impl Iterator<Item = &TodoItem> {
    items.iter().filter(|item| !has_ended(item.status))
}

fn repeated_id_faults(items: &[TodoItem]) -> Vec<Fault> {
    let mut seen = BTreeSet::new();
    let repeated = items.iter().filter(|item| !seen.insert(item.id.as_str()));
    repeated
        .filter(|item| !has_ended(item.status))
        .take(MAX_PROBLEMS)
        .map(|item| {
            Fault::new(
                item,
                &format!("two items have the id `{}`; ids have to be unique", item.id),
            )
        })
        .collect()
}

/// Reports items with the identifier of a step of an earlier question. A reference with this identifier could mean either of the
/// two.
fn reserved_id_faults(items: &[TodoItem], earlier: &[EarlierQuestion]) -> Vec<Fault> {
    let reserved = unfinished(items).filter(|item| find_earlier_step(earlier, &item.id).is_some());
    reserved
        .take(MAX_PROBLEMS)
        .map(|item| {
            let text = format!(
                "the id `{}` names a result of an earlier question; give the step another id",
                item.id
            );
            Fault::new(item, &text)
        })
        .collect()
}

/// Reports dependencies on steps that do not exist, except for steps from which a planned call of the item takes an output: these
/// are reported by the check of the calls.
fn unknown_dependency_faults(items: &[TodoItem], earlier: &[EarlierQuestion]) -> Vec<Fault> {
    let ids: BTreeSet<_> = items.iter().map(|item| item.id.as_str()).collect();
    let is_known = |id: &str| ids.contains(id) || find_earlier_step(earlier, id).is_some();
    let pairs = unfinished(items).flat_map(|item| item.dependencies.iter().map(move |dependency| (item, dependency)));
    pairs
        .filter(|(item, dependency)| !is_known(dependency) && !takes_from(item, dependency))
        .take(MAX_PROBLEMS)
        .map(|(item, dependency)| {
            let text = format!("item `{}` depends on `{dependency}`, which is not in the plan", item.id);
            Fault::new(item, &text)
        })
        .collect()
}

/// Returns whether a planned call of `item` takes an output of `step`.
fn takes_from(item: &TodoItem, step: &str) -> bool {
    item.tool_calls.iter().any(|call| source_steps(call).contains(step))
}

/// Returns whether a planned call of `item` calls `tool`.
fn calls_tool(item: &TodoItem, tool: &str) -> bool {
    item.tool_calls.iter().any(|call| call.tool_name == tool)
}

/// Reports required tools that do not exist, except for tools that a planned call of the item names: these are reported by the
/// check of the calls.
fn missing_tool_faults(items: &[TodoItem], tools: &[ToolSchema]) -> Vec<Fault> {
    let names: Vec<_> = tools.iter().map(|tool| format!("`{}`", tool.name)).collect();
    let available = if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    };
    let pairs = unfinished(items).flat_map(|item| item.required_tools.iter().map(move |tool| (item, tool)));
    pairs
        .filter(|(item, name)| !tools.iter().any(|tool| tool.name == **name) && !calls_tool(item, name))
        .take(MAX_PROBLEMS)
        .map(|(item, name)| {
            let text = format!(
                "item `{}` requires the tool `{name}`, which is not available; available: {available}",
                item.id
            );
            Fault::new(item, &text)
        })
        .collect()
}

/// Returns a fault for each item of one cycle of dependencies, if there is any cycle. The faults have the same text, which lists
/// all items of the cycle.
fn cycle_faults(items: &[TodoItem]) -> Vec<Fault> {
    let graph: BTreeMap<&str, &[String]> = unfinished(items)
        .map(|item| (item.id.as_str(), item.dependencies.as_slice()))
        .collect();
    let mut visited = BTreeSet::new();
    let mut starts = graph.keys();
    let cycle = starts.find_map(|start| find_cycle(start, &graph, &mut Vec::new(), &mut visited));
    let Some(cycle) = cycle else { return Vec::new() };
    let path: Vec<_> = cycle.iter().map(|id| format!("`{id}`")).collect();
    let text = format!("the dependencies go in a circle: {}", path.join(" -> "));
    let steps = cycle.iter().skip(1);
    steps
        .map(|id| Fault {
            step: (*id).to_owned(),
            text: text.clone(),
        })
        .collect()
}

/// Searches for a cycle of dependencies, depth first from `id`. Returns the items of the cycle, with the first one repeated at
/// the end. `path` leads to `id`. The depth is bounded by the number of items.
fn find_cycle<'a>(
    id: &'a str,
    graph: &BTreeMap<&'a str, &'a [String]>,
    path: &mut Vec<&'a str>,
    visited: &mut BTreeSet<&'a str>,
) -> Option<Vec<&'a str>> {
    if let Some(at) = path.iter().position(|other| *other == id) {
        return Some(path.iter().skip(at).chain([&id]).copied().collect());
    }
    if !visited.insert(id) {
        return None;
    }
    path.push(id);
    let mut dependencies = graph.get(id).into_iter().flat_map(|ids| ids.iter());
    let cycle = dependencies.find_map(|dependency| find_cycle(dependency, graph, path, visited));
    path.pop();
    cycle
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::item;
    use art_core::pes::PlannedCall;

    fn tool(name: &str) -> ToolSchema {
        serde_json::from_value(serde_json::json!({"name": name, "description": "", "inputSchema": {}})).unwrap()
    }

    /// Returns the texts of the faults that [`check_steps`] finds.
    fn step_fault_texts(items: &[TodoItem], tools: &[ToolSchema], earlier: &[EarlierQuestion]) -> Vec<String> {
        fault_texts(&check_steps(items, tools, earlier))
    }

    #[test]
    fn a_plan_that_can_be_carried_out_has_no_faults() {
        let mut last = item("b", &["a"]);
        last.required_tools = vec!["calculator".to_owned()];
        assert_eq!(
            step_fault_texts(&[item("a", &[]), last], &[tool("calculator")], &[]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn only_pending_steps_count_towards_the_number_of_items_that_the_run_may_start() {
        let mut completed = item("a", &[]);
        completed.status = TodoItemStatus::Completed;
        let items = [completed, item("b", &[]), item("c", &[])];
        assert_eq!(excess_step_faults(&items, 2), []);
        let faults = excess_step_faults(&items, 1);
        assert_eq!((faults.len(), faults[0].step.as_str()), (1, "c"));
        assert_eq!(
            faults[0].text,
            "the plan has too many open steps: 2, and the run may start only 1 (`maxItems`); use fewer steps, each with more calls"
        );
    }

    #[test]
    fn the_fault_of_a_repeated_id_names_it() {
        assert_eq!(
            step_fault_texts(&[item("a", &[]), item("a", &[])], &[], &[]),
            ["two items have the id `a`; ids have to be unique"]
        );
    }

    #[test]
    fn the_fault_of_an_unknown_dependency_names_it() {
        assert_eq!(
            step_fault_texts(&[item("a", &["z"])], &[], &[]),
            ["item `a` depends on `z`, which is not in the plan"]
        );
    }

    #[test]
    fn the_fault_of_a_cycle_lists_its_items() {
        let items = [
            item("a", &["c"]),
            item("b", &["a"]),
            item("c", &["b"]),
            item("d", &["a"]),
        ];
        assert_eq!(
            step_fault_texts(&items, &[], &[]),
            ["the dependencies go in a circle: `a` -> `c` -> `b` -> `a`"]
        );
    }

    #[test]
    fn only_the_items_of_a_cycle_have_its_fault() {
        let items = [item("a", &["b"]), item("b", &["a"]), item("c", &["a"])];
        let faults = check_steps(&items, &[], &[]);
        let steps: Vec<_> = faults.iter().map(|fault| fault.step.as_str()).collect();
        assert_eq!(steps, ["b", "a"]);
    }

    #[test]
    fn only_steps_that_lack_calls_are_left_to_a_model() {
        let calls_clock = |required: &[&str]| TodoItem {
            tool_calls: vec![PlannedCall {
                tool_name: "clock".to_owned(),
                arguments: serde_json::json!({}),
            }],
            required_tools: required.iter().map(|tool| (*tool).to_owned()).collect(),
            ..item("a", &[])
        };
        assert_eq!(
            fault_texts(&left_to_model_faults(&[calls_clock(&[]), calls_clock(&["clock"])])),
            [""; 0]
        );
        let faults = left_to_model_faults(&[item("b", &[]), calls_clock(&["calculator"])]);
        insta::assert_snapshot!(fault_texts(&faults).join("\n"), @r"
        `b`: it has no calls, and the model in use cannot carry out a step
        `a`: it requires the tool `calculator`, which none of its calls names, and the model in use cannot carry out a step
        ");
    }

    /// Returns one earlier question. Its only step is completed and has the name `q1.a`.
    fn earlier_question() -> [EarlierQuestion; 1] {
        let items = vec![crate::plan::tests::item_with_status("a", TodoItemStatus::Completed)];
        [EarlierQuestion {
            number: 1,
            items,
            ..EarlierQuestion::default()
        }]
    }

    #[test]
    fn an_item_whose_id_is_taken_gets_a_new_id() {
        let draft = |id: &str| DraftItem {
            id: id.to_owned(),
            ..DraftItem::default()
        };
        let mut items = [draft("a"), draft("a_2"), draft("a"), draft("q1.a")];
        let faults = give_unique_ids(&mut items, &[item("a_3", &[])], &earlier_question());
        let ids: Vec<_> = items.iter().map(|item| item.id.as_str()).collect();
        assert_eq!(ids, ["a", "a_2", "a_4", "q1.a_2"]);
        assert_eq!(
            fault_texts(&faults),
            [
                "its id `a` is the name of another step or result",
                "its id `q1.a` is the name of another step or result"
            ]
        );
    }

    #[test]
    fn an_item_that_depends_on_itself_is_a_cycle() {
        assert_eq!(
            step_fault_texts(&[item("a", &["a"])], &[], &[]),
            ["the dependencies go in a circle: `a` -> `a`"]
        );
    }

    #[test]
    fn the_fault_of_a_tool_that_is_not_available_names_it() {
        let mut requiring = item("a", &[]);
        requiring.required_tools = vec!["web_search".to_owned()];
        assert_eq!(
            step_fault_texts(&[requiring], &[tool("calculator")], &[]),
            ["item `a` requires the tool `web_search`, which is not available; available: `calculator`"]
        );
    }

    #[test]
    fn a_check_returns_at_most_the_maximum_number_of_problems() {
        let mut requiring = item("a", &[]);
        requiring.required_tools = (0..100).map(|n| format!("gone_{n}")).collect();
        requiring.dependencies = requiring.required_tools.clone();
        let items = vec![requiring; 30];
        assert_eq!(missing_tool_faults(&items, &[]).len(), MAX_PROBLEMS);
        assert_eq!(unknown_dependency_faults(&items, &[]).len(), MAX_PROBLEMS);
        assert_eq!(repeated_id_faults(&items).len(), MAX_PROBLEMS);
    }

    #[test]
    fn completed_items_are_not_checked() {
        let mut completed = item("a", &["gone"]);
        completed.required_tools = vec!["gone".to_owned()];
        completed.status = TodoItemStatus::Completed;
        assert_eq!(step_fault_texts(&[completed], &[], &[]), Vec::<String>::new());
    }

    #[test]
    fn an_item_may_depend_on_a_step_of_an_earlier_question() {
        assert_eq!(
            step_fault_texts(&[item("a", &["q1.a"])], &[], &earlier_question()),
            Vec::<String>::new()
        );
        assert_eq!(
            step_fault_texts(&[item("a", &["q2.a"])], &[], &earlier_question()),
            ["item `a` depends on `q2.a`, which is not in the plan"]
        );
    }

    #[test]
    fn the_ids_of_ended_items_are_not_checked() {
        let ended = || crate::plan::tests::item_with_status("q1.a", TodoItemStatus::Completed);
        assert_eq!(
            step_fault_texts(&[ended(), ended()], &[], &earlier_question()),
            Vec::<String>::new()
        );
    }

    #[test]
    fn an_id_that_names_an_earlier_step_is_refused() {
        assert_eq!(
            step_fault_texts(&[item("q1.a", &[])], &[], &earlier_question()),
            ["the id `q1.a` names a result of an earlier question; give the step another id"]
        );
        assert_eq!(
            step_fault_texts(&[item("q1.b", &[])], &[], &earlier_question()),
            Vec::<String>::new()
        );
    }
}
