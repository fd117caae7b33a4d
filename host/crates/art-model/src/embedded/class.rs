//! What kind of text a parameter takes, by the words of its name and description.

use super::words;

/// Kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Place,
    Person,
    Date,
    Time,
    /// A length of time in ISO 8601, such as `P3D`.
    Duration,
    Url,
    Email,
    Path,
    Expression,
    /// Text to work on, or to look for.
    Content,
    Unit,
    Currency,
    Language,
    Identifier,
    Other,
}

const CLASSES: &[(Class, &[&str])] = &[
    (Class::Url, &["url", "uri", "link", "website", "webpage", "homepage"]),
    (Class::Email, &["email", "recipient", "mail"]),
    (
        Class::Path,
        &["path", "file", "filename", "filepath", "folder", "directory"],
    ),
    (
        Class::Date,
        &[
            "date",
            "day",
            "deadline",
            "birthday",
            "checkin",
            "checkout",
            "departure_date",
            "datetime",
        ],
    ),
    (Class::Time, &["time", "hour", "clock"]),
    (Class::Currency, &["currency", "currencies"]),
    (Class::Language, &["language", "lang"]),
    (Class::Unit, &["unit", "units"]),
    (
        Class::Expression,
        &[
            "expression",
            "formula",
            "equation",
            "func",
            "function",
            "polynomial",
            "math",
        ],
    ),
    (
        Class::Place,
        &[
            "city",
            "location",
            "place",
            "country",
            "state",
            "destination",
            "origin",
            "address",
            "region",
            "area",
            "town",
            "airport",
            "where",
            "venue",
            "neighborhood",
            "county",
            "continent",
            "zone",
            "timezone",
            "departure",
            "arrival",
        ],
    ),
    (
        Class::Person,
        &[
            "person",
            "author",
            "artist",
            "actor",
            "actress",
            "director",
            "player",
            "singer",
            "leader",
            "president",
            "king",
            "scientist",
            "employee",
            "customer",
            "painter",
            "composer",
            "athlete",
            "celebrity",
            "username",
            "team",
            "inventor",
        ],
    ),
    (
        Class::Content,
        &[
            "text",
            "query",
            "content",
            "message",
            "sentence",
            "keyword",
            "keywords",
            "topic",
            "prompt",
            "question",
            "body",
            "phrase",
            "paragraph",
            "subject",
            "title",
            "string",
            "word",
            "description",
            "input",
            "term",
            "search",
        ],
    ),
    (
        Class::Identifier,
        &["id", "code", "identifier", "sku", "key", "symbol", "ticker"],
    ),
];

/// The kind of text that a parameter takes. The last word of its name says most; the description decides only when the
/// name says nothing.
pub(super) fn of(name: &str, description: &str, format: &str) -> Class {
    if let Some(class) = by_format(format) {
        return class;
    }
    if takes_duration(description) {
        return Class::Duration;
    }
    let name = words::split(name);
    let by_word = |word: &String| {
        CLASSES
            .iter()
            .find(|(_, words)| words.contains(&word.as_str()))
            .map(|(class, _)| *class)
    };
    if name.last().is_some_and(|word| word == "address") && description.to_lowercase().contains("mail") {
        return Class::Email;
    }
    if let Some(class) = name.iter().rev().find_map(by_word) {
        return class;
    }
    let description = words::split(art_core::text::prefix(description, 160));
    description
        .iter()
        .filter(|word| {
            !matches!(
                word.as_str(),
                "string"
                    | "input"
                    | "time"
                    | "day"
                    | "search"
                    | "function"
                    | "title"
                    | "word"
                    | "area"
                    | "state"
                    | "key"
                    | "team"
                    | "file"
                    | "term"
                    | "code"
            )
        })
        .find_map(by_word)
        .unwrap_or(Class::Other)
}

/// "an ISO 8601 duration", or an example of one.
fn takes_duration(description: &str) -> bool {
    let example = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let body = word.strip_prefix('P').unwrap_or_default();
        let unit = body.ends_with(['Y', 'M', 'W', 'D', 'H', 'S']);
        let clock = body.trim_start_matches('T');
        unit && clock.starts_with(|c: char| c.is_ascii_digit())
    };
    let lower = description.to_lowercase();
    lower.contains("iso 8601 duration")
        || lower.contains("iso-8601 duration")
        || description.split_whitespace().any(example)
}

fn by_format(format: &str) -> Option<Class> {
    Some(match format {
        "date" | "date-time" => Class::Date,
        "time" => Class::Time,
        "duration" => Class::Duration,
        "uri" | "url" | "uri-reference" => Class::Url,
        "email" => Class::Email,
        _ => return None,
    })
}
