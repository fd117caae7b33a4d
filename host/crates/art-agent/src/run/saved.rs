//! Saved plans, which can be stored in a file. A run returns its plan as a saved plan, and carries out a saved plan without a
//! planner.

use art_core::text::{DEFAULT_STRINGIFY_LIMIT, truncate};

use super::{Run, Stage};
use crate::effect::Outbox;
use crate::event::PlanToRun;
use crate::parse::PlanDraft;
use crate::plan::{PlanCheck, PlanResources, PlannedStep, SavedPlan};

impl Run {
    /// Returns the plan of this question, without its results, as a saved plan. It names no versions of tools, because the run
    /// does not know them.
    #[must_use]
    pub fn saved_plan(&self) -> SavedPlan {
        let steps = self.own_items().iter().map(PlannedStep::from);
        let mut plan = SavedPlan {
            version: SavedPlan::VERSION,
            question: self.start.props.query.clone(),
            title: self.state.title.clone(),
            intent: self.state.intent.clone(),
            plan: self.state.plan.clone(),
            steps: steps.collect(),
            ..SavedPlan::default()
        };
        if plan.takes_results_of(&self.state.earlier_questions) {
            plan.thread = Some(self.start.props.thread_id.clone());
        }
        let attached = self.start.props.attachments.iter();
        plan.record_files(attached.map(|attachment| attachment.name.clone()).collect());
        plan
    }

    /// Carries out a saved plan. A plan with faults, or one that exceeds a budget, ends the run before anything runs.
    pub(super) fn begin_saved_plan(&mut self, plan_to_run: &PlanToRun, out: &mut Outbox) {
        self.stage = Stage::Planning;
        let plan = plan_to_run.plan.with_values(&plan_to_run.values);
        let size_error = plan_to_run.plan.size_error(&plan_to_run.values);
        // `with_values` removes each parameter that has a value, so those that remain have none. But if the plan would become too
        // large with its values, it removes no parameter, and then none is reported as missing.
        let missing_values = plan
            .params
            .keys()
            .filter(|_| size_error.is_none())
            .map(|name| format!("the parameter `{name}` has no value"));
        let value_faults = size_error.iter().cloned().chain(missing_values);
        let plan_faults = self.check_saved_plan(&plan).faults.into_iter().map(|fault| fault.text);
        let faults: Vec<String> = value_faults.chain(plan_faults).collect();
        if !faults.is_empty() {
            let faults = truncate(&faults.join("; "), DEFAULT_STRINGIFY_LIMIT);
            return self.fail_planning(&format!("the saved plan cannot be carried out: {faults}"), out);
        }
        let draft = PlanDraft {
            title: non_empty(&plan.title),
            intent: non_empty(&plan.intent),
            plan: non_empty(&plan.plan),
            items: Some(plan.draft_items()),
            ..PlanDraft::default()
        };
        let check = self.check_plan(&self.merged_items(&draft));
        if !check.exceeded_budgets.is_empty() {
            return self.refuse_plan(check.exceeded_budgets, out);
        }
        if let Some(fault) = check.faults.first() {
            return self.fail_planning(&format!("the saved plan cannot be carried out: {}", fault.text), out);
        }
        self.estimate = check.estimate;
        self.adopt_plan(draft, "", out);
        self.advance(out);
    }

    /// Checks a saved plan against the tools, the files, the earlier results and the limits of this run.
    #[must_use]
    pub fn check_saved_plan(&self, plan: &SavedPlan) -> PlanCheck {
        let attached = self.start.props.attachments.iter();
        let attached = attached.map(|attachment| attachment.name.as_str());
        let files = attached.chain(self.files.all().iter().map(|file| file.name.as_str()));
        plan.check(&PlanResources {
            tools: &self.start.tools,
            disabled: &self.start.disabled_tools,
            thread: &self.start.props.thread_id,
            earlier: &self.state.earlier_questions,
            files: &files.collect(),
            max_items: usize::try_from(self.config().max_items).unwrap_or(usize::MAX),
            max_calls: usize::try_from(self.config().max_tool_calls).unwrap_or(usize::MAX),
            plans_only: self.start.plans_only,
        })
    }
}

fn non_empty(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}
