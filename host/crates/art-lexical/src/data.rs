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

/// Returns whether a slot for texts of `forms` accepts one of `form`: a slot for prose accepts every text.
pub(crate) fn accepts(forms: &Forms, form: Form) -> bool {
    forms.contains(&form) || forms.contains(&Form::Prose)
}

/// A text that a call can pass along.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Data {
    /// The name of an attachment, or the text itself.
    pub(crate) name: String,
    pub(crate) is_file: bool,
    pub(crate) form: Form,
    /// Names of columns or keys.
    pub(crate) keys: Names,
    /// Texts in the cells or under the keys.
    pub(crate) cells: Names,
    /// Words that are part of one of these names only, with that name.
    pub(crate) parts_of_keys: Names,
    pub(crate) parts_of_cells: Names,
    /// The stems of each text with those of its column or key.
    places: BTreeSet<(String, String)>,
    /// Stems of words that name the data or its records, which a question may have or lack: those in the name of the file, and
    /// those of keys that have objects or lists.
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
        let (mut pairs, mut context) = (Vec::new(), BTreeSet::new());
        let json = (form == Form::Json).then(|| serde_json::from_str(text).unwrap_or(Value::Null));
        match &json {
            Some(json) => collect(json, "", &mut pairs, &mut context),
            None if form == Form::Table => pairs = cells(text),
            None => {}
        }
        pairs.truncate(MAX_NAMES);
        pairs.retain(|(key, cell)| key.len().max(cell.len()) <= MAX_NAME);
        let keys = names(pairs.iter().map(|pair| pair.0));
        let cells = names(pairs.iter().map(|pair| pair.1));
        // The first word of `trip_date` or `order no` is what a row is about.
        let records = keys.keys().filter_map(|key| Some(key.split_once(' ')?.0.to_owned()));
        let about = records.chain(parts(name).filter(|_| is_file));
        context.extend(about.filter(|word| !keys.contains_key(word)));
        Self {
            name: name.to_owned(),
            is_file,
            form,
            context,
            places: pairs.iter().map(|(key, cell)| (folded(cell), folded(key))).collect(),
            parts_of_keys: parts_of(&keys, 1),
            parts_of_cells: parts_of(&cells, 0),
            keys,
            cells,
        }
    }

    /// Returns the names that stand in it, and the words that are part of one of them only.
    pub(crate) fn names(&self) -> [&Names; 4] {
        [&self.keys, &self.cells, &self.parts_of_keys, &self.parts_of_cells]
    }

    /// Returns whether the column of that name has `cell`.
    pub(crate) fn has_at(&self, cell: &Value, key: &Value) -> bool {
        let pair = cell.as_str().zip(key.as_str());
        pair.is_some_and(|(cell, key)| self.places.contains(&(folded(cell), folded(key))))
    }

    /// Returns whether no row can meet the conditions in `input`: two of them have texts of one column, or one has a column
    /// and a text of other columns.
    pub(crate) fn refutes(&self, input: &Value) -> bool {
        let fields = input.as_object().into_iter().flat_map(Map::values);
        let conditions = fields.filter_map(Value::as_array).flatten();
        let columns = conditions.filter_map(|condition| self.columns(condition)).collect_vec();
        let mut pairs = columns.iter().tuple_combinations();
        columns.iter().any(BTreeSet::is_empty) || pairs.any(|(one, other)| !one.is_disjoint(other))
    }

    /// The columns that a condition can be about, if it has a text of the data.
    fn columns(&self, condition: &Value) -> Option<BTreeSet<&String>> {
        let texts = condition.as_object()?.values().filter_map(Value::as_str);
        let is_key = |text: &String| self.keys.contains_key(text);
        let (keys, others): (Vec<_>, Vec<_>) = texts.map(folded).partition(is_key);
        let cell = others.iter().find(|text| self.cells.contains_key(*text))?;
        let places = self.places.iter().filter(|place| place.0 == *cell);
        let columns = places.map(|place| &place.1);
        Some(columns.filter(|key| keys.is_empty() || keys.contains(key)).collect())
    }

    /// Returns the argument that passes it to a tool, and its form.
    pub(crate) fn passed(&self) -> (Value, Form) {
        let prefix = if self.is_file { ATTACHMENT } else { "" };
        (Value::from(format!("{prefix}{}", self.name)), self.form)
    }
}

/// Returns the words that are part of one name only, with that name. The first `skipped` words of a name do not stand for it.
fn parts_of(names: &Names, skipped: usize) -> Names {
    let long = names.iter().filter(|(stems, _)| stems.contains(' '));
    let words = long.flat_map(|(stems, name)| stems.split(' ').skip(skipped).map(move |word| (word, name)));
    let words = words
        .filter(|(word, _)| !is_functional(word))
        .into_group_map()
        .into_iter();
    let words = words.filter(|(_, names)| names.iter().all_equal());
    let parts = words.filter_map(|(word, names)| Some((word.to_owned(), (*names.first()?).clone())));
    parts.collect()
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
            for (key, value) in map {
                if value.is_array() || (is_only && value.is_object()) {
                    context.extend(parts(key));
                }
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
    let counts = text.lines().map(|line| line.matches(separator).count()).collect_vec();
    let is_table = counts.len() > 1 && counts.iter().all_equal() && counts.first() > Some(&0);
    if is_table { Form::Table } else { Form::Prose }
}

/// Returns the separator that is most frequent in `line`.
fn separator(line: &str) -> char {
    let count = |sign: &char| line.matches(*sign).count();
    SEPARATORS.into_iter().max_by_key(count).unwrap_or(',')
}

fn fields(line: &str, separator: char) -> impl Iterator<Item = &str> {
    line.split(separator).map(|field| field.trim().trim_matches('"'))
}
