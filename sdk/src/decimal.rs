//! Decimal numbers that are not rounded to floats.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Neg};

use serde_json::{Number, Value};

/// A number as it is written: `9007199254740993` and `0.1` are exact. A number with more than 38 digits, or one that is too large or
/// too small, is a float.
#[derive(Clone, Copy, Debug)]
pub struct Decimal(Form);

#[derive(Clone, Copy, Debug)]
enum Form {
    /// `digits` divided by ten to the `scale`, which is as small as possible.
    Exact {
        digits: i128,
        scale: u32,
    },
    Float(f64),
}

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self::exact(0, 0);

    const fn exact(digits: i128, scale: u32) -> Self {
        Self(Form::Exact { digits, scale })
    }

    /// Parses a finite number such as `-12`, `2.5` or `1e6`.
    pub fn parse(text: &str) -> Option<Self> {
        let float: f64 = text.parse().ok()?;
        float
            .is_finite()
            .then(|| Self::parse_exact(text).unwrap_or(Self(Form::Float(float))))
    }

    /// Parses a text that is a finite number. Returns `None` if the number has to be a float.
    fn parse_exact(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let exponent: i32 = exponent.parse().ok()?;
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        let number = match u32::try_from(scale) {
            Ok(scale) if scale <= 38 => Self::shortened(digits, scale),
            Ok(_) => return None,
            Err(_) => Self::exact(digits.checked_mul(power_of_ten(scale.unsigned_abs())?)?, 0),
        };
        // With an exponent, a large number is meant as a float.
        let is_float = exponent != 0 && number.to_integer().is_some() && !matches!(number.to_json(), Value::Number(_));
        (!is_float).then_some(number)
    }

    /// Returns the number without the zeros at the end of its decimals.
    fn shortened(mut digits: i128, mut scale: u32) -> Self {
        while scale > 0 && digits % 10 == 0 {
            digits /= 10;
            scale -= 1;
        }
        Self::exact(digits, scale)
    }

    /// Returns the decimal number with the fewest digits that is nearest to a finite float. A float of 2^63 or more stays a float.
    pub fn from_float(float: f64) -> Option<Self> {
        const MIN_LARGE: f64 = 9_223_372_036_854_775_808.0;
        if float.is_finite() && float.abs() >= MIN_LARGE {
            // It need not be the integer that was meant.
            return Some(Self(Form::Float(float)));
        }
        Self::parse(&float.to_string())
    }

    /// Returns the number if it is whole and exact.
    pub fn to_integer(self) -> Option<i128> {
        match self.0 {
            Form::Exact { digits, scale: 0 } => Some(digits),
            _ => None,
        }
    }

    /// Returns the nearest float.
    pub fn to_f64(self) -> f64 {
        match self.0 {
            #[expect(clippy::cast_precision_loss, reason = "the nearest float is what is asked for")]
            Form::Exact { digits, scale: 0 } => digits as f64,
            Form::Exact { .. } => self.to_string().parse().unwrap_or_default(),
            Form::Float(float) => float,
        }
    }

    /// Returns the number as JSON: an exact number that is neither a 64-bit integer nor a float as a string, and the result of a
    /// calculation with floats with fifteen significant digits. An infinite number is null.
    pub fn to_json(self) -> Value {
        match self.0 {
            Form::Exact { digits, scale: 0 } => match (i64::try_from(digits), u64::try_from(digits)) {
                (Ok(integer), _) => integer.into(),
                (_, Ok(integer)) => integer.into(),
                _ => self.to_string().into(),
            },
            Form::Exact { .. } => {
                let float = self.to_f64();
                if Self::parse(&float.to_string()) == Some(self) {
                    float.into()
                } else {
                    self.to_string().into()
                }
            }
            Form::Float(float) => float_to_json(float),
        }
    }

    /// Returns the number divided by a count, or `None` if the count is 0. A quotient with more than ten further decimals is a float.
    pub fn divided_by(self, count: usize) -> Option<Self> {
        let divisor = i128::try_from(count).ok().filter(|count| *count > 0)?;
        let exact_quotient = || {
            let Form::Exact { digits, scale } = self.0 else {
                return None;
            };
            (0..=10).find_map(|more| {
                let digits = digits.checked_mul(power_of_ten(more)?)?;
                (digits % divisor == 0).then(|| Self::shortened(digits / divisor, scale + more))
            })
        };
        #[expect(clippy::cast_precision_loss, reason = "the quotient is rounded anyway")]
        let quotient = || Self(Form::Float(self.to_f64() / count as f64));
        Some(exact_quotient().unwrap_or_else(quotient))
    }
}

impl Default for Decimal {
    fn default() -> Self {
        Self::ZERO
    }
}

impl From<i128> for Decimal {
    fn from(integer: i128) -> Self {
        Self::exact(integer, 0)
    }
}

impl From<usize> for Decimal {
    fn from(integer: usize) -> Self {
        i128::try_from(integer).map_or(Self(Form::Float(f64::INFINITY)), Self::from)
    }
}

impl From<&Number> for Decimal {
    fn from(number: &Number) -> Self {
        let exact = if number.is_f64() {
            number.as_f64().and_then(Self::from_float)
        } else {
            Self::parse(&number.to_string())
        };
        exact.unwrap_or(Self::ZERO)
    }
}

impl Add for Decimal {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let exact_sum = || {
            let (
                Form::Exact {
                    digits: a,
                    scale: a_scale,
                },
                Form::Exact {
                    digits: b,
                    scale: b_scale,
                },
            ) = (self.0, other.0)
            else {
                return None;
            };
            let scale = a_scale.max(b_scale);
            let a = a.checked_mul(power_of_ten(scale - a_scale)?)?;
            let b = b.checked_mul(power_of_ten(scale - b_scale)?)?;
            Some(Self::shortened(a.checked_add(b)?, scale))
        };
        exact_sum().unwrap_or_else(|| Self(Form::Float(self.to_f64() + other.to_f64())))
    }
}

impl Neg for Decimal {
    type Output = Self;

    fn neg(self) -> Self {
        match self.0 {
            Form::Exact { digits, scale } if digits != i128::MIN => Self::exact(-digits, scale),
            _ => Self(Form::Float(-self.to_f64())),
        }
    }
}

impl std::iter::Sum for Decimal {
    fn sum<I: Iterator<Item = Self>>(numbers: I) -> Self {
        numbers.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Form::Exact { digits, scale: 0 } => write!(f, "{digits}"),
            Form::Exact { digits, scale } => {
                let scale = usize::try_from(scale).unwrap_or_default();
                let text = format!("{:0>width$}", digits.unsigned_abs(), width = scale + 1);
                let (whole, decimals) = text.split_at(text.len() - scale);
                write!(f, "{}{whole}.{decimals}", if digits < 0 { "-" } else { "" })
            }
            Form::Float(float) => write!(f, "{float}"),
        }
    }
}

/// Exact numbers are compared exactly. A float is compared with the nearest float of the other number, and comes after it if both
/// are the same.
impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.0, other.0) {
            (
                Form::Exact {
                    digits: a,
                    scale: a_scale,
                },
                Form::Exact {
                    digits: b,
                    scale: b_scale,
                },
            ) => compare_scaled(a, a_scale, b, b_scale),
            (a, b) => {
                let is_float = |form| matches!(form, Form::Float(_));
                let floats = self.to_f64().partial_cmp(&other.to_f64()).unwrap_or(Ordering::Equal);
                floats.then(is_float(a).cmp(&is_float(b)))
            }
        }
    }
}

/// Compares `a` and `b`, each divided by ten to its scale.
fn compare_scaled(a: i128, a_scale: u32, b: i128, b_scale: u32) -> Ordering {
    let scale = a_scale.max(b_scale);
    let multiple = |digits: i128, own_scale| digits.checked_mul(power_of_ten(scale - own_scale)?);
    match (multiple(a, a_scale), multiple(b, b_scale)) {
        (Some(a), Some(b)) => a.cmp(&b),
        // A number that overflows is further from zero than any that does not, and only one of the two was multiplied.
        (None, _) => a.cmp(&0),
        (_, None) => 0.cmp(&b),
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

fn power_of_ten(power: u32) -> Option<i128> {
    10_i128.checked_pow(power)
}

/// Returns the float rounded to fifteen significant digits, so that a third plus two thirds is one. A whole number up to 2^53 has no
/// decimal point.
fn float_to_json(float: f64) -> Value {
    /// Every whole number up to 2^53 is exact in an `f64`.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    let rounded = if float.fract() == 0.0 {
        float
    } else {
        format!("{float:.14e}").parse().unwrap_or(float)
    };
    // Rounding up the largest numbers would make them infinite.
    let float = if rounded.is_finite() { rounded } else { float };
    if float.fract() == 0.0 && float.abs() <= MAX_EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "the float is whole and small enough")]
        return Value::from(float as i64);
    }
    Value::from(float)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn numbers_are_as_they_are_written() {
        for (text, json) in [
            ("9007199254740993", json!(9_007_199_254_740_993_u64)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("18446744073709551615", json!(u64::MAX)),
            ("18446744073709551616", json!("18446744073709551616")),
            ("1.50", json!(1.5)),
            ("-0", json!(0)),
            ("1e3", json!(1000)),
            ("1e29", json!(1e29)),
            ("1e300", json!(1e300)),
            ("0.1", json!(0.1)),
            ("1234567890123456.78", json!("1234567890123456.78")),
            ("-.5", json!(-0.5)),
        ] {
            assert_eq!(decimal(text).to_json(), json, "{text}");
        }
        for text in ["", "x", "1e999", "NaN", "inf", "1 2", "0x1"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }

    #[test]
    fn sums_and_quotients_are_exact() {
        let sum: Decimal = ["0.1", "0.2", "9007199254740993"].map(decimal).into_iter().sum();
        assert_eq!(sum.to_string(), "9007199254740993.3");
        assert_eq!(
            decimal("18014398509481987").divided_by(1).unwrap().to_string(),
            "18014398509481987"
        );
        assert_eq!(
            decimal("18014398509481987").divided_by(2).unwrap().to_string(),
            "9007199254740993.5"
        );
        assert_eq!(
            decimal("1").divided_by(3).unwrap().to_json(),
            json!(0.333_333_333_333_333)
        );
        assert_eq!(decimal("1").divided_by(0), None);
        assert_eq!((decimal("1e300") + decimal("1")).to_json(), json!(1e300));
        assert_eq!((-decimal("2.5")).to_string(), "-2.5");
    }

    #[test]
    fn numbers_that_round_to_the_same_float_are_different() {
        assert!(decimal("9007199254740993") > decimal("9007199254740992"));
        assert!(decimal("0.1000000000000000000001") > decimal("0.1"));
        assert!(decimal("-100000000000000000000000000000000000001") < decimal("-0.00000000000000000000000000000001"));
        assert_eq!(decimal("10.0"), decimal("1e1"));
        assert_eq!(Decimal::from(&Number::from(u64::MAX)), decimal("18446744073709551615"));
    }

    proptest! {
        #[test]
        fn integers_are_compared_and_added_as_such(a in any::<i64>(), b in any::<i64>()) {
            let (x, y) = (decimal(&a.to_string()), decimal(&b.to_string()));
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            prop_assert_eq!((x + y).to_integer(), Some(i128::from(a) + i128::from(b)));
        }

        #[test]
        fn the_order_of_all_numbers_is_total(texts in prop::collection::vec("-?[0-9]{1,40}(\\.[0-9]{1,40})?(e-?[0-9]{1,2})?", 0..12)) {
            let mut numbers: Vec<_> = texts.iter().filter_map(|text| Decimal::parse(text)).collect();
            numbers.sort();
            for (index, low) in numbers.iter().enumerate() {
                prop_assert!(numbers[index..].iter().all(|high| low <= high));
            }
        }

        #[test]
        fn a_float_is_shown_as_it_is(float in any::<f64>().prop_filter("finite", |float| float.is_finite())) {
            let number = Decimal::from(&Number::from_f64(float).unwrap());
            let back = number.to_json().as_f64().unwrap();
            prop_assert!((back - float).abs() <= float.abs() * 1e-14, "{float:e} {back:e}");
        }
    }
}
