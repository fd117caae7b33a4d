//! The input and the output of the tool. The field descriptions contain the words that people use in questions, because the
//! host looks for the tool whose words are most similar to a question.

use art_sdk::{Numeric, args, output, promise, schemars, serde_json::json};

/// One question about dates.
#[args]
#[derive(Clone, Default)]
pub(crate) struct DatetimeInput {
    /// What to do: `difference` how long, how many days, weeks, months, years or hours lie between two dates, from one to the other, until or since; `add` a time to a date: what date is it after, later, from, in; `subtract` it: before, earlier, ago; `convert` to another time zone; `weekday` which day of the week; `week_number`, `day_of_year`, `quarter`; `leap_year` whether a year is one; `parse` reads a date and returns it in ISO 8601; `format` writes it in another form; `now` the current date and time, today.
    pub(crate) operation: Operation,
    /// The earlier date for `difference`: from, since, between. ISO 8601 such as `2024-02-27T14:30`, or as people write it: `27 February 2024`, `3 March`, `3 pm`, `today`, `Christmas`.
    pub(crate) start: Option<String>,
    /// The later date for `difference`: to, until, and. In the same forms as `start`.
    pub(crate) end: Option<String>,
    /// The date for every operation except `difference` and `now`. ISO 8601 such as `2026-11-21T14:30:00+01:00`, or as people write it: `21 November 2026 at 3 pm`, `March 3`, `15:00`, `now`, `tomorrow`, `next Friday`. A day without a year is the next one, a time without a day is today.
    pub(crate) date: Option<String>,
    /// The time of day of `date`, if it is given separately: `3 pm`, `15:00`, `noon`.
    pub(crate) time: Option<String>,
    /// The year of dates without one, such as `Christmas`; for `leap_year` the year itself.
    pub(crate) year: Option<i16>,
    /// How many units to `add` or `subtract`: a whole number.
    pub(crate) amount: Option<Numeric>,
    /// The unit of `amount`, by default days, or of the answer of `difference`. Working days are Monday to Friday.
    pub(crate) unit: Option<Unit>,
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
    WeekNumber,
    DayOfYear,
    Quarter,
    LeapYear,
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
    WorkingDays,
    Hours,
    Minutes,
    Seconds,
}

/// The answer.
#[output]
#[schemars(transform = add_promises)]
pub(crate) struct DatetimeOutput {
    /// The answer: a number of units, or text such as a weekday, a date or `42 weeks, 4 days (42.57 weeks)`.
    pub(crate) result: Answer,
}

/// A number or a text.
#[output]
#[derive(Clone, PartialEq)]
#[serde(untagged)]
pub(crate) enum Answer {
    /// A number, negative if `end` is before `start`.
    Number(i64),
    /// A text.
    Text(String),
}

/// Adds promises to the schema of the output. A promise says for some values of the input, such as an operation, whether `result`
/// is a number or a text. A `difference` in working days or without a unit (`null`) is a text. There is no promise for a
/// `difference` in another unit: it is a number if it is whole and otherwise a text, and the input does not say which.
fn add_promises(schema: &mut schemars::Schema) {
    let result_is = |json_type: &str| json!({"properties": {"result": {"type": json_type}}});
    let number_operations = ["week_number", "day_of_year", "quarter"];
    promise(schema, json!({"operation": number_operations}), result_is("integer"));
    let text_operations = [
        "add",
        "subtract",
        "convert",
        "weekday",
        "leap_year",
        "parse",
        "format",
        "now",
    ];
    promise(schema, json!({"operation": text_operations}), result_is("string"));
    let difference_in_words = json!({"operation": ["difference"], "unit": ["working_days", null]});
    promise(schema, difference_in_words, result_is("string"));
}
