//! Arguments that may be paths, as rules compare them: in normal form, and with every link followed.
//!
//! A model can write one path in many ways (`/n//s`, `/n/./s`, `~/s`, through a link), so a rule that compared only the text could
//! be passed by another spelling.

use std::path::{Component, Path, PathBuf};

use super::ApprovalAction;
use crate::glob::Glob;

/// Maximum length of a path in bytes, which is the limit of the operating system. In a longer text, `..` is resolved as text.
const MAX_PATH_BYTES: usize = 4_096;

/// A text that may be a path, in the two forms that are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The absolute path without empty parts, `.`, `..` and `/` at its end.
    pub(super) normal: PathBuf,
    /// The path to which it leads, with every link followed.
    pub(super) resolved: PathBuf,
}

impl Place {
    /// Returns the place that a person or a model means by `text`: a `~` at its beginning is the home directory, and a relative
    /// path begins at the current directory. Returns `None` if that cannot be a path, or leads nowhere because its links form a
    /// loop.
    pub(super) fn of(text: &str) -> Option<Self> {
        if text.is_empty() || text.contains('\0') {
            return None;
        }
        let absolute = absolute(text)?;
        let normal = normal(&absolute);
        let written = if text.len() > MAX_PATH_BYTES {
            &normal
        } else {
            &absolute
        };
        Some(Self {
            resolved: art_files::resolve(written).ok()?,
            normal,
        })
    }

    /// Returns whether a link is on the way.
    pub(super) fn leads_through_link(&self) -> bool {
        self.normal != self.resolved
    }
}

/// Returns whether a text matches the pattern of a rule with this action. An `allow` rule matches only if each form of a path
/// matches, and any other rule if one form does.
pub(super) fn matches(action: ApprovalAction, glob: &Glob, text: &str) -> bool {
    let as_written = glob.matches(text);
    // The pattern of an address is no pattern of a path.
    let place = if glob.as_str().contains("://") {
        None
    } else {
        Place::of(text)
    };
    let Some(place) = place else { return as_written };
    if !glob.as_str().contains('/') {
        // The text need not be a path. If it is one, what counts is the file to which it leads.
        let target_matches = || glob.matches(&place.resolved.to_string_lossy());
        return match action {
            ApprovalAction::Allow => as_written && (!place.leads_through_link() || target_matches()),
            ApprovalAction::Ask | ApprovalAction::Refuse => {
                as_written || glob.matches(without_ending(text)) || place.leads_through_link() && target_matches()
            }
        };
    }
    let patterns = PathPattern::forms_of(glob.as_str());
    let matches = |path: &Path| patterns.iter().any(|pattern| pattern.matches(&path.to_string_lossy()));
    match action {
        ApprovalAction::Allow => matches(&place.normal) && matches(&place.resolved),
        ApprovalAction::Ask | ApprovalAction::Refuse => {
            as_written || matches(&place.normal) || matches(&place.resolved)
        }
    }
}

/// Returns a text without `/` and `/.` at its end, which do not change the file that a path names.
fn without_ending(text: &str) -> &str {
    let mut rest = text;
    while let Some(shorter) = rest.strip_suffix("/.").or_else(|| rest.strip_suffix('/')) {
        rest = shorter;
    }
    rest
}

/// A pattern of a path: the directory before its first `*` or `?`, and a pattern for the rest.
struct PathPattern {
    /// A path that ends with `/`; empty if the pattern begins with `*` or `?`.
    directory: String,
    rest: Glob,
}

impl PathPattern {
    /// Returns the pattern with its directory in normal form, and with the links in the directory followed.
    fn forms_of(pattern: &str) -> Vec<Self> {
        let literal = pattern
            .find(['*', '?'])
            .map_or(pattern, |end| pattern.get(..end).unwrap_or_default());
        let (directory, rest) = pattern.split_at(literal.rfind('/').map_or(0, |slash| slash + 1));
        // The rest is not longer than the whole pattern, so it is not too long either.
        let Ok(rest) = Glob::new(in_normal_form(rest)) else {
            return Vec::new();
        };
        let form = |directory: String| Self {
            directory,
            rest: rest.clone(),
        };
        if directory.is_empty() && pattern.starts_with(['*', '?']) {
            return vec![form(String::new())];
        }
        let Some(place) = Place::of(if directory.is_empty() { "." } else { directory }) else {
            return Vec::new();
        };
        let with_slash = |path: &Path| match path.to_string_lossy().into_owned() {
            root if root.ends_with('/') => root,
            path => path + "/",
        };
        [&place.normal, &place.resolved]
            .map(|path| form(with_slash(path)))
            .into()
    }

    fn matches(&self, path: &str) -> bool {
        let is_directory_itself = || {
            // `/n/` names the directory `/n`.
            self.rest.as_str().is_empty() && self.directory.strip_suffix('/') == Some(path)
        };
        let rest = path.strip_prefix(self.directory.as_str());
        rest.is_some_and(|rest| self.rest.matches(rest)) || is_directory_itself()
    }
}

/// Returns a pattern without empty parts and parts that are `.`.
fn in_normal_form(pattern: &str) -> String {
    let parts: Vec<_> = pattern
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    parts.join("/")
}

/// Returns the absolute form of a text, in which `..` and links stay as they are written.
fn absolute(text: &str) -> Option<PathBuf> {
    let home = || {
        std::env::var_os("HOME")
            .map(PathBuf::from)
            .filter(|home| home.is_absolute())
    };
    if let Some(below) = text
        .strip_prefix('~')
        .filter(|below| below.is_empty() || below.starts_with('/'))
        && let Some(home) = home()
    {
        return Some(home.join(below.trim_start_matches('/')));
    }
    Some(std::env::current_dir().ok()?.join(text))
}

/// Returns an absolute path without empty parts, `.` and `..`. A `..` removes the part before it, whatever that is.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => normal.push(name),
            Component::ParentDir => drop(normal.pop()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;

    fn matches_text(action: ApprovalAction, pattern: &str, text: &str) -> bool {
        matches(action, &Glob::new(pattern).unwrap(), text)
    }

    #[test]
    fn no_spelling_of_a_path_passes_a_rule_that_refuses_or_asks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("n/s")).unwrap();
        symlink(path.join("n"), path.join("link")).unwrap();
        let root = path.to_str().unwrap();
        let relative = format!("{}{root}/n/s", "../".repeat(40));
        for pattern in [
            format!("{root}/n/s*"),
            format!("{root}//n/./s"),
            format!("{root}/link/s"),
            "*/n/s".to_owned(),
        ] {
            for text in [
                format!("{root}/n/s"),
                format!("{root}/n//s"),
                format!("/{root}/n/./s"),
                format!("{root}/n/s/"),
                format!("{root}/n/s/."),
                format!("{root}/x/../n/s"),
                format!("{root}/link/s"),
                format!("{root}/link/../n/s"),
                relative.clone(),
            ] {
                for action in [ApprovalAction::Ask, ApprovalAction::Refuse] {
                    assert!(matches_text(action, &pattern, &text), "{pattern} {text}");
                }
            }
            assert!(
                !matches_text(ApprovalAction::Refuse, &pattern, &format!("{root}/n/other")),
                "{pattern}"
            );
        }
    }

    #[test]
    fn a_rule_allows_a_path_only_if_it_also_leads_to_what_is_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("open")).unwrap();
        fs::write(path.join("secret"), "").unwrap();
        symlink("../secret", path.join("open/link")).unwrap();
        symlink("open", path.join("alias")).unwrap();
        let root = path.to_str().unwrap();
        let allowed = |text: &str| {
            matches_text(
                ApprovalAction::Allow,
                &format!("{root}/open/*"),
                &format!("{root}/{text}"),
            )
        };
        assert!(allowed("open/a") && allowed("./open//a") && allowed("open/new/file"));
        for text in [
            "open/../secret",
            "open/link",
            "open/link/",
            "alias/../secret",
            "alias/a",
            "secret",
        ] {
            assert!(!allowed(text), "{text}");
        }
        // A pattern through a link allows what is written in the same way.
        let through_link = format!("{root}/alias/*");
        assert!(matches_text(
            ApprovalAction::Allow,
            &through_link,
            &format!("{root}/alias/a")
        ));
    }

    #[test]
    fn a_pattern_without_a_slash_is_compared_with_the_text_and_with_the_target_of_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        fs::write(path.join("a.env"), "").unwrap();
        symlink("a.env", path.join("notes.txt")).unwrap();
        let link = path.join("notes.txt");
        let link = link.to_str().unwrap();
        assert!(matches_text(ApprovalAction::Refuse, "*.env", link));
        assert!(matches_text(ApprovalAction::Refuse, "*.env", "x.env/"));
        assert!(!matches_text(ApprovalAction::Allow, "*.txt", link));
        // The current directory is no part of a text that need not be a path.
        let name = std::env::current_dir()
            .unwrap()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        assert!(!matches_text(ApprovalAction::Refuse, &format!("*{name}*"), "a command"));
    }

    #[test]
    fn an_address_is_compared_as_it_is_written() {
        let allowed = |text: &str| matches_text(ApprovalAction::Allow, "https://a.example/*", text);
        assert!(allowed("https://a.example/b"));
        assert!(!allowed("https:/a.example/b"));
    }

    proptest! {
        #[test]
        fn added_dots_and_slashes_change_no_verdict(parts in prop::collection::vec("[a-c]{1,2}", 1..5), noise in prop::collection::vec(0_usize..4, 5)) {
            let plain = format!("/{}", parts.join("/"));
            let mut noisy = String::new();
            for (part, noise) in parts.iter().zip(&noise) {
                noisy.push_str(["/", "//", "/./", "/z/../"][*noise]);
                noisy.push_str(part);
            }
            for pattern in ["/a/*", "/a*/b", "*/c", "/b*"] {
                for action in [ApprovalAction::Allow, ApprovalAction::Ask, ApprovalAction::Refuse] {
                    prop_assert_eq!(matches_text(action, pattern, &plain), matches_text(action, pattern, &noisy), "{} {} {}", pattern, plain, noisy);
                }
            }
        }
    }
}
