//! Numbers with units, for people.

/// Formats a number with a decimal prefix, such as `1.2 G` for 1 234 567 890.
#[must_use]
pub fn count(number: u64) -> String {
    with_unit(number, 1_000.0, &["", " k", " M", " G", " T"])
}

/// Formats a size in bytes, such as `1.5 MiB` for 1 572 864.
#[must_use]
pub fn bytes(number: u64) -> String {
    with_unit(number, 1_024.0, &[" B", " KiB", " MiB", " GiB", " TiB"])
}

/// Formats a duration in microseconds, such as `1.2 ms` for 1 234. A run that waits for a person can take hours or days.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "the result has one decimal")]
pub fn micros(number: u64) -> String {
    let seconds = number as f64 / 1e6;
    let (minutes, hours) = (seconds / 60.0, seconds / 3_600.0);
    if rounded_to_tenth(seconds) < 60.0 {
        with_unit(number, 1_000.0, &[" us", " ms", " s"])
    } else if rounded_to_tenth(minutes) < 60.0 {
        format!("{minutes:.1} min")
    } else if rounded_to_tenth(hours) < 24.0 {
        format!("{hours:.1} h")
    } else {
        format!("{:.1} days", hours / 24.0)
    }
}

/// Formats an amount in US dollars, such as `$1.25`, or `$0.0031` if it is less than ten cents.
#[must_use]
pub fn dollars(amount: f64) -> String {
    if amount < 0.1 {
        format!("${amount:.4}")
    } else {
        format!("${amount:.2}")
    }
}

/// Formats a duration in milliseconds, such as `3 s` for 3 000 and `1.2 s` for 1 234.
#[must_use]
pub fn millis(number: u64) -> String {
    let tenths_of_seconds = number.saturating_add(50) / 100;
    match (tenths_of_seconds / 10, tenths_of_seconds % 10) {
        (seconds, 0) => format!("{seconds} s"),
        (seconds, tenths) => format!("{seconds}.{tenths} s"),
    }
}

/// Returns how long ago `timestamp`, in milliseconds since the epoch, was, such as `5 min ago`.
#[must_use]
pub fn ago(timestamp: art_core::Timestamp) -> String {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let seconds = now.as_secs().saturating_sub(timestamp / 1_000);
    format!("{} ago", in_largest_unit(seconds))
}

/// Returns when `timestamp`, in milliseconds since the epoch, will be, such as `in 5 min`, or `now` if it has passed.
#[must_use]
pub fn from_now(timestamp: art_core::Timestamp) -> String {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    match (timestamp / 1_000).saturating_sub(now.as_secs()) {
        0 => "now".to_owned(),
        seconds => format!("in {}", in_largest_unit(seconds)),
    }
}

/// Formats a duration in its largest unit, rounded down: 90 minutes are `1 h`.
fn in_largest_unit(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        86_400..172_800 => "1 day".to_owned(),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Formats `number` in the smallest of the `units` in which it is less than `factor` after rounding to one decimal, or else in
/// the largest. The first of the `units` is the unit of `number`, and each other is `factor` times as large as the one before.
#[expect(clippy::cast_precision_loss, reason = "the result has one decimal")]
fn with_unit(number: u64, factor: f64, units: &[&str]) -> String {
    let mut value = number as f64;
    let mut unit = 0;
    while rounded_to_tenth(value) >= factor && unit + 1 < units.len() {
        value /= factor;
        unit += 1;
    }
    let unit_text = units.get(unit).copied().unwrap_or_default();
    if unit == 0 {
        format!("{number}{unit_text}")
    } else {
        format!("{value:.1}{unit_text}")
    }
}

/// Returns the value as it is shown with one decimal.
fn rounded_to_tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_unchanged() {
        assert_eq!(
            (count(999), bytes(1_023), micros(0)),
            ("999".into(), "1023 B".into(), "0 us".into())
        );
    }

    #[test]
    fn long_durations_are_in_minutes_hours_or_days() {
        let texts = [59, 90, 93_600, 200_000].map(|seconds| micros(seconds * 1_000_000));
        assert_eq!(texts, ["59.0 s", "1.5 min", "1.1 days", "2.3 days"]);
        assert_eq!(
            [3_600, 86_400, 172_800].map(in_largest_unit),
            ["1 h", "1 day", "2 days"]
        );
    }

    #[test]
    fn a_number_that_rounds_up_to_the_next_unit_is_shown_in_it() {
        assert_eq!(
            (count(999_949), count(999_950), bytes((1 << 20) - 1)),
            ("999.9 k".into(), "1.0 M".into(), "1.0 MiB".into())
        );
        let texts = [999_960, 59_940_000, 59_960_000, 3_597_500_000, 86_399_000_000].map(micros);
        assert_eq!(texts, ["1.0 s", "59.9 s", "1.0 min", "1.0 h", "1.0 days"]);
    }

    #[test]
    fn seconds_have_a_decimal_unless_it_is_zero() {
        assert_eq!([millis(0), millis(3_000), millis(1_234)], ["0 s", "3 s", "1.2 s"]);
    }

    #[test]
    fn large_numbers_have_one_decimal() {
        assert_eq!(
            (count(1_234_567), bytes(1_572_864), micros(1_234)),
            ("1.2 M".into(), "1.5 MiB".into(), "1.2 ms".into())
        );
    }
}
