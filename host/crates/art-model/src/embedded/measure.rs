//! Units of measure: what a text counts in, and what a parameter says that it counts in.

use super::class::Class;
use super::reading::Reading;
use super::schema::{Param, Tool};
use super::token::Kind;
use super::words;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dimension {
    /// Time of a fixed length, in seconds.
    Time,
    /// Time by the calendar, in months.
    Calendar,
    Length,
    Mass,
    Volume,
}

/// A unit and how much of the base unit of its dimension it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit {
    pub(super) names: &'static [&'static str],
    pub(super) dimension: Dimension,
    pub(super) factor: f64,
}

const fn unit(names: &'static [&'static str], dimension: Dimension, factor: f64) -> Unit {
    Unit {
        names,
        dimension,
        factor,
    }
}

/// Units that have one size everywhere. Gallons, tons and degrees do not.
const UNITS: &[Unit] = &[
    unit(&["second", "sec", "s"], Dimension::Time, 1.0),
    unit(&["minute", "min"], Dimension::Time, 60.0),
    unit(&["hour", "hr", "h"], Dimension::Time, 3_600.0),
    unit(&["day", "d"], Dimension::Time, 86_400.0),
    unit(&["week", "wk", "w"], Dimension::Time, 604_800.0),
    unit(&["month"], Dimension::Calendar, 1.0),
    unit(&["year", "yr", "y"], Dimension::Calendar, 12.0),
    unit(&["decade"], Dimension::Calendar, 120.0),
    unit(&["millimeter", "millimetre", "mm"], Dimension::Length, 0.001),
    unit(&["centimeter", "centimetre", "cm"], Dimension::Length, 0.01),
    unit(&["meter", "metre", "m"], Dimension::Length, 1.0),
    unit(&["kilometer", "kilometre", "km"], Dimension::Length, 1_000.0),
    unit(&["inch", "inches"], Dimension::Length, 0.0254),
    unit(&["foot", "feet", "ft"], Dimension::Length, 0.3048),
    unit(&["yard", "yd"], Dimension::Length, 0.9144),
    unit(&["mile", "mi"], Dimension::Length, 1_609.344),
    unit(&["milligram", "mg"], Dimension::Mass, 1e-6),
    unit(&["gram", "g"], Dimension::Mass, 0.001),
    unit(&["kilogram", "kilo", "kg"], Dimension::Mass, 1.0),
    unit(&["lb", "lbs"], Dimension::Mass, 0.453_592_37),
    unit(&["ounce", "oz"], Dimension::Mass, 0.028_349_523_125),
    unit(&["milliliter", "millilitre", "ml"], Dimension::Volume, 0.001),
    unit(&["liter", "litre", "l"], Dimension::Volume, 1.0),
];

/// The unit that `word` names, in the singular or plural.
pub(super) fn named(word: &str) -> Option<&'static Unit> {
    let lower = word.to_lowercase();
    let singular = lower.strip_suffix('s').filter(|word| word.len() > 1);
    let is = |unit: &&Unit| unit.names.iter().any(|name| *name == lower || Some(*name) == singular);
    UNITS.iter().find(is)
}

impl Unit {
    /// Whether it is a unit of time.
    pub(super) const fn is_time(&self) -> bool {
        matches!(self.dimension, Dimension::Time | Dimension::Calendar)
    }

    /// How many of `other` one of it is; none when no number says so, as for months in days.
    pub(super) fn in_units_of(&self, other: &Self) -> Option<f64> {
        (self.dimension == other.dimension).then_some(self.factor / other.factor)
    }

    fn is_comparable(&self, other: &Self) -> bool {
        self.dimension == other.dimension || self.is_time() && other.is_time()
    }
}

impl Reading {
    /// The unit that stands right behind the number that ends before token `to`; none for compound units such as `km/h`.
    pub(super) fn unit_after(&self, to: usize) -> Option<&'static Unit> {
        let hyphen = self.token(to).is_some_and(|token| token.is("-"));
        let at = to + usize::from(hyphen);
        let token = self.token(at).filter(|token| token.kind == Kind::Word)?;
        let compound = self
            .token(at + 1)
            .is_some_and(|next| next.is_any(&["/", "per", "^", "squared"]));
        named(&token.text).filter(|_| !compound)
    }
}

/// By what the number that ends before token `to` is to be multiplied for `param`, which says in its name or description
/// what it counts in; none when the units do not fit.
pub(super) fn factor(tool: &Tool, param: &Param, reading: &Reading, to: usize) -> Option<f64> {
    let wanted = wanted(tool, param);
    if to.checked_sub(1).is_some_and(|at| reading.is_single(at)) && !wanted.is_some_and(Unit::is_time) {
        return None;
    }
    let (Some(given), Some(wanted)) = (reading.unit_after(to), wanted) else {
        return Some(1.0);
    };
    if !given.is_comparable(wanted) {
        return Some(1.0);
    }
    given.in_units_of(wanted)
}

/// `value` times `factor`, without the digits that binary fractions add.
pub(super) fn scaled(value: f64, factor: f64) -> f64 {
    let product = value * factor;
    #[expect(clippy::float_cmp, reason = "only the exact factor leaves a number as it is")]
    if factor == 1.0 {
        return value;
    }
    format!("{product:.9e}").parse().unwrap_or(product)
}

/// The unit that `param` counts in, unless the tool has a parameter for units.
pub(super) fn wanted(tool: &Tool, param: &Param) -> Option<&'static Unit> {
    let takes_units = |other: &Param| {
        other.class == Class::Unit
            || other
                .choices
                .iter()
                .any(|choice| choice.value.as_str().and_then(named).is_some())
    };
    if tool.params.iter().any(takes_units) {
        return None;
    }
    by_name(&param.name).or_else(|| by_description(&param.description))
}

/// The unit at the end of a name: `days`, `weight_kg`. A lone letter is a symbol and "day" a day.
fn by_name(name: &str) -> Option<&'static Unit> {
    let words = words::split(name);
    let last = words.last()?;
    let plural = last.ends_with('s') && last.len() > 2;
    let abbreviated = last.len() <= 3 && (words.len() > 1 || last.len() > 1);
    named(last).filter(|_| plural || abbreviated)
}

/// The unit behind "in", when it is the only one.
fn by_description(description: &str) -> Option<&'static Unit> {
    let words: Vec<&str> = description.split_whitespace().take(60).collect();
    let unit = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        named(word).filter(|_| word.ends_with('s') || word == "feet" || (2..=3).contains(&word.len()))
    };
    let mut units = words
        .windows(2)
        .filter(|pair| pair.first() == Some(&"in"))
        .filter_map(|pair| unit(pair.get(1)?));
    let first = units.next()?;
    let others = words.iter().filter_map(|word| unit(word)).any(|other| other != first);
    (!others && !description.contains(" per ") && !description.contains('/')).then_some(first)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn factor_of(name: &str, description: &str, text: &str) -> Option<f64> {
        let property: Value = json!({"type": "number", "description": description});
        let schema = json!({"name": "t", "inputSchema": {"properties": {name: property}, "required": [name]}});
        let tool = Tool::read(&schema);
        let param = tool.params.first().unwrap();
        factor(&tool, param, &Reading::new(text), 1)
    }

    #[test]
    fn a_parameter_says_its_unit_in_its_name_or_description() {
        assert_eq!(factor_of("minutes", "", "2 hours"), Some(120.0 / 2.0));
        assert_eq!(factor_of("weight_kg", "", "500 g"), Some(0.001));
        assert_eq!(factor_of("height", "Height in meters", "178 cm"), Some(0.01));
    }

    #[test]
    fn a_unit_that_is_not_given_or_not_wanted_changes_nothing() {
        assert_eq!(factor_of("minutes", "", "2"), Some(1.0));
        assert_eq!(factor_of("m", "Mass", "2 hours"), Some(1.0));
        assert_eq!(factor_of("height", "Height in meters or feet", "178 cm"), Some(1.0));
        assert_eq!(factor_of("speed", "Speed in meters per second", "5 km/h"), Some(1.0));
    }

    #[test]
    fn months_are_no_number_of_days() {
        assert_eq!(factor_of("days", "", "2 months"), None);
    }

    #[test]
    fn a_product_has_no_digits_of_a_binary_fraction() {
        assert!(format!("{}", scaled(150.0, 0.453_592_37)) == "68.0388555");
    }
}
