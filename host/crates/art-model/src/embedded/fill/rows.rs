//! Lists of objects with a text and a number: "apple 3, pear 5".

use art_core::JsonObject;
use serde_json::{Value, json};

use super::super::reading::{Reading, number_value};
use super::super::schema::{Param, Type};
use super::super::token::{Kind, Token};
use super::super::words;
use super::Filling;

/// Rows of one list.
const ROWS: usize = 100;
/// Words of one text.
const WORDS: usize = 6;

/// The two fields that a row fills.
struct Fields<'a> {
    text: &'a Param,
    number: &'a Param,
}

/// A row as it stands in the text, and whether the number comes first.
struct Row {
    text: String,
    number: f64,
    number_first: bool,
    to: usize,
}

/// The rows that the text lists for `param`, when the types of `fields` leave no doubt where each piece goes.
pub(super) fn fill(filling: &mut Filling<'_>, param: &Param, fields: &[Param]) -> Option<Value> {
    let fields = Fields::of(fields)?;
    let part = filling.context.part;
    let (from, rows, to) = starts(filling, param).find_map(|from| {
        let rows = rows(part, from);
        let to = rows.last()?.to;
        Some((from, rows, to))
    })?;
    if !filling.is_free(from, to) {
        return None;
    }
    filling.consume(from, to);
    let objects = rows.iter().map(|row| fields.object(row));
    objects.collect::<Option<Vec<_>>>().map(Value::Array)
}

impl<'a> Fields<'a> {
    /// One text and one number, with nothing else that a row would have to have. Two of a kind could be swapped.
    fn of(fields: &'a [Param]) -> Option<Self> {
        let only = |test: fn(&Param) -> bool| {
            let mut fitting = fields.iter().filter(|field| test(field));
            let required = fields.iter().filter(|field| test(field) && field.required);
            match (required.clone().count(), fitting.clone().count()) {
                (1, _) => required.into_iter().next(),
                (0, 1) => fitting.next(),
                _ => None,
            }
        };
        let text = only(|field| field.kind == Type::Text && field.choices.is_empty())?;
        let number = only(|field| matches!(field.kind, Type::Number | Type::Integer) && field.choices.is_empty())?;
        let others = fields.iter().filter(|field| field.required && !field.has_default);
        let complete = others
            .into_iter()
            .all(|field| field.name == text.name || field.name == number.name);
        complete.then_some(Self { text, number })
    }

    fn object(&self, row: &Row) -> Option<Value> {
        if self.number.kind == Type::Integer && row.number.fract() != 0.0 {
            return None;
        }
        let mut object = JsonObject::new();
        object.insert(self.text.name.clone(), json!(row.text));
        object.insert(self.number.name.clone(), number_value(row.number));
        Some(Value::Object(object))
    }
}

/// Where a list may begin: behind a colon, behind the name of the parameter, behind "for", "of" or "with".
fn starts<'a>(filling: &Filling<'a>, param: &'a Param) -> impl Iterator<Item = usize> + use<'a> {
    let part = filling.context.part;
    let named = |token: &Token| param.name_stems.contains(&words::stem(&token.lower()));
    let places = move |test: &dyn Fn(&Token) -> bool| -> Vec<usize> {
        let tokens = part.tokens.iter().enumerate();
        tokens
            .filter(|(_, token)| test(token))
            .map(|(index, _)| index + 1)
            .collect()
    };
    let colons = places(&|token| token.is(":"));
    let names = places(&|token| token.is_word() && named(token));
    let others = places(&|token| token.is_any(&["for", "of", "with"]));
    colons.into_iter().chain(names).chain(others)
}

/// The rows from token `from` on, all in the same order, up to the end of the text or sentence; none when something else
/// stands between or behind them.
fn rows(part: &Reading, from: usize) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut at = from;
    while rows.len() < ROWS {
        let Some(row) = number_first(part, at).or_else(|| text_first(part, at)) else {
            return Vec::new();
        };
        if rows.first().is_some_and(|first| first.number_first != row.number_first) {
            return Vec::new();
        }
        let end = row.to;
        rows.push(row);
        let joints = part
            .tokens
            .iter()
            .skip(end)
            .take_while(|token| token.is_any(&[",", ";", "and"]))
            .count();
        if part
            .token(end + joints)
            .is_none_or(|token| token.is_any(&[".", "?", "!"]))
        {
            return rows;
        }
        if joints == 0 {
            return Vec::new();
        }
        at = end + joints;
    }
    Vec::new()
}

/// "3 apples", "two bags of rice".
fn number_first(part: &Reading, from: usize) -> Option<Row> {
    let (number, start) = number(part, from)?;
    let start = start + usize::from(part.token(start).is_some_and(|token| token.is_any(&["x", "×"])));
    let to = text_end(part, start)?;
    Some(Row {
        text: text(part, start, to),
        number,
        number_first: true,
        to,
    })
}

/// "apple 3", "apple: 3", "apple (3)", "apple for $3".
fn text_first(part: &Reading, from: usize) -> Option<Row> {
    let end = text_end(part, from)?;
    let bracket = part.token(end).is_some_and(|token| token.is("("));
    let signs = [":", "=", "x", "×", "for", "at", "-", "("];
    let start = end + usize::from(part.token(end).is_some_and(|token| token.is_any(&signs)));
    let (number, to) = number(part, start)?;
    if bracket && !part.token(to)?.is(")") {
        return None;
    }
    Some(Row {
        text: text(part, from, end),
        number,
        number_first: false,
        to: to + usize::from(bracket),
    })
}

fn number(part: &Reading, index: usize) -> Option<(f64, usize)> {
    match &part.token(index)?.kind {
        Kind::Number(number) if !number.percent => Some((number.value, index + 1)),
        Kind::Word => part.spelled_number(index),
        _ => None,
    }
}

/// Behind the words of a text that starts at `from`; a quoted text stands alone.
fn text_end(part: &Reading, from: usize) -> Option<usize> {
    if part.token(from)?.kind == Kind::Quoted {
        return Some(from + 1);
    }
    let word = |index: usize| {
        let joins = part.token(index).is_some_and(|token| token.is("of")) && index > from;
        let content = part
            .token(index)
            .is_some_and(|token| token.is_word() && !token.is_function_word());
        let sign = part.token(index).is_some_and(|token| token.is("x"));
        (content && !sign || joins) && part.spelled_number(index).is_none()
    };
    let to = (from..).find(|index| !word(*index))?;
    (to > from && to - from <= WORDS).then_some(to)
}

fn text(part: &Reading, from: usize, to: usize) -> String {
    match part.token(from).filter(|token| token.kind == Kind::Quoted) {
        Some(quoted) => quoted.text.clone(),
        None => part.slice(from, to).to_owned(),
    }
}
