//! The functions of `wasi:io/streams`. The results of streams of files and requests are recorded, so that a replay of the call
//! can return them again. Those of the standard streams are not, because they depend on nothing outside of the sandbox.

use art_core::intake::{Answer, Body, CrossingKind, StreamAnswer};
use art_core::text::byte_prefix;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::io::streams::{self, HostInputStream, HostOutputStream};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, DynPollable, StreamError, StreamResult};

use crate::capability::fs::{StreamFault, error_code_named};
use crate::state::CallState;

type Input = Resource<DynInputStream>;
type Output = Resource<DynOutputStream>;

/// Maximum number of bytes of one blocking write, as `wasi:io` defines it.
const MAX_BLOCKING_BYTES: u64 = 4096;

/// The error of a stream operation in a replay, if the record has only the text of the error.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct RecordedError(String);

/// The value that a successful operation on a stream returns.
trait StreamValue: Sized {
    /// Returns the form in which the value is recorded.
    fn answer(&self) -> StreamAnswer;

    /// Returns the recorded value, or `None` if the answer is that of another operation.
    fn from_answer(answer: StreamAnswer) -> Option<Self>;
}

impl StreamValue for () {
    fn answer(&self) -> StreamAnswer {
        StreamAnswer::Done
    }

    fn from_answer(answer: StreamAnswer) -> Option<Self> {
        (answer == StreamAnswer::Done).then_some(())
    }
}

impl StreamValue for u64 {
    fn answer(&self) -> StreamAnswer {
        StreamAnswer::Bytes(*self)
    }

    fn from_answer(answer: StreamAnswer) -> Option<Self> {
        match answer {
            StreamAnswer::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

impl StreamValue for Vec<u8> {
    fn answer(&self) -> StreamAnswer {
        StreamAnswer::Read(Body(self.clone()))
    }

    fn from_answer(answer: StreamAnswer) -> Option<Self> {
        match answer {
            StreamAnswer::Read(Body(bytes)) => Some(bytes),
            _ => None,
        }
    }
}

impl CallState {
    /// Returns whether the stream with this number in the table leads to a file or to a request.
    fn leads_outside(&self, number: u32) -> bool {
        !self.standard_streams.contains(&number)
    }

    /// Returns the next result of the record, for an operation on a stream. `None` if the operation has to be carried out,
    /// because the call is not a replay or the stream is a standard stream.
    fn next_recorded_result<T: StreamValue>(&mut self, number: u32) -> Option<StreamResult<T>> {
        if !self.leads_outside(number) {
            return None;
        }
        match self.outside.next_recorded(CrossingKind::Stream).transpose()? {
            Ok(recorded) => {
                // A replay makes a record of its own.
                self.outside.record(recorded.clone());
                let unfit_answer_error = |state: &mut Self| {
                    Err(StreamError::Trap(
                        state.outside.unfit_answer_error(CrossingKind::Stream),
                    ))
                };
                Some(parse_result(recorded).unwrap_or_else(|| unfit_answer_error(self)))
            }
            Err(divergence) => Some(Err(StreamError::Trap(divergence))),
        }
    }

    /// Records the result of an operation on a stream that was carried out.
    fn record_result<T: StreamValue>(&mut self, number: u32, result: &StreamResult<T>) {
        if !self.leads_outside(number) {
            return;
        }
        let answer = match result {
            Ok(value) => value.answer(),
            Err(StreamError::Closed) => StreamAnswer::Closed,
            Err(StreamError::LastOperationFailed(error)) => {
                let code = error
                    .downcast_ref::<StreamFault>()
                    .map(|fault| fault.0.name().to_owned());
                StreamAnswer::Failed(format!("{error:?}"), code)
            }
            Err(StreamError::Trap(_)) => return,
        };
        self.outside.record(Answer::Stream(answer));
    }

    /// Counts the bytes that pass through a stream. Those of the standard streams are counted where they are captured.
    fn count_streamed(&mut self, number: u32, bytes: u64) {
        if self.leads_outside(number) {
            self.meter.count_bytes(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
    }

    /// Waits until a stream can be written to, and returns how many bytes it accepts.
    async fn wait_for_room(&mut self, stream: Output) -> StreamResult<u64> {
        let room = self.table.get_mut(&stream)?.write_ready().await?;
        Ok(room as u64)
    }

    /// Counts the zeroes only if the stream accepted them, because a guest may ask for any number of them.
    fn count_zeroes(&mut self, number: u32, length: u64, result: &StreamResult<()>) {
        if result.is_ok() {
            self.count_streamed(number, length);
        }
    }

    fn count_read(&mut self, number: u32, result: &StreamResult<Vec<u8>>) {
        self.count_streamed(number, result.as_ref().map_or(0, |bytes| bytes.len() as u64));
    }

    fn count_skipped(&mut self, number: u32, result: &StreamResult<u64>) {
        self.count_streamed(number, *result.as_ref().unwrap_or(&0));
    }
}

/// Maximum length of the text of a recorded error, in bytes. The guest can keep many of them, and those of the host are short.
const MAX_ERROR_BYTES: usize = 1024;

/// Returns the recorded result, or `None` if the answer is that of another operation.
fn parse_result<T: StreamValue>(recorded: Answer) -> Option<StreamResult<T>> {
    let Answer::Stream(answer) = recorded else {
        return None;
    };
    match answer {
        StreamAnswer::Closed => Some(Err(StreamError::Closed)),
        StreamAnswer::Failed(text, code) => {
            let code = code.as_deref().and_then(error_code_named);
            let error = match code {
                Some(code) => StreamFault(code).into(),
                None => RecordedError(byte_prefix(&text, MAX_ERROR_BYTES).to_owned()).into(),
            };
            Some(Err(StreamError::LastOperationFailed(error)))
        }
        answer => T::from_answer(answer).map(Ok),
    }
}

/// Carries out an operation on a stream and records its result, or returns the recorded result in a replay.
macro_rules! run_recorded {
    ($state:ident, $stream:ident, $operation:expr) => {{
        let number = $stream.rep();
        match $state.next_recorded_result(number) {
            Some(recorded) => recorded,
            None => {
                let result = $operation;
                $state.record_result(number, &result);
                result
            }
        }
    }};
}

impl streams::Host for CallState {
    fn convert_stream_error(&mut self, error: StreamError) -> wasmtime::Result<streams::StreamError> {
        self.table.convert_stream_error(error)
    }
}

impl HostInputStream for CallState {
    fn read(&mut self, stream: Input, length: u64) -> StreamResult<Vec<u8>> {
        let number = stream.rep();
        let result = run_recorded!(self, stream, HostInputStream::read(&mut self.table, stream, length));
        self.count_read(number, &result);
        result
    }

    async fn blocking_read(&mut self, stream: Input, length: u64) -> StreamResult<Vec<u8>> {
        let number = stream.rep();
        let result = run_recorded!(self, stream, self.table.blocking_read(stream, length).await);
        self.count_read(number, &result);
        result
    }

    fn skip(&mut self, stream: Input, length: u64) -> StreamResult<u64> {
        let number = stream.rep();
        let result = run_recorded!(self, stream, self.table.skip(stream, length));
        self.count_skipped(number, &result);
        result
    }

    async fn blocking_skip(&mut self, stream: Input, length: u64) -> StreamResult<u64> {
        let number = stream.rep();
        let result = run_recorded!(self, stream, self.table.blocking_skip(stream, length).await);
        self.count_skipped(number, &result);
        result
    }

    fn subscribe(&mut self, stream: Input) -> wasmtime::Result<Resource<DynPollable>> {
        HostInputStream::subscribe(&mut self.table, stream)
    }

    async fn drop(&mut self, stream: Input) -> wasmtime::Result<()> {
        self.standard_streams.remove(&stream.rep());
        HostInputStream::drop(&mut self.table, stream).await
    }
}

impl HostOutputStream for CallState {
    fn check_write(&mut self, stream: Output) -> StreamResult<u64> {
        run_recorded!(self, stream, self.table.check_write(stream))
    }

    fn write(&mut self, stream: Output, bytes: Vec<u8>) -> StreamResult<()> {
        self.count_streamed(stream.rep(), bytes.len() as u64);
        run_recorded!(self, stream, HostOutputStream::write(&mut self.table, stream, bytes))
    }

    async fn blocking_write_and_flush(&mut self, stream: Output, bytes: Vec<u8>) -> StreamResult<()> {
        self.count_streamed(stream.rep(), bytes.len() as u64);
        run_recorded!(self, stream, self.table.blocking_write_and_flush(stream, bytes).await)
    }

    fn flush(&mut self, stream: Output) -> StreamResult<()> {
        run_recorded!(self, stream, self.table.flush(stream))
    }

    async fn blocking_flush(&mut self, stream: Output) -> StreamResult<()> {
        run_recorded!(self, stream, self.table.blocking_flush(stream).await)
    }

    fn write_zeroes(&mut self, stream: Output, length: u64) -> StreamResult<()> {
        let number = stream.rep();
        let result = run_recorded!(self, stream, self.table.write_zeroes(stream, length));
        self.count_zeroes(number, length, &result);
        result
    }

    async fn blocking_write_zeroes_and_flush(&mut self, stream: Output, length: u64) -> StreamResult<()> {
        let number = stream.rep();
        let result = run_recorded!(
            self,
            stream,
            self.table.blocking_write_zeroes_and_flush(stream, length).await
        );
        self.count_zeroes(number, length, &result);
        result
    }

    // Copies with the functions above, which record their results. The `splice` of `ResourceTable` would record nothing.
    fn splice(&mut self, destination: Output, source: Input, length: u64) -> StreamResult<u64> {
        let room = self.check_write(Resource::new_borrow(destination.rep()))?;
        let bytes = match length.min(room) {
            0 => Vec::new(),
            length => HostInputStream::read(self, source, length)?,
        };
        let copied = bytes.len() as u64;
        if copied > 0 {
            HostOutputStream::write(self, destination, bytes)?;
        }
        Ok(copied)
    }

    async fn blocking_splice(&mut self, destination: Output, source: Input, length: u64) -> StreamResult<u64> {
        let borrowed = Resource::new_borrow(destination.rep());
        let room = run_recorded!(self, destination, self.wait_for_room(borrowed).await)?;
        let bytes = match length.min(room).min(MAX_BLOCKING_BYTES) {
            0 => Vec::new(),
            length => self.blocking_read(source, length).await?,
        };
        let copied = bytes.len() as u64;
        if copied > 0 {
            self.blocking_write_and_flush(destination, bytes).await?;
        }
        Ok(copied)
    }

    fn subscribe(&mut self, stream: Output) -> wasmtime::Result<Resource<DynPollable>> {
        HostOutputStream::subscribe(&mut self.table, stream)
    }

    async fn drop(&mut self, stream: Output) -> wasmtime::Result<()> {
        self.standard_streams.remove(&stream.rep());
        HostOutputStream::drop(&mut self.table, stream).await
    }
}
