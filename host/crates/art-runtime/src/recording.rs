//! A recorded run: its journal and the files that its calls use, read from a store. `export.rs` writes it to a file and reads it
//! from there.

use std::collections::BTreeMap;

use art_agent::{Run, RunEvent, ToolCall};
use art_core::tool::ToolResult;
use art_store::{JournalEntry, RunRecord, Store, verify_journal};

use crate::error::RuntimeError;
use crate::journal;

/// Everything that a run consists of, so that a replay does not need the store from which the run was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// The run as the store lists it.
    pub run: RunRecord,
    /// The journal, verified.
    pub entries: Vec<JournalEntry>,
    /// By digest, the values that are too large for the text of an event, and the files and logs that the events name. What the
    /// store does not have any more is missing.
    pub blobs: BTreeMap<String, Vec<u8>>,
    /// The components that the calls of the run ran. [`Self::read`] leaves them out; an exported file has them, and
    /// [`Self::add_components`] adds them.
    pub components: Vec<Component>,
}

/// A component that a recorded run called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Name of the file of the component, without the extension.
    pub name: String,
    /// Bytes of the component.
    pub wasm: Vec<u8>,
}

impl Recording {
    /// Reads a run from a store.
    ///
    /// # Errors
    /// Fails if there is no such run, the store cannot be read, or the journal was changed or cannot be understood.
    pub async fn read(store: &dyn Store, trace_id: &str) -> Result<Self, RuntimeError> {
        let no_run = || RuntimeError::NoRun {
            id: trace_id.to_owned(),
        };
        let mut run = store.get_run(trace_id).await?.ok_or_else(no_run)?;
        let journal = store.read_journal(trace_id).await?.into_iter();
        // If the run has continued since its record was read, the journal has entries after the last one of the record.
        let entries_of_record = journal.take_while(|entry| entry.sequence <= run.last_sequence);
        let entries: Vec<_> = entries_of_record.collect();
        if let Some(last) = entries.last().filter(|_| run.head.is_empty()) {
            // `verify_journal` compares `head` with the digest of the last entry. The record of a run from a database before
            // format 5 has no `head`, so the digest takes its place.
            run.head.clone_from(&last.digest);
        }
        verify_journal(&run, &entries)?;
        let mut recording = Self {
            run,
            entries,
            blobs: BTreeMap::new(),
            components: Vec::new(),
        };
        recording.read_blobs(store).await?;
        Ok(recording)
    }

    /// Reads the large values of the events, and then the files and logs that the events name. A blob that the store does not
    /// have any more is left out.
    async fn read_blobs(&mut self, store: &dyn Store) -> Result<(), RuntimeError> {
        let values = self
            .entries
            .iter()
            .flat_map(|entry| journal::value_digests(&entry.payload));
        let values: Vec<String> = values.collect();
        self.add_blobs(store, values).await?;
        let mut files = Vec::new();
        self.rebuild_run(|run, event| files.extend(named_blobs(run, event)))?;
        self.add_blobs(store, files).await
    }

    async fn add_blobs(&mut self, store: &dyn Store, digests: Vec<String>) -> Result<(), RuntimeError> {
        for digest in digests {
            if !self.blobs.contains_key(&digest)
                && let Some(bytes) = store.get_blob(&self.run.thread_id, &digest).await?
            {
                self.blobs.insert(digest, bytes);
            }
        }
        Ok(())
    }

    /// Returns the events of the journal, one at a time, since all of them may take much memory.
    ///
    /// # Errors
    /// Fails if an entry cannot be understood.
    pub(crate) fn events(&self) -> impl Iterator<Item = Result<RunEvent, RuntimeError>> {
        self.entries.iter().map(|entry| self.parse(entry))
    }

    /// Rebuilds the run from the journal. Before each event but the first, calls `before_event` with the run as it is then, and
    /// with the event.
    ///
    /// # Errors
    /// Fails if the journal is not a valid journal of a run.
    pub(crate) fn rebuild_run(&self, mut before_event: impl FnMut(&Run, &RunEvent)) -> Result<Run, RuntimeError> {
        let mut events = self.events();
        let first = events.next().transpose()?;
        let first = first.ok_or_else(|| self.damaged(1, "the journal is empty"))?;
        let mut run = Run::restore(&first).map_err(|error| self.damaged(1, error))?;
        for (number, event) in (2..).zip(events) {
            let event = event?;
            before_event(&run, &event);
            run.apply_recorded(&event)
                .map_err(|error| self.damaged(number, error))?;
        }
        Ok(run)
    }

    /// Creates the error for an event that does not fit the events before it.
    pub(crate) fn damaged(&self, number: u64, error: impl std::fmt::Display) -> RuntimeError {
        let id = &self.run.trace_id;
        RuntimeError::Damaged(format!("event {number} of run `{id}` does not fit: {error}"))
    }

    /// Returns the event at a position of the journal, counted from 1.
    ///
    /// # Errors
    /// Fails if there is no such event, or if it cannot be understood.
    pub(crate) fn event(&self, number: u64) -> Result<RunEvent, RuntimeError> {
        let index = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
        let entry = self
            .entries
            .get(index)
            .ok_or_else(|| self.damaged(number, "it is missing"))?;
        self.parse(entry)
    }

    fn parse(&self, entry: &JournalEntry) -> Result<RunEvent, RuntimeError> {
        let unreadable = |reason: String| journal::unreadable_event(&self.run, entry.sequence, reason);
        let payload = journal::restore_values(&entry.payload, &self.blobs).map_err(unreadable)?;
        serde_json::from_str(&payload).map_err(|error| unreadable(error.to_string()))
    }

    /// Returns the digests of the components that the calls of the run ran, without duplicates.
    ///
    /// # Errors
    /// Fails if the journal cannot be understood.
    pub fn component_digests(&self) -> Result<Vec<String>, RuntimeError> {
        let mut digests = Vec::new();
        for event in self.events() {
            if let RunEvent::ToolCalled { tool_digest, .. } = event? {
                digests.extend(tool_digest.filter(|digest| !digests.contains(digest)));
            }
        }
        Ok(digests)
    }
}

/// Returns the digests of what an event names: the files that a call takes, or the files and logs that calls produced. `run` is
/// the run as it was before the event.
fn named_blobs(run: &Run, event: &RunEvent) -> Vec<String> {
    match event {
        RunEvent::ToolCalled { action, call_id, .. } => {
            let files = run.open_call(*action, call_id).map(|call: ToolCall| call.files);
            files.into_iter().flatten().map(|file| file.digest).collect()
        }
        RunEvent::ToolEnded { end, .. } => produced_blobs(&end.result),
        RunEvent::ToolsReturned { results, .. } => results.iter().flat_map(produced_blobs).collect(),
        _ => Vec::new(),
    }
}

fn produced_blobs(result: &ToolResult) -> Vec<String> {
    let files = result
        .metadata
        .attachments
        .iter()
        .filter_map(|file| file.digest.clone());
    files.chain(result.metadata.log_digest.clone()).collect()
}
