//! The settings and the states of threads. The state of a thread is what its next run continues from, such as the plan and the
//! title.

use std::collections::BTreeSet;
use std::sync::Arc;

use art_core::agent::{AgentState, ThreadConfig};
use art_core::id;
use art_core::pes::PesAgentStateData;
use art_store::{NewThread, Owner, StoreError, Thread, ThreadFilter};
use art_tools::check_name;
use serde::Deserialize as _;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::deletion::delete_thread;
use crate::error::RuntimeError;
use crate::runtime::Runtime;

/// When [`StateManager::save_state_if_modified`] saves the state of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StateSaving {
    /// Never: the program saves states with [`StateManager::set_agent_state`].
    #[default]
    Explicit,
    /// If the program has changed its copy of the state.
    Implicit,
}

/// The settings and the state of a thread, loaded from the store.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadContext {
    /// Identifier of the thread.
    pub thread_id: String,
    /// Settings.
    pub config: ThreadConfig,
    /// The state as JSON, a copy that the program may change; null if the thread has none yet.
    pub state: Value,
    /// The state as it was in the store when it was last loaded or saved.
    stored: Option<AgentState>,
}

impl ThreadContext {
    /// Returns the version of the state when it was loaded or saved; `None` if the thread had no state.
    #[must_use]
    pub fn version(&self) -> Option<u64> {
        self.stored.as_ref().map(|stored| stored.version)
    }

    fn is_modified(&self) -> bool {
        let stored = self.stored.as_ref().map_or(&Value::Null, |stored| &stored.data);
        *stored != self.state
    }
}

/// Reads and writes the settings and states of one owner's threads.
#[derive(Clone, Debug)]
pub struct StateManager {
    runtime: Arc<Runtime>,
    /// When [`Self::save_state_if_modified`] saves a state.
    saving: StateSaving,
    /// Held while settings of a thread are read, changed and written.
    settings_lock: Arc<Mutex<()>>,
    /// Owner of the threads; `None` for threads without an owner.
    user_id: Option<String>,
}

impl StateManager {
    pub(super) fn new(runtime: Arc<Runtime>, saving: StateSaving, settings_lock: Arc<Mutex<()>>) -> Self {
        Self {
            runtime,
            saving,
            settings_lock,
            user_id: None,
        }
    }

    /// Makes this the manager of the threads of a person.
    #[must_use]
    pub fn of_user(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = Some(user_id.into());
        self
    }

    /// Creates a thread with these settings, and returns its identifier, which the host chooses.
    ///
    /// # Errors
    /// Fails if the store refuses the settings or the identifier of the person.
    pub async fn create_thread(&self, config: ThreadConfig) -> Result<String, RuntimeError> {
        let new = NewThread {
            id: id::time_ordered(),
            user_id: self.user_id.clone(),
            config,
        };
        Ok(self.runtime.store.create_thread(new).await?.id)
    }

    /// Returns the threads of the owner, the most recently updated first. `limit` is the maximum number of threads, as in
    /// [`ThreadFilter`].
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub async fn list_threads(&self, limit: Option<usize>) -> Result<Vec<Thread>, RuntimeError> {
        let filter = ThreadFilter {
            owner: self.owner(),
            limit,
            ..ThreadFilter::default()
        };
        Ok(self.runtime.store.list_threads(filter).await?)
    }

    /// Deletes a thread with everything that belongs to it, also the changes of files that its runs have staged.
    ///
    /// # Errors
    /// Fails if the owner has no such thread, a run is in progress in it, or the store fails.
    pub async fn delete_thread(&self, thread_id: &str) -> Result<(), RuntimeError> {
        self.find_thread(thread_id).await?;
        let staging = self.runtime.config.staging();
        delete_thread(self.runtime.store.as_ref(), staging.as_deref(), thread_id).await?;
        Ok(())
    }

    /// Loads the settings and the state of a thread.
    ///
    /// # Errors
    /// Fails if the owner has no such thread, or the store cannot be read.
    pub async fn load_thread_context(&self, thread_id: &str) -> Result<ThreadContext, RuntimeError> {
        let config = self.find_thread(thread_id).await?.config;
        let stored = self.runtime.store.load_state(thread_id).await?;
        Ok(ThreadContext {
            thread_id: thread_id.to_owned(),
            config,
            state: stored.as_ref().map_or(Value::Null, |stored| stored.data.clone()),
            stored,
        })
    }

    /// Returns whether a thread may call a tool. Returns `false` if this cannot be determined.
    pub async fn is_tool_enabled(&self, thread_id: &str, tool: &str) -> bool {
        let thread = self.find_thread(thread_id).await;
        thread.is_ok_and(|thread| thread.config.enables(tool))
    }

    /// Returns the value of a key of the settings, such as `historyLimit`, or `None` if they do not have it. Nested keys are not
    /// found.
    ///
    /// # Errors
    /// Fails if the owner has no such thread, or the store cannot be read.
    pub async fn thread_config_value(&self, thread_id: &str, key: &str) -> Result<Option<Value>, RuntimeError> {
        let config = self.find_thread(thread_id).await?.config;
        let config = serde_json::to_value(config).map_err(RuntimeError::internal)?;
        Ok(config.get(key).cloned())
    }

    /// Replaces the settings of a thread and does not change its state.
    ///
    /// # Errors
    /// Fails if the owner has no such thread, or the store refuses the settings.
    pub async fn set_thread_config(&self, thread_id: &str, config: ThreadConfig) -> Result<(), RuntimeError> {
        let _guard = self.settings_lock.lock().await;
        self.find_thread(thread_id).await?;
        self.runtime.store.set_thread_config(thread_id, config).await?;
        Ok(())
    }

    /// Enables tools in addition to those that the thread enables already.
    ///
    /// # Errors
    /// Fails if the list is empty or has a name that no tool can have, the owner has no such thread, or the store fails.
    pub async fn enable_tools_for_thread(&self, thread_id: &str, tools: &[&str]) -> Result<(), RuntimeError> {
        check_names(tools)?;
        self.change_tools(thread_id, |enabled| {
            enabled.extend(tools.iter().map(|name| (*name).to_owned()));
        })
        .await
    }

    /// Disables tools. Tools that are not enabled are ignored. If the thread enables all tools, the other tools that exist now
    /// stay enabled.
    ///
    /// # Errors
    /// Same as [`enable_tools_for_thread`](Self::enable_tools_for_thread).
    pub async fn disable_tools_for_thread(&self, thread_id: &str, tools: &[&str]) -> Result<(), RuntimeError> {
        check_names(tools)?;
        let registered = self.runtime.tools.registry().list();
        self.change_tools(thread_id, |enabled| {
            if enabled.iter().any(|name| name == ThreadConfig::ALL_TOOLS) {
                enabled.extend(registered.into_iter().map(|tool| tool.name));
                enabled.retain(|name| name != ThreadConfig::ALL_TOOLS);
            }
            enabled.retain(|name| !tools.contains(&name.as_str()));
        })
        .await
    }

    /// Returns the names of the tools that a thread enables, or [`ThreadConfig::ALL_TOOLS`].
    ///
    /// # Errors
    /// Fails if the owner has no such thread, or the store cannot be read.
    pub async fn enabled_tools_for_thread(&self, thread_id: &str) -> Result<Vec<String>, RuntimeError> {
        Ok(self.find_thread(thread_id).await?.config.enabled_tools)
    }

    /// Replaces the state of a thread, whatever the current one is, and returns the version of the new state. The next run of
    /// the thread replaces the state again.
    ///
    /// # Errors
    /// Fails if the state is not one that a run can begin with, the owner has no such thread, a run is in progress in it, or the
    /// store fails.
    pub async fn set_agent_state(&self, thread_id: &str, state: Value) -> Result<u64, RuntimeError> {
        self.find_thread(thread_id).await?;
        check_state(thread_id, &state)?;
        let store = &self.runtime.store;
        self.under_lease(thread_id, async {
            let current = store.load_state(thread_id).await?;
            store
                .save_state(thread_id, state, current.map(|current| current.version))
                .await
        })
        .await
    }

    /// Saves the state in `context` if the program has changed it since the state was loaded or saved. Returns whether the
    /// state was saved. With [`StateSaving::Explicit`] nothing is saved. A state that is null is not saved.
    ///
    /// # Errors
    /// Fails with [`StoreError::Conflict`](art_store::StoreError::Conflict) if somebody else has changed the state meanwhile
    /// (contract B19): the program should load the state again then. Otherwise same as
    /// [`set_agent_state`](Self::set_agent_state).
    pub async fn save_state_if_modified(&self, context: &mut ThreadContext) -> Result<bool, RuntimeError> {
        if self.saving == StateSaving::Explicit || context.state.is_null() || !context.is_modified() {
            return Ok(false);
        }
        self.find_thread(&context.thread_id).await?;
        check_state(&context.thread_id, &context.state)?;
        let store = &self.runtime.store;
        let save = store.save_state(&context.thread_id, context.state.clone(), context.version());
        let version = self.under_lease(&context.thread_id, save).await?;
        context.stored = Some(AgentState {
            data: context.state.clone(),
            version,
            modified: crate::drive::clock::now(),
        });
        Ok(true)
    }

    /// Awaits `save` while this process holds the lease of the thread. A run in progress would overwrite the saved state, but it
    /// needs the lease too.
    async fn under_lease(
        &self,
        thread_id: &str,
        save: impl Future<Output = Result<u64, StoreError>>,
    ) -> Result<u64, RuntimeError> {
        let store = &self.runtime.store;
        let lease = store.acquire_lease(thread_id).await?;
        let saved = save.await;
        store.release_lease(&lease).await?;
        Ok(saved?)
    }

    /// Changes the list of enabled tools of a thread, and removes duplicates. Changes by this instance are made one after the
    /// other, so that none is lost.
    async fn change_tools(&self, thread_id: &str, change: impl FnOnce(&mut Vec<String>)) -> Result<(), RuntimeError> {
        let _guard = self.settings_lock.lock().await;
        let mut config = self.find_thread(thread_id).await?.config;
        change(&mut config.enabled_tools);
        let mut seen = BTreeSet::new();
        config.enabled_tools.retain(|name| seen.insert(name.clone()));
        self.runtime.store.set_thread_config(thread_id, config).await?;
        Ok(())
    }

    async fn find_thread(&self, thread_id: &str) -> Result<Thread, RuntimeError> {
        self.runtime.find_thread(thread_id, &self.owner()).await
    }

    fn owner(&self) -> Owner {
        Owner::User(self.user_id.clone())
    }
}

/// Refuses a state with which the next run of the thread cannot begin, since it cannot be read as the state of a plan.
fn check_state(thread_id: &str, state: &Value) -> Result<(), RuntimeError> {
    PesAgentStateData::deserialize(state).map(drop).map_err(|error| {
        RuntimeError::Request(format!(
            "the state of thread `{thread_id}` is not one that a run can begin with: {error}"
        ))
    })
}

/// Refuses an empty list, and names that no tool can have. Accepts [`ThreadConfig::ALL_TOOLS`].
fn check_names(names: &[&str]) -> Result<(), RuntimeError> {
    if names.is_empty() {
        return Err(RuntimeError::Request(
            "the list of tools is empty; name at least one".to_owned(),
        ));
    }
    let is_valid = |name: &&str| *name == ThreadConfig::ALL_TOOLS || check_name(name).is_ok();
    match names.iter().find(|name| !is_valid(name)) {
        Some(name) => {
            let name = art_core::text::truncate(name, 64);
            Err(RuntimeError::Request(format!(
                "`{name}` is not a valid tool name; use the name of a tool"
            )))
        }
        None => Ok(()),
    }
}
