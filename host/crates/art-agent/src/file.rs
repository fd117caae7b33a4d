//! Files that tools produced in addition to their outputs. Their names are unique in a run.

use std::collections::BTreeMap;

use art_core::agent::QueryAttachment;
use art_core::pes::TodoItem;
use art_core::text::{prefix, printable};
use art_core::tool::ToolResult;
use serde::{Deserialize, Serialize};

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 100;

/// Name of a file whose original name cannot be used.
const DEFAULT_NAME: &str = "file";

/// A file that a tool produced. Later calls can take it as `attachment:NAME`.
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
    /// Identifier of the step whose call produced it.
    pub step_id: String,
    /// Identifier of the call that produced it.
    pub call_id: String,
}

/// The files that a run can use: first those of earlier runs of the thread, then those of this run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Files {
    all: Vec<RunFile>,
    /// Number of files of earlier runs.
    earlier: usize,
    /// Position of each name in the list.
    places: BTreeMap<String, usize>,
    /// Last number that was appended to each name, so that the search for a free name does not start at 2 each time.
    numbers: BTreeMap<String, u64>,
}

impl Files {
    /// Returns the files that the results of `items` name, which earlier runs produced.
    pub(crate) fn of_earlier_runs(items: &[TodoItem], attachments: &[QueryAttachment]) -> Self {
        let mut files = Self::default();
        for item in items {
            files.add(&item.id, &item.tool_results, attachments);
        }
        files.earlier = files.all.len();
        files
    }

    /// Adds the files of `results` and returns them. They get other names than the attachments of the question.
    pub(crate) fn add(&mut self, step: &str, results: &[ToolResult], attachments: &[QueryAttachment]) -> &[RunFile] {
        let before = self.all.len();
        for result in results {
            for info in &result.metadata.attachments {
                let Some(digest) = info.digest.clone() else { continue };
                let name = self.free(info.filename.as_deref().unwrap_or_default(), attachments);
                self.places.insert(name.clone(), self.all.len());
                self.all.push(RunFile {
                    name,
                    media_type: info.media_type.clone(),
                    bytes: info.bytes,
                    digest,
                    step_id: step.to_owned(),
                    call_id: result.call_id.clone(),
                });
            }
        }
        self.all.get(before..).unwrap_or_default()
    }

    pub(crate) fn find(&self, name: &str) -> Option<&RunFile> {
        self.places.get(name).and_then(|place| self.all.get(*place))
    }

    pub(crate) fn all(&self) -> &[RunFile] {
        &self.all
    }

    /// Returns the files of this run.
    pub(crate) fn of_this_run(&self) -> &[RunFile] {
        self.all.get(self.earlier..).unwrap_or_default()
    }

    /// Returns a name that is not in use: the usable part of `wanted`, else the first free one of `name-2`, `name-3`
    /// and so on.
    fn free(&mut self, wanted: &str, attachments: &[QueryAttachment]) -> String {
        let wanted = usable(wanted);
        let taken = |name: &str| self.places.contains_key(name) || attachments.iter().any(|other| other.name == name);
        if !taken(&wanted) {
            return wanted;
        }
        let first = self.numbers.get(&wanted).map_or(2, |number| number.saturating_add(1));
        let mut numbered = (first..).map(|number| (number, with_number(&wanted, number)));
        let (number, name) = numbered.find(|(_, name)| !taken(name)).unwrap_or_default();
        self.numbers.insert(wanted, number);
        name
    }
}

/// Returns the last path component of `wanted`, without characters that are special to a shell, a terminal or a file
/// system.
fn usable(wanted: &str) -> String {
    let last = wanted.rsplit(['/', '\\']).next().unwrap_or_default();
    let visible = |c: &char| *c != '\n' && *c != '\t' && printable(c.encode_utf8(&mut [0; 4])).len() == c.len_utf8();
    let kept: String = last.chars().filter(visible).collect();
    let kept = kept
        .trim_start_matches(['.', '-', ' ', '~'])
        .trim_end_matches(['.', ' ']);
    match prefix(kept, MAX_NAME) {
        "" => DEFAULT_NAME.to_owned(),
        name => name.to_owned(),
    }
}

/// Returns the name with a number before its extension: `out-2.csv` for `out.csv` and 2.
fn with_number(name: &str, number: u64) -> String {
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => format!("{stem}-{number}.{ending}"),
        _ => format!("{name}-{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_core::tool::{AttachmentInfo, ParsedToolCall};
    use proptest::prelude::*;
    use serde_json::json;

    fn leaving(names: &[Option<&str>]) -> ToolResult {
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

    fn names(of: &[Option<&str>]) -> Vec<String> {
        let question = QueryAttachment {
            name: "sales.csv".to_owned(),
            ..QueryAttachment::default()
        };
        let mut files = Files::default();
        let added = files.add("a", &[leaving(of)], &[question]);
        added.iter().map(|file| file.name.clone()).collect()
    }

    #[test]
    fn each_name_is_given_once_and_none_that_the_question_has() {
        let unique = names(&[
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
    fn a_file_name_is_not_a_path_an_option_or_hidden() {
        let unique = names(&[
            Some("../../etc/passwd"),
            Some("C:\\x\\a.txt"),
            Some("-rf"),
            Some(".bashrc"),
            Some(".."),
        ]);
        assert_eq!(unique, ["passwd", "a.txt", "rf", "bashrc", "file"]);
        assert_eq!(names(&[Some("a\u{202e}\nb\u{200b}.csv")]), ["ab.csv"]);
    }

    #[test]
    fn files_of_one_name_are_not_counted_from_the_beginning_each_time() {
        let unique = names(&vec![Some("out.csv"); 50_000]);
        assert_eq!(unique.last().unwrap(), "out-50000.csv");
    }

    #[test]
    fn a_file_that_was_not_stored_is_not_listed() {
        let mut result = leaving(&[Some("a")]);
        result.metadata.attachments[0].digest = None;
        assert_eq!(Files::default().add("a", &[result], &[]), []);
    }

    proptest! {
        #[test]
        fn every_name_is_one_plain_part_of_a_path(wanted in any::<String>()) {
            let name = usable(&wanted);
            prop_assert_eq!(std::path::Path::new(&name).file_name().unwrap(), name.as_str());
            prop_assert!(!name.starts_with(['-', '.']) && name.chars().count() <= MAX_NAME);
            prop_assert_eq!(printable(&name), name);
        }
    }
}
