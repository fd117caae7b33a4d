//! Estimates a tool call from records of what earlier calls of the tool used.

use std::collections::BTreeMap;

use art_core::limits::Limits;
use art_core::usage::ToolUsage;
use serde::{Deserialize, Serialize};

use super::{CallQuantiles, Quantiles};

/// What a tool may use in one call, and what its recorded calls used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRecord {
    /// Digest of the code of the tool. Calls of an older or newer code are not in this record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Limits of one call.
    pub limits: CallLimits,
    /// The recorded calls, grouped by the size of their input. The group with the smallest inputs comes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<SizeClass>,
}

/// The limits of a call, for those resources that are estimated.
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

/// A group of recorded calls whose inputs have about the same size. The groups are bounded by powers of four. Narrower groups
/// would often have no recorded calls. In wider groups, the calls of a tool that uses resources in proportion to the size of
/// its input would differ too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SizeClass {
    /// Inputs of this group have fewer than `4^exponent` bytes and, unless they are empty, at least a quarter of that number.
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
    /// Recorded calls of the same tool, with inputs of a similar size.
    Records {
        /// Number of these calls.
        calls: u32,
    },
    /// The limits of a call, because no call with an input of a similar size is recorded or the size of the input is not known.
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
    /// Returns the estimate for a call of which only the limits are known.
    const fn as_estimate(self) -> CallQuantiles {
        CallQuantiles {
            fuel: Quantiles::exactly(self.fuel),
            wall_us: Quantiles::exactly(self.wall_us),
            bytes_out: Quantiles::exactly(self.bytes_out),
        }
    }
}

impl ToolRecord {
    /// Creates the record of a tool from its limits and from what its calls used.
    #[must_use]
    pub fn new(digest: Option<String>, limits: &Limits, calls: &[ToolUsage]) -> Self {
        let mut calls_by_exponent: BTreeMap<u32, Vec<&ToolUsage>> = BTreeMap::new();
        for call in calls {
            let exponent = size_exponent(call.bytes_in);
            calls_by_exponent.entry(exponent).or_default().push(call);
        }
        let sizes = calls_by_exponent.into_iter().map(|(exponent, calls)| SizeClass {
            exponent,
            calls: u32::try_from(calls.len()).unwrap_or(u32::MAX),
            usage: call_quantiles(&calls),
        });
        Self {
            digest,
            limits: limits.into(),
            sizes: sizes.collect(),
        }
    }

    /// Estimates a call whose input has `bytes_in` bytes. The medians of the estimate come from the recorded calls with inputs of
    /// about the median size. Each 95th percentile is the higher of two: that of these calls, and that of the calls with inputs
    /// of about the 95th percentile of the size. Returns the limits if the size is not known (`bytes_in` is `None`) or no similar
    /// call is recorded.
    pub(crate) fn estimate(&self, bytes_in: Option<Quantiles>) -> (CallQuantiles, Basis) {
        let classes = bytes_in.and_then(|bytes| Some((self.find_class(bytes.median)?, self.find_class(bytes.p95)?)));
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
        let further_calls = if large == usual { 0 } else { large.calls };
        let calls = usual.calls.saturating_add(further_calls);
        (usage, Basis::Records { calls })
    }

    /// Returns the group of calls with inputs of `bytes` bytes, or else the group of the next larger or of the next smaller size;
    /// `None` if there are no recorded calls in these three groups.
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

fn call_quantiles(calls: &[&ToolUsage]) -> CallQuantiles {
    let quantiles_of = |resource: fn(&ToolUsage) -> u64| Quantiles::of(calls.iter().map(|call| resource(call)));
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

    fn usage(bytes_in: u64, fuel: u64) -> ToolUsage {
        ToolUsage {
            fuel,
            bytes_in,
            ..ToolUsage::default()
        }
    }

    fn record(calls: &[ToolUsage]) -> ToolRecord {
        ToolRecord::new(Some("d".to_owned()), &Limits::EXECUTE, calls)
    }

    /// Returns the estimated fuel of a call with an input of `bytes_in` bytes, and the basis of the estimate.
    fn estimate_fuel(record: &ToolRecord, bytes_in: Option<u64>) -> (Quantiles, Basis) {
        let (usage, basis) = record.estimate(bytes_in.map(Quantiles::exactly));
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
        assert_eq!(estimate_fuel(&record, Some(25)), (small, Basis::Records { calls: 3 }));
        let large = (Quantiles::exactly(900), Basis::Records { calls: 1 });
        assert_eq!(estimate_fuel(&record, Some(6_000)), large);
        assert_eq!(
            estimate_fuel(&record, Some(1_100)),
            large,
            "the next larger size is near enough"
        );
        assert_eq!(
            estimate_fuel(&record, Some(20_000)),
            large,
            "the next smaller size is near enough"
        );
    }

    #[test]
    fn a_call_without_records_of_similar_inputs_is_estimated_by_its_limits() {
        let limits = (Quantiles::exactly(Limits::EXECUTE.fuel), Basis::Limits);
        assert_eq!(estimate_fuel(&record(&[]), Some(20)), limits);
        assert_eq!(estimate_fuel(&record(&[usage(20, 5)]), Some(100_000)), limits);
        assert_eq!(estimate_fuel(&record(&[usage(20, 5)]), None), limits);
    }

    #[test]
    fn the_p95_for_an_input_of_uncertain_size_comes_from_calls_with_large_inputs() {
        let record = record(&[usage(20, 5), usage(5_000, 900)]);
        let bytes_in = Quantiles { median: 20, p95: 5_000 };
        let (usage, basis) = record.estimate(Some(bytes_in));
        assert_eq!(usage.fuel, Quantiles { median: 5, p95: 900 });
        assert_eq!(basis, Basis::Records { calls: 2 });
    }

    #[test]
    fn a_record_with_many_size_classes_is_short_json_and_is_read_back_unchanged() {
        let calls: Vec<ToolUsage> = (0..22).map(|n| usage(1 << n, u64::MAX)).collect();
        let text = serde_json::to_string(&record(&calls)).unwrap();
        assert!(text.len() < 3_000, "{}", text.len());
        assert_eq!(serde_json::from_str::<ToolRecord>(&text).unwrap(), record(&calls));
    }

    proptest! {
        #[test]
        fn no_estimate_is_higher_than_the_largest_recorded_call(
            calls in prop::collection::vec((0_u64..10_000, 0_u64..1_000), 1..40),
            (median, increase) in (0_u64..10_000, 0_u64..10_000),
        ) {
            let calls: Vec<ToolUsage> = calls.into_iter().map(|(bytes, fuel)| usage(bytes, fuel)).collect();
            let (estimated, basis) = record(&calls).estimate(Some(Quantiles { median, p95: median + increase }));
            let largest = calls.iter().map(|call| call.fuel).max().unwrap();
            prop_assert!(estimated.fuel.median <= estimated.fuel.p95);
            prop_assert!(basis == Basis::Limits || estimated.fuel.p95 <= largest);
        }
    }
}
