//! Estimates the calls of a plan, and its answer.

use std::collections::{BTreeMap, BTreeSet};

use art_core::limits::Limits;
use art_core::pes::{PlannedCall, TodoItem, TodoItemStatus};
use art_core::tool::{ExecutionMode, ToolSchema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Basis, CallQuantiles, CostQuantiles, ModelBasis, ModelEstimate, Quantiles, StepEstimate, ToolRecord};
use crate::event::RunStart;
use crate::plan::{Origin, Template};
use crate::prompt;

/// What a plan will use: its planned calls, its other steps and its answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanEstimate {
    /// The planned calls, in the order of the plan.
    pub calls: Vec<CallEstimate>,
    /// The steps without planned calls, which the model carries out, in the order of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepEstimate>,
    /// The sum of all planned calls. Calls that run at the same time take less time than this sum.
    pub total: CallQuantiles,
    /// The answer.
    pub answer: AnswerEstimate,
    /// The sum of the model calls for `steps` and `answer`.
    pub model: ModelEstimate,
}

/// What a planned call will use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallEstimate {
    /// Identifier of the step.
    pub step_id: String,
    /// Number of the call in its step, from 0.
    pub number: usize,
    /// Name of the tool.
    pub tool_name: String,
    /// Size of the input, in bytes; absent if it depends on an output of unknown size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_in: Option<Quantiles>,
    /// What the call will use.
    #[serde(flatten)]
    pub usage: CallQuantiles,
    /// What the estimate is based on.
    pub basis: Basis,
}

/// What the model call that writes the answer will use; zero for a model with an unbounded context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnswerEstimate {
    /// Tokens of the request, which contains the outputs of the calls.
    pub input_tokens: Quantiles,
    /// Tokens of the reply.
    pub output_tokens: Quantiles,
    /// What the tokens of the reply are based on.
    pub basis: ModelBasis,
    /// Cost in US dollars; absent if the model has no known price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<CostQuantiles>,
    /// Number of calls whose outputs `input_tokens` includes.
    pub known_outputs: usize,
    /// Number of calls and steps whose outputs are left out, because nothing or only their limits are known. The limits
    /// do not enter the estimate, since most outputs are far smaller.
    pub unknown_outputs: usize,
}

impl AnswerEstimate {
    /// Returns the tokens of the request and the reply together.
    #[must_use]
    pub const fn tokens(&self) -> Quantiles {
        self.input_tokens.plus(self.output_tokens)
    }

    /// Returns what the model call uses.
    pub(crate) fn usage(&self) -> ModelEstimate {
        if self.tokens().p95 == 0 {
            // No model is asked, or its context is unbounded.
            return ModelEstimate::NOTHING;
        }
        ModelEstimate {
            model_calls: Quantiles::exactly(1),
            tokens: Some(self.tokens()),
            cost_usd: self.cost_usd,
        }
    }
}

impl PlanEstimate {
    /// Sums up what `calls`, `steps` and `answer` use.
    pub(crate) fn new(calls: Vec<CallEstimate>, steps: Vec<StepEstimate>, answer: AnswerEstimate) -> Self {
        let usages = calls.iter().map(|call| call.usage);
        let total = usages.fold(CallQuantiles::default(), CallQuantiles::plus);
        let step_usages = steps.iter().map(|step| step.usage);
        let model = step_usages.fold(answer.usage(), ModelEstimate::plus);
        Self {
            calls,
            steps,
            total,
            answer,
            model,
        }
    }
}

/// Estimates the planned calls of a plan.
pub(crate) struct Estimator<'a> {
    start: &'a RunStart,
    items: &'a [TodoItem],
    /// Returns the size of an output that exists already, in bytes.
    existing_output_bytes: &'a dyn Fn(Origin<'_>) -> Option<u64>,
    /// Returns the size of a file as an argument, in bytes.
    file_bytes: &'a dyn Fn(&str) -> Option<u64>,
    /// Sizes of the outputs of planned calls, by step and number. An output of unknown size is missing.
    planned_outputs: BTreeMap<(&'a str, usize), Quantiles>,
}

impl<'a> Estimator<'a> {
    pub(crate) fn new(
        start: &'a RunStart,
        items: &'a [TodoItem],
        existing_output_bytes: &'a dyn Fn(Origin<'_>) -> Option<u64>,
        file_bytes: &'a dyn Fn(&str) -> Option<u64>,
    ) -> Self {
        Self {
            start,
            items,
            existing_output_bytes,
            file_bytes,
            planned_outputs: BTreeMap::new(),
        }
    }

    /// Estimates the planned calls of all pending items, except those of the items in `failing`, which will not run.
    pub(crate) fn estimate_calls(&mut self, failing: &BTreeSet<&str>) -> Vec<CallEstimate> {
        let pending = self.items.iter().filter(|item| item.status == TodoItemStatus::Pending);
        let mut estimates = Vec::new();
        for item in pending.filter(|item| !failing.contains(item.id.as_str())) {
            for (number, call) in item.tool_calls.iter().enumerate() {
                let estimate = self.estimate_call(item, number, call);
                if estimate.basis != Basis::Limits {
                    self.planned_outputs
                        .insert((&item.id, number), estimate.usage.bytes_out);
                }
                estimates.push(estimate);
            }
        }
        estimates
    }

    fn estimate_call(&self, item: &TodoItem, number: usize, call: &PlannedCall) -> CallEstimate {
        let bytes_in = self.input_bytes(call);
        let (usage, basis) = match self.start.records.get(&call.tool_name) {
            Some(record) => record.estimate(bytes_in),
            None => ToolRecord::new(None, &Limits::EXECUTE, &[]).estimate(bytes_in),
        };
        CallEstimate {
            step_id: item.id.clone(),
            number,
            tool_name: call.tool_name.clone(),
            bytes_in,
            usage,
            basis,
        }
    }

    /// Returns the size of the input of a call, with the defaults that the host will fill in at its top level.
    fn input_bytes(&self, call: &PlannedCall) -> Option<Quantiles> {
        let tool = self.start.tools.iter().find(|tool| tool.name == call.tool_name);
        let defaults = tool.map_or(0, |tool| default_bytes(tool, &call.arguments));
        Some(self.bytes(&call.arguments)?.plus(Quantiles::exactly(defaults)))
    }

    /// Returns the approximate size of a value as JSON once its references are resolved, or `None` if it is not known. A file counts
    /// with the size of its content.
    fn bytes(&self, value: &Value) -> Option<Quantiles> {
        match Template::read(value).ok()? {
            Template::From(origin) => self.referenced_output_bytes(origin),
            Template::Attachment(name) => (self.file_bytes)(name).map(Quantiles::exactly),
            Template::Param(_) => None,
            Template::Data(data) | Template::Literal(data) => Some(Quantiles::exactly(json_bytes(data))),
            Template::Concat(parts) => self.sum(parts, 0),
            // The brackets, and a comma after each item but the last.
            Template::Array(items) => self.sum(items, 1 + items.len().max(1) as u64),
            Template::Object(map) => {
                let keys: u64 = map.keys().map(|key| key.len() as u64 + 3).sum();
                self.sum(map.values(), 1 + keys + map.len().max(1) as u64)
            }
        }
    }

    /// Returns the sum of the sizes of `values` plus `extra_bytes`.
    fn sum<'v>(&self, values: impl IntoIterator<Item = &'v Value>, extra_bytes: u64) -> Option<Quantiles> {
        let mut sum = Quantiles::exactly(extra_bytes);
        for value in values {
            sum = sum.plus(self.bytes(value)?);
        }
        Some(sum)
    }

    /// Returns the size of an output of an earlier step: the exact size if the step has run, else the estimated size of the whole
    /// output, even if the reference takes only a part of it. Returns `None` if the size is not known.
    fn referenced_output_bytes(&self, origin: Origin<'_>) -> Option<Quantiles> {
        let item = self.items.iter().find(|item| item.id == origin.step)?;
        if item.status != TodoItemStatus::Pending {
            return (self.existing_output_bytes)(origin).map(Quantiles::exactly);
        }
        let number = origin.call.or_else(|| item.tool_calls.len().checked_sub(1))?;
        self.planned_outputs.get(&(origin.step, number)).copied()
    }
}

/// Estimates the answer. `base_tokens` is the size of its request without the outputs of `calls` and `steps`.
pub(crate) fn estimate_answer(
    start: &RunStart,
    base_tokens: u64,
    calls: &[CallEstimate],
    steps: &[StepEstimate],
) -> AnswerEstimate {
    if start.context.is_unbounded() {
        return AnswerEstimate::default();
    }
    let is_display_tool = |tool: &ToolSchema| tool.execution_mode == ExecutionMode::Display;
    let display_tools: BTreeSet<&str> = start
        .tools
        .iter()
        .filter(|tool| is_display_tool(tool))
        .map(|tool| tool.name.as_str())
        .collect();
    // Prompts do not contain the outputs of display tools, which are shown to the person.
    let (known, unknown): (Vec<_>, Vec<_>) = calls
        .iter()
        .filter(|call| !display_tools.contains(call.tool_name.as_str()))
        .partition(|call| call.basis != Basis::Limits);
    let outputs = known.iter().map(|call| call.usage.bytes_out);
    let outputs = outputs.fold(Quantiles::default(), Quantiles::plus);
    let max_bytes = start.config.tool_result_max_length as u64;
    let input_tokens = outputs.map(|bytes| base_tokens.saturating_add(prompt::byte_tokens(bytes.min(max_bytes))));
    let (output_tokens, basis) = start.model_record.answer_tokens();
    let price = start.price.as_ref();
    AnswerEstimate {
        input_tokens,
        output_tokens,
        basis,
        cost_usd: price.and_then(|price| CostQuantiles::of(price, input_tokens, output_tokens)),
        known_outputs: known.len(),
        unknown_outputs: unknown.len() + steps.len(),
    }
}

/// Returns the size of the defaults of top-level properties that are missing in `arguments`, with their keys, in bytes.
fn default_bytes(tool: &ToolSchema, arguments: &Value) -> u64 {
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    let missing = properties
        .into_iter()
        .flatten()
        .filter(|(key, _)| arguments.get(key.as_str()).is_none());
    let defaults = missing.filter_map(|(key, schema)| Some((key, schema.get("default")?)));
    defaults
        .map(|(key, default)| key.len() as u64 + 4 + json_bytes(default))
        .sum()
}

/// Returns the size of a value as JSON, in bytes.
pub(crate) fn json_bytes(value: &Value) -> u64 {
    value.to_string().len() as u64
}

#[cfg(test)]
mod tests;
