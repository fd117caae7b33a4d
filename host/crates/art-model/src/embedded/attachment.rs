//! Files that come with a query: what the model sees of them, and which arguments take them.

use serde_json::Value;

use super::reading::Reading;
use super::schema::{Param, Type};
use super::words;

/// A file that comes with the query; the model sees its beginning.
#[derive(Clone, Debug, Default)]
pub(super) struct Attachment {
    pub(super) name: String,
    pub(super) media_type: String,
    pub(super) preview: String,
}

impl Attachment {
    /// Reads one entry of the prompt's list.
    pub(super) fn read(value: &Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            name: text("name"),
            media_type: text("mediaType"),
            preview: text("preview"),
        }
    }

    /// The argument that stands for the whole text.
    pub(super) fn argument(&self) -> Value {
        Value::from(format!("attachment:{}", self.name))
    }

    /// Words for what kind of text it is, such as `csv`.
    pub(super) fn kinds(&self) -> Vec<String> {
        let extension = self
            .name
            .rsplit_once('.')
            .map(|(_, extension)| extension.to_lowercase());
        let media = self.media_type.rsplit('/').next().unwrap_or_default().to_lowercase();
        let mut kinds: Vec<String> = extension.into_iter().chain(std::iter::once(media)).collect();
        kinds.retain(|kind| !kind.is_empty());
        kinds.dedup();
        kinds
    }

    /// The column names, when it is a table.
    pub(super) fn columns(&self) -> Vec<String> {
        if self
            .kinds()
            .iter()
            .any(|kind| matches!(kind.as_str(), "csv" | "tsv" | "tab-separated-values"))
        {
            header(&self.preview)
        } else {
            Vec::new()
        }
    }
}

/// The fields of the first line, when it looks like the header of a table.
pub(super) fn header(text: &str) -> Vec<String> {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let Some(separator) = [',', ';', '\t', '|']
        .into_iter()
        .max_by_key(|sign| line.matches(*sign).count())
    else {
        return Vec::new();
    };
    let fields: Vec<String> = line
        .split(separator)
        .map(|field| field.trim().trim_matches('"').to_owned())
        .collect();
    let plain = |field: &String| !field.is_empty() && field.chars().count() <= 60;
    if fields.len() > 1 && fields.len() <= 200 && fields.iter().all(plain) {
        fields
    } else {
        Vec::new()
    }
}

/// The fields of the lines behind the header of a table, as far as they have as many as it.
pub(super) fn rows(text: &str) -> Vec<Vec<String>> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).take(1_000);
    let Some(first) = lines.next() else { return Vec::new() };
    let signs = [',', ';', '\t', '|'];
    let Some(separator) = signs.into_iter().max_by_key(|sign| first.matches(*sign).count()) else {
        return Vec::new();
    };
    let fields = |line: &str| -> Vec<String> {
        let fields = line.split(separator);
        fields.map(|field| field.trim().trim_matches('"').to_owned()).collect()
    };
    let width = fields(first).len();
    lines
        .map(fields)
        .filter(|row| row.len() == width && width > 1)
        .collect()
}

/// CSV that stands in the query itself: lines with the same separator, and the first of them.
pub(super) fn inline_table(text: &str) -> Option<String> {
    let fields = |line: &str| {
        [',', ';', '\t', '|']
            .into_iter()
            .map(|sign| line.matches(sign).count())
            .max()
            .unwrap_or(0)
    };
    let lines: Vec<&str> = text.lines().collect();
    let start = (0..lines.len()).find(|at| {
        let count = lines.get(*at).map_or(0, |line| fields(line));
        count > 0 && lines.get(at + 1).is_some_and(|next| fields(next) == count)
    })?;
    let count = lines.get(start).map_or(0, |line| fields(line));
    let table: Vec<&str> = lines
        .into_iter()
        .skip(start)
        .take_while(|line| fields(line) == count)
        .collect();
    Some(table.join("\n"))
}

/// Whether the text speaks of an attachment: by its name or kind, a column of it, or as what comes with the question.
pub(super) fn is_meant(part: &Reading, attachments: &[Attachment]) -> bool {
    let text = part.text.to_lowercase();
    let spoken = words::split(&part.text);
    let has = |word: &str| spoken.iter().any(|other| words::stem(other) == words::stem(word));
    let pointed = [
        "attached",
        "attachment",
        "file",
        "data",
        "dataset",
        "spreadsheet",
        "rows",
        "columns",
    ]
    .iter()
    .any(|word| has(word));
    let one = |file: &Attachment| {
        let named = !file.name.is_empty() && text.contains(&file.name.to_lowercase());
        named || file.kinds().iter().chain(&file.columns()).any(|word| has(word))
    };
    !attachments.is_empty() && (pointed || attachments.iter().any(one))
}

/// The attachment that `param` takes, if it takes the content of one.
pub(super) fn for_param(param: &Param, reading: &Reading, attachments: &[Attachment], taken: usize) -> Option<Value> {
    if !matches!(param.kind, Type::Text | Type::Any) || attachments.is_empty() {
        return None;
    }
    let holds = |stem: &str| {
        param
            .name_stems
            .iter()
            .chain(&param.description_stems)
            .any(|word| word == stem)
    };
    let of_kind = |file: &&Attachment| file.kinds().iter().any(|kind| holds(&words::stem(kind)));
    let is_text = |file: &&Attachment| {
        file.kinds()
            .iter()
            .any(|kind| matches!(kind.as_str(), "txt" | "md" | "plain" | "markdown" | "log"))
    };
    let content = || {
        ["text", "content", "data", "document", "file"]
            .iter()
            .any(|word| holds(&words::stem(word)))
    };
    let named = |file: &&Attachment| !file.name.is_empty() && reading.text.contains(&file.name);
    let fitting: Vec<&Attachment> = attachments
        .iter()
        .filter(|file| of_kind(file) || (content() && is_text(file)))
        .collect();
    let mentioned: Vec<&Attachment> = fitting.iter().copied().filter(|file| named(file)).collect();
    let pick = if mentioned.is_empty() { fitting } else { mentioned };
    pick.get(taken).map(|file| file.argument())
}
