//! Files that tools produced in addition to their outputs, and attachments of earlier questions. The arguments of calls can name
//! them as `attachment:NAME`, like the attachments of the question itself. No two files of a run have the same name.

use std::collections::BTreeMap;

use art_core::agent::QueryAttachment;
use art_core::conversation::{AttachedFile, ConversationMessage};
use art_core::pes::PesAgentStateData;
use art_core::text::{prefix, printable};
use art_core::tool::{ParsedToolCall, ToolResult};
use serde::{Deserialize, Serialize};

use crate::attachment::for_each_file_name;
use crate::plan;

/// Maximum length of the name of a file, in characters.
const MAX_NAME_CHARS: usize = 100;

/// Name of a file that has no name of its own, or none that can be used.
const DEFAULT_NAME: &str = "file";

/// A file that a tool produced, or that came with an earlier question. Later calls can take it as `attachment:NAME`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunFile {
    /// Name: a plain file name, unique in the run.
    pub name: String,
    /// Media type, for example `text/csv`.
    pub media_type: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Digest of the content, by which the store finds it.
    pub digest: String,
    /// Identifier of the step whose call produced it; empty for a file of an earlier question.
    pub step_id: String,
    /// Identifier of the call that produced it; empty for a file of an earlier question.
    pub call_id: String,
}

/// The files that a run can use: those of earlier questions and runs of the thread, then those of this run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Files {
    all: Vec<RunFile>,
    /// Number of files of earlier questions and runs, which come first in `all`.
    earlier_count: usize,
    /// Position of each name in `all`.
    positions: BTreeMap<String, usize>,
    /// For each wanted name that was not free: the last number that was added to it. The next search for a free name goes on from
    /// there, not from 2, the first number that is added to a name.
    last_numbers: BTreeMap<String, u64>,
}

impl Files {
    /// Creates the list for a new run, from the attachments of the earlier questions in `history`, and from the files in the
    /// results that earlier runs left in `state`. An attachment belongs to its question: it is left out unless it was kept, or
    /// `query`, the new question, names it. `attachments` are those of the new question; no file gets the name of such an
    /// attachment.
    pub(crate) fn of_earlier_runs(
        history: &[ConversationMessage],
        state: &PesAgentStateData,
        attachments: &[QueryAttachment],
        query: &str,
    ) -> Self {
        let mut files = Self::default();
        for attached in history.iter().flat_map(ConversationMessage::attachments) {
            if attached.keep || names_file(query, &attached.name) {
                files.add_attached(attached, attachments);
            }
        }
        for step in plan::earlier_steps(&state.earlier_questions) {
            files.add(&step.name(), &step.item.tool_results, attachments);
        }
        for item in &state.todo_list {
            files.add(&item.id, &item.tool_results, attachments);
        }
        files.earlier_count = files.all.len();
        files
    }

    /// Adds the files of the results of a step and returns them. `attachments` are those of the question; no file gets the name
    /// of such an attachment.
    pub(crate) fn add(&mut self, step_id: &str, results: &[ToolResult], attachments: &[QueryAttachment]) -> &[RunFile] {
        let count_before = self.all.len();
        for result in results {
            for info in &result.metadata.attachments {
                let Some(digest) = info.digest.clone() else { continue };
                let name = self.unique_name(info.filename.as_deref().unwrap_or_default(), attachments);
                self.positions.insert(name.clone(), self.all.len());
                self.all.push(RunFile {
                    name,
                    media_type: info.media_type.clone(),
                    bytes: info.bytes,
                    digest,
                    step_id: step_id.to_owned(),
                    call_id: result.call_id.clone(),
                });
            }
        }
        self.all.get(count_before..).unwrap_or_default()
    }

    /// Adds an attachment of an earlier question, if it was stored and its content is not in the list yet.
    /// `attachments` are those of the new question.
    fn add_attached(&mut self, attached: AttachedFile, attachments: &[QueryAttachment]) {
        let Some(digest) = attached.digest else { return };
        if self.all.iter().any(|file| file.digest == digest) {
            return;
        }
        let name = self.unique_name(&attached.name, attachments);
        self.positions.insert(name.clone(), self.all.len());
        self.all.push(RunFile {
            name,
            media_type: attached.media_type,
            bytes: attached.bytes,
            digest,
            step_id: String::new(),
            call_id: String::new(),
        });
    }

    pub(crate) fn find(&self, name: &str) -> Option<&RunFile> {
        self.positions.get(name).and_then(|position| self.all.get(*position))
    }

    /// Returns the attachments of earlier questions that these calls name.
    pub(crate) fn earlier_attachments_in<'a>(
        &'a self,
        calls: impl Iterator<Item = &'a ParsedToolCall>,
    ) -> Vec<&'a RunFile> {
        let mut used = Vec::new();
        for call in calls {
            for_each_file_name(&call.arguments, &mut |name| {
                let file = self.find(name).filter(|file| file.call_id.is_empty());
                used.extend(file.filter(|file| !used.contains(file)));
            });
        }
        used
    }

    pub(crate) fn all(&self) -> &[RunFile] {
        &self.all
    }

    /// Returns the files of this run.
    pub(crate) fn of_this_run(&self) -> &[RunFile] {
        self.all.get(self.earlier_count..).unwrap_or_default()
    }

    /// Returns a name that no other file or attachment has: the result of [`sanitize_name`] for `wanted`, or else the first free
    /// name of those that [`numbered_name`] makes from it, with the number 2, 3 and so on.
    fn unique_name(&mut self, wanted: &str, attachments: &[QueryAttachment]) -> String {
        let wanted = sanitize_name(wanted);
        let is_taken =
            |name: &str| self.positions.contains_key(name) || attachments.iter().any(|other| other.name == name);
        if !is_taken(&wanted) {
            return wanted;
        }
        let mut number = self
            .last_numbers
            .get(&wanted)
            .map_or(2, |number| number.saturating_add(1));
        while is_taken(&numbered_name(&wanted, number)) {
            number += 1;
        }
        let name = numbered_name(&wanted, number);
        self.last_numbers.insert(wanted, number);
        name
    }
}

/// Returns whether a question names a file, as a word of its own, in any case.
fn names_file(query: &str, name: &str) -> bool {
    let (query, name) = (query.to_lowercase(), name.to_lowercase());
    let is_part_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/');
    !name.is_empty()
        && query.match_indices(&name).any(|(start, found)| {
            let (before, after) = (query.get(..start), query.get(start + found.len()..));
            !before.is_some_and(|before| before.ends_with(is_part_of_name))
                && !after.is_some_and(|after| after.starts_with(is_part_of_name))
        })
}

/// Returns the last path component of `wanted`, at most [`MAX_NAME_CHARS`] long, without unprintable characters, without
/// characters at its beginning that would hide the file or look like an option or a home directory, and without dots and spaces
/// at its end. Returns [`DEFAULT_NAME`] if nothing is left.
fn sanitize_name(wanted: &str) -> String {
    let last = wanted.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_kept = |c: &char| *c != '\n' && *c != '\t' && printable(c.encode_utf8(&mut [0; 4])).len() == c.len_utf8();
    let name: String = last.chars().filter(is_kept).collect();
    let name = name
        .trim_start_matches(['.', '-', ' ', '~'])
        .trim_end_matches(['.', ' ']);
    match prefix(name, MAX_NAME_CHARS) {
        "" => DEFAULT_NAME.to_owned(),
        name => name.to_owned(),
    }
}

/// Returns the name with a number before its extension: `out-2.csv` for `out.csv` and 2.
fn numbered_name(name: &str, number: u64) -> String {
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => format!("{stem}-{number}.{extension}"),
        _ => format!("{name}-{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_core::tool::{AttachmentInfo, ParsedToolCall};
    use proptest::prelude::*;
    use serde_json::json;

    fn result_with_files(names: &[Option<&str>]) -> ToolResult {
        let call = ParsedToolCall {
            call_id: "c".to_owned(),
            tool_name: "t".to_owned(),
            arguments: json!({}),
        };
        let mut result = ToolResult::success(&call, json!(1));
        result.metadata.attachments = names
            .iter()
            .map(|name| AttachmentInfo {
                media_type: "text/csv".to_owned(),
                filename: name.map(str::to_owned),
                bytes: 3,
                digest: Some("blake3:x".to_owned()),
            })
            .collect();
        result
    }

    /// Returns the names that files with these original names get, if the question has the attachment `sales.csv`.
    fn new_names(originals: &[Option<&str>]) -> Vec<String> {
        let attachment = QueryAttachment {
            name: "sales.csv".to_owned(),
            ..QueryAttachment::default()
        };
        let mut files = Files::default();
        let added = files.add("a", &[result_with_files(originals)], &[attachment]);
        added.iter().map(|file| file.name.clone()).collect()
    }

    #[test]
    fn names_are_unique_and_differ_from_the_names_of_attachments() {
        let unique = new_names(&[
            Some("out.csv"),
            Some("out.csv"),
            Some("sales.csv"),
            Some("out.csv"),
            None,
            None,
        ]);
        assert_eq!(
            unique,
            ["out.csv", "out-2.csv", "sales-2.csv", "out-3.csv", "file", "file-2"]
        );
    }

    #[test]
    fn the_name_of_a_file_is_no_path_no_option_and_no_hidden_file() {
        let sanitized = new_names(&[
            Some("../../etc/passwd"),
            Some("C:\\x\\a.txt"),
            Some("-rf"),
            Some(".bashrc"),
            Some(".."),
        ]);
        assert_eq!(sanitized, ["passwd", "a.txt", "rf", "bashrc", "file"]);
        assert_eq!(new_names(&[Some("a\u{202e}\nb\u{200b}.csv")]), ["ab.csv"]);
    }

    #[test]
    fn many_files_of_one_name_get_consecutive_numbers() {
        // If the search for a free name began at 2 for each file, so many files would take very long.
        let unique = new_names(&vec![Some("out.csv"); 50_000]);
        assert_eq!(unique.last().unwrap(), "out-50000.csv");
    }

    #[test]
    fn a_file_that_was_not_stored_is_not_listed() {
        let mut result = result_with_files(&[Some("a")]);
        result.metadata.attachments[0].digest = None;
        assert_eq!(Files::default().add("a", &[result], &[]), []);
    }

    /// Returns an earlier question with files of these names and digests.
    fn question_with_files(files: &[(&str, Option<&str>)]) -> ConversationMessage {
        let files = files
            .iter()
            .map(|(name, digest)| json!({"name": name, "mediaType": "text/csv", "bytes": 3, "digest": digest}));
        let question = json!({"messageId": "m", "threadId": "t", "role": "USER", "content": "?", "timestamp": 1,
            "metadata": {"attachments": files.collect::<Vec<_>>()}});
        serde_json::from_value(question).unwrap()
    }

    #[test]
    fn a_file_of_an_earlier_question_is_listed_once_and_only_if_it_is_stored() {
        let history = [
            question_with_files(&[("a.csv", Some("d1")), ("lost.csv", None)]),
            question_with_files(&[("a.csv", Some("d1")), ("a.csv", Some("d2"))]),
        ];
        let files = Files::of_earlier_runs(&history, &PesAgentStateData::default(), &[], "a.csv");
        let listed: Vec<_> = files
            .all()
            .iter()
            .map(|file| (file.name.as_str(), file.digest.as_str()))
            .collect();
        assert_eq!(listed, [("a.csv", "d1"), ("a-2.csv", "d2")]);
        assert_eq!(files.of_this_run(), []);
    }

    #[test]
    fn a_file_of_an_earlier_question_is_used_only_if_it_is_kept_or_named() {
        let mut history = [question_with_files(&[("Sales.csv", Some("d1"))])];
        let count = |history: &[ConversationMessage], query| {
            Files::of_earlier_runs(history, &PesAgentStateData::default(), &[], query)
                .all()
                .len()
        };
        assert_eq!(count(&history, "How many rows are in the table?"), 0);
        assert_eq!(count(&history, "How many rows are in my-sales.csv?"), 0);
        assert_eq!(count(&history, "How many rows are in sales.csv?"), 1);
        let mut files = history[0].attachments();
        files[0].keep = true;
        history[0].set_attachments(&files);
        assert_eq!(count(&history, "How many rows are in the table?"), 1);
    }

    proptest! {
        #[test]
        fn every_name_is_a_single_path_component(wanted in any::<String>()) {
            let name = sanitize_name(&wanted);
            prop_assert_eq!(std::path::Path::new(&name).file_name().unwrap(), name.as_str());
            prop_assert!(!name.starts_with(['-', '.']) && name.chars().count() <= MAX_NAME_CHARS);
            prop_assert_eq!(printable(&name), name);
        }
    }
}
