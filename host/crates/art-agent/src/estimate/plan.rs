//! Estimates the planned calls of a plan and the answer, and adds up what the whole plan will use.

use std::collections::{BTreeMap, BTreeSet};

use art_core::limits::Limits;
use art_core::pes::{PlannedCall, TodoItem, TodoItemStatus};
use art_core::tool::{ExecutionMode, ToolSchema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Basis, CallQuantiles, CostQuantiles, ModelBasis, ModelEstimate, Quantiles, StepEstimate, ToolRecord};
use crate::event::RunStart;
use crate::plan::{OutputReference, PlannedValue};
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
    /// The sum of all planned calls. If calls run at the same time, they are done earlier than the sum of their durations says.
    pub total: CallQuantiles,
    /// The answer.
    pub answer: AnswerEstimate,
    /// What the model calls for all of `steps` and for `answer` will use together.
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

/// What the model call that writes the answer will use; zero if no model writes it, or if the context of the model is unbounded,
/// since prompts of such a model cost nothing.
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
    /// Number of calls and steps whose outputs `input_tokens` does not include, because no size or only the maximum size is
    /// known. Maximum sizes are not included, since most outputs are far smaller.
    pub unknown_outputs: usize,
}

impl AnswerEstimate {
    /// Returns the tokens of the request and the reply together.
    #[must_use]
    pub const fn tokens(&self) -> Quantiles {
        self.input_tokens.plus(self.output_tokens)
    }

    /// Returns the calls, tokens and cost of writing the answer.
    pub(crate) fn usage(&self) -> ModelEstimate {
        if self.tokens().p95 == 0 {
            // This is the default estimate: no model writes the answer, or the context of the model is unbounded.
            return ModelEstimate::NO_CALLS;
        }
        ModelEstimate {
            model_calls: Quantiles::exactly(1),
            tokens: Some(self.tokens()),
            cost_usd: self.cost_usd,
        }
    }
}

impl PlanEstimate {
    /// Creates the estimate of a plan from those of its parts.
    pub(crate) fn new(calls: Vec<CallEstimate>, steps: Vec<StepEstimate>, answer: AnswerEstimate) -> Self {
        let call_usages = calls.iter().map(|call| call.usage);
        let total = call_usages.fold(CallQuantiles::default(), CallQuantiles::plus);
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
    /// Returns the size in bytes of the value that a reference takes from the output of a step that has already run.
    existing_output_bytes: &'a dyn Fn(OutputReference<'_>) -> Option<u64>,
    /// Returns how many bytes the file with this name adds to the arguments that name it.
    file_bytes: &'a dyn Fn(&str) -> Option<u64>,
    /// Estimated sizes of the outputs of planned calls, by the step and the number of the call. Outputs of unknown size are
    /// missing.
    planned_output_bytes: BTreeMap<(&'a str, usize), Quantiles>,
}

impl<'a> Estimator<'a> {
    pub(crate) fn new(
        start: &'a RunStart,
        items: &'a [TodoItem],
        existing_output_bytes: &'a dyn Fn(OutputReference<'_>) -> Option<u64>,
        file_bytes: &'a dyn Fn(&str) -> Option<u64>,
    ) -> Self {
        Self {
            start,
            items,
            existing_output_bytes,
            file_bytes,
            planned_output_bytes: BTreeMap::new(),
        }
    }

    /// Estimates the planned calls of the pending items. `skipped` contains the identifiers of items that are not estimated,
    /// because they will not run.
    pub(crate) fn estimate_calls(&mut self, skipped: &BTreeSet<&str>) -> Vec<CallEstimate> {
        let pending = self.items.iter().filter(|item| item.status == TodoItemStatus::Pending);
        let mut estimates = Vec::new();
        for item in pending.filter(|item| !skipped.contains(item.id.as_str())) {
            for (number, call) in item.tool_calls.iter().enumerate() {
                let estimate = self.estimate_call(item, number, call);
                // The limits tell only the maximum size of the output.
                if estimate.basis != Basis::Limits {
                    self.planned_output_bytes
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
            // A tool without a record is estimated to use the default limits of a call.
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

    /// Returns the size of the input of a call, including the default values that the host will fill in for absent arguments.
    fn input_bytes(&self, call: &PlannedCall) -> Option<Quantiles> {
        let tool = self.start.tools.iter().find(|tool| tool.name == call.tool_name);
        let defaults = tool.map_or(0, |tool| default_bytes(tool, &call.arguments));
        Some(self.value_bytes(&call.arguments)?.plus(Quantiles::exactly(defaults)))
    }

    /// Returns the approximate size of an argument, or a part of one, as JSON once its references are replaced by values, or
    /// `None` if the size is not known. The name of a file counts with the size of its content.
    fn value_bytes(&self, value: &Value) -> Option<Quantiles> {
        match PlannedValue::read(value).ok()? {
            PlannedValue::From(reference) => self.referenced_output_bytes(reference),
            PlannedValue::Attachment(name) => (self.file_bytes)(name).map(Quantiles::exactly),
            // A parameter of a saved plan has no value here.
            PlannedValue::Param(_) => None,
            PlannedValue::Scalar(data) | PlannedValue::Literal(data) => Some(Quantiles::exactly(json_bytes(data))),
            PlannedValue::Concat(parts) => self.sum_of_bytes(parts, 0),
            // The brackets, and a comma after each item but the last.
            PlannedValue::Array(items) => self.sum_of_bytes(items, 1 + items.len().max(1) as u64),
            // The braces, a comma after each entry but the last, and for each key its quotes and a colon.
            PlannedValue::Object(map) => {
                let keys: u64 = map.keys().map(|key| key.len() as u64 + 3).sum();
                self.sum_of_bytes(map.values(), 1 + keys + map.len().max(1) as u64)
            }
        }
    }

    /// Returns the sum of the sizes of `values` plus `extra_bytes`.
    fn sum_of_bytes<'v>(&self, values: impl IntoIterator<Item = &'v Value>, extra_bytes: u64) -> Option<Quantiles> {
        let mut sum = Quantiles::exactly(extra_bytes);
        for value in values {
            sum = sum.plus(self.value_bytes(value)?);
        }
        Some(sum)
    }

    /// Returns the size of what a reference takes from the output of an earlier step. If that step has run, this is the exact
    /// size of the value. Otherwise it is the estimated size of the whole output, even if the reference takes only a part of it.
    /// Returns `None` if the size is not known.
    fn referenced_output_bytes(&self, reference: OutputReference<'_>) -> Option<Quantiles> {
        let item = self.items.iter().find(|item| item.id == reference.step)?;
        if item.status != TodoItemStatus::Pending {
            return (self.existing_output_bytes)(reference).map(Quantiles::exactly);
        }
        // A reference without the number of a call refers to the last call of the step.
        let number = reference.call.or_else(|| item.tool_calls.len().checked_sub(1))?;
        self.planned_output_bytes.get(&(reference.step, number)).copied()
    }
}

/// Estimates the model call that writes the answer. `base_tokens` is the number of tokens of its request without the outputs of
/// `calls` and `steps`.
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
    // This is a limit of all outputs together: the prompt for the answer divides it among them.
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

/// Returns the size of the default values of the properties that `arguments` lack, with their keys, in bytes. Only the outermost
/// object counts.
fn default_bytes(tool: &ToolSchema, arguments: &Value) -> u64 {
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    let missing = properties
        .into_iter()
        .flatten()
        .filter(|(key, _)| arguments.get(key.as_str()).is_none());
    let defaults = missing.filter_map(|(key, schema)| Some((key, schema.get("default")?)));
    // The quotes of a key, a colon and a comma take 4 bytes.
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
