//! Formats results as people write numbers.

use art_sdk::serde_json;
use num_complex::Complex64;

use crate::{
    error::{EvalError, Reason},
    input::CalculatorResult,
    value::Value,
};

/// Every whole number up to 2^53 is exact in an `f64`.
pub(crate) const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Maximum ratio of the smaller part of a complex number to the larger one at which the smaller part counts as a rounding
/// error, as in `e^(i*pi)`.
const NEGLIGIBLE_RATIO: f64 = 1e-14;

/// Returns a number if `value` is real, otherwise the text `<real> + <imaginary>i`. A whole number is exact; one of more than 64 bits
/// is a text with its digits.
pub(crate) fn to_result(value: Value) -> Result<CalculatorResult, EvalError> {
    if let Some(whole) = value.whole {
        let digits = || CalculatorResult::Text(whole.to_string());
        return Ok(serde_json::Number::from_i128(whole).map_or_else(digits, CalculatorResult::Number));
    }
    let value = drop_rounding_error(value.float);
    if value.im == 0.0 {
        return to_number(value.re).map(CalculatorResult::Number);
    }
    let sign = if value.im < 0.0 { '-' } else { '+' };
    Ok(CalculatorResult::Text(format!(
        "{} {sign} {}i",
        to_number(value.re)?,
        to_number(value.im.abs())?
    )))
}

/// Sets the real or the imaginary part to 0 if it is only a rounding error.
pub(crate) fn drop_rounding_error(value: Complex64) -> Complex64 {
    if value.im.abs() <= value.re.abs() * NEGLIGIBLE_RATIO {
        Complex64::new(value.re, 0.0)
    } else if value.re.abs() <= value.im.abs() * NEGLIGIBLE_RATIO {
        Complex64::new(0.0, value.im)
    } else {
        value
    }
}

/// Returns the JSON number for `value`. Fails if it is infinite or not a number.
fn to_number(value: f64) -> Result<serde_json::Number, EvalError> {
    let rounded = round_to_15_digits(value);
    if rounded.fract() == 0.0 && rounded.abs() <= MAX_EXACT {
        // The cast is exact: the number is whole and at most 2^53.
        return Ok((rounded as i64).into());
    }
    serde_json::Number::from_f64(rounded).ok_or_else(|| not_finite_reason(value).without_position())
}

/// Rounds to fifteen significant digits, which an `f64` represents faithfully: 0.1 + 0.2 becomes 0.3. Keeps whole
/// numbers.
fn round_to_15_digits(value: f64) -> f64 {
    if value.fract() == 0.0 {
        value
    } else {
        format!("{value:.14e}").parse().unwrap_or(value)
    }
}

/// Returns the reason why `value`, which is infinite or not a number, cannot be a result.
pub(crate) fn not_finite_reason(value: f64) -> Reason {
    Reason::NotFinite(if value.is_nan() {
        "not a number"
    } else {
        "infinite or too large for a 64-bit float"
    })
}
