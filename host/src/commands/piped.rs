//! Attaches text from stdin to a question: `art run "What is the longest word?" < story.txt`.
//!
//! Without `--attach -`, `art run` and `art plan` read stdin if it is a file, a pipe or a socket. They ignore terminals and other
//! devices, such as `/dev/null`. They ignore a file of which another program, such as a shell with a `while read` loop,
//! has already read a part. They also ignore a pipe without data: services and other programs often leave such a pipe open.

use std::io::{IsTerminal, Read, stdin};
use std::path::Path;
use std::time::Duration;

use art_core::agent::QueryAttachment;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, SeekFrom, fstat, seek};
use rustix::io::retry_on_intr;

use super::attachment::{self, MAX_BYTES};
use crate::error::CommandError;
use crate::render;

/// Name of the attachment from stdin.
const ATTACHMENT_NAME: &str = "stdin";
/// Maximum time to wait for the next data of a pipe or socket, or for its end.
const READ_TIMEOUT: Duration = Duration::from_secs(3);
/// Number of lines at the beginning that show whether a text is a table.
const TABLE_LINES: usize = 20;
/// Maximum number of bytes per read.
const CHUNK_BYTES: usize = 64 << 10;

/// Reads stdin to its end, without a timeout.
///
/// # Errors
/// Fails if stdin is empty or cannot be attached.
pub(super) fn read_to_end() -> Result<QueryAttachment, CommandError> {
    if stdin().is_terminal() {
        render::note("reading stdin; end it with Ctrl-D");
    }
    let bytes = read_stdin(None)?.unwrap_or_default();
    match to_attachment(bytes)? {
        Some(attachment) => Ok(attachment),
        None => Err(CommandError::Usage(
            "stdin is empty, but `--attach -` needs text or a file".to_owned(),
        )),
    }
}

/// Returns the content of stdin, or `None` if stdin is not a pipe, a socket or an unread file, if no data arrives, or if there is
/// only white space.
///
/// # Errors
/// Fails if stdin sends data and then neither more nor its end, or if it cannot be attached.
pub(super) fn read_if_piped() -> Result<Option<QueryAttachment>, CommandError> {
    if !can_have_input() {
        return Ok(None);
    }
    match read_stdin(Some(READ_TIMEOUT))? {
        Some(bytes) => to_attachment(bytes),
        None => {
            let waited = READ_TIMEOUT.as_secs();
            render::note(&format!(
                "stdin is a pipe without data for {waited} s, so it was not read (hint: `--attach -` waits for data; `< /dev/null` \
            skips stdin)"
            ));
            Ok(None)
        }
    }
}

/// Returns whether stdin is a pipe, a socket, or a file of which nothing was read yet.
fn can_have_input() -> bool {
    let kind = fstat(stdin()).map(|stat| FileType::from_raw_mode(stat.st_mode));
    match kind {
        Ok(FileType::Fifo | FileType::Socket) => true,
        Ok(FileType::RegularFile) => seek(stdin(), SeekFrom::Current(0)) == Ok(0),
        _ => false,
    }
}

/// Reads stdin to its end, or until more than `MAX_BYTES` are read. Returns `None` if no data at all arrives within `timeout`.
/// Fails if some data arrives, and then neither more nor the end within `timeout`.
fn read_stdin(timeout: Option<Duration>) -> Result<Option<Vec<u8>>, CommandError> {
    let mut bytes = Vec::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    while bytes.len() <= MAX_BYTES {
        if timeout.is_some_and(|timeout| !wait_for_data(timeout)) {
            return if bytes.is_empty() { Ok(None) } else { Err(stall_error()) };
        }
        let read = stdin()
            .lock()
            .read(&mut chunk)
            .map_err(CommandError::file("read", ATTACHMENT_NAME))?;
        match chunk.get(..read) {
            None | Some([]) => break,
            Some(more) => bytes.extend_from_slice(more),
        }
    }
    Ok(Some(bytes))
}

/// Waits until stdin has data, an end or an error, at most for `timeout`. Returns whether one of these came in time.
fn wait_for_data(timeout: Duration) -> bool {
    let stdin = stdin();
    let timeout = Timespec::try_from(timeout).ok();
    let polled = retry_on_intr(|| poll(&mut [PollFd::new(&stdin, PollFlags::IN)], timeout.as_ref()));
    polled.is_ok_and(|ready_count| ready_count > 0)
}

fn stall_error() -> CommandError {
    let waited = READ_TIMEOUT.as_secs();
    CommandError::Usage(format!(
        "stdin stalled: it sent data and then nothing for {waited} s (hint: `--attach -` waits for its end; `< /dev/null` \
        skips stdin)"
    ))
}

/// Returns the attachment, or `None` if there is only white space.
fn to_attachment(bytes: Vec<u8>) -> Result<Option<QueryAttachment>, CommandError> {
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    let mut attachment = attachment::from_bytes(Path::new(ATTACHMENT_NAME), bytes)?;
    if attachment.base64.is_none() {
        attachment.media_type = guess_media_type(&attachment.text).to_owned();
    }
    Ok(Some(attachment))
}

/// Returns the likely media type of a text without a file name.
fn guess_media_type(text: &str) -> &'static str {
    // Some programs write a byte order mark before the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let may_be_json = text.trim_start().starts_with(['{', '[']);
    if may_be_json && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        return "application/json";
    }
    match [',', ';', '\t']
        .into_iter()
        .find(|separator| is_table(text, *separator))
    {
        Some('\t') => "text/tab-separated-values",
        Some(_) => "text/csv",
        None => "text/plain",
    }
}

/// Returns whether a text has several lines, and its first lines all have the same number of fields, at least two.
fn is_table(text: &str, separator: char) -> bool {
    // Separators between quotation marks do not count.
    let count_separators = |line: &str| -> usize {
        let outside_quotes = line.split('"').step_by(2);
        outside_quotes.map(|part| part.matches(separator).count()).sum()
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty()).take(TABLE_LINES);
    let counts: Vec<_> = lines.map(count_separators).collect();
    counts.len() > 1 && counts.iter().all(|count| *count > 0 && Some(count) == counts.first())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_media_type_is_guessed_from_the_text() {
        for (text, expected) in [
            ("{\"a\": [1]}", "application/json"),
            ("\u{feff}{\"a\": [1]}", "application/json"),
            ("{not json}\n{at all}", "text/plain"),
            ("region,total\nNorth,1\n", "text/csv"),
            ("region;total\nNorth;1,5\n", "text/csv"),
            ("region\ttotal\nNorth\t1\n", "text/tab-separated-values"),
            ("name,said\nAda,\"a, b\"\n", "text/csv"),
            ("Dear reader,\nhow are you?\n", "text/plain"),
            ("Well, yes.\nNo, no.\nI see.\n", "text/plain"),
            ("one, two", "text/plain"),
        ] {
            assert_eq!(guess_media_type(text), expected, "{text}");
        }
    }
}
