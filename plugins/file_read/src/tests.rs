use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use art_sdk::serde_json;
use art_sdk::testing::{failure, output};
use tempfile::TempDir;

use super::*;

/// Creates a directory with files. Each has a name, a content, and the time of its last change in seconds since 1970.
fn directory(files: &[(&str, &[u8], u64)]) -> TempDir {
    let directory = TempDir::new().unwrap();
    for (name, content, seconds) in files {
        let path = directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(*seconds);
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(time)
            .unwrap();
    }
    directory
}

/// Reads a file of the directory, or lists the directory itself if `name` is empty.
fn read(directory: &TempDir, name: &str, mut arguments: Value) -> Value {
    arguments["path"] = json!(directory.path().join(name));
    output(&FILE_READ, arguments)
}

fn read_error(path: &Path, mut arguments: Value) -> ToolError {
    arguments["path"] = json!(path);
    failure(&FILE_READ, arguments)
}

fn entry_names(listed: &Value) -> Vec<&str> {
    let entries = listed["entries"].as_array().unwrap();
    entries.iter().map(|entry| entry["name"].as_str().unwrap()).collect()
}

#[test]
fn a_text_is_returned_with_its_lines_size_and_time() {
    let files = directory(&[("a.txt", b"one\ntwo\n", 1_700_000_000)]);
    assert_eq!(
        read(&files, "a.txt", json!({})),
        json!({
            "kind": "file", "text": "one\ntwo\n", "first_line": 1, "last_line": 2, "line_count": 2, "size": 8,
            "modified": "2023-11-14T22:13:20Z", "encoding": "utf-8", "truncated": false,
        })
    );
}

#[test]
fn lines_are_counted_from_one_and_to_line_is_included() {
    let files = directory(&[("a.txt", b"1\n2\n3\n4", 0)]);
    let text = |arguments| read(&files, "a.txt", arguments)["text"].clone();
    assert_eq!(text(json!({"from_line": 2, "to_line": 3})), "2\n3\n");
    assert_eq!(text(json!({"to_line": 1})), "1\n");
    assert_eq!(text(json!({"from_line": 4, "to_line": 9})), "4");
    assert_eq!(text(json!({"last_lines": 2})), "3\n4");
    assert_eq!(text(json!({"last_lines": 9})), "1\n2\n3\n4");
}

#[test]
fn impossible_line_ranges_are_refused() {
    let files = directory(&[("a.txt", b"1\n2\n", 0)]);
    let path = files.path().join("a.txt");
    assert!(
        read_error(&path, json!({"from_line": 3}))
            .message
            .contains("has 2 lines")
    );
    assert!(
        read_error(&path, json!({"from_line": 2, "to_line": 1}))
            .message
            .contains("`to_line` is before")
    );
    assert!(
        read_error(&path, json!({"from_line": 1, "last_lines": 1}))
            .message
            .contains("leave one of them out")
    );
}

#[test]
fn the_list_of_a_directory_with_too_many_entries_is_cut_with_a_note() {
    const MAX_SEEN: usize = 20_000;
    let files = directory(&[]);
    for number in 0..MAX_SEEN {
        File::create(files.path().join(number.to_string())).unwrap();
    }
    let listed = read(&files, "", json!({"limit": 1000}));
    assert_eq!(listed["notes"], Value::Null);
    // Directories count too, even if `files_only` leaves them out of the list.
    for name in ["a", "b"] {
        std::fs::create_dir(files.path().join(name)).unwrap();
    }
    let listed = read(&files, "", json!({"files_only": true}));
    assert_eq!(listed["truncated"], true);
    assert_eq!(
        listed["notes"],
        json!(["only 20000 entries were looked at: the directory has more"])
    );
}

#[test]
fn an_empty_file_has_no_lines() {
    let files = directory(&[("empty", b"", 0)]);
    let empty = read(&files, "empty", json!({}));
    assert_eq!(
        (&empty["text"], &empty["line_count"], &empty["last_line"]),
        (&json!(""), &json!(0), &json!(0))
    );
}

#[test]
fn a_long_text_is_cut_at_a_line_end_and_a_note_says_how_to_read_on() {
    // Each line has 1 KiB, and at most 256 KiB are returned.
    let line = format!("{}\n", "x".repeat(1023));
    let files = directory(&[("long", line.repeat(300).as_bytes(), 0)]);
    let long = read(&files, "long", json!({}));
    assert_eq!((&long["last_line"], &long["truncated"]), (&json!(256), &json!(true)));
    assert_eq!(
        long["notes"],
        json!(["lines 257 to 300 are not shown: set `from_line` to read them"])
    );
    let rest = read(&files, "long", json!({"from_line": 257}));
    assert_eq!((&rest["last_line"], &rest["truncated"]), (&json!(300), &json!(false)));
}

#[test]
fn a_single_line_that_is_too_long_is_cut_to_the_maximum_size() {
    let files = directory(&[("line", "é".repeat(200_000).as_bytes(), 0)]);
    let line = read(&files, "line", json!({}));
    assert_eq!(line["text"].as_str().unwrap().len(), 256 << 10);
    assert_eq!(line["truncated"], true);
    assert_eq!(
        line["notes"],
        json!(["line 1 is longer than 262144 bytes: only its beginning is shown"])
    );
}

#[test]
fn a_line_of_the_maximum_size_counts_as_complete_although_its_line_end_is_cut() {
    let line = "x".repeat(256 << 10);
    let files = directory(&[("line", format!("{line}\n").as_bytes(), 0)]);
    let output = read(&files, "line", json!({}));
    assert_eq!(output["text"].as_str(), Some(line.as_str()));
    assert_eq!((&output["truncated"], output.get("notes")), (&json!(false), None));
}

#[test]
fn byte_order_marks_tell_the_encoding_and_a_note_tells_that_invalid_bytes_were_replaced() {
    let files = directory(&[
        ("utf-16le", b"\xff\xfeh\0i\0", 0),
        ("utf-16be", b"\xfe\xff\0h\0i", 0),
        ("latin-1", b"caf\xe9", 0),
        ("utf-8 with mark", b"\xef\xbb\xbfhi", 0),
    ]);
    let little_endian = read(&files, "utf-16le", json!({}));
    assert_eq!(
        (&little_endian["text"], &little_endian["encoding"]),
        (&json!("hi"), &json!("utf-16le"))
    );
    assert_eq!(read(&files, "utf-16be", json!({}))["text"], "hi");
    let latin = read(&files, "latin-1", json!({}));
    assert_eq!(latin["text"], "caf\u{fffd}");
    assert!(
        latin["notes"][0].as_str().unwrap().contains("not valid UTF-8"),
        "{latin}"
    );
    let with_mark = read(&files, "utf-8 with mark", json!({}));
    assert_eq!(with_mark["text"], "hi");
    assert!(
        with_mark["notes"][0].as_str().unwrap().contains("byte order mark"),
        "{with_mark}"
    );
}

#[test]
fn lines_end_with_each_of_the_three_endings_which_the_text_keeps() {
    let files = directory(&[("a.txt", b"1\r\n2\r3\n4", 0)]);
    let text = |arguments| read(&files, "a.txt", arguments)["text"].clone();
    assert_eq!(text(json!({"to_line": 1})), "1\r\n");
    assert_eq!(text(json!({"from_line": 2, "to_line": 2})), "2\r");
    assert_eq!(text(json!({"from_line": 3})), "3\n4");
}

#[test]
fn the_error_for_a_binary_file_suggests_hash_file() {
    let files = directory(&[("a.bin", b"PK\0\0", 0)]);
    let error = read_error(&files.path().join("a.bin"), json!({}));
    assert!(error.message.contains("`hash_file`"), "{error}");
}

#[test]
fn a_directory_is_listed_in_the_order_that_was_asked_for() {
    let files = directory(&[("b", b"22", 300), ("a", b"333", 200), ("c", b"1", 100)]);
    std::fs::create_dir(files.path().join("inner")).unwrap();
    let listed = |arguments| read(&files, "", arguments);
    assert_eq!(entry_names(&listed(json!({}))), ["a", "b", "c", "inner"]);
    let files_only = |sort: &str| listed(json!({"sort": sort, "files_only": true}));
    assert_eq!(entry_names(&files_only("newest")), ["b", "a", "c"]);
    assert_eq!(entry_names(&files_only("oldest")), ["c", "a", "b"]);
    assert_eq!(entry_names(&files_only("largest")), ["a", "b", "c"]);
    assert_eq!(entry_names(&files_only("smallest")), ["c", "b", "a"]);
}

#[test]
fn the_paths_of_a_listing_can_be_read() {
    let files = directory(&[("a.txt", b"hello", 60)]);
    let listed = read(&files, "", json!({}));
    assert_eq!(listed["entries"][0]["modified"], "1970-01-01T00:01:00Z");
    let path = listed["entries"][0]["path"].clone();
    assert_eq!(output(&FILE_READ, json!({"path": path}))["text"], "hello");
}

#[test]
fn a_limit_keeps_the_first_entries_and_says_that_there_are_more() {
    let files = directory(&[("a", b"", 0), ("b", b"", 0), ("c", b"", 0)]);
    let listed = read(&files, "", json!({"limit": 2}));
    assert_eq!(
        (entry_names(&listed), &listed["entry_count"], &listed["truncated"]),
        (vec!["a", "b"], &json!(3), &json!(true))
    );
    assert_eq!(read(&files, "", json!({"limit": 3}))["truncated"], false);
}

#[test]
fn line_options_for_a_directory_and_sort_for_a_file_are_refused() {
    let files = directory(&[("a.txt", b"x", 0)]);
    assert!(
        read_error(files.path(), json!({"last_lines": 1}))
            .message
            .contains("has no lines")
    );
    let newest = read_error(&files.path().join("a.txt"), json!({"sort": "newest"}));
    assert!(newest.message.contains("`sort` is for directories"), "{newest}");
}

#[test]
fn the_error_for_a_missing_file_names_its_path() {
    let error = read_error(Path::new("/no/such/file"), json!({}));
    assert_eq!(error.code, ErrorCode::NotFound);
    assert!(error.message.contains("`/no/such/file`"), "{error}");
}

#[test]
fn the_examples_have_arguments_that_the_tool_accepts() {
    for example in FILE_READ.examples() {
        let input = serde_json::from_str(example.input).unwrap();
        // The files of the examples need not exist. Any other error would mean that arguments were refused.
        if let Outcome::Failure(error) = art_sdk::testing::call(&FILE_READ, input) {
            assert_eq!(error.code, ErrorCode::NotFound, "{}: {error}", example.input);
        }
    }
}
