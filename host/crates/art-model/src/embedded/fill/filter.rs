//! Conditions on the rows of a table: "sales over 15", "where product is Ink", "in North".

use serde_json::{Value, json};

use super::super::attachment;
use super::super::reading::{Reading, Shape};
use super::super::schema::{Param, Type, text_of};
use super::super::token::Token;
use super::super::words;
use super::choice::mention;
use super::{Filling, column};

/// Words of one column or value.
const WORDS: usize = 4;
/// Words between a column and what it is compared with.
const JOINTS: &[&str] = &["is", "are", "was", "were", "=", "equals", "of"];
/// Words that open a condition.
const LEADS: &[&str] = &["where", "whose", "with", "for", "in", "have", "has", "having", "from"];
/// Words that turn a condition round.
const DENIALS: &[&str] = &["not", "no", "excluding", "except", "without", "than", "or"];

/// Ways to compare: what an operator says of itself first, then what else people say.
const COMPARISONS: &[&[&[&str]]] = &[
    &[
        &["greater", "than"],
        &["more", "than"],
        &["above"],
        &["over"],
        &["higher", "than"],
    ],
    &[
        &["less", "than"],
        &["below"],
        &["under"],
        &["fewer", "than"],
        &["lower", "than"],
    ],
    &[&["at", "least"]],
    &[&["at", "most"]],
];

/// A condition and the tokens that say it.
struct Condition {
    column: String,
    operator: Value,
    value: Value,
    from: usize,
    to: usize,
}

/// The fields of one condition.
struct Fields<'a> {
    column: &'a Param,
    operator: &'a Param,
    value: &'a Param,
}

/// Fills a list of conditions with all that the text says of the rows.
pub(super) fn fill(filling: &mut Filling<'_>) {
    let found = filling.params.iter().enumerate().find_map(|(index, param)| {
        let Type::List(item) = &param.kind else { return None };
        let Type::Object(fields) = &item.kind else { return None };
        Some((index, Fields::of(fields)?))
    });
    let columns = column::columns(filling.context);
    let Some((index, fields)) = found.filter(|_| !columns.is_empty()) else {
        return;
    };
    let conditions = conditions(filling, &fields, &columns);
    let objects: Vec<Value> = conditions.iter().map(|condition| fields.object(condition)).collect();
    for condition in &conditions {
        filling.consume(condition.from, condition.to);
    }
    if !objects.is_empty() {
        filling.set(index, Value::Array(objects), 1.0);
    }
}

impl<'a> Fields<'a> {
    fn of(fields: &'a [Param]) -> Option<Self> {
        let named = |name: &str| {
            fields
                .iter()
                .find(|field| field.name_stems.iter().any(|stem| *stem == words::stem(name)))
        };
        let found = Self {
            column: named("column").or_else(|| named("field"))?,
            operator: fields.iter().find(|field| !field.choices.is_empty())?,
            value: named("value")?,
        };
        let known = [found.column, found.operator, found.value];
        let all = fields.iter().all(|field| !field.required || known.contains(&field));
        all.then_some(found)
    }

    /// The operator that says one of `phrases` of itself.
    fn operator(&self, phrases: &[&[&str]]) -> Option<Value> {
        let says = |hint: &str, phrase: &[&str]| {
            let said = words::split(hint);
            said.windows(phrase.len()).any(|window| window.iter().eq(phrase.iter()))
        };
        phrases.iter().find_map(|phrase| {
            let choice = self.operator.choices.iter().find(|choice| says(&choice.hint, phrase))?;
            Some(choice.value.clone())
        })
    }

    fn object(&self, condition: &Condition) -> Value {
        let value = match self.value.kind {
            Type::Text => json!(text_of(&condition.value)),
            _ => condition.value.clone(),
        };
        json!({
            self.column.name.as_str(): condition.column,
            self.operator.name.as_str(): condition.operator,
            self.value.name.as_str(): value,
        })
    }
}

fn conditions(filling: &Filling<'_>, fields: &Fields<'_>, columns: &[String]) -> Vec<Condition> {
    let part = filling.context.part;
    let mut found: Vec<Condition> = Vec::new();
    for candidate in &part.candidates {
        if matches!(&candidate.shape, Shape::Number(number) if !number.percent)
            && let Some(condition) = compared(part, fields, columns, (candidate.from, candidate.to, &candidate.value))
        {
            found.push(condition);
        }
    }
    let equal = equal(filling, fields, columns);
    // "North and South" are two values of one column, which no row has both of.
    let is_only = |condition: &Condition| equal.iter().filter(|other| other.column == condition.column).count() == 1;
    let (only, _): (Vec<&Condition>, Vec<&Condition>) = equal.iter().partition(|condition| is_only(condition));
    let keep: Vec<usize> = only.iter().map(|condition| condition.from).collect();
    found.extend(equal.into_iter().filter(|condition| keep.contains(&condition.from)));
    found
}

/// "sales over 15", "at least 20 sales".
fn compared(
    part: &Reading,
    fields: &Fields<'_>,
    columns: &[String],
    (from, to, value): (usize, usize, &Value),
) -> Option<Condition> {
    let stands = |phrase: &[&str]| {
        let start = from.checked_sub(phrase.len())?;
        let tokens = part.tokens.get(start..from)?;
        tokens
            .iter()
            .zip(phrase)
            .all(|(token, word)| token.is(word))
            .then_some(start)
    };
    let (start, phrases) = COMPARISONS.iter().find_map(|phrases| {
        let start = phrases.iter().find_map(|phrase| stands(phrase))?;
        Some((start, *phrases))
    })?;
    let denied = DENIALS.contains(&part.before(start, 1).as_str());
    let operator = fields.operator(phrases).filter(|_| !denied)?;
    let end = joint(part, start);
    let (column, start, to) = match column_before(part, columns, end) {
        Some((column, at)) => (column, opening(part, at, start), to),
        None => {
            let (column, behind) = column_behind(part, columns, to)?;
            (column, start, behind)
        }
    };
    Some(Condition {
        column,
        operator,
        value: value.clone(),
        from: start,
        to,
    })
}

/// Cells of the table that the text names, and the values of columns that it names.
fn equal(filling: &Filling<'_>, fields: &Fields<'_>, columns: &[String]) -> Vec<Condition> {
    let part = filling.context.part;
    let Some(operator) = fields.operator(&[&["equal"], &["equals"], &["is"]]) else {
        return Vec::new();
    };
    let cells = cells(filling);
    let one = |(column, cell): &(usize, String)| {
        let column = columns.get(*column)?;
        let (from, to) = mention(part, cell)?;
        let elsewhere = cells
            .iter()
            .any(|(other, same)| same == cell && columns.get(*other) != Some(column));
        let denied = (1..=2).any(|distance| DENIALS.contains(&part.before(from, distance).as_str()));
        let end = joint(part, from);
        let start = match column_before(part, columns, end) {
            Some((named, at)) if named == *column => opening(part, at, at),
            // The sales of "sales of Ink" are not what is Ink.
            Some(_) if part.before(from, 1) != "of" => return None,
            _ if elsewhere => return None,
            _ => from,
        };
        (!denied).then(|| Condition {
            column: column.clone(),
            operator: operator.clone(),
            value: json!(cell),
            from: start,
            to,
        })
    };
    cells.iter().filter_map(one).collect()
}

/// The texts in the rows that are at hand, each with the place of its column.
fn cells(filling: &Filling<'_>) -> Vec<(usize, String)> {
    let files = filling.context.attachments.iter().map(|file| file.preview.clone());
    let inline = attachment::inline_table(&filling.context.whole.text);
    let is_text = |cell: &String| cell.chars().any(char::is_alphabetic) && cell.split_whitespace().count() <= WORDS;
    let rows = files.chain(inline).flat_map(|table| attachment::rows(&table));
    let mut cells: Vec<(usize, String)> = rows
        .flat_map(|row| row.into_iter().enumerate())
        .filter(|(_, cell)| is_text(cell))
        .collect();
    cells.sort();
    cells.dedup();
    cells
}

/// Before the words that join a column to what ends before token `at`.
fn joint(part: &Reading, mut at: usize) -> usize {
    while at > 0 && JOINTS.contains(&part.before(at, 1).as_str()) {
        at -= 1;
    }
    at
}

/// Where a condition starts that opens with the column at token `at`: with its lead, or at `otherwise` when it has none, so
/// that the column stays free for other arguments.
fn opening(part: &Reading, at: usize, otherwise: usize) -> usize {
    let lead = at
        .checked_sub(1)
        .filter(|at| part.token(*at).is_some_and(|token| token.is_any(LEADS)));
    lead.unwrap_or(otherwise)
}

/// The column whose name ends before token `end`, and its first token.
fn column_before(part: &Reading, columns: &[String], end: usize) -> Option<(String, usize)> {
    (end.saturating_sub(WORDS)..end).find_map(|from| Some((named(part, columns, from, end)?, from)))
}

/// The column whose name starts at token `from`, and the token behind it.
fn column_behind(part: &Reading, columns: &[String], from: usize) -> Option<(String, usize)> {
    (from + 1..=from + WORDS).find_map(|end| Some((named(part, columns, from, end)?, end)))
}

fn named(part: &Reading, columns: &[String], from: usize, end: usize) -> Option<String> {
    let only_words = part.tokens.get(from..end)?.iter().all(Token::is_word);
    let run = Reading::new(part.slice(from, end));
    let is = |column: &&String| mention(&run, column) == Some((0, end - from));
    columns.iter().find(is).filter(|_| only_words).cloned()
}
