//! Before a plan runs, this module estimates what the plan will use, such as fuel, time, tokens and money. It estimates the
//! planned calls, the steps without planned calls, which the model carries out, and the answer.
//!
//! The estimates come from records of what earlier calls used. Each estimated quantity has two numbers: its median, which is the
//! usual case, and its 95th percentile. The first event of a run contains the records, so that a replay of the run gives the same
//! estimates.

mod model;
mod plan;
mod record;

use serde::{Deserialize, Serialize};

pub(crate) use model::{ASSUMED_ANSWER_TOKENS, estimate_steps};
pub use model::{CostQuantiles, ModelBasis, ModelEstimate, ModelRecord, StepEstimate, WorkQuantiles};
pub use plan::{AnswerEstimate, CallEstimate, PlanEstimate};
pub(crate) use plan::{Estimator, estimate_answer, json_bytes};
pub use record::{Basis, CallLimits, SizeClass, ToolRecord};

/// The median and the 95th percentile of several numbers, such as the recorded durations of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantiles {
    /// At least half of the numbers are at most this.
    pub median: u64,
    /// At least 95 percent of the numbers are at most this.
    pub p95: u64,
}

impl Quantiles {
    /// Returns the quantiles of a quantity that is known: both are `number`.
    #[must_use]
    pub const fn exactly(number: u64) -> Self {
        Self {
            median: number,
            p95: number,
        }
    }

    /// Returns the quantiles of `numbers`. Each quantile is one of the numbers, or 0 if there are none.
    #[must_use]
    pub fn of(numbers: impl IntoIterator<Item = u64>) -> Self {
        let mut sorted: Vec<u64> = numbers.into_iter().collect();
        sorted.sort_unstable();
        let at = |percent: usize| {
            let rank = sorted.len().saturating_mul(percent).div_ceil(100);
            sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
        };
        Self {
            median: at(50),
            p95: at(95),
        }
    }

    /// Adds the medians, and adds the 95th percentiles. The sum of two 95th percentiles is usually above the 95th percentile of
    /// the sums, because both numbers are seldom that large together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            median: self.median.saturating_add(other.median),
            p95: self.p95.saturating_add(other.p95),
        }
    }

    /// Applies `function` to the median and to the 95th percentile. `function` must never return a smaller number for a larger
    /// one.
    #[must_use]
    pub fn map(self, function: impl Fn(u64) -> u64) -> Self {
        Self {
            median: function(self.median),
            p95: function(self.p95),
        }
    }
}

/// Quantiles of what a tool call uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallQuantiles {
    /// Fuel, in units.
    pub fuel: Quantiles,
    /// Duration, in microseconds.
    pub wall_us: Quantiles,
    /// Size of the output, in bytes.
    pub bytes_out: Quantiles,
}

impl CallQuantiles {
    /// Returns the sum of what two calls use.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            fuel: self.fuel.plus(other.fuel),
            wall_us: self.wall_us.plus(other.wall_us),
            bytes_out: self.bytes_out.plus(other.bytes_out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_quantile_is_one_of_the_numbers_or_0_if_there_are_none() {
        let quantiles_of = |numbers: &[u64]| {
            let quantiles = Quantiles::of(numbers.iter().copied());
            (quantiles.median, quantiles.p95)
        };
        assert_eq!(quantiles_of(&[]), (0, 0));
        assert_eq!(quantiles_of(&[7]), (7, 7));
        assert_eq!(quantiles_of(&[3, 1, 2]), (2, 3));
        assert_eq!(quantiles_of(&[4, 1, 2, 3]), (2, 4));
        assert_eq!(quantiles_of(&(1..=100).rev().collect::<Vec<_>>()), (50, 95));
    }

    proptest! {
        #[test]
        fn at_least_half_of_the_numbers_are_at_most_the_median_and_95_percent_at_most_p95(numbers in prop::collection::vec(0_u64..50, 1..60)) {
            let quantiles = Quantiles::of(numbers.iter().copied());
            let at_most = |bound: u64| numbers.iter().filter(|number| **number <= bound).count();
            prop_assert!(at_most(quantiles.median) * 100 >= numbers.len() * 50);
            prop_assert!(at_most(quantiles.p95) * 100 >= numbers.len() * 95);
            prop_assert!(numbers.contains(&quantiles.median) && numbers.contains(&quantiles.p95));
            prop_assert!(quantiles.median <= quantiles.p95);
        }

        #[test]
        fn increasing_one_of_the_numbers_makes_no_quantile_smaller(
            numbers in prop::collection::vec(0_u64..50, 1..60),
            index in 0_usize..60,
            increase in 0_u64..9,
        ) {
            let mut increased = numbers.clone();
            let index = index % numbers.len();
            increased[index] += increase;
            let (before, after) = (Quantiles::of(numbers), Quantiles::of(increased));
            prop_assert!(before.median <= after.median && before.p95 <= after.p95);
        }
    }
}
