//! The log, stdout and stderr of a call. They are bounded, and separate from the output of the host.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use art_core::limits::Limits;
use art_core::outcome::{CallLog, LogLevel, LogRecord};
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

/// The stdout or stderr of a guest. Stores the beginning and drops the rest without an error, so that a tool which
/// writes a lot neither fills the memory of the host nor fails.
#[derive(Clone, Debug)]
pub(crate) struct CapturedOutput {
    shared: Arc<SharedOutput>,
    /// Maximum number of bytes that are stored.
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct SharedOutput {
    stored: Mutex<Vec<u8>>,
    /// Number of bytes written, including those dropped.
    written: AtomicU64,
}

impl CapturedOutput {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            shared: Arc::default(),
            max_bytes,
        }
    }

    /// Returns the stored beginning of the output.
    pub(crate) fn text(&self) -> String {
        match self.shared.stored.lock() {
            Ok(stored) => String::from_utf8_lossy(&stored).into_owned(),
            Err(_) => String::new(),
        }
    }

    /// Returns the number of bytes written, including those dropped.
    pub(crate) fn written(&self) -> u64 {
        self.shared.written.load(Ordering::Relaxed)
    }

    fn capture(&self, bytes: &[u8]) {
        self.shared.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if let Ok(mut stored) = self.shared.stored.lock() {
            let fitting = self.max_bytes.saturating_sub(stored.len()).min(bytes.len());
            stored.extend_from_slice(bytes.get(..fitting).unwrap_or_default());
        }
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
        let mut output = CapturedOutput::new(4);
        output.write(Bytes::from_static(b"abcdef")).unwrap();
        output.write(Bytes::from_static(b"gh")).unwrap();
        assert_eq!((output.text().as_str(), output.written()), ("abcd", 8));
    }
}
