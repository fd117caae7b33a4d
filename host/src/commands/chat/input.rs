//! Where the lines of a conversation come from: a person with an editor, or a pipe.

use std::fs::OpenOptions;
use std::io::{BufRead, ErrorKind, IsTerminal, StdinLock};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use art_files::open_regular;
use rustyline::Editor;
use rustyline::config::{BellStyle, Config};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;

use crate::bounded;
use crate::error::CommandError;

const PROMPT: &str = "> ";
/// Lines that are remembered for the next conversation.
const REMEMBERED: usize = 1_000;
/// Bytes of a line that is remembered.
const MAX_REMEMBERED_LINE: usize = 4 << 10;
/// Bytes of the file that remembers them: each byte of a line may take two.
const MAX_MEMORY: u64 = (2 * REMEMBERED * (MAX_REMEMBERED_LINE + 1)) as u64;
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
    /// None when it cannot be used.
    memory: Option<PathBuf>,
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
        let usable = private_file(&memory).inspect_err(|error| {
            tracing::warn!(file = %memory.display(), %error, "what is typed is not remembered");
        });
        let memory = usable.is_ok().then_some(memory);
        if let Some(file) = &memory
            && let Err(error) = editor.load_history(file)
        {
            tracing::debug!(file = %file.display(), %error, "nothing is remembered");
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
        let Some(memory) = self.memory.as_ref().filter(|_| line.len() <= MAX_REMEMBERED_LINE) else {
            return;
        };
        let added = self.editor.add_history_entry(line).unwrap_or_default();
        if added && let Err(error) = self.editor.append_history(memory) {
            tracing::debug!(file = %memory.display(), %error, "a line is not remembered");
        }
    }
}

/// Makes the file when there is none, so that nobody else can ever read it. One that is there has to be what this program
/// could have written.
fn private_file(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    match OpenOptions::new().append(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        made => return made.map(drop),
    }
    let bytes = open_regular(path)?.metadata()?.len();
    if bytes > MAX_MEMORY {
        let told = format!("it has {bytes} bytes, more than {MAX_MEMORY}; remove it");
        return Err(std::io::Error::new(ErrorKind::FileTooLarge, told));
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "an error is mapped by value")]
fn failed(error: ReadlineError) -> CommandError {
    CommandError::Failed(format!("the terminal cannot be read: {error}"))
}

fn next_of(lines: &mut impl BufRead) -> Result<Typed, CommandError> {
    match bounded::line(lines, MAX_LINE) {
        Ok(line) => Ok(line.map_or(Typed::End, Typed::Line)),
        Err(error) if bounded::is_of_the_text(&error) => Ok(Typed::Unreadable(format!(
            "a line cannot be taken: {error}; send long texts as attachments"
        ))),
        Err(error) => Err(CommandError::file("read", "stdin")(error)),
    }
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

    #[test]
    fn a_memory_that_is_no_file_or_too_large_is_not_used() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("chat_history");
        private_file(&path).unwrap();
        let file = std::fs::File::options().append(true).open(&path).unwrap();
        file.set_len(MAX_MEMORY).unwrap();
        private_file(&path).unwrap();
        file.set_len(MAX_MEMORY + 1).unwrap();
        let refused = private_file(&path).unwrap_err();
        assert!(refused.to_string().contains("remove it"), "{refused}");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(private_file(&path).is_err());
    }
}
