//! Finds the call that a part of a question asks for.

use std::cell::Cell;
use std::rc::Rc;

use art_core::task::TaskFile;
use art_core::text::truncate;
use itertools::Itertools;
use serde_json::{Value, json};

use crate::align::{Alignment, Effect, Sentence, align};
use crate::catalog::Catalog;
use crate::class::Reading;
use crate::data::{ATTACHMENT, Data, Form, Forms};
use crate::earlier::{EARLIER, Origin, main_output};
use crate::pattern::{Pattern, put_texts};
use crate::token::{Kind, Token, tokens};
use crate::words::is_functional;

/// Maximum number of tokens in a part of a question.
const MAX_TOKENS: usize = 120;
/// Difference in cost up to which two alignments are equally near.
const AS_NEAR: f64 = 0.15;
/// Cost of a text in the question where the example has none, or the other way round.
const OTHER_PLACE: f64 = 0.5;
/// Maximum number of examples that a refusal shows.
const MAX_SHOWN: usize = 3;
/// Maximum number of words that a refusal names as not understood.
const MAX_NAMED: usize = 4;
/// The beginning of each refusal.
pub(crate) const CANNOT: &str = "No tool fits";

/// A call that a part of a question asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    /// Identifier of its step.
    pub(crate) step: String,
    pub(crate) tool: String,
    /// Its arguments, with references to an earlier output and to attachments.
    pub(crate) arguments: Value,
    /// Where its output has the value that words such as "that" refer to.
    pub(crate) output: Option<String>,
}

/// Finds calls with the examples of a set of tools and the attachments of a question.
#[derive(Clone, Debug)]
pub(crate) struct Finder<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) files: &'a [TaskFile],
    /// Number of the step of the next call.
    pub(crate) number: u64,
    /// The value that words such as "that" refer to.
    pub(crate) earlier: Option<Origin>,
    /// Number of texts that may still be looked at, for the whole question: one with many connectives has very many parts.
    pub(crate) remaining: Rc<Cell<u32>>,
}

/// Maximum number of texts that are looked at for one question.
pub(crate) const MAX_TEXTS: u32 = 100;

impl Finder<'_> {
    /// Returns the call that `text` asks for.
    ///
    /// # Errors
    /// Fails with a sentence that says why and shows what can be asked when no pattern accounts for everything in the text,
    /// or when patterns for different calls are equally near.
    pub(crate) fn find(&self, text: &str) -> Result<Call, String> {
        let Some(remaining) = self.remaining.get().checked_sub(1) else {
            return Err("the question has too many parts; ask for less at a time".to_owned());
        };
        self.remaining.set(remaining);
        let (mut calls, mut nearest) = (Vec::new(), (f64::INFINITY, "no example is like it".to_owned()));
        for reading in readings(text, self.files, self.earlier.is_some()) {
            let sentences = self.catalog.sentences(&reading);
            for pattern in self.catalog.candidates(text) {
                let Some(sentence) = sentences.get(pattern.tool) else {
                    continue;
                };
                match self.call(sentence, pattern) {
                    Ok(call) => calls.push(call),
                    Err(refusal) if refusal.0 < nearest.0 => nearest = refusal,
                    Err(_) => {}
                }
            }
        }
        let cheapest = calls.iter().map(|(cost, _)| *cost).fold(f64::INFINITY, f64::min);
        calls.retain(|(cost, _)| *cost <= cheapest + AS_NEAR);
        match calls.as_slice() {
            [] => Err(self.refusal(text, &nearest.1)),
            [(_, first), others @ ..] if others.iter().all(|(_, other)| is_same(first, other)) => Ok(first.clone()),
            _ => Err(self.refusal(text, "it can be read in two ways")),
        }
    }

    /// The call that `pattern` makes of a text, or the reason for which it makes none, and the cost of the alignment.
    fn call(&self, sentence: &Sentence<'_>, pattern: &Pattern) -> Result<(f64, Call), (f64, String)> {
        let (alignment, reading) = (align(pattern, sentence), sentence.reading);
        if !alignment.is_sound(self.catalog, pattern, reading) {
            let left_over = alignment.tokens(Effect::LeaveOver);
            let words = left_over.filter_map(|at| reading.tokens.get(at)).take(MAX_NAMED);
            let words = words.map(|token| format!("`{}`", truncate(&token.text, 60))).join(", ");
            let cost = Some(alignment.cost).filter(|_| !words.is_empty());
            return Err((cost.unwrap_or(f64::INFINITY), format!("{words} was not understood")));
        }
        let refuse = |reason: &str| (alignment.cost, reason.to_owned());
        let texts = texts(pattern, reading, &alignment);
        let texts = texts.ok_or_else(|| refuse("quote the text that is meant, or attach it"))?;
        let values = alignment.fills().map(|(slot, value, ..)| (slot, value.clone()));
        let input = pattern.template.fill(&values.chain(texts).collect());
        let input = self.catalog.add(pattern.tool, input, alignment.additions());
        // No row has two texts in one column, or a text in a column that lacks it.
        let has_no_row = |data: &Data, input: &Value| data.contradicts(input) || data.misplaces(input);
        let input = input.filter(|input| !reading.data.iter().any(|data| has_no_row(data, input)));
        let template = input.ok_or_else(|| refuse("nothing in the data meets all of its conditions"))?;
        let call = self.planned(pattern.tool, &template);
        let call = call.ok_or_else(|| refuse("the tool does not allow these values"))?;
        let as_quoted = pattern.quotes() == (alignment.tokens(Effect::Text).next().is_some());
        Ok((alignment.cost + if as_quoted { 0.0 } else { OTHER_PLACE }, call))
    }

    /// The call with the input `template`, if the tool allows it with a number or a text in place of an earlier result.
    fn planned(&self, tool: usize, template: &Value) -> Option<Call> {
        let allows = |sample: &Value| {
            let text = |text: &str| {
                if text == EARLIER {
                    sample.clone()
                } else {
                    text.replace(EARLIER, "1").into()
                }
            };
            self.catalog.allows(tool, &put_texts(template, &text))
        };
        let sample = [Value::from(1), Value::from("1")].into_iter().find(allows)?;
        let tool = self.catalog.tool(tool)?;
        Some(Call {
            step: format!("step_{}", self.number),
            tool: tool.name.clone(),
            arguments: put_texts(template, &|text| self.reference(text, sample.is_string())),
            output: main_output(tool, template),
        })
    }

    /// Returns the reference that a text of an input stands for, or the text.
    fn reference(&self, text: &str, is_text: bool) -> Value {
        let name = text.strip_prefix(ATTACHMENT);
        let file = name.filter(|name| self.files.iter().any(|file| file.name == *name));
        match (file, &self.earlier) {
            (Some(file), _) => json!({"$attachment": file}),
            (None, Some(earlier)) if text.contains(EARLIER) => earlier.put_into(text, is_text),
            _ => text.into(),
        }
    }

    fn refusal(&self, text: &str, reason: &str) -> String {
        let part = truncate(&text.split_whitespace().join(" "), 200);
        let nearest = self.catalog.nearest(text, MAX_SHOWN);
        let examples = nearest.iter().map(|ask| format!("\"{ask}\"")).join(" or ");
        let hint = if examples.is_empty() { "" } else { " Ask for example: " };
        format!("{CANNOT} \"{part}\": {reason}.{hint}{examples}")
    }
}

/// Returns whether two calls differ in the order of lists at most.
fn is_same(one: &Call, other: &Call) -> bool {
    one.tool == other.tool && sorted(&one.arguments) == sorted(&other.arguments)
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).sorted_by_key(Value::to_string).collect(),
        Value::Object(map) => Value::Object(map.iter().map(|(key, value)| (key.clone(), sorted(value))).collect()),
        other => other.clone(),
    }
}

/// The ways to split `text`: as it is, and with all that follows a colon or the first line as one text.
pub(crate) fn readings(text: &str, files: &[TaskFile], may_refer: bool) -> Vec<Reading> {
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let plain = tokens(text, &names);
    let colon = plain.iter().find(|token| token.kind == Kind::Mark && token.text == ":");
    let is_sentence =
        |end: &usize| matches!(text.get(..*end), Some(line) if line.trim_end().ends_with(['?', ':', '.']));
    let line = text.find('\n').filter(is_sentence);
    let places = colon.map(|token| token.end).into_iter().chain(line);
    let with_tail = |place: usize| {
        let tail = text.get(place..)?.trim();
        let end = text.trim_end().len();
        let mut tokens: Vec<Token> = plain.iter().take_while(|token| token.end <= place).cloned().collect();
        // A quoted text after a colon is without its quotes in the other reading.
        let is_quoted = |token: &Token| token.kind == Kind::Quoted && token.end == end;
        if plain.get(tokens.len()).is_some_and(is_quoted) {
            return None;
        }
        tokens.push(Token::new(Kind::Data, tail, end - tail.len(), end));
        (tokens.len() > 1 && !tail.is_empty()).then_some(tokens)
    };
    let mut all: Vec<Vec<Token>> = places.filter_map(with_tail).collect();
    all.push(plain);
    let short = all.into_iter().filter(|tokens| tokens.len() <= MAX_TOKENS);
    let is_text = |token: &&Token| matches!(token.kind, Kind::Quoted | Kind::Data);
    let reading = |mut tokens: Vec<Token>| {
        let texts = tokens.iter().filter(is_text).map(|token| Data::of_text(&token.text));
        let data = files.iter().filter_map(Data::of_file).chain(texts).collect_vec();
        // `ON` in the data is no preposition.
        let is_cell = |token: &Token| {
            data.iter()
                .any(|data| data.cells.names.get(&token.stem) == Some(&token.text))
        };
        let is_name =
            |token: &Token| is_functional(token.word()) && token.text != token.text.to_lowercase() && is_cell(token);
        for token in tokens.iter_mut().filter(|token| is_name(token)) {
            (token.kind, token.stem) = (Kind::Symbol, token.text.clone());
        }
        let context = data.iter().flat_map(|data| data.context.iter().cloned()).collect();
        Reading {
            text: text.to_owned(),
            tokens,
            data,
            context,
            may_refer,
        }
    };
    short.map(reading).collect()
}

/// The texts for the slots that accept whole texts: those of the question in their order, then attachments that it does not
/// name. None when a slot has no text, a text has no slot, or no attachment is among them.
fn texts(pattern: &Pattern, reading: &Reading, alignment: &Alignment) -> Option<Vec<(usize, Value)>> {
    let slots = pattern.texts();
    let is_named = |data: &&Data, name: &str| data.name.eq_ignore_ascii_case(name);
    let named = |at: usize| {
        let name = &reading.tokens.get(at)?.text;
        let data = reading.data.iter().find(|data| is_named(data, name));
        data.map(Data::passed)
    };
    let mut texts: Vec<(Value, Form)> = alignment.tokens(Effect::Text).filter_map(named).collect();
    let earlier = alignment.tokens(Effect::Refer).map(|_| Value::from(EARLIER));
    texts.extend(earlier.map(|earlier| (earlier, Form::Prose)));
    let open = slots.get(texts.len()..).unwrap_or_default();
    let fits = |data: &&Data| data.is_file && open.iter().any(|(_, forms)| accepts(forms, data.form));
    let others = reading.data.iter().filter(fits).map(Data::passed);
    let others = others.filter(|text| !texts.contains(text)).collect_vec();
    texts.extend(others);
    // A quoted word is not the text that a question with an attachment is about.
    let files = reading.data.iter().filter(|data| data.is_file);
    let files = files.map(Data::passed).collect_vec();
    let is_given = |text: &(Value, Form)| text.0 == EARLIER || files.contains(text);
    let ignores_files = !files.is_empty() && !texts.is_empty() && !texts.iter().any(is_given);
    let mut pairs = slots.iter().zip(&texts);
    let fit =
        !ignores_files && slots.len() == texts.len() && pairs.all(|((_, forms), (_, form))| accepts(forms, *form));
    let filled = slots.iter().zip(texts).map(|((slot, _), (text, _))| (*slot, text));
    fit.then(|| filled.collect())
}

/// Returns whether a slot for texts of `forms` accepts one of `form`: a slot for prose accepts every text.
fn accepts(forms: &Forms, form: Form) -> bool {
    forms.contains(&form) || forms.contains(&Form::Prose)
}
