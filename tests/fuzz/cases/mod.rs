//! What the fuzz targets check for one input. The tests call the same functions with the inputs of the corpus.

pub(crate) mod addresses;
pub(crate) mod loader;
pub(crate) mod schemas;
pub(crate) mod secrets;
pub(crate) mod texts;

/// Splits an input into texts at its newlines. Bytes that are not UTF-8 are replaced.
fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes).split('\n').map(str::to_owned).collect()
}
