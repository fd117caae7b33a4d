use std::fs;

use art_sdk::serde_json;
use art_sdk::testing::{failure, output};
use tempfile::TempDir;

use super::*;

/// Creates a directory of notes. The files that are searched by default have four lines with `budget` or `Budgets` in total.
/// The hidden, the ignored (`f.log`) and the binary file have one such line each.
fn create_notes() -> TempDir {
    let directory = TempDir::new().unwrap();
    let write = |name: &str, content: &[u8]| fs::write(directory.path().join(name), content).unwrap();
    fs::create_dir(directory.path().join("old")).unwrap();
    write("a.txt", b"The budget for May\nnothing\nBudgets of others\n");
    write("b.md", b"one\ntwo\nbudget\nfour\nfive\n");
    write("c.txt", b"nothing here\n");
    write("old/d.txt", b"no budget\n");
    write("e.bin", b"budget\0\n");
    write(".hidden", b"budget\n");
    write("f.log", b"budget\n");
    write(".gitignore", b"*.log\n");
    directory
}

fn search(directory: &TempDir, mut input: Value) -> Value {
    input["path"] = json!(directory.path());
    output(&FILE_SEARCH, input)
}

/// Returns the paths of the files with a match, relative to the directory.
fn matching_files(directory: &TempDir, input: Value) -> Vec<String> {
    let found = search(directory, input);
    let root = directory.path().to_str().unwrap().to_owned() + "/";
    let files = found["files"].as_array().unwrap();
    let relative_path = |file: &Value| file["path"].as_str().unwrap().strip_prefix(&root).unwrap().to_owned();
    files.iter().map(relative_path).collect()
}

#[test]
fn files_below_the_directory_are_found_in_the_order_of_their_paths() {
    let notes = create_notes();
    assert_eq!(
        matching_files(&notes, json!({"text": "budget"})),
        ["a.txt", "b.md", "old/d.txt"]
    );
    assert_eq!(
        matching_files(&notes, json!({"text": "nothing in it"})),
        Vec::<String>::new()
    );
}

#[test]
fn a_pattern_finds_the_end_of_a_line_that_ends_with_two_signs() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("a.txt"), "\u{feff}milk\r\ntea and milk\r\n").unwrap();
    let found = search(&directory, json!({"text": "^milk$|tea.*milk$", "pattern": true}));
    let lines: Vec<_> = found["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["text"].clone())
        .collect();
    assert_eq!(lines, ["milk", "tea and milk"]);
}

#[test]
fn matches_have_line_numbers_and_surrounding_lines() {
    let notes = create_notes();
    let found = search(&notes, json!({"text": "budget", "glob": "*.md", "context": 1}));
    let line = json!({
        "path": notes.path().join("b.md"), "line": 3, "text": "budget", "before": ["two"], "after": ["four"],
    });
    assert_eq!(found["matches"], json!([line]));
    assert_eq!((&found["count"], &found["searched"]), (&json!(1), &json!(1)));
}

#[test]
fn hidden_and_ignored_files_are_searched_if_asked() {
    let notes = create_notes();
    let all = matching_files(&notes, json!({"text": "budget", "hidden": true}));
    assert_eq!(all, [".hidden", "a.txt", "b.md", "f.log", "old/d.txt"]);
}

#[test]
fn a_glob_selects_hidden_and_ignored_files_only_if_asked() {
    let notes = create_notes();
    let files =
        |glob: &str, hidden: bool| matching_files(&notes, json!({"text": "budget", "glob": glob, "hidden": hidden}));
    assert_eq!(files("*", false), ["a.txt", "b.md", "old/d.txt"]);
    assert_eq!(files("*.log", false), Vec::<String>::new());
    assert_eq!(files("*.log", true), ["f.log"]);
    assert_eq!(files(".*", false), Vec::<String>::new());
    assert_eq!(files("!*.md", false), ["a.txt", "old/d.txt"]);
    assert_eq!(files("!old", false), ["a.txt", "b.md"]);
    assert_eq!(files("old/**", false), ["old/d.txt"]);
}

#[test]
fn binary_files_are_left_out_with_a_note() {
    let notes = create_notes();
    let found = search(&notes, json!({"text": "budget"}));
    assert_eq!(found["notes"], json!(["1 binary files were left out"]));
}

#[test]
fn whole_words_and_letter_case_narrow_the_search() {
    let notes = create_notes();
    let count = |mut input: Value| {
        input["glob"] = json!("a.txt");
        search(&notes, input)["count"].clone()
    };
    assert_eq!(count(json!({"text": "budget"})), 2);
    assert_eq!(count(json!({"text": "budget", "whole_words": true})), 1);
    assert_eq!(count(json!({"text": "Budget"})), 1);
    assert_eq!(count(json!({"text": "Budget", "case_sensitive": false})), 2);
    assert_eq!(count(json!({"text": "budget", "case_sensitive": true})), 1);
}

#[test]
fn a_text_is_a_pattern_only_if_asked() {
    let notes = create_notes();
    assert_eq!(
        matching_files(&notes, json!({"text": "budget|four"})),
        Vec::<String>::new()
    );
    assert_eq!(
        matching_files(&notes, json!({"text": "^(two|four)$", "pattern": true})),
        ["b.md"]
    );
    let error = failure(
        &FILE_SEARCH,
        json!({"path": notes.path(), "text": "(", "pattern": true}),
    );
    assert!(error.message.contains("leave out `pattern`"), "{error}");
}

#[test]
fn files_only_returns_no_lines() {
    let notes = create_notes();
    let found = search(&notes, json!({"text": "budget", "files_only": true}));
    assert_eq!(found.get("matches"), None);
    assert_eq!(found["files"][0]["count"], 2);
}

#[test]
fn a_limit_ends_the_search_and_marks_the_output_as_truncated() {
    let notes = create_notes();
    let lines = search(&notes, json!({"text": "budget", "limit": 1}));
    assert_eq!(
        (lines["matches"].as_array().unwrap().len(), &lines["truncated"]),
        (1, &json!(true))
    );
    let names = search(&notes, json!({"text": "budget", "files_only": true, "limit": 2}));
    assert_eq!(
        (names["files"].as_array().unwrap().len(), &names["truncated"]),
        (2, &json!(true))
    );
    let all = search(&notes, json!({"text": "budget", "limit": 4}));
    assert_eq!(all["count"], 4);
}

#[test]
fn a_long_line_is_cut() {
    let notes = create_notes();
    fs::write(notes.path().join("long.txt"), format!("needle {}", "é".repeat(10_000))).unwrap();
    let text = search(&notes, json!({"text": "needle"}))["matches"][0]["text"].clone();
    assert_eq!(text.as_str().unwrap().chars().count(), 400 + " ..".len());
}

#[test]
fn the_match_is_never_cut_out_of_a_long_line() {
    let notes = create_notes();
    let line = format!("{}needle {}", "é".repeat(10_000), "ü".repeat(10_000));
    fs::write(notes.path().join("long.txt"), format!("{line}\r\n")).unwrap();
    let text = search(&notes, json!({"text": "needle"}))["matches"][0]["text"].clone();
    let text = text.as_str().unwrap();
    assert!(
        text.starts_with(".. é") && text.contains("éneedle ü") && text.ends_with("ü .."),
        "{text}"
    );
    assert_eq!(text.chars().count(), ".. ".len() + 400 + " ..".len());
    // A match that is at the end of what is kept is not cut either.
    fs::write(notes.path().join("long.txt"), format!("{}needle", "é".repeat(396))).unwrap();
    let text = search(&notes, json!({"text": "needle"}))["matches"][0]["text"].clone();
    assert!(text.as_str().unwrap().ends_with("needle"), "{text}");
}

#[test]
fn one_file_can_be_searched() {
    let notes = create_notes();
    let found = output(
        &FILE_SEARCH,
        json!({"path": notes.path().join("f.log"), "text": "budget"}),
    );
    assert_eq!(found["count"], 1);
}

#[test]
fn a_link_is_not_followed() {
    let notes = create_notes();
    std::os::unix::fs::symlink(notes.path().join("old"), notes.path().join("link")).unwrap();
    assert_eq!(matching_files(&notes, json!({"text": "no budget"})), ["old/d.txt"]);
}

#[test]
fn wrong_arguments_are_refused() {
    let notes = create_notes();
    assert!(
        failure(&FILE_SEARCH, json!({"path": notes.path(), "text": ""}))
            .message
            .contains("say what to find")
    );
    let glob = failure(&FILE_SEARCH, json!({"path": notes.path(), "text": "a", "glob": "["}));
    assert!(glob.message.contains("`glob`"), "{glob}");
    let missing = failure(&FILE_SEARCH, json!({"path": "/no/such/folder", "text": "a"}));
    assert_eq!(missing.code, ErrorCode::NotFound);
}

#[test]
fn the_examples_have_arguments_that_the_tool_accepts() {
    for example in FILE_SEARCH.examples() {
        let input = serde_json::from_str(example.input).unwrap();
        // The files of the examples need not exist. Any other error would mean that arguments were refused.
        if let Outcome::Failure(error) = art_sdk::testing::call(&FILE_SEARCH, input) {
            assert_eq!(error.code, ErrorCode::NotFound, "{}: {error}", example.input);
        }
    }
}
