//! Parses dates and times in words: `3rd of March`, `tomorrow at 9:30`, `3 pm`, `next Friday`, `Christmas`.

use jiff::{
    Span, Zoned,
    civil::{Date, Time, Weekday},
    fmt::strtime::BrokenDownTime,
};

use crate::holidays::Rule;

/// Unambiguous formats besides ISO 8601, for texts from which [`normalize`] has removed commas and the endings of ordinal
/// numbers. There is none for `02/03/2026`, which is ambiguous.
const FORMATS: [&str; 9] = [
    "%d %B %Y",
    "%d. %B %Y",
    "%B %d %Y",
    "%A %d %B %Y",
    "%A %B %d %Y",
    "%A %Y-%m-%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d-%b-%Y",
];

/// Maximum number of years between two occurrences of a yearly day: there are eight between 29 February 1896 and the one in 1904.
const MAX_YEARS_APART: i16 = 8;

/// A day, possibly one that depends on the current date.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Day {
    /// A date with its year.
    Full(Date),
    /// A day of each year, such as `25 December` or `Easter`.
    Yearly(Rule),
    /// The day of this rule in a year relative to the current year: -1 for `Easter last year`, 1 for `Easter next year`.
    InRelativeYear(Rule, i16),
    /// The first day after today with this weekday, or the last one before today if `is_past` is set.
    Weekday { weekday: Weekday, is_past: bool },
    /// This number of months and days after today, or before it if they are negative.
    FromToday { months: i32, days: i32 },
}

/// The parts of a parsed phrase: a day, a time of day, or both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Phrase {
    pub(crate) day: Option<Day>,
    pub(crate) time: Option<Time>,
}

impl Phrase {
    /// Parses a day with or without a time, in either order, or a time alone.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = normalize(text);
        if let Some(day) = parse_day(&text) {
            return Some(Self {
                day: Some(day),
                time: None,
            });
        }
        if let Some(time) = parse_time(&text) {
            return Some(Self {
                day: None,
                time: Some(time),
            });
        }
        let mut splits = text.match_indices(' ').map(|(at, _)| text.split_at(at));
        splits.find_map(|(head, tail)| {
            let day_and_time =
                |day, time| Some((parse_day(strip_preposition(day))?, parse_time(strip_preposition(time))?));
            let (day, time) = day_and_time(head, tail).or_else(|| day_and_time(tail, head))?;
            Some(Self {
                day: Some(day),
                time: Some(time),
            })
        })
    }
}

impl Day {
    /// Returns the date of the day as seen from `now`. For a yearly day, this is the next occurrence, which may be today.
    pub(crate) fn resolve(self, now: &Zoned) -> Result<Date, jiff::Error> {
        let today = now.date();
        match self {
            Self::Full(date) => Ok(date),
            Self::Yearly(_) => self.next_from(today),
            Self::InRelativeYear(rule, years) => rule.in_year(today.year().saturating_add(years)),
            Self::Weekday { weekday, is_past } => today.nth_weekday(if is_past { -1 } else { 1 }, weekday),
            Self::FromToday { months, days } => today.checked_add(Span::new().try_months(months)?.try_days(days)?),
        }
    }

    /// Returns whether the day can mean several dates. These are a yearly day, such as `Easter`, and a weekday without `last`.
    pub(crate) fn recurs(self) -> bool {
        matches!(self, Self::Yearly(_) | Self::Weekday { is_past: false, .. })
    }

    /// Returns the first occurrence of the day from `date` on; of a weekday, the first one after `date`. For a day that is
    /// neither yearly nor a weekday, returns `date`. Fails if the occurrence is after the last supported year.
    pub(crate) fn next_from(self, date: Date) -> Result<Date, jiff::Error> {
        match self {
            Self::Yearly(rule) => {
                let mut dates = (0..=MAX_YEARS_APART).filter_map(|years| rule.in_year(date.year() + years).ok());
                let found = dates.find(|found| *found >= date);
                // If no date is found, the last of these years is not supported. The error for this year is returned then.
                found.map_or_else(|| rule.in_year(date.year() + MAX_YEARS_APART), Ok)
            }
            Self::Weekday { weekday, .. } => date.nth_weekday(1, weekday),
            _ => Ok(date),
        }
    }

    /// Returns the last occurrence of the day up to `date`; of a weekday, the last one before `date`. For a day that is neither
    /// yearly nor a weekday, returns `date`. Fails if the occurrence is before the first supported year.
    pub(crate) fn last_until(self, date: Date) -> Result<Date, jiff::Error> {
        match self {
            Self::Yearly(rule) => {
                let mut dates = (0..=MAX_YEARS_APART).filter_map(|years| rule.in_year(date.year() - years).ok());
                let found = dates.find(|found| *found <= date);
                found.map_or_else(|| rule.in_year(date.year() - MAX_YEARS_APART), Ok)
            }
            Self::Weekday { weekday, .. } => date.nth_weekday(-1, weekday),
            _ => Ok(date),
        }
    }
}

/// Converts to lower case with one space between words, changes `3rd` to `3` and `sept` to `sep`, and removes commas, the dots of
/// abbreviated months, `the` and `of`.
fn normalize(text: &str) -> String {
    let text = text.to_lowercase().replace(',', " ").replace('’', "'");
    let words = text.split_whitespace().filter(|word| !matches!(*word, "the" | "of"));
    let words = words.map(|word| match word.strip_suffix('.').unwrap_or(word) {
        "sept" => "sep",
        short @ ("jan" | "feb" | "mar" | "apr" | "jun" | "jul" | "aug" | "sep" | "oct" | "nov" | "dec") => short,
        _ => strip_ordinal_ending(word),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns whether a text names a month, with or without a year, but no day.
pub(crate) fn names_month(text: &str) -> bool {
    let text = normalize(text);
    let (month, year) = text.split_once(' ').unwrap_or((&text, ""));
    let is_month = ["%B", "%b"]
        .iter()
        .any(|format| BrokenDownTime::parse(format, month).is_ok());
    is_month && (year.is_empty() || (year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit())))
}

fn strip_ordinal_ending(word: &str) -> &str {
    let endings = ["st", "nd", "rd", "th"].into_iter();
    let mut digits = endings.filter_map(|ending| word.strip_suffix(ending));
    let is_number = |digits: &&str| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    digits.find(is_number).unwrap_or(word)
}

/// Removes an `at` or `on` between the day and the time.
fn strip_preposition(part: &str) -> &str {
    let part = part.trim();
    let part = part.strip_prefix("at ").unwrap_or(part);
    let part = part.strip_prefix("on ").unwrap_or(part);
    part.strip_suffix(" at")
        .or_else(|| part.strip_suffix(" on"))
        .unwrap_or(part)
}

fn parse_day(text: &str) -> Option<Day> {
    parse_relative_day(text)
        .or_else(|| parse_weekday(text))
        .or_else(|| parse_full_date(text))
        .or_else(|| parse_yearly(text).map(Day::Yearly))
        .or_else(|| parse_day_in_year(text))
}

fn parse_relative_day(text: &str) -> Option<Day> {
    let (months, days) = match text {
        "yesterday" => (0, -1),
        "today" => (0, 0),
        "tomorrow" => (0, 1),
        "day after tomorrow" => (0, 2),
        "day before yesterday" => (0, -2),
        _ => parse_distance(text)?,
    };
    Some(Day::FromToday { months, days })
}

/// Parses `in 3 weeks`, `3 weeks from now`, `a fortnight ago` or `next month`. Returns the number of months and the number of
/// days.
fn parse_distance(text: &str) -> Option<(i32, i32)> {
    let words: Vec<&str> = text.split(' ').collect();
    let (sign, count, unit) = match words.as_slice() {
        ["in", count, unit] | [count, unit, "from", "now" | "today"] => (1, *count, *unit),
        [count, unit, "ago" | "before", ..] if words.len() == 3 => (-1, *count, *unit),
        ["next", unit] => (1, "1", *unit),
        ["last", unit] => (-1, "1", *unit),
        _ => return None,
    };
    // The limit keeps the products below in the range of `i32`.
    let count: i32 = match count {
        "a" | "an" | "one" => 1,
        count => count
            .parse()
            .ok()
            .filter(|count: &i32| (0..1_000_000).contains(count))?,
    };
    let (months, days) = match unit.strip_suffix('s').unwrap_or(unit) {
        "day" => (0, 1),
        "week" => (0, 7),
        "fortnight" => (0, 14),
        "month" => (1, 0),
        "year" => (12, 0),
        _ => return None,
    };
    Some((sign * count * months, sign * count * days))
}

fn parse_weekday(text: &str) -> Option<Day> {
    let (is_past, name) = match text.split_once(' ') {
        Some(("last", name)) => (true, name),
        Some(("next" | "this" | "coming", name)) => (false, name),
        _ => (false, text),
    };
    let weekday = parse_weekday_name(name)?;
    Some(Day::Weekday { weekday, is_past })
}

pub(crate) fn parse_weekday_name(name: &str) -> Option<Weekday> {
    let read = |format: &str| BrokenDownTime::parse(format, name).ok()?.weekday();
    read("%A").or_else(|| read("%a"))
}

/// Parses a day that recurs each year.
fn parse_yearly(text: &str) -> Option<Rule> {
    // 2000 is a leap year, so that 29 February is valid.
    let date = parse_full_date(&format!("{text} 2000"));
    match date {
        Some(Day::Full(date)) => Some(Rule::Fixed(date.month(), date.day())),
        _ => Rule::parse(text),
    }
}

/// Parses a recurring day with its year: `Christmas 2027`, `25 December next year`.
fn parse_day_in_year(text: &str) -> Option<Day> {
    let relative_years = [(" last year", -1), (" this year", 0), (" next year", 1)];
    let found = relative_years
        .into_iter()
        .find_map(|(ending, years)| Some((text.strip_suffix(ending)?, years)));
    if let Some((day, years)) = found {
        return Some(Day::InRelativeYear(parse_yearly(day)?, years));
    }
    let (day, year) = text.rsplit_once(' ')?;
    let year = year.parse().ok().filter(|_| year.len() == 4)?;
    Rule::parse(day.trim_end_matches(" in"))?
        .in_year(year)
        .ok()
        .map(Day::Full)
}

fn parse_full_date(text: &str) -> Option<Day> {
    if let Ok(date) = text.parse::<Date>() {
        return Some(Day::Full(date));
    }
    // The parser of a format needs no blanks and no four digits: it would read `Nov 2026` as the 20th of November of the year 26.
    let has_year = text
        .split(|sign: char| !sign.is_ascii_digit())
        .any(|digits| digits.len() == 4);
    let word_count = text.split(' ').count();
    let read = |format: &&str| {
        let may_match = has_year && format.split(' ').count() == word_count;
        let parts = may_match
            .then(|| BrokenDownTime::parse(format, text))
            .and_then(Result::ok);
        parts.and_then(|parts| parts.to_date().ok())
    };
    let long_month = FORMATS.iter().find_map(read);
    let short_month = || {
        FORMATS
            .iter()
            .find_map(|format| read(&format.replace("%B", "%b").as_str()))
    };
    long_month.or_else(short_month).map(Day::Full)
}

fn parse_time(text: &str) -> Option<Time> {
    match text {
        "noon" => return Time::new(12, 0, 0, 0).ok(),
        "midnight" => return Some(Time::midnight()),
        _ => {}
    }
    let text = text
        .replace("a.m", "am")
        .replace("p.m", "pm")
        .replace(" am", "am")
        .replace(" pm", "pm");
    let text = text.trim_end_matches('.');
    ["%H:%M:%S", "%H:%M", "%I:%M%p", "%I%p"]
        .iter()
        .find_map(|format| BrokenDownTime::parse(format, text).ok()?.to_time().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Resolves a text as if today were Saturday, 21 November 2026, at noon.
    fn resolve_text(text: &str) -> String {
        let now: Zoned = "2026-11-21T12:00[UTC]".parse().unwrap();
        let Some(phrase) = Phrase::parse(text) else {
            return "not parsed".to_owned();
        };
        let date = phrase.day.map(|day| day.resolve(&now).unwrap().to_string());
        let time = phrase.time.map(|time| time.strftime("%H:%M").to_string());
        [date, time].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_day_may_have_a_time() {
        assert_eq!(resolve_text("21 November 2026 at 3 pm"), "2026-11-21 15:00");
        assert_eq!(resolve_text("Nov 3rd, 2026, 09:30"), "2026-11-03 09:30");
        assert_eq!(resolve_text("tomorrow at 9:30 a.m."), "2026-11-22 09:30");
        assert_eq!(resolve_text("tomorrow at 1.1 pm"), "not parsed");
        assert_eq!(resolve_text("noon on the 3rd of March 2027"), "2027-03-03 12:00");
        assert_eq!(resolve_text("2026-11-21 at 15:00"), "2026-11-21 15:00");
        assert_eq!(resolve_text("3 pm on 12 March 2027"), "2027-03-12 15:00");
    }

    #[test]
    fn a_time_needs_no_day() {
        let times = ["3 pm", "3PM", "15:00", "12 am", "11:59:59", "noon", "midnight"].map(resolve_text);
        assert_eq!(times, ["15:00", "15:00", "15:00", "00:00", "11:59", "12:00", "00:00"]);
    }

    #[test]
    fn a_day_without_a_year_is_the_next_one() {
        let days = [
            "25 December",
            "March 3",
            "Dec 25th",
            "21 November",
            "Christmas",
            "New Year’s Eve",
        ]
        .map(resolve_text);
        assert_eq!(
            days,
            [
                "2026-12-25",
                "2027-03-03",
                "2026-12-25",
                "2026-11-21",
                "2026-12-25",
                "2026-12-31"
            ]
        );
        assert_eq!(resolve_text("29 February"), "2028-02-29");
        assert_eq!(resolve_text("the first Friday in March"), "2027-03-05");
    }

    #[test]
    fn a_yearly_day_does_not_recur_outside_of_the_supported_years() {
        let rules = [Rule::Fixed(12, 25), Rule::Fixed(2, 29), Rule::Easter(0)];
        for rule in rules {
            let day = Day::Yearly(rule);
            assert!(day.next_from(Date::new(9999, 12, 26).unwrap()).is_err(), "{rule:?}");
            assert!(day.last_until(Date::new(-9999, 1, 2).unwrap()).is_err(), "{rule:?}");
        }
        let christmas = Day::Yearly(Rule::Fixed(12, 25));
        let last_christmas = Date::new(9999, 12, 25).unwrap();
        assert_eq!(christmas.next_from(last_christmas).unwrap(), last_christmas);
    }

    #[test]
    fn a_day_may_be_relative() {
        let texts = [
            "in 3 weeks",
            "3 weeks from now",
            "a fortnight ago",
            "2 months ago",
            "next year",
            "the day after tomorrow",
        ];
        let expected = [
            "2026-12-12",
            "2026-12-12",
            "2026-11-07",
            "2026-09-21",
            "2027-11-21",
            "2026-11-23",
        ];
        assert_eq!(texts.map(resolve_text), expected);
    }

    #[test]
    fn a_recurring_day_may_have_a_year() {
        let texts = [
            "Christmas 2027",
            "New Year's Day 2030",
            "New Years Day, 2030",
            "25 December next year",
        ];
        assert_eq!(
            texts.map(resolve_text),
            ["2027-12-25", "2030-01-01", "2030-01-01", "2027-12-25"]
        );
        let texts = ["1 Sept 2026", "Sept. 1, 2026", "1 Sep. 2026"];
        assert_eq!(texts.map(resolve_text), ["2026-09-01"; 3]);
        let texts = ["last Monday of May 2027", "the last day of February 2028"];
        assert_eq!(texts.map(resolve_text), ["2027-05-31", "2028-02-29"]);
    }

    #[test]
    fn a_full_date_may_have_its_weekday() {
        assert_eq!(resolve_text("Monday, 2 March 2026"), "2026-03-02");
    }

    #[test]
    fn a_weekday_is_the_next_one_unless_the_text_says_last() {
        let days = ["Friday", "next Saturday", "last Saturday", "this Sunday"].map(resolve_text);
        assert_eq!(days, ["2026-11-27", "2026-11-28", "2026-11-14", "2026-11-22"]);
    }

    #[test]
    fn ambiguous_and_unknown_texts_are_not_parsed() {
        for text in [
            "02/03/2026",
            "soon",
            "",
            "3",
            "30 February",
            "25:00",
            "13 pm",
            "at",
            "the 5th",
            "Nov 2026",
            "March 2027",
            "December",
            "Sept",
            "13/11/26",
            "1 November 26",
            "26/11/13",
            "13.11.26",
            "1 November26",
        ] {
            assert_eq!(resolve_text(text), "not parsed", "{text}");
        }
    }
}
