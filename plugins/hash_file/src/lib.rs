//! `hash_file`: computes the checksum of a file.

use std::fs::File;
use std::io::Read;

use art_sdk::files;
use art_sdk::prelude::*;
use sha2::Digest;

#[cfg(test)]
mod tests;

/// Size of the pieces in which a file is read, in bytes.
const PIECE_BYTES: usize = 256 << 10;

/// A file and the checksum to compute.
#[args]
struct HashFileInput {
    /// The path of the file.
    path: String,
    /// How to compute the checksum: `sha256`, `sha512`, `blake3` or `md5`. `md5` does not detect files that were changed on purpose.
    #[serde(default)]
    algorithm: Algorithm,
    /// The checksum that the file should have, in hexadecimal digits, to verify or compare it.
    expected: Option<String>,
}

/// An algorithm.
#[args]
#[output]
#[derive(Clone, Copy, Default)]
#[serde(rename_all = "snake_case")]
enum Algorithm {
    #[default]
    Sha256,
    Sha512,
    Blake3,
    Md5,
}

impl Algorithm {
    /// Returns the number of hexadecimal digits of a checksum.
    const fn digit_count(self) -> usize {
        match self {
            Self::Sha256 | Self::Blake3 => 64,
            Self::Sha512 => 128,
            Self::Md5 => 32,
        }
    }
}

/// The checksum of a file.
#[output]
// `never_null` declares in the schema that a field that may be absent is never null.
#[schemars(transform = art_sdk::never_null)]
struct HashFileOutput {
    /// The checksum, in lower case hexadecimal digits.
    value: String,
    /// The algorithm.
    algorithm: Algorithm,
    /// The size of the file in bytes.
    size: u64,
    /// Whether the file has the checksum that was expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    matches: Option<bool>,
}

/// Computes the checksum (hash, digest, fingerprint) of a file: SHA-256, SHA-512, BLAKE3 or MD5. Use it to get the sha256 or md5 sum
/// of a download, to verify that a file has an expected checksum, or to see whether two files are equal. Returns the checksum and
/// the size of the file, never its content.
#[tool(
    example(
        ask = "What is the checksum of ~/downloads/image.iso?",
        ask = "Checksum of ~/downloads/image.iso",
        ask = "Compute the checksum of ~/downloads/image.iso",
        ask = "Hash ~/downloads/image.iso",
        ask = "What is the hash of ~/downloads/image.iso?",
        ask = "Fingerprint of ~/downloads/image.iso",
        input = r#"{"path":"~/downloads/image.iso"}"#
    ),
    example(
        ask = "What is the sha256 of ~/downloads/image.iso?",
        ask = "sha256 of ~/downloads/image.iso",
        ask = "sha256 checksum of ~/downloads/image.iso",
        ask = "Compute the sha256 of ~/downloads/image.iso",
        input = r#"{"path":"~/downloads/image.iso","algorithm":"sha256"}"#
    ),
    example(
        ask = "What is the md5 of ~/downloads/image.iso?",
        ask = "md5 of ~/downloads/image.iso",
        ask = "md5 checksum of ~/downloads/image.iso",
        input = r#"{"path":"~/downloads/image.iso","algorithm":"md5"}"#
    ),
    example(
        ask = "What is the blake3 of ~/downloads/image.iso?",
        ask = "blake3 of ~/downloads/image.iso",
        ask = "blake3 checksum of ~/downloads/image.iso",
        input = r#"{"path":"~/downloads/image.iso","algorithm":"blake3"}"#
    ),
    example(
        ask = "What is the sha512 of ~/downloads/image.iso?",
        ask = "sha512 of ~/downloads/image.iso",
        input = r#"{"path":"~/downloads/image.iso","algorithm":"sha512"}"#
    ),
    example(
        ask = "Does ~/downloads/image.iso have the checksum \"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\"?",
        ask = "Verify that ~/downloads/image.iso has the checksum \"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\"",
        input = r#"{"path":"~/downloads/image.iso","expected":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}"#
    ),
    risk = "low",
    capabilities(fs(read, path = "{args.path}", reason = "reads the file whose checksum is asked for")),
    limits(fuel = 2_000_000_000, memory = "16 MiB", timeout = "30s")
)]
fn hash_file(input: HashFileInput) -> Result<HashFileOutput> {
    let expected = input
        .expected
        .as_deref()
        .map(|text| normalize_checksum(text, input.algorithm))
        .transpose()?;
    let to_error = |error| files::explain(&input.path, &error);
    let file = File::open(&input.path).map_err(to_error)?;
    if file.metadata().map_err(to_error)?.is_dir() {
        return Err(files::explain(&input.path, &std::io::ErrorKind::IsADirectory.into()));
    }
    let (value, size) = match input.algorithm {
        Algorithm::Sha256 => digest(file, sha2::Sha256::new()),
        Algorithm::Sha512 => digest(file, sha2::Sha512::new()),
        Algorithm::Md5 => digest(file, md5::Md5::new()),
        Algorithm::Blake3 => digest_blake3(file),
    }
    .map_err(to_error)?;
    Ok(HashFileOutput {
        matches: expected.map(|expected| expected == value),
        value,
        algorithm: input.algorithm,
        size,
    })
}

/// Returns the checksum `text` in lower case, without white space around it. Fails if it is no checksum of `algorithm`.
fn normalize_checksum(text: &str, algorithm: Algorithm) -> Result<String> {
    let text = text.trim().to_lowercase();
    let count = algorithm.digit_count();
    if text.len() != count || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(ToolError::validation(format_args!(
            "a checksum of this algorithm has {count} hexadecimal digits: correct `expected`, or set `algorithm`"
        )));
    }
    Ok(text)
}

/// Returns the checksum and the size of a file.
fn digest<D: Digest>(file: File, mut hasher: D) -> std::io::Result<(String, u64)> {
    let size = read_pieces(file, |piece| hasher.update(piece))?;
    Ok((hex(&hasher.finalize()), size))
}

/// Does the same as [`digest`] for BLAKE3.
fn digest_blake3(file: File) -> std::io::Result<(String, u64)> {
    let mut hasher = blake3::Hasher::new();
    let size = read_pieces(file, |piece| {
        hasher.update(piece);
    })?;
    Ok((hasher.finalize().to_hex().to_string(), size))
}

/// Passes the whole file to `handle` in large pieces, since each read is a call into the host. Returns the size of the file.
fn read_pieces(mut file: File, mut handle: impl FnMut(&[u8])) -> std::io::Result<u64> {
    let (mut buffer, mut size) = (vec![0; PIECE_BYTES], 0);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(size);
        }
        handle(buffer.get(..read).unwrap_or_default());
        size += read as u64;
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
