//! The date, the time zone and the locale of this process, so that models can be told when and where a question is asked.

use std::ops::RangeInclusive;
use std::time::SystemTime;

use art_agent::Occasion;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Environment variables with the locale, in the order of their precedence (POSIX).
const LOCALE_VARIABLES: [&str; 3] = ["LC_ALL", "LC_TIME", "LANG"];

/// Numbers of characters that a language tag can have. The shortest tags have two letters. A program that limits the length must
/// accept tags of 35 characters (RFC 5646).
const TAG_CHARS: RangeInclusive<usize> = 2..=35;

/// Returns the current date, the time zone and the locale. A clock beyond the years that have a date counts as the epoch.
pub(super) fn now() -> Occasion {
    // `Zoned::now` panics for such a clock.
    let time = Timestamp::try_from(SystemTime::now()).unwrap_or_default();
    let now = time.to_zoned(TimeZone::system());
    let offset = || now.offset().to_string();
    let locales = LOCALE_VARIABLES.iter().filter_map(|name| std::env::var(name).ok());
    Occasion {
        date: now.strftime("%A, %Y-%m-%d").to_string(),
        time_zone: now.time_zone().iana_name().map_or_else(offset, str::to_owned),
        locale: locales
            .into_iter()
            .find(|value| !value.is_empty())
            .as_deref()
            .and_then(language_tag),
    }
}

/// Returns the language tag of a POSIX locale such as `de_DE.UTF-8`, or `None` for `C`, `POSIX` and text that is not a locale.
fn language_tag(locale: &str) -> Option<String> {
    let name = locale.split(['.', '@']).next().unwrap_or_default().replace('_', "-");
    // `C` is too short to be a tag.
    let is_tag = TAG_CHARS.contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    (is_tag && name != "POSIX").then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_of_the_system_becomes_a_language_tag() {
        for (locale, tag) in [("de_DE.UTF-8", "de-DE"), ("sr_RS@latin", "sr-RS"), ("en", "en")] {
            assert_eq!(language_tag(locale).as_deref(), Some(tag));
        }
        for without_language in ["", "C", "C.UTF-8", "POSIX", "a b", "../../etc"] {
            assert_eq!(language_tag(without_language), None, "`{without_language}`");
        }
    }

    #[test]
    fn the_date_has_a_weekday_and_no_time() {
        let date = now().date;
        // `day` is the end of the weekday, and `20` the beginning of the year.
        assert!(date.contains("day, 20") && !date.contains(':'), "{date}");
    }
}
