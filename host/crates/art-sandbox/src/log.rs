//! The log, stdout and stderr of a call. They are bounded, and separate from the output of the host.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use art_core::limits::Limits;
use art_core::outcome::{CallLog, LogLevel, LogRecord};
use art_core::secret::{RedactedStream, Redactor};
use art_core::text::byte_prefix;
use bytes::Bytes;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// Maximum number of bytes in one write of the guest.
const MAX_WRITE_BYTES: usize = 64 << 10;

/// The log lines of one call, within its limits.
#[derive(Debug)]
pub(crate) struct LogBuffer {
    records: Vec<LogRecord>,
    /// Number of lines that were dropped.
    dropped: u64,
    records_left: u32,
    bytes_left: usize,
    max_record_bytes: usize,
}

impl LogBuffer {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            records: Vec::new(),
            dropped: 0,
            records_left: limits.log_records,
            bytes_left: limits.log_bytes as usize,
            max_record_bytes: limits.log_record_bytes as usize,
        }
    }

    /// Truncates the line to its limit and stores it, or drops and counts it when the limits of the call are reached.
    pub(crate) fn push(&mut self, level: LogLevel, message: &str) {
        let truncated = byte_prefix(message, self.max_record_bytes);
        if self.records_left == 0 || truncated.len() > self.bytes_left {
            self.dropped += 1;
            return;
        }
        self.records_left -= 1;
        self.bytes_left -= truncated.len();
        self.records.push(LogRecord {
            level,
            message: truncated.to_owned(),
        });
    }

    /// Returns the log of the call, with the given texts of its stdout and stderr, and clears the lines.
    pub(crate) fn finish(&mut self, stdout: String, stderr: String) -> CallLog {
        CallLog {
            records: std::mem::take(&mut self.records),
            dropped: self.dropped,
            stdout,
            stderr,
        }
    }
}

/// The stdout or stderr of a guest. Stores the beginning and the end, and drops what is between without an error, so that a tool
/// which writes a lot neither fills the memory of the host nor fails. The end is what tells why a tool broke off.
#[derive(Clone, Debug)]
pub(crate) struct CapturedOutput {
    shared: Arc<SharedOutput>,
}

#[derive(Debug)]
struct SharedOutput {
    excerpt: Mutex<Excerpt>,
    /// Number of bytes written, including those dropped.
    written: AtomicU64,
}

/// The beginning and the end of an output, redacted.
#[derive(Debug)]
struct Excerpt {
    /// Replaces the secrets before anything is cut: a part of a secret would not be found.
    redacted: RedactedStream,
    beginning: Vec<u8>,
    end: VecDeque<u8>,
    max_beginning: usize,
    max_end: usize,
    /// Number of bytes that were dropped between the beginning and the end.
    dropped: u64,
}

impl CapturedOutput {
    /// Creates an output of which at most `max_bytes` bytes are stored, without the secrets that `redactor` knows.
    pub(crate) fn new(max_bytes: usize, redactor: &Redactor) -> Self {
        let excerpt = Excerpt {
            redacted: RedactedStream::new(redactor.clone()),
            beginning: Vec::new(),
            end: VecDeque::new(),
            max_beginning: max_bytes / 2,
            max_end: max_bytes - max_bytes / 2,
            dropped: 0,
        };
        Self {
            shared: Arc::new(SharedOutput {
                excerpt: Mutex::new(excerpt),
                written: AtomicU64::new(0),
            }),
        }
    }

    /// Returns the beginning and the end of the output, which is complete.
    pub(crate) fn finish(&self) -> String {
        self.excerpt().finish()
    }

    /// Returns the number of bytes written, including those dropped.
    pub(crate) fn written(&self) -> u64 {
        self.shared.written.load(Ordering::Relaxed)
    }

    /// Returns the name of the first canary in the output so far.
    pub(crate) fn canary(&self) -> Option<String> {
        self.excerpt().redacted.canary().map(str::to_owned)
    }

    fn capture(&self, bytes: &[u8]) {
        self.shared.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let mut excerpt = self.excerpt();
        let clean = excerpt.redacted.push(bytes);
        excerpt.store(&clean);
    }

    fn excerpt(&self) -> MutexGuard<'_, Excerpt> {
        self.shared.excerpt.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Excerpt {
    fn store(&mut self, bytes: &[u8]) {
        let fitting = self.max_beginning.saturating_sub(self.beginning.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(fitting);
        self.beginning.extend_from_slice(first);
        let excess = (self.end.len() + rest.len()).saturating_sub(self.max_end);
        self.dropped += excess as u64;
        let from_end = excess.min(self.end.len());
        self.end.drain(..from_end);
        self.end.extend(rest.iter().skip(excess - from_end));
    }

    fn finish(&mut self) -> String {
        let rest = self.redacted.finish();
        self.store(&rest);
        let end: Vec<u8> = std::mem::take(&mut self.end).into();
        let beginning = std::mem::take(&mut self.beginning);
        if self.dropped == 0 {
            return String::from_utf8_lossy(&[beginning, end].concat()).into_owned();
        }
        let (beginning, end) = (String::from_utf8_lossy(&beginning), String::from_utf8_lossy(&end));
        format!("{beginning}\n[{} bytes are left out]\n{end}", self.dropped)
    }
}

impl IsTerminal for CapturedOutput {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for CapturedOutput {
    // Only the interfaces of WASI preview 3 write to this stream, and a guest has none of them.
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for CapturedOutput {
    async fn ready(&mut self) {}
}

#[wasmtime_wasi::async_trait]
impl OutputStream for CapturedOutput {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.capture(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(MAX_WRITE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use art_core::secret::{Secret, Secrets};

    use super::*;

    #[test]
    fn lines_over_the_limit_are_counted_but_not_stored() {
        // Each letter of the line takes two bytes in UTF-8, so only the first fits.
        let limits = Limits {
            log_records: 2,
            log_record_bytes: 3,
            ..Limits::EXECUTE
        };
        let mut log = LogBuffer::new(&limits);
        for _ in 0..5 {
            log.push(LogLevel::Info, "äöü");
        }
        let log = log.finish(String::new(), String::new());
        assert_eq!((log.records.len(), log.dropped), (2, 3));
        assert_eq!(log.records[0].message, "ä");
    }

    #[test]
    fn output_over_the_limit_is_counted_but_not_stored() {
        for (parts, expected) in [
            (&["abc", "d"][..], "abcd"),
            (&["abcdef", "gh"], "ab\n[4 bytes are left out]\ngh"),
            (&["a", "bcdefgh"], "ab\n[4 bytes are left out]\ngh"),
            (&["abcd", "e", "f"], "ab\n[2 bytes are left out]\nef"),
        ] {
            let mut output = CapturedOutput::new(4, &Redactor::default());
            for part in parts {
                output.write(Bytes::from_static(part.as_bytes())).unwrap();
            }
            let written: usize = parts.iter().map(|part| part.len()).sum();
            assert_eq!((output.finish().as_str(), output.written()), (expected, written as u64));
        }
    }

    #[test]
    fn a_secret_that_reaches_beyond_the_limit_is_replaced_as_a_whole() {
        let secret = Secret::new("A", &"hunter2hunter2".into(), true).unwrap();
        let secrets = Secrets::new(vec![secret]).unwrap();
        for padding in 0..40 {
            let mut output = CapturedOutput::new(20, secrets.redactor());
            let text = format!("{}hunter2hunter2{}", "x".repeat(padding), "y".repeat(40 - padding));
            let (first, second) = text.split_at(padding + 3);
            for part in [first, second] {
                output.write(Bytes::copy_from_slice(part.as_bytes())).unwrap();
            }
            assert!(!output.finish().contains("hunt"), "{padding}");
            assert_eq!(output.canary().as_deref(), Some("A"));
        }
    }
}
