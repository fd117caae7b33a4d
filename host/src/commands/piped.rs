//! Text that is piped to a question: `art run "What is the longest word?" < story.txt`.
//!
//! Without `--attach`, `art run` reads a file, a pipe or a socket at stdin. It ignores terminals and other devices,
//! such as `/dev/null`; files that were partly read, as in a loop of a shell over their lines; and pipes without a
//! writer, as services and other programs leave open.

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

/// How an attachment of stdin is called, by people and by models.
const NAME: &str = "stdin";
/// How long a pipe may stay silent before it counts as one without a writer.
const PATIENCE: Duration = Duration::from_secs(3);
/// Lines that tell whether a text is a table.
const LOOKED_AT: usize = 20;
/// Bytes that are read at a time.
const PIECE: usize = 64 << 10;

/// Reads stdin to its end, however long that takes.
///
/// # Errors
/// Fails if there is nothing, or nothing that can be attached.
pub(super) fn all() -> Result<QueryAttachment, CommandError> {
    if stdin().is_terminal() {
        render::note("reading stdin; Ctrl-D ends it");
    }
    let bytes = read(None)?.unwrap_or_default();
    match attached(bytes)? {
        Some(attachment) => Ok(attachment),
        None => Err(CommandError::Usage(
            "`--attach -` reads stdin, and it is empty".to_owned(),
        )),
    }
}

/// Returns what stdin holds, when it was meant for this question.
///
/// # Errors
/// Fails if it does not end, or cannot be attached.
pub(super) fn what_is_there() -> Result<Option<QueryAttachment>, CommandError> {
    if !is_for_us() {
        return Ok(None);
    }
    match read(Some(PATIENCE))? {
        Some(bytes) => attached(bytes),
        None => {
            let waited = PATIENCE.as_secs();
            render::note(&format!(
                "stdin is a pipe that gave nothing in {waited} s, so it was not read (hint: `--attach -` waits for it, `< \
                 /dev/null` does not)"
            ));
            Ok(None)
        }
    }
}

fn is_for_us() -> bool {
    let kind = fstat(stdin()).map(|stat| FileType::from_raw_mode(stat.st_mode));
    match kind {
        Ok(FileType::Fifo | FileType::Socket) => true,
        Ok(FileType::RegularFile) => seek(stdin(), SeekFrom::Current(0)) == Ok(0),
        _ => false,
    }
}

/// Reads to the end, or past what can be attached. Returns `None` if nothing came within `max_wait`.
fn read(max_wait: Option<Duration>) -> Result<Option<Vec<u8>>, CommandError> {
    let mut bytes = Vec::new();
    let mut piece = vec![0; PIECE];
    while bytes.len() <= MAX_BYTES {
        if max_wait.is_some_and(|max_wait| !is_ready(max_wait)) {
            return if bytes.is_empty() { Ok(None) } else { Err(endless()) };
        }
        let read = stdin()
            .lock()
            .read(&mut piece)
            .map_err(CommandError::file("read", NAME))?;
        match piece.get(..read) {
            None | Some([]) => break,
            Some(more) => bytes.extend_from_slice(more),
        }
    }
    Ok(Some(bytes))
}

/// Returns whether something can be read from stdin within the time; its end can be, and an error.
fn is_ready(within: Duration) -> bool {
    let stdin = stdin();
    let within = Timespec::try_from(within).ok();
    let polled = retry_on_intr(|| poll(&mut [PollFd::new(&stdin, PollFlags::IN)], within.as_ref()));
    polled.is_ok_and(|ready| ready > 0)
}

fn endless() -> CommandError {
    let waited = PATIENCE.as_secs();
    CommandError::Usage(format!(
        "stdin began and then gave nothing for {waited} s (hint: `--attach -` waits for its end, `< /dev/null` takes nothing)"
    ))
}

/// Returns the attachment; none if there is only white space.
fn attached(bytes: Vec<u8>) -> Result<Option<QueryAttachment>, CommandError> {
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    let mut attachment = attachment::of_bytes(Path::new(NAME), bytes)?;
    if attachment.base64.is_none() {
        attachment.media_type = media_type(&attachment.text).to_owned();
    }
    Ok(Some(attachment))
}

/// Returns the likely type of a text without a name.
fn media_type(text: &str) -> &'static str {
    let begins_as_json = text.trim_start().starts_with(['{', '[']);
    if begins_as_json && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() {
        return "application/json";
    }
    match [',', ';', '\t'].into_iter().find(|sign| is_table(text, *sign)) {
        Some('\t') => "text/tab-separated-values",
        Some(_) => "text/csv",
        None => "text/plain",
    }
}

/// Returns whether the first lines have as many fields as the header.
fn is_table(text: &str, separator: char) -> bool {
    // Text between quotation marks has no separators.
    let separators = |line: &str| -> usize {
        let outside = line.split('"').step_by(2);
        outside.map(|part| part.matches(separator).count()).sum()
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty()).take(LOOKED_AT);
    let counts: Vec<_> = lines.map(separators).collect();
    counts.len() > 1 && counts.iter().all(|count| *count > 0 && Some(count) == counts.first())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_text_is_told_from_how_it_begins() {
        for (text, expected) in [
            ("{\"a\": [1]}", "application/json"),
            ("{not json}\n{at all}", "text/plain"),
            ("region,total\nNorth,1\n", "text/csv"),
            ("region;total\nNorth;1,5\n", "text/csv"),
            ("region\ttotal\nNorth\t1\n", "text/tab-separated-values"),
            ("name,said\nAda,\"a, b\"\n", "text/csv"),
            ("Dear reader,\nhow are you?\n", "text/plain"),
            ("Well, yes.\nNo, no.\nI see.\n", "text/plain"),
            ("one, two", "text/plain"),
        ] {
            assert_eq!(media_type(text), expected, "{text}");
        }
    }
}
