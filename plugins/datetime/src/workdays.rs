//! Counts and adds working days: the days from Monday to Friday. Public holidays count as working days, because they differ from
//! place to place.

use jiff::{
    Span,
    civil::{Date, Weekday},
};

/// Number of working days in a week.
const WORKDAYS_PER_WEEK: i64 = 5;

/// Returns the number of working days from `start` to `end`, both included; negative if `end` is before `start`.
pub(crate) fn count(start: Date, end: Date) -> f64 {
    if end < start {
        return -count(end, start);
    }
    let days = (end - start).get_days() + 1;
    // Each seven days in a row have five working days. The days left over at the end fall on the same weekdays as the first days
    // from `start` on, so count these instead.
    let remaining = start
        .series(Span::new().days(1))
        .take(usize::try_from(days % 7).unwrap_or_default());
    let remaining_workdays = remaining.filter(|date| is_workday(*date)).count();
    f64::from(days / 7) * WORKDAYS_PER_WEEK as f64 + remaining_workdays as f64
}

/// Returns the date that is `amount` working days after `date`, or before it if `amount` is negative.
pub(crate) fn add(date: Date, amount: i64) -> Result<Date, jiff::Error> {
    let step = Span::new().days(amount.signum());
    let back = Span::new().days(-amount.signum());
    let mut date = date;
    // From a weekend, count forwards from the Friday before it, and backwards from the Monday after it.
    while amount != 0 && !is_workday(date) {
        date = date.checked_add(back)?;
    }
    date = date.checked_add(Span::new().try_weeks(amount / WORKDAYS_PER_WEEK)?)?;
    for _ in 0..(amount % WORKDAYS_PER_WEEK).abs() {
        date = date.checked_add(step)?;
        while !is_workday(date) {
            date = date.checked_add(step)?;
        }
    }
    Ok(date)
}

fn is_workday(date: Date) -> bool {
    !matches!(date.weekday(), Weekday::Saturday | Weekday::Sunday)
}
