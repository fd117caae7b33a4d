//! Parses dates and times as in RFC 3339.

use std::ops::Range;

use jiff::SignedDuration;
use jiff::civil::{self, Date, DateTime};

/// The expected form of a date, for messages.
pub(super) const EXPECTED_DATE: &str = "a date such as 2026-01-31";
/// The expected form of a date and time, for messages.
pub(super) const EXPECTED_DATE_TIME: &str = "a date and time such as 2026-01-31T14:30:00+01:00";

/// Parses a `full-date` such as `2026-01-31`. Returns `None` if the text has another form or is no day of the calendar.
pub(super) fn parse_date(text: &str) -> Option<Date> {
    let has_date_form = matches_template(text, "0000-00-00");
    let number = |range: Range<usize>| text.get(range)?.parse::<i8>().ok();
    let year = text.get(..4).filter(|_| has_date_form)?.parse().ok()?;
    Date::new(year, number(5..7)?, number(8..10)?).ok()
}

/// Parses a `date-time` and returns its instant, as the time since the beginning of 1970 in UTC. The fraction of a second may
/// have up to nine digits. A leap second is refused, because most programs cannot read it.
pub(super) fn parse_date_time(text: &str) -> Option<SignedDuration> {
    let (day, rest) = (parse_date(text.get(..10)?)?, text.get(10..)?);
    let rest = rest.strip_prefix(['T', 't'])?;
    let (clock, rest) = (rest.get(..8)?, rest.get(8..)?);
    let (nanoseconds, zone) = split_fraction(rest)?;
    let local_time = day.to_datetime(parse_clock(clock, nanoseconds)?);
    Some(local_time.duration_since(EPOCH) - parse_offset(zone)?)
}

const EPOCH: DateTime = civil::date(1970, 1, 1).at(0, 0, 0, 0);

/// Parses a time of day such as `14:30:00`, to which `nanoseconds` are added.
fn parse_clock(text: &str, nanoseconds: i32) -> Option<civil::Time> {
    if !matches_template(text, "00:00:00") {
        return None;
    }
    let number = |range: Range<usize>| text.get(range)?.parse::<i8>().ok();
    civil::Time::new(number(0..2)?, number(3..5)?, number(6..8)?, nanoseconds).ok()
}

/// Returns the fraction of a second in nanoseconds, and the zone, which is the rest of the text.
fn split_fraction(text: &str) -> Option<(i32, &str)> {
    let Some(text) = text.strip_prefix('.') else {
        return Some((0, text));
    };
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (digits, zone) = text.split_at_checked(end)?;
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    Some((format!("{digits:0<9}").parse().ok()?, zone))
}

/// Returns how far a zone is ahead of UTC.
fn parse_offset(zone: &str) -> Option<SignedDuration> {
    if matches!(zone, "Z" | "z") {
        return Some(SignedDuration::ZERO);
    }
    let sign = match zone.get(..1)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let clock = parse_clock(&format!("{}:00", zone.get(1..)?), 0)?;
    let minutes = i64::from(clock.hour()) * 60 + i64::from(clock.minute());
    Some(SignedDuration::from_mins(sign * minutes))
}

/// Returns whether `text` is equal to `template`, with any digit where the template has a `0`.
fn matches_template(text: &str, template: &str) -> bool {
    let matches = |(byte, expected): (u8, u8)| match expected {
        b'0' => byte.is_ascii_digit(),
        other => byte == other,
    };
    text.len() == template.len() && text.bytes().zip(template.bytes()).all(matches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_a_day_of_the_calendar_in_ten_characters() {
        for text in ["2026-01-31", "2024-02-29", "0000-01-01", "9999-12-31"] {
            assert_eq!(parse_date(text).map(|date| date.to_string()).as_deref(), Some(text));
        }
        for text in [
            "2026-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-1-31",
            "20260131",
            "+2026-1-31",
            "2026-01-31T00:00:00Z",
            "",
            // The `３` is a full-width digit.
            "2026-01-３1",
        ] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }

    #[test]
    fn a_date_and_time_has_seconds_and_an_offset() {
        for text in [
            "2026-01-31T14:30:00Z",
            "2026-01-31t14:30:00z",
            "2026-01-31T14:30:00.123456789+05:30",
            "9999-12-31T23:59:59-23:59",
            "0000-01-01T00:00:00+23:59",
            "2026-01-31T14:30:00-00:00",
        ] {
            assert!(parse_date_time(text).is_some(), "{text}");
        }
        for text in [
            "2026-01-31",
            "2026-01-31T14:30:00",
            "2026-01-31T14:30Z",
            "2026-01-31 14:30:00Z",
            "2026-01-31T24:00:00Z",
            "2026-01-31T23:59:60Z",
            "2026-01-31T14:30:00.Z",
            "2026-01-31T14:30:00.1234567890Z",
            "2026-01-31T14:30:00+0100",
            "2026-01-31T14:30:00+24:00",
            "2026-01-31T14:30:00Z[UTC]",
            "2026-02-30T14:30:00Z",
            "2026-01-31T14:30:00+1é:0",
            "2026-01-31é",
        ] {
            assert_eq!(parse_date_time(text), None, "{text}");
        }
    }

    #[test]
    fn times_compare_by_their_instant() {
        assert_eq!(
            parse_date_time("2026-01-31T14:30:00+01:00"),
            parse_date_time("2026-01-31T13:30:00.000Z")
        );
        assert!(parse_date_time("2026-01-31T00:30:00+01:00") < parse_date_time("2026-01-31T00:00:00Z"));
        assert_eq!(
            parse_date_time("1970-01-01T00:00:01.5Z"),
            Some(SignedDuration::from_millis(1_500))
        );
    }
}
