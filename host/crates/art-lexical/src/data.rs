//! Whole texts, which a call can pass along unchanged: tables, JSON and prose, from the question or from an attachment.

use std::collections::{BTreeMap, BTreeSet};

use art_core::task::TaskFile;
use itertools::Itertools;
use serde_json::Value;

use crate::token::{stem, text_stems};
use crate::words::is_function_word;

/// Maximum number of texts in [`TextsByStems`].
const MAX_SHORT_TEXTS: usize = 4_000;
/// Maximum length of such a text, in bytes. Longer ones are left out.
const MAX_SHORT_TEXT_BYTES: usize = 100;
/// Prefix of the text that stands for an attachment in an input.
pub(crate) const ATTACHMENT_PREFIX: &str = "attachment:";

/// Names and other short texts, each with the stems of its words as key.
pub(crate) type TextsByStems = BTreeMap<String, String>;

/// The form of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TextForm {
    /// Lines of fields, the first of which names the columns.
    Table,
    /// One JSON array or object.
    Json,
    /// Any other text.
    #[default]
    Prose,
}

/// The forms of whole texts that a parameter accepts.
pub(crate) type TextForms = BTreeSet<TextForm>;

/// Returns whether a slot for texts of `forms` accepts a text of `form`. A slot for prose accepts every text.
pub(crate) fn accepts(forms: &TextForms, form: TextForm) -> bool {
    forms.contains(&form) || forms.contains(&TextForm::Prose)
}

/// A whole text, which a call can pass along.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WholeText {
    /// The name of an attachment, or the text itself.
    pub(crate) name_or_text: String,
    pub(crate) is_attachment: bool,
    pub(crate) form: TextForm,
    /// Names of columns or keys by their stems, and also by each word that is part of only one of these names.
    pub(crate) keys: TextsByStems,
    /// Texts in the cells or under the keys by their stems, and also by each word that is part of only one of these texts.
    pub(crate) cells: TextsByStems,
    /// Stems of words that name the data or its records, and so do not matter in a question: the words in the name of the file,
    /// the first words of names of columns, and keys whose values are objects or lists.
    pub(crate) naming_stems: BTreeSet<String>,
}

impl WholeText {
    /// Reads a text in the question, or a value in the input of an example.
    pub(crate) fn of_value(value: &Value) -> Self {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Self::new(&text, false, form_of(&text), &text)
    }

    /// Reads an attachment. Returns `None` if it is not a text.
    pub(crate) fn of_file(file: &TaskFile) -> Option<Self> {
        let form = match file.media_type.rsplit('/').next().unwrap_or_default() {
            _ if file.beginning.is_empty() && !file.media_type.starts_with("text/") => return None,
            "csv" | "tab-separated-values" => TextForm::Table,
            "json" => TextForm::Json,
            _ => form_of(&file.beginning),
        };
        Some(Self::new(&file.name, true, form, &file.beginning))
    }

    /// Reads `text`, which is the content or the beginning of the whole text.
    fn new(name_or_text: &str, is_attachment: bool, form: TextForm, text: &str) -> Self {
        let text = without_byte_order_mark(text);
        let mut whole_text = Self {
            name_or_text: name_or_text.to_owned(),
            is_attachment,
            form,
            ..Self::default()
        };
        match form {
            TextForm::Json => whole_text.read_json(&serde_json::from_str(text).unwrap_or_default()),
            TextForm::Table => whole_text.read_table(text),
            TextForm::Prose => {}
        }
        // The first word of a name such as `trip_date` or `order no` says what a row is about.
        let key_stems = whole_text.keys.keys();
        let record_words = key_stems.filter_map(|key| Some(key.split_once(' ')?.0.to_owned()));
        let naming_words = record_words.chain(word_stems(name_or_text).filter(|_| is_attachment));
        let naming_words = naming_words.filter(|word| !whole_text.keys.contains_key(word));
        whole_text.naming_stems.extend(naming_words);
        // Without the first word of a key, which is a naming word and does not tell keys apart.
        add_unique_words(&mut whole_text.keys, 1);
        add_unique_words(&mut whole_text.cells, 0);
        whole_text
    }

    fn read_table(&mut self, table: &str) {
        let mut lines = table.lines().filter(|line| !line.trim().is_empty());
        let header = lines.next().unwrap_or_default();
        let separator = separator(header);
        let field = |text: &'_ str| text.trim().trim_matches('"').to_owned();
        header.split(separator).for_each(|key| add(&mut self.keys, &field(key)));
        let cells = lines.flat_map(|line| line.split(separator));
        cells.for_each(|cell| add(&mut self.cells, &field(cell)));
    }

    fn read_json(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                // Of several objects, a question chooses one by its key. The key of the only object merely names the data.
                let has_one_object = map.values().filter(|value| value.is_object()).count() == 1;
                for (key, value) in map {
                    if value.is_array() || (has_one_object && value.is_object()) {
                        self.naming_stems.extend(word_stems(key));
                    }
                    add(&mut self.keys, key);
                    self.read_json(value);
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.read_json(value)),
            Value::String(text) => add(&mut self.cells, text),
            _ => {}
        }
    }

    /// Returns the argument that passes the text to a tool, and the form of the text.
    pub(crate) fn to_argument(&self) -> (Value, TextForm) {
        let prefix = if self.is_attachment { ATTACHMENT_PREFIX } else { "" };
        (Value::from(format!("{prefix}{}", self.name_or_text)), self.form)
    }
}

/// Adds a text to `names`, with its stems as key.
fn add(names: &mut TextsByStems, text: &str) {
    if text.len() <= MAX_SHORT_TEXT_BYTES && names.len() < MAX_SHORT_TEXTS {
        names.insert(text_stems(text), text.to_owned());
    }
}

/// Returns `texts`, each with its stems as key.
pub(crate) fn texts_by_stems<'a>(texts: impl Iterator<Item = &'a str>) -> TextsByStems {
    let mut names = TextsByStems::new();
    texts.for_each(|text| add(&mut names, text));
    names
}

/// Adds each word that is part of only one of `names` as another key of this name, but not the first `skipped` words of a name.
fn add_unique_words(names: &mut TextsByStems, skipped: usize) {
    let mut owners: BTreeMap<String, Option<String>> = BTreeMap::new();
    for (stems, name) in &*names {
        for word in stems.split(' ').skip(skipped).filter(|word| !is_function_word(word)) {
            let owner = owners.entry(word.to_owned()).or_insert_with(|| Some(name.clone()));
            *owner = owner.take().filter(|owner| owner == name);
        }
    }
    for (word, name) in owners.into_iter().filter_map(|(word, name)| Some((word, name?))) {
        names.entry(word).or_insert(name);
    }
}

fn word_stems(name: &str) -> impl Iterator<Item = String> {
    let words = name.split(|sign: char| !sign.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(stem)
}

/// Returns the text without the byte order mark that some programs write at its beginning.
fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Returns the form of `text`. A table has at least two lines, each with the same number of fields, and more than one field.
fn form_of(text: &str) -> TextForm {
    let text = without_byte_order_mark(text).trim();
    if text.starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok() {
        return TextForm::Json;
    }
    let separator = separator(text.lines().next().unwrap_or_default());
    let counts = text.lines().map(|line| line.matches(separator).count()).collect_vec();
    let is_table = counts.len() > 1 && counts.iter().all_equal() && counts.first() > Some(&0);
    if is_table { TextForm::Table } else { TextForm::Prose }
}

/// Returns the separator that is most frequent in `line`.
fn separator(line: &str) -> char {
    let count = |sign: &char| line.matches(*sign).count();
    ['|', '\t', ';', ','].into_iter().max_by_key(count).unwrap_or(',')
}
