//! `multipleOf` in constant time for all numbers, and exact for decimals as they are written.
//!
//! The library represents numbers beyond its integers as fractions of arbitrary size, whose division takes a thousand
//! times as long.

use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Number, Value};

#[derive(Debug)]
struct MultipleOf {
    number: Number,
    unit: Decimal,
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
    let number = value.as_number().cloned();
    let number = number.ok_or_else(|| ValidationError::custom("must be a number"))?;
    let unit = Decimal::of(&number);
    Ok(Box::new(MultipleOf { number, unit }))
}

impl<'i> Keyword<'i> for MultipleOf {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        if Keyword::is_valid(self, instance) {
            return Ok(());
        }
        Err(ValidationError::custom(format!(
            "must be a multiple of {}",
            self.number
        )))
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        let number = instance.as_number();
        number.is_none_or(|number| Decimal::of(number).is_multiple_of(self.unit))
    }
}

/// The absolute value of a number: `digits` times ten to the `power`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decimal {
    digits: u64,
    power: i32,
}

impl Decimal {
    /// Returns the number as it is written. A float is written with the fewest digits that distinguish it from other
    /// floats.
    fn of(number: &Number) -> Self {
        let integer = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
        match integer {
            Some(digits) => Self { digits, power: 0 },
            None => Self::read(&format!("{:e}", number.as_f64().unwrap_or_default().abs())),
        }
    }

    /// Parses a text such as `1.25e-3`. A float has at most 17 digits, so the digits fit into 64 bits.
    fn read(text: &str) -> Self {
        let (written, power) = text.split_once('e').unwrap_or((text, "0"));
        let (whole, fraction) = written.split_once('.').unwrap_or((written, ""));
        let digits = format!("{whole}{fraction}").parse().unwrap_or_default();
        let decimals = i32::try_from(fraction.len()).unwrap_or_default();
        let power = power.parse::<i32>().unwrap_or_default() - decimals;
        Self { digits, power }
    }

    fn is_multiple_of(self, unit: Self) -> bool {
        if self.digits == 0 {
            return true;
        }
        let (digits, units) = (u128::from(self.digits), u128::from(unit.digits));
        if units == 0 {
            return false;
        }
        let power = self.power - unit.power;
        if power >= 0 {
            let left = (digits % units) * power_of_ten(power.unsigned_abs(), units);
            return left.is_multiple_of(units);
        }
        let scaled = 10_u128.checked_pow(power.unsigned_abs());
        let scaled = scaled.and_then(|scale| units.checked_mul(scale));
        // If the scaled unit overflows, it is larger than the number, which is therefore not a multiple of it.
        scaled.is_some_and(|units| digits.is_multiple_of(units))
    }
}

/// Returns the remainder of a power of ten divided by `units`, which must fit into 64 bits so that no product
/// overflows.
fn power_of_ten(mut power: u32, units: u128) -> u128 {
    let (mut left, mut square) = (1 % units, 10 % units);
    while power > 0 {
        if power % 2 == 1 {
            left = left * square % units;
        }
        square = square * square % units;
        power /= 2;
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn is_multiple(number: &Value, unit: &Value) -> bool {
        let unit = Decimal::of(unit.as_number().unwrap());
        Decimal::of(number.as_number().unwrap()).is_multiple_of(unit)
    }

    #[test]
    fn multiples_are_told_from_other_numbers_as_they_are_written() {
        for (number, unit) in [
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
            assert!(is_multiple(&number, &unit), "{number} {unit}");
        }
        for (number, unit) in [
            (json!(1), json!(2)),
            (json!(0.35), json!(0.1)),
            (json!(1.1), json!(1)),
            (json!(1e-300), json!(1e300)),
            (json!(1e300), json!(3e-300)),
            (json!(1e300), json!(7e299)),
            (json!(u64::MAX), json!(2)),
            (json!(0.000_000_1), json!(0.000_000_3)),
        ] {
            assert!(!is_multiple(&number, &unit), "{number} {unit}");
        }
    }

    #[test]
    fn only_numbers_have_to_be_multiples() {
        let schema = json!(2);
        let object = Map::new();
        let keyword = multiple_of(&object, &schema, Location::new()).unwrap();
        let value = json!("odd");
        assert!(keyword.is_valid(&value));
    }
}
