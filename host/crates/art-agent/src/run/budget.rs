//! The budgets of a run for model calls, tokens and cost (contract M12): whether one is used up, what the model calls
//! in progress have reserved of it, and whether a plan will exceed it.

use std::collections::BTreeSet;

use art_core::json::text_len;
use art_core::pes::TodoItem;
use art_core::stream::{LlmMetadata, Phase};

use super::{OpenAction, Run};
use crate::attachment;
use crate::effect::Outbox;
use crate::estimate::{
    self, ASSUMED_ANSWER_TOKENS, AnswerEstimate, Basis, CallEstimate, Estimator, ModelBasis, ModelEstimate,
    PlanEstimate, ToolRecord, json_bytes,
};
use crate::event::RunStart;
use crate::plan::{Fault, OutputReference};
use crate::prompt;

/// The part of the budgets that a model call in progress reserves: its estimated tokens and cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Reservation {
    tokens: u64,
    cost_usd: f64,
}

/// What is wrong with a plan, and what it will use.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlanAssessment {
    /// The faults of its planned calls.
    pub(super) faults: Vec<Fault>,
    /// The budgets that it exceeds, in words, with the figures.
    pub(super) exceeded_budgets: Vec<String>,
    /// The estimate of the calls and steps without faults.
    pub(super) estimate: PlanEstimate,
}

impl PlanAssessment {
    /// Returns the faults and the exceeded budgets, in words for the model.
    pub(super) fn problems(&self) -> impl Iterator<Item = String> {
        let faults = self.faults.iter().map(|fault| &fault.text);
        faults.chain(&self.exceeded_budgets).cloned()
    }
}

impl Run {
    /// Returns the estimate of the plan and of the answer, as it was made when the plan was accepted.
    #[must_use]
    pub const fn estimate(&self) -> &PlanEstimate {
        &self.estimate
    }

    /// Checks the planned calls of `items`, and whether the 95th percentile of what they will use is within their limits and the
    /// budgets of the run.
    pub(super) fn check_plan(&self, items: &[TodoItem]) -> PlanAssessment {
        let mut faults = self.check_calls(items).faults;
        let mut estimate = self.estimate_items(items, &faults);
        let over_limits = self.limit_faults(&estimate);
        if !over_limits.is_empty() {
            faults.extend(over_limits);
            // The estimate leaves out calls with faults, and there are new faults now.
            estimate = self.estimate_items(items, &faults);
        }
        PlanAssessment {
            exceeded_budgets: self.exceeded_budgets(&estimate),
            faults,
            estimate,
        }
    }

    /// Ends the run because its plan exceeds a budget. None of the calls of the plan was made.
    pub(super) fn refuse_plan(&mut self, exceeded_budgets: Vec<String>, out: &mut Outbox) {
        exceeded_budgets.into_iter().for_each(|limit| self.record_limit(limit));
        self.finish_over_budget(out);
    }

    /// Returns whether a budget of the run is used up. If so, records it as a limit that the run reached.
    pub(super) fn record_if_budget_spent(&mut self) -> bool {
        let limit = self.spent_budget();
        if let Some(limit) = &limit {
            self.record_limit(limit.clone());
        }
        limit.is_some()
    }

    /// Returns whether a budget will be used up if the model calls in progress use what they have reserved.
    pub(super) fn is_rest_of_budget_reserved(&self) -> bool {
        let (config, used) = (self.config(), &self.usage);
        let tokens: u64 = self.reservations.values().map(|reserved| reserved.tokens).sum();
        let cost: f64 = self.reservations.values().map(|reserved| reserved.cost_usd).sum();
        let tokens = used.tokens.total_tokens.saturating_add(tokens);
        let cost = used.llm.cost_usd.unwrap_or_default() + cost;
        !self.reservations.is_empty()
            && (config.max_tokens.is_some_and(|limit| tokens >= limit)
                || config.max_cost_usd.is_some_and(|limit| cost >= limit))
    }

    /// Returns the tokens and the cost that a model call with a request of `tokens` tokens reserves until it ends. Returns `None`
    /// if the run has no budget of tokens or cost, or if the context is unbounded.
    pub(super) fn reservation(&self, action: &OpenAction, tokens: u64) -> Option<Reservation> {
        let config = self.config();
        let is_limited = config.max_tokens.is_some() || config.max_cost_usd.is_some();
        if !is_limited || self.start.context.is_unbounded() {
            return None;
        }
        let metadata = LlmMetadata {
            input_tokens: Some(tokens),
            output_tokens: Some(self.reply_tokens(action)),
            ..LlmMetadata::default()
        };
        // How many tokens will be written to the provider's cache is unknown.
        let cache_written = 0;
        Some(Reservation {
            tokens: metadata.usage().total_tokens,
            cost_usd: self
                .start
                .price
                .and_then(|price| price.cost(&metadata, cache_written))
                .unwrap_or_default(),
        })
    }

    /// Returns the estimated tokens of the reply to a model call, as the 95th percentile.
    fn reply_tokens(&self, action: &OpenAction) -> u64 {
        match action {
            OpenAction::Answer => self.start.model_record.answer_tokens().0.p95,
            // A reply with a plan or about a step is assumed to be as long as an answer.
            _ => ASSUMED_ANSWER_TOKENS.p95,
        }
    }

    /// Estimates `items`, except those with faults, and the answer.
    fn estimate_items(&self, items: &[TodoItem], faults: &[Fault]) -> PlanEstimate {
        let faulty_steps: BTreeSet<&str> = faults.iter().map(|fault| fault.step.as_str()).collect();
        let output_bytes = |reference: OutputReference<'_>| {
            self.referenced_output(reference)
                .ok()?
                .pointer(reference.path)
                .map(json_bytes)
        };
        let file_bytes = |name: &str| attachment::inserted_bytes(name, &self.start.props.attachments, &self.files);
        let calls = Estimator::new(&self.start, items, &output_bytes, &file_bytes).estimate_calls(&faulty_steps);
        let steps = estimate::estimate_steps(&self.start, self.config(), items, &faulty_steps);
        // No model writes the answer if the output of the only step is to be returned as it is.
        let is_raw = self.start.props.raw && matches!(items, [item] if item.tool_calls.len() <= 1);
        let answer = if is_raw {
            AnswerEstimate::default()
        } else {
            estimate::estimate_answer(&self.start, self.answer_request_tokens(items), &calls, &steps)
        };
        PlanEstimate::new(calls, steps, answer)
    }

    /// Returns the estimated tokens of the request for the answer, not counting the outputs of `items`. The request begins with
    /// the last request to the planner and the reply to it. The size of both is in the journal, so the estimate does not depend
    /// on the wording of the current prompts.
    fn answer_request_tokens(&self, items: &[TodoItem]) -> u64 {
        if self.start.context.is_unbounded() {
            return 0;
        }
        let planner_tokens = self.planner_tokens.unwrap_or(self.start.request_tokens);
        let sizes = items.iter().map(|item| item_bytes(item) as u64);
        planner_tokens.saturating_add(prompt::byte_tokens(sizes.sum()))
    }

    /// Returns the estimated tokens that the first request to a planner would have.
    fn first_planner_request_tokens(&self) -> u64 {
        let conversation = prompt::planner_conversation(&self.start, &self.state, self.files.all());
        prompt::request_tokens(&self.build_request(
            &conversation.messages,
            Phase::Planning,
            self.planner_tools(&conversation),
        ))
    }

    /// Returns a fault for each call that, by the records of its tool, will use more than the tool may use.
    fn limit_faults(&self, estimate: &PlanEstimate) -> Vec<Fault> {
        let recorded = estimate.calls.iter().filter(|call| call.basis != Basis::Limits);
        let faults = recorded.flat_map(|call| {
            let record = self.start.records.get(&call.tool_name);
            record.map_or_else(Vec::new, |record| call_limit_faults(call, record))
        });
        faults.collect()
    }

    /// Returns the budgets that a plan exceeds, in words, with the figures. An estimate of a step or of the output of a call does
    /// not count if it is based only on limits and not on records, since most steps and outputs stay far below the limits. If no
    /// estimate of a step or an output counts, the answer does not count either.
    fn exceeded_budgets(&self, estimate: &PlanEstimate) -> Vec<String> {
        let recorded_steps = estimate.steps.iter().filter(|step| step.basis != ModelBasis::Limits);
        let steps: Vec<ModelEstimate> = recorded_steps.map(|step| step.usage).collect();
        if estimate.answer.known_outputs == 0 && steps.is_empty() {
            return Vec::new();
        }
        let has_steps = !steps.is_empty();
        let consumers = if has_steps {
            "its steps and the answer"
        } else {
            "the answer"
        };
        let needed = steps.into_iter().fold(estimate.answer.usage(), ModelEstimate::plus);
        let exceeded = [
            // If no step counts, only the model call for the answer can be one too many. A plan is not refused for this: the run
            // then ends with a list of results.
            self.exceeded_call_budget(&needed, consumers).filter(|_| has_steps),
            self.exceeded_token_budget(&needed, consumers),
            self.exceeded_cost_budget(&needed, consumers),
        ];
        exceeded.into_iter().flatten().collect()
    }

    fn exceeded_call_budget(&self, needed: &ModelEstimate, consumers: &str) -> Option<String> {
        let (needed, made, limit) = (
            needed.model_calls.p95,
            u64::from(self.usage.llm_calls_opened),
            u64::from(self.config().max_model_calls),
        );
        (made.saturating_add(needed) > limit).then(|| {
            format!(
                "{consumers} will need up to {needed} model calls (95th percentile), the run made {made}, and \
                 its maximum is {limit}; plan the calls of more steps"
            )
        })
    }

    fn exceeded_token_budget(&self, needed: &ModelEstimate, consumers: &str) -> Option<String> {
        let (needed, used) = (needed.tokens.unwrap_or_default().p95, self.usage.tokens.total_tokens);
        let limit = self.config().max_tokens?;
        (used.saturating_add(needed) > limit).then(|| {
            format!(
                "{consumers} will need up to {needed} tokens (95th percentile), the run used {used}, and \
                 its maximum is {limit}; plan calls with smaller outputs"
            )
        })
    }

    fn exceeded_cost_budget(&self, needed: &ModelEstimate, consumers: &str) -> Option<String> {
        let (needed, cost) = (
            needed.cost_usd.unwrap_or_default().p95,
            self.usage.llm.cost_usd.unwrap_or_default(),
        );
        let limit = self.config().max_cost_usd?;
        (cost + needed > limit).then(|| {
            format!(
                "{consumers} will cost up to ${needed:.4} (95th percentile), the run cost ${cost:.4}, and \
                 its maximum is ${limit:.4}; plan calls with smaller outputs"
            )
        })
    }

    /// Returns a description of the budget that is used up, with its numbers, or `None` if none is used up.
    fn spent_budget(&self) -> Option<String> {
        let (config, usage) = (self.config(), &self.usage);
        if usage.llm_calls_opened >= config.max_model_calls {
            return Some(format!(
                "the run made its maximum of {} model calls",
                config.max_model_calls
            ));
        }
        self.spent_tokens_or_cost()
    }

    /// Returns a description of the budget of tokens or of cost that is used up, with its numbers, or `None` if neither is.
    pub(super) fn spent_tokens_or_cost(&self) -> Option<String> {
        let (config, usage) = (self.config(), &self.usage);
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

impl RunStart {
    /// Sets [`request_tokens`](Self::request_tokens), if the run asks no planner because it begins with a plan.
    #[must_use]
    pub fn with_request_tokens(mut self) -> Self {
        let continues_plan = self.props.query.trim().is_empty() && self.prior.is_some();
        if (continues_plan || self.plan.is_some()) && !self.context.is_unbounded() {
            self.request_tokens = Run::new(&self, String::new(), 0).first_planner_request_tokens();
        }
        self
    }
}

/// Returns the number of bytes that an item takes in the request for the answer, without its outputs.
fn item_bytes(item: &TodoItem) -> usize {
    let calls = item.tool_calls.iter();
    let calls: usize = calls.map(|call| call.tool_name.len() + text_len(&call.arguments)).sum();
    item.id.len() + item.description.len() + calls
}

/// Returns a fault for each limit of a tool that, by the records of the tool, a call would exceed. This can happen after the
/// limit was lowered.
fn call_limit_faults(call: &CallEstimate, record: &ToolRecord) -> Vec<Fault> {
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
            "`{}.toolCalls[{}]`: `{}` needs up to {needed} {unit} for an input of this size (95th percentile), and may use \
             {limit}; give it less at a time",
            call.step_id, call.number, call.tool_name
        );
        Fault {
            step: call.step_id.clone(),
            text,
        }
    };
    over.map(fault).collect()
}
