//! The operations of the tool.

use jiff::{Span, Zoned, civil::Date, fmt::strtime, tz::TimeZone};

use crate::{
    error::DateError,
    io::{DatetimeInput, DatetimeOutput, Operation, Unit},
    moment::{Clock, Moment},
    words, zone,
};

/// Maximum length of a pattern, in characters. Each of them expands to at most a few hundred characters.
const MAX_FORMAT_CHARS: usize = 200;

/// Runs the operation. Reads the clock only if the answer depends on it.
pub(crate) fn run(input: &DatetimeInput, clock: Clock<'_>) -> Result<DatetimeOutput, DateError> {
    let call = Call {
        input,
        clock,
        from: optional_zone(input.from_zone.as_deref())?.unwrap_or(TimeZone::UTC),
    };
    match input.operation {
        Operation::Difference => call.difference(),
        Operation::Add => call.add("add", 1.0),
        Operation::Subtract => call.add("subtract", -1.0),
        Operation::Convert => call.convert(),
        Operation::Weekday => call.weekday(),
        Operation::Parse => Ok(describe(&call.date("parse")?)),
        Operation::Format => call.format(),
        Operation::Now => call.now(),
    }
}

fn optional_zone(name: Option<&str>) -> Result<Option<TimeZone>, DateError> {
    name.filter(|name| !name.trim().is_empty()).map(zone::find).transpose()
}

struct Call<'a> {
    input: &'a DatetimeInput,
    clock: Clock<'a>,
    /// The zone of dates without one.
    from: TimeZone,
}

impl Call<'_> {
    fn moment(&self, operation: &'static str, field: &'static str, text: Option<&String>) -> Result<Moment, DateError> {
        let hint = "a date such as `2026-11-21`";
        let text = text.ok_or(DateError::Missing { operation, field, hint })?;
        Moment::parse(field, text, &self.from, self.clock)
    }

    fn date(&self, operation: &'static str) -> Result<Moment, DateError> {
        self.moment(operation, "date", self.input.date.as_ref())
    }

    fn difference(&self) -> Result<DatetimeOutput, DateError> {
        let (start, end) = self.bounds()?;
        // Count days and months in one time zone.
        let end = end.with_time_zone(start.time_zone().clone());
        let unit = self.input.unit;
        let total = start
            .until((unit.to_jiff(), &end))
            .and_then(|span| span.total((unit.to_jiff(), &start)));
        let value = words::number(total.map_err(DateError::Range)?);
        let result = value
            .as_ref()
            .map(|value| words::amount(value, unit))
            .unwrap_or_default();
        let breakdown = Some(breakdown(&start, &end, unit)?);
        Ok(DatetimeOutput {
            result,
            value,
            breakdown,
            ..DatetimeOutput::default()
        })
    }

    /// Returns start and end of a difference. A recurring day is the last one before the end or the next one after the
    /// start.
    fn bounds(&self) -> Result<(Zoned, Zoned), DateError> {
        let (first, last) = (self.input.start.as_ref(), self.input.end.as_ref());
        let start = self.moment("difference", "start", first)?;
        let end = self.moment("difference", "end", last)?;
        let text = |text: Option<&String>| text.cloned().unwrap_or_default();
        let start = start.resolve_recurring(&text(first), |day| day.last_until(end.date()))?;
        let end = end.resolve_recurring(&text(last), |day| day.next_from(start.date()))?;
        Ok((start.in_zone(&self.from)?, end.in_zone(&self.from)?))
    }

    /// Adds `amount` units to `date`, or subtracts them if `sign` is -1.
    fn add(&self, operation: &'static str, sign: f64) -> Result<DatetimeOutput, DateError> {
        let date = self.date(operation)?;
        let hint = "how many units";
        let amount = self.input.amount.ok_or(DateError::Missing {
            operation,
            field: "amount",
            hint,
        })?;
        let span = span(sign * amount, self.input.unit)?;
        let sum = match date {
            Moment::Date(day) if is_calendar(self.input.unit) => day.checked_add(span).map(Moment::Date),
            Moment::Date(day) => day.at(0, 0, 0, 0).checked_add(span).map(Moment::Local),
            Moment::Local(local) => local.checked_add(span).map(Moment::Local),
            Moment::Zoned(zoned) => zoned.checked_add(span).map(|sum| Moment::Zoned(Box::new(sum))),
        };
        let sum = sum.map_err(DateError::Range)?;
        Ok(DatetimeOutput {
            week_number: None,
            day_of_year: None,
            ..describe(&sum)
        })
    }

    fn convert(&self) -> Result<DatetimeOutput, DateError> {
        let point = self.date("convert")?.in_zone(&self.from)?;
        let hint = "a time zone such as `Asia/Tokyo`";
        let missing = DateError::Missing {
            operation: "convert",
            field: "to_zone",
            hint,
        };
        let to = optional_zone(self.input.to_zone.as_deref())?.ok_or(missing)?;
        Ok(in_zone(point.with_time_zone(to)))
    }

    fn weekday(&self) -> Result<DatetimeOutput, DateError> {
        let output = describe(&self.date("weekday")?);
        let result = output.weekday.clone().unwrap_or_default();
        Ok(DatetimeOutput {
            result,
            zone: None,
            unix_seconds: None,
            ..output
        })
    }

    fn format(&self) -> Result<DatetimeOutput, DateError> {
        let moment = self.date("format")?;
        let Some(pattern) = self.input.format.as_deref() else {
            return Ok(DatetimeOutput {
                result: moment.iso(),
                ..DatetimeOutput::default()
            });
        };
        if pattern.chars().count() > MAX_FORMAT_CHARS {
            return Err(DateError::LongFormat(MAX_FORMAT_CHARS));
        }
        let result = strtime::format(pattern, &moment.in_zone(&self.from)?).map_err(DateError::Format)?;
        Ok(DatetimeOutput {
            result,
            ..DatetimeOutput::default()
        })
    }

    fn now(&self) -> Result<DatetimeOutput, DateError> {
        let to = optional_zone(self.input.to_zone.as_deref())?.unwrap_or_else(|| self.from.clone());
        let now = (self.clock)()?.to_zoned(to);
        // Drop the fraction of the second, which is noise in an answer.
        let now = now.round(jiff::Unit::Second).map_err(DateError::Range)?;
        Ok(in_zone(now))
    }
}

fn breakdown(start: &Zoned, end: &Zoned, unit: Unit) -> Result<String, DateError> {
    let largest = if unit == Unit::Weeks {
        jiff::Unit::Week
    } else {
        jiff::Unit::Year
    };
    let span = start.until((largest, end)).map_err(DateError::Range)?;
    Ok(words::breakdown(&span))
}

fn is_calendar(unit: Unit) -> bool {
    matches!(unit, Unit::Years | Unit::Months | Unit::Weeks | Unit::Days)
}

fn span(amount: f64, unit: Unit) -> Result<Span, DateError> {
    if amount.fract() != 0.0 {
        return Err(DateError::Fraction(amount));
    }
    // The cast saturates, and the result is then out of range.
    let amount = amount as i64;
    let span = Span::new();
    let span = match unit {
        Unit::Years => span.try_years(amount),
        Unit::Months => span.try_months(amount),
        Unit::Weeks => span.try_weeks(amount),
        Unit::Days => span.try_days(amount),
        Unit::Hours => span.try_hours(amount),
        Unit::Minutes => span.try_minutes(amount),
        Unit::Seconds => span.try_seconds(amount),
    };
    span.map_err(DateError::Range)
}

fn in_zone(point: Zoned) -> DatetimeOutput {
    let output = describe(&Moment::Zoned(Box::new(point)));
    DatetimeOutput {
        week_number: None,
        day_of_year: None,
        ..output
    }
}

/// Returns the output for a date, with all details that are known of it.
fn describe(moment: &Moment) -> DatetimeOutput {
    let date = moment.date();
    let point = if let Moment::Zoned(zoned) = moment {
        Some(zoned)
    } else {
        None
    };
    DatetimeOutput {
        result: moment.iso(),
        weekday: Some(weekday(date)),
        week_number: Some(date.iso_week_date().week()),
        day_of_year: Some(date.day_of_year()),
        zone: point.map(|zoned| zone::name(zoned.time_zone(), zoned.offset())),
        unix_seconds: point.map(|zoned| zoned.timestamp().as_second()),
        ..DatetimeOutput::default()
    }
}

fn weekday(date: Date) -> String {
    date.strftime("%A").to_string()
}
