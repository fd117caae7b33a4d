//! Writes a plan: one step for each part of the question that asks for a call.

use art_core::task::PlanTask;
use art_core::text::prefix;
use serde_json::{Value, json};

use crate::catalog::Catalog;
use crate::find::{Call, Finder};
use crate::part::parts;

/// Maximum length of a question, in bytes. The host accepts no longer one.
const MAX_QUERY: usize = 8_000;

/// Returns the plan for `task`. Its steps are numbered after those of earlier questions.
pub(crate) fn reply(task: &PlanTask, catalog: &Catalog) -> String {
    let query = prefix(&task.query, MAX_QUERY);
    let (files, earlier) = (task.files.as_slice(), None);
    let finder = Finder {
        catalog,
        files,
        earlier,
    };
    let number = |id: &str| id.rsplit('_').next()?.parse::<u32>().ok();
    let highest = task.earlier.iter().filter_map(|step| number(&step.id)).max();
    let done = task.earlier.iter().rev().find(|step| step.result().is_some());
    let mut last = done.map(|step| step.id.clone());
    let (mut sentences, mut steps) = (Vec::new(), Vec::new());
    for (text, call) in parts(&finder, query, last.is_some()) {
        match call {
            Ok(call) => {
                let id = format!("step_{}", u64::from(highest.unwrap_or(0)) + steps.len() as u64 + 1);
                sentences.push(format!("Call `{}` for \"{text}\".", call.tool));
                steps.push(step(&id, &text, &call, last.as_deref()));
                last = Some(id);
            }
            Err(refusal) => sentences.push(refusal),
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

fn step(id: &str, text: &str, call: &Call, last: Option<&str>) -> Value {
    let dependencies: Vec<&str> = last.into_iter().filter(|_| call.refers).collect();
    json!({
        "id": id,
        "description": text,
        "stepType": "tool",
        "requiredTools": [call.tool],
        "dependencies": dependencies,
        "expectedOutcome": format!("the output of `{}`", call.tool),
    })
}
