//! The input and the output of the tool. The field descriptions contain the words that people use, because tools are
//! ranked by comparing words with the question.

use art_sdk::{args, output, serde_json};

/// One question about dates.
#[args]
#[derive(Clone, Default)]
pub(crate) struct DatetimeInput {
    /// What to do: `difference` how long, how many days, weeks, months, years or hours lie between two dates, from one to the other, until or since; `add` a time to a date: what date is it after, later, from, in; `subtract` it: before, earlier, ago; `convert` to another time zone; `weekday` which day of the week; `parse` reads a date and returns it in ISO 8601; `format` writes it in another form; `now` the current date and time, today.
    pub(crate) operation: Operation,
    /// The earlier date for `difference`: from, since, between. ISO 8601 such as `2024-02-27T14:30`, or as people write it: `27 February 2024`, `3 March`, `3 pm`, `today`, `Christmas`.
    pub(crate) start: Option<String>,
    /// The later date for `difference`: to, until, and. In the same forms as `start`.
    pub(crate) end: Option<String>,
    /// The date for every operation except `difference` and `now`. ISO 8601 such as `2026-11-21T14:30:00+01:00`, or as people write it: `21 November 2026 at 3 pm`, `March 3`, `15:00`, `now`, `tomorrow`, `next Friday`. A day without a year is the next one, a time without a day is today.
    pub(crate) date: Option<String>,
    /// How many units to `add` or `subtract`: a whole number.
    pub(crate) amount: Option<f64>,
    /// The unit of `amount`, or of the answer of `difference`.
    #[serde(default)]
    pub(crate) unit: Unit,
    /// The time zone of dates without one, such as `Europe/Berlin`, `New York` or `+05:30`. Defaults to UTC.
    pub(crate) from_zone: Option<String>,
    /// The time zone of the answer for `convert` and `now`, such as `Asia/Tokyo`, `London` or `-08:00`.
    pub(crate) to_zone: Option<String>,
    /// The strftime pattern for `format`: `%d.%m.%Y`, `%A, %B %-d, %Y`, `%H:%M`. Defaults to ISO 8601.
    pub(crate) format: Option<String>,
}

/// The operation to run.
#[args]
#[output]
#[derive(Clone, Copy, Default, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Operation {
    Difference,
    Add,
    Subtract,
    Convert,
    Weekday,
    Parse,
    Format,
    #[default]
    Now,
}

/// A unit of time.
#[args]
#[output]
#[derive(Clone, Copy, Default, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    Years,
    Months,
    Weeks,
    #[default]
    Days,
    Hours,
    Minutes,
    Seconds,
}

/// The answer.
#[output]
#[derive(Default)]
pub(crate) struct DatetimeOutput {
    /// The answer: `998 days`, a weekday, or a date in ISO 8601.
    pub(crate) result: String,
    /// The number of units for `difference`, with a fraction if they do not divide evenly; negative if `end` is before `start`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<serde_json::Number>,
    /// The difference in years, months, days and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) breakdown: Option<String>,
    /// The day of the week of the date in `result`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) weekday: Option<String>,
    /// The week of the year by ISO 8601, 1 to 53.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) week_number: Option<i8>,
    /// The day of the year, 1 to 366.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) day_of_year: Option<i16>,
    /// The time zone of `result`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) zone: Option<String>,
    /// Seconds since 1970-01-01 UTC, if the point in time is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unix_seconds: Option<i64>,
}
