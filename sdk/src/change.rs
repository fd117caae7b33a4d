//! Changes of text files. A person approves each change before it is written.
//!
//! ```
//! use art_sdk::change::Change;
//! use art_sdk::prelude::*;
//!
//! fn write(path: &str, text: String, ctx: &Context) -> Result<Outcome<usize>> {
//!     let change = Change::of_file(path, text)?;
//!     if let Some(question) = change.question(ctx)? {
//!         return Ok(question.into());
//!     }
//!     change.write()?;
//!     Ok(Reply::new(change.after.len()).into())
//! }
//! ```

use std::io;

use serde_json::json;
use similar::TextDiff;

use crate::{Context, Result, Suspension, ToolError, files, lines};

/// Maximum size of a file before and after a change, in bytes.
pub const MAX_BYTES: u64 = 1 << 20;
/// Maximum number of lines of a preview.
const MAX_LINES: usize = 400;
/// Maximum length of a line of a preview, in characters.
const MAX_CHARS: usize = 500;

/// The present and the planned content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    path: String,
    /// The text of the file, with its byte order mark if it has one; `None` if there is no file.
    pub before: Option<String>,
    /// The text that the file has after the change, with its byte order mark.
    pub after: String,
}

impl Change {
    /// Creates a change that sets the whole text of a file, which may not exist yet.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, is not UTF-8, or is longer than [`MAX_BYTES`] before or after the change.
    pub fn of_file(path: &str, after: String) -> Result<Self> {
        Self::from(path, |_| Ok(after))
    }

    /// Creates a change whose new text is the one that `edit` returns. `edit` gets the old text, or `None` if there is no file.
    ///
    /// # Errors
    ///
    /// Fails with the error of `edit`, and as [`Change::of_file`] does.
    pub fn from(path: &str, edit: impl FnOnce(Option<&str>) -> Result<String>) -> Result<Self> {
        let before = read_current(path)?;
        let after = edit(before.as_deref())?;
        if after.len() as u64 > MAX_BYTES {
            let size = after.len();
            return Err(ToolError::validation(format_args!(
                "`{path}` would have {size} bytes, more than {MAX_BYTES}: write less"
            )));
        }
        Ok(Self {
            path: path.to_owned(),
            before,
            after,
        })
    }

    /// Returns the question to the person, with the change as a unified diff, or `None` if the person has approved exactly this
    /// change. The approval applies only to the texts that the question showed.
    ///
    /// # Errors
    ///
    /// Fails if the person decided against the change, or approved another one, for example because the file has changed since.
    pub fn question(&self, context: &Context) -> Result<Option<Suspension>> {
        let digest = self.digest();
        let Some(decision) = context.hitl() else {
            return Ok(Some(self.suspension(&digest)));
        };
        if !decision.approved {
            return Err(ToolError::permission_denied(
                "the person decided against this change: do not make it again",
            ));
        }
        // The form of the question has one option, whose value is the digest of the change that the person saw.
        if decision.feedback != digest {
            return Err(ToolError::validation(format_args!(
                "`{}` has changed since the person saw the change, and was not written: read it and call again",
                self.path
            )));
        }
        Ok(None)
    }

    /// Writes the new text.
    ///
    /// # Errors
    ///
    /// Fails if the file has changed since this change was created, or cannot be written.
    pub fn write(&self) -> Result<()> {
        if read_current(&self.path)? != self.before {
            return Err(ToolError::validation(format_args!(
                "`{}` was changed by somebody else at this moment, and was not written: read it and call again",
                self.path
            )));
        }
        std::fs::write(&self.path, &self.after).map_err(|error| files::explain(&self.path, &error))
    }

    /// Returns the number of added lines and the number of removed lines.
    pub fn counts(&self) -> (usize, usize) {
        let diff = self.diff();
        let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
        (count(similar::ChangeTag::Insert), count(similar::ChangeTag::Delete))
    }

    /// Returns the change as a unified diff, after notes about line endings and a byte order mark that change (see
    /// [`lines::show`]). Cuts it after 400 lines, and each line after 500 characters.
    pub fn preview(&self) -> String {
        let old_path = if self.before.is_some() {
            self.path.as_str()
        } else {
            "/dev/null"
        };
        let shown = lines::show(self.before.as_deref().unwrap_or_default(), &self.after);
        let text = TextDiff::from_lines(&shown.before, &shown.after)
            .unified_diff()
            .context_radius(3)
            .header(old_path, &self.path)
            .to_string();
        let mut lines = text.lines();
        let mut preview: String = shown.notes.iter().map(|note| format!("{note}\n")).collect();
        for line in lines.by_ref().take(MAX_LINES) {
            preview.extend(line.chars().take(MAX_CHARS));
            if line.chars().nth(MAX_CHARS).is_some() {
                preview.push_str(" ..");
            }
            preview.push('\n');
        }
        let hidden_lines = lines.count();
        if hidden_lines > 0 {
            preview.push_str(&format!(
                ".. {hidden_lines} more lines of the difference are not shown\n"
            ));
        }
        preview
    }

    fn diff(&self) -> TextDiff<'_, '_, str> {
        TextDiff::from_lines(self.before.as_deref().unwrap_or_default(), &self.after)
    }

    fn suspension(&self, digest: &str) -> Suspension {
        let (added, removed) = self.counts();
        let verb = if self.before.is_some() { "Change" } else { "Create" };
        // The answer of the form is the digest of the shown change, so that an approval cannot apply to anything else.
        let form = json!({
            "inputType": "select",
            "options": [{"value": digest, "label": "make exactly this change"}],
            "defaultValue": digest,
        });
        Suspension::new(format!(
            "{verb} `{}`? {added} lines added, {removed} removed.",
            self.path
        ))
        .details(json!({"path": self.path, "added": added, "removed": removed}))
        .preview(self.preview())
        .feedback_schema(form)
    }

    /// Returns the digest of the path, of both texts, and of whether the file exists.
    fn digest(&self) -> String {
        let mut hash = blake3::Hasher::new();
        let change_kind: &[u8] = if self.before.is_some() { b"changed" } else { b"created" };
        let before = self.before.as_deref().unwrap_or_default();
        for part in [
            self.path.as_bytes(),
            change_kind,
            before.as_bytes(),
            self.after.as_bytes(),
        ] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.finalize().to_hex().to_string()
    }
}

/// Returns the text of a file, including a byte order mark, or `None` if there is no file.
fn read_current(path: &str) -> Result<Option<String>> {
    // A symbolic link to a missing file counts as a file here, so that reading it fails below.
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(files::explain(path, &error)),
        Ok(_) => {}
    }
    let text = files::to_text(path, files::read(path, MAX_BYTES)?)?;
    if text.contains('\0') {
        return Err(ToolError::validation(format_args!(
            "`{path}` contains NUL bytes, so it is no text and is not changed"
        )));
    }
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorCode, Hitl};

    /// A temporary folder, which is removed when it is dropped.
    struct Folder(std::path::PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("art-sdk-change-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        /// Returns the path of the file that the tests change, which does not exist at first.
        fn file_path(&self) -> String {
            self.0.join("a.txt").to_str().unwrap().to_owned()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            drop(std::fs::remove_dir_all(&self.0));
        }
    }

    /// Returns the context of a call that runs again after the decision of a person.
    fn context_with_decision(approved: bool, answer: &str) -> Context {
        Context::for_test().with_hitl(Hitl::for_test(approved, answer))
    }

    /// Returns the default value of the form of a change, which is the answer of a person who only approves and
    /// fills in nothing.
    fn default_answer(change: &Change) -> String {
        let question = change.question(&Context::for_test()).unwrap().unwrap();
        let form = question.feedback_schema.unwrap();
        assert_eq!(form["options"].as_array().unwrap().len(), 1);
        form["defaultValue"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_change_is_shown_and_is_written_once_approved() {
        let folder = Folder::new("made");
        std::fs::write(folder.file_path(), "one\ntwo\n").unwrap();
        let change = Change::of_file(&folder.file_path(), "one\nthree\n".to_owned()).unwrap();
        let question = change.question(&Context::for_test()).unwrap().unwrap();
        let preview = question.preview.unwrap();
        assert!(
            preview
                .as_str()
                .unwrap()
                .ends_with("@@ -1,2 +1,2 @@\n one\n-two\n+three\n"),
            "{preview}"
        );
        assert_eq!(
            change
                .question(&context_with_decision(true, &default_answer(&change)))
                .unwrap(),
            None
        );
        change.write().unwrap();
        assert_eq!(std::fs::read_to_string(folder.file_path()).unwrap(), "one\nthree\n");
    }

    #[test]
    fn a_preview_shows_line_endings_and_a_byte_order_mark_that_change() {
        let folder = Folder::new("signs");
        std::fs::write(folder.file_path(), "\u{feff}one\r\ntwo\r\n").unwrap();
        let preview = |text: &str| Change::of_file(&folder.file_path(), text.to_owned()).unwrap().preview();
        let kept = preview("\u{feff}one\r\n2\r\n");
        assert!(kept.starts_with("--- ") && kept.ends_with(" one\n-two\n+2\n"), "{kept}");
        let lost = preview("one\ntwo");
        assert!(
            lost.starts_with(
                "the byte order mark at the beginning is removed\nthe lines end with LF instead of CRLF\n--- "
            ),
            "{lost}"
        );
        let lines = "-\\u{feff}one␍␊\n-two␍␊\n+one\n+two\n\\ No newline at end of file\n";
        assert!(lost.ends_with(lines), "{lost}");
    }

    #[test]
    fn a_rejected_change_is_an_error() {
        let folder = Folder::new("rejected");
        let change = Change::of_file(&folder.file_path(), "x".to_owned()).unwrap();
        let error = change
            .question(&context_with_decision(false, &default_answer(&change)))
            .unwrap_err();
        assert_eq!(error.code, ErrorCode::PermissionDenied);
    }

    #[test]
    fn an_approval_does_not_apply_after_the_file_has_changed() {
        let folder = Folder::new("changed");
        std::fs::write(folder.file_path(), "one\n").unwrap();
        let approved_digest = default_answer(&Change::of_file(&folder.file_path(), "two\n".to_owned()).unwrap());
        for new_content in ["another\n", "two\n"] {
            std::fs::write(folder.file_path(), new_content).unwrap();
            let change = Change::of_file(&folder.file_path(), "two\n".to_owned()).unwrap();
            let error = change
                .question(&context_with_decision(true, &approved_digest))
                .unwrap_err();
            assert!(error.message.contains("has changed since"), "{error}");
        }
        std::fs::remove_file(folder.file_path()).unwrap();
        let change = Change::of_file(&folder.file_path(), "two\n".to_owned()).unwrap();
        change
            .question(&context_with_decision(true, &approved_digest))
            .unwrap_err();
    }

    #[test]
    fn a_file_that_changes_at_the_last_moment_is_not_overwritten() {
        let folder = Folder::new("moment");
        let change = Change::of_file(&folder.file_path(), "mine".to_owned()).unwrap();
        std::fs::write(folder.file_path(), "theirs").unwrap();
        assert!(change.write().unwrap_err().message.contains("by somebody else"));
        assert_eq!(std::fs::read_to_string(folder.file_path()).unwrap(), "theirs");
    }

    #[test]
    fn a_long_preview_is_cut_and_says_so() {
        let text: String = (0..1000).map(|n| format!("{n}\n")).collect();
        let folder = Folder::new("long");
        let change = Change::of_file(&folder.file_path(), text).unwrap();
        let preview = change.preview();
        // The difference has 1000 lines and three lines of header.
        assert_eq!(preview.lines().count(), MAX_LINES + 1);
        assert!(
            preview.ends_with(".. 603 more lines of the difference are not shown\n"),
            "{preview}"
        );
        assert!(preview.starts_with("--- /dev/null\n"), "{preview}");
        let one_long_line = Change::of_file(&folder.file_path(), "x".repeat(5_000)).unwrap();
        assert!(one_long_line.preview().len() < 1_000);
    }

    #[test]
    fn a_file_that_is_no_text_and_a_new_text_that_is_too_long_are_refused() {
        let folder = Folder::new("bytes");
        std::fs::write(folder.file_path(), [0xff]).unwrap();
        assert!(
            Change::of_file(&folder.file_path(), String::new())
                .unwrap_err()
                .message
                .contains("no UTF-8")
        );
        for (content, reason) in [(&b"\xff\xfeh\0"[..], "is UTF-16 text"), (b"h\0i\0", "NUL bytes")] {
            std::fs::write(folder.file_path(), content).unwrap();
            let error = Change::of_file(&folder.file_path(), String::new()).unwrap_err();
            assert!(error.message.contains(reason), "{error}");
        }
        std::fs::remove_file(folder.file_path()).unwrap();
        let long = "x".repeat(usize::try_from(MAX_BYTES).unwrap() + 1);
        assert!(
            Change::of_file(&folder.file_path(), long)
                .unwrap_err()
                .message
                .contains("write less")
        );
    }
}
