//! Formats spans of time in words.

use jiff::Span;

use crate::io::Unit;

impl Unit {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Years => "years",
            Self::Months => "months",
            Self::Weeks => "weeks",
            Self::Days => "days",
            Self::WorkingDays => "working days",
            Self::Hours => "hours",
            Self::Minutes => "minutes",
            Self::Seconds => "seconds",
        }
    }

    pub(crate) fn to_jiff(self) -> jiff::Unit {
        match self {
            Self::Years => jiff::Unit::Year,
            Self::Months => jiff::Unit::Month,
            Self::Weeks => jiff::Unit::Week,
            Self::Days | Self::WorkingDays => jiff::Unit::Day,
            Self::Hours => jiff::Unit::Hour,
            Self::Minutes => jiff::Unit::Minute,
            Self::Seconds => jiff::Unit::Second,
        }
    }
}

/// Formats a span as `2 years, 8 months, 25 days`, with `minus` before a negative one.
pub(crate) fn breakdown(span: &Span) -> String {
    let size = span.abs();
    let parts = [
        (i64::from(size.get_years()), "year"),
        (i64::from(size.get_months()), "month"),
        (i64::from(size.get_weeks()), "week"),
        (i64::from(size.get_days()), "day"),
        (i64::from(size.get_hours()), "hour"),
        (size.get_minutes(), "minute"),
        (size.get_seconds(), "second"),
        (size.get_milliseconds(), "millisecond"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count != 0)
        .map(|(count, unit)| format_count(*count, unit))
        .collect();
    match parts.is_empty() {
        true => "0 days".to_owned(),
        false if span.is_negative() => format!("minus {}", parts.join(", ")),
        false => parts.join(", "),
    }
}

fn format_count(count: i64, unit: &str) -> String {
    if count == 1 {
        format!("1 {unit}")
    } else {
        format!("{count} {unit}s")
    }
}

/// Formats an amount as `998 days`, `1 day` or `142.57 weeks`, rounded to two decimals.
pub(crate) fn amount(value: f64, unit: Unit) -> String {
    let name = unit.name();
    let name = if value.abs() == 1.0 {
        name.trim_end_matches('s')
    } else {
        name
    };
    format!("{} {name}", (value * 100.0).round() / 100.0)
}
