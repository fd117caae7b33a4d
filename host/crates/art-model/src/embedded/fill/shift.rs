//! A day some time before or after another: the day, the amount, its unit and the direction go to the parameters that a
//! tool has for them.

use serde_json::{Value, json};

use super::super::class::Class;
use super::super::expression::REFERENCE;
use super::super::measure::{self, Unit};
use super::super::reading::{Shape, Shift, iso, number_value};
use super::super::schema::{Param, Type, text_of};
use super::super::words;
use super::{Filling, rank, value};

/// Words of a tool that goes back in time.
const BACK: &[&str] = &[
    "subtract", "minus", "before", "back", "backward", "ago", "earlier", "past", "negative",
];
/// Values of an operation that goes on in time, best first.
const ON: &[&str] = &["add", "plus", "after", "forward", "shift", "move", "offset", "later"];

/// Fills the parameters for a day that is told by its distance from another. A tool that takes such a day but not the one
/// asked for is refused.
pub(super) fn fill(filling: &mut Filling<'_>) {
    let Some(shift) = filling.context.part.shift() else {
        return;
    };
    let Some(amount) = Amount::of(filling, &shift) else {
        return;
    };
    let Some(day) = day_param(filling) else { return };
    let operation = operation(filling, shift.back);
    let negative = shift.back && !operation.as_ref().is_some_and(|(_, _, goes_back)| *goes_back);
    let value = match amount.value(&shift, negative, &filling.tool.shown) {
        Some(value) => value,
        None => return filling.refuse(amount.param),
    };
    let Some(base) = base(filling, day, &shift) else {
        return filling.refuse(day);
    };
    filling.consume(shift.from, shift.to);
    filling.set(amount.param, value, 1.0);
    filling.set(day, base, 1.0);
    if let Some((param, unit)) = amount.unit {
        filling.set(param, unit, 1.0);
    }
    if let Some((param, choice, _)) = operation {
        filling.set(param, choice, 1.0);
    }
}

/// "How many days until X" counts from today and "since X" up to today, where the tool knows that word.
pub(super) fn fill_today(filling: &mut Filling<'_>) {
    let tokens = &filling.context.part.tokens;
    let says = |words: &[&str]| tokens.iter().any(|token| token.is_any(words));
    let ends: &[&str] = match (says(&["until", "till"]), says(&["since"])) {
        (true, false) => &["start", "from", "begin"],
        (false, true) => &["end", "to"],
        _ => return,
    };
    let open = filling.params.iter().enumerate().filter(|(index, param)| {
        filling.is_open(*index) && param.class == Class::Date && param.kind == Type::Text && filling.applies(param)
    });
    let wanted = open.filter(|(_, param)| param.name_stems.iter().any(|stem| ends.contains(&stem.as_str())));
    let today = wanted.filter_map(|(index, param)| Some((index, today(param)?))).next();
    if let Some((index, today)) = today {
        filling.set(index, today, 1.0);
    }
}

/// The word for today, where the description of the parameter has one.
fn today(param: &Param) -> Option<Value> {
    let about = words::split(&param.description);
    let word = ["today", "now"]
        .into_iter()
        .find(|word| about.iter().any(|other| other == word));
    word.map(|word| json!(word))
}

/// Where the length of time goes.
struct Amount {
    param: usize,
    kind: Kind,
    /// The parameter and value of the unit, where the tool has one.
    unit: Option<(usize, Value)>,
}

enum Kind {
    Duration,
    Number(&'static Unit),
}

impl Amount {
    fn of(filling: &Filling<'_>, shift: &Shift) -> Option<Self> {
        let unit = shift.spans.first()?.unit;
        Self::duration(filling)
            .or_else(|| Self::with_unit(filling, unit))
            .or_else(|| Self::counted(filling, unit))
    }

    /// One parameter for all of it, in ISO 8601.
    fn duration(filling: &Filling<'_>) -> Option<Self> {
        let takes = |param: &Param| param.class == Class::Duration && param.kind == Type::Text;
        let (param, _) = open(filling).find(|(_, param)| takes(param))?;
        Some(Self {
            param,
            kind: Kind::Duration,
            unit: None,
        })
    }

    /// A number and a choice of units.
    fn with_unit(filling: &Filling<'_>, unit: &'static Unit) -> Option<Self> {
        let choice = open(filling).find_map(|(index, param)| Some((index, unit_choice(param, unit)?)))?;
        let numbers = open(filling).filter(|(_, param)| is_plain_number(param));
        let (param, _) = numbers.max_by_key(|(_, param)| counts(param))?;
        Some(Self {
            param,
            kind: Kind::Number(unit),
            unit: Some(choice),
        })
    }

    /// A number that counts one unit of time, the one asked for before others.
    fn counted(filling: &Filling<'_>, unit: &'static Unit) -> Option<Self> {
        let wanted = |param: &Param| measure::wanted(filling.tool, param).filter(|unit| unit.is_time());
        let numbers = open(filling).filter(|(_, param)| is_plain_number(param));
        let timed = numbers.filter_map(|(index, param)| Some((index, wanted(param)?)));
        let (param, wanted) = timed.min_by_key(|(_, wanted)| *wanted != unit)?;
        Some(Self {
            param,
            kind: Kind::Number(wanted),
            unit: None,
        })
    }

    /// The value for the parameter; none when the tool cannot say it.
    fn value(&self, shift: &Shift, negative: bool, shown: &str) -> Option<Value> {
        let goes_back = words::split(shown)
            .iter()
            .any(|word| BACK.iter().any(|back| word.starts_with(back)));
        if negative && !goes_back {
            return None;
        }
        match (&self.kind, shift.spans.as_slice()) {
            (Kind::Duration, spans) => iso(spans).map(|text| json!(if negative { format!("-{text}") } else { text })),
            (Kind::Number(wanted), [span]) => {
                let amount = measure::scaled(span.amount, span.unit.in_units_of(wanted)?);
                Some(number_value(if negative { -amount } else { amount }))
            }
            _ => None,
        }
    }
}

fn open<'a>(filling: &Filling<'a>) -> impl Iterator<Item = (usize, &'a Param)> {
    let params = filling.params.iter().enumerate();
    params.filter(|(index, _)| filling.is_open(*index))
}

fn is_plain_number(param: &Param) -> bool {
    matches!(param.kind, Type::Number | Type::Integer) && param.choices.is_empty()
}

/// How much a name says that the parameter counts.
fn counts(param: &Param) -> usize {
    const NAMES: &[&str] = &[
        "amount", "number", "count", "valu", "quantiti", "offset", "delta", "n", "interv",
    ];
    let named = param.name_stems.iter().any(|stem| NAMES.contains(&stem.as_str()));
    usize::from(named) * 2 + usize::from(param.required)
}

fn unit_choice(param: &Param, unit: &'static Unit) -> Option<Value> {
    let same = |value: &Value| value.as_str().and_then(measure::named) == Some(unit);
    param
        .choices
        .iter()
        .map(|choice| &choice.value)
        .find(|value| same(value))
        .cloned()
}

/// The parameter that takes the day: one that is called a date, before one that starts a range.
fn day_param(filling: &Filling<'_>) -> Option<usize> {
    let score = |param: &Param| {
        let is = |names: &[&str]| param.name_stems.iter().any(|stem| names.contains(&stem.as_str()));
        match () {
            () if param.name_stems.as_slice() == ["date"] => 4,
            () if is(&["start", "base", "from", "begin"]) => 3,
            () if is(&["end", "to", "until"]) => 0,
            () => 2,
        }
    };
    let takes_day = |(index, param): &(usize, &Param)| {
        param.class == Class::Date && param.kind == Type::Text && param.choices.is_empty() && filling.is_open(*index)
    };
    let days = filling.params.iter().enumerate().filter(takes_day);
    days.rev().max_by_key(|(_, param)| score(param)).map(|(index, _)| index)
}

/// The value of the parameter that chooses between adding and subtracting, and whether it subtracts.
fn operation(filling: &Filling<'_>, back: bool) -> Option<(usize, Value, bool)> {
    let find = |wanted: &[&str]| {
        wanted.iter().find_map(|word| {
            filling.params.iter().enumerate().find_map(|(index, param)| {
                let means = |value: &Value| words::split(&text_of(value)).iter().any(|part| part == word);
                let choice = param.choices.iter().find(|choice| means(&choice.value))?;
                Some((index, choice.value.clone()))
            })
        })
    };
    let found = |words: &[&str], goes_back: bool| find(words).map(|(index, value)| (index, value, goes_back));
    back.then(|| found(BACK, true)).flatten().or_else(|| found(ON, false))
}

/// The day to start from as the parameter takes it; none when only a calendar could tell it.
fn base(filling: &Filling<'_>, day: usize, shift: &Shift) -> Option<Value> {
    let param = filling.params.get(day)?;
    match &shift.base {
        Some(candidate) if candidate.shape == Shape::Reference => Some(json!(REFERENCE)),
        Some(candidate) if candidate.shape == Shape::RelativeDate && rank::wants_calendar_date(param) => None,
        Some(candidate) => value::of(filling.tool, param, candidate, filling.context.part).map(|(value, _, _)| value),
        None => today(param),
    }
}
