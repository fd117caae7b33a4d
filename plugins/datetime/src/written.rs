//! Dates and times in the words of people: `3rd of March`, `tomorrow at 9:30`, `3 pm`, `next Friday`, `Christmas`.

use jiff::{
    Zoned,
    civil::{Date, Time, Weekday},
    fmt::strtime::BrokenDownTime,
};

/// Forms beside ISO 8601 that can be read in one way only, once commas and endings are gone. `02/03/2026` cannot.
const FORMS: [&str; 8] = [
    "%d %B %Y",
    "%d. %B %Y",
    "%B %d %Y",
    "%A %d %B %Y",
    "%A %B %d %Y",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d-%b-%Y",
];

/// Days that have the same date each year.
const DAYS: [(&str, i8, i8); 9] = [
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

/// A day as far as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Day {
    Full(Date),
    /// A day of a month, in a year that has to be chosen.
    OfYear {
        month: i8,
        day: i8,
    },
    /// The first such day after today, or the last one before it.
    Weekday {
        day: Weekday,
        before: bool,
    },
    /// So many days after today.
    FromToday(i8),
}

/// What was written: a day, a time of day, or both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Written {
    pub(crate) day: Option<Day>,
    pub(crate) time: Option<Time>,
}

impl Written {
    /// Reads `text`, a day with or without a time, in either order, or a time alone.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = normal(text);
        if let Some(day) = day(&text) {
            return Some(Self {
                day: Some(day),
                time: None,
            });
        }
        if let Some(time) = time(&text) {
            return Some(Self {
                day: None,
                time: Some(time),
            });
        }
        let mut spaces = text.match_indices(' ').map(|(at, _)| text.split_at(at));
        spaces.find_map(|(head, tail)| {
            let both = |a, b| Some((day(without_joint(a))?, time(without_joint(b))?));
            let (day, time) = both(head, tail).or_else(|| both(tail, head))?;
            Some(Self {
                day: Some(day),
                time: Some(time),
            })
        })
    }
}

impl Day {
    /// The day that is meant today, `now`: one without a year is the next.
    pub(crate) fn from(self, now: &Zoned) -> Result<Date, jiff::Error> {
        let today = now.date();
        match self {
            Self::Full(date) => Ok(date),
            Self::OfYear { .. } => self.next_from(today),
            Self::Weekday { day, before } => today.nth_weekday(if before { -1 } else { 1 }, day),
            Self::FromToday(days) => today.checked_add(jiff::Span::new().try_days(days)?),
        }
    }

    /// Whether there are several such days, of which the words choose none.
    pub(crate) fn recurs(self) -> bool {
        matches!(self, Self::OfYear { .. } | Self::Weekday { before: false, .. })
    }

    /// The first such day from `date` on; a weekday is one after it.
    pub(crate) fn next_from(self, date: Date) -> Result<Date, jiff::Error> {
        match self {
            Self::OfYear { month, day } => {
                // 29 February comes within eight years.
                let mut years = (0..=8).filter_map(|years| Date::new(date.year() + years, month, day).ok());
                let found = years.find(|found| *found >= date);
                found.map_or_else(|| Date::new(date.year(), month, day), Ok)
            }
            Self::Weekday { day, .. } => date.nth_weekday(1, day),
            _ => Ok(date),
        }
    }

    /// The last such day up to `date`; a weekday is one before it.
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

/// Lower case, one space between words, `3rd` as `3`, without commas, `the` and `of`.
fn normal(text: &str) -> String {
    let text = text.to_lowercase().replace(',', " ").replace('’', "'");
    let words = text.split_whitespace().filter(|word| !matches!(*word, "the" | "of"));
    words.map(cardinal).collect::<Vec<_>>().join(" ")
}

fn cardinal(word: &str) -> &str {
    let endings = ["st", "nd", "rd", "th"].into_iter();
    let mut digits = endings.filter_map(|ending| word.strip_suffix(ending));
    let is_number = |digits: &&str| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    digits.find(is_number).unwrap_or(word)
}

/// A part of a text without what joins day and time.
fn without_joint(part: &str) -> &str {
    let part = part.trim();
    let part = part.strip_prefix("at ").unwrap_or(part);
    let part = part.strip_prefix("on ").unwrap_or(part);
    part.strip_suffix(" at")
        .or_else(|| part.strip_suffix(" on"))
        .unwrap_or(part)
}

fn day(text: &str) -> Option<Day> {
    from_today(text)
        .or_else(|| named(text))
        .or_else(|| full(text))
        .or_else(|| of_year(text))
}

fn from_today(text: &str) -> Option<Day> {
    let days = match text {
        "yesterday" => -1,
        "today" => 0,
        "tomorrow" => 1,
        _ => return weekday(text),
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

fn named(text: &str) -> Option<Day> {
    let (_, month, day) = *DAYS.iter().find(|(name, ..)| *name == text)?;
    Some(Day::OfYear { month, day })
}

fn full(text: &str) -> Option<Day> {
    if let Ok(date) = text.parse::<Date>() {
        return Some(Day::Full(date));
    }
    let read = |form: &&str| BrokenDownTime::parse(form, text).and_then(|parts| parts.to_date()).ok();
    let long = FORMS.iter().find_map(read);
    let short = || FORMS.iter().find_map(|form| read(&form.replace("%B", "%b").as_str()));
    long.or_else(short).map(Day::Full)
}

/// Read in a leap year, so that 29 February is one of its days.
fn of_year(text: &str) -> Option<Day> {
    match full(&format!("{text} 2000"))? {
        Day::Full(date) => Some(Day::OfYear {
            month: date.month(),
            day: date.day(),
        }),
        _ => None,
    }
}

fn time(text: &str) -> Option<Time> {
    match text {
        "noon" => return Time::new(12, 0, 0, 0).ok(),
        "midnight" => return Some(Time::midnight()),
        _ => {}
    }
    let half = text.replace('.', "").replace(" am", "am").replace(" pm", "pm");
    ["%H:%M:%S", "%H:%M", "%I:%M%p", "%I%p"]
        .iter()
        .find_map(|form| BrokenDownTime::parse(form, &half).ok()?.to_time().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Saturday, 21 November 2026, at noon.
    fn read(text: &str) -> String {
        let now: Zoned = "2026-11-21T12:00[UTC]".parse().unwrap();
        let Some(written) = Written::read(text) else {
            return "unreadable".to_owned();
        };
        let date = written.day.map(|day| day.from(&now).unwrap().to_string());
        let time = written.time.map(|time| time.strftime("%H:%M").to_string());
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
    fn a_time_may_stand_alone() {
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
    fn what_has_two_meanings_or_none_is_not_read() {
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
            assert_eq!(read(text), "unreadable", "{text}");
        }
    }
}
