//! Log and output streams of a call: bounded, and never mixed with the host's own output.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use art_core::limits::Limits;
use art_core::outcome::{CallLog, LogLevel, LogRecord};
use art_core::text::byte_prefix;
use bytes::Bytes;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// Bytes that the guest may write at once.
const WRITE_WINDOW: usize = 64 << 10;

/// Log lines of one call, within the limits of the call.
#[derive(Debug)]
pub(crate) struct LogBuffer {
    records: Vec<LogRecord>,
    dropped: u64,
    records_left: u32,
    bytes_left: usize,
    record_bytes: usize,
}

impl LogBuffer {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            records: Vec::new(),
            dropped: 0,
            records_left: limits.log_records,
            bytes_left: limits.log_bytes as usize,
            record_bytes: limits.log_record_bytes as usize,
        }
    }

    /// Keeps the line, cut to its limit, or counts it when the budget is spent.
    pub(crate) fn push(&mut self, level: LogLevel, message: &str) {
        let kept = byte_prefix(message, self.record_bytes);
        if self.records_left == 0 || kept.len() > self.bytes_left {
            self.dropped += 1;
            return;
        }
        self.records_left -= 1;
        self.bytes_left -= kept.len();
        self.records.push(LogRecord {
            level,
            message: kept.to_owned(),
        });
    }

    pub(crate) fn finish(&mut self, stdout: String, stderr: String) -> CallLog {
        CallLog {
            records: std::mem::take(&mut self.records),
            dropped: self.dropped,
            stdout,
            stderr,
        }
    }
}

/// The guest's standard output or error: keeps the beginning and drops the rest, so that a flood neither fills the host
/// nor fails the tool.
#[derive(Clone, Debug)]
pub(crate) struct CapturedOutput {
    captured: Arc<Captured>,
    limit: usize,
}

#[derive(Debug, Default)]
struct Captured {
    kept: Mutex<Vec<u8>>,
    /// Bytes, kept or not.
    written: AtomicU64,
}

impl CapturedOutput {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            captured: Arc::default(),
            limit,
        }
    }

    pub(crate) fn text(&self) -> String {
        match self.captured.kept.lock() {
            Ok(kept) => String::from_utf8_lossy(&kept).into_owned(),
            Err(_) => String::new(),
        }
    }

    /// Returns bytes that the guest wrote, kept or not.
    pub(crate) fn written(&self) -> u64 {
        self.captured.written.load(Ordering::Relaxed)
    }

    fn keep(&self, bytes: &[u8]) {
        self.captured.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if let Ok(mut kept) = self.captured.kept.lock() {
            let room = self.limit.saturating_sub(kept.len()).min(bytes.len());
            kept.extend_from_slice(bytes.get(..room).unwrap_or_default());
        }
    }
}

impl IsTerminal for CapturedOutput {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for CapturedOutput {
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
        self.keep(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_WINDOW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_past_the_budget_are_counted_not_kept() {
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
    fn output_past_the_limit_is_swallowed() {
        let mut output = CapturedOutput::new(4);
        output.write(Bytes::from_static(b"abcdef")).unwrap();
        output.write(Bytes::from_static(b"gh")).unwrap();
        assert_eq!((output.text().as_str(), output.written()), ("abcd", 8));
    }
}
