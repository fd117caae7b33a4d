//! Whole texts that a tool can be given: tables, JSON and prose, in the question or in a file that comes with it.

use std::collections::BTreeMap;

use art_core::task::TaskFile;
use serde_json::Value;

use crate::token::folded;

/// Values of one text that are known by name.
const MAX_NAMES: usize = 4_000;

/// Separators of the fields of a table.
const SEPARATORS: [char; 4] = [',', ';', '\t', '|'];

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// Lines of fields, the first of which names the columns.
    Table,
    /// One JSON value that has others.
    Json,
    /// Any other text.
    Prose,
    /// A file that is no text, or of which only the name is known.
    Unknown,
}

/// A text that a tool can be given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Data {
    /// The argument that stands for it.
    pub(crate) argument: Value,
    pub(crate) form: Form,
    /// Names of columns or keys, by their stems.
    pub(crate) keys: BTreeMap<String, String>,
    /// Texts in the cells or under the keys, by their stems.
    pub(crate) cells: BTreeMap<String, String>,
}

impl Data {
    /// A text as it stands in the question.
    pub(crate) fn of_text(text: &str) -> Self {
        Self::new(Value::from(text), form_of(text), text)
    }

    /// The value of an example.
    pub(crate) fn of_value(value: &Value) -> Self {
        match value.as_str() {
            Some(text) => Self::of_text(text),
            None => Self::new(value.clone(), Form::Json, &value.to_string()),
        }
    }

    /// A file that comes with the question.
    pub(crate) fn of_file(file: &TaskFile) -> Self {
        let argument = Value::from(format!("attachment:{}", file.name));
        let subtype = file.media_type.rsplit('/').next().unwrap_or_default();
        let form = match subtype {
            _ if file.beginning.is_empty() && !file.media_type.starts_with("text/") => Form::Unknown,
            "csv" | "tab-separated-values" => Form::Table,
            "json" => Form::Json,
            _ => form_of(&file.beginning),
        };
        Self::new(argument, form, &file.beginning)
    }

    fn new(argument: Value, form: Form, text: &str) -> Self {
        let mut data = Self {
            argument,
            form,
            keys: BTreeMap::new(),
            cells: BTreeMap::new(),
        };
        match form {
            Form::Table => data.add_table(text),
            Form::Json => data.add_json(text),
            Form::Prose | Form::Unknown => {}
        }
        data
    }

    fn add_table(&mut self, text: &str) {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let header = lines.next().unwrap_or_default();
        let separator = separator(header);
        let fields = |line: &str| -> Vec<String> {
            let fields = line.split(separator);
            fields.map(|field| field.trim().trim_matches('"').to_owned()).collect()
        };
        for name in fields(header) {
            insert(&mut self.keys, &name);
        }
        for cell in lines.flat_map(fields) {
            insert(&mut self.cells, &cell);
        }
    }

    fn add_json(&mut self, text: &str) {
        if let Ok(value) = serde_json::from_str::<Value>(text) {
            self.add_value(&value);
        }
    }

    fn add_value(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    insert(&mut self.keys, key);
                    self.add_value(value);
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.add_value(value)),
            Value::String(text) => insert(&mut self.cells, text),
            _ => {}
        }
    }
}

fn insert(names: &mut BTreeMap<String, String>, name: &str) {
    let fits = !name.is_empty() && name.len() <= 100 && names.len() < MAX_NAMES;
    if fits {
        names.entry(folded(name)).or_insert_with(|| name.to_owned());
    }
}

/// What a text looks like.
pub(crate) fn form_of(text: &str) -> Form {
    let trimmed = text.trim();
    if trimmed.starts_with(['{', '['])
        && serde_json::from_str::<Value>(trimmed).is_ok_and(|value| value.is_array() || value.is_object())
    {
        Form::Json
    } else if tables(trimmed).first() == Some(&(0, trimmed.len())) {
        Form::Table
    } else {
        Form::Prose
    }
}

/// The separator that a line has most of.
fn separator(line: &str) -> char {
    let most = SEPARATORS
        .into_iter()
        .rev()
        .max_by_key(|sign| line.matches(*sign).count());
    most.unwrap_or(',')
}

/// Where tables stand in `text`, in bytes: two lines or more with the same number of fields, none of them a sentence.
pub(crate) fn tables(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open: Option<Run> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        let (start, end) = (at, at + content.len());
        at += line.len();
        let shape = shape(content);
        match &mut open {
            Some(run) if shape.is_some() && shape == Some(run.shape) => {
                run.end = end;
                run.lines += 1;
            }
            _ => {
                found.extend(open.take().and_then(Run::table));
                open = shape.map(|shape| Run {
                    start,
                    end,
                    lines: 1,
                    shape,
                });
            }
        }
    }
    found.extend(open.and_then(Run::table));
    found
}

/// Lines of one shape.
struct Run {
    start: usize,
    end: usize,
    lines: usize,
    shape: (char, usize),
}

impl Run {
    fn table(self) -> Option<(usize, usize)> {
        (self.lines > 1).then_some((self.start, self.end))
    }
}

/// The separator of a line and how often it stands there; none for a line that is no row.
fn shape(line: &str) -> Option<(char, usize)> {
    let separator = separator(line);
    let count = line.matches(separator).count();
    (count > 0 && !line.ends_with(['?', '.', ':']) && !line.starts_with(['{', '['])).then_some((separator, count))
}
