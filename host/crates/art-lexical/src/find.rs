//! Finds the call that a part of a question asks for.

use std::cell::Cell;
use std::rc::Rc;

use art_core::task::TaskFile;
use art_core::text::truncate;
use itertools::Itertools;
use serde_json::{Value, json};

use crate::align::{Alignment, Effect, align};
use crate::catalog::Catalog;
use crate::data::{ATTACHMENT, Data, Form, accepts};
use crate::earlier::{EARLIER, Origin, main_output};
use crate::pattern::{Pattern, Values, fill_template, replace_texts};
use crate::reading::{Reading, readings};
use crate::token::Token;

/// Difference in cost up to which two alignments are equally near.
const AS_NEAR: f64 = 0.15;
/// The reason for a refusal if no pattern is like the text.
const UNLIKE: &str = "no example is like it";
/// Beginning of a refusal, by which the answer finds it in the plan.
pub(crate) const CANNOT: &str = "No tool fits";

/// A call that a part of a question asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    /// Identifier of its step.
    pub(crate) step: String,
    pub(crate) tool: String,
    /// Its arguments, with references to an earlier output and to attachments.
    pub(crate) arguments: Value,
    /// JSON pointer to the value in its output that words such as "that" refer to, if it has one.
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
    /// Number of texts that may still be tried for the whole question, since a question with many connectives can be split in very many
    /// ways.
    pub(crate) remaining: Rc<Cell<u32>>,
}

/// Maximum number of texts that are tried for one question.
pub(crate) const MAX_TEXTS: u32 = 100;

impl Finder<'_> {
    /// Returns the call that `text` asks for. If no pattern accounts for everything in the text, or patterns for different calls
    /// are equally near, it fails with a sentence that says why and shows what can be asked.
    pub(crate) fn find(&self, text: &str) -> Result<Call, String> {
        let Some(remaining) = self.remaining.get().checked_sub(1) else {
            return Err(self.refusal(text, "the question has too many parts; ask for less at a time"));
        };
        self.remaining.set(remaining);
        let (mut calls, mut nearest) = (Vec::new(), (f64::INFINITY, UNLIKE.to_owned()));
        for reading in readings(text, self.files, self.earlier.is_some()) {
            for pattern in &self.catalog.patterns {
                match self.match_pattern(&reading, pattern) {
                    Ok(call) => calls.push(call),
                    Err(refusal) if refusal.0 < nearest.0 => nearest = refusal,
                    Err(_) => {}
                }
            }
        }
        let cheapest = calls.iter().map(|(cost, _)| *cost).fold(f64::INFINITY, f64::min);
        // A question with exactly the words of an example asks for what the example does.
        let near = if cheapest > 0.0 { AS_NEAR } else { 0.0 };
        calls.retain(|(cost, _)| *cost <= cheapest + near);
        match calls.as_slice() {
            [] => Err(self.refusal(text, &nearest.1)),
            [(_, first), others @ ..] if others.iter().all(|(_, other)| first == other) => Ok(first.clone()),
            _ => Err(self.refusal(text, "it can be read in two ways")),
        }
    }

    /// Returns the cost of the alignment of a text with `pattern`, and the call. Fails with the cost and the reason if there is no call.
    fn match_pattern(&self, reading: &Reading, pattern: &Pattern) -> Result<(f64, Call), (f64, String)> {
        let unlike = || (f64::INFINITY, UNLIKE.to_owned());
        let alignment = align(pattern, reading).ok_or_else(unlike)?;
        let refuse = |reason: &str| (alignment.cost, reason.to_owned());
        if !alignment.is_sound(pattern, reading) {
            let words = alignment.tokens(Effect::LeaveOver, reading);
            let words = words.map(|token| format!("`{}`", truncate(&token.text, 60))).join(", ");
            let reason = refuse(&format!("{words} was not understood"));
            return Err(if words.is_empty() { unlike() } else { reason });
        }
        let texts = assign_texts(pattern, reading, &alignment);
        let mut values: Values = texts.ok_or_else(|| refuse("quote the text that is meant, or attach it"))?;
        values.extend(alignment.values());
        let call = self.make_call(pattern.tool, &fill_template(&pattern.template, &values));
        let call = call.ok_or_else(|| refuse("the tool does not allow these values"))?;
        Ok((alignment.cost, call))
    }

    /// Returns the call with the input `template`, or `None` if the tool allows neither a number nor a text in place of an earlier result.
    fn make_call(&self, tool: usize, template: &Value) -> Option<Call> {
        let allows = |sample: &Value| {
            let with = |text: &str| match text {
                EARLIER => sample.clone(),
                _ => text.replace(EARLIER, "1").into(),
            };
            self.catalog.allows(tool, &replace_texts(template, &with))
        };
        let sample = [Value::from(1), Value::from("1")].into_iter().find(allows)?;
        let schema = self.catalog.tools.get(tool).map(|(schema, _)| schema)?;
        Some(Call {
            step: format!("step_{}", self.number),
            tool: schema.name.clone(),
            arguments: replace_texts(template, &|text| self.reference(text, sample.is_string())),
            output: main_output(schema, template),
        })
    }

    /// Returns the reference that a text of an input stands for, or the text itself if it stands for none.
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
        let nearest = self.catalog.nearest(text, 3);
        let examples = nearest.iter().map(|ask| format!("\"{ask}\"")).join(" or ");
        let hint = if examples.is_empty() { "" } else { " Ask for example: " };
        format!("{CANNOT} \"{part}\": {reason}.{hint}{examples}")
    }
}

/// Returns the texts for the slots that accept whole texts: those of the question in their order, then attachments that the
/// question does not name. Returns `None` if a slot has no text or a text has no slot. Also returns `None` if there are attachments
/// but the question has only other texts: a quoted word is not the text that a question with an attachment is about.
fn assign_texts(pattern: &Pattern, reading: &Reading, alignment: &Alignment) -> Option<Values> {
    let argument_of = |token: &Token| {
        let mut data = reading.data.iter();
        let data = data.find(|data| data.name.eq_ignore_ascii_case(&token.text));
        data.map_or_else(|| (EARLIER.into(), Form::Prose), Data::to_argument)
    };
    let mut texts = alignment.tokens(Effect::Text, reading).map(argument_of).collect_vec();
    let files = reading.data.iter().filter(|data| data.is_file);
    let files = files.map(Data::to_argument).collect_vec();
    let is_given = |text: &(Value, Form)| files.is_empty() || text.0 == EARLIER || files.contains(text);
    let ignores_files = !texts.is_empty() && !texts.iter().any(is_given);
    let free_slots = pattern.texts.get(texts.len()..).unwrap_or_default();
    let fits =
        |file: &&(Value, Form)| free_slots.iter().any(|(_, forms)| accepts(forms, file.1)) && !texts.contains(file);
    let others = files.iter().filter(fits).cloned().collect_vec();
    texts.extend(others);
    let mut pairs = pattern.texts.iter().zip(&texts);
    let are_accepted = pairs.all(|((_, forms), (_, form))| accepts(forms, *form));
    let fit = !ignores_files && pattern.texts.len() == texts.len() && are_accepted;
    let slots = pattern.texts.iter().map(|(slot, _)| slot.clone());
    fit.then(|| slots.zip(texts.into_iter().map(|text| text.0)).collect())
}
