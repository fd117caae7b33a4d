//! Functions of one or two real numbers.

use super::{argument_count_error, domain_error};
use crate::error::Reason;

/// Relative distance to a whole number within which a value counts as whole, so `ceil(0.1 + 0.2 + 2.7)` is 3.
const NEARLY_WHOLE_TOLERANCE: f64 = 1e-13;

/// 170! is the largest factorial that fits into an `f64`.
const MAX_FACTORIAL: f64 = 170.0;

/// Maximum number of digits after the decimal point to which a value is rounded; an `f64` has no more.
const MAX_DECIMALS: f64 = 15.0;

pub(super) fn call_with_one(name: &'static str, x: f64) -> Result<f64, Reason> {
    Ok(match name {
        "sign" if x == 0.0 => 0.0,
        "sign" => x.signum(),
        "floor" => round_if_nearly_whole(x).floor(),
        "ceil" => round_if_nearly_whole(x).ceil(),
        "trunc" => round_if_nearly_whole(x).trunc(),
        "factorial" => return factorial(name, x),
        // The remaining function is `gamma`.
        _ if x <= 0.0 && x.fract() == 0.0 => return Err(domain_error(name, "a value other than 0, -1, -2 and so on")),
        _ => libm::tgamma(x),
    })
}

pub(super) fn call_with_two(name: &'static str, a: f64, b: f64) -> Result<f64, Reason> {
    match name {
        "atan2" => Ok(a.atan2(b)),
        "mod" => modulo(a, b),
        _ => combinations(name, a, b),
    }
}

pub(super) fn call_with_one_or_two(name: &'static str, arguments: &[f64]) -> Result<f64, Reason> {
    match (name, arguments) {
        ("round", [x]) => Ok(x.round()),
        ("round", [x, decimals]) => round(*x, *decimals),
        // The remaining function is `permutations`: of all `n` things, or of `k` of them.
        (_, [n]) => factorial(name, *n),
        (_, [n, k]) => permutations(name, *n, *k),
        _ => Err(argument_count_error(name, "1 or 2 arguments", arguments.len())),
    }
}

/// Returns the nearest whole number if `x` differs from it only by a rounding error, else `x`.
fn round_if_nearly_whole(x: f64) -> f64 {
    let whole = x.round();
    if (x - whole).abs() <= NEARLY_WHOLE_TOLERANCE * x.abs() {
        whole
    } else {
        x
    }
}

fn factorial(function: &'static str, n: f64) -> Result<f64, Reason> {
    if n < 0.0 || n.fract() != 0.0 || n > MAX_FACTORIAL {
        return Err(domain_error(function, "a whole number from 0 to 170"));
    }
    let mut product = 1.0;
    let mut factor = 2.0;
    while factor <= n {
        product *= factor;
        factor += 1.0;
    }
    Ok(product)
}

/// Rounds `x` to this number of decimals, with halves away from zero. Rounds the number that a result would show for `x`:
/// `round(2.675, 2)` is 2.68, although the stored value is slightly less than 2.675.
fn round(x: f64, decimals: f64) -> Result<f64, Reason> {
    if decimals.fract() != 0.0 || !(0.0..=MAX_DECIMALS).contains(&decimals) {
        return Err(domain_error("round", "a whole number of digits from 0 to 15"));
    }
    let scale = 10_f64.powf(decimals);
    let scaled = x * scale;
    // The value with the 15 significant digits that a result shows.
    let displayed = format!("{scaled:.14e}").parse().unwrap_or(scaled);
    // If `x` is so large that the product is infinite, `x` has no decimals.
    Ok(if scaled.is_finite() {
        f64::round(displayed) / scale
    } else {
        x
    })
}

/// Returns the remainder with the sign of the divisor.
fn modulo(a: f64, b: f64) -> Result<f64, Reason> {
    if b == 0.0 {
        return Err(Reason::DivisionByZero);
    }
    if a.fract() == 0.0 && b.fract() == 0.0 {
        let remainder = a % b;
        return Ok(if remainder != 0.0 && (remainder < 0.0) != (b < 0.0) {
            remainder + b
        } else {
            remainder
        });
    }
    // The rounding errors of fractions are dropped: `0.3 mod 0.1` is 0.
    let remainder = a - b * round_if_nearly_whole(a / b).floor();
    Ok(if remainder.abs() <= 2.0 * f64::EPSILON * a.abs() {
        0.0
    } else {
        remainder
    })
}

fn combinations(name: &'static str, n: f64, k: f64) -> Result<f64, Reason> {
    check_counts(name, n, k)?;
    let k = k.min(n - k);
    let mut product = 1.0;
    let mut step = 1.0;
    // The product grows at least as fast as 2^step. So after about 1,000 steps at most, it is infinite, which ends the loop.
    while step <= k && f64::is_finite(product) {
        product = product * (n - k + step) / step;
        step += 1.0;
    }
    Ok(product.round())
}

fn permutations(name: &'static str, n: f64, k: f64) -> Result<f64, Reason> {
    check_counts(name, n, k)?;
    let mut product = 1.0;
    let mut step = 0.0;
    // The product grows at least as fast as a factorial. So after fewer than 200 steps, it is infinite, which ends the loop.
    while step < k && f64::is_finite(product) {
        product *= n - step;
        step += 1.0;
    }
    Ok(product)
}

/// Fails unless `n` and `k` are whole numbers and `k` of `n` things can be chosen.
fn check_counts(name: &'static str, n: f64, k: f64) -> Result<(), Reason> {
    let are_whole = n.fract() == 0.0 && k.fract() == 0.0;
    if are_whole && 0.0 <= k && k <= n {
        Ok(())
    } else {
        Err(domain_error(name, "whole numbers n and k with 0 <= k <= n"))
    }
}
