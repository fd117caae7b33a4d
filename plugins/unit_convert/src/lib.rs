//! `unit_convert`: converts a value from one unit of measurement to another.

use art_sdk::prelude::*;

mod convert;
mod dimension;
mod error;
mod io;
mod lookup;
mod parse;
mod tokens;
mod units;

#[cfg(test)]
mod tests;

use io::{UnitConvertInput, UnitConvertOutput};

/// Converts a value from one unit of measurement to another: length and distance (miles to kilometres, feet to metres),
/// weight and mass (pounds to kilograms), temperature (Fahrenheit to Celsius), speed (mph to km/h), area, volume
/// (gallons, cups to litres), time, pressure, energy, power, force, data size (megabytes, gigabits), angle, frequency and
/// fuel economy (mpg to L/100 km). Use it for how many of one unit make another, or to convert or express a quantity in
/// other units. Returns the converted number and a sentence with both quantities.
#[tool(
    example(
        input = r#"{"value":72,"from":"mph","to":"m/s"}"#,
        output = r#"{"result":32.18688,"text":"72 mile/hour = 32.18688 metre/second","dimension":"speed"}"#,
        description = "How fast is 72 miles per hour in metres per second?"
    ),
    example(
        input = r#"{"value":98.6,"from":"degrees fahrenheit","to":"celsius"}"#,
        output = r#"{"result":37,"text":"98.6 degree Fahrenheit = 37 degree Celsius","dimension":"temperature"}"#,
        description = "Convert 98.6 degrees Fahrenheit to Celsius"
    ),
    example(
        input = r#"{"value":30,"from":"mpg","to":"L/100km"}"#,
        output = r#"{"result":7.84048611111111,"text":"30 mile per gallon (US) = 7.84048611111111 litre per 100 kilometres","dimension":"fuel economy"}"#,
        description = "What is 30 miles per gallon in litres per 100 km?"
    ),
    example(
        input = r#"{"value":5,"from":"pounds","to":"kg"}"#,
        output = r#"{"result":2.26796185,"text":"5 pound = 2.26796185 kilogram","dimension":"mass"}"#,
        description = "How many kilograms are 5 pounds?"
    ),
    limits(fuel = 100_000_000, memory = "16 MiB", timeout = "2s")
)]
fn unit_convert(input: UnitConvertInput) -> Result<UnitConvertOutput> {
    convert::convert(&input).map_err(ToolError::validation)
}
