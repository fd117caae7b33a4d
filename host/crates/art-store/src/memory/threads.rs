//! Threads of a store in memory, with their messages, observations and agent state.

use std::cmp::Reverse;
use std::collections::HashSet;

use art_core::agent::AgentState;
use art_core::conversation::ConversationMessage;
use art_core::observation::{NewObservation, Observation};
use art_core::{Timestamp, id};
use serde_json::Value;

use super::{Data, StoredState, ThreadData};
use crate::check;
use crate::commit::encode_observation;
use crate::error::StoreError;
use crate::json::JsonText;
use crate::record::{MessageOptions, NewThread, ObservationFilter, Owner, Thread, ThreadFilter};

impl Data {
    pub(super) fn create_thread(&mut self, new: NewThread, now: Timestamp) -> Result<Thread, StoreError> {
        check::new_thread(&new)?;
        // The text is not stored here; this only refuses what is too large or nested too deeply, as the SQLite store does.
        check::encode("the configuration", &new.id, &new.config)?;
        if self.threads.contains_key(&new.id) {
            return Err(StoreError::AlreadyExists {
                what: "thread",
                id: new.id,
            });
        }
        let thread = Thread {
            id: new.id,
            user_id: new.user_id,
            created: now,
            updated: now,
            config: new.config,
        };
        self.created_count += 1;
        let data = ThreadData {
            creation_number: self.created_count,
            thread: thread.clone(),
            messages: Vec::new(),
            observations: Vec::new(),
            state: None,
            lease: None,
        };
        self.threads.insert(thread.id.clone(), data);
        Ok(thread)
    }

    /// Sets the time of the last write, and returns the thread. Call this after all checks of the write.
    pub(super) fn touch(&mut self, thread_id: &str, now: Timestamp) -> Result<&mut ThreadData, StoreError> {
        let data = self
            .threads
            .get_mut(thread_id)
            .ok_or_else(|| check::unknown_thread_error(thread_id))?;
        data.thread.updated = now;
        Ok(data)
    }

    /// Returns a thread, and fails if it does not exist.
    pub(super) fn thread(&self, thread_id: &str) -> Result<&ThreadData, StoreError> {
        self.threads
            .get(thread_id)
            .ok_or_else(|| check::unknown_thread_error(thread_id))
    }

    /// Returns a thread if it has that owner.
    pub(super) fn find_thread(&self, thread_id: &str, owner: &Owner) -> Option<&ThreadData> {
        let thread = self.threads.get(thread_id);
        thread.filter(|data| owner.includes(data.thread.user_id.as_deref()))
    }

    pub(super) fn list_threads(&self, filter: &ThreadFilter) -> Vec<Thread> {
        let mut threads: Vec<_> = self
            .threads
            .values()
            .filter(|data| filter.owner.includes(data.thread.user_id.as_deref()))
            .filter(|data| has_prefix(&data.thread.id, filter.id_prefix.as_deref()))
            .collect();
        threads.sort_by_key(|data| Reverse((data.thread.updated, data.creation_number)));
        threads.truncate(check::list_limit(filter.limit));
        threads.into_iter().map(|data| data.thread.clone()).collect()
    }

    pub(super) fn delete_thread(&mut self, thread_id: &str, now: Timestamp) -> Result<bool, StoreError> {
        if let Some(data) = self.threads.get(thread_id) {
            data.refuse_if_leased(now)?;
        }
        let Some(data) = self.threads.remove(thread_id) else {
            return Ok(false);
        };
        for message in data.messages {
            self.message_ids.remove(&message.message_id);
        }
        self.runs.retain(|_, data| data.run.thread_id != thread_id);
        let runs = &self.runs;
        self.calls.retain(|(trace_id, _)| runs.contains_key(trace_id));
        self.work.retain(|(trace_id, _)| runs.contains_key(trace_id));
        self.suspensions.retain(|record| record.thread_id != thread_id);
        Ok(true)
    }

    pub(super) fn append_messages(
        &mut self,
        thread_id: &str,
        messages: Vec<ConversationMessage>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if messages.is_empty() {
            return Ok(());
        }
        check::messages(thread_id, &messages)?;
        // The texts are not stored here; this only refuses what is too large or nested too deeply, as the SQLite store does.
        for message in &messages {
            check::encode("the metadata", &message.message_id, &message.metadata)?;
        }
        self.thread(thread_id)?;
        self.check_new_messages(messages.iter())?;
        let ids = messages.iter().map(|message| message.message_id.clone());
        self.message_ids.extend(ids);
        self.touch(thread_id, now)?.messages.extend(messages);
        Ok(())
    }

    /// Refuses messages if the identifier of one of them is in use, or if two of them have the same identifier.
    pub(super) fn check_new_messages<'a>(
        &self,
        mut messages: impl Iterator<Item = &'a ConversationMessage>,
    ) -> Result<(), StoreError> {
        let mut added = HashSet::new();
        messages.try_for_each(|message| {
            let id = &message.message_id;
            if self.message_ids.contains(id) || !added.insert(id) {
                return Err(StoreError::AlreadyExists {
                    what: "message",
                    id: id.clone(),
                });
            }
            Ok(())
        })
    }

    pub(super) fn list_messages(&self, thread_id: &str, options: &MessageOptions) -> Vec<ConversationMessage> {
        let Some(data) = self.find_thread(thread_id, &options.owner) else {
            return Vec::new();
        };
        let mut messages: Vec<_> = data
            .messages
            .iter()
            .filter(|message| is_within(message.timestamp, options.before, options.after))
            .filter(|message| options.roles.is_empty() || options.roles.contains(&message.role))
            .collect();
        // The sort is stable: messages with the same timestamp stay in the order in which they were added.
        messages.sort_by_key(|message| message.timestamp);
        let first = messages.len().saturating_sub(check::list_limit(options.limit));
        messages.split_off(first).into_iter().cloned().collect()
    }

    pub(super) fn record_observation(
        &mut self,
        new: NewObservation,
        now: Timestamp,
    ) -> Result<Observation, StoreError> {
        // The texts are not stored here; this only refuses what is too large or nested too deeply, as the SQLite store does.
        encode_observation(&new)?;
        Ok(self.touch(&new.thread_id, now)?.add_observation(new, now))
    }

    pub(super) fn list_observations(&self, thread_id: &str, filter: &ObservationFilter) -> Vec<Observation> {
        let Some(data) = self.find_thread(thread_id, &filter.owner) else {
            return Vec::new();
        };
        data.observations
            .iter()
            .filter(|observation| observation.sequence > filter.after_sequence.unwrap_or(0))
            .filter(|observation| is_within(observation.timestamp, filter.before, filter.after))
            .filter(|observation| filter.types.is_empty() || filter.types.contains(&observation.body.kind))
            .filter(|observation| filter.trace_id.is_none() || filter.trace_id == observation.body.trace_id)
            .take(check::list_limit(filter.limit))
            .cloned()
            .collect()
    }

    pub(super) fn load_state(&self, thread_id: &str) -> Result<Option<AgentState>, StoreError> {
        let Some(state) = self.threads.get(thread_id).and_then(|thread| thread.state.as_ref()) else {
            return Ok(None);
        };
        Ok(Some(AgentState {
            data: check::decode("the state", thread_id, &state.data)?,
            version: state.version,
            modified: state.modified,
        }))
    }

    pub(super) fn save_state(
        &mut self,
        thread_id: &str,
        state: &Value,
        expected_version: Option<u64>,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let state = JsonText::of("the state", thread_id, state)?;
        let actual_version = self.thread(thread_id)?.state.as_ref().map(|state| state.version);
        check::expected_version(thread_id, actual_version, expected_version)?;
        Ok(self.touch(thread_id, now)?.replace_state(state, now))
    }
}

impl ThreadData {
    /// Adds an observation with the next sequence.
    pub(super) fn add_observation(&mut self, new: NewObservation, now: Timestamp) -> Observation {
        let observation = Observation {
            id: id::time_ordered(),
            sequence: self.observations.last().map_or(0, |last| last.sequence) + 1,
            timestamp: now,
            title: check::observation_title(new.kind),
            body: new,
        };
        self.observations.push(observation.clone());
        observation
    }

    /// Replaces the state, and returns its version.
    pub(super) fn replace_state(&mut self, data: JsonText, modified: Timestamp) -> u64 {
        let version = self.state.as_ref().map_or(0, |state| state.version) + 1;
        self.state = Some(StoredState {
            data,
            version,
            modified,
        });
        version
    }
}

/// Returns whether an identifier has the prefix, if one is given.
pub(super) fn has_prefix(id: &str, prefix: Option<&str>) -> bool {
    prefix.is_none_or(|prefix| id.starts_with(prefix))
}

/// Returns whether a time is between two bounds, if they are given. The bounds themselves are excluded.
fn is_within(timestamp: Timestamp, before: Option<Timestamp>, after: Option<Timestamp>) -> bool {
    before.is_none_or(|before| timestamp < before) && after.is_none_or(|after| timestamp > after)
}
