//! Input of a conversation, line by line: typed in a line editor at a terminal, or read from a pipe.

use std::fs::OpenOptions;
use std::io::{BufRead, ErrorKind, IsTerminal, StdinLock};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use art_files::open_regular;
use rustyline::Editor;
use rustyline::config::{BellStyle, Config};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;

use crate::bounded_read;
use crate::error::CommandError;

const PROMPT: &str = "> ";
/// Maximum number of lines in the history.
const MAX_HISTORY_LINES: usize = 1_000;
/// Maximum size of a line in the history, in bytes.
const MAX_HISTORY_LINE_BYTES: usize = 4 << 10;
/// Maximum size of the history file, in bytes. Each line has a line break, and escaping may double each byte.
const MAX_HISTORY_FILE_BYTES: u64 = (2 * MAX_HISTORY_LINES * (MAX_HISTORY_LINE_BYTES + 1)) as u64;
/// Maximum size of one line from a pipe with its line break, in bytes.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// An event of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InputEvent {
    Line(String),
    /// A line of the pipe that is too long or not UTF-8, with the reason. The next line can still be read.
    Unreadable(String),
    /// Ctrl-C, which discards the typed line.
    Interrupted,
    /// Ctrl-D, or the end of the pipe.
    End,
}

/// A source of lines.
pub(super) enum Input {
    /// A person at a terminal.
    Terminal(Box<LineEditor>),
    /// Stdin that is read without a line editor: a pipe or a file, and if the output is JSON, even a terminal.
    Pipe(StdinLock<'static>),
}

/// A line editor with a history.
pub(super) struct LineEditor {
    editor: Editor<(), FileHistory>,
    /// The history file. `None` if it cannot be used.
    history_file: Option<PathBuf>,
}

impl Input {
    /// Opens a line editor with the history file `history_file` if stdin is a terminal and the output is not JSON. Otherwise
    /// reads stdin as a pipe.
    ///
    /// # Errors
    /// Fails if the terminal cannot be used.
    pub(super) fn open(json: bool, history_file: PathBuf) -> Result<Self, CommandError> {
        let stdin = std::io::stdin();
        if json || !stdin.is_terminal() {
            return Ok(Self::Pipe(stdin.lock()));
        }
        LineEditor::open(history_file).map(|editor| Self::Terminal(Box::new(editor)))
    }

    /// Returns whether a person types the lines.
    pub(super) const fn is_interactive(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// Waits for the next event.
    ///
    /// # Errors
    /// Fails if the terminal or the pipe cannot be read.
    pub(super) fn next(&mut self) -> Result<InputEvent, CommandError> {
        match self {
            Self::Terminal(editor) => editor.next(),
            Self::Pipe(stdin) => next_line(stdin),
        }
    }
}

impl LineEditor {
    fn open(history_file: PathBuf) -> Result<Self, CommandError> {
        let config = Config::builder()
            .max_history_size(MAX_HISTORY_LINES)
            .and_then(|config| config.history_ignore_dups(true))
            .map_err(terminal_error)?
            .history_ignore_space(true)
            .bell_style(BellStyle::None)
            .build();
        let history = FileHistory::with_config(&config);
        let mut editor = Editor::with_history(config, history).map_err(terminal_error)?;
        let ensured = ensure_private_file(&history_file).inspect_err(|error| {
            tracing::warn!(file = %history_file.display(), %error, "the history is not saved");
        });
        let history_file = ensured.is_ok().then_some(history_file);
        if let Some(file) = &history_file
            && let Err(error) = editor.load_history(file)
        {
            tracing::debug!(file = %file.display(), %error, "the history could not be loaded");
        }
        Ok(Self { editor, history_file })
    }

    fn next(&mut self) -> Result<InputEvent, CommandError> {
        match self.editor.readline(PROMPT) {
            Ok(line) => {
                self.add_to_history(&line);
                Ok(InputEvent::Line(line))
            }
            Err(ReadlineError::Interrupted) => Ok(InputEvent::Interrupted),
            Err(ReadlineError::Eof) => Ok(InputEvent::End),
            Err(error) => Err(terminal_error(error)),
        }
    }

    /// Appends a line to the history, and to its file immediately, so that a crash does not lose it. Does nothing if the
    /// line has more than [`MAX_HISTORY_LINE_BYTES`], or without a history file.
    fn add_to_history(&mut self, line: &str) {
        let Some(file) = self
            .history_file
            .as_ref()
            .filter(|_| line.len() <= MAX_HISTORY_LINE_BYTES)
        else {
            return;
        };
        let added = self.editor.add_history_entry(line).unwrap_or_default();
        if added && let Err(error) = self.editor.append_history(file) {
            tracing::debug!(file = %file.display(), %error, "a line was not saved to the history");
        }
    }
}

/// Creates the file, readable only by its owner, if it does not exist. Checks that a file that exists is a regular file and is
/// not too large.
fn ensure_private_file(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    match OpenOptions::new().append(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        result => return result.map(drop),
    }
    let bytes = open_regular(path)?.metadata()?.len();
    if bytes > MAX_HISTORY_FILE_BYTES {
        let message = format!("it has {bytes} bytes, more than the {MAX_HISTORY_FILE_BYTES} allowed; remove it");
        return Err(std::io::Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes the error by value")]
fn terminal_error(error: ReadlineError) -> CommandError {
    CommandError::Failed(format!("the terminal cannot be read: {error}"))
}

fn next_line(pipe: &mut impl BufRead) -> Result<InputEvent, CommandError> {
    match bounded_read::read_line(pipe, MAX_LINE_BYTES) {
        Ok(line) => Ok(line.map_or(InputEvent::End, InputEvent::Line)),
        Err(error) if bounded_read::is_too_long_or_not_utf8(&error) => Ok(InputEvent::Unreadable(format!(
            "a line cannot be used: {error}; send long texts as attachments"
        ))),
        Err(error) => Err(CommandError::file("read", "stdin")(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_pipe_returns_its_lines_and_then_its_end() {
        let mut pipe = &b"one\ntwo"[..];
        let mut next = || next_line(&mut pipe).unwrap();
        assert_eq!(next(), InputEvent::Line("one\n".to_owned()));
        assert_eq!(next(), InputEvent::Line("two".to_owned()));
        assert_eq!(next(), InputEvent::End);
    }

    #[test]
    fn a_line_after_an_invalid_line_is_read() {
        let max = usize::try_from(MAX_LINE_BYTES).unwrap();
        let line_of = |bytes: usize| [&vec![b'x'; bytes], &b"\n"[..]].concat();
        for bytes in [line_of(2 * max), line_of(max + 1), line_of(max), b"\xff\n".to_vec()] {
            let mut pipe = &[&bytes, &b"next"[..]].concat()[..];
            assert!(matches!(next_line(&mut pipe), Ok(InputEvent::Unreadable(_))));
            assert_eq!(next_line(&mut pipe).unwrap(), InputEvent::Line("next".to_owned()));
        }
        let longest = line_of(max - 1);
        assert!(matches!(next_line(&mut &longest[..]), Ok(InputEvent::Line(_))));
    }

    #[test]
    fn the_history_is_readable_only_by_its_owner() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state/chat_history");
        ensure_private_file(&path).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }

    #[test]
    fn a_history_that_is_too_large_or_not_a_file_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("chat_history");
        ensure_private_file(&path).unwrap();
        let file = std::fs::File::options().append(true).open(&path).unwrap();
        file.set_len(MAX_HISTORY_FILE_BYTES).unwrap();
        ensure_private_file(&path).unwrap();
        file.set_len(MAX_HISTORY_FILE_BYTES + 1).unwrap();
        let refused = ensure_private_file(&path).unwrap_err();
        assert!(refused.to_string().contains("remove it"), "{refused}");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(ensure_private_file(&path).is_err());
    }
}
