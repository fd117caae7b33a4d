//! Two units around a word of direction: "5 m to km" goes from the first to the second, in the order of the text.

use serde_json::Value;

use super::super::class::Class;
use super::super::measure;
use super::super::reading::{Reading, Shape};
use super::super::schema::{Param, Type, text_of};
use super::super::token::{Kind, Token};
use super::choice::mention;
use super::{Filling, value};

/// Tokens of one unit that are read.
const LENGTH: usize = 8;

/// Two runs of tokens, each as its first token and the one behind its last.
struct Ends {
    from: (usize, usize),
    to: (usize, usize),
}

/// Fills a pair of parameters that take units or currencies with the two units behind a number.
pub(super) fn fill(filling: &mut Filling<'_>) {
    let (Some(from), Some(to)) = (end(filling, &["from", "sourc"]), end(filling, &["to", "target"])) else {
        return;
    };
    let part = filling.context.part;
    for candidate in &part.candidates {
        let is_number = matches!(candidate.shape, Shape::Number(_) | Shape::Reference);
        let Some(ends) = is_number.then(|| behind(part, candidate.to)).flatten() else {
            continue;
        };
        let first = named(filling.params.get(from), part, ends.from);
        let second = named(filling.params.get(to), part, ends.to);
        if let (Some(first), Some(second)) = (first, second) {
            filling.consume(ends.from.0, ends.from.1);
            filling.consume(ends.to.0, ends.to.1);
            filling.set(from, first, 1.0);
            filling.set(to, second, 1.0);
            return;
        }
    }
}

/// The open parameter for a unit or currency whose name has one of `stems`.
fn end(filling: &Filling<'_>, stems: &[&str]) -> Option<usize> {
    let takes_unit = |param: &Param| {
        let listed = param.choices.iter().filter_map(|choice| choice.value.as_str());
        param.kind == Type::Text
            && (matches!(param.class, Class::Unit | Class::Currency)
                || listed.into_iter().any(|choice| measure::named(choice).is_some()))
    };
    filling.params.iter().enumerate().position(|(index, param)| {
        let named = param.name_stems.iter().any(|stem| stems.contains(&stem.as_str()));
        named && takes_unit(param) && filling.is_open(index)
    })
}

/// The units before and behind the first word of direction after the number that ends before token `at`.
fn behind(part: &Reading, at: usize) -> Option<Ends> {
    let is_direction = |at: usize| {
        part.token(at)
            .is_some_and(|token| token.is_any(&["to", "into", "in", "as"]))
    };
    let limit = part.tokens.len().min(at + LENGTH);
    let middle = (at + 1..limit).find(|index| is_direction(*index))?;
    let article = part.token(middle + 1).is_some_and(|token| token.is("the"));
    let second = middle + 1 + usize::from(article);
    let from = (at, run(part, at));
    let to = (second, run(part, second));
    (from.1 == middle && to.1 > to.0).then_some(Ends { from, to })
}

/// Behind the tokens from `from` on that may be one unit. Its first word may be one without content: `in` is the inch.
fn run(part: &Reading, from: usize) -> usize {
    let goes_on = |index: usize, token: &Token| match &token.kind {
        Kind::Word => index == from || !token.is_function_word() || token.is_any(&["per", "of"]),
        // The 2 of `m/s^2`.
        Kind::Number(_) => index > from && part.before(index, 1) == "^",
        Kind::Punct => "°/^²³·*'\"µ%".contains(&token.text),
        _ => false,
    };
    let tokens = part.tokens.iter().enumerate().skip(from).take(LENGTH);
    from + tokens.take_while(|(index, token)| goes_on(*index, token)).count()
}

/// The value that the run gives a parameter: the choice that it names, or its text.
fn named(param: Option<&Param>, part: &Reading, (from, to): (usize, usize)) -> Option<Value> {
    let param = param?;
    let text = part.slice(from, to);
    if param.choices.is_empty() {
        let known = param.class != Class::Currency || value::is_currency(&text.to_lowercase());
        return known.then(|| value::spelled(param, text));
    }
    let run = Reading::new(text);
    let choices = param.choices.iter().map(|choice| &choice.value);
    choices
        .filter(|choice| mention(&run, &text_of(choice)).is_some())
        .max_by_key(|choice| text_of(choice).len())
        .cloned()
}
