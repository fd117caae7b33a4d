//! Parses dates and times in words: `3rd of March`, `tomorrow at 9:30`, `3 pm`, `next Friday`, `Christmas`.

use jiff::{
    Zoned,
    civil::{Date, Time, Weekday},
    fmt::strtime::BrokenDownTime,
};

/// Unambiguous formats in addition to ISO 8601, without commas and ordinal endings. `02/03/2026` is ambiguous.
const FORMATS: [&str; 8] = [
    "%d %B %Y",
    "%d. %B %Y",
    "%B %d %Y",
    "%A %d %B %Y",
    "%A %B %d %Y",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d-%b-%Y",
];

/// Holidays that have the same date each year: name, month, day.
const HOLIDAYS: [(&str, i8, i8); 9] = [
    ("new year", 1, 1),
    ("new year's", 1, 1),
    ("new year's day", 1, 1),
    ("valentine's day", 2, 14),
    ("halloween", 10, 31),
    ("christmas eve", 12, 24),
    ("christmas", 12, 25),
    ("christmas day", 12, 25),
    ("new year's eve", 12, 31),
];

/// A day, possibly one that depends on the current date.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Day {
    Full(Date),
    /// A day of a month without a year.
    OfYear {
        month: i8,
        day: i8,
    },
    /// The first such weekday after today, or the last one before it.
    Weekday {
        day: Weekday,
        before: bool,
    },
    /// This number of days after today.
    FromToday(i8),
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
        let text = normalized(text);
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
        let mut spaces = text.match_indices(' ').map(|(at, _)| text.split_at(at));
        spaces.find_map(|(head, tail)| {
            let both = |a, b| Some((parse_day(without_preposition(a))?, parse_time(without_preposition(b))?));
            let (day, time) = both(head, tail).or_else(|| both(tail, head))?;
            Some(Self {
                day: Some(day),
                time: Some(time),
            })
        })
    }
}

impl Day {
    /// Returns the date of the day as seen from `now`. A day without a year is the next one.
    pub(crate) fn from(self, now: &Zoned) -> Result<Date, jiff::Error> {
        let today = now.date();
        match self {
            Self::Full(date) => Ok(date),
            Self::OfYear { .. } => self.next_from(today),
            Self::Weekday { day, before } => today.nth_weekday(if before { -1 } else { 1 }, day),
            Self::FromToday(days) => today.checked_add(jiff::Span::new().try_days(days)?),
        }
    }

    /// Returns whether the day recurs and the phrase does not say which of them is meant.
    pub(crate) fn recurs(self) -> bool {
        matches!(self, Self::OfYear { .. } | Self::Weekday { before: false, .. })
    }

    /// Returns the first such day from `date` on; a weekday is always after it.
    pub(crate) fn next_from(self, date: Date) -> Result<Date, jiff::Error> {
        match self {
            Self::OfYear { month, day } => {
                // Two leap years are at most eight years apart.
                let mut years = (0..=8).filter_map(|years| Date::new(date.year() + years, month, day).ok());
                let found = years.find(|found| *found >= date);
                found.map_or_else(|| Date::new(date.year(), month, day), Ok)
            }
            Self::Weekday { day, .. } => date.nth_weekday(1, day),
            _ => Ok(date),
        }
    }

    /// Returns the last such day up to `date`; a weekday is always before it.
    pub(crate) fn last_until(self, date: Date) -> Result<Date, jiff::Error> {
        match self {
            Self::OfYear { month, day } => {
                let mut years = (0..=8).filter_map(|years| Date::new(date.year() - years, month, day).ok());
                let found = years.find(|found| *found <= date);
                found.map_or_else(|| Date::new(date.year(), month, day), Ok)
            }
            Self::Weekday { day, .. } => date.nth_weekday(-1, day),
            _ => Ok(date),
        }
    }
}

/// Converts to lower case with one space between words, `3rd` to `3`, and removes commas, `the` and `of`.
fn normalized(text: &str) -> String {
    let text = text.to_lowercase().replace(',', " ").replace('’', "'");
    let words = text.split_whitespace().filter(|word| !matches!(*word, "the" | "of"));
    words.map(without_ordinal_ending).collect::<Vec<_>>().join(" ")
}

fn without_ordinal_ending(word: &str) -> &str {
    let endings = ["st", "nd", "rd", "th"].into_iter();
    let mut digits = endings.filter_map(|ending| word.strip_suffix(ending));
    let is_number = |digits: &&str| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    digits.find(is_number).unwrap_or(word)
}

/// Removes the `at` or `on` between day and time.
fn without_preposition(part: &str) -> &str {
    let part = part.trim();
    let part = part.strip_prefix("at ").unwrap_or(part);
    let part = part.strip_prefix("on ").unwrap_or(part);
    part.strip_suffix(" at")
        .or_else(|| part.strip_suffix(" on"))
        .unwrap_or(part)
}

fn parse_day(text: &str) -> Option<Day> {
    relative_day(text)
        .or_else(|| weekday(text))
        .or_else(|| holiday(text))
        .or_else(|| full_date(text))
        .or_else(|| day_of_year(text))
}

fn relative_day(text: &str) -> Option<Day> {
    let days = match text {
        "yesterday" => -1,
        "today" => 0,
        "tomorrow" => 1,
        _ => return None,
    };
    Some(Day::FromToday(days))
}

fn weekday(text: &str) -> Option<Day> {
    let (before, name) = match text.split_once(' ') {
        Some(("last", name)) => (true, name),
        Some(("next" | "this" | "coming", name)) => (false, name),
        _ => (false, text),
    };
    let day = BrokenDownTime::parse("%A", name).ok()?.weekday()?;
    Some(Day::Weekday { day, before })
}

fn holiday(text: &str) -> Option<Day> {
    let (_, month, day) = *HOLIDAYS.iter().find(|(name, ..)| *name == text)?;
    Some(Day::OfYear { month, day })
}

fn full_date(text: &str) -> Option<Day> {
    if let Ok(date) = text.parse::<Date>() {
        return Some(Day::Full(date));
    }
    let read = |format: &&str| {
        BrokenDownTime::parse(format, text)
            .and_then(|parts| parts.to_date())
            .ok()
    };
    let long = FORMATS.iter().find_map(read);
    let short = || {
        FORMATS
            .iter()
            .find_map(|format| read(&format.replace("%B", "%b").as_str()))
    };
    long.or_else(short).map(Day::Full)
}

/// Parses a day without a year, in a leap year so that 29 February is valid.
fn day_of_year(text: &str) -> Option<Day> {
    match full_date(&format!("{text} 2000"))? {
        Day::Full(date) => Some(Day::OfYear {
            month: date.month(),
            day: date.day(),
        }),
        _ => None,
    }
}

fn parse_time(text: &str) -> Option<Time> {
    match text {
        "noon" => return Time::new(12, 0, 0, 0).ok(),
        "midnight" => return Some(Time::midnight()),
        _ => {}
    }
    let text = text.replace('.', "").replace(" am", "am").replace(" pm", "pm");
    ["%H:%M:%S", "%H:%M", "%I:%M%p", "%I%p"]
        .iter()
        .find_map(|format| BrokenDownTime::parse(format, &text).ok()?.to_time().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Resolves a text on Saturday, 21 November 2026, at noon.
    fn read(text: &str) -> String {
        let now: Zoned = "2026-11-21T12:00[UTC]".parse().unwrap();
        let Some(phrase) = Phrase::parse(text) else {
            return "not parsed".to_owned();
        };
        let date = phrase.day.map(|day| day.from(&now).unwrap().to_string());
        let time = phrase.time.map(|time| time.strftime("%H:%M").to_string());
        [date, time].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_day_may_have_a_time() {
        assert_eq!(read("21 November 2026 at 3 pm"), "2026-11-21 15:00");
        assert_eq!(read("Nov 3rd, 2026, 09:30"), "2026-11-03 09:30");
        assert_eq!(read("tomorrow at 9:30 a.m."), "2026-11-22 09:30");
        assert_eq!(read("noon on the 3rd of March 2027"), "2027-03-03 12:00");
        assert_eq!(read("2026-11-21 at 15:00"), "2026-11-21 15:00");
    }

    #[test]
    fn a_time_needs_no_day() {
        let times = ["3 pm", "3PM", "15:00", "12 am", "11:59:59", "noon", "midnight"].map(read);
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
        .map(read);
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
        assert_eq!(read("29 February"), "2028-02-29");
    }

    #[test]
    fn a_weekday_is_the_next_one_or_the_last_one() {
        let days = ["Friday", "next Saturday", "last Saturday", "this Sunday"].map(read);
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
        ] {
            assert_eq!(read(text), "not parsed", "{text}");
        }
    }
}
