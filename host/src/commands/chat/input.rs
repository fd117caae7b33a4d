//! Where the lines of a conversation come from: a person with an editor, or a pipe.

use std::fs::OpenOptions;
use std::io::{BufRead, IsTerminal, Read, StdinLock};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustyline::Editor;
use rustyline::config::{BellStyle, Config};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;

use crate::error::CommandError;

const PROMPT: &str = "> ";
/// Lines that are remembered for the next conversation.
const REMEMBERED: usize = 1_000;
/// Bytes of one line from a pipe.
const MAX_LINE: u64 = 1 << 20;

/// What came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Line(String),
    /// A line of the pipe that is no text or too long, and why; the next one is another.
    Unreadable(String),
    /// Ctrl-C; what was typed before it is gone.
    Interrupted,
    /// Ctrl-D, or the end of the pipe.
    End,
}

/// A source of lines.
pub(super) enum Input {
    Terminal(Box<Prompt>),
    Pipe(StdinLock<'static>),
}

/// An editor with a memory.
pub(super) struct Prompt {
    editor: Editor<(), FileHistory>,
    memory: PathBuf,
}

impl Input {
    /// An editor when a person is at a terminal, and `memory` keeps what they type; else lines from stdin.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub(super) fn open(for_programs: bool, memory: PathBuf) -> Result<Self, CommandError> {
        let stdin = std::io::stdin();
        if for_programs || !stdin.is_terminal() {
            return Ok(Self::Pipe(stdin.lock()));
        }
        Prompt::open(memory).map(|prompt| Self::Terminal(Box::new(prompt)))
    }

    /// Whether a person types.
    pub(super) const fn is_interactive(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// Waits for a line.
    ///
    /// # Errors
    /// When the terminal or the pipe fails.
    pub(super) fn next(&mut self) -> Result<Typed, CommandError> {
        match self {
            Self::Terminal(prompt) => prompt.next(),
            Self::Pipe(stdin) => next_of(stdin),
        }
    }
}

impl Prompt {
    fn open(memory: PathBuf) -> Result<Self, CommandError> {
        let config = Config::builder()
            .max_history_size(REMEMBERED)
            .and_then(|config| config.history_ignore_dups(true))
            .map_err(failed)?
            .history_ignore_space(true)
            .bell_style(BellStyle::None)
            .build();
        let remembered = FileHistory::with_config(&config);
        let mut editor = Editor::with_history(config, remembered).map_err(failed)?;
        if let Err(error) = private_file(&memory) {
            tracing::warn!(file = %memory.display(), %error, "what is typed is not remembered");
        } else if let Err(error) = editor.load_history(&memory) {
            tracing::debug!(file = %memory.display(), %error, "nothing is remembered");
        }
        Ok(Self { editor, memory })
    }

    fn next(&mut self) -> Result<Typed, CommandError> {
        match self.editor.readline(PROMPT) {
            Ok(line) => {
                self.remember(&line);
                Ok(Typed::Line(line))
            }
            Err(ReadlineError::Interrupted) => Ok(Typed::Interrupted),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(error) => Err(failed(error)),
        }
    }

    /// A conversation that ends badly is remembered as well.
    fn remember(&mut self, line: &str) {
        let added = self.editor.add_history_entry(line).unwrap_or_default();
        if added && let Err(error) = self.editor.append_history(&self.memory) {
            tracing::debug!(file = %self.memory.display(), %error, "a line is not remembered");
        }
    }
}

/// Makes the file when there is none, so that nobody else can ever read it.
fn private_file(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "an error is mapped by value")]
fn failed(error: ReadlineError) -> CommandError {
    CommandError::Failed(format!("the terminal cannot be read: {error}"))
}

fn next_of(lines: &mut impl BufRead) -> Result<Typed, CommandError> {
    let failed = |error| CommandError::file("read", "stdin")(error);
    let mut line = Vec::new();
    let taken = lines.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut line);
    if taken.map_err(failed)? == 0 {
        return Ok(Typed::End);
    }
    if line.len() as u64 > MAX_LINE {
        if line.last() != Some(&b'\n') {
            lines.skip_until(b'\n').map_err(failed)?;
        }
        return Ok(Typed::Unreadable(format!(
            "a line has more than the {MAX_LINE} bytes allowed; send long texts as attachments"
        )));
    }
    Ok(match String::from_utf8(line) {
        Ok(line) => Typed::Line(line),
        Err(error) => Typed::Unreadable(format!("a line is not UTF-8 text: {error}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_pipe_gives_its_lines_and_then_its_end() {
        let mut pipe = &b"one\ntwo"[..];
        let mut next = || next_of(&mut pipe).unwrap();
        assert_eq!(next(), Typed::Line("one\n".to_owned()));
        assert_eq!(next(), Typed::Line("two".to_owned()));
        assert_eq!(next(), Typed::End);
    }

    #[test]
    fn a_line_that_is_too_long_or_no_text_is_refused_and_the_next_one_is_read() {
        let most = usize::try_from(MAX_LINE).unwrap();
        let ends_at = |bytes: usize| [&vec![b'x'; bytes], &b"\n"[..]].concat();
        for bytes in [ends_at(2 * most), ends_at(most + 1), ends_at(most), b"\xff\n".to_vec()] {
            let mut pipe = &[&bytes, &b"next"[..]].concat()[..];
            assert!(matches!(next_of(&mut pipe), Ok(Typed::Unreadable(_))));
            assert_eq!(next_of(&mut pipe).unwrap(), Typed::Line("next".to_owned()));
        }
        let fits = ends_at(most - 1);
        assert!(matches!(next_of(&mut &fits[..]), Ok(Typed::Line(_))));
    }

    #[test]
    fn the_memory_is_readable_by_its_owner_alone() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state/chat_history");
        private_file(&path).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
}
