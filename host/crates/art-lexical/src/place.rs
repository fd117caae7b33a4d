//! Paths of files and addresses of pages.

use std::collections::BTreeSet;

use itertools::Itertools;

use crate::class::Filler;
use crate::token::{Kind, Token, tokens};

/// The paths or the addresses that the examples give a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    /// Either [`Kind::Path`] or [`Kind::Url`].
    kind: Kind,
    /// What the names of the files end with, such as `txt`.
    endings: BTreeSet<String>,
}

impl Place {
    /// Learns from the values of a parameter. Returns `None` unless all of them are paths or all are addresses.
    pub(crate) fn learn<'a>(values: impl Iterator<Item = &'a str> + Clone) -> Option<Self> {
        let kind = values.clone().map(place_kind).all_equal_value().ok()??;
        let endings = values.map(ending).collect();
        Some(Self { kind, endings })
    }

    /// Returns the place that `token` names, or `None` if it names none. A path whose ending no example has is unknown: "what is
    /// in" an archive asks for something else than "what is in" a text. So is a word with a slash, which may be "and/or".
    pub(crate) fn filler(&self, token: &Token) -> Option<Filler> {
        let is_place = match token.kind {
            Kind::Quoted => place_kind(&token.text) == Some(self.kind),
            Kind::Word => self.kind == Kind::Path && token.text.contains('/'),
            kind => kind == self.kind,
        };
        let has_other_ending = self.kind == Kind::Path && !self.endings.contains(&ending(&token.text));
        let is_unknown = has_other_ending || token.kind == Kind::Word;
        is_place.then(|| Filler::new(1, token.text.as_str(), is_unknown))
    }
}

/// Returns whether a text is a path or an address, or `None` if it is neither. A path may have blanks.
fn place_kind(text: &str) -> Option<Kind> {
    let kind = tokens(text, &[]).last()?.kind;
    matches!(kind, Kind::Path | Kind::Url).then_some(kind)
}

/// Returns the ending of a file's name in lower case, or an empty text if it has none.
fn ending(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.unwrap_or_default().to_lowercase()
}
