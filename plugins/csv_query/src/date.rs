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

/// A date, or a month, whose day is 0.
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
        let text = text.trim();
        let date_and_time = text.split_once(['T', ' ']).filter(|(_, time)| time.contains(':'));
        let text = date_and_time.map_or(text, |(date, _)| date);
        for (separator, is_reversed) in [('-', false), ('/', false), ('.', true)] {
            let mut parts: Vec<&str> = text.split(separator).collect();
            if is_reversed {
                parts.reverse();
            }
            match parts.as_slice() {
                [year, month, day] => return Self::new(year, parse_number(month)?, parse_number(day)?),
                [year, month] if separator != '.' => return Self::new(year, parse_number(month)?, 0),
                _ => {}
            }
        }
        let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        match words.as_slice() {
            [first, second, year] => match parse_month(first) {
                Some(month) => Self::new(year, month, parse_number(second)?),
                None => Self::new(year, parse_month(second)?, parse_number(first)?),
            },
            [first, year] => Self::new(year, parse_month(first)?, 0),
            _ => None,
        }
    }

    fn new(year: &str, month: u8, day: u8) -> Option<Self> {
        let is_year = year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit());
        let year = year.parse().ok().filter(|_| is_year)?;
        ((1..=12).contains(&month) && day <= 31).then_some(Self { year, month, day })
    }

    /// Returns a number that is greater for later dates.
    pub(crate) fn order(self) -> u32 {
        (u32::from(self.year) * 100 + u32::from(self.month)) * 100 + u32::from(self.day)
    }

    /// Returns the date with the precision of `other`: only the month if `other` is a month.
    pub(crate) fn as_precise_as(self, other: Self) -> Self {
        let day = if other.day == 0 { 0 } else { self.day };
        Self { day, ..self }
    }
}

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
        let date = Date::new("2026", 3, 5);
        forms
            .iter()
            .for_each(|form| assert_eq!(Date::parse(form), date, "{form}"));
        ["2026-03", "March 2026"]
            .iter()
            .for_each(|form| assert_eq!(Date::parse(form), Date::new("2026", 3, 0), "{form}"));
    }

    #[test]
    fn other_texts_are_no_dates() {
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
