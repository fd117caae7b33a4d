//! Why there is no answer.

use thiserror::Error;

/// A question about dates that cannot be answered.
#[derive(Debug, Error)]
pub(crate) enum DateError {
    #[error("operation `{operation}` needs `{field}`: {hint}")]
    Missing {
        /// As in the input.
        operation: &'static str,
        /// The field that was left out.
        field: &'static str,
        /// What to put there.
        hint: &'static str,
    },
    #[error(
        "cannot read `{text}` in `{field}` as a date{reason}; write ISO 8601, for example `2026-11-21` or `2026-11-21T14:30:00+01:00`"
    )]
    Date {
        /// The field it stands in.
        field: &'static str,
        /// As given, shortened.
        text: String,
        /// What is wrong with it, when it looks like a date.
        reason: String,
    },
    #[error("unknown time zone `{name}`{near}; use a name such as `Europe/Berlin` or an offset such as `+02:00`")]
    Zone {
        /// As given, shortened.
        name: String,
        /// Zones with a similar name.
        near: String,
    },
    #[error("`amount` is {0}: give a whole number and a smaller `unit` for parts")]
    Fraction(f64),
    #[error("`format` is not a strftime pattern: {0}")]
    Format(jiff::Error),
    #[error("`format` has more than {0} characters")]
    LongFormat(usize),
    #[error("the date is out of range, which is year -9999 to 9999: {0}")]
    Range(jiff::Error),
}
