//! The stored form of the events in the journal of a run.
//!
//! A large value of an event, such as the output of a tool, is stored apart as a *blob*: bytes that the store finds by their
//! digest. In place of the value, the event has this digest, and the JSON pointer at which the value belongs. So a value that
//! occurs in many events and runs, such as the declaration of a tool, is stored once.

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

/// Maximum size of the JSON text of a value that stays in its event, in bytes. A larger value is stored as a blob.
pub(crate) const MAX_INLINE_BYTES: usize = 4 << 10;

/// Number of levels of an event whose large values can become blobs of their own. A large value on a deeper level is stored as a
/// part of the blob of the value that contains it.
const MAX_BLOB_DEPTH: usize = 3;

/// How the list of pointers and digests begins in the text of an event.
const VALUES_START: &str = r#""values":[["#;

/// The declarations of tools (name, description and schemas) as they were last stored, with their blobs, by the names of the
/// tools. Most runs have the same tools as the run before.
#[derive(Debug, Default)]
pub(crate) struct DeclarationCache(Mutex<HashMap<String, (ToolSchema, Blob)>>);

impl DeclarationCache {
    /// Returns the declaration of a tool as a blob of JSON text. `trace_id` names the run in an error.
    ///
    /// # Errors
    /// Fails if the text exceeds a limit of the store.
    fn get_or_encode(&self, trace_id: &str, tool: &ToolSchema) -> Result<Blob, StoreError> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Equal declarations can differ in the order of their keys, so only a clone is certain to have the same text.
        if let Some((_, blob)) = cached.get(&tool.name).filter(|(schema, _)| schema.is_clone_of(tool)) {
            return Ok(blob.clone());
        }
        let text = JsonText::of("the declaration of a tool", trace_id, tool)?;
        let blob = Blob::new(text.into_string().into_bytes());
        cached.insert(tool.name.clone(), (tool.clone(), blob.clone()));
        Ok(blob)
    }
}

/// An event without its large values. For each of them, `values` has the JSON pointer at which it belongs, and its digest.
#[derive(Serialize)]
struct StoredEvent<'a, T: Serialize> {
    #[serde(flatten)]
    event: &'a T,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    values: &'a [(String, String)],
}

/// Writes an event as text. `store_blob` stores a large value and returns its digest, or `None` if the run has no room for
/// another blob. Without a digest the value stays in the event. `trace_id` names the run in an error.
///
/// # Errors
/// Fails if the event exceeds a limit of the store.
pub(crate) fn encode(
    trace_id: &str,
    event: &RunEvent,
    declarations: &DeclarationCache,
    mut store_blob: impl FnMut(Blob) -> Option<String>,
) -> Result<NewEvent, RuntimeError> {
    let mut values = Vec::new();
    let event = extract_tool_declarations(trace_id, event, declarations, &mut store_blob, &mut values)?;
    let mut payload = encode_payload(trace_id, event.as_ref(), &values)?;
    if payload.len() > MAX_INLINE_BYTES {
        let mut event_value = serde_json::to_value(event.as_ref()).map_err(RuntimeError::internal)?;
        extract_large_values(&mut event_value, "", 1, &mut |pointer, value| {
            if let Some(digest) = store_blob(Blob::new(value.to_string().into_bytes())) {
                values.push((pointer, digest));
                *value = Value::Null;
            }
        });
        payload = encode_payload(trace_id, &event_value, &values)?;
    }
    Ok(NewEvent {
        kind: event.kind().to_owned(),
        payload,
    })
}

fn encode_payload<T: Serialize>(
    trace_id: &str,
    event: &T,
    values: &[(String, String)],
) -> Result<JsonText, RuntimeError> {
    Ok(JsonText::of(
        "a journal entry",
        trace_id,
        &StoredEvent { event, values },
    )?)
}

/// Returns the start of a run without the declarations of its tools, and adds their pointers and digests to `values`. Each
/// declaration is stored by itself, since the next run may have other tools. Returns `event` unchanged if it is not the start of
/// a run, if all declarations together have at most [`MAX_INLINE_BYTES`], or if there is no room for their blobs.
fn extract_tool_declarations<'a>(
    trace_id: &str,
    event: &'a RunEvent,
    declarations: &DeclarationCache,
    store_blob: &mut impl FnMut(Blob) -> Option<String>,
    values: &mut Vec<(String, String)>,
) -> Result<Cow<'a, RunEvent>, RuntimeError> {
    let RunEvent::Started { at, start } = event else {
        return Ok(Cow::Borrowed(event));
    };
    let encoded = start
        .tools
        .iter()
        .map(|tool| declarations.get_or_encode(trace_id, tool));
    let blobs = encoded.collect::<Result<Vec<_>, _>>()?;
    if blobs.iter().map(|blob| blob.bytes().len()).sum::<usize>() <= MAX_INLINE_BYTES {
        return Ok(Cow::Borrowed(event));
    }
    for (number, blob) in blobs.into_iter().enumerate() {
        let Some(digest) = store_blob(blob) else {
            values.clear();
            return Ok(Cow::Borrowed(event));
        };
        values.push((format!("/start/tools/{number}"), digest));
    }
    let mut start = start.clone();
    start.tools = Vec::new();
    Ok(Cow::Owned(RunEvent::Started { at: *at, start }))
}

/// Calls `extract` with each large value in `parent` and its JSON pointer. `parent_pointer` is the pointer of `parent`. The event
/// itself has level 0, and `level` is that of the values in `parent`. If a value has large parts, these are extracted instead of
/// the whole value; but on level [`MAX_BLOB_DEPTH`], each large value is extracted whole. An object or array on level 1 is never
/// extracted whole.
fn extract_large_values(
    parent: &mut Value,
    parent_pointer: &str,
    level: usize,
    extract: &mut impl FnMut(String, &mut Value),
) {
    for (key, value) in children(parent) {
        if text_len(value) <= MAX_INLINE_BYTES {
            continue;
        }
        let pointer = format!("{parent_pointer}/{key}");
        let is_indivisible = level >= MAX_BLOB_DEPTH || value.is_string();
        if is_indivisible
            || (level > 1
                && !children(value)
                    .iter()
                    .any(|(_, child)| text_len(child) > MAX_INLINE_BYTES))
        {
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
pub(crate) fn value_digests(payload: &str) -> Vec<String> {
    let values = stored_values(payload).unwrap_or_default();
    values.into_iter().map(|(_, digest)| digest).collect()
}

/// Returns the pointer and the digest of each large value of an event.
fn stored_values(payload: &str) -> Result<Vec<(String, String)>, serde_json::Error> {
    #[derive(Deserialize)]
    struct StoredValues {
        #[serde(default)]
        values: Vec<(String, String)>,
    }
    if !payload.contains(VALUES_START) {
        return Ok(Vec::new());
    }
    serde_json::from_str(payload).map(|StoredValues { values }| values)
}

/// Returns the text of an event with its large values inserted at their pointers. `blobs` has the values by their digests.
///
/// # Errors
/// Fails with the reason if a value is missing, if its pointer leads nowhere, if the values are too large together, or if the
/// text is not an event.
pub(crate) fn restore_values<'a>(payload: &'a str, blobs: &BTreeMap<String, Vec<u8>>) -> Result<Cow<'a, str>, String> {
    let values = stored_values(payload).map_err(|error| error.to_string())?;
    if values.is_empty() {
        return Ok(Cow::Borrowed(payload));
    }
    let mut event: Value = serde_json::from_str(payload).map_err(|error| error.to_string())?;
    if let Some(map) = event.as_object_mut() {
        map.shift_remove("values");
    }
    let mut remaining_bytes = MAX_RUN_BLOB_BYTES;
    for (pointer, digest) in values {
        let bytes = blobs
            .get(&digest)
            .ok_or_else(|| format!("its value `{digest}` is missing"))?;
        // An event that was read from an exported file may refer to one value many times, so the total size is limited here.
        let remaining = remaining_bytes.checked_sub(bytes.len() as u64);
        remaining_bytes = remaining.ok_or_else(|| format!("its values have more than {MAX_RUN_BLOB_BYTES} bytes"))?;
        let value = serde_json::from_slice(bytes).map_err(|error| format!("its value `{digest}`: {error}"))?;
        insert_value(&mut event, &pointer, value).ok_or_else(|| format!("it has no place `{pointer}` for a value"))?;
    }
    Ok(Cow::Owned(event.to_string()))
}

/// Replaces the value at a pointer by `value`. If the pointer leads to the end of a list, appends `value` to the list, as for the
/// declarations of tools, whose list is stored empty. Returns `None` if the pointer leads nowhere.
fn insert_value(event: &mut Value, pointer: &str, value: Value) -> Option<()> {
    if let Some(replaced) = event.pointer_mut(pointer) {
        drop(mem::replace(replaced, value));
        return Some(());
    }
    let (list, index) = pointer.rsplit_once('/')?;
    let list = event.pointer_mut(list)?.as_array_mut()?;
    (index == list.len().to_string()).then(|| list.push(value))
}

/// Returns the journal of a run, with the large values of its events inserted again. The store verifies the journal.
///
/// # Errors
/// Fails if the store cannot be read, or if the journal or one of its values was changed or is missing.
pub async fn read_journal(store: &dyn Store, run: &RunRecord) -> Result<Vec<JournalEntry>, RuntimeError> {
    let mut entries = store.read_journal(&run.trace_id).await?;
    for entry in &mut entries {
        let mut blobs = BTreeMap::new();
        for digest in value_digests(&entry.payload) {
            if let Some(bytes) = store.get_blob(&run.thread_id, &digest).await? {
                blobs.insert(digest, bytes);
            }
        }
        let payload =
            restore_values(&entry.payload, &blobs).map_err(|reason| unreadable_event(run, entry.sequence, reason))?;
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
        serde_json::from_str(&entry.payload).map_err(|error| unreadable_event(&run, entry.sequence, error))
    };
    entries.map(parse).collect()
}

/// Creates the error for an event that cannot be read.
pub(crate) fn unreadable_event(run: &RunRecord, number: u64, reason: impl std::fmt::Display) -> RuntimeError {
    let id = &run.trace_id;
    RuntimeError::Damaged(format!("event {number} of run `{id}` cannot be read: {reason}"))
}

#[cfg(test)]
mod tests;
