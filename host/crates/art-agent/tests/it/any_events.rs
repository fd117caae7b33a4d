//! Checks that a run ends, in whatever order replies, ends of calls, decisions, crashes and a cancellation come.

use std::collections::BTreeMap;

use art_agent::{ApplyError, KnownCall, PlannedCallQuestion, Run, RunEvent, ToolCall};
use art_core::error::ToolErrorCode;
use art_core::hitl::Feedback;
use art_core::pes::TodoItemStatus;
use art_core::tool::{ExecutionMode, ParsedToolCall, ToolResult, ToolStatus};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::*;

/// What happens next in a run. The first number chooses one of the calls to which it can happen (see [`pick`]). The second
/// number, if there is one, chooses among several ways in which it can happen.
#[derive(Clone, Debug)]
enum Happening {
    /// The model replies to a model call in progress; [`reply`] lists the ways.
    Reply(usize, u8),
    /// A tool call that may be made is announced, and is in progress from then on.
    Announce(usize),
    /// A tool call in progress ends; [`RandomRun::end_call`] lists the ways.
    End(usize, u8),
    /// A tool call that may be made is refused.
    Refuse(usize),
    /// A tool call that may be made is suspended before it is made.
    Suspend(usize),
    /// A person decides about a call that waits; [`RandomRun::decide`] lists the ways.
    Decide(usize, u8),
    /// The host is stopped, and another one resumes the run.
    Crash { outcomes_are_unknown: bool },
    /// The person cancels the run.
    Cancel,
}

/// Way of [`Happening::Reply`] in which the reply completes its item.
const COMPLETES_ITEM: u8 = 8;

/// Way of [`Happening::End`] in which the call succeeds.
const SUCCEEDS: u8 = 1;

/// Way of [`Happening::Decide`] in which the person approves the call as it is.
const APPROVES: u8 = 3;

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        6 => (0usize..4, 0u8..9).prop_map(|(n, way)| Happening::Reply(n, way)),
        5 => (0usize..4).prop_map(Happening::Announce),
        5 => (0usize..4, 0u8..5).prop_map(|(n, way)| Happening::End(n, way)),
        2 => (0usize..4).prop_map(Happening::Suspend),
        3 => (0usize..4, 0u8..6).prop_map(|(n, way)| Happening::Decide(n, way)),
        1 => (0usize..4).prop_map(Happening::Refuse),
        2 => any::<bool>().prop_map(|outcomes_are_unknown| Happening::Crash { outcomes_are_unknown }),
        1 => Just(Happening::Cancel),
    ]
}

/// Returns a reply to a request for `step`, which is `plan`, the identifier of an item, or `answer`.
fn reply(step: &str, way: u8) -> Reply {
    if step == "plan" {
        return match way {
            0 => says("no plan"),
            1 => times_out(),
            2 => exceeds_context(),
            3 => native_calls([native_call("x", "calculator", "{}"), native_call("y", "clock", "{}")]),
            _ => plan(&json!([
                planned_item("p", "1", &[]),
                planned_item("q", "2", &["p"]),
                tool_item("a", &["p"]),
                reasoning_item("b", &[]),
                tool_item("c", &["b"]),
            ])),
        };
    }
    match way {
        0 => times_out(),
        1 => exceeds_context(),
        2 => fails_item("it cannot be done"),
        3 => says("{\"toolCalls\": 1}"),
        4 | 5 => calls(&[
            ("calculator", json!({"expression": format!("{step}{way}")})),
            ("clock", json!({"expression": "2"})),
            ("calculator", json!({"expression": "3"})),
        ]),
        _ => completes_item("x"),
    }
}

/// Returns an item with a planned call.
fn planned_item(id: &str, expression: &str, dependencies: &[&str]) -> Value {
    let mut item = tool_item(id, dependencies);
    item["toolCalls"] = json!([{"toolName": "calculator", "arguments": {"expression": expression}}]);
    item
}

/// Returns the element at position `n` modulo the length of the list, or `None` if the list is empty.
fn pick<T>(mut list: Vec<T>, n: usize) -> Option<T> {
    (!list.is_empty()).then(|| list.swap_remove(n % list.len()))
}

/// A run with its journal. After every event the driver checks that the journal replays to the same run.
struct RandomRun {
    driver: Driver,
    /// The status of each item after the previous event.
    last_statuses: BTreeMap<String, TodoItemStatus>,
    /// Number of questions so far, from which each gets its identifier.
    question_count: u32,
    /// Bit mask of the calls of the plan about which a person is asked before the first step starts. The lowest bit stands for
    /// the first call, and again for the ninth.
    calls_to_ask_about: u8,
}

impl RandomRun {
    /// Creates a run. If there is a bit mask `calls_to_ask_about`, a person is asked about these calls together, before the first
    /// step starts.
    fn new(native_tools: bool, max_tokens: Option<u64>, calls_to_ask_about: Option<u8>) -> Self {
        let mut start = start("q");
        start.ask_together = calls_to_ask_about.is_some();
        start.native_tools = native_tools;
        start.context = Some(100_000).into();
        start.config.max_tokens = max_tokens;
        for tool in &mut start.tools {
            if tool.name == "clock" {
                tool.execution_mode = ExecutionMode::Blocking;
            }
        }
        Self {
            driver: Driver::new(start),
            last_statuses: BTreeMap::new(),
            question_count: 0,
            calls_to_ask_about: calls_to_ask_about.unwrap_or_default(),
        }
    }

    /// Makes `happening` happen, if the run has a call to which it can happen.
    fn perform(&mut self, happening: &Happening) {
        match happening {
            Happening::Reply(n, way) => {
                let actions = self.driver.open_actions().into_iter();
                let model_calls = actions.filter(|action| matches!(action, Action::CallModel(_)));
                if let Some(action) = pick(model_calls.collect(), *n) {
                    let event = RunEvent::of_reply(2_000, action.id(), reply(&action.step(), *way));
                    self.apply(&event);
                }
            }
            Happening::Announce(n) => {
                if let Some(ready) = pick(self.driver.run.ready_calls(), *n) {
                    self.apply(&call_event(2_000, ready.action, &ready.call));
                }
            }
            Happening::End(n, way) => {
                if let Some(call) = pick(self.driver.run.calls_in_progress(), *n) {
                    self.end_call(&call, *way);
                }
            }
            Happening::Refuse(n) => {
                if let Some(ready) = pick(self.driver.run.ready_calls(), *n) {
                    let mut result = ToolResult::error(&ready.call, ToolErrorCode::ToolDisabled, "disabled");
                    result.metadata.not_run = true;
                    self.apply(&end_event(2_000, ready.action, result));
                }
            }
            Happening::Suspend(n) => {
                if let Some(ready) = pick(self.driver.run.ready_calls(), *n) {
                    let result = self.suspended_result(&ready.call);
                    let id = result.metadata.suspension_id.clone().unwrap();
                    let mut suspension = suspension_by_tool(&id, &result);
                    suspension.runs_on_approval = true;
                    self.apply(&RunEvent::CallSuspended {
                        at: 2_000,
                        action: ready.action,
                        suspension: Box::new(suspension),
                    });
                }
            }
            Happening::Decide(n, way) => {
                let suspensions = self.driver.run.suspensions().into_iter();
                let ids: Vec<_> = suspensions.map(|open| open.suspension.suspension_id.clone()).collect();
                if let Some(id) = pick(ids, *n) {
                    self.decide(&id, *way);
                }
            }
            Happening::Crash { outcomes_are_unknown } => self.crash(*outcomes_are_unknown),
            Happening::Cancel => self.driver.cancel(),
        }
    }

    /// Ends a tool call in progress.
    fn end_call(&mut self, call: &ToolCall, way: u8) {
        let result = match way {
            0 => ToolResult::error(&call.call, ToolErrorCode::IoError, "broken"),
            4 => self.suspended_result(&call.call),
            _ => stand_in_result(&call.call),
        };
        self.apply(&end_event(2_000, call.action, result));
    }

    /// Returns the result of a call that is suspended, with the identifier of a new suspension.
    fn suspended_result(&mut self, call: &ParsedToolCall) -> ToolResult {
        self.question_count += 1;
        let mut result = stand_in_result(call);
        result.status = ToolStatus::Suspended;
        result.error = None;
        result.metadata.not_run = false;
        result.metadata.suspension_id = Some(format!("s{}", self.question_count));
        result
    }

    /// Decides about a suspension. Checks that nobody can decide about it again.
    fn decide(&mut self, id: &str, way: u8) {
        let feedback = match way {
            0 | 1 => rejection("no"),
            2 => Feedback {
                modified_args: Some(json!({"expression": "4"})),
                ..approval()
            },
            _ => approval(),
        };
        let event = decision_event(id, feedback);
        self.apply(&event);
        let again = self.driver.run.apply(&event).unwrap_err();
        assert!(
            matches!(again, ApplyError::NotSuspended { .. } | ApplyError::Finished),
            "{again}"
        );
    }

    /// Continues from the journal, as another host does. Ends the calls in progress if it cannot be known whether their tools
    /// ran.
    fn crash(&mut self, outcomes_are_unknown: bool) {
        self.driver.run = Run::replay(&self.driver.journal).unwrap();
        for call in self.driver.run.calls_in_progress() {
            if outcomes_are_unknown {
                let result = ToolResult::error(&call.call, ToolErrorCode::UnknownOutcome, "unknown");
                self.apply(&end_event(2_000, call.action, result));
            }
        }
        if self.driver.run.finished().is_none() {
            self.driver.forget_model_calls();
            self.apply(&RunEvent::Resumed {
                at: 2_000,
                fuel_basis: String::new(),
            });
        }
    }

    /// Applies an event. If there are calls to check afterwards, applies the questions about them as well, as a driver does.
    fn apply(&mut self, event: &RunEvent) {
        self.apply_and_check_statuses(event);
        let known = self.driver.run.calls_to_check();
        if !known.is_empty() {
            let asked = (0..)
                .zip(&known)
                .filter(|(n, _)| self.calls_to_ask_about >> (n % 8) & 1 == 1);
            let asked: Vec<_> = asked.map(|(_, known)| known.clone()).collect();
            let questions = asked.iter().map(|known| self.question_about(known)).collect();
            self.apply_and_check_statuses(&RunEvent::PlanChecked { at: 2_000, questions });
        }
    }

    /// Returns a question about a planned call, which is made if the person approves it.
    fn question_about(&mut self, known: &KnownCall) -> PlannedCallQuestion {
        let result = self.suspended_result(&known.call);
        let id = result.metadata.suspension_id.clone().unwrap();
        let mut suspension = suspension_by_tool(&id, &result);
        suspension.runs_on_approval = true;
        PlannedCallQuestion {
            item_id: known.item_id.clone(),
            index: known.index,
            suspension: Box::new(suspension),
        }
    }

    /// Applies an event, and checks that every step changes its status only as it may.
    fn apply_and_check_statuses(&mut self, event: &RunEvent) {
        self.driver.apply(event);
        let items = &self.driver.run.state().todo_list;
        for item in items {
            let before = self.last_statuses.insert(item.id.clone(), item.status);
            assert!(
                may_become(before, item.status),
                "`{}`: {before:?} to {:?}",
                item.id,
                item.status
            );
        }
    }

    /// Returns whether nothing can happen although the run has not ended and does not wait for a person. Also checks that the run
    /// itself says correctly whether it waits for a person.
    fn is_stuck(&self) -> bool {
        let run = &self.driver.run;
        let nothing_is_open =
            run.finished().is_none() && self.driver.open_actions().is_empty() && run.calls_in_progress().is_empty();
        assert_eq!(
            run.waits_for_decision(),
            nothing_is_open && !run.suspensions().is_empty()
        );
        nothing_is_open && run.suspensions().is_empty()
    }
}

/// Returns whether an item with the status `before` may have the status `after` some events later (contract P84).
fn may_become(before: Option<TodoItemStatus>, after: TodoItemStatus) -> bool {
    use TodoItemStatus::{Cancelled, Completed, Failed};
    match before {
        Some(ended @ (Completed | Failed | Cancelled)) => after == ended,
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever happens, the run is never stuck, and a replay accepts every event that the run accepted. If afterwards calls only
    /// succeed, replies only complete their items and persons only approve, the run ends with one answer.
    #[test]
    fn a_run_is_never_stuck_and_always_ends(
        happenings in prop::collection::vec(happening(), 0..60),
        native_tools in any::<bool>(),
        max_tokens in prop::option::of(100u64..20_000),
        calls_to_ask_about in prop::option::of(any::<u8>()),
    ) {
        let mut random_run = RandomRun::new(native_tools, max_tokens, calls_to_ask_about);
        for happening in &happenings {
            if random_run.driver.run.finished().is_some() {
                break;
            }
            random_run.perform(happening);
            prop_assert!(!random_run.is_stuck(), "after {happening:?}");
        }
        // No run of this test needs as many rounds as this to end.
        for n in 0..400 {
            if random_run.driver.run.finished().is_some() {
                break;
            }
            for happening in [
                Happening::Announce(n),
                Happening::End(n, SUCCEEDS),
                Happening::Reply(n, COMPLETES_ITEM),
                Happening::Decide(n, APPROVES),
            ] {
                if random_run.driver.run.finished().is_none() {
                    random_run.perform(&happening);
                }
            }
        }
        let report = random_run.driver.run.finished();
        prop_assert!(report.is_some(), "the run does not end");
        prop_assert!(!report.unwrap().response.response.content.is_empty());
        let answers = random_run.driver.observations(art_core::observation::ObservationType::FinalResponse);
        prop_assert_eq!(answers.len(), 1);
        prop_assert!(!random_run.driver.run.state().is_paused);
        let is_open = |status| matches!(status, TodoItemStatus::InProgress | TodoItemStatus::Waiting);
        let open = random_run.driver.statuses().iter().filter(|(_, status)| is_open(*status)).count();
        prop_assert_eq!(open, 0);
    }
}
