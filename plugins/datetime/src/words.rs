//! Formats spans of time in words.

use jiff::Span;

use crate::io::Unit;

impl Unit {
    /// Returns the name of the unit in the plural.
    pub(crate) fn plural_name(self) -> &'static str {
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

    /// Returns the same unit of jiff, which has no working days: they become days.
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
pub(crate) fn format_breakdown(span: &Span) -> String {
    let absolute = span.abs();
    let parts = [
        (i64::from(absolute.get_years()), "year"),
        (i64::from(absolute.get_months()), "month"),
        (i64::from(absolute.get_weeks()), "week"),
        (i64::from(absolute.get_days()), "day"),
        (i64::from(absolute.get_hours()), "hour"),
        (absolute.get_minutes(), "minute"),
        (absolute.get_seconds(), "second"),
        (absolute.get_milliseconds(), "millisecond"),
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
pub(crate) fn format_amount(value: f64, unit: Unit) -> String {
    // Adding zero makes a negative zero positive.
    let rounded = (value * 100.0).round() / 100.0 + 0.0;
    let name = unit.plural_name();
    let name = if rounded.abs() == 1.0 {
        name.trim_end_matches('s')
    } else {
        name
    };
    format!("{rounded} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_is_singular_if_the_amount_is_rounded_to_one_or_minus_one() {
        for (value, text) in [
            (1.0, "1 week"),
            (1.0001, "1 week"),
            (-0.999, "-1 week"),
            (1.01, "1.01 weeks"),
            (142.5714, "142.57 weeks"),
        ] {
            assert_eq!(format_amount(value, Unit::Weeks), text);
        }
    }

    #[test]
    fn an_amount_that_is_rounded_to_zero_has_no_sign() {
        for value in [0.0, -0.0, -0.001] {
            assert_eq!(format_amount(value, Unit::Days), "0 days");
        }
    }
}
