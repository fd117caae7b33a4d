//! Checks a saved plan. The report, for people and for programs, has the faults and the references of the plan, and the steps
//! that ask a person for a decision.

use std::collections::BTreeSet;

use art_core::pes::{EarlierQuestion, TodoItem};
use art_core::tool::{ExecutionMode, ToolSchema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::calls::{CallCheckInput, Fault, check_calls};
use super::check::{check_steps, excess_step_faults, fault_texts, item_count_problem, left_to_model_faults};
use super::flow::Verdict;
use super::saved::SavedPlan;
use super::show::value_text;

/// What a saved plan can use if it is carried out now.
#[derive(Clone, Copy, Debug)]
pub struct PlanResources<'a> {
    /// The tools that the conversation may use.
    pub tools: &'a [ToolSchema],
    /// Names of tools that exist and that the conversation may not use.
    pub disabled: &'a [String],
    /// Identifier of the conversation.
    pub thread: &'a str,
    /// The earlier questions of the conversation, whose results calls can take.
    pub earlier: &'a [EarlierQuestion],
    /// Names of the files that calls can take.
    pub files: &'a BTreeSet<&'a str>,
    /// Number of steps that a run may start.
    pub max_items: usize,
    /// Number of calls that a run may make.
    pub max_calls: usize,
    /// Whether the model only plans, so that every step needs planned calls.
    pub plans_only: bool,
}

/// What the check of a plan found. A plan without faults can be carried out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PlanCheck {
    /// Everything that keeps the plan from being carried out.
    pub faults: Vec<PlanFault>,
    /// The references in the arguments of calls, in the order of the plan.
    pub references: Vec<CheckedReference>,
    /// Places in the arguments of calls whose values can be checked only when the plan runs, such as `step_2.arguments.url`.
    pub at_run_time: Vec<String>,
    /// Identifiers of the steps with a call of a tool that always asks a person.
    pub decisions: Vec<String>,
}

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanFault {
    /// Identifier of the step, if the fault is in one of its calls; absent if the fault is in the plan or in the step itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// What is wrong. For a value that does not fit: its place, what is asked for there, what is given and, if known, what would
    /// fit.
    pub text: String,
}

/// A reference in the arguments of a planned call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckedReference {
    /// Identifier of the step with the call that has the reference.
    pub step: String,
    /// Number of the call in the step, from 0.
    pub call: usize,
    /// Place in the arguments, such as `url` or `pages[0]`. The value there is the reference or contains it.
    pub argument: String,
    /// The reference as the plan has it, such as `{"$from": "step_1", "path": "/url"}`.
    pub reference: Value,
    /// Whether the value at `argument` fits.
    pub fit: Fit,
}

/// Whether a value is what a tool asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// Every value that the argument can get fits.
    Fits,
    /// Whether the value fits is known only when the plan runs.
    AtRunTime,
    /// No value that the argument can get fits, or the reference is wrong. The faults of the plan say why.
    Fault,
}

impl CheckedReference {
    /// Returns where the value comes from, as people read it, such as `step_1 /url`.
    #[must_use]
    pub fn source(&self) -> String {
        value_text(&self.reference)
    }
}

impl From<Verdict> for Fit {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Yes => Self::Fits,
            Verdict::AtRunTime => Self::AtRunTime,
            Verdict::No => Self::Fault,
        }
    }
}

impl From<Fault> for PlanFault {
    fn from(fault: Fault) -> Self {
        Self {
            step: Some(fault.step),
            text: fault.text,
        }
    }
}

impl SavedPlan {
    /// Checks whether the plan can be carried out with any values of its parameters. The schemas of the parameters must have no
    /// `$ref`.
    #[must_use]
    pub fn check(&self, available: &PlanResources<'_>) -> PlanCheck {
        let items = self.items();
        let own_files = self.files.iter().map(String::as_str);
        let files: BTreeSet<&str> = available.files.iter().copied().chain(own_files).collect();
        let calls = check_calls(CallCheckInput {
            items: &items,
            earlier: available.earlier,
            tools: available.tools,
            disabled: available.disabled,
            files: &files,
            max_calls: available.max_calls,
            params: &self.params,
        });
        let missing_files = self
            .files
            .iter()
            .filter(|name| !available.files.contains(name.as_str()));
        let missing_files =
            missing_files.map(|name| format!("the plan was made with the file `{name}`, which is not attached"));
        let mut step_faults = check_steps(&items, available.tools, available.earlier);
        // `excess_step_faults` is about the limit of this run, and `item_count_problem` below is about the limit for all plans.
        step_faults.extend(excess_step_faults(&items, available.max_items));
        if available.plans_only {
            step_faults.extend(left_to_model_faults(&items));
        }
        let other_thread = self.thread.iter().filter(|thread| *thread != available.thread);
        let thread_fault = other_thread.map(|thread| {
            format!("the plan takes results of the conversation `{thread}`; run it there with `--thread {thread}`")
        });
        let plan_faults = item_count_problem(&items)
            .into_iter()
            .chain(fault_texts(&step_faults))
            .chain(missing_files)
            .chain(thread_fault);
        let plan_faults = plan_faults.map(|text| PlanFault { step: None, text });
        PlanCheck {
            faults: plan_faults
                .chain(calls.faults.into_iter().map(PlanFault::from))
                .collect(),
            references: calls.references,
            at_run_time: calls.at_run_time,
            decisions: items_that_ask_a_person(&items, available.tools),
        }
    }
}

/// Returns the identifiers of the items with a call of a blocking tool, which always asks a person.
fn items_that_ask_a_person(items: &[TodoItem], tools: &[ToolSchema]) -> Vec<String> {
    let is_blocking = |name: &str| {
        let mut named = tools.iter().filter(|tool| tool.name == name);
        named.any(|tool| tool.execution_mode == ExecutionMode::Blocking)
    };
    let asks = |item: &&TodoItem| item.tool_calls.iter().any(|call| is_blocking(&call.tool_name));
    items.iter().filter(asks).map(|item| item.id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str, mode: &str) -> ToolSchema {
        let input = json!({"type": "object", "properties": {"n": {"type": "number"}}, "additionalProperties": false});
        serde_json::from_value(json!({"name": name, "description": "d", "inputSchema": input, "executionMode": mode}))
            .unwrap()
    }

    /// Maximum number of steps in the checks of these tests.
    const MAX_STEPS: usize = 2;

    /// Checks a saved plan with these steps, a parameter `n`, and the tools `count` and `pay`, of which `pay` asks a person.
    fn check_plan_of(steps: &Value) -> PlanCheck {
        let plan = json!({"version": 1, "question": "q", "steps": steps, "params": {"n": {"type": "number"}}});
        SavedPlan::parse(&plan.to_string()).unwrap().check(&PlanResources {
            tools: &[tool("count", "functional"), tool("pay", "blocking")],
            disabled: &[],
            thread: "t",
            earlier: &[],
            files: &BTreeSet::new(),
            max_items: MAX_STEPS,
            max_calls: 8,
            plans_only: false,
        })
    }

    fn step(id: &str, tool: &str, arguments: &Value) -> Value {
        json!({"id": id, "description": "d", "toolCalls": [{"toolName": tool, "arguments": arguments}]})
    }

    #[test]
    fn a_plan_that_fits_has_no_faults() {
        let found = check_plan_of(&json!([step("a", "count", &json!({"n": {"$param": "n"}}))]));
        assert_eq!(found.faults, []);
        assert_eq!((found.references.len(), found.references[0].fit), (1, Fit::Fits));
    }

    #[test]
    fn faults_of_the_plan_and_of_its_calls_are_found_together() {
        let found = check_plan_of(&json!([
            step("a", "count", &json!({"n": "not a number"})),
            step("a", "count", &json!({}))
        ]));
        let steps_with_faults: Vec<Option<&str>> = found.faults.iter().map(|fault| fault.step.as_deref()).collect();
        assert_eq!(steps_with_faults, [None, Some("a")], "the identifier `a` is used twice");
    }

    #[test]
    fn more_steps_than_a_run_may_start_are_a_fault_of_the_plan() {
        let steps = ["a", "b", "c"].map(|id| step(id, "count", &json!({})));
        assert_eq!(check_plan_of(&json!(steps[..MAX_STEPS])).faults, []);
        let faults = check_plan_of(&json!(steps)).faults;
        assert_eq!((faults.len(), &faults[0].step), (1, &None));
        assert!(
            faults[0].text.starts_with("the plan has too many open steps: 3"),
            "{faults:?}"
        );
    }

    #[test]
    fn a_file_with_which_the_plan_was_made_has_to_be_attached() {
        let plan = SavedPlan {
            files: vec!["a.csv".to_owned()],
            ..SavedPlan::default()
        };
        let faults_with = |files: BTreeSet<&str>| {
            let available = PlanResources {
                tools: &[],
                disabled: &[],
                thread: "t",
                earlier: &[],
                files: &files,
                max_items: MAX_STEPS,
                max_calls: 8,
                plans_only: false,
            };
            plan.check(&available).faults
        };
        assert_eq!(faults_with(BTreeSet::from(["a.csv"])), []);
        assert_eq!(
            faults_with(BTreeSet::from(["b.csv"]))[0].text,
            "the plan was made with the file `a.csv`, which is not attached"
        );
    }

    #[test]
    fn steps_with_a_tool_that_asks_a_person_are_listed() {
        let found = check_plan_of(&json!([step("a", "count", &json!({})), step("b", "pay", &json!({}))]));
        assert_eq!(found.decisions, ["b"]);
    }
}
