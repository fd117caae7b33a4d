//! Whole texts that a call can pass along: tables, JSON and prose, from the question or from an attachment.

use std::collections::{BTreeMap, BTreeSet};

use art_core::task::TaskFile;
use itertools::Itertools;
use serde_json::{Map, Value};

use crate::token::{folded, stem};
use crate::words::is_functional;

/// Maximum number of names that are read from one text.
const MAX_NAMES: usize = 4_000;
/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 100;
/// Begins the text that stands for an attachment in an input.
pub(crate) const ATTACHMENT: &str = "attachment:";
/// Separators of the fields of a table.
const SEPARATORS: [char; 4] = ['|', '\t', ';', ','];

/// Names and other values in words, by their stems.
pub(crate) type Names = BTreeMap<String, String>;

/// Names in a text that a call can pass along.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Values {
    pub(crate) names: Names,
    /// The words that are part of one name only, with that name.
    pub(crate) parts: Names,
}

/// The form of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// Lines of fields, the first of which names the columns.
    Table,
    /// One JSON array or object.
    Json,
    /// Any other text.
    Prose,
}

/// The forms of texts that a parameter accepts.
pub(crate) type Forms = BTreeSet<Form>;

/// A text that a call can pass along.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Data {
    /// The name of an attachment, or the text itself.
    pub(crate) name: String,
    pub(crate) is_file: bool,
    pub(crate) form: Form,
    /// Names of columns or keys.
    pub(crate) keys: Values,
    /// Texts in the cells or under the keys.
    pub(crate) cells: Values,
    /// The stems of each text with those of its column or key.
    places: BTreeSet<(String, String)>,
    /// Stems of words in the name of the file, and of keys that have objects or lists.
    pub(crate) context: BTreeSet<String>,
}

impl Data {
    /// Reads a text of the question.
    pub(crate) fn of_text(text: &str) -> Self {
        Self::new(text, false, form_of(text), text)
    }

    /// Reads the value of an example.
    pub(crate) fn of_value(value: &Value) -> Self {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Self::of_text(&text)
    }

    /// Reads an attachment, if it is a text.
    pub(crate) fn of_file(file: &TaskFile) -> Option<Self> {
        let form = match file.media_type.rsplit('/').next().unwrap_or_default() {
            _ if file.beginning.is_empty() && !file.media_type.starts_with("text/") => return None,
            "csv" | "tab-separated-values" => Form::Table,
            "json" => Form::Json,
            _ => form_of(&file.beginning),
        };
        Some(Self::new(&file.name, true, form, &file.beginning))
    }

    fn new(name: &str, is_file: bool, form: Form, text: &str) -> Self {
        let json = (form == Form::Json).then(|| serde_json::from_str(text).unwrap_or(Value::Null));
        let (mut pairs, mut context) = (Vec::new(), BTreeSet::new());
        match &json {
            Some(json) => collect(json, "", &mut pairs, &mut context),
            None if form == Form::Table => pairs = cells(text),
            None => {}
        }
        let keys = pairs.iter().map(|(key, _)| *key).unique().collect_vec();
        // The first word of `trip_date` or `order no` is what a row is about.
        let records = keys
            .iter()
            .filter_map(|key| parts(key).next().filter(|_| parts(key).count() > 1));
        let known: BTreeSet<String> = keys.iter().map(|key| folded(key)).collect();
        let about = records.chain(parts(name).filter(|_| is_file));
        context.extend(about.filter(|word| !known.contains(word)));
        let places = pairs.iter().take(MAX_NAMES).filter(|(_, cell)| cell.len() <= MAX_NAME);
        Self {
            name: name.to_owned(),
            is_file,
            form,
            keys: Values::new(keys.into_iter(), 1),
            cells: Values::new(pairs.iter().map(|(_, cell)| *cell), 0),
            places: places.map(|(key, cell)| (folded(cell), folded(key))).collect(),
            context,
        }
    }

    /// Returns whether `input` has two texts that stand in one column.
    pub(crate) fn contradicts(&self, input: &Value) -> bool {
        let mut cells = Vec::new();
        collect(input, "", &mut cells, &mut BTreeSet::new());
        let cells = cells
            .iter()
            .map(|(_, text)| folded(text))
            .filter(|text| self.cells.names.contains_key(text));
        let columns = |cell: &String| {
            let places = self.places.iter().filter(|(text, _)| text == cell);
            places.map(|(_, column)| column).collect::<BTreeSet<_>>()
        };
        let cells = cells.unique().map(|cell| columns(&cell)).collect_vec();
        cells
            .iter()
            .tuple_combinations()
            .any(|(one, other)| !one.is_disjoint(other))
    }

    /// Returns whether a condition within `input` has a column, and a text that stands in other columns only.
    pub(crate) fn misplaces(&self, input: &Value) -> bool {
        let parts = match input {
            Value::Object(map) => map.values().collect_vec(),
            Value::Array(items) => items.iter().collect_vec(),
            _ => Vec::new(),
        };
        let is_wrong = |condition: &Map<String, Value>| {
            let texts = condition.values().filter_map(Value::as_str).map(folded);
            let (keys, others): (Vec<_>, Vec<_>) = texts.partition(|text| self.keys.names.contains_key(text));
            let cells = others.into_iter().filter(|text| self.cells.names.contains_key(text));
            let mut pairs = cells.cartesian_product(keys);
            pairs.any(|pair| !self.places.contains(&pair))
        };
        let mut parts = parts.into_iter();
        parts.any(|part| part.as_object().is_some_and(is_wrong) || self.misplaces(part))
    }

    /// Returns whether the column of that name has `cell`.
    pub(crate) fn has_at(&self, cell: &str, key: &str) -> bool {
        self.places.contains(&(folded(cell), folded(key)))
    }

    /// Returns the argument that passes it to a tool, and its form.
    pub(crate) fn passed(&self) -> (Value, Form) {
        let prefix = if self.is_file { ATTACHMENT } else { "" };
        (Value::from(format!("{prefix}{}", self.name)), self.form)
    }
}

impl Values {
    /// Reads names; the first `skipped` words of each do not stand for it.
    fn new<'a>(texts: impl Iterator<Item = &'a str>, skipped: usize) -> Self {
        let names = names(texts);
        let words = names.iter().filter(|(stems, _)| stems.contains(' '));
        let words = words.flat_map(|(stems, name)| stems.split(' ').skip(skipped).map(move |word| (word, name)));
        let mut parts: BTreeMap<&str, Option<&String>> = BTreeMap::new();
        for (word, name) in words.filter(|(word, _)| !is_functional(word)) {
            let part = parts.entry(word).or_insert(Some(name));
            *part = part.filter(|known| *known == name);
        }
        let parts = parts
            .into_iter()
            .filter_map(|(word, name)| Some((word.to_owned(), name?.clone())));
        Self {
            parts: parts.collect(),
            names,
        }
    }
}

/// Returns the texts of a table, each after the name of its column. A column without texts has an empty one.
fn cells(table: &str) -> Vec<(&str, &str)> {
    let mut lines = table.lines().filter(|line| !line.trim().is_empty());
    let header = lines.next().unwrap_or_default();
    let separator = separator(header);
    let columns = fields(header, separator).collect_vec();
    let cells = lines.flat_map(|line| columns.iter().copied().zip(fields(line, separator)));
    columns.iter().map(|column| (*column, "")).chain(cells).collect()
}

/// Adds the keys of `value` and the texts under them to `pairs`, and the names of lists and objects to `context`.
fn collect<'a>(value: &'a Value, key: &'a str, pairs: &mut Vec<(&'a str, &'a str)>, context: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            // One of several objects is a choice: a question about it does not ask for the others.
            let is_only = map.values().filter(|value| value.is_object()).count() == 1;
            let nested = map
                .iter()
                .filter(|(_, value)| value.is_array() || (is_only && value.is_object()));
            context.extend(nested.flat_map(|(key, _)| parts(key)));
            for (key, value) in map {
                pairs.push((key, ""));
                collect(value, key, pairs, context);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, key, pairs, context)),
        Value::String(text) => pairs.push((key, text)),
        _ => {}
    }
}

/// Returns the stems of the words in a name.
fn parts(name: &str) -> impl Iterator<Item = String> {
    let words = name.split(|sign: char| !sign.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(stem)
}

/// Returns `texts` by their stems.
pub(crate) fn names<'a>(texts: impl Iterator<Item = &'a str>) -> Names {
    let short = texts.filter(|text| text.len() <= MAX_NAME).take(MAX_NAMES);
    let names = short.map(|text| (folded(text), text.to_owned()));
    names.filter(|(stems, _)| !stems.is_empty()).collect()
}

/// Returns the form of `text`. Each line of a table has the same number of fields, and there are at least two lines.
pub(crate) fn form_of(text: &str) -> Form {
    let text = text.trim();
    if text.starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok() {
        return Form::Json;
    }
    let separator = separator(text.lines().next().unwrap_or_default());
    let counts: Vec<usize> = text.lines().map(|line| line.matches(separator).count()).collect();
    match counts.as_slice() {
        [first, rest @ ..] if *first > 0 && !rest.is_empty() && rest.iter().all(|count| count == first) => Form::Table,
        _ => Form::Prose,
    }
}

/// Returns the separator that is most frequent in `line`.
fn separator(line: &str) -> char {
    let count = |sign: &char| line.matches(*sign).count();
    SEPARATORS.into_iter().max_by_key(count).unwrap_or(',')
}

fn fields(line: &str, separator: char) -> impl Iterator<Item = &str> {
    line.split(separator).map(|field| field.trim().trim_matches('"'))
}
