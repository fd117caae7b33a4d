//! Units of the numbers in a question, and the words that stand for these units in the names of columns.

use art_sdk::{
    args,
    serde_json::{self, Value},
};

use crate::{column::Column, error::CsvError, superlative::words_of_name};

/// The unit of a number that a filter compares with. A unit may have several names.
#[args]
#[art_sdk::output]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    Kg,
    Kilograms,
    Kilos,
    Grams,
    Tonnes,
    Pounds,
    Km,
    Kilometres,
    Kilometers,
    Metres,
    Meters,
    M,
    Cm,
    Centimetres,
    Centimeters,
    Mm,
    Millimetres,
    Millimeters,
    Miles,
    Feet,
    Years,
    Days,
    Hours,
    Minutes,
    Mins,
    Min,
    Seconds,
    Degrees,
    Percent,
    Euros,
    Eur,
    Dollars,
    Usd,
    Gb,
    Hectares,
    Kmh,
}

/// The words for a unit in the names of columns, one row for each unit. `kmh` has no row: a column has this unit if its name
/// contains `kmh`, or `km` directly before `h`.
const WORDS_FOR_UNITS: [&[&str]; 21] = [
    &["kg", "kilos", "kilograms"],
    &["g", "grams"],
    &["t", "tonnes", "tons"],
    // Both the weight and the currency, since the input calls both `pounds`.
    &["lb", "lbs", "pounds", "gbp"],
    &["km", "kilometres", "kilometers"],
    &["m", "metres", "meters"],
    &["cm", "centimetres", "centimeters"],
    &["mm", "millimetres", "millimeters"],
    &["miles", "mi"],
    &["ft", "feet"],
    &["years", "age"],
    &["days"],
    &["h", "hours", "hrs"],
    &["min", "mins", "minutes"],
    &["s", "sec", "secs", "seconds"],
    &["c", "f", "degrees", "celsius", "fahrenheit", "temp", "temperature"],
    &["percent", "pct"],
    &["eur", "euros"],
    &["usd", "dollars"],
    &["gb", "gigabytes"],
    &["hectares", "ha"],
];

impl Unit {
    /// Returns the name of the unit in the input. The row of the unit in [`WORDS_FOR_UNITS`], if it has one, contains this name.
    fn name(self) -> String {
        match serde_json::to_value(self) {
            Ok(Value::String(name)) => name,
            _ => String::new(),
        }
    }

    /// Fails if the name of the column contains another unit and not this one.
    pub(crate) fn check(self, column: &Column) -> Result<(), CsvError> {
        let name = self.name();
        let column_words: Vec<String> = words_of_name(&column.name).collect();
        let ends_with_min = column_words.last().is_some_and(|word| word == "min");
        // In `min_weight`, `min` is the minimum.
        let is_unit_word = |word: &str| word != "min" || ends_with_min;
        let column_has = |unit_word: &str| is_unit_word(unit_word) && column_words.iter().any(|word| word == unit_word);
        let column_has_one_of = |unit_words: &[&str]| unit_words.iter().any(|word| column_has(word));
        let is_this_unit = |unit_words: &[&str]| unit_words.contains(&name.as_str());
        let has_km_h = column_words.windows(2).any(|words| words == ["km", "h"]);
        let has_this_unit = column_has(&name)
            || (self == Self::Kmh && has_km_h)
            || WORDS_FOR_UNITS
                .iter()
                .any(|words| is_this_unit(words) && column_has_one_of(words));
        let has_other_unit = WORDS_FOR_UNITS
            .iter()
            .any(|words| !is_this_unit(words) && column_has_one_of(words));
        if has_this_unit || !has_other_unit {
            return Ok(());
        }
        Err(CsvError::OtherUnit {
            unit: name,
            column: column.name.clone(),
        })
    }
}
