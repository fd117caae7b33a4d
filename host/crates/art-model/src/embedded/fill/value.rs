//! Turns a candidate into the value that a parameter takes.

use serde_json::{Value, json};

use super::super::class::Class;
use super::super::expression::{REFERENCE, written};
use super::super::measure;
use super::super::reading::{Candidate, Reading, Shape, number_value};
use super::super::schema::{Param, Tool, Type, text_of};
use super::super::token::Number;
use super::super::words;

type Placed = (Value, usize, usize);

/// Whether `value` waits for the result of an earlier part.
pub(in super::super) fn refers(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(REFERENCE),
        Value::Array(values) => values.iter().any(refers),
        Value::Object(fields) => fields.values().any(refers),
        _ => false,
    }
}

/// The value that `candidate` gives `param`, and the tokens it takes.
pub(super) fn of(tool: &Tool, param: &Param, candidate: &Candidate, reading: &Reading) -> Option<Placed> {
    let whole = |value: Value| Some((value, candidate.from, candidate.to));
    if candidate.shape == Shape::Reference {
        return whole(json!(REFERENCE));
    }
    match (&param.kind, &candidate.shape) {
        (Type::Number | Type::Integer, Shape::Number(number)) => {
            let factor = measure::factor(tool, param, reading, candidate.to)?;
            let number = Number {
                value: measure::scaled(number.value, factor),
                ..number.clone()
            };
            whole(numeric(param, &number))
        }
        (Type::Text, Shape::Phrase) => {
            let (from, to) = trimmed(tool, Some(param), candidate, reading)?;
            Some((spelled(param, reading.slice(from, to)), from, to))
        }
        // The "ID" of "the order ID is 7" names the parameter.
        (Type::Text, Shape::Name) if names(param, candidate, reading) => None,
        (Type::Text, Shape::Name) => {
            let (from, to) = unnamed(param, candidate, reading);
            Some((spelled(param, reading.slice(from, to)), from, to))
        }
        (Type::Text, Shape::Date) => whole(json!(date(param, &text_of(&candidate.value)))),
        (Type::Text, Shape::Expression) if param.class == Class::Expression => {
            whole(json!(written(&text_of(&candidate.value), &tool.shown)?))
        }
        (Type::Text, Shape::Expression) if param.class != Class::Expression && !refers(&candidate.value) => {
            whole(json!(reading.slice(candidate.from, candidate.to)))
        }
        (Type::Text, _) => whole(json!(text_of(&candidate.value))),
        _ => whole(candidate.value.clone()),
    }
}

/// A percentage becomes a fraction for a number that is not said to be in percent.
fn numeric(param: &Param, number: &Number) -> Value {
    let about = param.description.to_lowercase();
    let percent = about.contains("percent") || about.contains('%') || param.name.to_lowercase().contains("percent");
    let fraction = about.contains("decimal") || about.contains("fraction") || about.contains("0.0");
    if number.percent && param.kind == Type::Number && (fraction || !percent) {
        return number_value((number.value / 100.0 * 1e12).round() / 1e12);
    }
    number_value(if param.kind == Type::Integer {
        number.value.round()
    } else {
        number.value
    })
}

/// `date` as the description wants it written.
fn date(param: &Param, date: &str) -> String {
    let about = param.description.to_uppercase();
    let parts: Vec<&str> = date.splitn(3, '-').collect();
    let [year, month, day] = parts.as_slice() else {
        return date.to_owned();
    };
    if day.len() != 2 {
        return date.to_owned();
    }
    let forms = [
        ("MM/DD/YYYY", format!("{month}/{day}/{year}")),
        ("DD/MM/YYYY", format!("{day}/{month}/{year}")),
        ("MM-DD-YYYY", format!("{month}-{day}-{year}")),
        ("DD-MM-YYYY", format!("{day}-{month}-{year}")),
        ("DD.MM.YYYY", format!("{day}.{month}.{year}")),
        ("YYYY/MM/DD", format!("{year}/{month}/{day}")),
    ];
    forms
        .into_iter()
        .find(|(form, _)| about.contains(form))
        .map_or_else(|| date.to_owned(), |(_, text)| text)
}

/// Names of currencies become codes; those of languages where the description speaks of codes.
pub(super) fn spelled(param: &Param, text: &str) -> Value {
    let text = text.trim().trim_end_matches("'s").trim_end_matches("’s");
    let about = param.description.to_lowercase();
    let code = about.contains("code") || about.contains("iso") || about.contains("'en'") || about.contains("`en`");
    let lower = text.to_lowercase();
    let table = match param.class {
        Class::Currency => CURRENCIES,
        Class::Language if code => LANGUAGES,
        _ => return json!(text),
    };
    let known = table
        .iter()
        .find(|(name, code)| *name == lower || code.to_lowercase() == lower);
    json!(known.map_or(text, |(_, code)| code))
}

const CURRENCIES: &[(&str, &str)] = &[
    ("dollar", "USD"),
    ("dollars", "USD"),
    ("us dollar", "USD"),
    ("us dollars", "USD"),
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("pound", "GBP"),
    ("pounds", "GBP"),
    ("british pound", "GBP"),
    ("british pounds", "GBP"),
    ("pounds sterling", "GBP"),
    ("yen", "JPY"),
    ("japanese yen", "JPY"),
    ("yuan", "CNY"),
    ("chinese yuan", "CNY"),
    ("rupee", "INR"),
    ("rupees", "INR"),
    ("indian rupees", "INR"),
    ("swiss franc", "CHF"),
    ("swiss francs", "CHF"),
    ("canadian dollar", "CAD"),
    ("canadian dollars", "CAD"),
    ("australian dollar", "AUD"),
    ("australian dollars", "AUD"),
    ("peso", "MXN"),
    ("pesos", "MXN"),
    ("mexican pesos", "MXN"),
    ("won", "KRW"),
    ("korean won", "KRW"),
    ("real", "BRL"),
    ("brazilian real", "BRL"),
    ("swedish krona", "SEK"),
    ("norwegian krone", "NOK"),
    ("danish krone", "DKK"),
    ("zloty", "PLN"),
    ("polish zloty", "PLN"),
    ("bitcoin", "BTC"),
    ("turkish lira", "TRY"),
    ("ruble", "RUB"),
    ("rubles", "RUB"),
    ("new zealand dollars", "NZD"),
];

const LANGUAGES: &[(&str, &str)] = &[
    ("english", "en"),
    ("spanish", "es"),
    ("french", "fr"),
    ("german", "de"),
    ("italian", "it"),
    ("portuguese", "pt"),
    ("dutch", "nl"),
    ("japanese", "ja"),
    ("chinese", "zh"),
    ("mandarin", "zh"),
    ("korean", "ko"),
    ("russian", "ru"),
    ("arabic", "ar"),
    ("hindi", "hi"),
    ("turkish", "tr"),
    ("polish", "pl"),
    ("swedish", "sv"),
    ("danish", "da"),
    ("norwegian", "no"),
    ("finnish", "fi"),
    ("greek", "el"),
    ("hebrew", "he"),
    ("thai", "th"),
    ("vietnamese", "vi"),
    ("czech", "cs"),
    ("ukrainian", "uk"),
    ("latin", "la"),
    ("indonesian", "id"),
    ("hungarian", "hu"),
    ("romanian", "ro"),
];

/// Whether lower-case `text` names a currency.
pub(super) fn is_currency(text: &str) -> bool {
    CURRENCIES
        .iter()
        .any(|(name, code)| *name == text || code.to_lowercase() == text)
        || (text.len() == 3 && text.chars().all(|c| c.is_ascii_alphabetic()) && !words::is_empty(text))
}

/// Whether `text` is a known name or code of a currency.
pub(in super::super) fn names_currency(text: &str) -> bool {
    let text = text.to_lowercase();
    CURRENCIES
        .iter()
        .any(|(name, code)| *name == text || code.to_lowercase() == text)
}

/// Whether lower-case `text` names a language.
pub(super) fn is_language(text: &str) -> bool {
    LANGUAGES.iter().any(|(name, _)| *name == text)
}

/// A phrase without the words at its ends that belong to the request: verbs, the tool's own words, the parameter's name.
pub(super) fn trimmed(
    tool: &Tool,
    param: Option<&Param>,
    candidate: &Candidate,
    reading: &Reading,
) -> Option<(usize, usize)> {
    let (mut from, mut to) = (candidate.from, candidate.to);
    let own = tool_stems(tool);
    let drop = |index: usize, edge: usize| {
        let Some(token) = reading.token(index) else { return true };
        let lower = token.lower();
        if token.is_function_word() {
            return true;
        }
        // "Natural History Museum" is a name as a whole.
        let inside = if edge == 0 { index + 1 } else { index.saturating_sub(1) };
        let is_name = |at: usize| {
            reading
                .token(at)
                .is_some_and(super::super::token::Token::is_capitalised)
        };
        if edge == 1 && inside >= candidate.from && is_name(index) && is_name(inside) {
            return false;
        }
        let stem = words::stem(&lower);
        let named = param.is_some_and(|param| param.name_stems.iter().any(|name| words::likeness(name, &stem) >= 1.0));
        let verb = edge == 0 && words::is_imperative(&lower);
        verb || words::is_generic(&lower) || named || own.contains(&stem)
    };
    while from < to && drop(from, 0) {
        from += 1;
    }
    while from < to && drop(to - 1, 1) {
        to -= 1;
    }
    (from < to).then_some((from, to))
}

fn tool_stems(tool: &Tool) -> Vec<String> {
    words::split(&tool.name).iter().map(|word| words::stem(word)).collect()
}

/// Whether every word of the candidate is one of the parameter's name.
fn names(param: &Param, candidate: &Candidate, reading: &Reading) -> bool {
    let stems = reading.stems.get(candidate.from..candidate.to).unwrap_or_default();
    !stems.is_empty() && stems.iter().flatten().all(|stem| param.name_stems.contains(stem))
}

/// A name without the parameter's own word before or after it: "Product A" for `product` stays "A".
fn unnamed(param: &Param, candidate: &Candidate, reading: &Reading) -> (usize, usize) {
    let is_name = |index: usize| {
        reading
            .token(index)
            .is_some_and(|token| param.name_stems.contains(&words::stem(&token.lower())))
    };
    let (mut from, mut to) = (candidate.from, candidate.to);
    let joined = reading
        .token(from + 1)
        .is_some_and(super::super::token::Token::is_function_word);
    if to - from > 1 && is_name(from) && !joined {
        from += 1;
    } else if to - from > 1
        && is_name(to - 1)
        && !reading
            .token(to - 1)
            .is_some_and(super::super::token::Token::is_capitalised)
    {
        to -= 1;
    }
    (from, to)
}

/// The longest run of words that no argument took and the tool does not say itself.
pub(super) fn leftover(tool: &Tool, param: &Param, reading: &Reading, used: &[bool]) -> Option<Placed> {
    if matches!(
        param.class,
        Class::Date
            | Class::Time
            | Class::Url
            | Class::Email
            | Class::Expression
            | Class::Duration
            | Class::Path
            | Class::Currency
            | Class::Language
            | Class::Unit
    ) {
        return None;
    }
    let runs = reading
        .candidates
        .iter()
        .filter(|candidate| matches!(candidate.shape, Shape::Phrase | Shape::Name));
    let free = runs.filter_map(|candidate| {
        let (mut from, mut to) = trimmed(tool, Some(param), candidate, reading)?;
        while from < to && used.get(from).copied().unwrap_or(true) {
            from += 1;
        }
        while from < to && used.get(to - 1).copied().unwrap_or(true) {
            to -= 1;
        }
        let open = used.get(from..to).is_some_and(|used| !used.contains(&true));
        (from < to && open).then_some((from, to))
    });
    let (from, to) = free.max_by_key(|(from, to)| to - from)?;
    Some((json!(reading.slice(from, to)), from, to))
}
