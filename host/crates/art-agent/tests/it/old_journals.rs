//! Journals that earlier versions of the host wrote.

use std::fs;
use std::path::Path;

use art_agent::{Run, RunEvent};
use art_core::agent::RunStatus;
use serde::Deserialize;

/// A journal of a finished run, with the result that its host reported.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FinishedRun {
    status: RunStatus,
    answer: String,
    llm_calls: u32,
    tool_calls: u32,
    journal: Vec<RunEvent>,
}

/// Returns the stored journals of this version of the journal format, each with its name.
fn journals(version: u32) -> Vec<(String, FinishedRun)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/journals/{version}"));
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let read = |path: std::path::PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, serde_json::from_str(&text).unwrap())
    };
    files.map(read).collect()
}

#[test]
fn replaying_a_version_1_journal_gives_the_result_that_was_reported() {
    let journals = journals(1);
    assert_eq!(journals.len(), 10);
    for (name, stored) in journals {
        let run = Run::replay(&stored.journal).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let report = run.finished().unwrap_or_else(|| panic!("{name} is not finished"));
        let metadata = &report.response.metadata;
        assert_eq!(metadata.status, stored.status, "{name}");
        assert_eq!(report.response.response.content, stored.answer, "{name}");
        assert_eq!(
            (metadata.llm_calls, metadata.tool_calls),
            (stored.llm_calls, stored.tool_calls),
            "{name}"
        );
    }
}
