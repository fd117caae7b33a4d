//! Paths of files and addresses of pages.

use std::collections::BTreeSet;

use itertools::Itertools;

use crate::class::Filler;
use crate::token::{Token, TokenKind, tokenise};

/// The paths or the addresses that the examples give a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PathOrUrl {
    /// Either [`TokenKind::Path`] or [`TokenKind::Url`].
    kind: TokenKind,
    /// The endings of the paths or addresses, such as `txt`.
    endings: BTreeSet<String>,
}

impl PathOrUrl {
    /// Learns from the values of a parameter. Returns `None` unless all of them are paths or all are addresses.
    pub(crate) fn learn<'a>(values: impl Iterator<Item = &'a str> + Clone) -> Option<Self> {
        let kind = values.clone().map(path_or_url_kind).all_equal_value().ok()??;
        let endings = values.map(ending).collect();
        Some(Self { kind, endings })
    }

    /// Returns the path or address that `token` is, or `None` if it is none. A path with an ending that no example has is
    /// unknown: "what is in" an archive asks for something else than "what is in" a text. A word with a slash is unknown too,
    /// since it may be "and/or".
    pub(crate) fn filler(&self, token: &Token) -> Option<Filler> {
        let is_path_or_url = match token.kind {
            TokenKind::Quoted => path_or_url_kind(&token.text) == Some(self.kind),
            TokenKind::Word => self.kind == TokenKind::Path && token.text.contains('/'),
            kind => kind == self.kind,
        };
        let has_other_ending = self.kind == TokenKind::Path && !self.endings.contains(&ending(&token.text));
        let is_unknown = has_other_ending || token.kind == TokenKind::Word;
        is_path_or_url.then(|| Filler::new(1, token.text.as_str(), is_unknown))
    }
}

/// Returns whether a text is a path or an address, or `None` if it is neither. A path may have blanks.
fn path_or_url_kind(text: &str) -> Option<TokenKind> {
    let kind = tokenise(text, &[]).last()?.kind;
    matches!(kind, TokenKind::Path | TokenKind::Url).then_some(kind)
}

/// Returns the ending of a file's name in lower case, or an empty text if it has none.
fn ending(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.unwrap_or_default().to_lowercase()
}
