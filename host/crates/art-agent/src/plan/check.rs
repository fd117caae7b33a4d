//! Rejects plans that could never be carried out, before any work is done (B11, B13).

use std::collections::{BTreeMap, BTreeSet};

use art_core::pes::{EarlierQuestion, TodoItem, TodoItemStatus};
use art_core::tool::ToolSchema;

use super::calls::sources;
use super::earlier::find_earlier;
use crate::parse::{MAX_PROBLEMS, MAX_TODO_ITEMS};

/// Returns all problems of `items`, in words for the model. Items may depend on steps of `earlier` questions.
pub(crate) fn check(items: &[TodoItem], tools: &[ToolSchema], earlier: &[EarlierQuestion]) -> Vec<String> {
    let mut problems = Vec::new();
    if items.len() > MAX_TODO_ITEMS {
        let count = items.len();
        problems.push(format!("the plan has {count} items, more than {MAX_TODO_ITEMS}"));
    }
    problems.extend(repeated_ids(items));
    problems.extend(reserved_ids(items, earlier));
    problems.extend(unknown_dependencies(items, earlier));
    problems.extend(cycle(items));
    problems.extend(missing_tools(items, tools));
    problems.truncate(MAX_PROBLEMS);
    problems
}

/// Returns the problem of a plan with more open items than the run may start.
pub(crate) fn too_many_open(items: &[TodoItem], max_items: usize) -> Option<String> {
    let open = items
        .iter()
        .filter(|item| item.status == TodoItemStatus::Pending)
        .count();
    (open > max_items).then(|| {
        format!(
            "the plan has too many open steps: {open}, and the run may start only {max_items} (`maxItems`); use fewer steps, each \
             with more calls"
        )
    })
}

/// Returns the items that are not completed. Completed ones are not checked again, because their tools and dependencies may no
/// longer exist.
fn unfinished(items: &[TodoItem]) -> impl Iterator<Item = &TodoItem> {
    items.iter().filter(|item| item.status != TodoItemStatus::Completed)
}

fn repeated_ids(items: &[TodoItem]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let repeated = items.iter().filter(|item| !seen.insert(item.id.as_str()));
    repeated
        .take(MAX_PROBLEMS)
        .map(|item| format!("two items have the id `{}`; ids have to be unique", item.id))
        .collect()
}

/// Reports identifiers that are names of earlier steps. A reference to one could mean either.
fn reserved_ids(items: &[TodoItem], earlier: &[EarlierQuestion]) -> Vec<String> {
    let reserved = items.iter().filter(|item| find_earlier(earlier, &item.id).is_some());
    reserved
        .take(MAX_PROBLEMS)
        .map(|item| {
            format!(
                "the id `{}` names a result of an earlier question; give the step another id",
                item.id
            )
        })
        .collect()
}

fn unknown_dependencies(items: &[TodoItem], earlier: &[EarlierQuestion]) -> Vec<String> {
    let ids: BTreeSet<_> = items.iter().map(|item| item.id.as_str()).collect();
    let is_known = |id: &str| ids.contains(id) || find_earlier(earlier, id).is_some();
    let pairs = unfinished(items).flat_map(|item| item.dependencies.iter().map(move |dependency| (item, dependency)));
    pairs
        .filter(|(item, dependency)| !is_known(dependency) && !takes_from(item, dependency))
        .take(MAX_PROBLEMS)
        .map(|(item, dependency)| format!("item `{}` depends on `{dependency}`, which is not in the plan", item.id))
        .collect()
}

/// Returns whether a planned call takes an output of `step`. The check of the calls reports a step that does not exist.
fn takes_from(item: &TodoItem, step: &str) -> bool {
    item.tool_calls.iter().any(|call| sources(call).contains(step))
}

/// Returns whether a planned call names `tool`. The check of the calls reports a tool that does not exist.
fn calls(item: &TodoItem, tool: &str) -> bool {
    item.tool_calls.iter().any(|call| call.tool_name == tool)
}

fn missing_tools(items: &[TodoItem], tools: &[ToolSchema]) -> Vec<String> {
    let offered: Vec<_> = tools.iter().map(|tool| format!("`{}`", tool.name)).collect();
    let offered = if offered.is_empty() {
        "none".to_owned()
    } else {
        offered.join(", ")
    };
    let pairs = unfinished(items).flat_map(|item| item.required_tools.iter().map(move |tool| (item, tool)));
    pairs
        .filter(|(item, name)| !tools.iter().any(|tool| tool.name == **name) && !calls(item, name))
        .take(MAX_PROBLEMS)
        .map(|(item, name)| {
            format!(
                "item `{}` requires the tool `{name}`, which is not available; available: {offered}",
                item.id
            )
        })
        .collect()
}

/// Returns the problem of the first dependency cycle, which lists its items.
fn cycle(items: &[TodoItem]) -> Option<String> {
    let graph: BTreeMap<&str, &[String]> = unfinished(items)
        .map(|item| (item.id.as_str(), item.dependencies.as_slice()))
        .collect();
    let mut visited = BTreeSet::new();
    graph.keys().find_map(|start| {
        let path = find_cycle(start, &graph, &mut Vec::new(), &mut visited)?;
        Some(format!("the dependencies go in a circle: {}", path.join(" -> ")))
    })
}

/// Searches depth first from `id` for a cycle, and returns its items. The depth is bounded by the number of items.
fn find_cycle<'a>(
    id: &'a str,
    graph: &BTreeMap<&'a str, &'a [String]>,
    path: &mut Vec<&'a str>,
    visited: &mut BTreeSet<&'a str>,
) -> Option<Vec<String>> {
    if let Some(at) = path.iter().position(|other| *other == id) {
        let cycle = path.iter().skip(at).chain([&id]);
        return Some(cycle.map(|id| format!("`{id}`")).collect());
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

    fn tool(name: &str) -> ToolSchema {
        serde_json::from_value(serde_json::json!({"name": name, "description": "", "inputSchema": {}})).unwrap()
    }

    #[test]
    fn a_plan_that_can_be_done_has_no_problems() {
        let mut last = item("b", &["a"]);
        last.required_tools = vec!["calculator".to_owned()];
        assert_eq!(
            check(&[item("a", &[]), last], &[tool("calculator")], &[]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn only_open_steps_count_for_the_maximum() {
        let mut completed = item("a", &[]);
        completed.status = TodoItemStatus::Completed;
        let items = [completed, item("b", &[]), item("c", &[])];
        assert_eq!(too_many_open(&items, 2), None);
        assert_eq!(
            too_many_open(&items, 1).unwrap(),
            "the plan has too many open steps: 2, and the run may start only 1 (`maxItems`); use fewer steps, each with more calls"
        );
    }

    #[test]
    fn a_repeated_id_is_named() {
        assert_eq!(
            check(&[item("a", &[]), item("a", &[])], &[], &[]),
            ["two items have the id `a`; ids have to be unique"]
        );
    }

    #[test]
    fn an_unknown_dependency_is_named() {
        assert_eq!(
            check(&[item("a", &["z"])], &[], &[]),
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
            check(&items, &[], &[]),
            ["the dependencies go in a circle: `a` -> `c` -> `b` -> `a`"]
        );
    }

    #[test]
    fn an_item_that_depends_on_itself_is_a_cycle() {
        assert_eq!(
            check(&[item("a", &["a"])], &[], &[]),
            ["the dependencies go in a circle: `a` -> `a`"]
        );
    }

    #[test]
    fn a_tool_that_is_not_offered_is_refused_by_name() {
        let mut requiring = item("a", &[]);
        requiring.required_tools = vec!["web_search".to_owned()];
        assert_eq!(
            check(&[requiring], &[tool("calculator")], &[]),
            ["item `a` requires the tool `web_search`, which is not available; available: `calculator`"]
        );
    }

    #[test]
    fn at_most_the_reported_number_of_problems_is_collected() {
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
        assert_eq!(check(&[completed], &[], &[]), Vec::<String>::new());
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
        assert_eq!(check(&[item("a", &["q1.a"])], &[], &earlier()), Vec::<String>::new());
        assert_eq!(
            check(&[item("a", &["q2.a"])], &[], &earlier()),
            ["item `a` depends on `q2.a`, which is not in the plan"]
        );
    }

    #[test]
    fn the_name_of_an_earlier_step_is_no_id() {
        assert_eq!(
            check(&[item("q1.a", &[])], &[], &earlier()),
            ["the id `q1.a` names a result of an earlier question; give the step another id"]
        );
        assert_eq!(check(&[item("q1.b", &[])], &[], &earlier()), Vec::<String>::new());
    }
}
