//! Numbers as people write them.

use art_sdk::serde_json;
use num_complex::Complex64;

use crate::{
    error::{EvalError, Reason},
    input::CalculatorResult,
};

/// Every whole number up to here is exact in an `f64`.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// A part this much smaller than the other one is the rounding error of the calculation, as in `e^(i*pi)`.
const NEGLIGIBLE: f64 = 1e-14;

/// A number when `value` is real, otherwise `<real> + <imaginary>i`.
pub(crate) fn result(value: Complex64) -> Result<CalculatorResult, EvalError> {
    let value = without_noise(value);
    if value.im == 0.0 {
        return number(value.re).map(CalculatorResult::Number);
    }
    let sign = if value.im < 0.0 { '-' } else { '+' };
    Ok(CalculatorResult::Complex(format!(
        "{} {sign} {}i",
        number(value.re)?,
        number(value.im.abs())?
    )))
}

/// Drops a real or an imaginary part that is only rounding error.
pub(crate) fn without_noise(value: Complex64) -> Complex64 {
    if value.im.abs() <= value.re.abs() * NEGLIGIBLE {
        Complex64::new(value.re, 0.0)
    } else if value.re.abs() <= value.im.abs() * NEGLIGIBLE {
        Complex64::new(0.0, value.im)
    } else {
        value
    }
}

fn number(value: f64) -> Result<serde_json::Number, EvalError> {
    let rounded = round_digits(value);
    if rounded.fract() == 0.0 && rounded.abs() <= MAX_EXACT {
        // A whole number within 2^53.
        return Ok((rounded as i64).into());
    }
    serde_json::Number::from_f64(rounded).ok_or_else(|| unsupported(value).anywhere())
}

/// Fifteen significant digits survive the way through an `f64`: 0.1 + 0.2 is 0.3 again. Whole numbers stay as they are.
fn round_digits(value: f64) -> f64 {
    if value.fract() == 0.0 {
        value
    } else {
        format!("{value:.14e}").parse().unwrap_or(value)
    }
}

/// Why `value` cannot be a result.
pub(crate) fn unsupported(value: f64) -> Reason {
    Reason::Unsupported(if value.is_nan() {
        "not a number"
    } else {
        "infinite or too large for a 64-bit float"
    })
}
