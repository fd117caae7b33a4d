//! Extracts the description of a tool from its doc comment.

use syn::{Attribute, Error, Expr, ExprLit, Ident, Lit, Meta, Result};

/// Returns the doc comment as the model reads it: each paragraph on one line, lists and code as written.
pub(crate) fn description(attributes: &[Attribute], name: &Ident) -> Result<String> {
    let lines: Vec<String> = attributes
        .iter()
        .filter_map(doc_text)
        .flat_map(|text| comment_lines(&text))
        .collect();
    let text = join_paragraphs(&lines);
    if text.is_empty() {
        return Err(Error::new(
            name.span(),
            "a tool needs a doc comment: the model reads it as the description",
        ));
    }
    Ok(text)
}

/// Returns the text of a `#[doc = ".."]` attribute, which is what a doc comment becomes.
fn doc_text(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text), ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// Splits a doc comment into its lines, without the space that follows `///`.
fn comment_lines(text: &str) -> Vec<String> {
    let line = |line: &str| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned();
    // An empty comment line ends a paragraph, so it has to be returned, but `lines` returns nothing for an empty text.
    if text.is_empty() {
        vec![String::new()]
    } else {
        text.lines().map(line).collect()
    }
}

/// Joins the lines of each paragraph, because line breaks inside a paragraph have no meaning.
fn join_paragraphs(lines: &[String]) -> String {
    let (mut text, mut in_code, mut in_paragraph) = (String::new(), false, false);
    for line in lines {
        let is_fence = line.starts_with("```");
        let begins_line = in_code || is_fence || line.is_empty() || starts_block(line);
        if !text.is_empty() {
            text.push(if in_paragraph && !begins_line { ' ' } else { '\n' });
        }
        text.push_str(line);
        in_code ^= is_fence;
        in_paragraph = !line.is_empty() && !is_fence && !in_code;
    }
    text.trim().to_owned()
}

/// Returns whether a line of Markdown starts a block: a list item, a heading, a table, a quote, indented code.
fn starts_block(line: &str) -> bool {
    let after_digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered =
        after_digits.len() < line.len() && (after_digits.starts_with(". ") || after_digits.starts_with(") "));
    is_numbered
        || ["- ", "* ", "+ ", "#", "|", ">", " "]
            .iter()
            .any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::{ItemFn, parse_quote};

    fn read_description(item: &ItemFn) -> String {
        description(&item.attrs, &item.sig.ident).unwrap()
    }

    #[test]
    fn a_paragraph_is_one_line() {
        let item = parse_quote! {
            /// Counts words
            /// and 3 lines.
            ///
            /// Returns:
            /// - `words`
            /// - `lines`,
            ///   without the empty ones
            /// 1. done
            #[inline]
            fn f() {}
        };
        let text = "Counts words and 3 lines.\n\nReturns:\n- `words`\n- `lines`,\n  without the empty ones\n1. done";
        assert_eq!(read_description(&item), text);
    }

    #[test]
    fn code_keeps_its_lines() {
        let item = parse_quote! {
            /// Like
            /// ```text
            /// a
            /// b
            /// ```
            /// this
            /// one.
            fn f() {}
        };
        assert_eq!(read_description(&item), "Like\n```text\na\nb\n```\nthis one.");
    }

    #[test]
    fn a_block_comment_is_read_too() {
        // The compiler passes a block comment to the macro as one `doc` attribute with line breaks.
        let item = parse_quote! {
            #[doc = " Counts\n words.\n"]
            fn f() {}
        };
        assert_eq!(read_description(&item), "Counts words.");
    }
}
