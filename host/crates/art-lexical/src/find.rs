//! Finds the call that a part of a question asks for.

use std::collections::BTreeSet;

use art_core::task::TaskFile;
use art_core::text::truncate;
use serde_json::Value;

use crate::align::{Aligner, Alignment};
use crate::class::Surroundings;
use crate::data::{Data, Form};
use crate::earlier::Earlier;
use crate::expression::EARLIER;
use crate::known::{Known, Learnt};
use crate::token::{Kind, Token, tokens};

/// Tokens of a part; what has more is no question that a pattern covers.
const MAX_TOKENS: usize = 120;
/// Alignments that cost this much more than another are not as near.
const AS_NEAR: f64 = 0.15;
/// Examples that are shown where nothing fits.
const SHOWN: usize = 3;
/// Begins a sentence that says what cannot be done.
pub(crate) const CANNOT: &str = "No tool fits";

/// A call that a part of a question asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    /// It needs the result of an earlier part.
    pub(crate) refers: bool,
}

/// What a part of a question is looked for with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finder<'a> {
    pub(crate) known: &'a Known,
    pub(crate) files: &'a [TaskFile],
}

impl Finder<'_> {
    /// The call that `text` asks for. `earlier` is what "that" refers to.
    ///
    /// # Errors
    /// When no pattern accounts for everything, or two are as near: a sentence that says why, and what could be asked.
    pub(crate) fn find(&self, text: &str, earlier: Option<&Earlier>) -> Result<Found, String> {
        let why = "no example is like it".to_owned();
        let mut attempt = Attempt {
            finder: *self,
            earlier,
            calls: Vec::new(),
            nearest: f64::INFINITY,
            why,
        };
        for tokens in readings(text, self.files) {
            attempt.look(text, &tokens);
        }
        attempt.best().map_err(|why| self.refusal(text, &why))
    }

    fn refusal(&self, text: &str, why: &str) -> String {
        let part = truncate(&text.split_whitespace().collect::<Vec<_>>().join(" "), 200);
        let examples = self
            .known
            .nearest(text, SHOWN)
            .into_iter()
            .map(|ask| format!("\"{ask}\""));
        let examples = examples.collect::<Vec<_>>().join(" or ");
        let ask = if examples.is_empty() {
            String::new()
        } else {
            format!(" Ask for example: {examples}")
        };
        format!("{CANNOT} \"{part}\": {why}.{ask}")
    }
}

/// The ways in which `text` can be split: as it is, and with all that follows a colon or the first line as one text.
fn readings(text: &str, files: &[TaskFile]) -> Vec<Vec<Token>> {
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let plain = tokens(text, &names);
    let colon = plain
        .iter()
        .find(|token| token.kind == Kind::Mark && token.text == ":")
        .map(|token| token.end);
    let ends = |end: &usize| {
        text.get(..*end)
            .is_some_and(|line| line.trim_end().ends_with(['?', ':', '.']))
    };
    let places: BTreeSet<usize> = colon.into_iter().chain(text.find('\n').filter(ends)).collect();
    let tails: Vec<_> = places
        .into_iter()
        .filter_map(|place| with_tail(text, place, &plain))
        .collect();
    std::iter::once(plain)
        .chain(tails)
        .filter(|tokens| tokens.len() <= MAX_TOKENS)
        .collect()
}

/// The tokens before `place`, and the rest of `text` as one.
fn with_tail(text: &str, place: usize, plain: &[Token]) -> Option<Vec<Token>> {
    let rest = text.get(place..)?.trim();
    let start = text.trim_end().len().checked_sub(rest.len())?;
    let mut tokens: Vec<Token> = plain.iter().take_while(|token| token.end <= place).cloned().collect();
    if rest.is_empty() || tokens.is_empty() {
        return None;
    }
    tokens.push(Token::new(Kind::Data, rest, start, start + rest.len()));
    Some(tokens)
}

/// The search for one part.
struct Attempt<'a> {
    finder: Finder<'a>,
    earlier: Option<&'a Earlier>,
    /// The calls that account for everything, with what their alignments cost.
    calls: Vec<(f64, Found)>,
    /// What the cheapest alignment costs that is not taken, and why it is not.
    nearest: f64,
    why: String,
}

impl Attempt<'_> {
    /// Aligns one reading of the text with every pattern that is near.
    fn look(&mut self, text: &str, tokens: &[Token]) {
        let in_text = tokens
            .iter()
            .filter(|token| matches!(token.kind, Kind::Quoted | Kind::Data));
        let texts = in_text.map(|token| Data::of_text(&token.text));
        let data: Vec<Data> = texts.chain(self.finder.files.iter().map(Data::of_file)).collect();
        let around = Surroundings {
            text,
            data: &data,
            may_refer: self.earlier.is_some(),
        };
        let known = self.finder.known;
        for place in known.candidates(text) {
            let Some(learnt) = known.patterns.get(place) else {
                continue;
            };
            let Some(group) = known.groups.get(learnt.group) else {
                continue;
            };
            let aligner = Aligner {
                known,
                learnt,
                group,
                tokens,
                around: &around,
            };
            let alignment = aligner.align();
            if aligner.is_sound(&alignment) {
                self.take(learnt, alignment, tokens);
            } else {
                self.note(&alignment, tokens);
            }
        }
    }

    /// Makes the call of an alignment, when its texts are there and the tool takes it.
    fn take(&mut self, learnt: &Learnt, mut alignment: Alignment, tokens: &[Token]) {
        if !self.pass_along(learnt, &mut alignment, tokens) {
            self.nearest = 0.0;
            "it needs a text: put one in quotes, or attach a file".clone_into(&mut self.why);
            return;
        }
        let values: Option<Vec<Value>> = alignment.values.into_iter().collect();
        let Some(arguments) = values.and_then(|values| learnt.pattern.fill(&values)) else {
            return;
        };
        let Some(tool) = self.finder.known.tools.get(learnt.tool) else {
            return;
        };
        let refers = arguments.to_string().contains("\\u0001");
        let mut forms = match self.earlier.filter(|_| refers) {
            Some(earlier) => earlier.put_into(&arguments),
            None => vec![arguments],
        };
        let read: Vec<Value> = forms.iter().map(with_json_read).collect();
        forms.extend(read);
        if let Some(arguments) = forms.into_iter().find(|arguments| tool.takes(arguments)) {
            self.calls.push((
                alignment.cost,
                Found {
                    tool: tool.name.clone(),
                    arguments,
                    refers,
                },
            ));
        }
    }

    /// Fills the slots for whole texts: with those of the question in their order, then with files that it does not name.
    /// Whether each slot has one and none is left over.
    fn pass_along(&self, learnt: &Learnt, alignment: &mut Alignment, tokens: &[Token]) -> bool {
        let open: Vec<(usize, &BTreeSet<Form>)> = learnt.pattern.texts();
        let mut given: Vec<Data> = alignment
            .texts
            .iter()
            .filter_map(|place| self.text(tokens.get(*place)?))
            .collect();
        if alignment.refers {
            given.push(Data {
                argument: Value::from(EARLIER),
                ..Data::of_text("")
            });
        }
        let rest = open.get(given.len()..).unwrap_or_default();
        let named = |data: &Data| given.iter().any(|other| other.argument == data.argument);
        let is_fit = |data: &Data| !named(data) && rest.iter().any(|(_, forms)| fits(forms, data.form));
        let unnamed: Vec<Data> = self.finder.files.iter().map(Data::of_file).filter(is_fit).collect();
        given.extend(unnamed);
        let fit = open.iter().zip(&given).all(|((_, forms), data)| fits(forms, data.form));
        for ((slot, _), data) in open.iter().zip(&given) {
            if let Some(value) = alignment.values.get_mut(*slot) {
                *value = Some(data.argument.clone());
            }
        }
        fit && open.len() == given.len()
    }

    fn text(&self, token: &Token) -> Option<Data> {
        if token.kind != Kind::File {
            return Some(Data::of_text(&token.text));
        }
        let mut files = self.finder.files.iter();
        files
            .find(|file| file.name.eq_ignore_ascii_case(&token.text))
            .map(Data::of_file)
    }

    /// Remembers what the nearest alignment that is not taken leaves over.
    fn note(&mut self, alignment: &Alignment, tokens: &[Token]) {
        let left = alignment.left.iter().filter_map(|place| tokens.get(*place)).take(4);
        let left: Vec<String> = left.map(|token| format!("`{}`", truncate(&token.text, 60))).collect();
        if alignment.cost < self.nearest && !left.is_empty() {
            self.nearest = alignment.cost;
            self.why = format!("{} was not understood", left.join(", "));
        }
    }

    /// The cheapest call, unless another is as near.
    fn best(self) -> Result<Found, String> {
        let cheapest = self.calls.iter().map(|(cost, _)| *cost).fold(f64::INFINITY, f64::min);
        let mut near = self
            .calls
            .into_iter()
            .filter(|(cost, _)| *cost <= cheapest + AS_NEAR)
            .map(|(_, found)| found);
        let Some(first) = near.next() else { return Err(self.why) };
        if near.all(|other| other == first) {
            Ok(first)
        } else {
            Err("it can be read in two ways".to_owned())
        }
    }
}

/// Whether a slot for texts of `forms` takes one of `form`: what takes prose takes every text.
fn fits(forms: &BTreeSet<Form>, form: Form) -> bool {
    forms.contains(&form) || (forms.contains(&Form::Prose) && form != Form::Unknown)
}

/// `arguments` with JSON that is a text as the value that it says.
fn with_json_read(arguments: &Value) -> Value {
    let Value::Object(map) = arguments else {
        return arguments.clone();
    };
    let read = |value: &Value| {
        let text = value.as_str().filter(|text| text.starts_with(['{', '[']));
        text.and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_else(|| value.clone())
    };
    Value::Object(map.iter().map(|(key, value)| (key.clone(), read(value))).collect())
}
