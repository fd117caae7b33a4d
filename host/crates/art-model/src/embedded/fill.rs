//! Fills the arguments of a tool from a text.

mod choice;
mod column;
mod condition;
mod count;
mod cue;
mod filter;
mod left;
mod list;
mod pair;
mod place;
mod rank;
mod rows;
mod shift;
mod value;

pub(super) use left::Left;
pub(super) use value::{names_currency, refers};

use art_core::JsonObject;
use serde_json::Value;

use super::attachment::{self, Attachment};
use super::reading::{Candidate, Reading, Shape};
use super::schema::{Param, Tool, Type};
use super::words;

/// Score from which an argument that must be there is filled.
const REQUIRED: f32 = 0.35;
/// Score from which an argument that may be left out is filled: the text has to ask for it.
const OPTIONAL: f32 = 1.4;
/// The same for a date.
const DATE: f32 = 0.9;

/// What can be drawn upon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    /// The part of the query.
    pub(super) part: &'a Reading,
    /// The whole query.
    pub(super) whole: &'a Reading,
    /// Files that come with it.
    pub(super) attachments: &'a [Attachment],
}

/// Arguments for a tool.
#[derive(Clone, Debug, Default)]
pub(super) struct Filled {
    pub(super) arguments: JsonObject,
    /// Names of required parameters without a value.
    pub(super) missing: Vec<String>,
    /// What the part says and no argument took.
    pub(super) left: Option<Left>,
    /// Mean of how sure each required argument is, from 0 to 1.
    pub(super) sureness: f32,
    /// An argument is the value of an earlier part.
    pub(super) refers: bool,
    /// An argument stands in another part of the query.
    pub(super) borrows: bool,
    /// Which tokens of the part became arguments.
    pub(super) used: Vec<bool>,
}

/// Fills what `tool` takes from `context`.
pub(super) fn fill(tool: &Tool, context: Context<'_>) -> Filled {
    let mut filling = Filling::new(tool, &tool.params, context);
    filling.fixed();
    filling.scalars();
    shift::fill_today(&mut filling);
    filling.lists();
    filling.objects();
    filling.elsewhere();
    filling.leftover();
    let mut filled = filling.finish();
    filled.left = left::over(tool, context, &filled);
    filled
}

impl Filled {
    /// Whether a call can be made: all that it must have is there, and it says all that was asked.
    pub(super) const fn is_whole(&self) -> bool {
        self.missing.is_empty() && self.left.is_none()
    }
}

/// One value that was found for a parameter.
#[derive(Clone, Debug)]
struct Found {
    value: Value,
    sureness: f32,
}

struct Filling<'a> {
    tool: &'a Tool,
    params: &'a [Param],
    context: Context<'a>,
    used: Vec<bool>,
    found: Vec<Option<Found>>,
    /// Parameters that the tool takes but not with what is asked for.
    refused: Vec<usize>,
    borrows: bool,
}

impl<'a> Filling<'a> {
    fn new(tool: &'a Tool, params: &'a [Param], context: Context<'a>) -> Self {
        let used = vec![false; context.part.tokens.len()];
        Self {
            tool,
            params,
            context,
            used,
            found: vec![None; params.len()],
            refused: Vec::new(),
            borrows: false,
        }
    }

    fn is_open(&self, index: usize) -> bool {
        self.found.get(index).is_some_and(Option::is_none) && !self.refused.contains(&index)
    }

    fn is_free(&self, from: usize, to: usize) -> bool {
        self.used.get(from..to).is_some_and(|used| !used.contains(&true))
    }

    fn set(&mut self, index: usize, value: Value, sureness: f32) {
        if let Some(slot) = self.found.get_mut(index) {
            *slot = Some(Found { value, sureness });
        }
    }

    fn consume(&mut self, from: usize, to: usize) {
        for used in self.used.iter_mut().take(to).skip(from) {
            *used = true;
        }
    }

    /// Leaves a parameter open for good: what is asked for cannot be said with it.
    fn refuse(&mut self, index: usize) {
        self.refused.push(index);
    }

    /// Files, columns, values of a set, and flags: what does not compete for a candidate.
    fn fixed(&mut self) {
        let mut files = 0;
        for (index, param) in self.params.iter().enumerate() {
            let Context { part, attachments, .. } = self.context;
            let wanted = param.required || !self.params.iter().any(|param| param.required);
            if wanted && let Some(value) = attachment::for_param(param, part, attachments, files) {
                files += 1;
                self.set(index, value, 1.0);
            } else if let Some(value) = self.inline(param) {
                self.set(index, value, 1.0);
            }
        }
        filter::fill(self);
        column::fill(self);
        shift::fill(self);
        pair::fill(self);
        choice::fill(self);
    }

    /// A table or JSON in the text of the query, for a parameter that names it.
    fn inline(&mut self, param: &Param) -> Option<Value> {
        let names = |word: &str| param.name_stems.iter().any(|stem| stem == word);
        if param.kind == Type::Text && names("csv") {
            return attachment::inline_table(&self.context.whole.text).map(Value::from);
        }
        if names("json") && matches!(param.kind, Type::Text | Type::Any) {
            let literal = self
                .context
                .part
                .candidates
                .iter()
                .find(|candidate| candidate.shape == Shape::Literal)?;
            let (value, from, to) = (literal.value.clone(), literal.from, literal.to);
            self.consume(from, to);
            return Some(if param.kind == Type::Text {
                Value::from(value.to_string())
            } else {
                value
            });
        }
        None
    }

    /// Numbers, names, dates and texts: the best pairs of parameter and candidate first.
    fn scalars(&mut self) {
        let mut pairs = Vec::new();
        // A column has to be one of the table, which leaves no guess.
        let has_columns = !column::columns(self.context).is_empty();
        for (index, param) in self.params.iter().enumerate() {
            if !self.applies(param) || has_columns && column::takes_column(param) {
                continue;
            }
            for (place, candidate) in self.context.part.candidates.iter().enumerate() {
                let score = rank::score(self.tool, param, candidate, self.context.part);
                let order = rank::order(index, place, self.params, self.context.part);
                // A date is not in a text by chance: it belongs to whichever parameter takes one.
                let enough = match candidate.shape {
                    _ if param.required => REQUIRED,
                    Shape::Date => DATE,
                    _ => OPTIONAL,
                };
                if self.is_open(index) && score >= enough {
                    pairs.push((score + order, index, candidate));
                }
            }
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (score, index, candidate) in pairs {
            let Some(param) = self.params.get(index) else { continue };
            let Some((value, from, to)) = value::of(self.tool, param, candidate, self.context.part) else {
                continue;
            };
            if self.is_open(index) && self.is_free(from, to) {
                self.consume(from, to);
                self.set(index, value, (score / 2.0).min(1.0));
            }
        }
    }

    fn lists(&mut self) {
        for (index, param) in self.params.iter().enumerate() {
            if let Type::List(item) = &param.kind
                && self.is_open(index)
                && let Some((value, sureness)) = list::fill(self, param, item)
            {
                self.set(index, value, sureness);
            }
        }
    }

    /// An object takes what is left for its fields.
    fn objects(&mut self) {
        for (index, param) in self.params.iter().enumerate() {
            let Type::Object(fields) = &param.kind else { continue };
            if !self.is_open(index) {
                continue;
            }
            if let Some(literal) = self.literal(Value::is_object) {
                self.set(index, literal, 1.0);
                continue;
            }
            if fields.is_empty() || !(param.required || self.mentions(param)) {
                continue;
            }
            let mut inner = Filling {
                used: self.used.clone(),
                ..Self::new(self.tool, fields, self.context)
            };
            choice::fill(&mut inner);
            inner.scalars();
            inner.lists();
            let (used, inner) = (inner.used.clone(), inner.finish());
            if inner.missing.is_empty() && !inner.arguments.is_empty() {
                self.used = used;
                self.set(index, Value::Object(inner.arguments), inner.sureness);
            }
        }
    }

    fn literal(&mut self, test: impl Fn(&Value) -> bool) -> Option<Value> {
        let fits = |candidate: &&Candidate| candidate.shape == Shape::Literal && test(&candidate.value);
        let free = |candidate: &&Candidate| self.is_free(candidate.from, candidate.to);
        let literal = self.context.part.candidates.iter().filter(fits).find(free)?.clone();
        self.consume(literal.from, literal.to);
        Some(literal.value)
    }

    /// Whether the text has a word of the parameter's name that is not a word of the tool's name.
    fn mentions(&self, param: &Param) -> bool {
        let tool = words::stems(&self.tool.name);
        let text = words::stems(&self.context.part.text);
        param
            .name_stems
            .iter()
            .any(|stem| !tool.contains(stem) && text.contains(stem))
    }

    /// What is missing may stand in another part of the query.
    fn elsewhere(&mut self) {
        if self.context.whole.text == self.context.part.text {
            return;
        }
        for (index, param) in self.params.iter().enumerate() {
            if !self.is_open(index) || !param.required || matches!(param.kind, Type::List(_) | Type::Object(_)) {
                continue;
            }
            let rank = |candidate: &&Candidate| rank::score(self.tool, param, candidate, self.context.whole);
            let certain = |candidate: &&Candidate| {
                !matches!(candidate.shape, Shape::Phrase | Shape::Expression | Shape::Reference)
                    && rank(candidate) >= 1.0
            };
            let candidates = self.context.whole.candidates.iter().filter(certain);
            let best = candidates.max_by(|a, b| rank(a).total_cmp(&rank(b)));
            let value = best.and_then(|candidate| value::of(self.tool, param, candidate, self.context.whole));
            let taken = |value: &Value| self.found.iter().flatten().any(|found| found.value == *value);
            if let Some((value, _, _)) = value.filter(|(value, _, _)| !taken(value)) {
                self.set(index, value, 0.5);
                self.borrows = true;
            }
        }
    }

    /// A required text that nothing points to takes the longest words that are left.
    fn leftover(&mut self) {
        for (index, param) in self.params.iter().enumerate() {
            if self.is_open(index)
                && param.required
                && param.kind == Type::Text
                && param.choices.is_empty()
                && let Some((value, from, to)) = value::leftover(self.tool, param, self.context.part, &self.used)
            {
                self.consume(from, to);
                self.set(index, value, 0.25);
            }
        }
    }

    fn finish(self) -> Filled {
        let needed = self.needed();
        let mut filled = Filled {
            used: self.used,
            borrows: self.borrows,
            ..Filled::default()
        };
        let mut sum = 0.0;
        let mut count = 0.0;
        for (index, (param, found)) in self.params.iter().zip(self.found).enumerate() {
            sum += if param.required {
                found.as_ref().map_or(0.0, |found| found.sureness)
            } else {
                0.0
            };
            count += if param.required { 1.0 } else { 0.0 };
            match found {
                Some(found) => {
                    filled.refers |= value::refers(&found.value);
                    filled.arguments.insert(param.name.clone(), found.value);
                }
                None if needed.contains(&index) || param.required && !param.has_default => {
                    filled.missing.push(param.name.clone())
                }
                None => {}
            }
        }
        filled.sureness = if count > 0.0 { sum / count } else { 1.0 };
        filled
    }
}
