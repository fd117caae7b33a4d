//! Reads the sections of a prompt: `## Name` lines open them, `> ` quotes text that is not the host's.

use std::collections::HashMap;

use art_core::prompt::{Message, Role};
use art_core::provider::ModelRequest;
use serde::Deserialize;
use serde_json::Value;

use super::attachment::Attachment;
use super::schema::Tool;

/// Characters of a query that are read.
const QUERY: usize = 20_000;

/// The sections of one message by name, quotation removed.
#[derive(Debug, Default)]
pub(super) struct Sections(HashMap<String, String>);

impl Sections {
    /// Reads the sections of `text`; what stands before the first is left out.
    pub(super) fn read(text: &str) -> Self {
        let mut sections = HashMap::new();
        let mut name: Option<String> = None;
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("## ") {
                name = Some(title.trim().to_lowercase());
                sections.entry(title.trim().to_lowercase()).or_insert_with(String::new);
            } else if let Some(body) = name.as_ref().and_then(|name| sections.get_mut(name)) {
                append(body, line);
            }
        }
        Self(sections)
    }

    /// The sections of the last message of `role` that has any.
    fn of(messages: &[Message], role: Role) -> Self {
        let with_sections = |message: &&Message| message.role == role && message.content_text().contains("## ");
        let message = messages.iter().rev().find(with_sections);
        message
            .map(|message| Self::read(message.content_text()))
            .unwrap_or_default()
    }

    /// The sections of a planning or synthesis prompt: those of the last user message.
    pub(super) fn of_user(request: &ModelRequest) -> Self {
        Self::of(&request.prompt.0, Role::User)
    }

    /// The sections of an execution prompt: those of the system message.
    pub(super) fn of_system(request: &ModelRequest) -> Self {
        Self::of(&request.prompt.0, Role::System)
    }

    /// The text of a section, without blank lines around it.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |text| text.trim())
    }

    /// The JSON of a section; null when it is absent or malformed.
    pub(super) fn json(&self, name: &str) -> Value {
        serde_json::from_str(self.text(name)).unwrap_or_default()
    }

    /// The entries of a JSON list.
    pub(super) fn list<T: for<'a> Deserialize<'a>>(&self, name: &str) -> Vec<T> {
        let Value::Array(entries) = self.json(name) else {
            return Vec::new();
        };
        entries
            .into_iter()
            .filter_map(|entry| serde_json::from_value(entry).ok())
            .collect()
    }

    /// The query, cut to what is read.
    pub(super) fn query(&self) -> &str {
        art_core::text::prefix(self.text("query"), QUERY)
    }

    /// The files that come with the query.
    pub(super) fn attachments(&self) -> Vec<Attachment> {
        self.list("attachments").iter().map(Attachment::read).collect()
    }

    /// The tools that section `name` lists, else those handed over natively.
    pub(super) fn tools(&self, name: &str, request: &ModelRequest) -> Vec<Tool> {
        let listed: Vec<Tool> = self.list(name).iter().map(Tool::read).collect();
        if listed.is_empty() {
            request.tools.iter().map(Tool::from_schema).collect()
        } else {
            listed
        }
    }
}

fn append(body: &mut String, line: &str) {
    if !body.is_empty() {
        body.push('\n');
    }
    let quoted = line.strip_prefix("> ").or_else(|| line.strip_prefix('>'));
    body.push_str(quoted.unwrap_or(line));
}

/// The turns of the conversation before the message that has the sections.
pub(super) fn turns(messages: &[Message]) -> &[Message] {
    let asks = |message: &Message| message.role == Role::User && message.content_text().contains("## ");
    let end = messages.iter().rposition(asks).unwrap_or(0);
    messages.get(..end).unwrap_or_default()
}

/// The query of a planning prompt; a prompt without sections is the query itself.
pub(super) fn query(sections: &Sections, request: &ModelRequest) -> String {
    if sections.0.contains_key("query") {
        return sections.query().to_owned();
    }
    let user = request.prompt.0.iter().rev().find(|message| message.role == Role::User);
    user.map(|message| art_core::text::prefix(message.content_text(), QUERY).to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_cannot_open_a_section() {
        let sections = Sections::read("## Query\n> a\n> ## Tools\n>\n> b\n\n## Plan\n> p");
        assert_eq!(sections.text("query"), "a\n## Tools\n\nb");
        assert_eq!(sections.text("plan"), "p");
        assert_eq!(sections.text("tools"), "");
    }

    #[test]
    fn malformed_json_counts_as_absent() {
        let sections = Sections::read("## Attachments\n[{\"name\":");
        assert!(sections.attachments().is_empty());
    }
}
