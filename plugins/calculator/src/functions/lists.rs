//! Functions with any number of arguments.

use num_complex::Complex64;

use super::{ValueResult, argument_count_error, complex::add, domain_error};
use crate::error::Reason;

/// Every whole number up to 2^53 is exact in an `f64`.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Computes `sum` or `mean`, which are defined for complex numbers too.
pub(super) fn sum_or_mean(name: &'static str, values: &[Complex64]) -> ValueResult {
    check_not_empty(name, values.len())?;
    let sum = values.iter().fold(Complex64::ZERO, |sum, value| add(sum, *value));
    Ok(if name == "sum" {
        sum
    } else {
        sum.unscale(length(values))
    })
}

/// Calls a function of any number of real arguments.
pub(super) fn call(name: &'static str, values: &[f64]) -> Result<f64, Reason> {
    check_not_empty(name, values.len())?;
    Ok(match name {
        "max" => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        "min" => values.iter().copied().fold(f64::INFINITY, f64::min),
        "median" => median(values),
        "std" => variance(values).sqrt(),
        "variance" => variance(values),
        "hypot" => values.iter().copied().fold(0.0, f64::hypot),
        "gcd" => magnitudes_of_whole_numbers(name, values)?.into_iter().fold(0.0, gcd),
        // The remaining function is `lcm`.
        _ => magnitudes_of_whole_numbers(name, values)?.into_iter().fold(1.0, lcm),
    })
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
    if sorted.len() % 2 == 1 {
        at(middle)
    } else {
        f64::midpoint(at(middle.saturating_sub(1)), at(middle))
    }
}

/// Returns the sample variance: the sum of the squared deviations from the mean, divided by n - 1. For a single value it is 0.
fn variance(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / length(values);
    let sum_of_squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    sum_of_squares / (length(values) - 1.0).max(1.0)
}

/// Returns the values without their signs. Fails if a value is not a whole number or exceeds 2^53.
fn magnitudes_of_whole_numbers(name: &'static str, values: &[f64]) -> Result<Vec<f64>, Reason> {
    let is_exact_whole = |value: &f64| value.fract() == 0.0 && value.abs() <= MAX_EXACT;
    if !values.iter().all(is_exact_whole) {
        return Err(domain_error(name, "whole numbers up to 2^53"));
    }
    Ok(values.iter().map(|value| value.abs()).collect())
}

fn gcd(mut a: f64, mut b: f64) -> f64 {
    while b != 0.0 {
        (a, b) = (b, a % b);
    }
    a
}

fn lcm(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a / gcd(a, b) * b }
}

fn check_not_empty(name: &'static str, got: usize) -> Result<(), Reason> {
    if got == 0 {
        Err(argument_count_error(name, "at least 1 argument", 0))
    } else {
        Ok(())
    }
}

/// Returns the number of values as a float.
fn length<T>(values: &[T]) -> f64 {
    u32::try_from(values.len()).map_or(f64::INFINITY, f64::from)
}
