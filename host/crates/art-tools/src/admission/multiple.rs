//! Checks the keyword `multipleOf` in constant time for all numbers, and exactly: 0.3 is a multiple of 0.1.
//!
//! The crate `jsonschema` represents a number that does not fit into an integer as a fraction of arbitrary size. Dividing such
//! fractions takes a thousand times as long as the check here.

use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Number, Value};

#[derive(Debug)]
struct MultipleOf {
    /// The divisor as the schema writes it, for messages.
    written_divisor: Number,
    divisor: Decimal,
}

/// Creates the implementation of `multipleOf` for the value of the keyword in a schema.
///
/// # Errors
/// Fails if the value is not a number.
pub(crate) fn multiple_of<'s>(
    _: &'s Map<String, Value>,
    value: &'s Value,
    _: Location,
) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'s>> {
    let written_divisor = value.as_number().cloned();
    let written_divisor = written_divisor.ok_or_else(|| ValidationError::custom("must be a number"))?;
    let divisor = Decimal::from_number(&written_divisor);
    Ok(Box::new(MultipleOf {
        written_divisor,
        divisor,
    }))
}

impl<'i> Keyword<'i> for MultipleOf {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if Keyword::is_valid(self, instance) {
            return Ok(());
        }
        Err(ValidationError::custom(format!(
            "must be a multiple of {}",
            self.written_divisor
        )))
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        match instance {
            Value::Number(number) => Decimal::from_number(number).is_multiple_of(self.divisor),
            _ => true,
        }
    }
}

/// The absolute value of a number: `digits` times ten to the `power`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decimal {
    digits: u64,
    power: i32,
}

impl Decimal {
    /// Converts a number as it is written. A float is written with the fewest digits that distinguish it from other
    /// floats.
    fn from_number(number: &Number) -> Self {
        let integer = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
        match integer {
            Some(digits) => Self { digits, power: 0 },
            None => Self::parse(&format!("{:e}", number.as_f64().unwrap_or_default().abs())),
        }
    }

    /// Parses a text such as `1.25e-3`. A float has at most 17 digits, so the digits fit into 64 bits.
    fn parse(text: &str) -> Self {
        let (mantissa, power) = text.split_once('e').unwrap_or((text, "0"));
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{integer}{fraction}").parse().unwrap_or_default();
        let decimals = i32::try_from(fraction.len()).unwrap_or_default();
        let power = power.parse::<i32>().unwrap_or_default() - decimals;
        Self { digits, power }
    }

    fn is_multiple_of(self, divisor: Self) -> bool {
        if self.digits == 0 {
            return true;
        }
        if divisor.digits == 0 {
            return false;
        }
        let (digits, divisor_digits) = (u128::from(self.digits), u128::from(divisor.digits));
        // The quotient is `digits / divisor_digits` times ten to the `quotient_power`.
        let quotient_power = self.power - divisor.power;
        if quotient_power >= 0 {
            let product = (digits % divisor_digits) * power_of_ten_mod(quotient_power.unsigned_abs(), divisor_digits);
            return product.is_multiple_of(divisor_digits);
        }
        let scale = 10_u128.checked_pow(quotient_power.unsigned_abs());
        // If the scaled divisor overflows, it is larger than the number, which is therefore not a multiple of it.
        match scale.and_then(|scale| divisor_digits.checked_mul(scale)) {
            Some(scaled) => digits.is_multiple_of(scaled),
            None => false,
        }
    }
}

/// Returns `10^power` modulo `modulus`, which must fit into 64 bits so that no product overflows.
fn power_of_ten_mod(mut power: u32, modulus: u128) -> u128 {
    let (mut result, mut square) = (1 % modulus, 10 % modulus);
    while power > 0 {
        if power % 2 == 1 {
            result = result * square % modulus;
        }
        square = square * square % modulus;
        power /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn is_multiple(number: &Value, divisor: &Value) -> bool {
        let divisor = Decimal::from_number(divisor.as_number().unwrap());
        Decimal::from_number(number.as_number().unwrap()).is_multiple_of(divisor)
    }

    #[test]
    fn multiples_of_decimal_fractions_are_recognised_exactly() {
        for (number, divisor) in [
            (json!(0), json!(3)),
            (json!(-9), json!(3)),
            (json!(u64::MAX), json!(5)),
            (json!(0.3), json!(0.1)),
            (json!(1_070_468.14), json!(0.01)),
            (json!(4.5), json!(1.5)),
            (json!(6.0), json!(3)),
            (json!(1e300), json!(1e-300)),
            (json!(12), json!(0.000_4)),
        ] {
            assert!(is_multiple(&number, &divisor), "{number} {divisor}");
        }
        for (number, divisor) in [
            (json!(1), json!(2)),
            (json!(0.35), json!(0.1)),
            (json!(1.1), json!(1)),
            (json!(1e-300), json!(1e300)),
            (json!(1e300), json!(3e-300)),
            (json!(1e300), json!(7e299)),
            (json!(u64::MAX), json!(2)),
            (json!(0.000_000_1), json!(0.000_000_3)),
        ] {
            assert!(!is_multiple(&number, &divisor), "{number} {divisor}");
        }
    }

    #[test]
    fn a_value_that_is_not_a_number_is_valid() {
        let divisor = json!(2);
        let schema = Map::new();
        let keyword = multiple_of(&schema, &divisor, Location::new()).unwrap();
        let value = json!("odd");
        assert!(keyword.is_valid(&value));
    }
}
