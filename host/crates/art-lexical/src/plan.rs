//! Writes a plan: one step for each part of the question that a pattern fits.

use art_core::task::PlanTask;
use art_core::text::prefix;
use serde_json::{Value, json};

use crate::find::Finder;
use crate::known::Known;
use crate::part::parts;

/// Characters of a question that are read; the host takes no longer one.
const MAX_QUERY: usize = 8_000;

/// The reply that plans `task`.
pub(crate) fn reply(task: &PlanTask, known: &Known) -> String {
    let query = prefix(&task.query, MAX_QUERY);
    let has_result = task.earlier.iter().any(|step| step.result().is_some());
    let finder = Finder {
        known,
        files: &task.files,
    };
    let mut plan = Plan::after(task);
    for (text, found) in parts(&finder, query, has_result) {
        match found {
            Ok(found) => plan.add(&text, &found.tool, found.refers),
            Err(why) => plan.sentences.push(why),
        }
    }
    let output = json!({
        "title": title(query),
        "intent": prefix(query.lines().next().unwrap_or_default().trim(), 200),
        "plan": plan.sentences.join("\n"),
        "todoList": plan.steps,
    });
    format!("---JSON_OUTPUT_START---\n{output}\n---JSON_OUTPUT_END---")
}

/// At most ten words.
fn title(query: &str) -> String {
    let line = prefix(query.lines().next().unwrap_or_default(), 80);
    let words: Vec<&str> = line.split_whitespace().take(10).collect();
    words.join(" ").trim_end_matches(['?', '.', '!', ',']).to_owned()
}

struct Plan {
    sentences: Vec<String>,
    steps: Vec<Value>,
    /// The number of the next step: those of earlier questions keep theirs.
    next: u64,
    /// The step that "that" refers to.
    last: Option<String>,
}

impl Plan {
    fn after(task: &PlanTask) -> Self {
        let number = |id: &str| id.rsplit('_').next()?.parse::<u64>().ok();
        let highest = task.earlier.iter().filter_map(|step| number(&step.id)).max();
        let last = task.earlier.iter().rev().find(|step| step.result().is_some());
        Self {
            sentences: Vec::new(),
            steps: Vec::new(),
            next: highest.unwrap_or(0).min(1_000_000_000) + 1,
            last: last.map(|step| step.id.clone()),
        }
    }

    fn add(&mut self, text: &str, tool: &str, refers: bool) {
        let id = format!("step_{}", self.next);
        let dependencies: Vec<&String> = self.last.iter().filter(|_| refers).collect();
        self.steps.push(json!({
            "id": id,
            "description": text,
            "stepType": "tool",
            "requiredTools": [tool],
            "dependencies": dependencies,
            "expectedOutcome": format!("the output of `{tool}`"),
        }));
        self.sentences.push(format!("Call `{tool}` for \"{text}\"."));
        self.next += 1;
        self.last = Some(id);
    }
}
