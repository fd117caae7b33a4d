//! Values that stay exact while they are whole numbers.

use std::ops::{Div, Mul, Neg};

use num_complex::Complex64;

use crate::error::Reason;
use crate::{format, functions};

/// A value, and the whole number that it is. Beyond 2^53 a float alone would be rounded to another whole number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Value {
    pub(crate) float: Complex64,
    /// The whole number, if the value is one and was computed without rounding.
    pub(crate) whole: Option<i128>,
}

type ValueResult = Result<Value, Reason>;

impl Value {
    /// Creates a value from a result with floats and, if it is known, the exact one.
    fn new(float: Complex64, whole: Option<i128>) -> Self {
        match whole {
            // `float` may be another number: the difference of two large numbers, for example, loses the digits in which they differ.
            Some(whole) => Self::of_whole(whole),
            None => Self {
                float,
                whole: is_exact_whole(float).then_some(float.re as i128),
            },
        }
    }

    fn of_whole(whole: i128) -> Self {
        Self {
            float: Complex64::new(whole as f64, 0.0),
            whole: Some(whole),
        }
    }

    /// Creates a real value from the text of a number and the float that it is.
    pub(crate) fn of_number(float: f64, whole: Option<i128>) -> Self {
        Self::new(Complex64::new(float, 0.0), whole)
    }

    /// Returns the value without a part that is only a rounding error.
    pub(crate) fn without_rounding_error(self) -> Self {
        Self::new(format::drop_rounding_error(self.float), self.whole)
    }
}

/// Returns whether a float is a whole number that cannot be the result of rounding another one.
fn is_exact_whole(float: Complex64) -> bool {
    float.im == 0.0 && float.re.fract() == 0.0 && float.re.abs() < format::MAX_EXACT
}

impl From<Complex64> for Value {
    fn from(float: Complex64) -> Self {
        Self::new(float, None)
    }
}

impl Neg for Value {
    type Output = Self;

    fn neg(self) -> Self {
        Self::new(-self.float, self.whole.and_then(i128::checked_neg))
    }
}

impl Mul for Value {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self::new(self.float * other.float, both(self, other, i128::checked_mul))
    }
}

impl Mul<f64> for Value {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self::from(self.float * factor)
    }
}

impl Div<f64> for Value {
    type Output = Self;

    fn div(self, divisor: f64) -> Self {
        Self::from(self.float / divisor)
    }
}

/// Applies an operation to two whole numbers.
fn both(a: Value, b: Value, operation: impl Fn(i128, i128) -> Option<i128>) -> Option<i128> {
    operation(a.whole?, b.whole?)
}

pub(crate) fn add(a: Value, b: Value) -> Value {
    Value::new(functions::add(a.float, b.float), both(a, b, i128::checked_add))
}

pub(crate) fn divide(a: Value, b: Value) -> ValueResult {
    let quotient = functions::divide(a.float, b.float)?;
    let (Some(a), Some(b)) = (a.whole, b.whole) else {
        return Ok(quotient.into());
    };
    Ok(match (a.checked_div(b), a.checked_rem(b)) {
        (Some(quotient), Some(0)) => Value::of_whole(quotient),
        // The whole part and the rest are divided apart, since `a` may be rounded as a float. No whole number is the quotient.
        (Some(whole), Some(rest)) => Value {
            float: Complex64::new(whole as f64 + rest as f64 / b as f64, 0.0),
            whole: None,
        },
        _ => quotient.into(),
    })
}

pub(crate) fn modulo(a: Value, b: Value) -> ValueResult {
    Ok(Value::new(functions::modulo(a.float, b.float)?, both(a, b, remainder)))
}

/// Returns the remainder with the sign of the divisor.
fn remainder(a: i128, b: i128) -> Option<i128> {
    let rest = a.checked_rem(b)?;
    Some(if rest != 0 && (rest < 0) != (b < 0) {
        rest + b
    } else {
        rest
    })
}

pub(crate) fn power(base: Value, exponent: Value) -> ValueResult {
    let power = functions::power(base.float, exponent.float)?;
    Ok(Value::new(power, both(base, exponent, whole_power)))
}

fn whole_power(base: i128, exponent: i128) -> Option<i128> {
    base.checked_pow(u32::try_from(exponent).ok()?)
}

pub(crate) fn root(value: Value, degree: Value) -> ValueResult {
    functions::root(value.float, degree.float).map(Value::from)
}

pub(crate) fn round_to_multiple(value: Value, step: Value) -> ValueResult {
    functions::round_to_multiple(value.float, step.float).map(Value::from)
}

/// Calls a function (see [`functions::call`]).
pub(crate) fn call(name: &'static str, arguments: &[Value]) -> ValueResult {
    let whole: Option<Vec<i128>> = arguments.iter().map(|argument| argument.whole).collect();
    let whole = whole.and_then(|arguments| call_with_whole(name, &arguments));
    let floats: Vec<Complex64> = arguments.iter().map(|argument| argument.float).collect();
    match functions::call(name, &floats) {
        // The greatest common divisor and the like of large numbers have no value as floats.
        Err(Reason::Domain { .. }) if whole.is_some() => {
            let whole = whole.unwrap_or_default();
            Ok(Value::of_number(whole as f64, Some(whole)))
        }
        result => Ok(Value::new(result?, whole)),
    }
}

/// Returns the value of a function of whole numbers, if it is whole and does not overflow.
fn call_with_whole(name: &str, arguments: &[i128]) -> Option<i128> {
    let mut numbers = arguments.iter().copied();
    match (name, arguments) {
        ("sum", _) => numbers.try_fold(0_i128, i128::checked_add),
        ("product", _) => numbers.try_fold(1_i128, i128::checked_mul),
        ("max", _) => numbers.max(),
        ("min", _) => numbers.min(),
        ("mean", [_, ..]) => {
            let sum = numbers.try_fold(0_i128, i128::checked_add)?;
            let count = i128::try_from(arguments.len()).ok()?;
            (sum % count == 0).then_some(sum / count)
        }
        ("gcd", [_, ..]) => numbers.try_fold(0_i128, |a, b| Some(gcd(a, b.checked_abs()?))),
        ("lcm", [_, ..]) => numbers.try_fold(1_i128, lcm),
        ("difference", [a, b]) => a.checked_sub(*b),
        ("mod", [a, b]) => remainder(*a, *b),
        ("pow", [a, b]) => whole_power(*a, *b),
        ("abs", [a]) => a.checked_abs(),
        ("square", [a]) => whole_power(*a, 2),
        ("cube", [a]) => whole_power(*a, 3),
        ("floor" | "ceil" | "trunc" | "round", [a]) => Some(*a),
        // Whole numbers have no decimals to round.
        ("round", [a, decimals]) if *decimals >= 0 => Some(*a),
        ("factorial", [a]) if (0..=33).contains(a) => (1..=*a).try_fold(1_i128, i128::checked_mul),
        _ => None,
    }
}

fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn lcm(a: i128, b: i128) -> Option<i128> {
    let b = b.checked_abs()?;
    if a == 0 || b == 0 {
        return Some(0);
    }
    (a / gcd(a, b)).checked_mul(b)
}
