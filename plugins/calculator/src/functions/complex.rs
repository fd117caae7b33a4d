//! Functions and operators that are defined for complex numbers too. Real arguments use the real function wherever it
//! is defined, because it is more exact.

use std::f64::consts::{LN_2, LN_10};

use num_complex::Complex64;

use super::{ValueResult, domain_error, real_value};
use crate::error::Reason;

/// Maximum whole exponent for which the power of a complex base is computed by multiplication, which is exact: `(2 + 3i)^2` is
/// `-5 + 12i`.
const MAX_EXPONENT_FOR_MULTIPLICATION: f64 = 1024.0;

/// Calls a function of one argument. `z` may be complex.
pub(super) fn call(name: &'static str, z: Complex64) -> ValueResult {
    let real = (z.im == 0.0).then_some(z.re);
    let value = match (name, real) {
        ("abs", _) => real_value(z.norm()),
        ("square", _) => z * z,
        ("cube", _) => z * z * z,
        ("sqrt", Some(x)) if x < 0.0 => Complex64::new(0.0, (-x).sqrt()),
        ("sqrt", _) => z.sqrt(),
        ("cbrt", Some(x)) => real_value(x.cbrt()),
        ("cbrt", None) => z.cbrt(),
        ("exp", Some(x)) => real_value(x.exp()),
        ("exp", None) => z.exp(),
        ("ln" | "log2" | "log10", _) => return logarithm(name, z),
        ("sin" | "cos" | "tan", Some(x)) => return trigonometric(name, x).map(real_value),
        ("asin", Some(x)) if x.abs() <= 1.0 => real_value(x.asin()),
        ("acos", Some(x)) if x.abs() <= 1.0 => real_value(x.acos()),
        ("atan", Some(x)) => real_value(x.atan()),
        ("sinh", Some(x)) => real_value(x.sinh()),
        ("cosh", Some(x)) => real_value(x.cosh()),
        ("tanh", Some(x)) => real_value(x.tanh()),
        (_, _) => return call_complex(name, z),
    };
    Ok(value)
}

/// Calls a function for an argument at which the real function is not defined.
fn call_complex(name: &'static str, z: Complex64) -> ValueResult {
    Ok(match name {
        "sin" => z.sin(),
        "cos" => z.cos(),
        "tan" => z.tan(),
        "asin" => z.asin(),
        "acos" => z.acos(),
        "atan" => z.atan(),
        "sinh" => z.sinh(),
        "cosh" => z.cosh(),
        "tanh" => z.tanh(),
        _ => return Err(domain_error(name, "real numbers")),
    })
}

fn logarithm(name: &'static str, z: Complex64) -> ValueResult {
    if z == Complex64::ZERO {
        return Err(domain_error(name, "a value other than 0"));
    }
    let positive_real = (z.im == 0.0 && z.re > 0.0).then_some(z.re);
    Ok(match (name, positive_real) {
        ("ln", Some(x)) => real_value(x.ln()),
        ("log2", Some(x)) => real_value(x.log2()),
        ("log10", Some(x)) => real_value(x.log10()),
        ("log2", None) => z.ln() / LN_2,
        ("log10", None) => z.ln() / LN_10,
        (_, _) => z.ln(),
    })
}

fn trigonometric(name: &'static str, x: f64) -> Result<f64, Reason> {
    match name {
        "sin" => Ok(snap_to_zero(x.sin(), x)),
        "cos" => Ok(snap_to_zero(x.cos(), x)),
        // The remaining function is `tan`.
        _ if snap_to_zero(x.cos(), x) == 0.0 => Err(domain_error(name, "an angle other than pi/2 + n*pi")),
        _ => Ok(snap_to_zero(x.tan(), x)),
    }
}

/// Returns 0 if the result is within the rounding error of the angle: `sin(pi)` is not exactly 0, because `pi` is
/// rounded. The result for the angle 0 is exact and stays: `sin(-0)` is -0.
fn snap_to_zero(result: f64, angle: f64) -> f64 {
    if result.abs() <= angle.abs() * f64::EPSILON && result != angle {
        0.0
    } else {
        result
    }
}

/// Returns the sum, or 0 if it is only the rounding error of two fractions: `0.1 + 0.2 - 0.3` is 0.
pub(crate) fn add(a: Complex64, b: Complex64) -> Complex64 {
    Complex64::new(add_real(a.re, b.re), add_real(a.im, b.im))
}

fn add_real(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let are_whole = a.fract() == 0.0 && b.fract() == 0.0;
    if !are_whole && sum.abs() <= 2.0 * f64::EPSILON * a.abs().max(b.abs()) {
        0.0
    } else {
        sum
    }
}

/// Returns the quotient. Fails with [`Reason::DivisionByZero`] if `b` is 0.
pub(crate) fn divide(a: Complex64, b: Complex64) -> ValueResult {
    if b == Complex64::ZERO {
        return Err(Reason::DivisionByZero);
    }
    Ok(if b.im == 0.0 { a.unscale(b.re) } else { a / b })
}

/// Returns the power, which is complex if the base is negative and the exponent is not whole.
pub(crate) fn power(base: Complex64, exponent: Complex64) -> ValueResult {
    if base == Complex64::ZERO {
        return power_of_zero(exponent);
    }
    let has_whole_exponent = exponent.im == 0.0 && exponent.re.fract() == 0.0;
    if base.im == 0.0 && exponent.im == 0.0 && (has_whole_exponent || base.re > 0.0) {
        return Ok(real_value(base.re.powf(exponent.re)));
    }
    if has_whole_exponent && exponent.re.abs() <= MAX_EXPONENT_FOR_MULTIPLICATION {
        // The cast is exact: the exponent is whole and at most `MAX_EXPONENT_FOR_MULTIPLICATION`.
        return Ok(base.powi(exponent.re as i32));
    }
    Ok(base.powc(exponent))
}

fn power_of_zero(exponent: Complex64) -> ValueResult {
    if exponent.im != 0.0 {
        return Err(domain_error("pow", "a real exponent when the base is 0"));
    }
    match exponent.re {
        re if re < 0.0 => Err(Reason::DivisionByZero),
        0.0 => Ok(Complex64::ONE),
        _ => Ok(Complex64::ZERO),
    }
}
