//! Planning: asks the model for a plan, and asks it again if the plan is invalid. The model is called the planner while it does
//! this.
//!
//! A reply of the planner contains either the answer or a draft of a plan. The draft is in a call of the function that submits a
//! plan; without such a call it is in the text of the reply, or else in the thoughts (contract P30). A draft is merged with the
//! plan items that the thread already has, checked, and then adopted as the plan of the run. A planner that can call functions
//! may also call tools itself: each such call becomes an item, and the planner is asked again with the results.

use std::collections::{BTreeMap, BTreeSet};

use art_core::error::ErrorCode;
use art_core::json::sorted_text;
use art_core::observation::ObservationType;
use art_core::pes::{TodoItem, TodoItemStatus};
use art_core::prompt::Message;
use art_core::stream::{ModelReply, Phase};
use art_core::text::{DEFAULT_STRINGIFY_LIMIT, truncate};
use serde_json::json;

use super::finish::RunEnding;
use super::{OpenAction, PlannerCall, Run, Stage};
use crate::call::as_request;
use crate::effect::Outbox;
use crate::event::CallRefusal;
use crate::file::Files;
use crate::item::MAX_IDENTICAL_CALLS;
use crate::parse::{self, DraftItem, MAX_PROBLEMS, PlanDraft, PlanReply};
use crate::plan::{self, CallCheck, CallCheckInput, Fault};
use crate::prompt;
use crate::truncate;

impl Run {
    /// Begins the work of a run. Makes the tool call that a person asks for, or carries out a saved plan, which is a plan that a
    /// person saved. Without either, continues with the plan of the last question if there is no new question
    /// (contracts P17, P19), or else asks for a plan.
    pub(super) fn begin_work(&mut self, out: &mut Outbox) {
        if plan::requeue_interrupted_items(&mut self.state, self.now) {
            out.mark_state_changed();
        }
        let continues_plan = self.start.props.query.trim().is_empty() && !self.state.todo_list.is_empty();
        self.plan_belongs_to_run = continues_plan && self.start.plan.is_none();
        if !self.plan_belongs_to_run {
            self.archive_finished_plan(out);
        }
        self.files = Files::of_earlier_runs(
            &self.start.history,
            &self.state,
            &self.start.props.attachments,
            &self.start.props.query,
        );
        if let Some(tool) = self.start.call.as_ref().map(|call| call.tool_name.clone()) {
            return self.begin_direct_call(&tool, out);
        }
        if let Some(plan_to_run) = self.start.plan.take() {
            self.begin_saved_plan(&plan_to_run, out);
            self.start.plan = Some(plan_to_run);
            return;
        }
        if self.plan_belongs_to_run {
            self.start.props.query.clone_from(&self.state.query);
            let check = self.check_plan(&self.state.todo_list);
            if !check.exceeded_budgets.is_empty() {
                return self.refuse_plan(check.exceeded_budgets, out);
            }
            self.estimate = check.estimate;
            return self.advance(out);
        }
        self.begin_conversation();
        let message = if self.state.todo_list.is_empty() {
            "Generating plan"
        } else {
            "Refining plan"
        };
        out.observe(ObservationType::Plan, None, json!({"message": message}));
        self.request_plan(out);
    }

    /// If all items of the plan have ended, moves the plan to the earlier questions, so that the new question has a plan of
    /// its own (contract P14).
    fn archive_finished_plan(&mut self, out: &mut Outbox) {
        let state = &mut self.state;
        if state.todo_list.is_empty() || state.todo_list.iter().any(|item| !plan::has_ended(item.status)) {
            return;
        }
        let items = std::mem::take(&mut state.todo_list);
        plan::archive_question(state, items);
        state.step_outputs.clear();
        out.mark_state_changed();
    }

    /// Begins the conversation with the planner.
    fn begin_conversation(&mut self) {
        self.conversation = prompt::planner_conversation(&self.start, &self.state, self.files.all());
        self.stage = Stage::Planning;
    }

    /// Asks the planner, or ends the run if it cannot be asked.
    fn request_plan(&mut self, out: &mut Outbox) {
        if let Err(refusal) = self.open_model_call(OpenAction::Plan) {
            self.end_planning_after_refusal(&refusal, out);
        }
    }

    /// Ends the run because its planner cannot be asked.
    pub(super) fn end_planning_after_refusal(&mut self, refusal: &CallRefusal, out: &mut Outbox) {
        match refusal {
            CallRefusal::TooLong { reason } => self.fail_planning(reason, out),
            CallRefusal::Invalid { error } => self.fail_run(error.code, &error.message, out),
            // `NotShorter` does not get here: `handle_model_call_refusal` fails such a call with the error of the provider.
            CallRefusal::BudgetSpent | CallRefusal::NotShorter => self.finish_over_budget(out),
        }
    }

    /// Asks the planner again with the tools in the text of the prompt, because the model does not support function calls.
    /// Returns false if the tools are already in the text.
    pub(super) fn plan_with_text_tools(&mut self, out: &mut Outbox) -> bool {
        if !self.start.native_tools {
            return false;
        }
        // Without this setting, the text of the prompt lists the tools.
        self.start.native_tools = false;
        self.begin_conversation();
        self.request_plan(out);
        true
    }

    /// Adopts the plan or the answer in `reply`. If the plan is invalid or exceeds a budget, asks for a corrected one or ends the
    /// run.
    pub(super) fn handle_planner_reply(&mut self, reply: &ModelReply, out: &mut Outbox) {
        let mut parsed = parse::parse_planning(reply);
        self.observe_thoughts(Phase::Planning, None, &parsed.thoughts, out);
        self.add_planner_reply(&mut parsed);
        match parsed.outcome {
            Err(_) if parse::is_withheld(reply) => self.fail_planning(parse::WITHHELD_REASON, out),
            Ok(draft) => self.handle_draft(draft, reply, out),
            Err(mut problems) => {
                if parse::is_cut_off(reply) {
                    problems.insert(0, parse::CUT_OFF_PROBLEM.to_owned());
                }
                self.ask_for_repair(&problems, out);
            }
        }
    }

    /// Adds the reply of the planner to its conversation. Each call in the reply gets an identifier that is unique in the run.
    fn add_planner_reply(&mut self, parsed: &mut PlanReply) {
        let calls: Vec<_> = parsed
            .calls
            .iter()
            .map(|raw| self.call_ids.assign_id(&self.trace_id, raw.clone()))
            .collect();
        self.planner_calls = calls
            .iter()
            .map(|call| PlannerCall {
                call_id: call.call_id.clone(),
                tool_name: call.tool_name.clone(),
                item_id: None,
            })
            .collect();
        let message = prompt::planner_message(&parsed.text);
        self.conversation.messages.push(if calls.is_empty() {
            message
        } else {
            // For an empty text, `planner_message` writes that the reply is empty, which is wrong for a reply with calls.
            let text = if parsed.text.trim().is_empty() {
                ""
            } else {
                message.content_text()
            };
            Message {
                provider_state: parsed.provider_state.take(),
                ..Message::assistant_calls(text, calls.iter().map(as_request).collect())
            }
        });
    }

    /// Adopts a draft, or ends the run with the answer in it. If the draft has faults or exceeds a budget, asks for a corrected
    /// one as long as repairs are allowed.
    fn handle_draft(&mut self, mut draft: PlanDraft, reply: &ModelReply, out: &mut Outbox) {
        for (call_position, id) in self.add_call_steps(&mut draft) {
            if let Some(call) = call_position.and_then(|position| self.planner_calls.get_mut(position)) {
                call.item_id = Some(id);
            }
        }
        if draft.answer.is_some() && draft.items.as_ref().is_none_or(Vec::is_empty) {
            return self.answer_at_once(draft, reply, out);
        }
        let merged = self.merged_items(&draft);
        if let Some(problem) = plan::item_count_problem(&merged) {
            return self.ask_for_repair(&[problem], out);
        }
        let (faults, check) = (self.step_faults(&merged), self.check_plan(&merged));
        let is_faulty = !faults.is_empty() || check.problems().next().is_some();
        if is_faulty && self.may_repair() {
            // All problems are reported together, so that the model can correct them at once.
            let mut problems = plan::fault_texts(&faults);
            problems.extend(check.problems());
            problems.truncate(MAX_PROBLEMS);
            return self.ask_for_repair(&problems, out);
        }
        self.adopt_as_far_as_possible(draft, &reply.text, out);
    }

    /// Adopts a draft that may have faults. Steps that cannot be carried out fail, and so do steps whose planned calls have
    /// faults, each with the reason. The others run. If no step can be carried out, asks for a corrected draft instead. Faults of
    /// planned calls alone are no reason to ask.
    fn adopt_as_far_as_possible(&mut self, mut draft: PlanDraft, raw_reply: &str, out: &mut Outbox) {
        let items = draft.items.as_deref_mut().unwrap_or_default();
        let mut faults = plan::give_unique_ids(items, &self.state.todo_list, &self.state.earlier_questions);
        let mut merged = self.merged_items(&draft);
        mark_failed(&mut merged, &faults);
        // One check does not report all faults: for example, it reports at most one cycle of dependencies.
        loop {
            let found = faults_of_open_items(self.step_faults(&merged), &merged);
            if found.is_empty() {
                break;
            }
            mark_failed(&mut merged, &found);
            faults.extend(found);
        }
        let is_open = |item: &TodoItem| !plan::has_ended(item.status);
        if !faults.is_empty() && !merged.iter().any(is_open) {
            return self.ask_for_repair(&plan::fault_texts(&faults), out);
        }
        let check = self.check_plan(&merged);
        if !check.exceeded_budgets.is_empty() {
            return self.refuse_plan(check.exceeded_budgets, out);
        }
        self.estimate = check.estimate;
        self.adopt_plan(draft, raw_reply, out);
        self.note_planner_calls();
        self.fail_faulty_items(faults, "it cannot be carried out", out);
        self.fail_faulty_items(check.faults, "its planned calls do not fit the tools", out);
        self.advance(out);
    }

    /// Returns the faults that keep items from being carried out, except for those of their planned calls.
    pub(super) fn step_faults(&self, items: &[TodoItem]) -> Vec<Fault> {
        let mut faults = plan::excess_step_faults(items, self.remaining_items());
        faults.extend(plan::check_steps(
            items,
            &self.start.tools,
            &self.state.earlier_questions,
        ));
        faults.extend(self.repetition_faults(items));
        faults
    }

    /// Returns the number of items that the run may still start.
    fn remaining_items(&self) -> usize {
        let left = self.config().max_items.saturating_sub(self.item_start_count);
        usize::try_from(left).unwrap_or(usize::MAX)
    }

    /// Returns a fault for each tool call that the planner itself makes with the same arguments more often than is
    /// allowed (contract B30).
    fn repetition_faults(&self, items: &[TodoItem]) -> Vec<Fault> {
        let is_planner_call = |item: &&TodoItem| {
            let mut calls = self.planner_calls.iter();
            self.planner_call_items.contains(&item.id) || calls.any(|call| call.item_id.as_ref() == Some(&item.id))
        };
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        let mut faults = Vec::new();
        for item in items.iter().filter(is_planner_call) {
            for call in &item.tool_calls {
                let count = counts
                    .entry(format!("{} {}", call.tool_name, sorted_text(&call.arguments)))
                    .or_default();
                *count += 1;
                if *count > MAX_IDENTICAL_CALLS && !plan::has_ended(item.status) {
                    let text = format!(
                        "`{}` was called with exactly these arguments {MAX_IDENTICAL_CALLS} times; use its results, change the \
                         arguments, or answer",
                        call.tool_name
                    );
                    faults.push(Fault::new(item, &text));
                }
            }
        }
        faults
    }

    /// Adds a step to the draft for each call that the draft has outside its steps (contracts S003, P33a). Returns, for each new
    /// step, the position of its call among the function calls of the reply, if the planner made the call itself, and the
    /// identifier of the step.
    pub(super) fn add_call_steps(&self, draft: &mut PlanDraft) -> Vec<(Option<usize>, String)> {
        let items = draft.items.iter().flatten().map(|item| item.id.clone());
        let taken: BTreeSet<String> = items
            .chain(self.state.todo_list.iter().map(|item| item.id.clone()))
            .collect();
        let free = (1..)
            .map(|number: u32| format!("step_{number}"))
            .filter(|id| !taken.contains(id));
        let mut steps = Vec::new();
        for (call, id) in std::mem::take(&mut draft.calls).into_iter().zip(free) {
            steps.push((call.function_call_position, id.clone()));
            draft
                .items
                .get_or_insert_default()
                .push(DraftItem::of_call(id, call.call));
        }
        steps
    }

    /// Records which items belong to calls of the planner, and which failed items count as retried: those whose tool the planner
    /// now calls again, with any arguments. A retried item does not make the run incomplete.
    fn note_planner_calls(&mut self) {
        let names: BTreeSet<&str> = self
            .planner_calls
            .iter()
            .filter(|call| call.item_id.is_some())
            .map(|call| call.tool_name.as_str())
            .collect();
        let is_retried = |item: &&TodoItem| {
            item.status == TodoItemStatus::Failed
                && self.planner_call_items.contains(&item.id)
                && item.required_tools.iter().any(|tool| names.contains(tool.as_str()))
        };
        let retried: Vec<String> = self
            .state
            .todo_list
            .iter()
            .filter(is_retried)
            .map(|item| item.id.clone())
            .collect();
        self.retried_items.extend(retried);
        self.planner_call_items
            .extend(self.planner_calls.iter().filter_map(|call| call.item_id.clone()));
    }

    /// Ends the run with the answer in the draft. The planner needed no plan, or answered from the results of its own calls.
    fn answer_at_once(&mut self, draft: PlanDraft, reply: &ModelReply, out: &mut Outbox) {
        if parse::is_cut_off(reply) {
            self.record_limit("the answer was cut off before its end".to_owned());
        }
        self.state.intent = draft.intent.unwrap_or_else(|| std::mem::take(&mut self.state.intent));
        self.state.title = draft.title.unwrap_or_else(|| std::mem::take(&mut self.state.title));
        out.mark_state_changed();
        self.record_answer_usage();
        // If the person wants the output of the only step as it is, this output takes the place of the model's answer.
        let ending = self.raw_ending().unwrap_or_else(|| {
            let ending = RunEnding::new(self.answer_status(reply), draft.answer.unwrap_or_default());
            ending.with_ui_metadata(draft.ui_metadata)
        });
        self.finish(ending, out);
    }

    /// Returns whether the planner waits for the results of tool calls that it made itself, and submitted no plan.
    pub(super) fn planner_waits_for_results(&self) -> bool {
        // The call that submits a plan has no item.
        let is_tool_call = |call: &PlannerCall| call.item_id.is_some();
        !self.planner_calls.is_empty() && self.planner_calls.iter().all(is_tool_call)
    }

    /// Asks the planner again, with the results of its calls. If the number of its calls exceeds the maximum number of items of a
    /// run, it has to answer instead. Without this limit it could go on for ever with calls that are refused, since these
    /// start no item.
    pub(super) fn continue_planning(&mut self, out: &mut Outbox) {
        let max = self.config().max_items;
        if self.planner_call_items.len() > usize::try_from(max).unwrap_or(usize::MAX) {
            self.record_limit(format!("the planner made more calls than the maximum of {max} items"));
            return self.begin_synthesis(out);
        }
        self.stage = Stage::Planning;
        // The text is empty, because no call submitted a plan.
        self.tell_planner("");
        out.observe(ObservationType::Plan, None, json!({"message": "Reading results"}));
        self.request_plan(out);
    }

    /// Adds messages for the planner to its conversation: the results of its calls, where `text` is the result of the call that
    /// submitted a plan. If the planner made no calls, adds `text` alone.
    pub(super) fn tell_planner(&mut self, text: &str) {
        let calls = std::mem::take(&mut self.planner_calls);
        let max_result_length = self.config().tool_result_max_length / calls.len().max(1);
        let mut messages: Vec<Message> = calls
            .iter()
            .map(|call| self.result_message(call, text, max_result_length))
            .collect();
        if messages.is_empty() {
            messages.push(Message::user(text));
        }
        self.conversation.messages.append(&mut messages);
    }

    /// Returns the message with the result of a call of the planner. `text` is the result if the call submitted a plan.
    fn result_message(&self, call: &PlannerCall, text: &str, max_result_length: usize) -> Message {
        let item = call.item_id.as_deref().and_then(|id| self.item(id));
        let result = item.and_then(|item| item.tool_results.last());
        let content = match (result, item) {
            (Some(result), _) => prompt::tool_message(result, self.files.all(), max_result_length)
                .content_text()
                .to_owned(),
            (None, Some(item)) => prompt::unmade_call_text(item),
            (None, None) => text.to_owned(),
        };
        Message::tool_result(&*call.call_id, &*call.tool_name, content)
    }

    /// Ends the run with an error because planning failed (contract P31).
    pub(super) fn fail_planning(&mut self, reason: &str, out: &mut Outbox) {
        self.fail_run(ErrorCode::PlanningFailed, &format!("planning failed: {reason}"), out);
    }

    /// Checks the planned calls of `items` against the tools, the files, the earlier results and the limit on calls.
    pub(super) fn check_calls(&self, items: &[TodoItem]) -> CallCheck {
        let attached = self
            .start
            .props
            .attachments
            .iter()
            .map(|attachment| attachment.name.as_str());
        let files = attached.chain(self.files.all().iter().map(|file| file.name.as_str()));
        let max_calls = self
            .config()
            .max_tool_calls
            .saturating_sub(self.usage.tool_calls_opened);
        plan::check_calls(CallCheckInput {
            items,
            earlier: &self.state.earlier_questions,
            tools: &self.start.tools,
            disabled: &self.start.disabled_tools,
            files: &files.collect(),
            max_calls: usize::try_from(max_calls).unwrap_or(usize::MAX),
            params: &BTreeMap::new(),
        })
    }

    /// Fails the items that have faults. The error of an item is `summary`, followed by all of its faults.
    fn fail_faulty_items(&mut self, faults: Vec<Fault>, summary: &str, out: &mut Outbox) {
        let mut by_step: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for fault in faults {
            by_step.entry(fault.step).or_default().push(fault.text);
        }
        for (id, texts) in by_step {
            let reason = format!("{summary}: {}", texts.join("; "));
            out.observe_error("planning", Some(&id), &reason);
            if let Some(item) = self.item_mut(&id) {
                item.error = Some(truncate(&reason, DEFAULT_STRINGIFY_LIMIT));
            }
            // So the run counts as incomplete even if the model later sets the item to pending and then removes it.
            self.started_items.insert(id.clone());
            self.set_status(&id, TodoItemStatus::Failed, out);
        }
    }

    /// Returns the items that the plan has if `draft` is adopted. If the run already has a plan, these are its items, updated by
    /// the draft; otherwise they are the items of a new plan. A draft without items leaves the items of the state as they
    /// are (contract P17).
    pub(super) fn merged_items(&self, draft: &PlanDraft) -> Vec<TodoItem> {
        let (old, earlier) = (&self.state.todo_list, &self.state.earlier_questions);
        match &draft.items {
            Some(items) if self.plan_belongs_to_run => {
                plan::update_items(old, items.clone(), &self.started_items, self.now)
            }
            Some(items) => plan::items_for_question(old, items.clone(), earlier, self.now),
            None => old.clone(),
        }
    }

    /// Returns whether the planner may be asked once more for a corrected plan. A model that can only plan would give the same
    /// plan again.
    fn may_repair(&self) -> bool {
        !self.start.plans_only && self.repair_count < self.config().plan_repairs
    }

    /// Asks the planner for a corrected plan, as often as the configuration allows in a run. After that the planner has to answer
    /// from the results so far, or the run ends if there are none.
    fn ask_for_repair(&mut self, problems: &[String], out: &mut Outbox) {
        for call in &mut self.planner_calls {
            // The draft is not adopted, so the items that it has for these calls are not created.
            call.item_id = None;
        }
        if self.may_repair() {
            self.repair_count += 1;
            self.tell_planner(&prompt::repair_text(problems));
            return self.request_plan(out);
        }
        let reasons = truncate(&problems.join("; "), DEFAULT_STRINGIFY_LIMIT);
        let attempts = match self.repair_count {
            0 => String::new(),
            repairs => format!(" in {} attempts", u64::from(repairs) + 1),
        };
        let reason = format!("the model gave no usable plan{attempts}: {reasons}");
        let mut items = self.own_items().iter();
        if items.any(|item| item.status == TodoItemStatus::Completed) {
            self.record_limit(reason);
            return self.begin_synthesis(out);
        }
        self.fail_planning(&reason, out);
    }

    /// Replaces the plan by the merged draft, and observes the new plan and what has changed. If there is an estimate of any call
    /// or step, the observation of the plan contains it. `raw_reply` is the text of the reply.
    pub(super) fn adopt_plan(&mut self, draft: PlanDraft, raw_reply: &str, out: &mut Outbox) {
        let before = self.state.todo_list.clone();
        let is_first = before.is_empty();
        let items = self.merged_items(&draft);
        if self.plan_belongs_to_run {
            self.state.todo_list = items;
        } else {
            self.replace_earlier_plan(items);
        }
        let or_default = |text: &str, default: &str| if text.is_empty() { default } else { text }.to_owned();
        let (intent, title) = (&self.state.intent, &self.state.title);
        self.state.intent = draft.intent.unwrap_or_else(|| or_default(intent, "Unknown Intent"));
        self.state.title = draft.title.unwrap_or_else(|| or_default(title, "New Conversation"));
        self.state.plan = draft.plan.unwrap_or_default();
        out.mark_state_changed();
        out.observe(ObservationType::Intent, None, json!({"intent": self.state.intent}));
        out.observe(ObservationType::Title, None, json!({"title": self.state.title}));
        let raw_output = truncate(raw_reply, DEFAULT_STRINGIFY_LIMIT);
        let list = truncate::items(&self.state.todo_list);
        let mut plan = json!({"plan": self.state.plan, "todoList": list, "rawOutput": raw_output});
        let is_estimated = !self.estimate.calls.is_empty() || !self.estimate.steps.is_empty();
        if let (Some(map), true) = (plan.as_object_mut(), is_estimated) {
            map.insert("estimate".to_owned(), json!(self.estimate));
        }
        out.observe(ObservationType::Plan, None, plan);
        let changes = if is_first {
            plan::all_added(&self.state.todo_list, self.now)
        } else {
            plan::diff(&before, &self.state.todo_list, self.now)
        };
        out.observe(
            ObservationType::PlanUpdate,
            None,
            json!({"todoList": list, "changes": truncate::changes(&changes)}),
        );
    }

    /// Replaces the plan of an earlier question by the plan of this one. Items of an unfinished plan that the new plan does not
    /// keep become results of an earlier question. If the new plan keeps any, the stored question stays the same, so that a
    /// question such as "go on" does not replace the one that it continues.
    fn replace_earlier_plan(&mut self, items: Vec<TodoItem>) {
        self.plan_belongs_to_run = true;
        let old = std::mem::replace(&mut self.state.todo_list, items);
        let items = &self.state.todo_list;
        let (kept, removed): (Vec<_>, Vec<_>) = old.into_iter().partition(|item| items.contains(item));
        self.state
            .step_outputs
            .retain(|id, _| kept.iter().any(|item| item.id == *id));
        plan::archive_question(&mut self.state, removed);
        if kept.is_empty() {
            self.state.query.clone_from(&self.start.props.query);
            self.state.intent.clear();
        }
    }
}

/// Returns those of `faults` whose items have not ended.
fn faults_of_open_items(faults: Vec<Fault>, items: &[TodoItem]) -> Vec<Fault> {
    let is_open = |fault: &Fault| {
        let mut items = items.iter().filter(|item| item.id == fault.step);
        items.any(|item| !plan::has_ended(item.status))
    };
    faults.into_iter().filter(is_open).collect()
}

/// Sets the items with faults to failed, unless they have ended.
fn mark_failed(items: &mut [TodoItem], faults: &[Fault]) {
    let is_faulty =
        |item: &&mut TodoItem| !plan::has_ended(item.status) && faults.iter().any(|fault| fault.step == item.id);
    for item in items.iter_mut().filter(is_faulty) {
        item.status = TodoItemStatus::Failed;
    }
}
