//! Paths as a guest writes them: text that is joined and normalized before any file is touched.

use art_core::capability::Access;

use super::Fault;
use super::bindings::types::ErrorCode;

/// Maximum length of a path in bytes, including the directory that it is relative to. It is the limit of the operating system.
const MAX_PATH_BYTES: usize = 4_096;

/// A path below the root of the guest, without empty parts, `.` and `..`. The root itself is the empty text.
///
/// `..` removes the part before it, even if that part is a link or does not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GuestPath {
    text: String,
    /// Whether the guest wrote the path as that of a directory: it ends with `/`, or its last part is `.` or `..`. A path that is
    /// not written in this way may lead to a directory too.
    pub(super) ends_like_directory: bool,
}

impl GuestPath {
    /// Joins a path to the directory that it is relative to. Refuses a path that leaves this directory.
    pub(super) fn join(directory: &str, path: &str, access: Access) -> Result<Self, Fault> {
        check_text(path)?;
        let outside_fault = || Fault::no_grant(&format!("{directory}/{path}"), access);
        let mut parts = Vec::new();
        for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                parts.pop().ok_or_else(outside_fault)?;
            } else {
                parts.push(part);
            }
        }
        if path.starts_with('/') {
            return Err(Fault::no_grant(path, access));
        }
        let text = join_texts(directory, &parts.join("/"));
        if text.len() > MAX_PATH_BYTES {
            return Err(ErrorCode::NameTooLong.into());
        }
        let last = path.rsplit('/').next().unwrap_or_default();
        Ok(Self {
            text,
            ends_like_directory: matches!(last, "" | "." | ".."),
        })
    }

    /// Returns the path as text, without `/` at the beginning.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }
}

/// Refuses text that cannot be a path: it is empty, too long, or has a NUL character.
fn check_text(path: &str) -> Result<(), ErrorCode> {
    match path {
        "" => Err(ErrorCode::NoEntry),
        _ if path.len() > MAX_PATH_BYTES => Err(ErrorCode::NameTooLong),
        _ if path.contains('\0') => Err(ErrorCode::IllegalByteSequence),
        _ => Ok(()),
    }
}

/// Joins a directory and a path below it.
fn join_texts(directory: &str, below: &str) -> String {
    match (directory, below) {
        ("", below) => below.to_owned(),
        (directory, "") => directory.to_owned(),
        (directory, below) => format!("{directory}/{below}"),
    }
}

/// Returns the part of a path below a directory. The part is empty for the directory itself. Returns `None` if the path is
/// neither the directory nor below it.
pub(super) fn strip_directory<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    match path.strip_prefix(directory)? {
        rest if directory.is_empty() || rest.is_empty() => Some(rest),
        rest => rest.strip_prefix('/'),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn join(directory: &str, path: &str) -> Option<String> {
        GuestPath::join(directory, path, Access::Read)
            .ok()
            .map(|path| path.text)
    }

    #[test]
    fn a_path_is_joined_to_its_directory() {
        assert_eq!(join("", "a//./b/"), Some("a/b".to_owned()));
        assert_eq!(join("home", "a/../b"), Some("home/b".to_owned()));
        assert_eq!(join("home", "."), Some("home".to_owned()));
        assert_eq!(join("", "."), Some(String::new()));
    }

    #[test]
    fn a_path_that_leaves_its_directory_or_is_invalid_is_refused() {
        for path in ["..", "a/../..", "../home/a", "/etc/passwd", "/", "", "a\0b"] {
            assert_eq!(join("home", path), None, "{path:?}");
        }
        assert_eq!(join("home", &"a/".repeat(3_000)), None);
    }

    #[test]
    fn a_path_ends_like_a_directory_if_its_end_is_a_slash_or_a_part_of_dots() {
        let ends_like_directory = |path| GuestPath::join("", path, Access::Read).unwrap().ends_like_directory;
        assert!(["a/", "a/.", "a/b/..", "."].into_iter().all(ends_like_directory));
        assert!(!["a", "a/.b", "a..", "a/b"].into_iter().any(ends_like_directory));
    }

    #[test]
    fn a_directory_matches_only_whole_parts_of_a_path() {
        assert_eq!(strip_directory("data/a/b", "data"), Some("a/b"));
        assert_eq!(strip_directory("data", "data"), Some(""));
        assert_eq!(strip_directory("data2/a", "data"), None);
        assert_eq!(strip_directory("a", ""), Some("a"));
    }

    proptest! {
        #[test]
        fn a_joined_path_stays_below_its_directory(path in "[a./\\\\~ \0]{0,12}") {
            if let Some(joined) = join("home/me", &path) {
                prop_assert!(strip_directory(&joined, "home/me").is_some());
                prop_assert!(joined.split('/').all(|part| !matches!(part, "" | "." | "..")));
            }
        }
    }
}
