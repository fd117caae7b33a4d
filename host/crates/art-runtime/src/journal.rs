//! The stored form of events. Large values of an event are stored as blobs of its run, and the event has their digests instead. So
//! a value that occurs in many events and runs, such as the declaration of a tool, is stored once.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::{Mutex, PoisonError};

use art_agent::RunEvent;
use art_core::json::text_len;
use art_core::tool::ToolSchema;
use art_store::limits::MAX_RUN_BLOB_BYTES;
use art_store::{Blob, JournalEntry, JsonText, NewEvent, RunRecord, Store, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::RuntimeError;

/// Size of the JSON text of a value above which it is stored by its digest, in bytes.
pub(crate) const LARGE: usize = 4 << 10;

/// Maximum depth in an event of a value that is stored by its digest. A deeper value is stored as a part of such a value.
const MAX_LEVELS: usize = 3;

/// The key of the digests in the text of an event, and the beginning of their list.
const VALUES_KEY: &str = r#""values":[["#;

/// A cache of the declarations of tools as they were last written, by the names of the tools. Most runs have the same tools as the
/// run before.
#[derive(Debug, Default)]
pub(crate) struct Declarations(Mutex<HashMap<String, (ToolSchema, Blob)>>);

impl Declarations {
    /// Returns the declaration of a tool as JSON text with its digest.
    ///
    /// # Errors
    /// Fails if it exceeds a limit of the store.
    fn of(&self, trace_id: &str, tool: &ToolSchema) -> Result<Blob, StoreError> {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, blob)) = written.get(&tool.name).filter(|(schema, _)| schema.is_copy_of(tool)) {
            return Ok(blob.clone());
        }
        let text = JsonText::of("the declaration of a tool", trace_id, tool)?;
        let blob = Blob::new(text.into_string().into_bytes());
        written.insert(tool.name.clone(), (tool.clone(), blob.clone()));
        Ok(blob)
    }
}

/// An event with the digests of its large values by their places, which are JSON pointers.
#[derive(Serialize)]
struct StoredEvent<'a, T: Serialize> {
    #[serde(flatten)]
    event: &'a T,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    values: &'a [(String, String)],
}

/// Writes an event. `keep` stores a large value and returns its digest, or `None` if there is no room. Without a digest the value
/// stays in the event.
///
/// # Errors
/// Fails if the event exceeds a limit of the store.
pub(crate) fn encode(
    trace_id: &str,
    event: &RunEvent,
    declarations: &Declarations,
    mut keep: impl FnMut(Blob) -> Option<String>,
) -> Result<NewEvent, RuntimeError> {
    let mut values = Vec::new();
    let event = without_tools(trace_id, event, declarations, &mut keep, &mut values)?;
    let mut payload = text(trace_id, event.as_ref(), &values)?;
    if payload.len() > LARGE {
        let mut event_value = serde_json::to_value(event.as_ref()).map_err(RuntimeError::internal)?;
        extract_large_values(&mut event_value, "", 1, &mut |pointer, value| {
            if let Some(digest) = keep(Blob::new(value.to_string().into_bytes())) {
                values.push((pointer, digest));
                *value = Value::Null;
            }
        });
        payload = text(trace_id, &event_value, &values)?;
    }
    Ok(NewEvent {
        kind: event.kind().to_owned(),
        payload,
    })
}

fn text<T: Serialize>(trace_id: &str, event: &T, values: &[(String, String)]) -> Result<JsonText, RuntimeError> {
    Ok(JsonText::of(
        "a journal entry",
        trace_id,
        &StoredEvent { event, values },
    )?)
}

/// Returns the event without the declarations of tools if they are large together, and adds their digests to `values`. Each
/// declaration is stored by itself, since the next run may have other tools. If there is no room, returns the event unchanged.
fn without_tools<'a>(
    trace_id: &str,
    event: &'a RunEvent,
    declarations: &Declarations,
    keep: &mut impl FnMut(Blob) -> Option<String>,
    values: &mut Vec<(String, String)>,
) -> Result<Cow<'a, RunEvent>, RuntimeError> {
    let RunEvent::Started { at, start } = event else {
        return Ok(Cow::Borrowed(event));
    };
    let written = start.tools.iter().map(|tool| declarations.of(trace_id, tool));
    let blobs = written.collect::<Result<Vec<_>, _>>()?;
    if blobs.iter().map(|blob| blob.bytes().len()).sum::<usize>() <= LARGE {
        return Ok(Cow::Borrowed(event));
    }
    for (number, blob) in blobs.into_iter().enumerate() {
        let Some(digest) = keep(blob) else {
            values.clear();
            return Ok(Cow::Borrowed(event));
        };
        values.push((format!("/start/tools/{number}"), digest));
    }
    let mut start = start.clone();
    start.tools = Vec::new();
    Ok(Cow::Owned(RunEvent::Started { at: *at, start }))
}

/// Calls `extract` with each large value in `parent` and its place. A value with large parts is not extracted itself: its large parts
/// are, down to [`MAX_LEVELS`]. On the first level, only text is extracted. The values in `parent` are `level` levels deep in the event.
fn extract_large_values(parent: &mut Value, place: &str, level: usize, extract: &mut impl FnMut(String, &mut Value)) {
    for (key, value) in children(parent) {
        if text_len(value) <= LARGE {
            continue;
        }
        let pointer = format!("{place}/{key}");
        let is_extracted_whole = level >= MAX_LEVELS || value.is_string();
        if is_extracted_whole || (level > 1 && !children(value).iter().any(|(_, child)| text_len(child) > LARGE)) {
            extract(pointer, value);
        } else {
            extract_large_values(value, &pointer, level + 1, extract);
        }
    }
}

/// Returns the values in an object or an array, with their keys as parts of a JSON pointer.
fn children(value: &mut Value) -> Vec<(String, &mut Value)> {
    match value {
        Value::Object(map) => {
            let escaped = |key: &String| key.replace('~', "~0").replace('/', "~1");
            map.iter_mut().map(|(key, value)| (escaped(key), value)).collect()
        }
        Value::Array(values) => {
            let numbered = values.iter_mut().enumerate();
            numbered.map(|(index, value)| (index.to_string(), value)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the digests of the large values of an event.
pub(crate) fn digests(payload: &str) -> Vec<String> {
    let values = value_places(payload).unwrap_or_default();
    values.into_iter().map(|(_, digest)| digest).collect()
}

fn value_places(payload: &str) -> Result<Vec<(String, String)>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Places {
        #[serde(default)]
        values: Vec<(String, String)>,
    }
    if !payload.contains(VALUES_KEY) {
        return Ok(Vec::new());
    }
    serde_json::from_str(payload).map(|Places { values }| values)
}

/// Returns the text of an event with its large values in their places.
///
/// # Errors
/// Fails with the reason if a value is missing or has no place, if the values are too large together, or if the text is not an event.
pub(crate) fn restore_values<'a>(payload: &'a str, blobs: &BTreeMap<String, Vec<u8>>) -> Result<Cow<'a, str>, String> {
    let places = value_places(payload).map_err(|error| error.to_string())?;
    if places.is_empty() {
        return Ok(Cow::Borrowed(payload));
    }
    let mut event: Value = serde_json::from_str(payload).map_err(|error| error.to_string())?;
    if let Some(map) = event.as_object_mut() {
        map.shift_remove("values");
    }
    let mut room = MAX_RUN_BLOB_BYTES;
    for (pointer, digest) in places {
        let bytes = blobs
            .get(&digest)
            .ok_or_else(|| format!("its value `{digest}` is missing"))?;
        // An exported file may refer to one value many times, so the total size is limited here.
        let left = room.checked_sub(bytes.len() as u64);
        room = left.ok_or_else(|| format!("its values have more than {MAX_RUN_BLOB_BYTES} bytes"))?;
        let value = serde_json::from_slice(bytes).map_err(|error| format!("its value `{digest}`: {error}"))?;
        insert_value(&mut event, &pointer, value).ok_or_else(|| format!("it has no place `{pointer}` for a value"))?;
    }
    Ok(Cow::Owned(event.to_string()))
}

/// Puts a value in its place: in place of another value, or at the end of a list. Returns `None` if there is no such place.
fn insert_value(event: &mut Value, pointer: &str, value: Value) -> Option<()> {
    if let Some(place) = event.pointer_mut(pointer) {
        drop(mem::replace(place, value));
        return Some(());
    }
    let (list, index) = pointer.rsplit_once('/')?;
    let list = event.pointer_mut(list)?.as_array_mut()?;
    (index == list.len().to_string()).then(|| list.push(value))
}

/// Returns the journal of a run, verified, with the large values of its events in their places.
///
/// # Errors
/// Fails if the store cannot be read, or if the journal or one of its values was changed or is missing.
pub async fn read_journal(store: &dyn Store, run: &RunRecord) -> Result<Vec<JournalEntry>, RuntimeError> {
    let mut entries = store.read_journal(&run.trace_id).await?;
    for entry in &mut entries {
        let mut blobs = BTreeMap::new();
        for digest in digests(&entry.payload) {
            if let Some(bytes) = store.get_blob(&run.thread_id, &digest).await? {
                blobs.insert(digest, bytes);
            }
        }
        let payload =
            restore_values(&entry.payload, &blobs).map_err(|reason| unreadable(run, entry.sequence, reason))?;
        if let Cow::Owned(payload) = payload {
            entry.payload = payload;
        }
    }
    Ok(entries)
}

/// Returns the events of a run, oldest first. A run that does not exist has none.
///
/// # Errors
/// Same as [`read_journal`]. Fails as well if an event cannot be understood.
pub(crate) async fn read_events(store: &dyn Store, trace_id: &str) -> Result<Vec<RunEvent>, RuntimeError> {
    let Some(run) = store.get_run(trace_id).await? else {
        return Ok(Vec::new());
    };
    let entries = read_journal(store, &run).await?.into_iter();
    let parse = |entry: JournalEntry| {
        serde_json::from_str(&entry.payload).map_err(|error| unreadable(&run, entry.sequence, error))
    };
    entries.map(parse).collect()
}

/// Creates the error for an event that cannot be read.
pub(crate) fn unreadable(run: &RunRecord, number: u64, reason: impl std::fmt::Display) -> RuntimeError {
    let id = &run.trace_id;
    RuntimeError::Damaged(format!("event {number} of run `{id}` cannot be read: {reason}"))
}

#[cfg(test)]
mod tests;
