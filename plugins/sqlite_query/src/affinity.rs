//! The affinities of SQLite: the types to which a column converts the values that are inserted or compared with it.

use graphitesql::Value;

/// The type to which a column converts values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Affinity {
    /// Converts nothing. An expression that is no column has this affinity too.
    Blob,
    Text,
    /// Converts texts that are numbers, and fractions that are whole.
    Numeric,
    Real,
}

impl Affinity {
    /// Returns the affinity of a declared type, by the rules of SQLite.
    pub(crate) fn of_type(declared: &str) -> Self {
        let declared = declared.to_ascii_uppercase();
        let has = |parts: &[&str]| parts.iter().any(|part| declared.contains(part));
        if has(&["INT"]) {
            Self::Numeric
        } else if has(&["CHAR", "CLOB", "TEXT"]) {
            Self::Text
        } else if declared.is_empty() || has(&["BLOB"]) {
            Self::Blob
        } else if has(&["REAL", "FLOA", "DOUB"]) {
            Self::Real
        } else {
            Self::Numeric
        }
    }

    /// Returns whether a column with this affinity stores another value in place of this one.
    pub(crate) fn converts(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Text, Value::Integer(_) | Value::Real(_)) | (Self::Real, Value::Integer(_)) => true,
            (Self::Numeric, Value::Real(number)) => number.fract() == 0.0,
            (Self::Numeric | Self::Real, Value::Text(text)) => text.to_str_lossy().trim().parse::<f64>().is_ok(),
            _ => false,
        }
    }
}
