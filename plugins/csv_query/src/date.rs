//! Parses dates as people type them into tables.

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// A date, a whole month or a whole year. In a whole month, `day` is 0; in a whole year, `month` and `day` are 0.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// Parses `2026-03-05`, with or without a time of day, `2026/03/05`, `5.3.2026`, `5 March 2026`, `Mar 5, 2026`, `2026-03` or
    /// `March 2026`. Returns `None` for `03/05/2026`, which is ambiguous.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (text, _) = split_time(text);
        for (separator, has_day_first) in [('-', false), ('/', false), ('.', true)] {
            let mut parts: Vec<&str> = text.split(separator).collect();
            if has_day_first {
                parts.reverse();
            }
            match parts.as_slice() {
                [year, month, day] => return Self::of_day(year, parse_number(month)?, parse_number(day)?),
                // A text such as `3.2026` is a number and no month.
                [year, month] if separator != '.' => return Self::of_month(year, parse_number(month)?),
                _ => {}
            }
        }
        let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        match words.as_slice() {
            [first, second, year] => match parse_month(first) {
                Some(month) => Self::of_day(year, month, parse_number(second)?),
                None => Self::of_day(year, parse_month(second)?, parse_number(first)?),
            },
            [first, year] => Self::of_month(year, parse_month(first)?),
            _ => None,
        }
    }

    /// Returns a whole year, or `None` if the text does not have four digits. [`Date::parse`] does not accept a year
    /// alone, since a cell such as `2026` is a number.
    pub(crate) fn of_year(text: &str) -> Option<Self> {
        let is_year = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
        let year = text.parse().ok().filter(|_| is_year)?;
        Some(Self { year, month: 0, day: 0 })
    }

    /// Returns a whole month, or `None` if the year does not have four digits or there is no such month.
    fn of_month(year: &str, month: u8) -> Option<Self> {
        let whole_year = Self::of_year(year)?;
        (1..=12).contains(&month).then_some(Self { month, ..whole_year })
    }

    /// Returns a day, or `None` if there is no such month or the month has no such day.
    fn of_day(year: &str, month: u8, day: u8) -> Option<Self> {
        let whole_month = Self::of_month(year, month)?;
        (1..=whole_month.count_days())
            .contains(&day)
            .then_some(Self { day, ..whole_month })
    }

    /// Returns how many days the month has.
    fn count_days(self) -> u8 {
        let is_leap_year =
            self.year.is_multiple_of(4) && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400));
        match self.month {
            2 if is_leap_year => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    /// Returns the number of days from the start of the year 0 to the end of this day. A whole month counts as its first day.
    pub(crate) fn count_days_of_era(self) -> u32 {
        let year = u32::from(self.year);
        let leap_days = year.div_ceil(4) - year.div_ceil(100) + year.div_ceil(400);
        let days_of_month = |month| u32::from(Self { month, ..self }.count_days());
        let days_before_month: u32 = (1..self.month).map(days_of_month).sum();
        year * 365 + leap_days + days_before_month + u32::from(self.day.max(1))
    }

    /// Returns the date with the precision of `other`: only the month if `other` is a month, only the year if it is a year.
    pub(crate) fn as_precise_as(self, other: Self) -> Self {
        let month = if other.month == 0 { 0 } else { self.month };
        let day = if other.day == 0 { 0 } else { self.day };
        Self { month, day, ..self }
    }
}

/// Splits a date from the time of day after it. Returns the whole text and `None` if there is no time.
pub(crate) fn split_time(text: &str) -> (&str, Option<&str>) {
    let text = text.trim();
    let date_and_time = text.split_once(['T', ' ']).filter(|(_, time)| time.contains(':'));
    date_and_time.map_or((text, None), |(date, time)| (date, Some(time)))
}

/// Parses a day or the number of a month, such as `5`, `05` or `5th`.
fn parse_number(text: &str) -> Option<u8> {
    let endings = ["st", "nd", "rd", "th"].into_iter();
    let digits = endings
        .filter_map(|ending| text.strip_suffix(ending))
        .next()
        .unwrap_or(text);
    digits
        .parse()
        .ok()
        .filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Parses the name of a month or the beginning of one, such as `mar` or `Sept.`, and returns the number of the month.
fn parse_month(text: &str) -> Option<u8> {
    let text = text.trim_end_matches('.').to_lowercase();
    let index = MONTHS
        .iter()
        .position(|name| text.len() >= 3 && name.starts_with(&text))?;
    u8::try_from(index + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_day_counts_one_more_than_the_day_before_it() {
        for (one, next) in [
            ("2026-01-31", "2026-02-01"),
            ("2024-02-29", "2024-03-01"),
            ("2026-02-28", "2026-03-01"),
            ("1999-12-31", "2000-01-01"),
            ("2000-12-31", "2001-01-01"),
            ("1900-12-31", "1901-01-01"),
            ("2023-12-31", "2024-01-01"),
        ] {
            let days = |text| Date::parse(text).unwrap().count_days_of_era();
            assert_eq!(days(one) + 1, days(next), "{one}");
        }
    }

    #[test]
    fn unambiguous_forms_are_dates() {
        let forms = [
            "2026-03-05",
            "2026-03-05T10:00",
            "2026-03-05 10:00:00",
            "2026/03/05",
            "5.3.2026",
            "5 March 2026",
            "March 5, 2026",
            "Mar 5th 2026",
        ];
        let date = Date::of_day("2026", 3, 5);
        forms
            .iter()
            .for_each(|form| assert_eq!(Date::parse(form), date, "{form}"));
        ["2026-03", "March 2026"]
            .iter()
            .for_each(|form| assert_eq!(Date::parse(form), Date::of_month("2026", 3), "{form}"));
    }

    #[test]
    fn a_day_that_does_not_exist_is_no_date() {
        for text in [
            "2026-02-31",
            "2026-02-29",
            "1900-02-29",
            "2026-04-31",
            "2026-03-00",
            "0.3.2026",
        ] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
        for text in ["2024-02-29", "2000-02-29", "2026-04-30", "2026-12-31"] {
            assert!(Date::parse(text).is_some(), "{text}");
        }
    }

    #[test]
    fn texts_that_do_not_name_one_day_or_month_are_no_dates() {
        for text in [
            "",
            "03/05/2026",
            "2026",
            "1.5",
            "2026-13-01",
            "North",
            "12 apples 2026",
            "1-2-3",
        ] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }
}
