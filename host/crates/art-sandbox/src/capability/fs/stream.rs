//! Streams over open files. They never wait: a regular file is always ready, and each operation is done when it returns.

use std::sync::Arc;

use bytes::Bytes;
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

use super::bindings::types::ErrorCode;
use super::descriptor::{MAX_TRANSFER_BYTES, OpenFile};

/// The error of a failed stream operation. The guest gets its code with `filesystem-error-code`.
#[derive(Debug, thiserror::Error)]
#[error("the file cannot be used: {}", .0.name())]
pub(crate) struct StreamFault(pub(crate) ErrorCode);

fn stream_error(code: ErrorCode) -> StreamError {
    StreamError::LastOperationFailed(StreamFault(code).into())
}

/// Reads a file from a position to its end.
pub(super) struct FileReader {
    file: Arc<OpenFile>,
    position: u64,
}

impl FileReader {
    pub(super) fn new(file: Arc<OpenFile>, position: u64) -> Self {
        Self { file, position }
    }
}

impl InputStream for FileReader {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size == 0 {
            return Ok(Bytes::new());
        }
        let read = self.file.read(size as u64, self.position).map_err(stream_error)?;
        if read.is_empty() {
            return Err(StreamError::Closed);
        }
        self.position = self.position.saturating_add(read.len() as u64);
        Ok(read.into())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for FileReader {
    async fn ready(&mut self) {}
}

/// Writes to a file.
pub(super) struct FileWriter {
    file: Arc<OpenFile>,
    /// Where the next bytes go; `None` if each write goes to the end of the file.
    position: Option<u64>,
}

impl FileWriter {
    pub(super) fn new(file: Arc<OpenFile>, position: Option<u64>) -> Self {
        Self { file, position }
    }
}

impl OutputStream for FileWriter {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        if bytes.len() > MAX_TRANSFER_BYTES {
            return Err(StreamError::trap(
                "more bytes were written to a file than `check-write` allows",
            ));
        }
        match &mut self.position {
            Some(position) => {
                self.file.write(&bytes, *position).map_err(stream_error)?;
                *position = position.saturating_add(bytes.len() as u64);
            }
            None => self.file.append(&bytes).map_err(stream_error)?,
        }
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    /// Returns the maximum even if less of the quota remains. A write that exceeds the quota fails with `insufficient-space`.
    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(MAX_TRANSFER_BYTES)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for FileWriter {
    async fn ready(&mut self) {}
}
