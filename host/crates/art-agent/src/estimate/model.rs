//! Calls and tokens that a model used for earlier steps and answers, and its estimated use for those of a plan.

use std::collections::BTreeSet;

use art_core::agent::ExecutionConfig;
use art_core::pes::{TodoItem, TodoItemStatus};
use art_core::price::Price;
use art_core::stream::LlmMetadata;
use art_core::usage::ModelUsage;
use serde::{Deserialize, Serialize};

use super::Quantiles;
use crate::event::RunStart;

/// Assumed number of tokens of an answer, while no answer of the model is recorded.
pub(crate) const REPLY_TOKENS: Quantiles = Quantiles {
    median: 300,
    p95: 1_000,
};

/// Calls and tokens that a model used for its recorded work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRecord {
    /// What it used for each step without planned calls; absent if none is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<WorkQuantiles>,
    /// What it used for each answer that it wrote from the results of tools; absent if none is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<WorkQuantiles>,
}

/// What a model used for recorded work of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkQuantiles {
    /// Number of recorded steps or answers.
    pub count: u32,
    /// Number of model calls for each.
    pub model_calls: Quantiles,
    /// Tokens of the requests for each.
    pub input_tokens: Quantiles,
    /// Tokens of the replies for each.
    pub output_tokens: Quantiles,
}

/// What the estimate of a step or of the length of an answer is based on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "source", rename_all = "camelCase")]
pub enum ModelBasis {
    /// This number of earlier steps or answers of the same model.
    Records {
        /// Number of steps or answers.
        count: u32,
    },
    /// The limits of the run, because no step of the model is recorded.
    Limits,
    /// A usual length, because no answer of the model is recorded.
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
    /// Tokens of the requests and the replies together; absent if nothing bounds them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Quantiles>,
    /// Cost in US dollars; absent if the model has no known price or nothing bounds the tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<CostQuantiles>,
}

/// The median and the 95th percentile of a cost, in US dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CostQuantiles {
    /// Median cost, estimated from median token counts, or else the cost limit of the run.
    pub median: f64,
    /// 95th percentile of the cost, estimated from those of the token counts, or else the cost limit of the run.
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

    /// Returns the tokens of an answer, and what they are based on.
    pub(crate) fn answer_tokens(&self) -> (Quantiles, ModelBasis) {
        match self.answers {
            Some(answers) => (answers.output_tokens, answers.basis()),
            None => (REPLY_TOKENS, ModelBasis::Assumption),
        }
    }
}

impl WorkQuantiles {
    fn of(work: &[ModelUsage]) -> Option<Self> {
        let count = u32::try_from(work.len()).unwrap_or(u32::MAX);
        let quantiles_of = |part: fn(&ModelUsage) -> u64| Quantiles::of(work.iter().map(part));
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
    pub(crate) const NOTHING: Self = Self {
        model_calls: Quantiles::exactly(0),
        tokens: Some(Quantiles::exactly(0)),
        cost_usd: Some(CostQuantiles { median: 0.0, p95: 0.0 }),
    };

    /// Returns the sum of both. What is not known of one is not known of the sum.
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
    /// Returns the cost of a call with these tokens. It is never `None`, because both token counts that [`Price::cost`] needs are given.
    pub(crate) fn of(price: &Price, input: Quantiles, output: Quantiles) -> Option<Self> {
        let cost_of = |input_tokens, output_tokens| {
            let metadata = LlmMetadata {
                input_tokens: Some(input_tokens),
                output_tokens: Some(output_tokens),
                ..LlmMetadata::default()
            };
            price.cost(&metadata, 0)
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

/// Estimates the pending items without planned calls, except those in `failing`, which will not run. Returns no
/// estimates for a model with an unbounded context, which reads at no cost, or for one that only plans, which carries out no steps.
pub(crate) fn estimate_steps(
    start: &RunStart,
    config: ExecutionConfig,
    items: &[TodoItem],
    failing: &BTreeSet<&str>,
) -> Vec<StepEstimate> {
    if start.context.is_unbounded() || start.plans_only {
        return Vec::new();
    }
    let (usage, basis) = match start.model_record.steps {
        Some(steps) => (estimate_from_record(start, &steps), steps.basis()),
        None => (estimate_from_limits(config), ModelBasis::Limits),
    };
    let is_for_model = |item: &&TodoItem| item.status == TodoItemStatus::Pending && item.tool_calls.is_empty();
    let for_model = items.iter().filter(is_for_model);
    for_model
        .filter(|item| !failing.contains(item.id.as_str()))
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

/// Returns the most that a run may use for one step.
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
    use crate::plan::tests::{item, with_status};
    use art_core::agent::AgentProps;
    use art_core::pes::PlannedCall;
    use art_core::provider::{ContextWindow, RuntimeProviderConfig};
    use proptest::prelude::*;
    use serde_json::json;

    fn usage(model_calls: u64, tokens: u64) -> ModelUsage {
        ModelUsage {
            model_calls,
            input_tokens: tokens * 10,
            output_tokens: tokens,
        }
    }

    fn start(steps: &[ModelUsage]) -> RunStart {
        let mut start = RunStart::new(AgentProps::default(), RuntimeProviderConfig::new("p", "m"));
        start.context = ContextWindow::Tokens(100_000);
        start.model_record = ModelRecord::new(steps, &[]);
        start
    }

    fn estimate(start: &RunStart, items: &[TodoItem]) -> Vec<StepEstimate> {
        estimate_steps(start, start.config, items, &BTreeSet::new())
    }

    #[test]
    fn a_step_without_planned_calls_is_estimated_from_recorded_steps() {
        let start = start(&[usage(2, 100), usage(5, 300), usage(3, 200)]);
        let [step] = &estimate(&start, &[item("a", &[])])[..] else {
            panic!("exactly one step has to be estimated")
        };
        assert_eq!(step.basis, ModelBasis::Records { count: 3 });
        assert_eq!(step.usage.model_calls, Quantiles { median: 3, p95: 5 });
        let tokens = Quantiles {
            median: 2_200,
            p95: 3_300,
        };
        assert_eq!((step.usage.tokens, step.usage.cost_usd), (Some(tokens), None));
    }

    #[test]
    fn the_cost_of_a_step_follows_from_the_price() {
        let mut start = start(&[usage(2, 100)]);
        start.price = Some(Price {
            input: 1.0,
            output: 10.0,
            cached_input: None,
            cache_write: None,
            long: None,
        });
        let steps = estimate(&start, &[item("a", &[])]);
        let cost = steps[0].usage.cost_usd.unwrap();
        assert!((cost.p95 - (1_000.0 + 1_000.0) / 1e6).abs() < 1e-12, "{cost:?}");
    }

    #[test]
    fn without_records_a_step_is_estimated_by_the_limits_of_the_run() {
        let mut start = start(&[]);
        let unlimited = estimate(&start, &[item("a", &[])]);
        assert_eq!(unlimited[0].basis, ModelBasis::Limits);
        assert_eq!(unlimited[0].usage.model_calls, Quantiles::exactly(5));
        assert_eq!((unlimited[0].usage.tokens, unlimited[0].usage.cost_usd), (None, None));
        start.config.max_tokens = Some(7_000);
        start.config.max_cost_usd = Some(0.5);
        start.config.max_model_calls = 3;
        let limited = estimate(&start, &[item("a", &[])])[0].usage;
        assert_eq!(limited.model_calls, Quantiles::exactly(3));
        assert_eq!(limited.tokens, Some(Quantiles::exactly(7_000)));
        assert_eq!(limited.cost_usd, Some(CostQuantiles::exactly(0.5)));
    }

    #[test]
    fn only_pending_steps_that_are_left_to_the_model_are_estimated() {
        let mut planned = item("planned", &[]);
        planned.tool_calls = vec![PlannedCall {
            tool_name: "t".to_owned(),
            arguments: json!({}),
        }];
        let items = [
            planned,
            with_status("done", TodoItemStatus::Completed),
            item("failing", &[]),
            item("left", &[]),
        ];
        let start = start(&[usage(2, 100)]);
        let estimated = estimate_steps(&start, start.config, &items, &BTreeSet::from(["failing"]));
        assert_eq!(
            estimated.iter().map(|step| step.step_id.as_str()).collect::<Vec<_>>(),
            ["left"]
        );
    }

    #[test]
    fn no_steps_are_estimated_for_an_unbounded_model_or_one_that_only_plans() {
        for change in [
            |start: &mut RunStart| start.context = ContextWindow::Unbounded,
            |start: &mut RunStart| start.plans_only = true,
        ] {
            let mut start = start(&[usage(2, 100)]);
            change(&mut start);
            assert_eq!(estimate(&start, &[item("a", &[])]), []);
        }
    }

    #[test]
    fn the_length_of_an_answer_is_assumed_only_without_records() {
        let assumed = ModelRecord::new(&[usage(1, 5)], &[]).answer_tokens();
        assert_eq!(assumed, (REPLY_TOKENS, ModelBasis::Assumption));
        let recorded = ModelRecord::new(&[], &[usage(1, 5), usage(1, 9)]).answer_tokens();
        let tokens = Quantiles { median: 5, p95: 9 };
        assert_eq!(recorded, (tokens, ModelBasis::Records { count: 2 }));
    }

    proptest! {
        #[test]
        fn no_estimate_is_higher_than_the_largest_recorded_step(recorded in prop::collection::vec((1_u64..9, 0_u64..1_000), 1..40)) {
            let recorded: Vec<ModelUsage> = recorded.into_iter().map(|(calls, tokens)| usage(calls, tokens)).collect();
            let estimated = estimate(&start(&recorded), &[item("a", &[])])[0].usage;
            let most = |part: fn(&ModelUsage) -> u64| recorded.iter().map(part).max().unwrap();
            prop_assert!(estimated.model_calls.median <= estimated.model_calls.p95);
            prop_assert!(estimated.model_calls.p95 <= most(|usage| usage.model_calls));
            prop_assert!(estimated.tokens.unwrap().p95 <= most(|usage| usage.output_tokens) * 11);
        }
    }
}
