//! The operations of the tool.

use jiff::{Span, Zoned, civil::Date, fmt::strtime, tz::TimeZone};

use crate::{
    error::DateError,
    io::{Answer, DatetimeInput, DatetimeOutput, Operation, Unit},
    moment::{Clock, Moment, time_of_day},
    phrase::{Day, Phrase},
    words, workdays, zone,
};

/// Maximum length of the pattern in `format`, in characters. Each directive in it expands to at most a few hundred characters, so
/// this limits the length of the answer too.
const MAX_FORMAT_CHARS: usize = 200;

/// Runs the operation. Reads the clock only for the operation `now` and for texts without a full date, such as `today`.
pub(crate) fn run(input: &DatetimeInput, clock: Clock<'_>) -> Result<DatetimeOutput, DateError> {
    let call = Call {
        input,
        clock,
        default_zone: optional_zone(input.from_zone.as_deref())?.unwrap_or(TimeZone::UTC),
    };
    let answer = match input.operation {
        Operation::Difference => call.difference(),
        Operation::Add => call.add("add", 1.0),
        Operation::Subtract => call.add("subtract", -1.0),
        Operation::Convert => call.convert(),
        Operation::Weekday => Ok(Answer::Text(weekday(call.parse_date("weekday")?.date()))),
        Operation::WeekNumber => Ok(Answer::Number(
            call.parse_date("week_number")?.date().iso_week_date().week().into(),
        )),
        Operation::DayOfYear => Ok(Answer::Number(
            call.parse_date("day_of_year")?.date().day_of_year().into(),
        )),
        Operation::Quarter => Ok(Answer::Number(quarter(call.parse_date("quarter")?.date()))),
        Operation::LeapYear => call.leap_year(),
        Operation::Parse => Ok(Answer::Text(call.parse_date("parse")?.iso())),
        Operation::Format => call.format(),
        Operation::Now => call.now(),
    };
    answer.map(|result| DatetimeOutput { result })
}

fn quarter(date: Date) -> i64 {
    (i64::from(date.month()) + 2) / 3
}

fn optional_zone(name: Option<&str>) -> Result<Option<TimeZone>, DateError> {
    name.filter(|name| !name.trim().is_empty()).map(zone::find).transpose()
}

/// A call of the tool: its input, and what is needed to answer it.
struct Call<'a> {
    input: &'a DatetimeInput,
    clock: Clock<'a>,
    /// The time zone of dates without a zone.
    default_zone: TimeZone,
}

impl Call<'_> {
    /// Parses the text of an input field. Fails if `text` is `None`, that is, if the field is missing. `operation`
    /// and `field` are named in the errors.
    fn parse_field(
        &self,
        operation: &'static str,
        field: &'static str,
        text: Option<&String>,
    ) -> Result<Moment, DateError> {
        let hint = "a date such as `2026-11-21`";
        let text = text.ok_or(DateError::MissingField { operation, field, hint })?;
        Moment::parse(field, text, &self.default_zone, self.clock)
    }

    /// Parses the `date` of the input, with the `time` and the `year` that may be given separately.
    fn parse_date(&self, operation: &'static str) -> Result<Moment, DateError> {
        let date = self.with_year("date", self.input.date.as_ref())?;
        let text = match (date, self.input.time.as_deref()) {
            (Some(date), Some(time)) => Some(format!("{date} {time}")),
            (date, time) => date.or_else(|| time.map(str::to_owned)),
        };
        self.parse_field(operation, "date", text.as_ref())
    }

    /// Returns the `text` of an input field. If it names a day of each year, such as `25 December at 3 pm`, and the input has a
    /// year, returns the day in this year in ISO 8601 instead. Fails if this year does not have the day. Also fails if the input
    /// has a year and the text names a weekday, such as `Friday` or `next Friday`, because a year has many Fridays. A past
    /// weekday, such as `last Friday`, is allowed, and the year is ignored.
    fn with_year(&self, field: &'static str, text: Option<&String>) -> Result<Option<String>, DateError> {
        let phrase = text.and_then(|text| Phrase::parse(text));
        let (Some(text), Some(year), Some(phrase)) = (text, self.input.year, phrase) else {
            return Ok(text.cloned());
        };
        match phrase.day {
            Some(Day::Yearly(rule)) => {
                let date = rule.in_year(year).map_err(|error| DateError::UnreadableDate {
                    field,
                    text: format!("{text} {year}").chars().take(60).collect(),
                    reason: format!(" ({error})"),
                })?;
                let time = phrase.time;
                let iso = time.map_or_else(|| date.to_string(), |time| date.to_datetime(time).to_string());
                Ok(Some(iso))
            }
            Some(Day::Weekday { is_past: false, .. }) => Err(DateError::YearWithWeekday {
                field,
                text: text.chars().take(60).collect(),
            }),
            _ => Ok(Some(text.clone())),
        }
    }

    fn difference(&self) -> Result<Answer, DateError> {
        let (start, end) = self.start_and_end()?;
        // Count days and months in one time zone.
        let end = end.with_time_zone(start.time_zone().clone());
        if self.input.unit == Some(Unit::WorkingDays) {
            let days = words::format_amount(workdays::count(start.date(), end.date()), Unit::WorkingDays);
            return Ok(Answer::Text(format!(
                "{days} (Monday to Friday, first and last day included)"
            )));
        }
        let unit = self.input.unit.unwrap_or_default();
        let total = start
            .until((unit.to_jiff(), &end))
            .and_then(|span| span.total((unit.to_jiff(), &start)));
        let total = total.map_err(DateError::OutOfRange)?;
        if self.input.unit.is_some() && total.fract() == 0.0 {
            // The cast is exact: the years -9999 to 9999 have fewer than 2^53 seconds.
            return Ok(Answer::Number(total as i64));
        }
        let largest_unit = self.input.unit.map_or(jiff::Unit::Year, Unit::to_jiff);
        let span = start.until((largest_unit, &end)).map_err(DateError::OutOfRange)?;
        let (breakdown, total_text) = (words::format_breakdown(&span), words::format_amount(total, unit));
        // Leave out the total if it says the same as the breakdown, or if it has a fraction and no unit was asked for.
        let repeats_breakdown = breakdown.trim_start_matches("minus ") == total_text.trim_start_matches('-');
        let omits_total = repeats_breakdown || (self.input.unit.is_none() && total.fract() != 0.0);
        Ok(Answer::Text(if omits_total {
            breakdown
        } else {
            format!("{breakdown} ({total_text})")
        }))
    }

    /// Returns the start and the end of a difference. If the start is a recurring day such as `25 December`, it is resolved to
    /// the last such day up to the end. If the end is a recurring day, it is resolved to the next such day from the start on.
    fn start_and_end(&self) -> Result<(Zoned, Zoned), DateError> {
        let start_text = self.with_year("start", self.input.start.as_ref())?;
        let end_text = self.with_year("end", self.input.end.as_ref())?;
        let start = self.parse_field("difference", "start", start_text.as_ref())?;
        let end = self.parse_field("difference", "end", end_text.as_ref())?;
        let start = start.resolve_recurring(&start_text.unwrap_or_default(), |day| day.last_until(end.date()))?;
        let end = end.resolve_recurring(&end_text.unwrap_or_default(), |day| day.next_from(start.date()))?;
        Ok((
            start.with_default_zone(&self.default_zone)?,
            end.with_default_zone(&self.default_zone)?,
        ))
    }

    /// Adds `amount` units to `date`, or subtracts them if `sign` is -1. `operation` is named in the errors.
    fn add(&self, operation: &'static str, sign: f64) -> Result<Answer, DateError> {
        let date = self.parse_date(operation)?;
        let hint = "how many units";
        let amount = self
            .input
            .amount
            .map(|amount| amount.0.to_f64())
            .ok_or(DateError::MissingField {
                operation,
                field: "amount",
                hint,
            })?;
        let unit = self.input.unit.unwrap_or_default();
        if unit == Unit::WorkingDays {
            let amount = to_whole_number(sign * amount)?;
            let sum = workdays::add(date.date(), amount).map_err(DateError::OutOfRange)?;
            return Ok(Answer::Text(Moment::Date(sum).in_words()));
        }
        let span = to_span(sign * amount, unit)?;
        let sum = match &date {
            Moment::Date(day) if is_calendar_unit(unit) => day.checked_add(span).map(Moment::Date),
            Moment::Date(day) => day.at(0, 0, 0, 0).checked_add(span).map(Moment::Local),
            Moment::Local(local) => local.checked_add(span).map(Moment::Local),
            Moment::Zoned(zoned) => zoned.checked_add(span).map(|sum| Moment::Zoned(Box::new(sum))),
        };
        let sum = sum.map_err(DateError::OutOfRange)?;
        // For a time without a day, as in `45 minutes after 14:30`, the answer is a time, unless the day changes.
        let given_phrase = self
            .input
            .date
            .as_deref()
            .or(self.input.time.as_deref())
            .and_then(Phrase::parse);
        let is_time = given_phrase.is_some_and(|phrase| phrase.day.is_none()) && sum.date() == date.date();
        Ok(Answer::Text(match sum {
            Moment::Local(local) if is_time => time_of_day(local.time()),
            sum => sum.in_words(),
        }))
    }

    fn convert(&self) -> Result<Answer, DateError> {
        let zoned = self.parse_date("convert")?.with_default_zone(&self.default_zone)?;
        let hint = "a time zone such as `Asia/Tokyo`";
        let missing = DateError::MissingField {
            operation: "convert",
            field: "to_zone",
            hint,
        };
        let to = optional_zone(self.input.to_zone.as_deref())?.ok_or(missing)?;
        Ok(answer_in_words(zoned.with_time_zone(to)))
    }

    fn leap_year(&self) -> Result<Answer, DateError> {
        let date = match self.input.year {
            Some(year) => Date::new(year, 1, 1).map_err(DateError::OutOfRange)?,
            None => self.parse_date("leap_year")?.date(),
        };
        let (answer, not) = if date.in_leap_year() {
            ("yes", "")
        } else {
            ("no", "not ")
        };
        Ok(Answer::Text(format!("{answer}, {} is {not}a leap year", date.year())))
    }

    fn format(&self) -> Result<Answer, DateError> {
        let moment = self.parse_date("format")?;
        let Some(pattern) = self.input.format.as_deref() else {
            return Ok(Answer::Text(moment.iso()));
        };
        if pattern.chars().count() > MAX_FORMAT_CHARS {
            return Err(DateError::FormatTooLong(MAX_FORMAT_CHARS));
        }
        if let Some(word) = foreign_directive(pattern) {
            return Err(DateError::NoDirective(word.to_owned()));
        }
        let result =
            strtime::format(pattern, &moment.with_default_zone(&self.default_zone)?).map_err(DateError::BadFormat)?;
        Ok(Answer::Text(result))
    }

    fn now(&self) -> Result<Answer, DateError> {
        let to = optional_zone(self.input.to_zone.as_deref())?.unwrap_or_else(|| self.default_zone.clone());
        let now = (self.clock)()?.to_zoned(to);
        // Drop the fraction of the second, which does not help in an answer.
        let now = now.round(jiff::Unit::Second).map_err(DateError::OutOfRange)?;
        Ok(answer_in_words(now))
    }
}

/// Returns the first word of a pattern that would be a part of a date in other languages of patterns, such as `YYYY`, or the whole
/// pattern if it has no directive at all.
fn foreign_directive(pattern: &str) -> Option<&str> {
    let is_foreign = |word: &&str| {
        let first = word.chars().next().unwrap_or_default();
        let is_repeated = word.len() > 1 && word.chars().all(|sign| sign == first);
        is_repeated && "yYmMdDhHsS".contains(first)
    };
    // A flag or a width may stand between `%` and the letter of a directive.
    let is_letter = |sign: char| sign.is_ascii_alphabetic();
    let directives = pattern
        .split('%')
        .skip(1)
        .map(|text| text.trim_start_matches(|sign| !is_letter(sign)));
    let directives = directives.map(|text| text.get(1..).unwrap_or_default());
    let texts = pattern.split('%').take(1).chain(directives);
    let mut words = texts.flat_map(|text| text.split(|sign: char| !sign.is_ascii_alphabetic()));
    words
        .find(is_foreign)
        .or_else(|| (!pattern.contains('%')).then_some(pattern))
}

fn answer_in_words(zoned: Zoned) -> Answer {
    Answer::Text(Moment::Zoned(Box::new(zoned)).in_words())
}

fn is_calendar_unit(unit: Unit) -> bool {
    matches!(unit, Unit::Years | Unit::Months | Unit::Weeks | Unit::Days)
}

fn to_whole_number(amount: f64) -> Result<i64, DateError> {
    if amount.fract() != 0.0 {
        return Err(DateError::FractionalAmount(amount));
    }
    // The cast saturates: a huge amount fails later, because the date is out of range.
    Ok(amount as i64)
}

fn to_span(amount: f64, unit: Unit) -> Result<Span, DateError> {
    let amount = to_whole_number(amount)?;
    let span = Span::new();
    let span = match unit {
        Unit::Years => span.try_years(amount),
        Unit::Months => span.try_months(amount),
        Unit::Weeks => span.try_weeks(amount),
        Unit::Days | Unit::WorkingDays => span.try_days(amount),
        Unit::Hours => span.try_hours(amount),
        Unit::Minutes => span.try_minutes(amount),
        Unit::Seconds => span.try_seconds(amount),
    };
    span.map_err(DateError::OutOfRange)
}

fn weekday(date: Date) -> String {
    date.strftime("%A").to_string()
}
