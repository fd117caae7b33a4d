//! Asks a person about all planned calls together, before the first step of the plan starts. This is possible only for calls
//! whose arguments are known then; a person is asked about any other call when it is to be made.

use art_core::Timestamp;
use art_core::pes::TodoItemStatus;
use art_core::suspension::{Decision, SuspendedCall};
use art_core::tool::ParsedToolCall;

use super::suspended::{observe_decision, observe_suspended};
use super::{Run, Stage};
use crate::action::{ActionId, FileArgument};
use crate::attachment;
use crate::effect::Outbox;
use crate::event::PlannedCallQuestion;

/// A planned call whose arguments are known before its step starts.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownCall {
    /// The plan item that makes the call.
    pub item_id: String,
    /// Position among the planned calls of the item, from 0.
    pub index: usize,
    /// The call, with a provisional identifier, which is replaced when its step starts.
    pub call: ParsedToolCall,
    /// The arguments that take files of earlier calls, which are in the store.
    pub files: Vec<FileArgument>,
}

/// The questions about the calls of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PlanQuestions {
    /// Whether the driver has checked the calls of the plan against the approval rules.
    is_checked: bool,
    /// The questions about calls whose steps have not started.
    questions: Vec<PlanQuestion>,
}

/// A question about a planned call, with its decision if there is one.
#[derive(Clone, Debug, PartialEq)]
struct PlanQuestion {
    item_id: String,
    /// Position of the call among the planned calls of the item, from 0.
    index: usize,
    /// The call and the question about it.
    suspension: SuspendedCall,
    /// Time at which the question was asked.
    since: Timestamp,
    decision: Option<Decision>,
}

impl Run {
    /// Returns the calls that the driver has to check against the approval rules before the first step of the plan starts. After
    /// the check, the driver applies [`PlanChecked`](crate::RunEvent::PlanChecked) with the questions about these calls. Returns
    /// none if the configuration does not ask for this check, or if the check was made.
    #[must_use]
    pub fn calls_to_check(&self) -> Vec<KnownCall> {
        let is_due = self.start.ask_together
            && self.start.call.is_none()
            && matches!(self.stage, Stage::Execution)
            && !self.plan_questions.is_checked
            && self.started_items.is_empty();
        if !is_due {
            return Vec::new();
        }
        let items = self.own_items().iter();
        let pending = items.filter(|item| item.status == TodoItemStatus::Pending);
        pending
            .flat_map(|item| {
                let calls = item.tool_calls.iter().enumerate();
                calls.filter_map(|(index, call)| self.known_call(&item.id, index, self.resolve_call(call).ok()?))
            })
            .collect()
    }

    /// Returns the planned call `raw`, in which values have replaced the references, or `None` if the call will be refused.
    fn known_call(&self, item_id: &str, index: usize, raw: crate::call::RawCall) -> Option<KnownCall> {
        let attached = &self.start.props.attachments;
        let is_refused =
            attachment::argument_error(&raw.arguments, &raw.file_name_pointers, attached, &self.files).is_some();
        if is_refused || raw.problem.is_some() {
            return None;
        }
        let files = attachment::file_arguments(&raw.arguments, &raw.file_name_pointers, attached, &self.files);
        let files = files.into_iter().map(|(pointer, file)| FileArgument {
            pointer,
            digest: file.digest.clone(),
        });
        Some(KnownCall {
            item_id: item_id.to_owned(),
            index,
            files: files.collect(),
            call: ParsedToolCall {
                call_id: format!("plan:{index}:{item_id}"),
                tool_name: raw.tool_name,
                arguments: attachment::insert_contents(&raw.arguments, &raw.file_name_pointers, attached),
            },
        })
    }

    /// Returns whether no step may start yet, because the plan has to be checked first or a question about it is open.
    pub(super) fn is_plan_on_hold(&self) -> bool {
        self.open_plan_questions().next().is_some() || !self.calls_to_check().is_empty()
    }

    /// Returns the questions about the plan that are not decided, each with its item and the time since which it is open.
    pub(super) fn open_plan_questions(&self) -> impl Iterator<Item = (&str, &SuspendedCall, Timestamp)> {
        let questions = self.plan_questions.questions.iter();
        let open = questions.filter(|question| question.decision.is_none());
        open.map(|question| (question.item_id.as_str(), &question.suspension, question.since))
    }

    /// Returns whether there are calls to check, and each of the questions is about one of them, no two about the same.
    pub(super) fn are_about_calls_to_check(&self, questions: &[PlannedCallQuestion]) -> bool {
        let known_calls = self.calls_to_check();
        let is_known = |question: &PlannedCallQuestion| {
            known_calls.iter().any(|known| {
                let is_same = known.item_id == question.item_id && known.index == question.index;
                is_same && known.call.call_id == question.suspension.call.call_id
            })
        };
        let is_first = |(n, question): (usize, &PlannedCallQuestion)| {
            let mut before = questions.iter().take(n);
            before.all(|other| (&other.item_id, other.index) != (&question.item_id, question.index))
        };
        !known_calls.is_empty() && questions.iter().all(is_known) && questions.iter().enumerate().all(is_first)
    }

    /// Records the questions about the plan. If there are no questions, the first steps of the plan start.
    pub(super) fn record_plan_questions(&mut self, questions: &[PlannedCallQuestion], out: &mut Outbox) {
        let since = self.now;
        self.plan_questions.is_checked = true;
        for question in questions {
            observe_suspended(&question.item_id, &question.suspension, out);
            self.plan_questions.questions.push(PlanQuestion {
                item_id: question.item_id.clone(),
                index: question.index,
                suspension: question.suspension.as_ref().clone(),
                since,
                decision: None,
            });
        }
        self.state.is_paused = !questions.is_empty();
        out.mark_state_changed();
        if questions.is_empty() {
            self.advance(out);
        }
    }

    /// Records the decision of a question about the plan. When all are decided, the first steps start. Returns false if the
    /// suspension belongs to no such question.
    pub(super) fn decide_about_plan(&mut self, suspension_id: &str, decision: &Decision, out: &mut Outbox) -> bool {
        let mut questions = self.plan_questions.questions.iter_mut();
        let has_suspension = |question: &&mut PlanQuestion| question.suspension.suspension_id == suspension_id;
        let Some(question) = questions.find(has_suspension) else {
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

    /// Carries out the decisions about the planned calls of an item, which have just been opened as `action`. `call_ids` has the
    /// identifiers of these calls in the order of the plan.
    pub(super) fn apply_plan_decisions(&mut self, item_id: &str, action: ActionId, call_ids: &[String]) {
        let (of_item, others) = std::mem::take(&mut self.plan_questions.questions)
            .into_iter()
            .partition(|question: &PlanQuestion| question.item_id == item_id);
        self.plan_questions.questions = others;
        for question in of_item {
            // A call that was refused, or that succeeded when its item was in progress before, is not in the batch.
            let call_id = call_ids.get(question.index).filter(|id| self.is_in_batch(action, id));
            let (Some(call_id), Some(decision)) = (call_id, question.decision) else {
                continue;
            };
            let mut suspension = question.suspension;
            suspension.call.call_id.clone_from(call_id);
            self.apply_decision(action, suspension, &decision, question.since);
        }
    }

    /// Returns whether an open batch contains this call.
    fn is_in_batch(&self, action: ActionId, call_id: &str) -> bool {
        self.batch(action)
            .is_some_and(|batch| batch.calls.iter().any(|call| call.call_id == call_id))
    }

    /// Continues each item whose calls all have results as soon as they are opened. This happens if a person decided about the
    /// calls before the item started. Returns whether there are any such items.
    pub(super) fn continue_ended_batches(&mut self, out: &mut Outbox) -> bool {
        let mut continued = false;
        while let Some(action) = self.find_ended_batch() {
            continued = true;
            self.continue_if_batch_ended(action, out);
        }
        continued
    }
}
