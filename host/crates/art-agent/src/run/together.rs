//! Before the first step of a plan starts, asks a person at once about all planned calls whose arguments are already known.

use art_core::Timestamp;
use art_core::pes::TodoItemStatus;
use art_core::suspension::{Decision, SuspendedCall};
use art_core::tool::ParsedToolCall;

use super::suspended::{observe_decision, observe_suspended};
use super::{Run, Stage};
use crate::action::{ActionId, FileArgument};
use crate::attachment;
use crate::effect::Outbox;
use crate::event::PlannedQuestion;

/// A planned call whose arguments are known before its step starts.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownCall {
    /// The plan item that makes the call.
    pub item_id: String,
    /// Position among the planned calls of the item, from 0.
    pub index: usize,
    /// The call, with a provisional identifier that is replaced when its step starts.
    pub call: ParsedToolCall,
    /// The arguments that name files of the store.
    pub files: Vec<FileArgument>,
}

/// The questions about the calls of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PlanQuestions {
    /// Whether the plan was checked.
    checked: bool,
    /// The questions whose calls were not made yet.
    questions: Vec<PlanQuestion>,
}

/// A question about a planned call, with its decision if there is one.
#[derive(Clone, Debug, PartialEq)]
struct PlanQuestion {
    item_id: String,
    index: usize,
    suspension: SuspendedCall,
    since: Timestamp,
    decision: Option<Decision>,
}

impl Run {
    /// Returns the calls that the driver has to check against the approval rules before the first step of the plan starts. Returns none
    /// if the configuration does not ask for this check, or it was done. The driver then applies [`PlanChecked`](crate::RunEvent::PlanChecked) with the questions about them.
    #[must_use]
    pub fn calls_to_check(&self) -> Vec<KnownCall> {
        let is_due = self.start.ask_together
            && self.start.call.is_none()
            && matches!(self.stage, Stage::Execution)
            && !self.plan_questions.checked
            && self.started_items.is_empty();
        if !is_due {
            return Vec::new();
        }
        let pending = self.own_items().iter();
        let pending = pending.filter(|item| item.status == TodoItemStatus::Pending);
        pending
            .flat_map(|item| {
                let calls = item.tool_calls.iter().enumerate();
                calls.filter_map(|(index, call)| self.known_call(&item.id, index, self.resolve_call(call).ok()?))
            })
            .collect()
    }

    fn known_call(&self, item: &str, index: usize, raw: crate::call::RawCall) -> Option<KnownCall> {
        let attached = &self.start.props.attachments;
        let is_refused = attachment::check(&raw.arguments, &raw.file_places, attached, &self.files).is_some();
        if is_refused || raw.problem.is_some() {
            return None;
        }
        let files = attachment::file_arguments(&raw.arguments, &raw.file_places, attached, &self.files);
        let files = files.into_iter().map(|(pointer, file)| FileArgument {
            pointer,
            digest: file.digest.clone(),
        });
        Some(KnownCall {
            item_id: item.to_owned(),
            index,
            files: files.collect(),
            call: ParsedToolCall {
                call_id: format!("plan:{index}:{item}"),
                tool_name: raw.tool_name,
                arguments: attachment::expand(&raw.arguments, &raw.file_places, attached),
            },
        })
    }

    /// Returns whether no step may start, because the plan is not checked yet or a question about it is open.
    pub(super) fn is_plan_on_hold(&self) -> bool {
        self.open_plan_questions().next().is_some() || !self.calls_to_check().is_empty()
    }

    /// Returns the open questions about the plan, each with its item and its time.
    pub(super) fn open_plan_questions(&self) -> impl Iterator<Item = (&str, &SuspendedCall, Timestamp)> {
        let questions = self.plan_questions.questions.iter();
        let open = questions.filter(|question| question.decision.is_none());
        open.map(|question| (question.item_id.as_str(), &question.suspension, question.since))
    }

    /// Returns whether there are calls to check, and each question in `asked` is about one of them, no two about the same.
    pub(super) fn are_plan_questions(&self, asked: &[PlannedQuestion]) -> bool {
        let known_calls = self.calls_to_check();
        let is_known = |question: &PlannedQuestion| {
            known_calls.iter().any(|known| {
                let is_same = known.item_id == question.item_id && known.index == question.index;
                is_same && known.call.call_id == question.suspension.call.call_id
            })
        };
        let is_first = |(n, question): (usize, &PlannedQuestion)| {
            let mut before = asked.iter().take(n);
            before.all(|other| (&other.item_id, other.index) != (&question.item_id, question.index))
        };
        !known_calls.is_empty() && asked.iter().all(is_known) && asked.iter().enumerate().all(is_first)
    }

    /// Records the questions about the plan. If there are none, its first steps start.
    pub(super) fn record_plan_questions(&mut self, asked: &[PlannedQuestion], out: &mut Outbox) {
        let since = self.now;
        self.plan_questions.checked = true;
        for question in asked {
            observe_suspended(&question.item_id, &question.suspension, out);
            self.plan_questions.questions.push(PlanQuestion {
                item_id: question.item_id.clone(),
                index: question.index,
                suspension: question.suspension.as_ref().clone(),
                since,
                decision: None,
            });
        }
        self.state.is_paused = !asked.is_empty();
        out.mark_state_changed();
        if asked.is_empty() {
            self.advance(out);
        }
    }

    /// Records a decision about a call of the plan. After the last decision the first steps start. Returns whether the question is
    /// about the plan.
    pub(super) fn decide_about_plan(&mut self, suspension_id: &str, decision: &Decision, out: &mut Outbox) -> bool {
        let mut questions = self.plan_questions.questions.iter_mut();
        let is_asked = |question: &&mut PlanQuestion| question.suspension.suspension_id == suspension_id;
        let Some(question) = questions.find(is_asked) else {
            return false;
        };
        question.decision = Some(decision.clone());
        observe_decision(&question.item_id, &question.suspension, decision, out);
        let is_paused = self.open_plan_questions().next().is_some();
        self.state.is_paused = is_paused;
        out.mark_state_changed();
        if !is_paused {
            self.advance(out);
        }
        true
    }

    /// Carries out the decisions about the calls of a step that has just been opened: `call_ids` has their identifiers in the order of
    /// the plan.
    pub(super) fn apply_plan_decisions(&mut self, item_id: &str, action: ActionId, call_ids: &[String]) {
        let (of_item, others) = std::mem::take(&mut self.plan_questions.questions)
            .into_iter()
            .partition(|question: &PlanQuestion| question.item_id == item_id);
        self.plan_questions.questions = others;
        for question in of_item {
            let call_id = call_ids.get(question.index).filter(|id| self.is_open_call(action, id));
            let (Some(call_id), Some(decision)) = (call_id, question.decision) else {
                continue;
            };
            let mut suspension = question.suspension;
            suspension.call.call_id.clone_from(call_id);
            self.apply_decision(action, suspension, &decision, question.since);
        }
    }

    fn is_open_call(&self, action: ActionId, call_id: &str) -> bool {
        self.batch(action)
            .is_some_and(|batch| batch.calls.iter().any(|call| call.call_id == call_id))
    }

    /// Continues the steps whose calls all have results, because a person rejected them before the step started. Returns whether
    /// there are any.
    pub(super) fn continue_ended_batches(&mut self, out: &mut Outbox) -> bool {
        let mut continued = false;
        while let Some(action) = self.ended_batch() {
            continued = true;
            self.continue_batch(action, out);
        }
        continued
    }
}
