//! The input and the output of the tool.

use art_sdk::{Numeric, args, output, serde_json};

/// A quantity and the unit to convert it to.
#[args]
pub(crate) struct UnitConvertInput {
    /// The number to convert.
    pub(crate) value: Numeric,
    /// The unit of `value`: a name, plural or symbol such as `miles`, `lb`, `°F`, or a compound such as `miles per hour`, `km/h`, `kg/m^3`.
    pub(crate) from: String,
    /// The unit to convert to, in the same forms, or two units such as `feet and inches`.
    pub(crate) to: String,
    /// A second number that is added, as the 11 of `5 feet 11 inches`.
    pub(crate) extra_value: Option<Numeric>,
    /// The unit of `extra_value`.
    pub(crate) extra_unit: Option<String>,
}

/// The converted quantity.
#[output]
pub(crate) struct UnitConvertOutput {
    /// The number in the unit `to`, to fifteen significant digits; text for two units, such as `5 feet 11 inches`.
    pub(crate) result: Converted,
    /// Says that a unit with several meanings, such as the gallon, was taken as the one of the United States.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// A number in one unit, or a text with two.
#[output]
#[serde(untagged)]
pub(crate) enum Converted {
    /// The number of units.
    Number(serde_json::Number),
    /// The numbers of both units.
    Text(String),
}
