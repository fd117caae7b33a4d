//! Estimates the model calls and tokens of a plan from what the model used for earlier steps and answers. The steps meant here
//! are those without planned calls: the model itself carries them out.

use std::collections::BTreeSet;

use art_core::agent::ExecutionConfig;
use art_core::pes::{TodoItem, TodoItemStatus};
use art_core::price::Price;
use art_core::stream::LlmMetadata;
use art_core::usage::ModelUsage;
use serde::{Deserialize, Serialize};

use super::Quantiles;
use crate::event::RunStart;

/// Number of tokens that an answer is assumed to have while no answer of the model is recorded.
pub(crate) const ASSUMED_ANSWER_TOKENS: Quantiles = Quantiles {
    median: 300,
    p95: 1_000,
};

/// Calls and tokens that a model used for its recorded work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRecord {
    /// What the model used for each step without planned calls; absent if no such step is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<WorkQuantiles>,
    /// What the model used for each answer that it wrote from the results of tools; absent if no such answer is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<WorkQuantiles>,
}

/// What a model used for recorded steps, or for recorded answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkQuantiles {
    /// Number of recorded steps or answers.
    pub count: u32,
    /// Number of model calls for one step or answer.
    pub model_calls: Quantiles,
    /// Tokens of all requests for one step or answer.
    pub input_tokens: Quantiles,
    /// Tokens of all replies for one step or answer.
    pub output_tokens: Quantiles,
}

/// What the estimate of a step or of the length of an answer is based on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "source", rename_all = "camelCase")]
pub enum ModelBasis {
    /// Recorded steps or answers of the same model.
    Records {
        /// Number of recorded steps or answers.
        count: u32,
    },
    /// The limits of the run, because no step of the model is recorded.
    Limits,
    /// A length that answers usually have, because no answer of the model is recorded.
    #[default]
    Assumption,
}

/// What the model will use for a step without planned calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepEstimate {
    /// Identifier of the step.
    pub step_id: String,
    /// Estimated calls, tokens and cost of the step.
    #[serde(flatten)]
    pub usage: ModelEstimate,
    /// What the estimate is based on.
    pub basis: ModelBasis,
}

/// What model calls will use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelEstimate {
    /// Number of model calls.
    pub model_calls: Quantiles,
    /// Tokens of the requests and the replies together; absent if no step of the model is recorded and the run has no token
    /// limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Quantiles>,
    /// Cost in US dollars; absent if the model has no known price, or if no step of the model is recorded and the run has no cost
    /// limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<CostQuantiles>,
}

/// The median and the 95th percentile of a cost, in US dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CostQuantiles {
    /// Median cost, estimated from median token counts. For a step, if no step is recorded, the cost limit of the run.
    pub median: f64,
    /// 95th percentile of the cost, estimated from the 95th percentiles of the token counts. For a step, if no step is recorded,
    /// the cost limit of the run.
    pub p95: f64,
}

impl ModelRecord {
    /// Creates the record of a model from what it used for steps and for answers.
    #[must_use]
    pub fn new(steps: &[ModelUsage], answers: &[ModelUsage]) -> Self {
        Self {
            steps: WorkQuantiles::of(steps),
            answers: WorkQuantiles::of(answers),
        }
    }

    /// Returns whether nothing is recorded.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.steps.is_none() && self.answers.is_none()
    }

    /// Returns the estimated tokens of an answer, and what the estimate is based on.
    pub(crate) fn answer_tokens(&self) -> (Quantiles, ModelBasis) {
        match self.answers {
            Some(answers) => (answers.output_tokens, answers.basis()),
            None => (ASSUMED_ANSWER_TOKENS, ModelBasis::Assumption),
        }
    }
}

impl WorkQuantiles {
    fn of(recorded: &[ModelUsage]) -> Option<Self> {
        let count = u32::try_from(recorded.len()).unwrap_or(u32::MAX);
        let quantiles_of = |number: fn(&ModelUsage) -> u64| Quantiles::of(recorded.iter().map(number));
        (count > 0).then(|| Self {
            count,
            model_calls: quantiles_of(|usage| usage.model_calls),
            input_tokens: quantiles_of(|usage| usage.input_tokens),
            output_tokens: quantiles_of(|usage| usage.output_tokens),
        })
    }

    const fn basis(&self) -> ModelBasis {
        ModelBasis::Records { count: self.count }
    }
}

impl ModelEstimate {
    /// The estimate for no model calls.
    pub(crate) const NO_CALLS: Self = Self {
        model_calls: Quantiles::exactly(0),
        tokens: Some(Quantiles::exactly(0)),
        cost_usd: Some(CostQuantiles { median: 0.0, p95: 0.0 }),
    };

    /// Returns the sum of two estimates. Tokens or a cost that one of them lacks are absent in the sum, too.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            model_calls: self.model_calls.plus(other.model_calls),
            tokens: self.tokens.zip(other.tokens).map(|(one, more)| one.plus(more)),
            cost_usd: self.cost_usd.zip(other.cost_usd).map(|(one, more)| one.plus(more)),
        }
    }
}

impl CostQuantiles {
    /// Returns the cost of a call with these tokens. The result is never `None`, because [`Price::cost`] needs only these two
    /// counts.
    pub(crate) fn of(price: &Price, input: Quantiles, output: Quantiles) -> Option<Self> {
        let cost_of = |input_tokens, output_tokens| {
            let metadata = LlmMetadata {
                input_tokens: Some(input_tokens),
                output_tokens: Some(output_tokens),
                ..LlmMetadata::default()
            };
            let tokens_written_to_cache = 0;
            price.cost(&metadata, tokens_written_to_cache)
        };
        Some(Self {
            median: cost_of(input.median, output.median)?,
            p95: cost_of(input.p95, output.p95)?,
        })
    }

    const fn exactly(cost: f64) -> Self {
        Self {
            median: cost,
            p95: cost,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            median: self.median + other.median,
            p95: self.p95 + other.p95,
        }
    }
}

/// Estimates the pending items without planned calls. `config` is that of `start`, except that limits of 0 with which the run
/// could not go on are raised to 1. `skipped` has the identifiers of items that are not estimated, because they will not run.
/// Returns no estimates for a model with an unbounded context, which is built into the program and costs nothing, or for one that
/// only plans and carries out no steps.
pub(crate) fn estimate_steps(
    start: &RunStart,
    config: ExecutionConfig,
    items: &[TodoItem],
    skipped: &BTreeSet<&str>,
) -> Vec<StepEstimate> {
    if start.context.is_unbounded() || start.plans_only {
        return Vec::new();
    }
    let (usage, basis) = match start.model_record.steps {
        Some(steps) => (estimate_from_record(start, &steps), steps.basis()),
        None => (estimate_from_limits(config), ModelBasis::Limits),
    };
    let is_left_to_model = |item: &&TodoItem| item.status == TodoItemStatus::Pending && item.tool_calls.is_empty();
    let left_to_model = items.iter().filter(is_left_to_model);
    left_to_model
        .filter(|item| !skipped.contains(item.id.as_str()))
        .map(|item| StepEstimate {
            step_id: item.id.clone(),
            usage,
            basis,
        })
        .collect()
}

fn estimate_from_record(start: &RunStart, steps: &WorkQuantiles) -> ModelEstimate {
    let (input, output) = (steps.input_tokens, steps.output_tokens);
    ModelEstimate {
        model_calls: steps.model_calls,
        tokens: Some(input.plus(output)),
        cost_usd: start.price.and_then(|price| CostQuantiles::of(&price, input, output)),
    }
}

/// Returns what a step uses at most under the limits of the run.
fn estimate_from_limits(config: ExecutionConfig) -> ModelEstimate {
    let model_calls = config.max_iterations.min(config.max_model_calls);
    ModelEstimate {
        model_calls: Quantiles::exactly(model_calls.into()),
        tokens: config.max_tokens.map(Quantiles::exactly),
        cost_usd: config.max_cost_usd.map(CostQuantiles::exactly),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::{item, item_with_status};
    use art_core::agent::AgentProps;
    use art_core::pes::PlannedCall;
    use art_core::provider::{ContextWindow, RuntimeProviderConfig};
    use proptest::prelude::*;
    use serde_json::json;

    /// Number of input tokens for each output token of [`usage`].
    const INPUT_PER_OUTPUT: u64 = 10;

    fn usage(model_calls: u64, output_tokens: u64) -> ModelUsage {
        ModelUsage {
            model_calls,
            input_tokens: output_tokens * INPUT_PER_OUTPUT,
            output_tokens,
        }
    }

    /// Returns the start of a run whose model has a limited context and used `steps` for its recorded steps.
    fn start_with_recorded_steps(steps: &[ModelUsage]) -> RunStart {
        let mut start = RunStart::new(AgentProps::default(), RuntimeProviderConfig::new("p", "m"));
        start.context = ContextWindow::Tokens(100_000);
        start.model_record = ModelRecord::new(steps, &[]);
        start
    }

    /// Returns a pending step without planned calls and without dependencies.
    fn step_without_calls(id: &str) -> TodoItem {
        item(id, &[])
    }

    fn estimate(start: &RunStart, items: &[TodoItem]) -> Vec<StepEstimate> {
        estimate_steps(start, start.config, items, &BTreeSet::new())
    }

    #[test]
    fn a_step_without_planned_calls_is_estimated_from_recorded_steps() {
        let start = start_with_recorded_steps(&[usage(2, 100), usage(5, 300), usage(3, 200)]);
        let [step] = &estimate(&start, &[step_without_calls("a")])[..] else {
            panic!("exactly one step has to be estimated")
        };
        assert_eq!(step.basis, ModelBasis::Records { count: 3 });
        assert_eq!(step.usage.model_calls, Quantiles { median: 3, p95: 5 });
        let tokens = Quantiles {
            median: 200 + 200 * INPUT_PER_OUTPUT,
            p95: 300 + 300 * INPUT_PER_OUTPUT,
        };
        assert_eq!((step.usage.tokens, step.usage.cost_usd), (Some(tokens), None));
    }

    #[test]
    fn the_cost_of_a_step_follows_from_the_price() {
        let mut start = start_with_recorded_steps(&[usage(2, 100)]);
        start.price = Some(Price {
            input: 1.0,
            output: 10.0,
            cached_input: None,
            cache_write: None,
            long: None,
        });
        let steps = estimate(&start, &[step_without_calls("a")]);
        let cost = steps[0].usage.cost_usd.unwrap();
        // 1,000 input tokens at 1 and 100 output tokens at 10 dollars per million.
        let expected = (1_000.0 * 1.0 + 100.0 * 10.0) / 1e6;
        assert!((cost.p95 - expected).abs() < 1e-12, "{cost:?}");
    }

    #[test]
    fn without_records_a_step_is_estimated_by_the_limits_of_the_run() {
        let mut start = start_with_recorded_steps(&[]);
        let by_default_limits = estimate(&start, &[step_without_calls("a")]);
        assert_eq!(by_default_limits[0].basis, ModelBasis::Limits);
        let default_model_calls = ExecutionConfig::default().max_iterations.into();
        let estimated = by_default_limits[0].usage;
        assert_eq!(estimated.model_calls, Quantiles::exactly(default_model_calls));
        assert_eq!((estimated.tokens, estimated.cost_usd), (None, None));
        start.config.max_tokens = Some(7_000);
        start.config.max_cost_usd = Some(0.5);
        start.config.max_model_calls = 3;
        let by_set_limits = estimate(&start, &[step_without_calls("a")])[0].usage;
        assert_eq!(by_set_limits.model_calls, Quantiles::exactly(3));
        assert_eq!(by_set_limits.tokens, Some(Quantiles::exactly(7_000)));
        assert_eq!(by_set_limits.cost_usd, Some(CostQuantiles::exactly(0.5)));
    }

    #[test]
    fn only_pending_steps_that_are_left_to_the_model_are_estimated() {
        let mut planned = step_without_calls("planned");
        planned.tool_calls = vec![PlannedCall {
            tool_name: "t".to_owned(),
            arguments: json!({}),
        }];
        let items = [
            planned,
            item_with_status("done", TodoItemStatus::Completed),
            step_without_calls("skipped"),
            step_without_calls("left_to_model"),
        ];
        let start = start_with_recorded_steps(&[usage(2, 100)]);
        let estimated = estimate_steps(&start, start.config, &items, &BTreeSet::from(["skipped"]));
        assert_eq!(
            estimated.iter().map(|step| step.step_id.as_str()).collect::<Vec<_>>(),
            ["left_to_model"]
        );
    }

    #[test]
    fn no_steps_are_estimated_for_a_model_with_an_unbounded_context_or_one_that_only_plans() {
        for change_model in [
            |start: &mut RunStart| start.context = ContextWindow::Unbounded,
            |start: &mut RunStart| start.plans_only = true,
        ] {
            let mut start = start_with_recorded_steps(&[usage(2, 100)]);
            change_model(&mut start);
            assert_eq!(estimate(&start, &[step_without_calls("a")]), []);
        }
    }

    #[test]
    fn the_length_of_an_answer_is_assumed_only_without_records() {
        let assumed = ModelRecord::new(&[usage(1, 5)], &[]).answer_tokens();
        assert_eq!(assumed, (ASSUMED_ANSWER_TOKENS, ModelBasis::Assumption));
        let recorded = ModelRecord::new(&[], &[usage(1, 5), usage(1, 9)]).answer_tokens();
        let tokens = Quantiles { median: 5, p95: 9 };
        assert_eq!(recorded, (tokens, ModelBasis::Records { count: 2 }));
    }

    proptest! {
        #[test]
        fn no_estimate_is_higher_than_the_largest_recorded_step(recorded in prop::collection::vec((1_u64..9, 0_u64..1_000), 1..40)) {
            let recorded: Vec<ModelUsage> = recorded.into_iter().map(|(calls, tokens)| usage(calls, tokens)).collect();
            let estimated = estimate(&start_with_recorded_steps(&recorded), &[step_without_calls("a")])[0].usage;
            let largest = |number: fn(&ModelUsage) -> u64| recorded.iter().map(number).max().unwrap();
            prop_assert!(estimated.model_calls.median <= estimated.model_calls.p95);
            prop_assert!(estimated.model_calls.p95 <= largest(|usage| usage.model_calls));
            prop_assert!(estimated.tokens.unwrap().p95 <= largest(|usage| usage.input_tokens + usage.output_tokens));
        }
    }
}
