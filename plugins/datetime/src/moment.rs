//! Parses dates, times and points in time.

use jiff::{
    Timestamp, Zoned,
    civil::{Date, DateTime, Time},
    fmt::{rfc2822, temporal::Pieces},
    tz::TimeZone,
};

use crate::{
    error::DateError,
    phrase::{Day, Phrase, names_month},
    zone,
};

/// A date, with a time and a time zone if they are known.
#[derive(Clone, Debug)]
pub(crate) enum Moment {
    /// A day without a time.
    Date(Date),
    /// A day and a time without a time zone.
    Local(DateTime),
    /// A point in time, in a time zone.
    Zoned(Box<Zoned>),
}

/// Maximum length of a date, in characters.
const MAX_CHARS: usize = 100;

/// A function that returns the current time. It is called only for the operation `now` and for texts without a full date, such as
/// `today`.
pub(crate) type Clock<'a> = &'a dyn Fn() -> Result<Timestamp, DateError>;

impl Moment {
    /// Parses `text`, which is the value of the input field `field`. Words such as `today` mean the current day in `zone`. A zone
    /// in brackets at the end of the text replaces `zone`. The moment is then in the zone in brackets, unless the text before the
    /// brackets has an offset.
    pub(crate) fn parse(field: &'static str, text: &str, zone: &TimeZone, clock: Clock<'_>) -> Result<Self, DateError> {
        let text = text.trim();
        if let Some((text, zone)) = split_zone(text) {
            let zoned = Self::parse(field, text, &zone, clock)?.with_default_zone(&zone)?;
            return Ok(Self::Zoned(Box::new(zoned)));
        }
        let date_error = |reason| DateError::UnreadableDate {
            field,
            text: text.chars().take(60).collect(),
            reason,
        };
        if text.chars().count() > MAX_CHARS {
            return Err(date_error(String::new()));
        }
        if text.eq_ignore_ascii_case("now") {
            // Drop the fraction of the second, which does not help in an answer.
            let now = clock()?.to_zoned(zone.clone()).round(jiff::Unit::Second);
            return now.map(|now| Self::Zoned(Box::new(now))).map_err(DateError::OutOfRange);
        }
        let iso_error = match parse_iso(text) {
            Ok(moment) => return Ok(moment),
            Err(error) => error,
        };
        if let Some(moment) = parse_unix(text).or_else(|| parse_rfc2822(text)) {
            return Ok(moment);
        }
        let phrase = Phrase::parse(text).ok_or_else(|| date_error(reason(text, &iso_error)))?;
        Self::from_phrase(phrase, zone, clock)
    }

    /// Resolves a phrase. A time without a day means this time today.
    fn from_phrase(phrase: Phrase, zone: &TimeZone, clock: Clock<'_>) -> Result<Self, DateError> {
        let date = match phrase.day {
            Some(Day::Full(date)) => date,
            day => {
                let now = clock()?.to_zoned(zone.clone());
                day.map_or(Ok(now.date()), |day| day.resolve(&now))
                    .map_err(DateError::OutOfRange)?
            }
        };
        Ok(phrase
            .time
            .map_or(Self::Date(date), |time| Self::Local(date.to_datetime(time))))
    }

    /// Returns this moment with the day that `resolve` returns, if `text` names a recurring day such as `25 December` or
    /// `Friday`. Returns the moment unchanged otherwise. `text` is the text from which this moment was parsed.
    pub(crate) fn resolve_recurring(
        &self,
        text: &str,
        resolve: impl Fn(Day) -> Result<Date, jiff::Error>,
    ) -> Result<Self, DateError> {
        let day = Phrase::parse(text).and_then(|phrase| phrase.day);
        let Some(day) = day.filter(|day| day.recurs()) else {
            return Ok(self.clone());
        };
        let date = resolve(day).map_err(DateError::OutOfRange)?;
        Ok(match self {
            Self::Date(_) => Self::Date(date),
            Self::Local(local) => Self::Local(date.to_datetime(local.time())),
            // Not reached: `Phrase::parse` reads no text with a zone.
            Self::Zoned(_) => self.clone(),
        })
    }

    /// Returns the point in time: in the zone of the moment, or in `default_zone` if it has none. A day without a time starts at
    /// midnight.
    pub(crate) fn with_default_zone(&self, default_zone: &TimeZone) -> Result<Zoned, DateError> {
        let local = match self {
            Self::Date(date) => date.to_datetime(Time::midnight()),
            Self::Local(local) => *local,
            Self::Zoned(zoned) => return Ok((**zoned).clone()),
        };
        local.to_zoned(default_zone.clone()).map_err(DateError::OutOfRange)
    }

    pub(crate) fn date(&self) -> Date {
        match self {
            Self::Date(date) => *date,
            Self::Local(local) => local.date(),
            Self::Zoned(zoned) => zoned.date(),
        }
    }

    /// Returns the moment as people write it: `15:00 on Monday, 2 March 2026 (Asia/Tokyo)`. Leaves out a time or a zone that it
    /// does not have.
    pub(crate) fn in_words(&self) -> String {
        let day = self.date().strftime("%A, %-d %B %Y");
        match self {
            Self::Date(_) => day.to_string(),
            Self::Local(local) => format!("{} on {day}", time_of_day(local.time())),
            Self::Zoned(zoned) => {
                let zone = zone::display_name(zoned.time_zone(), zoned.offset());
                format!("{} on {day} ({zone})", time_of_day(zoned.time()))
            }
        }
    }

    /// Returns the moment in ISO 8601, with the offset of its zone. Leaves out a time or an offset that it does not have.
    pub(crate) fn iso(&self) -> String {
        match self {
            Self::Date(date) => date.to_string(),
            Self::Local(local) => local.to_string(),
            Self::Zoned(zoned) => zoned.timestamp().display_with_offset(zoned.offset()).to_string(),
        }
    }
}

/// Splits off a zone in brackets at the end of a text, such as `15:00 on Monday, 2 March 2026 (Asia/Tokyo)`. Returns the text
/// before the brackets, and the zone. Returns `None` for other texts. [`Moment::in_words`] writes zones in this form.
fn split_zone(text: &str) -> Option<(&str, TimeZone)> {
    let (text, zone) = text.strip_suffix(')')?.split_once(" (")?;
    Some((text, zone::find(zone).ok()?))
}

/// Returns a time as `15:00`, with the seconds if they are not zero.
pub(crate) fn time_of_day(time: Time) -> String {
    let format = if time.second() == 0 { "%H:%M" } else { "%H:%M:%S" };
    time.strftime(format).to_string()
}

fn parse_iso(text: &str) -> Result<Moment, jiff::Error> {
    let pieces = Pieces::parse(text)?;
    if pieces.time_zone_annotation().is_some() {
        return Ok(Moment::Zoned(Box::new(text.parse()?)));
    }
    let Some(time) = pieces.time() else {
        return Ok(Moment::Date(pieces.date()));
    };
    let Some(offset) = pieces.to_numeric_offset() else {
        return Ok(Moment::Local(pieces.date().to_datetime(time)));
    };
    let zone = if offset.is_zero() {
        TimeZone::UTC
    } else {
        TimeZone::fixed(offset)
    };
    Ok(Moment::Zoned(Box::new(text.parse::<Timestamp>()?.to_zoned(zone))))
}

/// Parses a Unix timestamp: nine to eleven digits are seconds, and twelve to fourteen digits are milliseconds. Eight digits are a
/// date, which [`parse_iso`] reads.
fn parse_unix(text: &str) -> Option<Moment> {
    let number: i64 = text
        .parse()
        .ok()
        .filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))?;
    let timestamp = match text.len() {
        9..=11 => Timestamp::from_second(number),
        12..=14 => Timestamp::from_millisecond(number),
        _ => return None,
    };
    timestamp
        .ok()
        .map(|timestamp| Moment::Zoned(Box::new(timestamp.to_zoned(TimeZone::UTC))))
}

/// Parses the date format of e-mails.
fn parse_rfc2822(text: &str) -> Option<Moment> {
    rfc2822::parse(text).ok().map(|zoned| Moment::Zoned(Box::new(zoned)))
}

/// Returns in brackets why a text is no date: it names only a month, the order of its numbers is not clear, or the error of
/// [`parse_iso`] if it starts like ISO 8601. For other texts that error would not help, so returns an empty text.
fn reason(text: &str, iso_error: &jiff::Error) -> String {
    let starts_like_iso = text.bytes().take(4).filter(u8::is_ascii_digit).count() == 4;
    let numbers: Vec<_> = text.split(['/', '.', '-']).collect();
    let is_number = |part: &&str| (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    // `31.02.2026` has a clear order, but there is no such day.
    let has_order = text.contains('.') && numbers.last().is_some_and(|year| year.len() == 4);
    if names_month(text) {
        " (it names a month and no day: give a day, such as `1 March 2027`)".to_owned()
    } else if starts_like_iso {
        format!(" ({iso_error})")
    } else if numbers.len() == 3 && numbers.iter().all(is_number) && !has_order {
        " (which numbers are the day, the month and the year is not clear)".to_owned()
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 14:00 UTC on Saturday, 21 November 2026, in seconds since 1970.
    const NOW: i64 = 1_795_269_600;

    /// Parses a text at [`NOW`]. Returns the moment in ISO 8601, or the error.
    fn parse_to_iso(text: &str) -> String {
        let clock = || Ok(Timestamp::from_second(NOW).unwrap());
        Moment::parse("date", text, &TimeZone::UTC, &clock)
            .map_or_else(|error| error.to_string(), |moment| moment.iso())
    }

    #[test]
    fn iso_dates_times_and_offsets_are_parsed() {
        assert_eq!(parse_to_iso("2024-02-27"), "2024-02-27");
        assert_eq!(parse_to_iso("20240227"), "2024-02-27");
        assert_eq!(parse_to_iso(" 2024-02-27 14:30 "), "2024-02-27T14:30:00");
        assert_eq!(parse_to_iso("2024-02-27T14:30Z"), "2024-02-27T14:30:00+00:00");
        assert_eq!(
            parse_to_iso("2024-02-27T14:30:05.5+02:00"),
            "2024-02-27T14:30:05.5+02:00"
        );
        assert_eq!(
            parse_to_iso("2024-07-01T12:00[Europe/Berlin]"),
            "2024-07-01T12:00:00+02:00"
        );
    }

    #[test]
    fn unambiguous_forms_other_than_iso_8601_are_parsed() {
        let forms = [
            "27 February 2024",
            "27 Feb 2024",
            "February 27, 2024",
            "Feb 27, 2024",
            "27.02.2024",
            "2024/02/27",
        ];
        forms
            .iter()
            .for_each(|form| assert_eq!(parse_to_iso(form), "2024-02-27", "{form}"));
        assert_eq!(
            parse_to_iso("Tue, 27 Feb 2024 10:00:00 +0100"),
            "2024-02-27T10:00:00+01:00"
        );
        assert_eq!(parse_to_iso("1709028000"), "2024-02-27T10:00:00+00:00");
        assert_eq!(parse_to_iso("1709028000000"), "2024-02-27T10:00:00+00:00");
    }

    #[test]
    fn relative_days_are_resolved_with_the_clock() {
        let days = ["yesterday", "Today", "tomorrow", "now"].map(parse_to_iso);
        assert_eq!(
            days,
            ["2026-11-20", "2026-11-21", "2026-11-22", "2026-11-21T14:00:00+00:00"]
        );
    }

    #[test]
    fn ambiguous_and_impossible_dates_are_refused() {
        for text in ["02/03/2026", "13/11/26", "13.11.26", "26-11-13"] {
            let expected = format!(
                "cannot read `{text}` in `date` as a date (which numbers are the day, the month and the year is not clear); \
                 write ISO 8601, for example"
            );
            assert!(parse_to_iso(text).starts_with(&expected), "{}", parse_to_iso(text));
        }
        for text in ["November 31", "31.02.2026"] {
            let error = parse_to_iso(text);
            assert!(error.contains("as a date; write ISO 8601"), "{error}");
        }
        for text in ["Nov 2026", "March 2027", "December", "sept."] {
            let error = parse_to_iso(text);
            assert!(
                error.contains("(it names a month and no day: give a day, such as"),
                "{error}"
            );
        }
        assert!(
            parse_to_iso("2026-02-30").contains("`2026-02-30` in `date` as a date ("),
            "{}",
            parse_to_iso("2026-02-30")
        );
        ["", "soon", "2026-13-01", "99999999999999999999"]
            .iter()
            .for_each(|text| assert!(parse_to_iso(text).starts_with("cannot")));
        // The error quotes only the beginning of a long text.
        assert!(parse_to_iso(&"9".repeat(10_000)).len() < 300);
    }
}
