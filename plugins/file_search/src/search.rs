//! Searches files for a text, and collects the lines with a match.

use std::fs;
use std::io;
use std::path::Path;

use art_sdk::files;
use art_sdk::prelude::*;
use grep_matcher::{LineTerminator, Matcher as _};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch};

use crate::input::FileSearchInput;
use crate::output::{FileSearchOutput, MatchingFile, MatchingLine};
use crate::walk::{self, MAX_FILES};

/// Maximum length of a line in the output, in characters.
const MAX_LINE_CHARS: usize = 400;
/// Maximum number of characters before the match of a line of which only a part is in the output.
const MAX_CHARS_BEFORE_MATCH: usize = 100;
/// Size of the output after which no further file is searched, in bytes.
const MAX_OUTPUT_BYTES: usize = 256 << 10;
/// Maximum memory of a compiled pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;
/// Maximum size of the buffer through which a file is read, in bytes. A longer line cannot be searched.
const MAX_BUFFER_BYTES: usize = 8 << 20;

/// Searches the files that `input` names.
pub(crate) fn run(input: &FileSearchInput, ctx: &Context) -> Result<FileSearchOutput> {
    if input.text.is_empty() {
        return Err(ToolError::validation("`text` is empty: say what to find"));
    }
    fs::metadata(&input.path).map_err(|error| files::explain(&input.path, &error))?;
    let mut search = Search::new(input)?;
    let unreadable = walk::for_each_file(input, |path| {
        if search.output.searched.is_multiple_of(100) {
            ctx.progress("searching", json!({"files": search.output.searched}));
        }
        // `true` continues with the next file.
        Ok(!ctx.cancelled() && search.search_file(path))
    })?;
    Ok(search.finish(unreadable))
}

/// A search in progress.
struct Search<'a> {
    input: &'a FileSearchInput,
    matcher: RegexMatcher,
    searcher: Searcher,
    output: FileSearchOutput,
    /// Size of the paths and the lines found so far, in bytes.
    size: usize,
    /// Number of files that were not searched to their end, because they are binary.
    binary_files: usize,
    /// Number of files that could not be read, or have a line that is too long.
    failed_files: usize,
}

impl<'a> Search<'a> {
    fn new(input: &'a FileSearchInput) -> Result<Self> {
        let mut builder = RegexMatcherBuilder::new();
        builder
            .word(input.whole_words)
            .fixed_strings(!input.pattern)
            // `^` and `$` match at each line, which ends with `\n` or `\r\n`.
            .multi_line(true)
            .crlf(true)
            .size_limit(MAX_PATTERN_BYTES)
            .dfa_size_limit(MAX_PATTERN_BYTES);
        match input.case_sensitive {
            Some(is_sensitive) => builder.case_insensitive(!is_sensitive),
            None => builder.case_smart(true),
        };
        let matcher = builder.build(&input.text).map_err(|error| {
            ToolError::validation(format_args!(
                "`text` is no regular expression: {error}; to find it as it is, leave out `pattern`"
            ))
        })?;
        let context = if input.files_only { 0 } else { input.context.min(10) };
        let searcher = SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MAX_BUFFER_BYTES))
            .before_context(context)
            .after_context(context)
            .build();
        Ok(Self {
            input,
            matcher,
            searcher,
            output: FileSearchOutput {
                matches: (!input.files_only).then(Vec::new),
                ..FileSearchOutput::default()
            },
            size: 0,
            binary_files: 0,
            failed_files: 0,
        })
    }

    /// Searches one file, unless a limit is reached. Returns whether to search further files.
    fn search_file(&mut self, path: &Path) -> bool {
        if self.is_full() || self.output.searched == MAX_FILES {
            self.output.truncated = true;
            return false;
        }
        let path_text = path.to_string_lossy().into_owned();
        let mut collector = Collector {
            path: &path_text,
            matcher: &self.matcher,
            lines: Vec::new(),
            before: Vec::new(),
            count: 0,
            max_lines: self.remaining_lines(),
            is_binary: false,
        };
        let result = self.searcher.search_path(&self.matcher, path, &mut collector);
        self.output.searched += 1;
        let Collector {
            lines,
            count,
            is_binary,
            ..
        } = collector;
        match result {
            Err(_) => self.failed_files += 1,
            Ok(()) if is_binary => self.binary_files += 1,
            Ok(()) if count > 0 => self.add_file(path_text, count, lines),
            Ok(()) => {}
        }
        true
    }

    /// Returns the maximum number of lines that the next file may add.
    fn remaining_lines(&self) -> usize {
        let used = self.output.matches.as_ref().map_or(0, Vec::len);
        if self.input.files_only {
            0
        } else {
            self.input.limit.saturating_sub(used)
        }
    }

    /// Returns whether the output has reached its maximum number of lines or files, or its maximum size.
    fn is_full(&self) -> bool {
        let is_at_limit = match &self.output.matches {
            Some(lines) => lines.len() >= self.input.limit,
            None => self.output.files.len() >= self.input.limit,
        };
        is_at_limit || self.size > MAX_OUTPUT_BYTES
    }

    /// Adds a file to the output. `count` of its lines match; `lines` are those that are returned.
    fn add_file(&mut self, path: String, count: u64, lines: Vec<MatchingLine>) {
        self.output.count += count;
        self.output.truncated |= !self.input.files_only && count > lines.len() as u64;
        self.size += path.len() + lines.iter().map(line_size).sum::<usize>();
        self.output.files.push(MatchingFile { path, count });
        if let Some(matches) = &mut self.output.matches {
            matches.extend(lines);
        }
    }

    /// Returns the output, with notes about what was left out. `unreadable` is the number of directory entries that could not be
    /// read.
    fn finish(mut self, unreadable: usize) -> FileSearchOutput {
        let failed = self.failed_files + unreadable;
        if self.binary_files > 0 {
            self.output
                .notes
                .push(format!("{} binary files were left out", self.binary_files));
        }
        if failed > 0 {
            let note = format!("{failed} files or directories could not be read, or have a line that is too long");
            self.output.notes.push(note);
        }
        if self.output.truncated {
            let note = "there is more: name a subdirectory, a `glob`, or a longer `text`";
            self.output.notes.push(note.to_owned());
        }
        self.output
    }
}

fn line_size(line: &MatchingLine) -> usize {
    let around = line.before.iter().chain(&line.after);
    line.path.len() + line.text.len() + around.map(String::len).sum::<usize>()
}

/// Collects the matches in one file.
struct Collector<'a> {
    path: &'a str,
    matcher: &'a RegexMatcher,
    lines: Vec<MatchingLine>,
    /// The lines of context that were read so far for the next match: they stand before it.
    before: Vec<String>,
    /// Number of matching lines in the file, including those that are not collected.
    count: u64,
    /// Maximum number of lines to collect.
    max_lines: usize,
    is_binary: bool,
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.count += 1;
        let before = std::mem::take(&mut self.before);
        if self.lines.len() < self.max_lines {
            self.lines.push(MatchingLine {
                path: self.path.to_owned(),
                line: found.line_number().unwrap_or_default(),
                text: to_text_around(found.bytes(), self.matcher),
                before,
                after: Vec::new(),
            });
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> io::Result<bool> {
        let is_below_limit = self.lines.len() < self.max_lines;
        let is_last_match_collected = self.lines.len() as u64 == self.count;
        match (found.kind(), self.lines.last_mut()) {
            (SinkContextKind::After, Some(line)) if is_last_match_collected => line.after.push(to_text(found.bytes())),
            (SinkContextKind::Before, _) if is_below_limit => self.before.push(to_text(found.bytes())),
            _ => {}
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(false)
    }
}

/// Returns a matching line as text, without its line ending. Of a long line, returns the part with the first match.
fn to_text_around(line: &[u8], matcher: &RegexMatcher) -> String {
    let found = matcher.find(line).ok().flatten();
    let Some((before, from_match)) = found.and_then(|found| line.split_at_checked(found.start())) else {
        return to_text(line);
    };
    let end = found.map_or(0, |found| found.end());
    let chars_until_end = String::from_utf8_lossy(line.get(..end).unwrap_or_default())
        .chars()
        .count();
    if chars_until_end <= MAX_LINE_CHARS {
        return to_text(line);
    }
    let before = String::from_utf8_lossy(before);
    let left_out = before.chars().count().saturating_sub(MAX_CHARS_BEFORE_MATCH);
    if left_out == 0 {
        return to_text(line);
    }
    let kept: String = before.chars().skip(left_out).collect();
    format!(".. {}", to_text([kept.as_bytes(), from_match].concat().as_slice()))
}

/// Returns a line as text, without its line ending, cut to the maximum length.
fn to_text(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches(['\n', '\r']);
    match text.char_indices().nth(MAX_LINE_CHARS) {
        Some((at, _)) => format!("{} ..", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
