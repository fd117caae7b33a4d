//! Rejects plans that could never be carried out, before any work is done (B11, B13).

use std::collections::{BTreeMap, BTreeSet};

use art_core::pes::{EarlierQuestion, TodoItem, TodoItemStatus, ToolValidationMode};
use art_core::tool::ToolSchema;

use super::calls::{Fault, source_steps};
use super::earlier::find_earlier;
use super::merge::{has_ended, repeats_earlier};
use crate::parse::{DraftItem, MAX_PROBLEMS, MAX_TODO_ITEMS};

/// Returns what keeps items from being carried out, in words for the model. Items may depend on steps of `earlier` questions. Each
/// fault names an item; a fault of several items is returned once for each of them.
pub(crate) fn check(items: &[TodoItem], tools: &[ToolSchema], earlier: &[EarlierQuestion]) -> Vec<Fault> {
    let mut faults = Vec::new();
    faults.extend(repeated_ids(items));
    faults.extend(reserved_ids(items, earlier));
    faults.extend(unknown_dependencies(items, earlier));
    faults.extend(cycle_faults(items));
    faults.extend(missing_tools(items, tools));
    faults
}

/// Returns the texts of faults, each once.
pub(crate) fn fault_texts(faults: &[Fault]) -> Vec<String> {
    let mut texts = Vec::new();
    for fault in faults {
        if !texts.contains(&fault.text) {
            texts.push(fault.text.clone());
        }
    }
    texts
}

/// Returns the problem of a plan that is too long to be looked at.
pub(crate) fn length_problem(items: &[TodoItem]) -> Option<String> {
    let count = items.len();
    (count > MAX_TODO_ITEMS).then(|| format!("the plan has {count} items, more than {MAX_TODO_ITEMS}"))
}

/// Returns a fault for each open item beyond the number that the run may start.
pub(crate) fn excess_steps(items: &[TodoItem], max_items: usize) -> Vec<Fault> {
    let open: Vec<&TodoItem> = items
        .iter()
        .filter(|item| item.status == TodoItemStatus::Pending)
        .collect();
    let text = format!(
        "the plan has too many open steps: {}, and the run may start only {max_items} (`maxItems`); use fewer steps, each with more \
         calls",
        open.len()
    );
    let excess = open.into_iter().skip(max_items);
    excess.map(|item| Fault::new(item, &text)).collect()
}

/// Returns a fault for each step that a model would have to carry out, because it has no calls or because it is
/// strict and lacks a call of a required tool.
pub(crate) fn steps_left_to_model(items: &[TodoItem]) -> Vec<Fault> {
    let fault = |item: &TodoItem| {
        let strict = item.tool_validation_mode.unwrap_or_default() == ToolValidationMode::Strict;
        let missing = item
            .required_tools
            .iter()
            .find(|tool| strict && !calls_tool(item, tool));
        let what = match missing {
            _ if item.tool_calls.is_empty() => "it has no calls".to_owned(),
            Some(tool) => format!("it requires the tool `{tool}`, which none of its calls names"),
            None => return None,
        };
        let text = format!("`{}`: {what}, and the model in use cannot carry out a step", item.id);
        Some(Fault::new(item, &text))
    };
    unfinished(items).filter_map(fault).collect()
}

/// Gives a new identifier to each step whose identifier belongs to a step before it, or names an earlier result that the step does
/// not merely repeat. `current` has the items of the plan that the steps change. Returns a fault for each step that got a new
/// identifier.
pub(crate) fn give_unique_ids(
    items: &mut [DraftItem],
    current: &[TodoItem],
    earlier: &[EarlierQuestion],
) -> Vec<Fault> {
    let current = current.iter().map(|item| item.id.clone());
    let mut taken: BTreeSet<String> = items.iter().map(|item| item.id.clone()).chain(current).collect();
    let (mut seen, mut faults) = (BTreeSet::new(), Vec::new());
    for item in items.iter_mut().filter(|item| !repeats_earlier(earlier, item)) {
        if seen.insert(item.id.clone()) && find_earlier(earlier, &item.id).is_none() {
            continue;
        }
        let mut free = (2..)
            .map(|number: u32| format!("{}_{number}", item.id))
            .filter(|id| !taken.contains(id) && find_earlier(earlier, id).is_none());
        let Some(id) = free.next() else { continue };
        let text = format!("its id `{}` is the name of another step or result", item.id);
        taken.insert(id.clone());
        item.id.clone_from(&id);
        faults.push(Fault { step: id, text });
    }
    faults
}

/// Returns the items that have not ended. The others are not checked again, because their tools and dependencies may no longer
/// exist.
fn unfinished(items: &[TodoItem]) -> impl Iterator<Item = &TodoItem> {
    items.iter().filter(|item| !has_ended(item.status))
}

fn repeated_ids(items: &[TodoItem]) -> Vec<Fault> {
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

/// Reports identifiers that are names of earlier steps. A reference to such an identifier could mean either step.
fn reserved_ids(items: &[TodoItem], earlier: &[EarlierQuestion]) -> Vec<Fault> {
    let reserved = unfinished(items).filter(|item| find_earlier(earlier, &item.id).is_some());
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

fn unknown_dependencies(items: &[TodoItem], earlier: &[EarlierQuestion]) -> Vec<Fault> {
    let ids: BTreeSet<_> = items.iter().map(|item| item.id.as_str()).collect();
    let is_known = |id: &str| ids.contains(id) || find_earlier(earlier, id).is_some();
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

/// Returns whether a planned call takes an output of `step`. The check of the calls reports a step that does not exist.
fn takes_from(item: &TodoItem, step: &str) -> bool {
    item.tool_calls.iter().any(|call| source_steps(call).contains(step))
}

/// Returns whether a planned call names `tool`. The check of the calls reports a tool that does not exist.
fn calls_tool(item: &TodoItem, tool: &str) -> bool {
    item.tool_calls.iter().any(|call| call.tool_name == tool)
}

fn missing_tools(items: &[TodoItem], tools: &[ToolSchema]) -> Vec<Fault> {
    let offered: Vec<_> = tools.iter().map(|tool| format!("`{}`", tool.name)).collect();
    let offered = if offered.is_empty() {
        "none".to_owned()
    } else {
        offered.join(", ")
    };
    let pairs = unfinished(items).flat_map(|item| item.required_tools.iter().map(move |tool| (item, tool)));
    pairs
        .filter(|(item, name)| !tools.iter().any(|tool| tool.name == **name) && !calls_tool(item, name))
        .take(MAX_PROBLEMS)
        .map(|(item, name)| {
            let text = format!(
                "item `{}` requires the tool `{name}`, which is not available; available: {offered}",
                item.id
            );
            Fault::new(item, &text)
        })
        .collect()
}

/// Returns a fault for each item of the first dependency cycle. Each fault lists all items of the cycle.
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

/// Searches depth first from `id` for a cycle. Returns its items, with the first one repeated at the end. The depth is bounded by
/// the number of items.
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

    fn check_texts(items: &[TodoItem], tools: &[ToolSchema], earlier: &[EarlierQuestion]) -> Vec<String> {
        fault_texts(&check(items, tools, earlier))
    }

    #[test]
    fn a_plan_that_can_be_carried_out_has_no_faults() {
        let mut last = item("b", &["a"]);
        last.required_tools = vec!["calculator".to_owned()];
        assert_eq!(
            check_texts(&[item("a", &[]), last], &[tool("calculator")], &[]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn only_open_steps_count_for_the_maximum() {
        let mut completed = item("a", &[]);
        completed.status = TodoItemStatus::Completed;
        let items = [completed, item("b", &[]), item("c", &[])];
        assert_eq!(excess_steps(&items, 2), []);
        let faults = excess_steps(&items, 1);
        assert_eq!((faults.len(), faults[0].step.as_str()), (1, "c"));
        assert_eq!(
            faults[0].text,
            "the plan has too many open steps: 2, and the run may start only 1 (`maxItems`); use fewer steps, each with more calls"
        );
    }

    #[test]
    fn a_repeated_id_is_named() {
        assert_eq!(
            check_texts(&[item("a", &[]), item("a", &[])], &[], &[]),
            ["two items have the id `a`; ids have to be unique"]
        );
    }

    #[test]
    fn an_unknown_dependency_is_named() {
        assert_eq!(
            check_texts(&[item("a", &["z"])], &[], &[]),
            ["item `a` depends on `z`, which is not in the plan"]
        );
    }

    #[test]
    fn a_cycle_is_named_item_by_item() {
        let items = [
            item("a", &["c"]),
            item("b", &["a"]),
            item("c", &["b"]),
            item("d", &["a"]),
        ];
        assert_eq!(
            check_texts(&items, &[], &[]),
            ["the dependencies go in a circle: `a` -> `c` -> `b` -> `a`"]
        );
    }

    #[test]
    fn only_the_items_of_a_cycle_have_its_fault() {
        let items = [item("a", &["b"]), item("b", &["a"]), item("c", &["a"])];
        let faults = check(&items, &[], &[]);
        let steps: Vec<_> = faults.iter().map(|fault| fault.step.as_str()).collect();
        assert_eq!(steps, ["b", "a"]);
    }

    #[test]
    fn only_steps_that_lack_calls_are_left_to_a_model() {
        let calling = |required: &[&str]| TodoItem {
            tool_calls: vec![PlannedCall {
                tool_name: "clock".to_owned(),
                arguments: serde_json::json!({}),
            }],
            required_tools: required.iter().map(|tool| (*tool).to_owned()).collect(),
            ..item("a", &[])
        };
        assert_eq!(
            fault_texts(&steps_left_to_model(&[calling(&[]), calling(&["clock"])])),
            [""; 0]
        );
        let faults = steps_left_to_model(&[item("b", &[]), calling(&["calculator"])]);
        insta::assert_snapshot!(fault_texts(&faults).join("\n"), @r"
        `b`: it has no calls, and the model in use cannot carry out a step
        `a`: it requires the tool `calculator`, which none of its calls names, and the model in use cannot carry out a step
        ");
    }

    #[test]
    fn a_step_with_a_taken_id_gets_a_new_one() {
        let draft = |id: &str| DraftItem {
            id: id.to_owned(),
            ..DraftItem::default()
        };
        let mut items = [draft("a"), draft("a_2"), draft("a"), draft("q1.a")];
        let faults = give_unique_ids(&mut items, &[item("a_3", &[])], &earlier());
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
            check_texts(&[item("a", &["a"])], &[], &[]),
            ["the dependencies go in a circle: `a` -> `a`"]
        );
    }

    #[test]
    fn a_tool_that_is_not_offered_is_refused_by_name() {
        let mut requiring = item("a", &[]);
        requiring.required_tools = vec!["web_search".to_owned()];
        assert_eq!(
            check_texts(&[requiring], &[tool("calculator")], &[]),
            ["item `a` requires the tool `web_search`, which is not available; available: `calculator`"]
        );
    }

    #[test]
    fn each_check_collects_at_most_the_number_of_problems_that_is_reported() {
        let mut requiring = item("a", &[]);
        requiring.required_tools = (0..100).map(|n| format!("gone_{n}")).collect();
        requiring.dependencies = requiring.required_tools.clone();
        let items = vec![requiring; 30];
        assert_eq!(missing_tools(&items, &[]).len(), MAX_PROBLEMS);
        assert_eq!(unknown_dependencies(&items, &[]).len(), MAX_PROBLEMS);
        assert_eq!(repeated_ids(&items).len(), MAX_PROBLEMS);
    }

    #[test]
    fn completed_items_are_not_checked_again() {
        let mut completed = item("a", &["gone"]);
        completed.required_tools = vec!["gone".to_owned()];
        completed.status = TodoItemStatus::Completed;
        assert_eq!(check_texts(&[completed], &[], &[]), Vec::<String>::new());
    }

    fn earlier() -> [EarlierQuestion; 1] {
        let items = vec![crate::plan::tests::with_status("a", TodoItemStatus::Completed)];
        [EarlierQuestion {
            number: 1,
            items,
            ..EarlierQuestion::default()
        }]
    }

    #[test]
    fn a_step_may_depend_on_one_of_an_earlier_question() {
        assert_eq!(
            check_texts(&[item("a", &["q1.a"])], &[], &earlier()),
            Vec::<String>::new()
        );
        assert_eq!(
            check_texts(&[item("a", &["q2.a"])], &[], &earlier()),
            ["item `a` depends on `q2.a`, which is not in the plan"]
        );
    }

    #[test]
    fn the_ids_of_ended_items_are_not_checked() {
        let ended = || crate::plan::tests::with_status("q1.a", TodoItemStatus::Completed);
        assert_eq!(check_texts(&[ended(), ended()], &[], &earlier()), Vec::<String>::new());
    }

    #[test]
    fn an_id_that_names_an_earlier_step_is_refused() {
        assert_eq!(
            check_texts(&[item("q1.a", &[])], &[], &earlier()),
            ["the id `q1.a` names a result of an earlier question; give the step another id"]
        );
        assert_eq!(check_texts(&[item("q1.b", &[])], &[], &earlier()), Vec::<String>::new());
    }
}
