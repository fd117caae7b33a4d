use std::fs;
use std::io::Write;
use std::path::PathBuf;

use art_sdk::serde_json;
use art_sdk::testing::{failure, output};
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use super::*;

/// Creates a file that contains `content`, in a directory that is removed when the returned `TempDir` is dropped.
fn write_file(content: &[u8]) -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("archive");
    fs::write(&path, content).unwrap();
    (directory, path)
}

/// Returns the output for a file that contains `content`. `input` has the other arguments.
fn list(content: &[u8], mut input: Value) -> Value {
    let (_directory, path) = write_file(content);
    input["path"] = json!(path);
    output(&ARCHIVE_LIST, input)
}

/// Returns the message with which the tool refuses a file that contains `content`.
fn refusal(content: &[u8]) -> String {
    let (_directory, path) = write_file(content);
    failure(&ARCHIVE_LIST, json!({"path": path})).message
}

/// Returns a zip file with the directory `docs/` and then files of these names and contents.
fn zip_archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ::zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = ::zip::write::SimpleFileOptions::default().compression_method(::zip::CompressionMethod::Stored);
    writer.add_directory("docs/", options).unwrap();
    for (name, content) in files {
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Returns a tar file with files of these names and sizes, which were changed 60 seconds after the start of 1970.
fn tar_archive(files: &[(&str, u64)]) -> Vec<u8> {
    let mut builder = ::tar::Builder::new(Vec::new());
    for (name, size) in files {
        let mut header = ::tar::Header::new_ustar();
        // `set_path` refuses names such as `../x`, but an attacker can write such names.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(*size);
        header.set_mtime(60);
        header.set_entry_type(::tar::EntryType::Regular);
        header.set_cksum();
        builder.append(&header, std::io::repeat(b'x').take(*size)).unwrap();
    }
    builder.into_inner().unwrap()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn names(listed: &Value) -> Vec<&str> {
    let entries = listed["entries"].as_array().unwrap();
    entries.iter().map(|entry| entry["name"].as_str().unwrap()).collect()
}

#[test]
fn the_entries_of_a_zip_file_are_listed_with_their_sizes() {
    let listed = list(&zip_archive(&[("docs/a.txt", b"hello"), ("b.txt", b"")]), json!({}));
    assert_eq!(names(&listed), ["docs/", "docs/a.txt", "b.txt"]);
    assert_eq!(listed["entries"][0]["kind"], "directory");
    assert_eq!(
        (&listed["entries"][1]["size"], &listed["entries"][1]["kind"]),
        (&json!(5), &json!("file"))
    );
    assert_eq!(
        (&listed["format"], &listed["total_size"], &listed["entry_count"]),
        (&json!("zip"), &json!(5), &json!(3))
    );
}

#[test]
fn the_entries_of_a_plain_and_of_a_compressed_tar_file_are_listed() {
    let tar = tar_archive(&[("a.txt", 700), ("b/c.txt", 0)]);
    for (content, format) in [(tar.clone(), "tar"), (gzip(&tar), "tar_gz")] {
        let listed = list(&content, json!({}));
        assert_eq!(listed["format"], format);
        let first = json!({"name": "a.txt", "kind": "file", "size": 700, "modified": "1970-01-01T00:01:00Z"});
        assert_eq!(listed["entries"][0], first);
        assert_eq!(
            (names(&listed), &listed["total_size"]),
            (vec!["a.txt", "b/c.txt"], &json!(700))
        );
    }
}

#[test]
fn entries_are_selected_by_name_and_the_list_is_limited() {
    let zip = zip_archive(&[("docs/A.TXT", b"1"), ("b.rs", b"22"), ("c.txt", b"333")]);
    let listed = list(&zip, json!({"name_contains": ".txt"}));
    assert_eq!(
        (names(&listed), &listed["total_size"]),
        (vec!["docs/A.TXT", "c.txt"], &json!(4))
    );
    let limited = list(&zip, json!({"limit": 1}));
    assert_eq!(
        (names(&limited), &limited["entry_count"], &limited["truncated"]),
        (vec!["docs/"], &json!(4), &json!(true))
    );
}

#[test]
fn names_that_lead_out_of_the_target_directory_add_a_note() {
    for name in ["../evil", "/etc/passwd", "a/../../b", "C:\\x"] {
        let listed = list(&tar_archive(&[(name, 1)]), json!({}));
        assert!(
            listed["notes"][0]
                .as_str()
                .unwrap()
                .contains("outside of the directory"),
            "{listed}"
        );
    }
    assert_eq!(list(&tar_archive(&[("a..b", 1)]), json!({})).get("notes"), None);
}

#[test]
fn a_bomb_is_decompressed_up_to_the_limit_only() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let small_archive = tar_archive(&[("small", 1)]);
    // Take the header and the content of the entry, 512 bytes each, without the mark at the end of the archive.
    encoder.write_all(&small_archive[..1024]).unwrap();
    let mut header = ::tar::Header::new_ustar();
    header.set_path("bomb").unwrap();
    let mebibytes = 300;
    header.set_size(mebibytes << 20);
    header.set_cksum();
    encoder.write_all(header.as_bytes()).unwrap();
    let zeros = vec![0; 1 << 20];
    for _ in 0..mebibytes {
        encoder.write_all(&zeros).unwrap();
    }
    let listed = list(&encoder.finish().unwrap(), json!({}));
    assert_eq!(
        (names(&listed), &listed["truncated"]),
        (vec!["small", "bomb"], &json!(true))
    );
    assert!(listed["notes"][0].as_str().unwrap().contains("128 MiB"), "{listed}");
}

#[test]
fn a_zip_file_that_states_a_huge_central_directory_is_refused() {
    let mut zip = zip_archive(&[]);
    // The end record has the size of the central directory in its bytes 12 to 15. `u32::MAX` would refer to a ZIP64 record.
    let end_record = zip.windows(4).rposition(|bytes| bytes == b"PK\x05\x06").unwrap();
    zip[end_record + 12..end_record + 16].copy_from_slice(&(u32::MAX - 1).to_le_bytes());
    assert!(
        refusal(&zip).contains("its directory has 4294967294 bytes"),
        "{}",
        refusal(&zip)
    );
}

/// Returns a zip file whose end record refers to a ZIP64 record. This record states `directory_size` as the size of the central
/// directory; if `directory_size` is `None`, it states the real size.
fn zip64_archive(files: &[(&str, &[u8])], directory_size: Option<u64>) -> Vec<u8> {
    let mut zip = zip_archive(files);
    // The ZIP64 record takes the position of the end record, which moves to the end of the file.
    let start = zip.windows(4).rposition(|bytes| bytes == b"PK\x05\x06").unwrap();
    let mut end_record = zip.split_off(start);
    // Numbers begin with their lowest byte.
    let read_number = |range: std::ops::Range<usize>| {
        let bytes = end_record[range].iter().rev();
        bytes.fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
    };
    let (count, size, offset) = (read_number(10..12), read_number(12..16), read_number(16..20));
    // The ZIP64 record: its signature, and the size of the rest of it.
    zip.extend(b"PK\x06\x06");
    zip.extend(44_u64.to_le_bytes());
    // Version 4.5 twice: the version that wrote the file, and the version needed to read it. Then two disk numbers, both 0.
    zip.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for number in [count, count, directory_size.unwrap_or(size), offset] {
        zip.extend(number.to_le_bytes());
    }
    // The locator: its signature, the number of a disk, the position of the ZIP64 record, and how many disks there are.
    zip.extend(b"PK\x06\x07\0\0\0\0");
    zip.extend((start as u64).to_le_bytes());
    zip.extend(1_u32.to_le_bytes());
    // If all bits of these fields of the end record are set, the counts, the size and the offset are in the ZIP64 record.
    end_record[8..20].fill(0xff);
    zip.extend(end_record);
    zip
}

#[test]
fn the_size_of_the_central_directory_is_taken_from_the_zip64_record() {
    let files: [(&str, &[u8]); 1] = [("a.txt", b"hello")];
    let listed = list(&zip64_archive(&files, None), json!({}));
    assert_eq!(names(&listed), ["docs/", "a.txt"]);
    let huge = zip64_archive(&files, Some(1 << 40));
    assert!(refusal(&huge).contains("its directory has 1099511627776 bytes"));
    // The size in this end record refers to a ZIP64 record, but there is none.
    let mut without_record = zip_archive(&files);
    let start = without_record
        .windows(4)
        .rposition(|bytes| bytes == b"PK\x05\x06")
        .unwrap();
    without_record[start + 12..start + 16].fill(0xff);
    assert!(refusal(&without_record).contains("its ZIP64 record is missing"));
}

#[test]
fn the_list_of_entries_is_truncated_only_above_the_maximum_number_of_entries() {
    // With `docs/`, these archives have 100,000 entries, which is the maximum, and one more.
    for (file_count, is_truncated) in [(99_999, false), (100_000, true)] {
        let file_names: Vec<String> = (0..file_count).map(|number| number.to_string()).collect();
        let files: Vec<(&str, &[u8])> = file_names.iter().map(|name| (name.as_str(), b"".as_slice())).collect();
        let listed = list(&zip_archive(&files), json!({"name_contains": "docs"}));
        assert_eq!(listed["truncated"], json!(is_truncated), "{file_count}");
    }
}

#[test]
fn a_file_that_is_no_archive_or_is_cut_off_is_refused() {
    assert!(refusal(b"hello").contains("no zip, tar or tar.gz"));
    assert!(refusal(b"").contains("no zip, tar or tar.gz"));
    assert!(refusal(&gzip(b"hello")).contains("no tar file"));
    let zip = zip_archive(&[("a", b"hello")]);
    assert!(refusal(&zip[..40]).contains("cut off"), "{}", refusal(&zip[..40]));
}

#[test]
fn a_directory_and_a_missing_file_are_refused() {
    let (directory, path) = write_file(b"");
    assert!(
        failure(&ARCHIVE_LIST, json!({"path": directory.path()}))
            .message
            .contains("is a directory")
    );
    let missing = failure(&ARCHIVE_LIST, json!({"path": path.with_extension("zip")}));
    assert_eq!(missing.code, ErrorCode::NotFound);
}

#[test]
fn the_examples_have_arguments_that_the_tool_accepts() {
    for example in ARCHIVE_LIST.examples() {
        let input = serde_json::from_str(example.input).unwrap();
        if let Outcome::Failure(error) = art_sdk::testing::call(&ARCHIVE_LIST, input) {
            // The arguments are valid; only the archive of the example does not exist.
            assert_eq!(error.code, ErrorCode::NotFound, "{}: {error}", example.input);
        }
    }
}
