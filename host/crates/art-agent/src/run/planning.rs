//! Planning, and the repair of invalid plans (P14, P17, P19, P30, P31).

use std::collections::BTreeMap;

use art_core::error::ErrorCode;
use art_core::observation::ObservationType;
use art_core::pes::{TodoItem, TodoItemStatus};
use art_core::stream::{ModelReply, Phase};
use art_core::text::{DEFAULT_STRINGIFY_LIMIT, truncate};
use serde_json::json;

use super::ask::CallRefusal;
use super::{OpenAction, Run, Stage};
use crate::effect::Outbox;
use crate::parse::{self, DraftItem, MAX_PROBLEMS, PlanDraft};
use crate::plan::{self, CallCheck, Fault, Keep, Surroundings};
use crate::prompt;
use crate::truncate;

impl Run {
    /// Starts planning, or continues with pending items if there is a plan and no new question (P17, P19).
    pub(super) fn begin(&mut self, out: &mut Outbox) {
        if plan::requeue_orphans(&mut self.state, self.now) {
            out.mark_state_changed();
        }
        if self.start.props.query.trim().is_empty() && !self.state.todo_list.is_empty() {
            self.advance(out);
            return;
        }
        let messages = prompt::planning(&self.start, &self.state, self.files.all());
        self.stage = Stage::Planning { messages, repairs: 0 };
        let message = if self.state.todo_list.is_empty() {
            "Generating plan"
        } else {
            "Refining plan"
        };
        out.observe(ObservationType::Plan, None, json!({"message": message}));
        self.request_plan(out);
    }

    /// Requests a plan from the model, or ends the run if the model cannot be called.
    fn request_plan(&mut self, out: &mut Outbox) {
        match self.open_model_call(OpenAction::Plan, out) {
            Ok(()) => {}
            Err(CallRefusal::TooLong(reason)) => self.fail_planning(&reason, out),
            Err(CallRefusal::Invalid(error)) => self.fail_run(error.code, &error.message, out),
            Err(CallRefusal::BudgetSpent) => self.finish_over_budget(out),
        }
    }

    /// Adopts the plan in `reply`. If it is invalid, requests a new one or ends the run.
    pub(super) fn handle_plan(&mut self, reply: &ModelReply, out: &mut Outbox) {
        let texts = parse::split_reply(reply);
        self.observe_thoughts(Phase::Planning, None, &texts.thoughts, out);
        match self.read_plan(&texts) {
            Err(_) if parse::is_blocked(reply) => self.fail_planning(parse::WITHHELD, out),
            Ok(draft) => {
                let faults = self.check_calls(&self.merged(&draft)).faults;
                if !faults.is_empty() && self.may_repair() {
                    let problems: Vec<String> = faults.into_iter().map(|fault| fault.text).take(MAX_PROBLEMS).collect();
                    return self.repair(&texts.content, &problems, out);
                }
                self.adopt_plan(draft, &reply.text, out);
                self.fail_faulty(faults, out);
                self.advance(out);
            }
            Err(mut problems) => {
                if parse::is_cut(reply) {
                    problems.insert(0, parse::CUT_OFF.to_owned());
                }
                self.repair(&texts.content, &problems, out);
            }
        }
    }

    /// Ends the run with an error because planning failed (P31).
    pub(super) fn fail_planning(&mut self, reason: &str, out: &mut Outbox) {
        self.fail_run(ErrorCode::PlanningFailed, &format!("planning failed: {reason}"), out);
    }

    /// Reads the plan from the text, or else from the thoughts (P30). Fails with everything that makes the plan unusable.
    fn read_plan(&self, texts: &parse::ReplyTexts) -> Result<PlanDraft, Vec<String>> {
        let mut draft = match parse::planning(&texts.content) {
            Err(problems) if !texts.thoughts.is_empty() => {
                parse::planning(&format!("{}\n{}", texts.thoughts, texts.content)).or(Err(problems))?
            }
            other => other?,
        };
        if draft.is_call_list {
            self.renumber(draft.items.iter_mut().flatten());
        }
        let mut problems = plan::reused_ids(&self.state.todo_list, draft.items.as_deref().unwrap_or_default());
        problems.extend(plan::check(&self.merged(&draft), &self.start.tools));
        if problems.is_empty() { Ok(draft) } else { Err(problems) }
    }

    /// Gives the items of a list of calls identifiers that no earlier question used: a completed item with the same one would lend
    /// them its result.
    fn renumber<'a>(&self, items: impl Iterator<Item = &'a mut DraftItem>) {
        let ids = (1..).map(|number: u32| format!("step_{number}"));
        let free = ids.filter(|id| self.item(id).is_none());
        items.zip(free).for_each(|(item, id)| item.id = id);
    }

    /// Checks the planned calls of `items`.
    pub(super) fn check_calls(&self, items: &[TodoItem]) -> CallCheck {
        let attached = self
            .start
            .props
            .attachments
            .iter()
            .map(|attachment| attachment.name.as_str());
        let files = attached.chain(self.files.all().iter().map(|file| file.name.as_str()));
        plan::check_calls(Surroundings {
            items,
            tools: &self.start.tools,
            files: &files.collect(),
        })
    }

    /// Fails the items whose planned calls the model could not correct, each with all of its faults. The others can be done.
    fn fail_faulty(&mut self, faults: Vec<Fault>, out: &mut Outbox) {
        let mut by_step: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for fault in faults {
            by_step.entry(fault.step).or_default().push(fault.text);
        }
        for (id, texts) in by_step {
            let reason = format!("its planned calls do not fit the tools: {}", texts.join("; "));
            out.error("planning", Some(&id), &reason);
            if let Some(item) = self.item_mut(&id) {
                item.error = Some(truncate(&reason, DEFAULT_STRINGIFY_LIMIT));
            }
            self.started_items.insert(id.clone());
            self.set_status(&id, TodoItemStatus::Failed, None, out);
        }
    }

    /// Returns the items of the plan after merging `draft`. A draft without items keeps the old ones (P17).
    fn merged(&self, draft: &PlanDraft) -> Vec<TodoItem> {
        match &draft.items {
            Some(items) => plan::merge(&self.state.todo_list, items.clone(), Keep::Completed, self.now),
            None => self.state.todo_list.clone(),
        }
    }

    /// Returns whether a plan may be sent back to the model once more.
    fn may_repair(&self) -> bool {
        matches!(self.stage, Stage::Planning { repairs, .. } if repairs < self.config().plan_repairs)
    }

    /// Sends the plan back to the model with all problems, as often as the configuration allows.
    fn repair(&mut self, reply: &str, problems: &[String], out: &mut Outbox) {
        let allowed = self.config().plan_repairs;
        match &mut self.stage {
            Stage::Planning { messages, repairs } if *repairs < allowed => {
                messages.extend(prompt::repair(reply, problems));
                *repairs += 1;
                self.request_plan(out);
            }
            _ => {
                let reasons = truncate(&problems.join("; "), DEFAULT_STRINGIFY_LIMIT);
                let attempts = match allowed {
                    0 => String::new(),
                    repairs => format!(" in {} attempts", u64::from(repairs) + 1),
                };
                self.fail_planning(&format!("the model gave no usable plan{attempts}: {reasons}"), out);
            }
        }
    }

    /// Replaces the plan by the merged draft and records the change. `raw_reply` is the text of the reply.
    fn adopt_plan(&mut self, draft: PlanDraft, raw_reply: &str, out: &mut Outbox) {
        let before = self.state.todo_list.clone();
        let is_first = before.is_empty();
        self.replace_items(self.merged(&draft));
        let fallback = |old: &str, default: &str| if is_first { default.to_owned() } else { old.to_owned() };
        self.state.intent = draft
            .intent
            .unwrap_or_else(|| fallback(&self.state.intent, "Unknown Intent"));
        self.state.title = draft
            .title
            .unwrap_or_else(|| fallback(&self.state.title, "New Conversation"));
        self.state.plan = draft.plan.unwrap_or_default();
        let items = &self.state.todo_list;
        self.state
            .step_outputs
            .retain(|id, _| items.iter().any(|item| item.id == *id));
        out.mark_state_changed();
        out.observe(ObservationType::Intent, None, json!({"intent": self.state.intent}));
        out.observe(ObservationType::Title, None, json!({"title": self.state.title}));
        let raw_output = truncate(raw_reply, DEFAULT_STRINGIFY_LIMIT);
        let list = truncate::items(&self.state.todo_list);
        let plan = json!({"plan": self.state.plan, "todoList": list, "rawOutput": raw_output});
        out.observe(ObservationType::Plan, None, plan);
        let changes = if is_first {
            plan::added(&self.state.todo_list, self.now)
        } else {
            plan::diff(&before, &self.state.todo_list, self.now)
        };
        out.observe(
            ObservationType::PlanUpdate,
            None,
            json!({"todoList": list, "changes": truncate::changes(&changes)}),
        );
    }
}
