//! Parameters that take the name of a column of a table at hand.

use serde_json::json;

use super::super::attachment;
use super::super::schema::{Param, Type};
use super::super::words;
use super::choice::mention;
use super::{Context, Filling, count};

/// Fills parameters that take a column: one to group by takes the column that a "which", "per" or "by" leads to.
pub(super) fn fill(filling: &mut Filling<'_>) {
    let columns = columns(filling.context);
    if columns.is_empty() {
        return;
    }
    let part = filling.context.part;
    let mut mentions: Vec<(usize, usize, String)> = columns
        .iter()
        .filter_map(|name| mention(part, name).map(|(from, to)| (from, to, name.clone())))
        .collect();
    mentions.retain(|(from, to, _)| filling.is_free(*from, *to));
    mentions.sort();
    let ranked = mentions.iter().position(|(from, _, _)| count::is_ranked(part, *from));
    let led = mentions.iter().position(|(from, _, _)| {
        ["which", "what", "per", "by", "each", "every", "whose"].contains(&part.before(*from, 1).as_str())
    });
    let grouped = ranked.or(led);
    for wants_group in [true, false] {
        for (index, param) in filling.params.iter().enumerate() {
            if !takes_column(param) || !filling.is_open(index) || is_group(param) != wants_group {
                continue;
            }
            let place = if wants_group {
                grouped
            } else {
                (0..mentions.len()).find(|place| Some(*place) != grouped || mentions.len() == 1)
            };
            if let Some((from, to, name)) = place.and_then(|place| mentions.get(place)).cloned()
                && (wants_group || !is_consumed(filling, from, to))
            {
                filling.set(index, json!(name), 1.0);
                if wants_group {
                    filling.consume(from, to);
                }
            }
        }
    }
}

fn is_consumed(filling: &Filling<'_>, from: usize, to: usize) -> bool {
    !filling.is_free(from, to)
}

/// The columns of the tables at hand.
pub(super) fn columns(context: Context<'_>) -> Vec<String> {
    let attached = context.attachments.iter().flat_map(attachment::Attachment::columns);
    let inline = attachment::inline_table(&context.whole.text).map(|table| attachment::header(&table));
    attached.chain(inline.into_iter().flatten()).take(200).collect()
}

/// Whether `text` is the name of a column, in any case.
pub(super) fn is_column(context: Context<'_>, text: &str) -> bool {
    columns(context).iter().any(|column| column.eq_ignore_ascii_case(text))
}

/// Whether `param` takes the name of a column.
pub(super) fn takes_column(param: &Param) -> bool {
    let says = |word: &str| {
        param
            .name_stems
            .iter()
            .chain(&param.description_stems)
            .any(|stem| *stem == words::stem(word))
    };
    param.kind == Type::Text
        && param.choices.is_empty()
        && (says("column") || says("field"))
        && !says("csv")
        && !says("character")
}

fn is_group(param: &Param) -> bool {
    param.name_stems.iter().any(|stem| stem == "group")
}
