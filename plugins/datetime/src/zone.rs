//! Finds time zones by name.

use jiff::tz::{self, Offset, TimeZone};

use crate::error::DateError;

/// Abbreviations in lower case, with their zones. They are unambiguous in practice; `CST` and `IST` are not, and are missing
/// here.
const ABBREVIATIONS: [(&str, &str); 8] = [
    ("et", "America/New_York"),
    ("ct", "America/Chicago"),
    ("pt", "America/Los_Angeles"),
    ("msk", "Europe/Moscow"),
    ("jst", "Asia/Tokyo"),
    ("kst", "Asia/Seoul"),
    ("hkt", "Asia/Hong_Kong"),
    ("sgt", "Asia/Singapore"),
];

/// Abbreviations in lower case that say whether clocks are set to summer time, with their offsets in minutes: `EST` is five hours
/// behind UTC in July too, where New York has `EDT`.
const FIXED: [(&str, i32); 18] = [
    ("est", -5 * 60),
    ("edt", -4 * 60),
    ("cdt", -5 * 60),
    ("mst", -7 * 60),
    ("mdt", -6 * 60),
    ("pst", -8 * 60),
    ("pdt", -7 * 60),
    ("hst", -10 * 60),
    ("wet", 0),
    ("west", 60),
    ("bst", 60),
    ("cet", 60),
    ("cest", 2 * 60),
    ("eet", 2 * 60),
    ("eest", 3 * 60),
    ("aest", 10 * 60),
    ("aedt", 11 * 60),
    ("nzdt", 13 * 60),
];

/// For each zone, further places in it besides the city in its name: cities, regions and countries. The places are separated by
/// spaces, with `_` for a space in a name. Countries whose large cities are in several zones, such as the USA, are left out.
pub(crate) const PLACES: [(&str, &str); 50] = [
    (
        "America/Los_Angeles",
        "san_francisco sf la san_diego san_jose portland silicon_valley seattle las_vegas california",
    ),
    (
        "America/Chicago",
        "houston dallas austin san_antonio new_orleans minneapolis nashville memphis st_louis texas",
    ),
    ("America/Denver", "salt_lake_city albuquerque"),
    (
        "America/New_York",
        "nyc new_york_city boston washington washington_dc miami atlanta philadelphia orlando charlotte",
    ),
    ("America/Toronto", "montreal ottawa quebec"),
    ("America/Edmonton", "calgary"),
    ("America/Sao_Paulo", "rio rio_de_janeiro brasilia"),
    ("America/Argentina/Buenos_Aires", "argentina"),
    ("Pacific/Honolulu", "hawaii"),
    ("Europe/Madrid", "barcelona seville valencia spain"),
    ("Europe/Rome", "milan naples florence venice turin italy"),
    (
        "Europe/Berlin",
        "munich hamburg frankfurt cologne stuttgart bonn germany",
    ),
    ("Europe/Zurich", "geneva basel bern switzerland"),
    ("Europe/Paris", "lyon marseille nice france"),
    ("Europe/Amsterdam", "rotterdam the_hague utrecht netherlands"),
    ("Europe/Brussels", "antwerp bruges belgium"),
    ("Europe/Vienna", "salzburg graz austria"),
    ("Europe/Lisbon", "porto portugal"),
    (
        "Europe/London",
        "manchester edinburgh glasgow liverpool birmingham cardiff leeds bristol oxford cambridge england scotland wales uk",
    ),
    ("Europe/Dublin", "cork ireland"),
    ("Europe/Stockholm", "gothenburg malmo sweden"),
    ("Europe/Oslo", "bergen norway"),
    ("Europe/Copenhagen", "denmark"),
    ("Europe/Helsinki", "finland"),
    ("Europe/Warsaw", "krakow gdansk poland"),
    ("Europe/Athens", "greece"),
    ("Europe/Moscow", "st_petersburg"),
    ("Europe/Istanbul", "ankara turkey"),
    ("Africa/Johannesburg", "cape_town durban pretoria south_africa"),
    ("Africa/Casablanca", "marrakesh morocco"),
    ("Africa/Cairo", "alexandria egypt"),
    ("Africa/Lagos", "abuja nigeria"),
    ("Africa/Nairobi", "kenya"),
    (
        "Asia/Kolkata",
        "mumbai delhi new_delhi bangalore bengaluru chennai hyderabad pune india",
    ),
    ("Asia/Karachi", "islamabad lahore pakistan"),
    ("Asia/Dubai", "abu_dhabi uae"),
    ("Asia/Qatar", "doha"),
    ("Asia/Riyadh", "mecca jeddah saudi_arabia"),
    ("Asia/Jerusalem", "tel_aviv israel"),
    ("Asia/Shanghai", "beijing shenzhen guangzhou china"),
    ("Asia/Tokyo", "osaka kyoto nagoya sapporo yokohama japan"),
    ("Asia/Seoul", "busan south_korea"),
    // The time zone database puts the north of Vietnam into this zone, and only the south into `Asia/Ho_Chi_Minh`.
    ("Asia/Bangkok", "hanoi"),
    ("Asia/Bangkok", "thailand phuket"),
    ("Asia/Ho_Chi_Minh", "saigon vietnam"),
    ("Asia/Manila", "philippines"),
    ("Asia/Taipei", "taiwan"),
    ("Asia/Makassar", "bali"),
    ("Australia/Sydney", "canberra"),
    ("Pacific/Auckland", "wellington christchurch new_zealand"),
];

/// Maximum number of similar names in an error message.
const MAX_SIMILAR: usize = 5;

/// Finds the zone for `Europe/Berlin`, `Berlin`, `Mumbai`, `UTC`, `PST`, `+05:30` or `UTC-3`.
pub(crate) fn find(name: &str) -> Result<TimeZone, DateError> {
    let name = name.trim();
    // The lists above write their names in this form.
    let normalized_name = name.to_lowercase().replace(['.', ','], "").replace(' ', "_");
    if matches!(normalized_name.as_str(), "utc" | "gmt" | "z" | "zulu" | "etc/utc") {
        return Ok(TimeZone::UTC);
    }
    if let Some(offset) = fixed_offset(&normalized_name).or_else(|| parse_offset(&normalized_name)) {
        return Ok(TimeZone::fixed(offset));
    }
    let abbreviation = ABBREVIATIONS
        .iter()
        .find(|(short, _)| *short == normalized_name)
        .map(|(_, name)| *name);
    let find_zone_of_place = || {
        PLACES
            .iter()
            .find(|(_, places)| places.split(' ').any(|place| place == normalized_name))
            .map(|(zone, _)| *zone)
    };
    let listed_name = abbreviation.or_else(find_zone_of_place).map(str::to_owned);
    let zone = listed_name
        .or_else(|| find_by_name(&normalized_name))
        .and_then(|name| TimeZone::get(&name).ok());
    zone.ok_or_else(|| DateError::UnknownZone {
        name: name.chars().take(60).collect(),
        suggestion: suggest_similar(&normalized_name),
    })
}

fn fixed_offset(abbreviation: &str) -> Option<Offset> {
    let (_, minutes) = FIXED.iter().find(|(short, _)| *short == abbreviation)?;
    Offset::from_seconds(minutes * 60).ok()
}

/// Returns the name to show for `zone`, or its `offset` from UTC if it has no name.
pub(crate) fn display_name(zone: &TimeZone, offset: Offset) -> String {
    zone.iana_name().map_or_else(|| offset.to_string(), str::to_owned)
}

/// Returns the full names of all zones.
fn zone_names() -> impl Iterator<Item = String> {
    tz::db().available().map(|name| name.to_string())
}

/// Finds a zone by its full name, or else by the city in its name. Returns the full name.
fn find_by_name(normalized_name: &str) -> Option<String> {
    zone_names()
        .find(|name| name.eq_ignore_ascii_case(normalized_name))
        .or_else(|| zone_names().find(|name| city(name) == normalized_name))
}

/// Returns the last part of the name of a zone in lower case, which is usually a city: `berlin` for `Europe/Berlin`.
fn city(zone_name: &str) -> String {
    zone_name.rsplit('/').next().unwrap_or_default().to_lowercase()
}

/// Parses an offset such as `+2`, `-0330` or `utc+05:30`.
fn parse_offset(text: &str) -> Option<Offset> {
    let offset = text
        .strip_prefix("utc")
        .or_else(|| text.strip_prefix("gmt"))
        .unwrap_or(text);
    let (sign, digits) = match offset.chars().next()? {
        '+' => (1, offset.get(1..)?),
        '-' => (-1, offset.get(1..)?),
        // The minus sign U+2212.
        '−' => (-1, offset.strip_prefix('−')?),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() > 2 => digits.split_at_checked(digits.len() - 2)?,
        None => (digits, "0"),
    };
    let is_one_or_two_digits =
        |text: &str| !text.is_empty() && text.len() <= 2 && text.chars().all(|c| c.is_ascii_digit());
    if !is_one_or_two_digits(hours) || !is_one_or_two_digits(minutes) {
        return None;
    }
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    // The largest offset of a place is +14:00.
    let valid = minutes < 60 && hours * 60 + minutes <= 14 * 60;
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60))
        .ok()
        .filter(|_| valid)
}

/// Returns the part of an error that suggests zones with a similar city, or an empty text if there are none. A city is similar
/// if it contains the first four characters of the city in `normalized_name`.
fn suggest_similar(normalized_name: &str) -> String {
    let city_start: String = normalized_name
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .chars()
        .take(4)
        .collect();
    // One or two characters occur in too many names.
    if city_start.chars().count() < 3 {
        return String::new();
    }
    let names: Vec<String> = zone_names()
        .filter(|name| city(name).contains(&city_start))
        .take(MAX_SIMILAR)
        .map(|name| format!("`{name}`"))
        .collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(", did you mean {}", names.join(", "))
    }
}
