//! Whole texts that a call can pass along: tables, JSON and prose, from the question or from an attachment.

use std::collections::{BTreeMap, BTreeSet};

use art_core::task::TaskFile;
use serde_json::Value;

use crate::token::folded;

/// Maximum number of names that are read from one text.
const MAX_NAMES: usize = 4_000;
/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 100;
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
        let (mut keys, mut cells, name) = (Vec::new(), Vec::new(), name.to_owned());
        let json = if form == Form::Json { text } else { "null" };
        let json = serde_json::from_str(json).unwrap_or(Value::Null);
        collect(&json, &mut keys, &mut cells);
        if form == Form::Table {
            let mut lines = text.lines().filter(|line| !line.trim().is_empty());
            let header = lines.next().unwrap_or_default();
            let separator = separator(header);
            keys.extend(fields(header, separator));
            cells.extend(lines.flat_map(|line| fields(line, separator)));
        }
        let (keys, cells) = (names(keys.into_iter()), names(cells.into_iter()));
        Self {
            name,
            is_file,
            form,
            keys,
            cells,
        }
    }

    /// Returns the argument that passes it to a tool, and its form.
    pub(crate) fn passed(&self) -> (Value, Form) {
        let prefix = if self.is_file { "attachment:" } else { "" };
        (Value::from(format!("{prefix}{}", self.name)), self.form)
    }
}

fn collect<'a>(value: &'a Value, keys: &mut Vec<&'a str>, cells: &mut Vec<&'a str>) {
    match value {
        Value::Object(map) => {
            keys.extend(map.keys().map(String::as_str));
            map.values().for_each(|value| collect(value, keys, cells));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, keys, cells)),
        Value::String(text) => cells.push(text),
        _ => {}
    }
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
