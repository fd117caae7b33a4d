//! Finds the call that a part of a question asks for.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use art_core::task::TaskFile;
use art_core::text::truncate;
use itertools::Itertools;
use serde_json::{Value, json};

use crate::align::{Alignment, Effect, MAX_ACCEPTED_COST, MAX_CONSIDERED_COST, align};
use crate::catalog::Catalog;
use crate::data::{ATTACHMENT_PREFIX, TextForm, WholeText, accepts};
use crate::earlier::{EARLIER_RESULT, EarlierPlace, main_output_pointer};
use crate::pattern::{Pattern, replace_texts};
use crate::reading::{Reading, readings};
use crate::token::Token;

/// Difference in cost up to which two alignments are equally near.
const MAX_NEAR_DIFFERENCE: f64 = 0.15;
/// The reason for a refusal if no pattern is like the text.
const NO_EXAMPLE: &str = "no example is like it";
/// The reason for a refusal if there are no tools at all.
const NO_TOOLS: &str = "there are no tools";
/// Beginning of a refusal, by which the writer of the answer finds it in the plan.
pub(crate) const REFUSAL_START: &str = "No tool fits";
/// Maximum number of texts that are tried for one question.
pub(crate) const MAX_TRIED_TEXTS: u32 = 100;

/// A call that a part of a question asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) step_id: String,
    pub(crate) tool: String,
    /// Its arguments, with references to an earlier output and to attachments.
    pub(crate) arguments: Value,
    /// JSON pointer to the main value in its output, to which words such as "that" refer, if it has one.
    pub(crate) main_output: Option<String>,
}

/// Why there is no call for a part of a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Refusal {
    /// The question can be split in too many ways.
    TooManyParts,
    /// Patterns for different calls are equally near: those of these tools.
    Ambiguous(Vec<String>),
    /// No pattern accounts for everything in the text.
    NotUnderstood,
}

/// Finds calls with the examples of a set of tools and the attachments of a question.
#[derive(Clone, Debug)]
pub(crate) struct Finder<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) files: &'a [TaskFile],
    /// Number of the step of the next call.
    pub(crate) step_number: u64,
    pub(crate) earlier_place: Option<EarlierPlace>,
    /// Number of texts that may still be tried for the whole question, since many connectives can split it in very many ways.
    pub(crate) remaining_texts: Rc<Cell<u32>>,
}

impl Finder<'_> {
    /// Returns the call that `text` asks for. Fails if no pattern accounts for everything in the text, or if patterns for
    /// different calls are equally near.
    pub(crate) fn find_call(&self, text: &str) -> Result<Call, Refusal> {
        let Some(remaining) = self.remaining_texts.get().checked_sub(1) else {
            return Err(Refusal::TooManyParts);
        };
        self.remaining_texts.set(remaining);
        let readings = readings(text, self.files, self.earlier_place.is_some());
        let pairs = readings.iter().cartesian_product(&self.catalog.patterns);
        // Looking for the cheapest of the bad alignments would take most of the time.
        let matched = pairs.map(|(reading, pattern)| self.match_pattern(reading, pattern, MAX_ACCEPTED_COST));
        let mut calls = matched.flatten().collect_vec();
        let cheapest = calls.iter().map(|(cost, _)| *cost).fold(f64::INFINITY, f64::min);
        // A question with exactly the words of an example asks for the same as that example, even if other examples are near.
        let difference = if cheapest > 0.0 { MAX_NEAR_DIFFERENCE } else { 0.0 };
        calls.retain(|(cost, _)| *cost <= cheapest + difference);
        match calls.as_slice() {
            [] => Err(Refusal::NotUnderstood),
            [(_, first), others @ ..] if others.iter().all(|(_, other)| first == other) => Ok(first.clone()),
            _ => {
                let tools = calls.iter().map(|(_, call)| call.tool.clone());
                Err(Refusal::Ambiguous(tools.unique().collect()))
            }
        }
    }

    /// Returns a sentence that says why there is no call for `text`, and what can be asked.
    pub(crate) fn explain(&self, text: &str, refusal: Refusal) -> String {
        let part = truncate(&text.split_whitespace().join(" "), 200);
        let reason = match refusal {
            Refusal::TooManyParts => "the question has too many parts; ask for less at a time".to_owned(),
            Refusal::Ambiguous(tools) if tools.len() > 1 => {
                let names = tools.iter().map(|tool| format!("`{tool}`")).join(" and ");
                format!("{names} fit it equally well")
            }
            Refusal::Ambiguous(_) => "it can be read in two ways".to_owned(),
            Refusal::NotUnderstood => self.reason_of_nearest(text),
        };
        let nearest = self.catalog.nearest_questions(text, 3);
        let examples = nearest.iter().map(|question| format!("\"{question}\"")).join(" or ");
        let hint = if examples.is_empty() { "" } else { " Ask for example: " };
        format!("{REFUSAL_START} \"{part}\": {reason}.{hint}{examples}")
    }

    /// Returns why the nearest pattern does not fit `text`.
    fn reason_of_nearest(&self, text: &str) -> String {
        if self.catalog.tools.is_empty() {
            return NO_TOOLS.to_owned();
        }
        let readings = readings(text, self.files, self.earlier_place.is_some());
        let pairs = readings.iter().cartesian_product(&self.catalog.patterns);
        let failures =
            pairs.filter_map(|(reading, pattern)| self.match_pattern(reading, pattern, MAX_CONSIDERED_COST).err());
        // Of equally near patterns, the first one counts.
        let nearest = failures.min_by(|(one, _), (other, _)| one.total_cmp(other));
        nearest.map_or_else(|| NO_EXAMPLE.to_owned(), |(_, reason)| reason)
    }

    /// Returns the cost of the alignment of a text with `pattern`, and the call. If there is no call, or if the alignment costs
    /// more than `max_cost`, fails with cost and reason.
    fn match_pattern(&self, reading: &Reading, pattern: &Pattern, max_cost: f64) -> Result<(f64, Call), (f64, String)> {
        let no_example = || (f64::INFINITY, NO_EXAMPLE.to_owned());
        let alignment = align(pattern, reading, max_cost).ok_or_else(no_example)?;
        let refuse = |reason: &str| (alignment.cost, reason.to_owned());
        if !alignment.is_acceptable(pattern, reading) {
            let words = alignment.first_tokens(Effect::LeaveOver, reading);
            let words = words.map(|token| format!("`{}`", truncate(&token.text, 60))).join(", ");
            let not_understood = refuse(&format!("{words} was not understood"));
            return Err(if words.is_empty() { no_example() } else { not_understood });
        }
        let texts = assign_texts(pattern, reading, &alignment);
        let mut values = texts.ok_or_else(|| refuse("quote the text that is meant, or attach it"))?;
        let fillers = alignment.fillers();
        values.extend(fillers.map(|(slot, filler)| (slot.clone(), filler.value.clone())));
        let value_of = |text: &str| values.get(text).cloned().unwrap_or_else(|| text.into());
        let call = self.make_call(pattern.tool_index, &replace_texts(&pattern.template, &value_of));
        let call = call.ok_or_else(|| refuse("the tool does not allow these values"))?;
        Ok((alignment.cost, call))
    }

    /// Returns the call of a tool with `input`, or `None` if the tool accepts neither a number nor a text as the earlier result.
    fn make_call(&self, tool_index: usize, input: &Value) -> Option<Call> {
        let allows = |sample: &Value| {
            let with_sample = |text: &str| match text {
                EARLIER_RESULT => sample.clone(),
                _ => text.replace(EARLIER_RESULT, "1").into(),
            };
            self.catalog.allows(tool_index, &replace_texts(input, &with_sample))
        };
        let sample = [Value::from(1), Value::from("1")].into_iter().find(allows)?;
        let schema = self.catalog.tools.get(tool_index).map(|(schema, _)| schema)?;
        Some(Call {
            step_id: format!("step_{}", self.step_number),
            tool: schema.name.clone(),
            arguments: replace_texts(input, &|text| self.resolve(text, sample.is_string())),
            main_output: main_output_pointer(schema, input),
        })
    }

    /// Returns a text of an input with a reference in place of an attachment's name or [`EARLIER_RESULT`] (see `insert_into`).
    fn resolve(&self, text: &str, earlier_as_text: bool) -> Value {
        let name = text.strip_prefix(ATTACHMENT_PREFIX);
        let file = name.filter(|name| self.files.iter().any(|file| file.name == *name));
        match (file, &self.earlier_place) {
            (Some(file), _) => json!({"$attachment": file}),
            (None, Some(earlier)) if text.contains(EARLIER_RESULT) => earlier.insert_into(text, earlier_as_text),
            _ => text.into(),
        }
    }
}

/// Returns a whole text for the name of each slot that takes one: those of the question in their order, then attachments
/// that the question does not name. Returns `None` if a slot has no text or a text has no slot. Also returns `None` if there are
/// attachments but the question has only other texts: a quoted word is not the text that a question with an attachment is about.
fn assign_texts(pattern: &Pattern, reading: &Reading, alignment: &Alignment) -> Option<BTreeMap<String, Value>> {
    // A token that is not the name or the text of a whole text refers to the earlier result.
    let argument_of = |token: &Token| {
        let mut whole_texts = reading.whole_texts.iter();
        let named = whole_texts.find(|whole_text| whole_text.name_or_text.eq_ignore_ascii_case(&token.text));
        named.map_or_else(|| (EARLIER_RESULT.into(), TextForm::Prose), WholeText::to_argument)
    };
    let in_question = alignment.first_tokens(Effect::WholeText, reading);
    let mut texts = in_question.map(argument_of).collect_vec();
    let attachments = reading.whole_texts.iter().filter(|whole_text| whole_text.is_attachment);
    let attachments = attachments.map(WholeText::to_argument).collect_vec();
    let is_reference = |text: &(Value, TextForm)| text.0 == EARLIER_RESULT || attachments.contains(text);
    let ignores_attachments = !attachments.is_empty() && !texts.is_empty() && !texts.iter().any(is_reference);
    let free_slots = pattern.text_slots.get(texts.len()..).unwrap_or_default();
    let fits_free_slot = |form| free_slots.iter().any(|(_, forms)| accepts(forms, form));
    let is_unnamed = |text: &&(Value, TextForm)| fits_free_slot(text.1) && !texts.contains(text);
    let unnamed = attachments.iter().filter(is_unnamed).cloned().collect_vec();
    texts.extend(unnamed);
    let mut pairs = pattern.text_slots.iter().zip(&texts);
    let are_accepted = pairs.all(|((_, forms), (_, form))| accepts(forms, *form));
    let all_fit = !ignores_attachments && pattern.text_slots.len() == texts.len() && are_accepted;
    let slots = pattern.text_slots.iter().map(|(slot, _)| slot.clone());
    all_fit.then(|| slots.zip(texts.into_iter().map(|text| text.0)).collect())
}
