//! Finds a unit by its name or symbol.

use crate::{
    dimension::Dimension,
    units::{self, BINARY, DECIMAL, Prefix, Prefixes, Scale, Unit},
};

/// Maximum number of similar names in an error message.
const MAX_SIMILAR: usize = 4;

/// What a text such as `km` or `km/h` means: a unit with its prefix if it has one, or a compound of units.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measure {
    pub(crate) name: String,
    pub(crate) scale: Scale,
    pub(crate) dimension: Dimension,
}

/// The result of a search for a unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lookup {
    Unit(Measure),
    /// The names of several units, whose symbols all match and differ only in letter case.
    Ambiguous(Vec<String>),
    None,
}

/// Finds `text` as a symbol, else as a name, else as the plural of a symbol, else as a symbol or its plural in any letter case.
pub(crate) fn find(text: &str) -> Lookup {
    let text = with_unit_signs(text);
    let text = text.as_str();
    let exact = |text: &str| find_by_symbol(text, |a, b| a == b).into_iter().next();
    let singular = text.strip_suffix(['s', 'S']).filter(|rest| !rest.is_empty());
    // Look up a plural such as `mms` in its own letter case before any symbol in another letter case. Leave the plural of a
    // single letter to the search in any case: `bs` is ambiguous, since both `b` and `B` are symbols.
    let plural = || singular.filter(|symbol| symbol.chars().count() > 1).and_then(exact);
    if let Some(measure) = exact(text).or_else(|| find_by_name(text)).or_else(plural) {
        return Lookup::Unit(measure);
    }
    [Some(text), singular]
        .into_iter()
        .flatten()
        .map(find_by_symbol_in_any_case)
        .find(|found| *found != Lookup::None)
        .unwrap_or(Lookup::None)
}

/// Returns a text with the signs that the table of units has, in place of others that look the same: keyboards and editors write
/// the Greek letter mu.
fn with_unit_signs(text: &str) -> String {
    let sign = |sign| match sign {
        'μ' => 'µ',
        '\u{212a}' => 'K',
        '\u{212b}' => 'Å',
        sign => sign,
    };
    text.chars().map(sign).collect()
}

fn find_by_symbol_in_any_case(text: &str) -> Lookup {
    let mut found = find_by_symbol(text, |a, b| a.to_lowercase() == b.to_lowercase());
    // `Mhz` matches twice: the table has the megahertz itself, and the hertz, which can have the prefix `mega`.
    found.dedup_by(|a, b| a.name == b.name);
    // `is_empty` is called after `pop`, so it is true if there was only one match.
    match (found.pop(), found.is_empty()) {
        (None, _) => Lookup::None,
        (Some(measure), true) => Lookup::Unit(measure),
        (Some(last), false) => Lookup::Ambiguous(found.into_iter().chain([last]).map(|measure| measure.name).collect()),
    }
}

/// Returns the units whose symbol is `text`, compared by `same`: units without a prefix before those with one.
fn find_by_symbol(text: &str, same: impl Fn(&str, &str) -> bool) -> Vec<Measure> {
    let has_symbol = |unit: &Unit, text: &str| unit.symbols.iter().any(|symbol| same(symbol, text));
    let plain = units::all().filter(|unit| has_symbol(unit, text)).map(to_measure);
    let prefixed = prefixes().filter_map(|prefix| {
        let (_, symbol, _) = prefix;
        let head = text.get(..symbol.len()).filter(|head| same(head, symbol))?;
        let rest = text.get(head.len()..).filter(|rest| !rest.is_empty())?;
        let fits = |unit: &&Unit| has_symbol(unit, rest) && allows_prefix(unit, prefix);
        units::all().find(fits).map(|unit| to_prefixed_measure(unit, prefix))
    });
    plain.chain(prefixed).collect()
}

fn find_by_name(text: &str) -> Option<Measure> {
    let text = normalize(text);
    if let Some(unit) = units::all().find(|unit| is_named(unit, &text)) {
        return Some(to_measure(unit));
    }
    prefixes().find_map(|prefix| {
        let (name, _, _) = prefix;
        let rest = text.strip_prefix(*name)?;
        let fits = |unit: &&Unit| is_named(unit, rest) && allows_prefix(unit, prefix);
        units::all().find(fits).map(|unit| to_prefixed_measure(unit, prefix))
    })
}

fn is_named(unit: &Unit, text: &str) -> bool {
    same_words(&normalize(unit.name), text) || unit.aliases.iter().any(|alias| same_words(alias, text))
}

/// Returns whether `text` has the words of `name`. Each of them may be a plural in `text`: `miles per gallon`.
fn same_words(name: &str, text: &str) -> bool {
    let same = |(name, word): (&str, &str)| {
        let ending = word.strip_prefix(name);
        matches!(ending, Some("" | "s" | "es"))
    };
    name.split(' ').count() == text.split(' ').count() && name.split(' ').zip(text.split(' ')).all(same)
}

/// Converts to lower case with one space between words, and hyphens and underscores to spaces.
fn normalize(text: &str) -> String {
    let text = text.to_lowercase().replace(['-', '_'], " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn prefixes() -> impl Iterator<Item = &'static Prefix> {
    BINARY.iter().chain(DECIMAL.iter())
}

/// Returns whether a unit can have a prefix. The symbols of binary prefixes, and of no others, end with `i`.
fn allows_prefix(unit: &Unit, prefix: &Prefix) -> bool {
    let (_, symbol, _) = prefix;
    let is_binary = symbol.ends_with('i');
    unit.prefixes == Prefixes::DecimalAndBinary || (unit.prefixes == Prefixes::Decimal && !is_binary)
}

fn to_measure(unit: &Unit) -> Measure {
    Measure {
        name: unit.name.to_owned(),
        scale: unit.scale,
        dimension: unit.dimension,
    }
}

fn to_prefixed_measure(unit: &Unit, (name, _, prefix_factor): &Prefix) -> Measure {
    let scale = match unit.scale {
        Scale::Factor(factor) => Scale::Factor(factor * prefix_factor),
        other => other,
    };
    Measure {
        name: format!("{name}{}", unit.name),
        scale,
        dimension: unit.dimension,
    }
}

/// Returns the end of an error message, which asks whether a unit with a name similar to `text` was meant. Returns an empty
/// text if there is no such unit.
pub(crate) fn suggest_similar(text: &str) -> String {
    let text = normalize(text);
    let names = units::all().flat_map(|unit| [unit.name].into_iter().chain(unit.aliases.iter().copied()));
    let mut names: Vec<(usize, &str)> = names
        .map(|name| (edit_distance(&normalize(name), &text), name))
        .collect();
    let max_distance = if text.chars().count() < 5 { 1 } else { 2 };
    names.retain(|(distance, _)| *distance <= max_distance);
    names.sort_unstable();
    let names: Vec<String> = names
        .iter()
        .take(MAX_SIMILAR)
        .map(|(_, name)| format!("`{name}`"))
        .collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(", did you mean {}", names.join(", "))
    }
}

/// Returns the Levenshtein distance of `a` and `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for ((to, diagonal), above) in b.iter().zip(&row).zip(row.iter().skip(1)) {
            let left = next.last().copied().unwrap_or_default();
            next.push((diagonal + usize::from(from != *to)).min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
