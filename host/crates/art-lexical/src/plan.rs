//! Writes a plan: one step with its call for each part of the question that asks for a call.

use std::cell::Cell;
use std::rc::Rc;

use art_core::task::PlanTask;
use art_core::text::prefix;
use serde_json::json;

use crate::catalog::Catalog;
use crate::earlier::EarlierPlace;
use crate::find::{Finder, MAX_TRIED_TEXTS};
use crate::part::{MAX_PARTS, Part, split_question};

/// Maximum length of a question, in characters. The host refuses longer ones.
const MAX_QUERY_CHARS: usize = 8_000;

/// Returns the plan for `task`. The numbers of its steps follow those of the steps of earlier questions.
pub(crate) fn reply(task: &PlanTask, catalog: &Catalog) -> String {
    let query = prefix(&task.query, MAX_QUERY_CHARS);
    let step_number = |id: &str| id.rsplit('_').next()?.parse::<u32>().ok();
    let highest = task.earlier.iter().filter_map(|step| step_number(&step.id)).max();
    let last_completed = task.earlier.iter().rev().find(|step| step.result().is_some());
    let finder = Finder {
        catalog,
        files: &task.files,
        step_number: u64::from(highest.unwrap_or(0)) + 1,
        earlier_place: last_completed.and_then(EarlierPlace::of_step),
        remaining_texts: Rc::new(Cell::new(MAX_TRIED_TEXTS)),
    };
    let (mut sentences, mut steps) = (Vec::new(), Vec::new());
    for Part { text, call, finder } in split_question(&finder, query, MAX_PARTS) {
        match call {
            Ok(call) => {
                sentences.push(format!("Call `{}` for \"{text}\".", call.tool));
                let tool_call = json!({"toolName": call.tool, "arguments": call.arguments});
                steps.push(json!({"id": call.step_id, "description": text, "toolCalls": [tool_call]}));
            }
            Err(refusal) => sentences.push(finder.explain(&text, refusal)),
        }
    }
    let line = query.lines().next().unwrap_or_default().trim();
    let title: Vec<&str> = prefix(line, 80).split_whitespace().take(10).collect();
    let output = json!({
        "title": title.join(" ").trim_end_matches(['?', '.', '!', ',']),
        "intent": prefix(line, 200),
        "plan": sentences.join("\n"),
        "todoList": steps,
    });
    format!("---JSON_OUTPUT_START---\n{output}\n---JSON_OUTPUT_END---")
}
