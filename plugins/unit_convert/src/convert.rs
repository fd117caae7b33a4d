//! Converts quantities. A quantity may be given in two units, such as `5 feet 11 inches`, and so may the result.

use art_sdk::decimal::Decimal;
use art_sdk::serde_json::Number;

use crate::{
    dimension,
    error::ConvertError,
    io::{Converted, UnitConvertInput, UnitConvertOutput},
    lookup::Measure,
    parse,
    units::Scale,
};

/// Every whole number up to 2^53 is exact in an `f64`.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// How far below absolute zero a temperature may be because of rounding errors, in kelvins.
const ABSOLUTE_ZERO_TOLERANCE: f64 = 1e-9;

/// Converts the value of `input`.
pub(crate) fn convert(input: &UnitConvertInput) -> Result<UnitConvertOutput, ConvertError> {
    // A second quantity, such as `11 inches`, is either in `from` or in the fields `extra_value` and `extra_unit`.
    let (from, second_quantity_in_from) = parse_with_second_quantity(&input.from)?;
    let extra_unit = input.extra_unit.as_deref().filter(|unit| !unit.trim().is_empty());
    let second_quantity = match (input.extra_value, extra_unit) {
        (Some(_), Some(_)) if second_quantity_in_from.is_some() => return Err(ConvertError::ThirdQuantity),
        (Some(value), Some(unit)) => Some((value.0.to_f64(), parse::parse("extra_unit", unit)?)),
        (None, None) => second_quantity_in_from,
        _ => return Err(ConvertError::IncompleteExtra),
    };
    let second_value_in_first_unit = second_quantity
        .map(|(value, unit)| convert_difference(value, &unit, &from))
        .transpose()?;
    // The sign of the first number is also that of the second: `-5 feet 6 inches` is -5.5 feet.
    let first_value = input.value.0.to_f64();
    let sign = if first_value < 0.0 { -1.0 } else { 1.0 };
    let value = first_value + sign * second_value_in_first_unit.unwrap_or_default();
    // The result is in one unit, or in a larger and a smaller one. If `to` is neither, the error is that of parsing one unit.
    let to_one_unit = parse::parse("to", &input.to).map(|to| (to, None));
    let (to, smaller) = to_one_unit.or_else(|error| parse_two_units(&input.to).ok_or(error))?;
    let converted = convert_number(value, &from, &to)?;
    let result = match smaller {
        Some(smaller) => Converted::Text(format_in_two_units(converted, &to, &smaller)?),
        None => {
            let exact = second_value_in_first_unit
                .is_none()
                .then(|| convert_exactly(input.value.0, &from, &to));
            let number = exact.flatten().map_or_else(|| to_json_number(converted), Ok)?;
            Converted::Number(number)
        }
    };
    Ok(UnitConvertOutput {
        result,
        note: note(&from, &to, input),
    })
}

/// Converts a whole number if the result is whole too, since the result of floats is rounded to fifteen digits. Returns `None` for
/// all others.
fn convert_exactly(value: Decimal, from: &Measure, to: &Measure) -> Option<Number> {
    /// Up to this ratio of two units, its division is exact.
    const MAX_RATIO: f64 = 1e9;
    let whole = value.to_integer()?;
    let (Scale::Factor(from), Scale::Factor(to)) = (from.scale, to.scale) else {
        return None;
    };
    let whole_ratio =
        |ratio: f64| (ratio.fract() == 0.0 && (1.0..=MAX_RATIO).contains(&ratio)).then_some(ratio as i128);
    let converted = match (whole_ratio(from / to), whole_ratio(to / from)) {
        (Some(factor), _) => whole.checked_mul(factor)?,
        (_, Some(divisor)) if whole % divisor == 0 => whole / divisor,
        _ => return None,
    };
    Number::from_i128(converted)
}

/// Parses a unit and the second quantity that may follow it: `feet 11 inches`.
fn parse_with_second_quantity(text: &str) -> Result<(Measure, Option<(f64, Measure)>), ConvertError> {
    let parsed = parse::split_at_second_quantity(text).and_then(|parts| {
        let unit = parse::parse("from", parts.unit).ok()?;
        let second_unit = parse::parse("from", parts.second_unit).ok()?;
        (unit.dimension == second_unit.dimension).then_some((unit, Some((parts.second_number, second_unit))))
    });
    parsed.map_or_else(|| Ok((parse::parse("from", text)?, None)), Ok)
}

/// Parses two units such as `feet and inches`, in any order. Returns the larger one first. The smaller one is always `Some`: it
/// is an option only because [`convert`] has the same pair, with `None`, for a result in one unit.
fn parse_two_units(text: &str) -> Option<(Measure, Option<Measure>)> {
    let (first, second) = text.split_once(" and ").or_else(|| text.split_once('+'))?;
    let first = parse::parse("to", first).ok()?;
    let second = parse::parse("to", second).ok()?;
    let is_second_larger = convert_difference(1.0, &first, &second).ok()? < 1.0;
    let (larger, smaller) = if is_second_larger {
        (second, first)
    } else {
        (first, second)
    };
    Some((larger, Some(smaller)))
}

/// Converts a value if both units have the same dimension.
fn convert_number(value: f64, from: &Measure, to: &Measure) -> Result<f64, ConvertError> {
    if from.dimension != to.dimension {
        return Err(ConvertError::Mismatch {
            from: from.dimension.name(),
            to: to.dimension.name(),
            from_unit: from.name.clone(),
            to_unit: to.name.clone(),
        });
    }
    convert_via_base_unit(value, from, to)
}

/// Converts a quantity that is added to another one. A temperature is then a difference, which does not depend on the zeros of
/// the scales.
fn convert_difference(value: f64, from: &Measure, to: &Measure) -> Result<f64, ConvertError> {
    convert_number(value, &without_offset(from), &without_offset(to))
}

/// Returns the unit of a difference between two values in `unit`.
fn without_offset(unit: &Measure) -> Measure {
    let scale = match unit.scale {
        Scale::Offset { factor, .. } => Scale::Factor(factor),
        other => other,
    };
    Measure { scale, ..unit.clone() }
}

/// Returns the value as whole units of `larger`, and the rest in `smaller`, rounded to two decimals.
fn format_in_two_units(value: f64, larger: &Measure, smaller: &Measure) -> Result<String, ConvertError> {
    let smaller_per_larger = (convert_difference(1.0, larger, smaller)? * 100.0).round() / 100.0;
    let mut whole = value.abs().trunc();
    let mut rest = (convert_difference(value.abs() - whole, larger, smaller)? * 100.0).round() / 100.0;
    // Rounding can complete a further unit of `larger`: 11.999 inches become 12 inches, which are one foot.
    if rest >= smaller_per_larger {
        (whole, rest) = (whole + 1.0, 0.0);
    }
    let sign = if value < 0.0 { "minus " } else { "" };
    let (whole_unit, rest_unit) = (pluralize(&larger.name, whole), pluralize(&smaller.name, rest));
    Ok(format!(
        "{sign}{} {whole_unit} {} {rest_unit}",
        to_json_number(whole)?,
        to_json_number(rest)?
    ))
}

fn pluralize(name: &str, count: f64) -> String {
    match name {
        _ if count == 1.0 => name.to_owned(),
        "foot" => "feet".to_owned(),
        "inch" => "inches".to_owned(),
        "stone" => "stone".to_owned(),
        _ if name.starts_with("degree ") => name.replacen("degree", "degrees", 1),
        _ => format!("{name}s"),
    }
}

/// Returns a note such as `gallon (US), not imperial`, if exactly one of the two units is a unit of the United States and its
/// text in the input does not say so.
fn note(from: &Measure, to: &Measure, input: &UnitConvertInput) -> Option<String> {
    let is_american = |unit: &Measure| unit.name.contains("(US)");
    // `short` is the word of the short ton, which is American.
    let says_american = |text: &str| {
        text.split(|c: char| !c.is_alphanumeric())
            .any(|word| matches!(word.to_lowercase().as_str(), "us" | "short"))
    };
    let (from_with_text, to_with_text) = ((from, &input.from), (to, &input.to));
    let (unit, text) = match (is_american(from), is_american(to)) {
        (true, true) | (false, false) => return None,
        (true, false) => from_with_text,
        (false, true) => to_with_text,
    };
    (!says_american(text)).then(|| format!("{}, not imperial", unit.name))
}

fn convert_via_base_unit(value: f64, from: &Measure, to: &Measure) -> Result<f64, ConvertError> {
    let has_offset = [from, to].iter().any(|unit| matches!(unit.scale, Scale::Offset { .. }));
    let base = match from.scale {
        Scale::Factor(factor) => value * factor,
        Scale::Offset { factor, offset } => (value + offset) * factor,
        Scale::Inverse(numerator) => divide(numerator, value)?,
    };
    // Without an offset, the value may be a difference of temperatures, which may be negative.
    if has_offset && from.dimension == dimension::TEMPERATURE && base < -ABSOLUTE_ZERO_TOLERANCE {
        return Err(ConvertError::BelowAbsoluteZero(format!("{value} {}", from.name)));
    }
    match to.scale {
        Scale::Factor(factor) if !has_offset => Ok(base / factor),
        // Adding or subtracting an offset can cancel leading digits, so round away the rounding error that remains.
        Scale::Factor(factor) => Ok(round_to_ten_decimals(base / factor)),
        Scale::Offset { factor, offset } => Ok(round_to_ten_decimals(base / factor - offset)),
        Scale::Inverse(numerator) => divide(numerator, base),
    }
}

/// Divides the numerator of a [`Scale::Inverse`] by a value. Only units of fuel economy such as `L/100 km` have this scale.
fn divide(numerator: f64, value: f64) -> Result<f64, ConvertError> {
    if value == 0.0 {
        Err(ConvertError::ZeroFuelEconomy)
    } else {
        Ok(numerator / value)
    }
}

fn round_to_ten_decimals(value: f64) -> f64 {
    let rounded = (value * 1e10).round() / 1e10;
    if rounded.is_finite() { rounded } else { value }
}

/// Returns the value as a JSON number, rounded to fifteen significant digits; a whole number has no decimal point.
fn to_json_number(value: f64) -> Result<Number, ConvertError> {
    let rounded: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    if rounded.fract() == 0.0 && rounded.abs() <= MAX_EXACT {
        return Ok((rounded as i64).into());
    }
    Number::from_f64(rounded).ok_or(ConvertError::Overflow)
}
