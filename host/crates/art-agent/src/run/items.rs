//! Execution: starts the items of the plan whose dependencies are completed, up to the maximum number of items of a run
//! (contract P34), and ends them. If an item fails, items that do not depend on it continue (contract P39), but the run
//! is not a success (contract P41). A reply of the model for an item may also change the plan (contract P61).

use art_core::observation::ObservationType;
use art_core::pes::{PlannedCall, StepOutputEntry, TodoItem, TodoItemStatus};
use art_core::shared::Shared;
use art_core::stream::{ModelReply, Phase};
use art_core::text::{DEFAULT_STRINGIFY_LIMIT, truncate};
use art_core::tool::ParsedToolCall;
use art_core::usage::ModelWork;
use serde_json::{Value, json};

use super::{OpenAction, Run, Stage};
use crate::attachment::FileNamePointers;
use crate::call::RawCall;
use crate::effect::Outbox;
use crate::event::CallRefusal;
use crate::item::{AdmissionContext, ItemRun, NextMove};
use crate::parse::{self, PlanUpdate};
use crate::plan::{self, OutputReference};
use crate::prompt;
use crate::truncate;

impl Run {
    /// Starts the items that are ready, as many as may be in progress together. If no item is in progress afterwards, asks the
    /// planner again if it waits for results, or else starts the synthesis.
    pub(super) fn advance(&mut self, out: &mut Outbox) {
        self.stage = Stage::Execution;
        if self.is_plan_on_hold() {
            return;
        }
        self.cancel_blocked_items(out);
        let max_parallel = usize::try_from(self.config().max_parallel_items).unwrap_or(usize::MAX);
        while self.running.len() < max_parallel {
            let Some(item) = plan::next_ready(&self.state.todo_list).cloned() else {
                break;
            };
            if self.record_if_budget_spent() {
                break;
            }
            // When a plan is adopted, it is checked against this limit, but a plan that this run continues is not adopted again.
            if self.item_start_count >= self.config().max_items {
                self.record_limit(format!(
                    "the run worked on its maximum of {} items",
                    self.config().max_items
                ));
                break;
            }
            self.start_item(&item, out);
        }
        // If a person has already decided about all calls of an item, all of them may have results as soon as they are opened.
        if self.continue_ended_batches(out) {
            // Each item that was continued is still in progress, or `advance` was called again when it ended.
            return;
        }
        if self.running.is_empty() {
            // An item may have failed before its first model call was opened.
            self.cancel_blocked_items(out);
            if self.planner_waits_for_results() {
                self.continue_planning(out);
            } else {
                self.begin_synthesis(out);
            }
        }
    }

    /// Handles the reply of the model for the item `id`: updates the plan, and makes the next call or ends the item.
    pub(super) fn handle_item_reply(&mut self, id: &str, reply: &ModelReply, out: &mut Outbox) {
        if parse::is_withheld(reply) {
            return self.fail_item(id, parse::WITHHELD_REASON, out);
        }
        let mut parsed = parse::parse_execution(reply);
        self.observe_thoughts(Phase::Execution, Some(id), &parsed.thoughts, out);
        if let Some(item) = self.item_mut(id).filter(|_| !parsed.thoughts.is_empty()) {
            item.thoughts.push(truncate(&parsed.thoughts, DEFAULT_STRINGIFY_LIMIT));
        }
        if let Some(update) = parsed.updated_plan.take() {
            let problems = self.update_plan(update, out);
            parsed.problems.extend(problems);
        }
        let config = self.config();
        let mut admission = AdmissionContext {
            trace_id: &self.trace_id,
            attachments: &self.start.props.attachments,
            files: &self.files,
            call_ids: &mut self.call_ids,
            rejections: &self.rejections,
            remaining_tool_calls: config.max_tool_calls.saturating_sub(self.usage.tool_calls_opened),
            config,
        };
        let item = self.state.todo_list.iter().find(|item| item.id == id);
        let (Some(item), Some(item_run)) = (item, self.running.get_mut(id)) else {
            return;
        };
        let next = item_run.handle_reply(item, &parsed, &reply.text, &mut admission);
        self.usage.tool_calls_opened = config.max_tool_calls.saturating_sub(admission.remaining_tool_calls);
        self.apply_next_move(id, next, out);
    }

    /// Fails the item. Other items continue (contracts P39, P41).
    pub(super) fn fail_item(&mut self, id: &str, reason: &str, out: &mut Outbox) {
        self.end_item(id, Err(reason.to_owned()), out);
        self.advance(out);
    }

    /// Carries out the next move of an item: makes calls for it, or ends it.
    pub(super) fn apply_next_move(&mut self, id: &str, next: NextMove, out: &mut Outbox) {
        match next {
            NextMove::CallModel => {
                if let Err(refusal) = self.open_model_call(OpenAction::Item(id.to_owned())) {
                    self.end_item_after_refusal(id, &refusal, out);
                    self.advance(out);
                }
            }
            // A model that can only plan cannot carry out the item. If the item is a call of the planner itself, the planner
            // reads its failure.
            NextMove::HandOverToModel(reason) if self.start.plans_only || self.planner_call_items.contains(id) => {
                self.fail_item(id, &reason, out);
            }
            NextMove::HandOverToModel(reason) => {
                if let Err(refusal) = self.hand_over_to_model(id, &reason) {
                    self.end_item_after_refusal(id, &refusal, out);
                    self.advance(out);
                }
            }
            NextMove::CallTools(calls) => drop(self.open_tool_calls(id, calls)),
            NextMove::Fail(reason) => self.fail_item(id, &reason, out),
            NextMove::Complete(result) => {
                self.end_item(id, Ok(result), out);
                self.advance(out);
            }
        }
    }

    /// Starts an item: with its planned calls if it has any, else with its first model call.
    fn start_item(&mut self, item: &TodoItem, out: &mut Outbox) {
        self.item_start_count += 1;
        self.started_items.insert(item.id.clone());
        let item_run = ItemRun::of(item, self.start.native_tools);
        self.running.insert(item.id.clone(), item_run);
        self.state.current_step_id = Some(item.id.clone());
        if let Some(item) = self.item_mut(&item.id) {
            item.actual_tool_calls.clear();
            item.planned_call_ids.clear();
            item.fallback = None;
        }
        self.set_status(&item.id, TodoItemStatus::InProgress, out);
        let Err(reason) = self.start_planned_calls(item, out) else {
            return;
        };
        if self.start.plans_only {
            self.end_item(&item.id, Err(reason), out);
        } else if let Err(refusal) = self.hand_over_to_model(&item.id, &reason) {
            self.end_item_after_refusal(&item.id, &refusal, out);
        }
    }

    /// Opens the planned calls of an item, with values in place of the references in their arguments. If all of these calls
    /// succeeded when the item was in progress before, completes the item instead. Fails with the reason if the item has no
    /// planned calls or if they cannot be made.
    fn start_planned_calls(&mut self, item: &TodoItem, out: &mut Outbox) -> Result<(), String> {
        // A step without planned calls fails with this reason if the model of the run can only plan. Any other model carries out
        // the step.
        let no_calls_reason = || "the plan has no calls for this step, and the model cannot carry it out".to_owned();
        let calls: Result<Vec<RawCall>, String> = match &self.start.call {
            // A run that makes a tool call for a person has one step, which makes this call.
            Some(call) => Ok(vec![Self::direct_call(call)]),
            None if item.tool_calls.is_empty() => return Err(no_calls_reason()),
            None => item.tool_calls.iter().map(|call| self.resolve_call(call)).collect(),
        };
        let config = self.config();
        let mut admission = AdmissionContext {
            trace_id: &self.trace_id,
            attachments: &self.start.props.attachments,
            files: &self.files,
            call_ids: &mut self.call_ids,
            rejections: &self.rejections,
            remaining_tool_calls: config.max_tool_calls.saturating_sub(self.usage.tool_calls_opened),
            config,
        };
        let item_run = self.running.get_mut(&item.id).ok_or_else(no_calls_reason)?;
        let calls = calls.inspect_err(|reason| item_run.planned_calls_problem = Some(reason.clone()))?;
        let next = item_run.start_planned(item, calls, &mut admission);
        let planned_call_ids = item_run.planned_call_ids.clone();
        // Planned calls that succeeded before keep their identifiers and are not made again.
        let succeeded_before = |call: &&ParsedToolCall| planned_call_ids.contains(&call.call_id);
        let earlier_calls = item.actual_tool_calls.iter().filter(succeeded_before);
        let earlier_calls: Vec<_> = earlier_calls.cloned().collect();
        self.usage.tool_calls_opened = config.max_tool_calls.saturating_sub(admission.remaining_tool_calls);
        let call_ids = planned_call_ids.clone();
        if let Some(item) = self.item_mut(&item.id) {
            item.planned_call_ids = planned_call_ids;
            item.actual_tool_calls = earlier_calls;
        }
        match next {
            NextMove::CallTools(calls) => {
                let action = self.open_tool_calls(&item.id, calls);
                // A person may have decided about planned calls before their item started.
                self.apply_plan_decisions(&item.id, action, &call_ids);
                Ok(())
            }
            NextMove::Complete(result) => {
                self.end_item(&item.id, Ok(result), out);
                Ok(())
            }
            NextMove::HandOverToModel(reason) => Err(reason),
            _ => Err(no_calls_reason()),
        }
    }

    /// Returns a planned call with values in place of its references. Fails with the reason if a reference has no value.
    pub(super) fn resolve_call(&self, call: &PlannedCall) -> Result<RawCall, String> {
        let resolved = plan::resolve(&call.arguments, &|reference| self.referenced_output(reference))?;
        Ok(RawCall {
            file_name_pointers: FileNamePointers::Only(resolved.file_pointers),
            ..RawCall::new(None, call.tool_name.clone(), resolved.arguments)
        })
    }

    /// Returns the output that a reference of a planned call points into. It is the output of a step of the plan or of a step of
    /// an earlier question.
    pub(super) fn referenced_output(&self, reference: OutputReference<'_>) -> Result<&Value, String> {
        let earlier = || plan::find_earlier_step(&self.state.earlier_questions, reference.step);
        let item = self.item(reference.step).or_else(earlier);
        let item = item.ok_or_else(|| format!("there is no step `{}`", reference.step))?;
        plan::find_output(item, reference)
    }

    /// Opens a model call for an item that has no planned calls, or whose planned calls did not complete it. In the second case,
    /// `reason` says why they did not.
    fn hand_over_to_model(&mut self, id: &str, reason: &str) -> Result<(), CallRefusal> {
        if let Some(item) = self.item_mut(id).filter(|item| !item.tool_calls.is_empty()) {
            item.fallback = Some(truncate(reason, DEFAULT_STRINGIFY_LIMIT));
        }
        let Some(item) = self.item(id) else {
            return Ok(());
        };
        let tools = self.step_tools(item);
        let mut messages = prompt::step_messages(&self.start, &self.state, item, &tools, self.files.all());
        if let Some(item_run) = self.running.get_mut(id) {
            messages.append(&mut item_run.messages);
            messages.extend(
                item_run
                    .planned_calls_problem
                    .as_deref()
                    .map(prompt::unmade_planned_calls_message),
            );
            item_run.messages = messages;
        }
        self.open_model_call(OpenAction::Item(id.to_owned()))
    }

    /// Retries a model call with the tools in the text of the prompt, because the model does not support native tools, which are
    /// sent beside the prompt as functions to call. The prompts of later model calls list the tools as well. Returns whether a
    /// retry was opened.
    pub(super) fn retry_with_text_tools(&mut self, action: &OpenAction, out: &mut Outbox) -> bool {
        let id = match action {
            OpenAction::Item(id) => id,
            OpenAction::Plan => return self.plan_with_text_tools(out),
            _ => return false,
        };
        let had_native_tools = self.running.get(id).is_some_and(|item_run| item_run.native_tools);
        let Some(item) = self.item(id).filter(|_| had_native_tools).cloned() else {
            return false;
        };
        self.start.native_tools = false;
        let tools = self.step_tools(&item);
        let first_messages = prompt::step_messages(&self.start, &self.state, &item, &tools, self.files.all());
        if let Some(item_run) = self.running.get_mut(id) {
            item_run.native_tools = false;
            // Only the first messages describe the tools, so the later ones stay.
            for (message, first) in item_run.messages.iter_mut().zip(first_messages) {
                *message = first;
            }
        }
        self.apply_next_move(id, NextMove::CallModel, out);
        true
    }

    /// Ends an item whose model call cannot be made. The item fails if its request cannot be sent, and becomes pending if a
    /// budget is used up.
    pub(super) fn end_item_after_refusal(&mut self, id: &str, refusal: &CallRefusal, out: &mut Outbox) {
        match refusal {
            CallRefusal::TooLong { reason } => self.end_item(id, Err(reason.clone()), out),
            CallRefusal::Invalid { error } => self.end_item(id, Err(error.message.clone()), out),
            // `NotShorter` does not get here: `handle_model_call_refusal` fails such a call with the error of the provider.
            CallRefusal::BudgetSpent | CallRefusal::NotShorter => self.postpone_item(id, out),
        }
    }

    /// Ends an item: writes its result, or the reason of its failure, into the plan. The item is looked up by identifier, because
    /// the plan may have changed.
    fn end_item(&mut self, id: &str, result: Result<Shared<Value>, String>, out: &mut Outbox) {
        let at = self.now;
        let Some(item_run) = self.running.remove(id) else {
            return;
        };
        self.record_item_limits(id, &item_run);
        let phase = self.phase_label();
        let Some(item) = self.item_mut(id) else {
            return;
        };
        let is_left_to_model = item.tool_calls.is_empty();
        let (incomplete_reason, validation) = (item_run.incomplete_reason(item), item_run.validation(item));
        item.tool_results = item_run.results;
        item.validation_status = Some(validation);
        item.updated_timestamp = at;
        let status = match result {
            Ok(result) => {
                item.result = Some(result);
                item.error = incomplete_reason;
                TodoItemStatus::Completed
            }
            Err(reason) => {
                out.observe_error(phase, Some(id), &reason);
                item.error = Some(reason);
                TodoItemStatus::Failed
            }
        };
        let output = step_output(item, status, at);
        let stored = truncate::step_output(&output);
        self.state.step_outputs.insert(id.to_owned(), output);
        if is_left_to_model {
            self.record_model_work(ModelWork::Step, item_run.model_usage);
        }
        if self.state.current_step_id.as_deref() == Some(id) {
            self.state.current_step_id = self.running.keys().next().cloned();
        }
        self.set_status_with_output(id, status, stored, out);
    }

    /// Records the limits that an item reached.
    fn record_item_limits(&mut self, id: &str, item_run: &ItemRun) {
        if item_run.out_of_iterations {
            self.record_limit(format!(
                "step `{id}` used all of its {} model calls",
                item_run.iteration
            ));
        }
        if item_run.out_of_calls {
            self.record_limit(format!(
                "the run made its maximum of {} tool calls",
                self.config().max_tool_calls
            ));
        }
    }

    /// Sets the status of an item and reports the change.
    pub(super) fn set_status(&mut self, id: &str, status: TodoItemStatus, out: &mut Outbox) {
        self.set_status_with_output(id, status, Value::Null, out);
    }

    /// Sets the status of an item and reports the change with the output of the item as JSON, null if it has none.
    fn set_status_with_output(&mut self, id: &str, status: TodoItemStatus, output: Value, out: &mut Outbox) {
        let now = self.now;
        if let Some(item) = self.item_mut(id) {
            item.status = status;
            item.updated_timestamp = now;
        }
        out.mark_state_changed();
        let mut content = json!({"itemId": id, "status": status});
        if let (Some(map), true) = (content.as_object_mut(), status != TodoItemStatus::InProgress) {
            map.insert("stepOutput".to_owned(), output);
        }
        out.observe(ObservationType::ItemStatusChange, Some(id), content);
    }

    /// Cancels all items that depend, directly or indirectly, on an item that will not be completed, each with the reason.
    fn cancel_blocked_items(&mut self, out: &mut Outbox) {
        loop {
            let blocked = plan::blocked_items(&self.state.todo_list);
            if blocked.is_empty() {
                return;
            }
            for (id, blocker) in blocked {
                if let Some(item) = self.item_mut(&id) {
                    item.error = Some(plan::blocked_reason(item, &blocker));
                }
                self.set_status(&id, TodoItemStatus::Cancelled, out);
            }
        }
    }

    /// Applies the update of the plan that a reply contains. An invalid update leaves the plan unchanged; its problems are
    /// returned for the model (contract P61).
    fn update_plan(&mut self, update: PlanUpdate, out: &mut Outbox) -> Vec<String> {
        let refusal_texts = |problems: Vec<String>| {
            problems
                .into_iter()
                .map(|problem| format!("`updatedPlan` was not used: {problem}"))
                .collect()
        };
        let mut draft = match update {
            Ok(draft) => draft,
            Err(problems) => return refusal_texts(problems),
        };
        self.add_call_steps(&mut draft);
        let before = self.state.todo_list.clone();
        let after = match draft.items {
            Some(items) => plan::update_items(&before, items, &self.started_items, self.now),
            None => before.clone(),
        };
        let mut problems: Vec<String> = plan::item_count_problem(&after).into_iter().collect();
        problems.extend(plan::fault_texts(&self.step_faults(&after)));
        problems.extend(self.check_plan(&after).problems());
        if !problems.is_empty() {
            return refusal_texts(problems);
        }
        self.state.intent = draft.intent.unwrap_or_else(|| self.state.intent.clone());
        self.state.plan = draft.plan.unwrap_or_else(|| self.state.plan.clone());
        let changes = plan::diff(&before, &after, self.now);
        self.state.todo_list = after;
        out.mark_state_changed();
        let content =
            json!({"todoList": truncate::items(&self.state.todo_list), "changes": truncate::changes(&changes)});
        out.observe(ObservationType::PlanUpdate, None, content);
        Vec::new()
    }
}

/// Returns the entry for an ended item in `step_outputs` of the state.
fn step_output(item: &TodoItem, status: TodoItemStatus, at: art_core::Timestamp) -> StepOutputEntry {
    StepOutputEntry {
        step_id: item.id.clone(),
        description: item.description.clone(),
        step_type: item.step_type,
        status,
        completed_at: Some(at),
        raw_result: item.result.clone(),
        tool_results: item.tool_results.clone(),
    }
}
