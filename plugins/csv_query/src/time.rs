//! Parses times as people type them into tables.

/// Parses a time of day or a duration, such as `9:30`, `09:30:15` or `9:30 pm`, and returns its number of seconds. The first part
/// always counts as hours: `45:10` is 45 hours and 10 minutes, also in a table of minutes and seconds.
pub(crate) fn parse_seconds(text: &str) -> Option<u32> {
    let text = text.trim().to_lowercase();
    // With `am` or `pm`, the hour 12 counts as 0, and `hours_to_add` is added to the hour.
    let (clock, hours_to_add) = match (text.strip_suffix("am"), text.strip_suffix("pm")) {
        (Some(clock), _) => (clock, Some(0)),
        (_, Some(clock)) => (clock, Some(12)),
        _ => (text.as_str(), None),
    };
    let parts: Vec<&str> = clock.trim_end().split(':').collect();
    let (hours, minutes, seconds) = match parts.as_slice() {
        [hours, minutes] => (*hours, *minutes, "00"),
        [hours, minutes, seconds] => (*hours, *minutes, *seconds),
        _ => return None,
    };
    // With more digits, the seconds could be too many for a `u32`.
    let hours = parse_digits(hours).filter(|_| hours.len() <= 3)?;
    let hours = match hours_to_add {
        None => hours,
        Some(hours_to_add) if (1..=12).contains(&hours) => hours % 12 + hours_to_add,
        Some(_) => return None,
    };
    Some((hours * 60 + parse_sixtieths(minutes)?) * 60 + parse_sixtieths(seconds)?)
}

/// Parses the time after a date, such as `9:30 pm`, `10:00:00.5`, `10:00Z` or `10:00+02:00`, and returns its number of
/// microseconds in UTC. A time without an offset counts as UTC. The number is negative if it is still the day before in UTC.
pub(crate) fn parse_utc_microseconds(text: &str) -> Option<i64> {
    let (clock, offset) = split_offset(text.trim())?;
    let (clock, microseconds) = match clock.split_once(['.', ',']) {
        Some((clock, decimals)) => (clock, parse_decimals(decimals)?),
        None => (clock, 0),
    };
    Some((i64::from(parse_seconds(clock)?) - offset) * 1_000_000 + i64::from(microseconds))
}

/// Splits a time from the offset after it, such as `Z`, `UTC`, `+02`, `+0200` or `-05:00`, and returns the seconds of the offset.
fn split_offset(text: &str) -> Option<(&str, i64)> {
    if let Some(clock) = ["Z", "z", "UTC", "GMT"].iter().find_map(|zone| text.strip_suffix(zone)) {
        return Some((clock.trim_end(), 0));
    }
    let Some(at) = text.find(['+', '-']) else {
        return Some((text, 0));
    };
    let (clock, offset) = text.split_at_checked(at)?;
    let digits = offset.get(1..)?.replace(':', "");
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { "00" } else { minutes };
    let seconds = i64::from((parse_sixtieths(hours)? * 60 + parse_sixtieths(minutes)?) * 60);
    let is_negative = offset.starts_with('-');
    Some((clock.trim_end(), if is_negative { -seconds } else { seconds }))
}

/// Parses the decimals of a second and returns microseconds. Ignores all decimals after the sixth.
fn parse_decimals(decimals: &str) -> Option<u32> {
    let is_number = !decimals.is_empty() && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let microseconds = format!("{decimals:0<6}");
    parse_digits(microseconds.get(..6)?).filter(|_| is_number)
}

/// Parses minutes, seconds or the hours of an offset: a number of two digits that is less than 60.
fn parse_sixtieths(text: &str) -> Option<u32> {
    parse_digits(text).filter(|number| text.len() == 2 && *number < 60)
}

fn parse_digits(text: &str) -> Option<u32> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_times_have_more_seconds() {
        let texts = [
            "12:00 am", "0:05", "9:30", "09:30:15", "10:00", "12:05 pm", "1:15PM", "23:59", "45:10",
        ];
        let seconds = texts.map(|text| parse_seconds(text).unwrap());
        assert!(seconds.is_sorted(), "{seconds:?}");
    }

    #[test]
    fn texts_that_are_no_times_are_not_parsed() {
        for text in [
            "",
            "10",
            "9:3",
            "16:9",
            "9:60",
            "13:00 pm",
            "0:30 am",
            "pm",
            "9:30:15.5",
            "a:bc",
            "1:2:3:4",
        ] {
            assert_eq!(parse_seconds(text), None, "{text}");
        }
    }
}
