//! Finds the checkout of this project, which has the first-party tools and the SDK.

use std::path::{Path, PathBuf};

use crate::error::CommandError;

/// The first-party tools, in the order in which they are built.
pub(super) const FIRST_PARTY_TOOLS: [&str; 17] = [
    "archive_list",
    "calculator",
    "csv_query",
    "datetime",
    "diff_text",
    "file_edit",
    "file_read",
    "file_search",
    "file_write",
    "hash_file",
    "http_fetch",
    "json_query",
    "regex_extract",
    "sqlite_query",
    "text_stats",
    "unit_convert",
    "web_search",
];

/// Returns the root of the checkout that contains the current folder, or else of the checkout in which this program was built.
///
/// # Errors
/// Fails if there is neither of them.
pub(super) fn find_root() -> Result<PathBuf, CommandError> {
    let here = std::env::current_dir().unwrap_or_default();
    let build_checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut candidates = here.ancestors().map(Path::to_owned).chain([build_checkout]);
    let is_checkout = |path: &PathBuf| path.join("sdk/Cargo.toml").is_file() && path.join("wit/tool.wit").is_file();
    let checkout = candidates
        .find(is_checkout)
        .and_then(|path| std::fs::canonicalize(path).ok());
    checkout.ok_or_else(|| {
        CommandError::Failed("no checkout of this project was found; run the command inside one".to_owned())
    })
}
