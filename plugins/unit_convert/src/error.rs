//! The errors of a conversion.

use thiserror::Error;

/// A conversion that cannot be made.
#[derive(Clone, Debug, Error, PartialEq)]
pub(crate) enum ConvertError {
    #[error("unknown unit `{unit}` in `{field}`{suggestion}")]
    Unknown {
        /// `from`, `to` or `extra_unit`.
        field: &'static str,
        /// The words of the field that name no unit, shortened.
        unit: String,
        /// The question whether a similar name was meant, or an empty text.
        suggestion: String,
    },
    #[error("unit `{unit}` in `{field}` is ambiguous: write {choice}")]
    Ambiguous {
        /// `from`, `to` or `extra_unit`.
        field: &'static str,
        /// The unit as written.
        unit: String,
        /// The units that it could mean.
        choice: String,
    },
    #[error("cannot parse the unit `{text}` in `{field}`: {reason}")]
    Syntax {
        /// `from`, `to` or `extra_unit`.
        field: &'static str,
        /// The whole unit, shortened.
        text: String,
        /// What is wrong, such as `a unit is missing`.
        reason: &'static str,
    },
    #[error("cannot convert {from} to {to}: `{from_unit}` measures {from}, `{to_unit}` measures {to}")]
    Mismatch {
        /// What the unit in the field `from` measures, such as `length`.
        from: String,
        /// What the unit in the field `to` measures.
        to: String,
        /// The full name of the unit in the field `from`.
        from_unit: String,
        /// The full name of the unit in the field `to`.
        to_unit: String,
    },
    #[error("give both `extra_value` and `extra_unit`, or neither")]
    IncompleteExtra,
    #[error("`from` has two quantities, and `extra_value` would be a third: leave out `extra_value` and `extra_unit`")]
    ThirdQuantity,
    #[error("the result is too large for a 64-bit float")]
    Overflow,
    #[error("a fuel economy of 0 has no inverse")]
    ZeroFuelEconomy,
    #[error("{0} is below absolute zero")]
    BelowAbsoluteZero(String),
}
