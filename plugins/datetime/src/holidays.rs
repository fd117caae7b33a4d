//! Days of a year with a fixed date or a well-known rule. All but the leap day are in each year.

use jiff::{
    Span,
    civil::{Date, Weekday},
    fmt::strtime::BrokenDownTime,
};

use crate::phrase::parse_weekday_name;

/// The rule for a day of a year.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    /// This month and day.
    Fixed(i8, i8),
    /// In this month, the first (1), second (2), third (3), fourth (4) or last (-1) day with this weekday.
    NthWeekday(i8, Weekday, i8),
    /// The day after the weekday that [`Rule::NthWeekday`] describes.
    AfterNthWeekday(i8, Weekday, i8),
    /// The last day of this month.
    LastDay(i8),
    /// This number of days after Easter Sunday.
    Easter(i32),
}

use Rule::{AfterNthWeekday, Easter, Fixed, LastDay, NthWeekday};

/// The names of days, written without apostrophes and without the words `the` and `of`. A name that several countries use for
/// different days is listed only if it is best known as a day of the United States, such as Thanksgiving, Labor Day and
/// Independence Day.
const NAMES: [(&str, Rule); 47] = [
    ("new year", Fixed(1, 1)),
    ("new years", Fixed(1, 1)),
    ("new years day", Fixed(1, 1)),
    ("epiphany", Fixed(1, 6)),
    ("valentines", Fixed(2, 14)),
    ("valentines day", Fixed(2, 14)),
    ("leap day", Fixed(2, 29)),
    ("international womens day", Fixed(3, 8)),
    ("pi day", Fixed(3, 14)),
    ("st patricks day", Fixed(3, 17)),
    ("saint patricks day", Fixed(3, 17)),
    ("april fools day", Fixed(4, 1)),
    ("earth day", Fixed(4, 22)),
    ("may day", Fixed(5, 1)),
    ("juneteenth", Fixed(6, 19)),
    ("canada day", Fixed(7, 1)),
    ("independence day", Fixed(7, 4)),
    ("us independence day", Fixed(7, 4)),
    ("fourth july", Fixed(7, 4)),
    ("bastille day", Fixed(7, 14)),
    ("halloween", Fixed(10, 31)),
    ("all saints day", Fixed(11, 1)),
    ("bonfire night", Fixed(11, 5)),
    ("veterans day", Fixed(11, 11)),
    ("christmas eve", Fixed(12, 24)),
    ("christmas", Fixed(12, 25)),
    ("christmas day", Fixed(12, 25)),
    ("xmas", Fixed(12, 25)),
    ("boxing day", Fixed(12, 26)),
    ("new years eve", Fixed(12, 31)),
    ("end year", Fixed(12, 31)),
    ("martin luther king day", NthWeekday(1, Weekday::Monday, 3)),
    ("presidents day", NthWeekday(2, Weekday::Monday, 3)),
    ("memorial day", NthWeekday(5, Weekday::Monday, -1)),
    ("labor day", NthWeekday(9, Weekday::Monday, 1)),
    ("columbus day", NthWeekday(10, Weekday::Monday, 2)),
    ("thanksgiving", NthWeekday(11, Weekday::Thursday, 4)),
    ("thanksgiving day", NthWeekday(11, Weekday::Thursday, 4)),
    ("black friday", AfterNthWeekday(11, Weekday::Thursday, 4)),
    ("ash wednesday", Easter(-46)),
    ("palm sunday", Easter(-7)),
    ("good friday", Easter(-2)),
    ("easter", Easter(0)),
    ("easter sunday", Easter(0)),
    ("easter monday", Easter(1)),
    ("pentecost", Easter(49)),
    ("whit monday", Easter(50)),
];

/// Words for a position in a month, each with the number of the position. `1` stands for `1st`, because [`Rule::parse`] is called
/// with texts from which such endings have been removed.
const POSITIONS: [(&str, i8); 10] = [
    ("first", 1),
    ("1", 1),
    ("second", 2),
    ("2", 2),
    ("third", 3),
    ("3", 3),
    ("fourth", 4),
    ("4", 4),
    ("last", -1),
    ("end", -1),
];

impl Rule {
    /// Parses the name of a day, or a text such as `last monday may`, `first day march` or `end march`. The text is in lower case
    /// and has no words `the` and `of`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.replace('\'', "");
        let named = NAMES.iter().find(|(name, _)| *name == text);
        named.map(|(_, rule)| *rule).or_else(|| parse_day_in_month(&text))
    }

    /// Returns the date of the day in `year`.
    pub(crate) fn in_year(self, year: i16) -> Result<Date, jiff::Error> {
        match self {
            Fixed(month, day) => Date::new(year, month, day),
            NthWeekday(month, weekday, nth) => Date::new(year, month, 1)?.nth_weekday_of_month(nth, weekday),
            AfterNthWeekday(month, weekday, nth) => NthWeekday(month, weekday, nth).in_year(year)?.tomorrow(),
            LastDay(month) => Ok(Date::new(year, month, 1)?.last_of_month()),
            Easter(days) => easter(year)?.checked_add(Span::new().days(days)),
        }
    }
}

/// Parses a text such as `last monday may`, `first day march` or `end march`.
fn parse_day_in_month(text: &str) -> Option<Rule> {
    let words: Vec<&str> = text.split(' ').filter(|word| *word != "in").collect();
    let parse_position = |word: &str| POSITIONS.iter().find(|(name, _)| *name == word).map(|(_, nth)| *nth);
    let (nth, day, month) = match words.as_slice() {
        [nth, day, month] => (parse_position(nth)?, *day, *month),
        ["end", month] => (-1, "day", *month),
        _ => return None,
    };
    let parse_month = |format: &str| BrokenDownTime::parse(format, month).ok()?.month();
    let month = parse_month("%B").or_else(|| parse_month("%b"))?;
    match (day, nth) {
        ("day", 1) => Some(Fixed(month, 1)),
        ("day", -1) => Some(LastDay(month)),
        _ => Some(NthWeekday(month, parse_weekday_name(day)?, nth)),
    }
}

/// Returns Easter Sunday by the anonymous Gregorian algorithm (Meeus, Jones and Butcher).
fn easter(year: i16) -> Result<Date, jiff::Error> {
    let y = i32::from(year);
    let (golden, century, rest) = (y.rem_euclid(19), y.div_euclid(100), y.rem_euclid(100));
    let moon = (century - (century + 8) / 25 + 1) / 3;
    let epact = (19 * golden + century - century / 4 - moon + 15).rem_euclid(30);
    let weekday = (32 + 2 * (century % 4) + 2 * (rest / 4) - epact - rest % 4).rem_euclid(7);
    let shift = (golden + 11 * epact + 22 * weekday) / 451;
    // 31 times the month, plus the day, minus one.
    let month_and_day = epact + weekday - 7 * shift + 114;
    // Both casts are exact: the month is 3 or 4, and the day is at most 31.
    Date::new(year, (month_and_day / 31) as i8, (month_and_day % 31 + 1) as i8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date_of(name: &str, year: i16) -> String {
        Rule::parse(name).unwrap().in_year(year).unwrap().to_string()
    }

    #[test]
    fn easter_follows_the_gregorian_rule() {
        let dates = [2000, 2019, 2024, 2025, 2026, 2038].map(|year| date_of("easter", year));
        let expected = [
            "2000-04-23",
            "2019-04-21",
            "2024-03-31",
            "2025-04-20",
            "2026-04-05",
            "2038-04-25",
        ];
        assert_eq!(dates, expected);
        assert_eq!(date_of("good friday", 2026), "2026-04-03");
    }

    #[test]
    fn a_day_may_be_given_by_a_weekday_or_the_end_of_a_month() {
        assert_eq!(date_of("thanksgiving", 2026), "2026-11-26");
        assert_eq!(date_of("black friday", 2024), "2024-11-29");
        assert_eq!(date_of("memorial day", 2027), "2027-05-31");
        assert_eq!(date_of("last monday may", 2027), "2027-05-31");
        assert_eq!(date_of("3 thursday in november", 2026), "2026-11-19");
        assert_eq!(date_of("end february", 2028), "2028-02-29");
    }

    #[test]
    fn texts_that_name_no_day_are_not_parsed() {
        assert_eq!(
            ["easterly", "last may", "tenth monday may", "last monday"].map(Rule::parse),
            [None; 4]
        );
    }
}
