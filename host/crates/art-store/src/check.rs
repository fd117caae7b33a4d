//! The checks and errors that the store in memory and the SQLite store share, so that both refuse the same requests. The
//! parameter `what` names the checked value in an error.

use std::io::{self, Write};

use art_core::conversation::ConversationMessage;
use art_core::json;
use art_core::observation::{NewObservation, ObservationType};
use art_core::text::prefix;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::blob::{self, Blob};
use crate::chain;
use crate::commit::{CheckedCommit, NewEvent};
use crate::error::StoreError;
use crate::lease::Lease;
use crate::limits::{
    MAX_JOURNAL_BYTES, MAX_JOURNAL_ENTRIES, MAX_JSON_DEPTH, MAX_LIST, MAX_NAME_BYTES, MAX_QUERY_CHARS,
    MAX_RUN_BLOB_BYTES, MAX_TIMESTAMP, MAX_VALUE_BYTES,
};
use crate::record::{CallRecord, NewRun, NewThread, RunRecord, RunState, WorkRecord};

/// Returns `value` as JSON text. Fails if the text exceeds the limits, so that every stored text can be parsed again.
pub(crate) fn encode<T: Serialize + ?Sized>(what: &'static str, id: &str, value: &T) -> Result<String, StoreError> {
    let mut text = BoundedBuffer::default();
    let depth = json::write(&mut text, value);
    // A value that is too large makes `json::write` fail too, so check for it before the other errors.
    if text.overflowed {
        return Err(too_large_error(what, id));
    }
    let encoding_error = |source| StoreError::Encode {
        what,
        id: truncate_id(id),
        source,
    };
    if depth.map_err(encoding_error)? > MAX_JSON_DEPTH {
        return Err(StoreError::TooDeep {
            what,
            id: truncate_id(id),
            maximum: MAX_JSON_DEPTH,
        });
    }
    String::from_utf8(text.bytes).map_err(|error| encoding_error(serde::ser::Error::custom(error)))
}

/// Parses JSON text that [`encode`] returned.
pub(crate) fn decode<T: DeserializeOwned>(what: &'static str, id: &str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|source| StoreError::Decode {
        what,
        id: truncate_id(id),
        source,
    })
}

/// Returns the maximum number of entries in a list: the number that the caller requested, but at most [`MAX_LIST`]. A caller that
/// requested no number, or 0, gets [`MAX_LIST`].
pub(crate) fn list_limit(requested: Option<usize>) -> usize {
    match requested {
        None | Some(0) => MAX_LIST,
        Some(limit) => limit.min(MAX_LIST),
    }
}

/// Returns the title of an observation: the name of its type and `Recorded` (contract C33).
pub(crate) fn observation_title(kind: ObservationType) -> String {
    format!("{} Recorded", kind.wire_name())
}

/// Refuses a name or an identifier that is empty or too long.
pub(crate) fn name(what: &'static str, value: &str) -> Result<(), StoreError> {
    let problem = if value.is_empty() {
        "is empty: give it at least one character"
    } else if value.len() > MAX_NAME_BYTES {
        "is too long: the maximum is 256 bytes"
    } else {
        return Ok(());
    };
    Err(StoreError::Invalid {
        what,
        value: truncate_id(value),
        problem,
    })
}

/// Refuses a `value` that is not `expected`. `problem` is the end of the error: what is wrong, and what to do.
pub(crate) fn same(what: &'static str, value: &str, expected: &str, problem: &'static str) -> Result<(), StoreError> {
    if value == expected {
        return Ok(());
    }
    Err(StoreError::Invalid {
        what,
        value: truncate_id(value),
        problem,
    })
}

/// Refuses events whose kinds are not valid names.
pub(crate) fn event_kinds(events: &[NewEvent]) -> Result<(), StoreError> {
    let mut kinds = events.iter().map(|event| &event.kind);
    kinds.try_for_each(|kind| name("kind of a journal entry", kind))
}

/// Refuses blobs if one of them is larger than [`MAX_VALUE_BYTES`]. Their total size is checked later, together with
/// the blobs that the run has already.
pub(crate) fn blobs(trace_id: &str, blobs: &[Blob]) -> Result<(), StoreError> {
    let mut blobs = blobs.iter();
    // Each blob gets the room of a run without blobs, so that only the size of the blob itself matters.
    blobs.try_for_each(|blob| blob::take_room(trace_id, MAX_RUN_BLOB_BYTES, blob.bytes()).map(drop))
}

/// Refuses calls if the digest of a tool is empty or too long.
pub(crate) fn calls(calls: &[CallRecord]) -> Result<(), StoreError> {
    let mut digests = calls.iter().map(|call| &call.tool_digest);
    digests.try_for_each(|digest| name("digest of a tool", digest))
}

/// Refuses work records if the name of a model is empty or too long.
pub(crate) fn work(records: &[WorkRecord]) -> Result<(), StoreError> {
    let mut models = records.iter().map(|record| &record.model);
    models.try_for_each(|model| name("model name", model))
}

fn optional_name(what: &'static str, value: Option<&str>) -> Result<(), StoreError> {
    value.map_or(Ok(()), |value| name(what, value))
}

/// Refuses a new thread if an identifier is empty or too long.
pub(crate) fn new_thread(new: &NewThread) -> Result<(), StoreError> {
    name("thread identifier", &new.id)?;
    optional_name("user identifier", new.user_id.as_deref())
}

/// Refuses messages if one names another thread than `thread_id`, or has an invalid identifier, a timestamp that is too late or a
/// content that is too large.
pub(crate) fn messages(thread_id: &str, messages: &[ConversationMessage]) -> Result<(), StoreError> {
    messages.iter().try_for_each(|message| {
        name("message identifier", &message.message_id)?;
        if message.thread_id != thread_id {
            return Err(StoreError::ForeignMessage {
                message_id: truncate_id(&message.message_id),
                actual: truncate_id(&message.thread_id),
                thread_id: truncate_id(thread_id),
            });
        }
        if message.timestamp > MAX_TIMESTAMP {
            return Err(StoreError::Invalid {
                what: "message timestamp",
                value: message.timestamp.to_string(),
                problem: "is too late: the maximum is 2^53 - 1 milliseconds",
            });
        }
        if message.content.len() > MAX_VALUE_BYTES {
            return Err(too_large_error("the content", &message.message_id));
        }
        Ok(())
    })
}

/// Refuses a new observation if an identifier is empty or too long.
pub(crate) fn new_observation(new: &NewObservation) -> Result<(), StoreError> {
    optional_name("run identifier", new.trace_id.as_deref())?;
    optional_name("parent identifier", new.parent_id.as_deref())
}

/// Refuses a new run if its identifier or the name of its model is empty or too long.
pub(crate) fn new_run(new: &NewRun) -> Result<(), StoreError> {
    name("run identifier", &new.trace_id)?;
    optional_name("model name", new.model.as_deref())
}

/// Returns the record of the run `new`, as it is when the run begins.
pub(crate) fn initial_run(new: &NewRun, now: u64) -> RunRecord {
    RunRecord {
        trace_id: new.trace_id.clone(),
        thread_id: new.thread_id.clone(),
        query: prefix(&new.query, MAX_QUERY_CHARS).to_owned(),
        status: RunState::Running,
        started: now,
        ended: None,
        model: new.model.clone(),
        summary: serde_json::Value::Null,
        last_sequence: 0,
        head: chain::initial_digest(&new.trace_id),
    }
}

/// Refuses a lease whose thread is not the thread of the run.
pub(crate) fn lease_is_for_thread_of(run: &RunRecord, lease: &Lease) -> Result<(), StoreError> {
    let problem = "is not for the thread of the run: use the lease of the run's thread";
    same("lease of thread", &lease.thread_id, &run.thread_id, problem)
}

/// Refuses to change a run that has ended.
pub(crate) fn not_ended(run: &RunRecord) -> Result<(), StoreError> {
    if run.status.is_final() {
        return Err(StoreError::RunEnded {
            trace_id: run.trace_id.clone(),
            status: run.status,
        });
    }
    Ok(())
}

/// Refuses to append the events of a commit to the journal of a run: if the run has ended, if the journal has another last
/// sequence than the caller expects, or if it would become too long. `journal_bytes` is the size of the payloads in the journal
/// so far.
pub(crate) fn can_append(run: &RunRecord, journal_bytes: u64, commit: &CheckedCommit) -> Result<(), StoreError> {
    not_ended(run)?;
    if commit.expected_last_sequence != run.last_sequence {
        return Err(StoreError::Conflict {
            what: "the journal of run",
            id: run.trace_id.clone(),
            expected: Some(commit.expected_last_sequence),
            actual: Some(run.last_sequence),
        });
    }
    let entries = run.last_sequence + commit.events.len() as u64;
    if entries > MAX_JOURNAL_ENTRIES || journal_bytes.saturating_add(commit.event_bytes()) > MAX_JOURNAL_BYTES {
        return Err(StoreError::JournalFull {
            trace_id: run.trace_id.clone(),
        });
    }
    Ok(())
}

/// Refuses to replace a state whose version is not the one that the caller expects.
pub(crate) fn expected_version(thread_id: &str, actual: Option<u64>, expected: Option<u64>) -> Result<(), StoreError> {
    if actual == expected {
        return Ok(());
    }
    Err(StoreError::Conflict {
        what: "the state of thread",
        id: thread_id.to_owned(),
        expected,
        actual,
    })
}

pub(crate) fn unknown_thread_error(thread_id: &str) -> StoreError {
    StoreError::UnknownThread {
        thread_id: truncate_id(thread_id),
    }
}

pub(crate) fn run_exists_error(trace_id: &str) -> StoreError {
    StoreError::AlreadyExists {
        what: "run",
        id: truncate_id(trace_id),
    }
}

pub(crate) fn suspension_exists_error(id: &str) -> StoreError {
    StoreError::AlreadyExists {
        what: "suspension",
        id: truncate_id(id),
    }
}

pub(crate) fn unknown_run_error(trace_id: &str) -> StoreError {
    StoreError::UnknownRun {
        trace_id: truncate_id(trace_id),
    }
}

fn too_large_error(what: &'static str, id: &str) -> StoreError {
    StoreError::TooLarge {
        what,
        id: truncate_id(id),
        maximum: MAX_VALUE_BYTES,
    }
}

/// Truncates an identifier for an error to [`MAX_NAME_BYTES`] characters. The caller chose the identifier, so it may have any
/// length.
pub(crate) fn truncate_id(id: &str) -> String {
    prefix(id, MAX_NAME_BYTES).to_owned()
}

/// A buffer that refuses to grow beyond [`MAX_VALUE_BYTES`].
#[derive(Default)]
struct BoundedBuffer {
    bytes: Vec<u8>,
    overflowed: bool,
}

impl Write for BoundedBuffer {
    fn write(&mut self, added: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + added.len() > MAX_VALUE_BYTES {
            self.overflowed = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(added);
        Ok(added.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name of the checked value, for errors.
    const WHAT: &str = "a value";
    /// The identifier of the checked value, for errors.
    const ID: &str = "id";

    #[test]
    fn json_of_the_maximum_depth_can_be_parsed_and_deeper_json_is_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let value: serde_json::Value = decode(WHAT, ID, &nested(MAX_JSON_DEPTH)).unwrap();
        let text = encode(WHAT, ID, &value).unwrap();
        assert!(decode::<serde_json::Value>(WHAT, ID, &text).is_ok());
        let deeper: serde_json::Value = decode(WHAT, ID, &nested(MAX_JSON_DEPTH + 1)).unwrap();
        assert!(matches!(encode(WHAT, ID, &deeper), Err(StoreError::TooDeep { .. })));
    }

    #[test]
    fn a_value_of_exactly_the_limit_is_accepted_and_one_byte_more_is_refused() {
        // The quotes of a JSON text take two bytes.
        let fits = "x".repeat(MAX_VALUE_BYTES - 2);
        assert!(encode(WHAT, ID, &fits).is_ok());
        assert!(matches!(
            encode(WHAT, ID, &format!("{fits}x")),
            Err(StoreError::TooLarge { .. })
        ));
    }
}
