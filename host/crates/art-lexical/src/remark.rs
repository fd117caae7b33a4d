//! Remarks beside a question, such as "it's for my new kitchen".

use crate::find::Finder;
use crate::reading::readings;
use crate::token::{Kind, Token, tokens};
use crate::words::{is_limiting, is_plain, remark_length};

/// Words before a value that only say what it belongs to: `My suitcase weighs 23 kg`.
const SUBJECTS: [&str; 9] = ["a", "an", "the", "if", "my", "our", "we", "it", "i"];

/// Returns whether `text` is a statement that cannot change a call: it has no number, no name, no word that limits something, and
/// no word with content that an example has, so that "this jq thing" still tells which tool is asked for.
pub(crate) fn is_remark(finder: &Finder<'_>, text: &str) -> bool {
    let Some(reading) = readings(text, finder.files, false).pop() else {
        return false;
    };
    let Some((begin, rest)) = remark_length(&reading.tokens).and_then(|length| reading.tokens.split_at_checked(length))
    else {
        return false;
    };
    // What it is for may have any word: "it's for the car papers".
    let is_purpose = begin.last().is_some_and(|token| token.stem == "for");
    let is_known = |token: &Token| !is_purpose && is_plain(token) && finder.catalog.knows(&token.stem);
    let is_free = |token: &Token| is_idle(token) && !is_known(token) && !reading.is_name(token);
    rest.iter().all(|token| token.kind == Kind::Mark || is_free(token))
}

/// Returns whether a token is a word that neither names nor limits anything.
fn is_idle(token: &Token) -> bool {
    let is_name = token.text.contains(char::is_uppercase) && token.text != "I" && !token.text.starts_with("I'");
    token.kind == Kind::Word && !is_name && !is_limiting(&token.stem)
}

/// Returns a text from its first number on, if only the subject of the number stands before it and "that" comes later.
pub(crate) fn without_subject(text: &str) -> Option<&str> {
    let tokens = tokens(text, &[]);
    let (before, rest) = tokens.split_at(tokens.iter().position(|token| token.kind == Kind::Number)?);
    let (first, others) = before.split_first()?;
    let begins = SUBJECTS.contains(&first.text.to_lowercase().as_str());
    let refers = rest.iter().any(|token| token.stem == "that");
    let is_subject = begins && refers && others.iter().all(is_idle);
    text.get(rest.first()?.start..).filter(|_| is_subject)
}
