//! What earlier calls of a tool used.

use std::collections::BTreeMap;

use art_core::limits::Limits;
use art_core::usage::Usage;
use serde::{Deserialize, Serialize};

use super::{CallQuantiles, Quantiles};

/// What a tool may use in one call, and what its recorded calls used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRecord {
    /// Digest of the code of the tool. Only calls of the same code are recorded here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Limits of one call.
    pub limits: CallLimits,
    /// The recorded calls by the size of their input, smallest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<SizeClass>,
}

/// The limits of a call in the resources that are estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallLimits {
    /// Fuel, in units.
    pub fuel: u64,
    /// Duration, in microseconds.
    pub wall_us: u64,
    /// Size of the output, in bytes.
    pub bytes_out: u64,
}

/// The recorded calls whose inputs have about the same size. Sizes are grouped by powers of four: the groups are so large
/// that a few calls suffice for all of them, and so small that a tool that reads its input once uses about the same in all calls of a
/// group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SizeClass {
    /// Inputs of this class have fewer than `4^exponent` bytes and, unless they are empty, no fewer than a quarter of that.
    pub exponent: u32,
    /// Number of calls.
    pub calls: u32,
    /// What these calls used.
    pub usage: CallQuantiles,
}

/// What an estimate is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "source", rename_all = "camelCase")]
pub enum Basis {
    /// This number of calls of the same tool, with inputs of a similar size.
    Records {
        /// Number of calls.
        calls: u32,
    },
    /// The limits of the tool, because no such call is recorded or the size of the input is not known.
    Limits,
}

impl From<&Limits> for CallLimits {
    fn from(limits: &Limits) -> Self {
        Self {
            fuel: limits.fuel,
            wall_us: limits.timeout_ms.saturating_mul(1_000),
            bytes_out: limits.output_bytes,
        }
    }
}

impl CallLimits {
    /// Returns the limits in the form of an estimate.
    const fn as_estimate(self) -> CallQuantiles {
        CallQuantiles {
            fuel: Quantiles::exactly(self.fuel),
            wall_us: Quantiles::exactly(self.wall_us),
            bytes_out: Quantiles::exactly(self.bytes_out),
        }
    }
}

impl ToolRecord {
    /// Creates the record of a tool from what its calls used.
    #[must_use]
    pub fn new(digest: Option<String>, limits: &Limits, calls: &[Usage]) -> Self {
        let mut classes: BTreeMap<u32, Vec<&Usage>> = BTreeMap::new();
        for call in calls {
            classes.entry(size_exponent(call.bytes_in)).or_default().push(call);
        }
        let sizes = classes.into_iter().map(|(exponent, calls)| SizeClass {
            exponent,
            calls: u32::try_from(calls.len()).unwrap_or(u32::MAX),
            usage: quantiles(&calls),
        });
        Self {
            digest,
            limits: limits.into(),
            sizes: sizes.collect(),
        }
    }

    /// Estimates a call whose input has `input` bytes. Returns the limits if the size is not known or no similar call is recorded.
    pub(crate) fn estimate(&self, input: Option<Quantiles>) -> (CallQuantiles, Basis) {
        let classes = input.and_then(|input| Some((self.find_class(input.median)?, self.find_class(input.p95)?)));
        let Some((usual, large)) = classes else {
            return (self.limits.as_estimate(), Basis::Limits);
        };
        let combine = |resource: fn(&CallQuantiles) -> Quantiles| {
            let (usual, large) = (resource(&usual.usage), resource(&large.usage));
            Quantiles {
                median: usual.median,
                p95: usual.p95.max(large.p95),
            }
        };
        let usage = CallQuantiles {
            fuel: combine(|usage| usage.fuel),
            wall_us: combine(|usage| usage.wall_us),
            bytes_out: combine(|usage| usage.bytes_out),
        };
        let more = if large == usual { 0 } else { large.calls };
        let calls = usual.calls.saturating_add(more);
        (usage, Basis::Records { calls })
    }

    /// Returns the class of inputs with `bytes` bytes, or else the next larger or the next smaller class; `None` if none of these
    /// has recorded calls.
    fn find_class(&self, bytes: u64) -> Option<&SizeClass> {
        let exponent = size_exponent(bytes);
        let find = |exponent: u32| self.sizes.iter().find(|class| class.exponent == exponent);
        find(exponent)
            .or_else(|| find(exponent.saturating_add(1)))
            .or_else(|| find(exponent.checked_sub(1)?))
    }
}

/// Returns the smallest exponent with `bytes < 4^exponent`.
const fn size_exponent(bytes: u64) -> u32 {
    (u64::BITS - bytes.leading_zeros()).div_ceil(2)
}

fn quantiles(calls: &[&Usage]) -> CallQuantiles {
    let quantiles_of = |resource: fn(&Usage) -> u64| Quantiles::of(calls.iter().map(|call| resource(call)));
    CallQuantiles {
        fuel: quantiles_of(|usage| usage.fuel),
        wall_us: quantiles_of(|usage| usage.wall_us),
        bytes_out: quantiles_of(|usage| usage.bytes_out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn usage(bytes_in: u64, fuel: u64) -> Usage {
        Usage {
            fuel,
            bytes_in,
            ..Usage::default()
        }
    }

    fn record(calls: &[Usage]) -> ToolRecord {
        ToolRecord::new(Some("d".to_owned()), &Limits::EXECUTE, calls)
    }

    /// Returns the estimated fuel and its basis.
    fn fuel(record: &ToolRecord, input: Option<u64>) -> (Quantiles, Basis) {
        let (usage, basis) = record.estimate(input.map(Quantiles::exactly));
        (usage.fuel, basis)
    }

    #[test]
    fn sizes_are_grouped_by_powers_of_four() {
        let exponents = [0, 1, 3, 4, 15, 16, 63, 64, u64::MAX].map(size_exponent);
        assert_eq!(exponents, [0, 1, 1, 2, 2, 3, 3, 4, 32]);
    }

    #[test]
    fn an_estimate_comes_from_calls_with_inputs_of_a_similar_size() {
        let record = record(&[usage(20, 5), usage(30, 7), usage(40, 6), usage(5_000, 900)]);
        let small = Quantiles { median: 6, p95: 7 };
        assert_eq!(fuel(&record, Some(25)), (small, Basis::Records { calls: 3 }));
        let large = (Quantiles::exactly(900), Basis::Records { calls: 1 });
        assert_eq!(fuel(&record, Some(6_000)), large);
        assert_eq!(fuel(&record, Some(1_100)), large, "the next larger size is near enough");
        assert_eq!(
            fuel(&record, Some(20_000)),
            large,
            "the next smaller size is near enough"
        );
    }

    #[test]
    fn without_similar_records_a_call_is_estimated_by_its_limits() {
        let limits = (Quantiles::exactly(Limits::EXECUTE.fuel), Basis::Limits);
        assert_eq!(fuel(&record(&[]), Some(20)), limits);
        assert_eq!(fuel(&record(&[usage(20, 5)]), Some(100_000)), limits);
        assert_eq!(fuel(&record(&[usage(20, 5)]), None), limits);
    }

    #[test]
    fn the_p95_for_an_input_of_uncertain_size_comes_from_large_inputs() {
        let record = record(&[usage(20, 5), usage(5_000, 900)]);
        let input = Quantiles { median: 20, p95: 5_000 };
        let (usage, basis) = record.estimate(Some(input));
        assert_eq!(usage.fuel, Quantiles { median: 5, p95: 900 });
        assert_eq!(basis, Basis::Records { calls: 2 });
    }

    #[test]
    fn a_record_with_many_size_classes_is_short_json_and_is_read_back_unchanged() {
        let calls: Vec<Usage> = (0..22).map(|n| usage(1 << n, u64::MAX)).collect();
        let text = serde_json::to_string(&record(&calls)).unwrap();
        assert!(text.len() < 3_000, "{}", text.len());
        assert_eq!(serde_json::from_str::<ToolRecord>(&text).unwrap(), record(&calls));
    }

    proptest! {
        #[test]
        fn no_estimate_is_higher_than_the_largest_recorded_call(
            calls in prop::collection::vec((0_u64..10_000, 0_u64..1_000), 1..40),
            (median, more) in (0_u64..10_000, 0_u64..10_000),
        ) {
            let calls: Vec<Usage> = calls.into_iter().map(|(bytes, fuel)| usage(bytes, fuel)).collect();
            let (estimated, basis) = record(&calls).estimate(Some(Quantiles { median, p95: median + more }));
            let largest = calls.iter().map(|call| call.fuel).max().unwrap();
            prop_assert!(estimated.fuel.median <= estimated.fuel.p95);
            prop_assert!(basis == Basis::Limits || estimated.fuel.p95 <= largest);
        }
    }
}
