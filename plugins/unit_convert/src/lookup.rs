//! From one written unit to the unit it means.

use crate::{
    dimension::Dimension,
    units::{self, BINARY, DECIMAL, Prefix, Prefixes, Scale, Unit},
};

/// How many similar names a message lists.
const MAX_NEAR: usize = 4;

/// A unit, with its prefix if it has one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measure {
    pub(crate) name: String,
    pub(crate) scale: Scale,
    pub(crate) dimension: Dimension,
}

/// What a written unit means.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found {
    One(Measure),
    /// Only the letter case would tell.
    Several(Vec<String>),
    Nothing,
}

/// Finds `text`: a symbol, else a name, else a symbol in any letter case, else its plural.
pub(crate) fn find(text: &str) -> Found {
    let exact = by_symbol(text, |a, b| a == b).into_iter().next();
    if let Some(measure) = exact.or_else(|| by_name(text)) {
        return Found::One(measure);
    }
    let singular = text.strip_suffix(['s', 'S']).filter(|rest| !rest.is_empty());
    [Some(text), singular]
        .into_iter()
        .flatten()
        .map(any_case)
        .find(|found| *found != Found::Nothing)
        .unwrap_or(Found::Nothing)
}

fn any_case(text: &str) -> Found {
    let mut found = by_symbol(text, |a, b| a.to_lowercase() == b.to_lowercase());
    found.dedup_by(|a, b| a.name == b.name);
    match (found.pop(), found.is_empty()) {
        (None, _) => Found::Nothing,
        (Some(measure), true) => Found::One(measure),
        (Some(last), false) => Found::Several(found.into_iter().chain([last]).map(|measure| measure.name).collect()),
    }
}

/// Units whose symbol is `text`, plain ones before prefixed ones.
fn by_symbol(text: &str, same: impl Fn(&str, &str) -> bool) -> Vec<Measure> {
    let is = |unit: &Unit, text: &str| unit.symbols.iter().any(|symbol| same(symbol, text));
    let plain = units::all().filter(|unit| is(unit, text)).map(plain);
    let prefixed = prefixes().filter_map(|prefix| {
        let (_, symbol, _) = prefix;
        let head = text.get(..symbol.len()).filter(|head| same(head, symbol))?;
        let rest = text.get(head.len()..).filter(|rest| !rest.is_empty())?;
        let takes = |unit: &&Unit| is(unit, rest) && allows(unit, prefix);
        units::all().find(takes).map(|unit| prefixed(unit, prefix))
    });
    plain.chain(prefixed).collect()
}

fn by_name(text: &str) -> Option<Measure> {
    let text = normal(text);
    if let Some(unit) = units::all().find(|unit| is_named(unit, &text)) {
        return Some(plain(unit));
    }
    prefixes().find_map(|prefix| {
        let rest = text.strip_prefix(prefix.0)?;
        let takes = |unit: &&Unit| is_named(unit, rest) && allows(unit, prefix);
        units::all().find(takes).map(|unit| prefixed(unit, prefix))
    })
}

fn is_named(unit: &Unit, text: &str) -> bool {
    same_words(&normal(unit.name), text) || unit.aliases.iter().any(|alias| same_words(alias, text))
}

/// Every word may be a plural: `miles per gallon`.
fn same_words(name: &str, text: &str) -> bool {
    let same = |(name, word): (&str, &str)| {
        let ending = word.strip_prefix(name);
        matches!(ending, Some("" | "s" | "es"))
    };
    name.split(' ').count() == text.split(' ').count() && name.split(' ').zip(text.split(' ')).all(same)
}

/// Lower case, one space between words, no hyphens.
fn normal(text: &str) -> String {
    let text = text.to_lowercase().replace(['-', '_'], " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn prefixes() -> impl Iterator<Item = &'static Prefix> {
    BINARY.iter().chain(DECIMAL.iter())
}

fn allows(unit: &Unit, prefix: &Prefix) -> bool {
    let binary = prefix.1.ends_with('i');
    unit.prefixes == Prefixes::Binary || (unit.prefixes == Prefixes::Decimal && !binary)
}

fn plain(unit: &Unit) -> Measure {
    Measure {
        name: unit.name.to_owned(),
        scale: unit.scale,
        dimension: unit.dimension,
    }
}

fn prefixed(unit: &Unit, (name, _, by): &Prefix) -> Measure {
    let scale = match unit.scale {
        Scale::Factor(factor) => Scale::Factor(factor * by),
        other => other,
    };
    Measure {
        name: format!("{name}{}", unit.name),
        scale,
        dimension: unit.dimension,
    }
}

/// Units that are written much like `text`, for a message; empty when there are none.
pub(crate) fn near(text: &str) -> String {
    let text = normal(text);
    let names = units::all().flat_map(|unit| [unit.name].into_iter().chain(unit.aliases.iter().copied()));
    let mut names: Vec<(usize, &str)> = names.map(|name| (distance(&normal(name), &text), name)).collect();
    let allowed = if text.chars().count() < 5 { 1 } else { 2 };
    names.retain(|(distance, _)| *distance <= allowed);
    names.sort_unstable();
    let names: Vec<String> = names
        .iter()
        .take(MAX_NEAR)
        .map(|(_, name)| format!("`{name}`"))
        .collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(", did you mean {}", names.join(", "))
    }
}

/// How many letters to insert, delete or replace to get from `a` to `b`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for ((to, above), pair) in b.iter().zip(&row).zip(row.iter().skip(1)) {
            let left = next.last().copied().unwrap_or_default();
            next.push((above + usize::from(from != *to)).min(pair + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
