//! Why a quantity cannot be converted.

use thiserror::Error;

/// A conversion that cannot be made.
#[derive(Clone, Debug, Error, PartialEq)]
pub(crate) enum ConvertError {
    #[error("unknown unit `{unit}` in `{field}`{near}")]
    Unknown {
        /// `from` or `to`.
        field: &'static str,
        /// The part that is not known, shortened.
        unit: String,
        /// Units with a similar name.
        near: String,
    },
    #[error("unit `{unit}` in `{field}` is ambiguous: write {choice}")]
    Ambiguous {
        /// `from` or `to`.
        field: &'static str,
        /// As written.
        unit: String,
        /// What it could mean.
        choice: String,
    },
    #[error("cannot read the unit `{text}` in `{field}`: {reason}")]
    Syntax {
        /// `from` or `to`.
        field: &'static str,
        /// The whole unit, shortened.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    #[error("cannot convert {from} to {to}: `{from_unit}` measures {from}, `{to_unit}` measures {to}")]
    Mismatch {
        /// What `from` measures.
        from: String,
        /// What `to` measures.
        to: String,
        /// Its full name.
        from_unit: String,
        /// Its full name.
        to_unit: String,
    },
    #[error("the result is too large for a 64-bit float")]
    Overflow,
    #[error("a fuel economy of 0 has no inverse")]
    ZeroFuel,
    #[error("{0} is below absolute zero")]
    BelowZero(String),
}
