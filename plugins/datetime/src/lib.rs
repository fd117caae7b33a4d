//! `datetime`: date and time arithmetic.

use std::time::SystemTime;

use art_sdk::prelude::*;
use jiff::Timestamp;

mod error;
mod io;
mod moment;
mod operations;
mod words;
mod zone;

#[cfg(test)]
mod tests;

use error::DateError;
use io::{DatetimeInput, DatetimeOutput};

/// Answers questions about dates and times: how many days, weeks, months, years or hours lie between two dates, what date
/// it is some days before or after another one, which weekday (day of the week) a date falls on, what time it is in
/// another time zone or city, and what the current date and time is now or today. Also reads and formats dates. Knows
/// leap years, time zones and daylight saving time. Returns the answer as text in `result`, with the number, the weekday
/// and the breakdown beside it.
#[tool(
    example(
        input = r#"{"operation":"difference","start":"2024-02-27","end":"2026-11-21","unit":"days"}"#,
        output = r#"{"result":"998 days","value":998,"breakdown":"2 years, 8 months, 25 days"}"#,
        description = "How many days are between 2024-02-27 and 2026-11-21?"
    ),
    example(
        input = r#"{"operation":"add","date":"2026-01-31","amount":1,"unit":"months"}"#,
        output = r#"{"result":"2026-02-28","weekday":"Saturday"}"#,
        description = "What date is one month after 31 January 2026?"
    ),
    example(
        input = r#"{"operation":"convert","date":"2026-11-21T15:00","from_zone":"Europe/Berlin","to_zone":"Asia/Tokyo"}"#,
        output = r#"{"result":"2026-11-21T23:00:00+09:00","weekday":"Saturday","zone":"Asia/Tokyo","unix_seconds":1795269600}"#,
        description = "What time is it in Tokyo when it is 3 pm in Berlin?"
    ),
    example(
        input = r#"{"operation":"weekday","date":"2024-02-29"}"#,
        output = r#"{"result":"Thursday","weekday":"Thursday","week":9,"day_of_year":60}"#,
        description = "Which day of the week was 29 February 2024?"
    ),
    limits(fuel = 200_000_000, memory = "32 MiB", timeout = "5s")
)]
fn datetime(input: DatetimeInput) -> Result<DatetimeOutput> {
    operations::run(&input, &now).map_err(ToolError::validation)
}

/// The clock of the host.
fn now() -> Result<Timestamp, DateError> {
    Timestamp::try_from(SystemTime::now()).map_err(DateError::Range)
}
