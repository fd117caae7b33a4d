//! The input and the output of the tool.

use art_sdk::{args, output, serde_json};

/// A quantity and the unit to convert it to.
#[args]
pub(crate) struct UnitConvertInput {
    /// The number to convert.
    pub(crate) value: f64,
    /// The unit of `value`: a name, plural or symbol such as `miles`, `lb`, `°F`, or a compound such as `miles per hour`, `km/h`, `kg/m^3`.
    pub(crate) from: String,
    /// The unit to convert to, in the same forms.
    pub(crate) to: String,
}

/// The converted quantity.
#[output]
pub(crate) struct UnitConvertOutput {
    /// The number in the unit `to`, to fifteen significant digits.
    pub(crate) result: serde_json::Number,
    /// Both quantities with the full names of their units, which shows how the units were understood.
    pub(crate) text: String,
    /// The measured quantity: length, speed and so on.
    pub(crate) dimension: String,
}
