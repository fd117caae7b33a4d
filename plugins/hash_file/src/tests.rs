use std::fs;
use std::path::PathBuf;

use art_sdk::serde_json;
use art_sdk::testing::{failure, output};
use tempfile::TempDir;

use super::*;

/// Creates a file that contains `content`.
fn file(content: &[u8]) -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("a");
    fs::write(&path, content).unwrap();
    (directory, path)
}

fn hash(content: &[u8], algorithm: &str) -> String {
    let (_directory, path) = file(content);
    let hashed = output(&HASH_FILE, json!({"path": path, "algorithm": algorithm}));
    assert_eq!(hashed["size"], content.len());
    hashed["value"].as_str().unwrap().to_owned()
}

/// The expected values are from RFC 1321, FIPS 180-2 and the test vectors of BLAKE3.
#[test]
fn checksums_are_those_of_the_standards() {
    assert_eq!(hash(b"abc", "md5"), "900150983cd24fb0d6963f7d28e17f72");
    assert_eq!(
        hash(b"abc", "sha256"),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    assert!(hash(b"abc", "sha512").starts_with("ddaf35a193617abacc417349ae204131"));
    assert_eq!(
        hash(b"", "blake3"),
        "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
    );
}

#[test]
fn a_file_of_several_pieces_is_read_to_its_end() {
    let content = vec![b'x'; 4 * PIECE_BYTES + 7];
    let expected = sha2::Sha256::digest(&content);
    assert_eq!(hash(&content, "sha256"), hex(&expected));
}

#[test]
fn an_expected_checksum_is_compared_in_any_letter_case() {
    let (_directory, path) = file(b"abc");
    let matches = |expected: &str| {
        output(
            &HASH_FILE,
            json!({"path": path, "algorithm": "md5", "expected": expected}),
        )["matches"]
            .clone()
    };
    assert_eq!(matches("900150983CD24FB0D6963F7D28E17F72"), true);
    assert_eq!(matches("00000000000000000000000000000000"), false);
}

#[test]
fn an_expected_checksum_of_another_length_is_refused() {
    let (_directory, path) = file(b"abc");
    let error = failure(
        &HASH_FILE,
        json!({"path": path, "expected": "900150983cd24fb0d6963f7d28e17f72"}),
    );
    assert!(error.message.contains("has 64 hexadecimal digits"), "{error}");
}

#[test]
fn a_directory_and_a_path_below_a_file_are_refused() {
    let (directory, path) = file(b"");
    let refused = failure(&HASH_FILE, json!({"path": directory.path()}));
    assert!(refused.message.contains("is a directory"), "{refused}");
    assert_eq!(
        failure(&HASH_FILE, json!({"path": path.join("b")})).code,
        ErrorCode::ValidationError
    );
}

#[test]
fn the_examples_have_arguments_that_the_tool_accepts() {
    for example in HASH_FILE.examples() {
        let input = serde_json::from_str(example.input).unwrap();
        // The files of the examples need not exist. Any other error would mean that arguments were refused.
        if let Outcome::Failure(error) = art_sdk::testing::call(&HASH_FILE, input) {
            assert_eq!(error.code, ErrorCode::NotFound, "{}: {error}", example.input);
        }
    }
}
