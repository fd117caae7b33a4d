//! Finds time zones by name.

use jiff::tz::{self, Offset, TimeZone};

use crate::error::DateError;

/// Abbreviations that are unambiguous in practice. `CST` and `IST` are not.
const ABBREVIATIONS: [(&str, &str); 18] = [
    ("et", "America/New_York"),
    ("est", "America/New_York"),
    ("edt", "America/New_York"),
    ("ct", "America/Chicago"),
    ("cdt", "America/Chicago"),
    ("mdt", "America/Denver"),
    ("pt", "America/Los_Angeles"),
    ("pst", "America/Los_Angeles"),
    ("pdt", "America/Los_Angeles"),
    ("bst", "Europe/London"),
    ("cest", "Europe/Berlin"),
    ("msk", "Europe/Moscow"),
    ("jst", "Asia/Tokyo"),
    ("kst", "Asia/Seoul"),
    ("hkt", "Asia/Hong_Kong"),
    ("sgt", "Asia/Singapore"),
    ("aest", "Australia/Sydney"),
    ("aedt", "Australia/Sydney"),
];

/// Large cities after which no zone is named.
const CITIES: [(&str, &str); 20] = [
    ("san_francisco", "America/Los_Angeles"),
    ("seattle", "America/Los_Angeles"),
    ("las_vegas", "America/Los_Angeles"),
    ("houston", "America/Chicago"),
    ("dallas", "America/Chicago"),
    ("boston", "America/New_York"),
    ("washington", "America/New_York"),
    ("miami", "America/New_York"),
    ("montreal", "America/Toronto"),
    ("rio_de_janeiro", "America/Sao_Paulo"),
    ("barcelona", "Europe/Madrid"),
    ("milan", "Europe/Rome"),
    ("munich", "Europe/Berlin"),
    ("geneva", "Europe/Zurich"),
    ("cape_town", "Africa/Johannesburg"),
    ("mumbai", "Asia/Kolkata"),
    ("delhi", "Asia/Kolkata"),
    ("beijing", "Asia/Shanghai"),
    ("osaka", "Asia/Tokyo"),
    ("hanoi", "Asia/Bangkok"),
];

/// Maximum number of similar names in an error message.
const MAX_SIMILAR: usize = 5;

/// Finds the zone for `Europe/Berlin`, `Berlin`, `Mumbai`, `UTC`, `PST`, `+05:30` or `UTC-3`.
pub(crate) fn find(name: &str) -> Result<TimeZone, DateError> {
    let name = name.trim();
    let key = name.to_lowercase().replace(' ', "_");
    if matches!(key.as_str(), "utc" | "gmt" | "z" | "zulu" | "etc/utc") {
        return Ok(TimeZone::UTC);
    }
    if let Some(offset) = offset(&key) {
        return Ok(TimeZone::fixed(offset));
    }
    let abbreviation = ABBREVIATIONS
        .iter()
        .chain(&CITIES)
        .find(|(short, _)| *short == key)
        .map(|(_, name)| (*name).to_owned());
    let found = abbreviation
        .or_else(|| by_name(&key))
        .and_then(|name| TimeZone::get(&name).ok());
    found.ok_or_else(|| DateError::Zone {
        name: name.chars().take(60).collect(),
        near: similar(&key),
    })
}

/// Returns the name to show for `zone`.
pub(crate) fn name(zone: &TimeZone, offset: Offset) -> String {
    zone.iana_name().map_or_else(|| offset.to_string(), str::to_owned)
}

fn names() -> impl Iterator<Item = String> {
    tz::db().available().map(|name| name.to_string())
}

/// Finds a zone by its whole name, else by its last part, which is a city.
fn by_name(key: &str) -> Option<String> {
    names()
        .find(|name| name.eq_ignore_ascii_case(key))
        .or_else(|| names().find(|name| city(name) == key))
}

fn city(name: &str) -> String {
    name.rsplit('/').next().unwrap_or_default().to_lowercase()
}

/// Parses an offset such as `+2`, `-0330` or `utc+05:30`.
fn offset(key: &str) -> Option<Offset> {
    let key = key
        .strip_prefix("utc")
        .or_else(|| key.strip_prefix("gmt"))
        .unwrap_or(key);
    let (sign, digits) = match key.chars().next()? {
        '+' => (1, key.get(1..)?),
        '-' => (-1, key.get(1..)?),
        '−' => (-1, key.strip_prefix('−')?),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() > 2 => digits.split_at_checked(digits.len() - 2)?,
        None => (digits, "0"),
    };
    let all_digits = |text: &str| !text.is_empty() && text.len() <= 2 && text.chars().all(|c| c.is_ascii_digit());
    if !all_digits(hours) || !all_digits(minutes) {
        return None;
    }
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let valid = hours <= 14 && minutes < 60;
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60))
        .ok()
        .filter(|_| valid)
}

fn similar(key: &str) -> String {
    let stem: String = key.rsplit('/').next().unwrap_or_default().chars().take(4).collect();
    if stem.chars().count() < 3 {
        return String::new();
    }
    let names: Vec<String> = names()
        .filter(|name| city(name).contains(&stem))
        .take(MAX_SIMILAR)
        .map(|name| format!("`{name}`"))
        .collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(", did you mean {}", names.join(", "))
    }
}
