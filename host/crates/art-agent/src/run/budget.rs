//! Budgets of a run (M12): what is used up, what open model calls have reserved, and what a plan will need.

use std::collections::BTreeSet;

use art_core::pes::TodoItem;
use art_core::stream::{LlmMetadata, Phase};

use super::{OpenAction, Run};
use crate::attachment;
use crate::effect::Outbox;
use crate::estimate::{
    self, Basis, CallEstimate, CallQuantiles, Estimator, PlanEstimate, REPLY_TOKENS, ToolRecord, json_bytes,
};
use crate::item::NextStep;
use crate::plan::{Fault, Origin};
use crate::prompt;

/// What an open model call may use, by its estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Reservation {
    tokens: u64,
    cost_usd: f64,
}

/// What is wrong with a plan, and what it will use.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CheckedPlan {
    /// The faults of its planned calls.
    pub(super) faults: Vec<Fault>,
    /// The budgets that it exceeds, with the figures.
    pub(super) excess: Vec<String>,
    /// The estimate of the calls without faults.
    pub(super) estimate: PlanEstimate,
}

impl CheckedPlan {
    /// Returns all problems, in words for the model.
    pub(super) fn problems(&self) -> impl Iterator<Item = String> {
        let faults = self.faults.iter().map(|fault| &fault.text);
        faults.chain(&self.excess).cloned()
    }
}

impl Run {
    /// Returns the estimate of the planned calls of the plan and of the answer, as it was made when the plan was accepted.
    #[must_use]
    pub const fn estimate(&self) -> &PlanEstimate {
        &self.estimate
    }

    /// Checks the planned calls of `items`, and whether the 95th percentile of what they will use is within their limits and the
    /// budgets of the run.
    pub(super) fn check_plan(&self, items: &[TodoItem]) -> CheckedPlan {
        let mut faults = self.check_calls(items).faults;
        let mut estimate = self.estimate_items(items, &faults);
        let over_limits = self.limit_faults(&estimate);
        if !over_limits.is_empty() {
            faults.extend(over_limits);
            estimate = self.estimate_items(items, &faults);
        }
        CheckedPlan {
            excess: self.excess(&estimate),
            faults,
            estimate,
        }
    }

    /// Ends the run before any call of a plan that exceeds a budget.
    pub(super) fn refuse_plan(&mut self, excess: Vec<String>, out: &mut Outbox) {
        excess.into_iter().for_each(|limit| self.record_limit(limit));
        self.finish_over_budget(out);
    }

    /// Returns whether a budget of the run is used up. If so, records the limit.
    pub(super) fn check_budget(&mut self) -> bool {
        let limit = self.spent_budget();
        if let Some(limit) = &limit {
            self.record_limit(limit.clone());
        }
        limit.is_some()
    }

    /// Returns whether a budget will be used up if the open model calls use what they have reserved.
    pub(super) fn is_reserved(&self) -> bool {
        let (config, used) = (self.config(), &self.usage);
        let tokens: u64 = self.reserved.values().map(|reserved| reserved.tokens).sum();
        let cost: f64 = self.reserved.values().map(|reserved| reserved.cost_usd).sum();
        let tokens = used.tokens.total_tokens.saturating_add(tokens);
        let cost = used.llm.cost_usd.unwrap_or_default() + cost;
        !self.reserved.is_empty()
            && (config.max_tokens.is_some_and(|limit| tokens >= limit)
                || config.max_cost_usd.is_some_and(|limit| cost >= limit))
    }

    /// Returns what a model call reserves until it ends, if the run has a budget for it.
    pub(super) fn reservation(&self, action: &OpenAction) -> Option<Reservation> {
        let config = self.config();
        let is_limited = config.max_tokens.is_some() || config.max_cost_usd.is_some();
        if !is_limited || self.start.context.is_unbounded() {
            return None;
        }
        let metadata = LlmMetadata {
            input_tokens: Some(self.tokens_of(action, self.token_budget())),
            output_tokens: Some(REPLY_TOKENS.p95),
            ..LlmMetadata::default()
        };
        Some(Reservation {
            tokens: metadata.usage().total_tokens,
            cost_usd: self
                .start
                .price
                .and_then(|price| price.cost(&metadata, 0))
                .unwrap_or_default(),
        })
    }

    /// Opens the model calls of items that waited until other calls had settled what they reserved.
    pub(super) fn open_waiting(&mut self, out: &mut Outbox) {
        while !self.is_reserved()
            && let Some(id) = self.waiting.pop_front()
        {
            if self.running.contains_key(&id) {
                self.apply_next_step(&id, NextStep::CallModel, out);
            }
        }
    }

    /// Estimates the planned calls of `items`, except those of items with faults, and the answer.
    fn estimate_items(&self, items: &[TodoItem], faults: &[Fault]) -> PlanEstimate {
        let failing: BTreeSet<&str> = faults.iter().map(|fault| fault.step.as_str()).collect();
        let output = |origin: Origin<'_>| self.output(origin).ok()?.pointer(origin.path).map(json_bytes);
        let file = |name: &str| attachment::argument_bytes(name, &self.start.props.attachments, &self.files);
        let calls = Estimator::new(&self.start, items, &output, &file).calls(&failing);
        let usages = calls.iter().map(|call| call.usage);
        PlanEstimate {
            total: usages.fold(CallQuantiles::default(), CallQuantiles::plus),
            answer: estimate::answer(&self.start, self.answer_tokens(items), &calls),
            calls,
        }
    }

    /// Returns the number of tokens of a request for the answer without the outputs of `items`.
    fn answer_tokens(&self, items: &[TodoItem]) -> u64 {
        if self.start.context.is_unbounded() {
            return 0;
        }
        let new = self.conversation.messages.is_empty();
        let new = new.then(|| prompt::planning(&self.start, &self.state, self.files.all()));
        let conversation = new.as_ref().unwrap_or(&self.conversation);
        let request = self.build(&conversation.messages, Phase::Synthesis, self.planner_tools());
        let files = self.files.of_this_run();
        let results = prompt::results(&self.start, items, files, &self.limits_hit);
        prompt::request_tokens(&request).saturating_add(prompt::text_tokens(&results))
    }

    /// Returns a fault for each call that will use more than its tool may use, by the records of the tool.
    fn limit_faults(&self, estimate: &PlanEstimate) -> Vec<Fault> {
        let recorded = estimate.calls.iter().filter(|call| call.basis != Basis::Limits);
        let faults = recorded.flat_map(|call| {
            let record = self.start.records.get(&call.tool_name);
            record.map_or_else(Vec::new, |record| over_limits(call, record))
        });
        faults.collect()
    }

    /// Returns the budgets that a plan exceeds, with the figures. Tokens and cost of the answer count only if an output is recorded,
    /// since limits say little about the size of an output.
    fn excess(&self, estimate: &PlanEstimate) -> Vec<String> {
        let (config, used, answer) = (self.config(), &self.usage, &estimate.answer);
        let mut excess = Vec::new();
        if answer.known_outputs == 0 {
            return excess;
        }
        let (needed, tokens) = (answer.tokens().p95, used.tokens.total_tokens);
        if let Some(limit) = config.max_tokens.filter(|limit| tokens.saturating_add(needed) > *limit) {
            excess.push(format!(
                "the answer will need up to {needed} tokens (95th percentile), the run used {tokens}, and its maximum is {limit}; \
                 plan calls with smaller outputs"
            ));
        }
        let (needed, cost) = (
            answer.cost_usd.unwrap_or_default().p95,
            used.llm.cost_usd.unwrap_or_default(),
        );
        if let Some(limit) = config.max_cost_usd.filter(|limit| cost + needed > *limit) {
            excess.push(format!(
                "the answer will cost up to ${needed:.4} (95th percentile), the run cost ${cost:.4}, and its maximum is \
                 ${limit:.4}; plan calls with smaller outputs"
            ));
        }
        excess
    }

    /// Returns a description of the budget that is used up, with its numbers.
    fn spent_budget(&self) -> Option<String> {
        let (config, usage) = (self.config(), &self.usage);
        if usage.llm_calls_opened >= config.max_model_calls {
            return Some(format!(
                "the run made its maximum of {} model calls",
                config.max_model_calls
            ));
        }
        let tokens = usage.tokens.total_tokens;
        if let Some(limit) = config.max_tokens.filter(|limit| tokens >= *limit) {
            return Some(format!("the run used {tokens} tokens; its maximum is {limit}"));
        }
        let cost = usage.llm.cost_usd.unwrap_or_default();
        // A limit that is not a number counts as used up.
        let limit = config.max_cost_usd.filter(|limit| limit.is_nan() || cost >= *limit)?;
        Some(format!("the run cost ${cost:.4}; its maximum is ${limit:.4}"))
    }
}

/// Returns a fault for each limit of a tool that a recorded call would exceed, which happens after the limit was lowered.
fn over_limits(call: &CallEstimate, record: &ToolRecord) -> Vec<Fault> {
    let (usage, limits) = (&call.usage, &record.limits);
    let resources = [
        (usage.fuel.p95, limits.fuel, "units of fuel"),
        (
            usage.wall_us.p95.div_ceil(1_000),
            limits.wall_us / 1_000,
            "milliseconds",
        ),
        (usage.bytes_out.p95, limits.bytes_out, "bytes of output"),
    ];
    let over = resources.into_iter().filter(|(needed, limit, _)| needed > limit);
    let fault = |(needed, limit, unit)| {
        let text = format!(
            "`{}.toolCalls[{}]`: `{}` needs up to {needed} {unit} for an input of this size (95th percentile), and may use {limit}; \
             give it less at a time",
            call.step_id, call.number, call.tool_name
        );
        Fault {
            step: call.step_id.clone(),
            text,
        }
    };
    over.map(fault).collect()
}
