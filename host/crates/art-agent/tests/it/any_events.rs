//! Checks that a run ends whatever the order of replies, ends of calls, decisions, crashes and cancellations.

use std::collections::BTreeMap;

use art_agent::{ApplyError, KnownCall, PlannedQuestion, Run, RunEvent};
use art_core::error::ToolErrorCode;
use art_core::hitl::Feedback;
use art_core::pes::TodoItemStatus;
use art_core::tool::{ExecutionMode, ParsedToolCall, ToolResult, ToolStatus};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::*;

/// What happens next in a run.
#[derive(Clone, Debug)]
enum Happening {
    /// The model of an open call, chosen by number, replies in this way.
    Reply(usize, u8),
    /// A ready call is announced.
    Announce(usize),
    /// A call in progress ends in this way.
    End(usize, u8),
    /// A ready call is refused before it is made.
    Refuse(usize),
    /// A ready call waits for a person before it is made.
    Suspend(usize),
    /// A person decides about a call that waits.
    Decide(usize, u8),
    /// The host is stopped, and another one resumes the run. If the flag is set, calls in progress end with an unknown outcome.
    Crash(bool),
    Cancel,
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        6 => (0usize..4, 0u8..9).prop_map(|(n, kind)| Happening::Reply(n, kind)),
        5 => (0usize..4).prop_map(Happening::Announce),
        5 => (0usize..4, 0u8..5).prop_map(|(n, kind)| Happening::End(n, kind)),
        2 => (0usize..4).prop_map(Happening::Suspend),
        3 => (0usize..4, 0u8..6).prop_map(|(n, kind)| Happening::Decide(n, kind)),
        1 => (0usize..4).prop_map(Happening::Refuse),
        2 => any::<bool>().prop_map(Happening::Crash),
        1 => Just(Happening::Cancel),
    ]
}

fn reply(step: &str, kind: u8) -> Reply {
    if step == "plan" {
        return match kind {
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
    match kind {
        0 => times_out(),
        1 => exceeds_context(),
        2 => fails_item("it cannot be done"),
        3 => says("{\"toolCalls\": 1}"),
        4 | 5 => calls(&[
            ("calculator", json!({"expression": format!("{step}{kind}")})),
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

/// A run with its journal. Every event is checked by the driver: the journal replays to the same run.
struct RandomRun {
    driver: Driver,
    statuses: BTreeMap<String, TodoItemStatus>,
    /// Number of questions so far, from which each gets its identifier.
    question_count: u32,
    /// Bit mask of the calls of the plan that a person is asked about before its first step.
    asked: u8,
}

impl RandomRun {
    fn new(native: bool, max_tokens: Option<u64>, together: Option<u8>) -> Self {
        let mut start = start("q");
        start.ask_together = together.is_some();
        start.native_tools = native;
        start.context = Some(100_000).into();
        start.config.max_tokens = max_tokens;
        for tool in &mut start.tools {
            if tool.name == "clock" {
                tool.execution_mode = ExecutionMode::Blocking;
            }
        }
        Self {
            driver: Driver::new(start),
            statuses: BTreeMap::new(),
            question_count: 0,
            asked: together.unwrap_or_default(),
        }
    }

    /// Makes `happening` happen, if it can in this state.
    fn perform(&mut self, happening: &Happening) {
        match happening {
            Happening::Reply(n, kind) => {
                let models = self.driver.open_actions().into_iter();
                let models = models.filter(|action| matches!(action, Action::CallModel(_)));
                if let Some(action) = pick(models.collect(), *n) {
                    let answer = RunEvent::of_reply(2_000, action.id(), reply(&action.step(), *kind));
                    self.apply(&answer);
                }
            }
            Happening::Announce(n) => {
                if let Some(ready) = pick(self.driver.run.ready_calls(), *n) {
                    self.apply(&call_event(2_000, ready.action, &ready.call));
                }
            }
            Happening::End(n, kind) => {
                if let Some(call) = pick(self.driver.run.calls_in_progress(), *n) {
                    let result = match kind {
                        0 => ToolResult::error(&call.call, ToolErrorCode::IoError, "broken"),
                        4 => self.suspended_result(&call.call),
                        _ => tools(&call.call),
                    };
                    self.apply(&end_event(2_000, call.action, result));
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
                    let mut suspension = question(&id, &result);
                    suspension.runs_on_approval = true;
                    self.apply(&RunEvent::CallSuspended {
                        at: 2_000,
                        action: ready.action,
                        suspension: Box::new(suspension),
                    });
                }
            }
            Happening::Decide(n, kind) => {
                let suspensions = self.driver.run.suspensions().into_iter();
                let ids: Vec<_> = suspensions.map(|open| open.suspension.suspension_id.clone()).collect();
                if let Some(id) = pick(ids, *n) {
                    self.decide(&id, *kind);
                }
            }
            Happening::Crash(is_unknown) => self.crash(*is_unknown),
            Happening::Cancel => self.driver.cancel(),
        }
    }

    /// Returns the result of a call whose tool asks a person.
    fn suspended_result(&mut self, call: &ParsedToolCall) -> ToolResult {
        self.question_count += 1;
        let mut result = tools(call);
        result.status = ToolStatus::Suspended;
        result.error = None;
        result.metadata.not_run = false;
        result.metadata.suspension_id = Some(format!("s{}", self.question_count));
        result
    }

    /// Decides about a suspension. Nobody can decide about it again.
    fn decide(&mut self, id: &str, kind: u8) {
        let feedback = match kind {
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

    /// Continues from the journal, as another host does.
    fn crash(&mut self, is_unknown: bool) {
        self.driver.run = Run::replay(&self.driver.journal).unwrap();
        for call in self.driver.run.calls_in_progress() {
            if is_unknown {
                let result = ToolResult::error(&call.call, ToolErrorCode::UnknownOutcome, "unknown");
                self.apply(&end_event(2_000, call.action, result));
            }
        }
        if self.driver.run.finished().is_none() {
            self.driver.forget_models();
            self.apply(&RunEvent::Resumed {
                at: 2_000,
                fuel_basis: String::new(),
            });
        }
    }

    /// Applies an event, and then checks the plan if calls are to be checked, as a driver does.
    fn apply(&mut self, event: &RunEvent) {
        self.apply_one(event);
        let known = self.driver.run.calls_to_check();
        if !known.is_empty() {
            let asked = (0..).zip(&known).filter(|(n, _)| self.asked >> (n % 8) & 1 == 1);
            let asked: Vec<_> = asked.map(|(_, known)| known.clone()).collect();
            let questions = asked.iter().map(|known| self.question_about(known)).collect();
            self.apply_one(&RunEvent::PlanChecked { at: 2_000, questions });
        }
    }

    fn question_about(&mut self, known: &KnownCall) -> PlannedQuestion {
        let result = self.suspended_result(&known.call);
        let id = result.metadata.suspension_id.clone().unwrap();
        let mut suspension = question(&id, &result);
        suspension.runs_on_approval = true;
        PlannedQuestion {
            item_id: known.item_id.clone(),
            index: known.index,
            suspension: Box::new(suspension),
        }
    }

    /// Applies an event, and checks that every step changes its status only as it may.
    fn apply_one(&mut self, event: &RunEvent) {
        self.driver.apply(event);
        let items = &self.driver.run.state().todo_list;
        for item in items {
            let before = self.statuses.insert(item.id.clone(), item.status);
            assert!(
                may_become(before, item.status),
                "`{}`: {before:?} to {:?}",
                item.id,
                item.status
            );
        }
    }

    /// Returns whether nothing can happen although the run has not ended and waits for no person.
    fn is_stuck(&self) -> bool {
        let run = &self.driver.run;
        let waits =
            run.finished().is_none() && self.driver.open_actions().is_empty() && run.calls_in_progress().is_empty();
        assert_eq!(run.waits_for_decision(), waits && !run.suspensions().is_empty());
        waits && run.suspensions().is_empty()
    }
}

/// Returns whether an item with the status `before` may have the status `after` some events later (P84).
fn may_become(before: Option<TodoItemStatus>, after: TodoItemStatus) -> bool {
    use TodoItemStatus::{Cancelled, Completed, Failed};
    match before {
        Some(ended @ (Completed | Failed | Cancelled)) => after == ended,
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever happens, the run is never stuck, and a replay refuses no event that the run accepts. If then only calls,
    /// replies and approvals follow, the run ends with one answer.
    #[test]
    fn a_run_is_never_stuck_and_always_ends(
        happenings in prop::collection::vec(happening(), 0..60),
        native in any::<bool>(),
        max_tokens in prop::option::of(100u64..20_000),
        together in prop::option::of(any::<u8>()),
    ) {
        let mut random_run = RandomRun::new(native, max_tokens, together);
        for happening in &happenings {
            if random_run.driver.run.finished().is_some() {
                break;
            }
            random_run.perform(happening);
            prop_assert!(!random_run.is_stuck(), "after {happening:?}");
        }
        for n in 0..400 {
            if random_run.driver.run.finished().is_some() {
                break;
            }
            for happening in [
                Happening::Announce(n), Happening::End(n, 1), Happening::Reply(n, 8), Happening::Decide(n, 3),
            ] {
                if random_run.driver.run.finished().is_none() {
                    random_run.perform(&happening);
                }
            }
        }
        let report = random_run.driver.run.finished();
        prop_assert!(report.is_some(), "the run does not end");
        prop_assert!(!report.unwrap().response.response.content.is_empty());
        let ends = random_run.driver.observations(art_core::observation::ObservationType::FinalResponse);
        prop_assert_eq!(ends.len(), 1);
        prop_assert!(!random_run.driver.run.state().is_paused);
        let is_open = |status| matches!(status, TodoItemStatus::InProgress | TodoItemStatus::Waiting);
        let open = random_run.driver.statuses().iter().filter(|(_, status)| is_open(*status)).count();
        prop_assert_eq!(open, 0);
    }
}
