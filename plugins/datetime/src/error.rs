//! The errors of the tool.

use thiserror::Error;

/// The reason why a question about dates cannot be answered.
#[derive(Debug, Error)]
pub(crate) enum DateError {
    #[error("operation `{operation}` needs `{field}`: {hint}")]
    MissingField {
        /// The operation, as in the input.
        operation: &'static str,
        /// The field of the input that the operation needs.
        field: &'static str,
        /// A description of the expected value.
        hint: &'static str,
    },
    #[error(
        "cannot read `{text}` in `{field}` as a date{reason}; write ISO 8601, for example `2026-11-21` or `2026-11-21T14:30:00+01:00`"
    )]
    UnreadableDate {
        /// The field that contains the date.
        field: &'static str,
        /// The given text, shortened.
        text: String,
        /// Why it is no date, in brackets after a blank, or an empty text.
        reason: String,
    },
    #[error("`year` does not go together with `{text}` in `{field}`: leave out `year`, or give a day and a month")]
    YearWithWeekday {
        /// The field that contains the weekday.
        field: &'static str,
        /// The given text, shortened.
        text: String,
    },
    #[error("unknown time zone `{name}`{suggestion}; use a name such as `Europe/Berlin` or an offset such as `+02:00`")]
    UnknownZone {
        /// The given text, shortened.
        name: String,
        /// The text `, did you mean` with the names of similar zones, or an empty text.
        suggestion: String,
    },
    #[error("`amount` is {0}: give a whole number, if necessary of a smaller `unit`")]
    FractionalAmount(f64),
    #[error("`format` is not a strftime pattern: {0}")]
    BadFormat(jiff::Error),
    #[error(
        "`format` has `{0}`, which is no directive of strftime: write `%Y-%m-%d` for 2026-11-21, `%H:%M` for 14:30, `%B` for November"
    )]
    NoDirective(String),
    #[error("`format` has more than {0} characters")]
    FormatTooLong(usize),
    #[error("the date is out of range, which is year -9999 to 9999: {0}")]
    OutOfRange(jiff::Error),
}
