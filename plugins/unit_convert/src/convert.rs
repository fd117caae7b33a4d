//! Converts quantities.

use art_sdk::serde_json::Number;

use crate::{
    dimension,
    error::ConvertError,
    io::{UnitConvertInput, UnitConvertOutput},
    lookup::Measure,
    parse,
    units::Scale,
};

/// Every whole number up to 2^53 is exact in an `f64`.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Maximum rounding error of a temperature, in kelvins.
const ZERO_TOLERANCE: f64 = 1e-9;

/// Converts the value of `input`.
pub(crate) fn convert(input: &UnitConvertInput) -> Result<UnitConvertOutput, ConvertError> {
    let from = parse::parse("from", &input.from)?;
    let to = parse::parse("to", &input.to)?;
    if from.dimension != to.dimension {
        let (from_unit, to_unit) = (from.name, to.name);
        return Err(ConvertError::Mismatch {
            from: from.dimension.name(),
            to: to.dimension.name(),
            from_unit,
            to_unit,
        });
    }
    let result = number(via_base_unit(input.value, &from, &to)?)?;
    let text = format!("{} {} = {result} {}", number(input.value)?, from.name, to.name);
    Ok(UnitConvertOutput {
        result,
        text,
        dimension: from.dimension.name(),
    })
}

fn via_base_unit(value: f64, from: &Measure, to: &Measure) -> Result<f64, ConvertError> {
    let affine = [from, to].iter().any(|unit| matches!(unit.scale, Scale::Offset { .. }));
    let base = match from.scale {
        Scale::Factor(factor) => value * factor,
        Scale::Offset { factor, offset } => (value + offset) * factor,
        Scale::Inverse(numerator) => divide(numerator, value)?,
    };
    if affine && from.dimension == dimension::TEMPERATURE && base < -ZERO_TOLERANCE {
        return Err(ConvertError::BelowZero(format!("{value} {}", from.name)));
    }
    match to.scale {
        Scale::Factor(factor) if !affine => Ok(base / factor),
        // Subtracting an offset cancels leading digits, so round away the remaining rounding error.
        Scale::Factor(factor) => Ok(round_decimals(base / factor)),
        Scale::Offset { factor, offset } => Ok(round_decimals(base / factor - offset)),
        Scale::Inverse(numerator) => divide(numerator, base),
    }
}

fn divide(numerator: f64, value: f64) -> Result<f64, ConvertError> {
    if value == 0.0 {
        Err(ConvertError::ZeroFuel)
    } else {
        Ok(numerator / value)
    }
}

fn round_decimals(value: f64) -> f64 {
    let rounded = (value * 1e10).round() / 1e10;
    if rounded.is_finite() { rounded } else { value }
}

/// Returns the value as a JSON number, rounded to fifteen significant digits; a whole number has no decimal point.
fn number(value: f64) -> Result<Number, ConvertError> {
    let rounded: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    if rounded.fract() == 0.0 && rounded.abs() <= MAX_EXACT {
        return Ok((rounded as i64).into());
    }
    Number::from_f64(rounded).ok_or(ConvertError::Overflow)
}
