//! The fallback from planned calls, which the plan contains, to the model: a model carries out each step that its planned calls
//! do not complete. The test runs random plans with random failures, replies and orders of results. It checks that planned calls
//! that succeeded are not made again, and that every run ends with no step in progress.

use std::collections::BTreeSet;

use art_agent::RunEvent;
use art_core::error::ToolErrorCode;
use art_core::pes::TodoItemStatus;
use art_core::stream::Phase;
use art_core::tool::{ParsedToolCall, ToolResult, ToolStatus};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::*;

/// Maximum number of actions that are answered in a run. A run with more counts as endless.
const MAX_ACTIONS: usize = 600;

/// The random choices of one case, as numbers. Once they are used up, each choice is 0, with which everything succeeds.
struct Choices(std::vec::IntoIter<u8>);

impl Choices {
    /// Returns a number below `n`.
    fn pick_below(&mut self, n: usize) -> usize {
        usize::from(self.0.next().unwrap_or_default()) % n
    }
}

/// A planned call that succeeded.
#[derive(Debug, PartialEq)]
struct Success {
    step: String,
    tool: String,
    arguments: Value,
    /// The number in the output, or 0 if there is none.
    number: u64,
}

/// A run that is driven by random choices.
struct Case {
    driver: Driver,
    choices: Choices,
    /// Time of the last event.
    at: u64,
    /// Identifiers of all calls that were made.
    call_ids: BTreeSet<String>,
    /// Planned calls that succeeded.
    succeeded: Vec<Success>,
    /// Steps about which the model was asked.
    steps_with_model_call: BTreeSet<String>,
    /// Steps whose planned calls all succeeded, so that no model is needed for them.
    steps_done_by_planned_calls: BTreeSet<String>,
    /// Number of steps that changes of the plan added.
    added_steps: usize,
}

/// Returns a step with at most three planned calls. The calls may take values from the outputs of `earlier_steps`, and
/// some of these values do not exist.
fn random_step(id: &str, earlier_steps: &[String], choices: &mut Choices) -> Value {
    let call = |n: usize, choices: &mut Choices| {
        let unique_text = format!("{id} {n}");
        let source_step = earlier_steps.get(choices.pick_below(earlier_steps.len() + 2));
        let expression = match source_step {
            None => json!(unique_text),
            Some(step) => {
                let path = ["/result", "/result", "/gone", ""][choices.pick_below(4)];
                json!({"$concat": [unique_text, " ", {"$from": step, "path": path}]})
            }
        };
        let tool = ["calculator", "clock"][choices.pick_below(2)];
        json!({"toolName": tool, "arguments": {"expression": expression}})
    };
    let calls: Vec<Value> = (0..choices.pick_below(4)).map(|n| call(n, choices)).collect();
    let mut step = match choices.pick_below(3) {
        0 => tool_item(id, &[]),
        _ => reasoning_item(id, &[]),
    };
    step["toolCalls"] = json!(calls);
    step
}

fn random_plan(choices: &mut Choices) -> Value {
    let mut earlier_steps: Vec<String> = Vec::new();
    let mut steps = Vec::new();
    for n in 0..=choices.pick_below(6) {
        let id = format!("s{n}");
        steps.push(random_step(&id, &earlier_steps, choices));
        earlier_steps.push(id);
    }
    json!(steps)
}

impl Case {
    fn new(choices: Vec<u8>) -> Self {
        let mut choices = Choices(choices.into_iter());
        let mut start = start("q");
        start.config.max_parallel_items = u32::try_from(1 + choices.pick_below(4)).unwrap();
        if choices.pick_below(4) == 1 {
            start.config.max_tool_calls = u32::try_from(8 + choices.pick_below(8)).unwrap();
        }
        let list = random_plan(&mut choices);
        let mut driver = Driver::new(start).script("plan", [plan(&list)]);
        driver.answer_all();
        Self {
            driver,
            choices,
            // Later than the events that the driver has applied.
            at: 1_000_000,
            call_ids: BTreeSet::new(),
            succeeded: Vec::new(),
            steps_with_model_call: BTreeSet::new(),
            steps_done_by_planned_calls: BTreeSet::new(),
            added_steps: 0,
        }
    }

    /// Answers actions in a random order until the run ends.
    fn drive(&mut self) {
        for _ in 0..MAX_ACTIONS {
            if self.driver.run.finished().is_some() {
                return;
            }
            self.at += 1;
            let mut actions = self.driver.open_actions();
            let action = actions.remove(self.choices.pick_below(actions.len()));
            match action {
                Action::CallTools { id, item_id, calls, .. } => {
                    for call in &calls {
                        self.driver.apply(&call_event(self.at, id, call));
                    }
                    for result in self.results(&item_id, &calls) {
                        self.driver.apply(&end_event(self.at, id, result));
                    }
                }
                Action::CallModel(call) => {
                    let reply = match (&call.item_id, call.request.phase) {
                        (Some(item), Phase::Execution) => self.reply(item, &json!(call.request.prompt).to_string()),
                        (_, Phase::Planning) => plan(&json!([])),
                        _ => says("the answer"),
                    };
                    self.driver.apply(&RunEvent::of_reply(self.at, call.id, reply));
                }
            }
        }
        panic!("the run did not end");
    }

    /// Returns a random result for each of `calls`, success or error, in a random order.
    fn results(&mut self, item: &str, calls: &[ParsedToolCall]) -> Vec<ToolResult> {
        // The planned calls of a step are made before a model is asked about the step.
        let is_planned = !self.steps_with_model_call.contains(item);
        let mut results = Vec::new();
        for call in calls {
            assert!(
                self.call_ids.insert(call.call_id.clone()),
                "`{}` is made twice",
                call.call_id
            );
            let is_same_call = |success: &&Success| {
                success.step == item && success.tool == call.tool_name && success.arguments == call.arguments
            };
            let earlier_success = self.succeeded.iter().find(is_same_call);
            assert_eq!(earlier_success, None, "the call succeeded before");
            let result = self.result(call);
            if is_planned && result.status == ToolStatus::Success {
                let number = result
                    .output
                    .as_ref()
                    .and_then(|output| output["result"].as_u64())
                    .unwrap_or_default();
                self.succeeded.push(Success {
                    step: item.to_owned(),
                    tool: call.tool_name.clone(),
                    arguments: call.arguments.clone(),
                    number,
                });
            }
            let position = self.choices.pick_below(results.len() + 1);
            results.insert(position, result);
        }
        let all_succeeded = results.iter().all(|result| result.status == ToolStatus::Success);
        if is_planned && all_succeeded && self.completes(item, calls) {
            self.steps_done_by_planned_calls.insert(item.to_owned());
        }
        results
    }

    /// Returns whether `calls` contains every planned call of a step and calls every tool that the step requires.
    fn completes(&self, item_id: &str, calls: &[ParsedToolCall]) -> bool {
        let item = self.driver.item(item_id);
        let is_called = |tool: &String| calls.iter().any(|call| call.tool_name == *tool);
        calls.len() == item.tool_calls.len() && item.required_tools.iter().all(is_called)
    }

    /// Returns a random result of a call. The output of a success is a number that no other output has, or else a text.
    fn result(&mut self, call: &ParsedToolCall) -> ToolResult {
        let error = |code| ToolResult::error(call, code, "it does not work");
        match self.choices.pick_below(8) {
            4 => error(ToolErrorCode::IoError),
            5 => error(ToolErrorCode::PermissionDenied),
            6 => {
                let mut refused = error(ToolErrorCode::ValidationError);
                refused.metadata.not_run = true;
                refused
            }
            7 => ToolResult::success(call, json!("a text alone")),
            _ => ToolResult::success(call, json!({"result": 1_000_000 + self.call_ids.len()})),
        }
    }

    /// Returns a random reply of the model for a step. Asserts that `prompt` shows the outputs of the planned calls that
    /// succeeded.
    fn reply(&mut self, item: &str, prompt: &str) -> Reply {
        self.steps_with_model_call.insert(item.to_owned());
        assert!(
            !self.steps_done_by_planned_calls.contains(item),
            "no model is needed for {item}"
        );
        for Success { step, number, .. } in self.succeeded.iter().filter(|success| success.step == item) {
            assert!(
                *number == 0 || prompt.contains(&number.to_string()),
                "the output of {step} is not shown"
            );
        }
        match self.choices.pick_below(9) {
            1 => calculate("1"),
            2 => fails_item("it cannot be done"),
            3 => times_out(),
            4 => says("{\"toolCalls\": 1}"),
            5 => self.repeated_call(item),
            6 => native_calls([native_call("x", "clock", "{}"), native_call("y", "calculator", "{")]),
            7 => self.reply_with_added_step(),
            _ => completes_item("done"),
        }
    }

    /// Returns a reply that makes the first successful planned call of a step again, or completes the step if there is none.
    fn repeated_call(&self, item: &str) -> Reply {
        let Some(success) = self.succeeded.iter().find(|success| success.step == item) else {
            return completes_item("done");
        };
        calls(&[(&success.tool, success.arguments.clone())])
    }

    /// Returns a reply that adds a step with planned calls to the plan.
    fn reply_with_added_step(&mut self) -> Reply {
        self.added_steps += 1;
        let earlier_steps: Vec<String> = self.driver.statuses().iter().map(|(id, _)| (*id).to_owned()).collect();
        let step = random_step(&format!("u{}", self.added_steps), &earlier_steps, &mut self.choices);
        let pending = self
            .driver
            .run
            .state()
            .todo_list
            .iter()
            .filter(|item| item.status == TodoItemStatus::Pending);
        let mut list: Vec<Value> = pending
            .map(|item| json!({"id": item.id, "description": item.description, "toolCalls": item.tool_calls, "dependencies": item.dependencies}))
            .collect();
        list.push(step);
        says(json!({"content": "more to do", "updatedPlan": {"todoList": list}}).to_string())
    }

    /// Asserts that the run ended with an answer, that no step is in progress or waits for a person, and that a step is pending
    /// only if a limit was reached.
    fn check_end(&self) {
        let report = self.driver.run.finished().unwrap();
        assert!(!report.response.response.content.is_empty());
        let reached_a_limit = !report.response.metadata.limits_hit.is_empty();
        for item in &self.driver.run.state().todo_list {
            use TodoItemStatus::{InProgress, Pending, Waiting};
            assert!(
                !matches!(item.status, InProgress | Waiting),
                "{} is {:?}",
                item.id,
                item.status
            );
            assert!(item.status != Pending || reached_a_limit, "{} was not started", item.id);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// After every event, the driver replays the journal and compares the replayed run with its own.
    #[test]
    fn planned_calls_succeed_only_once_and_no_step_stays_open(choices in prop::collection::vec(any::<u8>(), 0..160)) {
        let mut case = Case::new(choices);
        case.drive();
        case.check_end();
    }
}
