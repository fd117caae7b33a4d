//! The registry of tools.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use art_core::capability::Denial;
use art_core::limits::Limits;
use art_core::tool::ToolSchema;
use serde_json::Value;

use crate::check::check_arguments;
use crate::compiled::RegisteredTool;
use crate::executor::ToolExecutor;
use crate::refusal::RegisterError;
use crate::shape::JsonSize;

/// Returns whether two names are equal except for `_` and `-`, which people and models confuse.
#[must_use]
pub fn same_name(left: &str, right: &str) -> bool {
    name_key(left) == name_key(right)
}

/// Returns the key of a name: the name with `_` in place of `-`. Names that count as the same have the same key.
fn name_key(name: &str) -> String {
    name.replace('-', "_")
}

/// The tools of a host, by name. All methods take `&self`.
///
/// A tool is checked when it is registered, not when it is called. A running call keeps its tool even if the tool is
/// unregistered or replaced.
#[derive(Debug, Default)]
pub struct ToolRegistry {
    /// The tools by the [keys](name_key) of their names.
    tools: RwLock<BTreeMap<String, Arc<RegisteredTool>>>,
}

impl ToolRegistry {
    /// Creates an empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool under the name in its schema (contract T1).
    ///
    /// # Errors
    /// Fails if a tool of any owner has the name or one that differs only in `_` and `-` (contract X3), or if the
    /// declaration of the tool is invalid.
    pub fn register(&self, executor: Arc<dyn ToolExecutor>) -> Result<(), RegisterError> {
        let tool = RegisteredTool::compile(executor)?;
        self.insert(tool, false)
    }

    /// Adds a tool, or replaces a tool with the same name and owner (contract X3).
    ///
    /// # Errors
    /// Fails if another owner has the name, if a name that differs only in `_` and `-` is registered, or if the declaration of
    /// the tool is invalid.
    pub fn replace(&self, executor: Arc<dyn ToolExecutor>) -> Result<(), RegisterError> {
        let tool = RegisteredTool::compile(executor)?;
        self.insert(tool, true)
    }

    /// Removes a tool. Returns whether it was registered (contract T2).
    pub fn unregister(&self, name: &str) -> bool {
        let mut tools = self.write();
        let is_registered = tools.get(&name_key(name)).is_some_and(|tool| tool.schema.name == name);
        is_registered && tools.remove(&name_key(name)).is_some()
    }

    /// Removes every tool for whose schema and owner `predicate` returns true. Returns the number of removed tools
    /// (contract T2).
    pub fn unregister_where(&self, mut predicate: impl FnMut(&ToolSchema, &str) -> bool) -> usize {
        let mut tools = self.write();
        let before = tools.len();
        tools.retain(|_, tool| !predicate(&tool.schema, &tool.owner));
        before - tools.len()
    }

    /// Removes all tools (contract T2).
    pub fn clear(&self) {
        self.write().clear();
    }

    /// Returns the schema of a tool, with every `$ref` resolved.
    #[must_use]
    pub fn schema(&self, name: &str) -> Option<ToolSchema> {
        self.tool(name).map(|tool| tool.schema.clone())
    }

    /// Returns the limits of a tool.
    #[must_use]
    pub fn limits(&self, name: &str) -> Option<Limits> {
        self.tool(name).map(|tool| tool.limits)
    }

    /// Returns whether a call of a tool may be made again if it is unknown how the first attempt ended. False if there is no such
    /// tool.
    #[must_use]
    pub fn is_repeatable(&self, name: &str) -> bool {
        self.tool(name).is_some_and(|tool| tool.is_repeatable)
    }

    /// Returns the digest of the code of a tool, if it has one.
    #[must_use]
    pub fn digest(&self, name: &str) -> Option<Arc<str>> {
        self.tool(name).and_then(|tool| tool.digest.clone())
    }

    /// Returns copies of all schemas, ordered by name, where `-` counts as `_`.
    #[must_use]
    pub fn list(&self) -> Vec<ToolSchema> {
        self.read().values().map(|tool| tool.schema.clone()).collect()
    }

    /// Returns copies of the schemas of the tools that are both registered and enabled, in the order of [`Self::list`]
    /// (contract T3).
    #[must_use]
    pub fn available(&self, is_enabled: impl Fn(&str) -> bool) -> Vec<ToolSchema> {
        let tools = self.read();
        tools
            .values()
            .map(|tool| &tool.schema)
            .filter(|schema| is_enabled(&schema.name))
            .cloned()
            .collect()
    }

    /// Checks arguments in the same way as a call does: the defaults of the input schema are filled in first.
    ///
    /// # Errors
    /// Fails with what is wrong with the arguments, or if there is no such tool.
    pub fn check_arguments(&self, name: &str, arguments: &Value) -> Result<(), String> {
        let tool = self.tool(name).ok_or_else(|| format!("there is no tool `{name}`"))?;
        let size = JsonSize::of_payload(arguments).map_err(|problem| format!("input is {problem}"))?;
        check_arguments(&tool, arguments.clone(), size).map(drop)
    }

    /// Returns what a call with these arguments would need and is not granted. Empty if there is no such tool.
    #[must_use]
    pub fn missing_grants(&self, name: &str, arguments: &Value) -> Vec<Denial> {
        let tool = self.tool(name);
        let authorized = tool.map(|tool| tool.executor.authorize(arguments));
        authorized.and_then(Result::err).unwrap_or_default()
    }

    pub(crate) fn tool(&self, name: &str) -> Option<Arc<RegisteredTool>> {
        let tools = self.read();
        tools
            .get(&name_key(name))
            .filter(|tool| tool.schema.name == name)
            .map(Arc::clone)
    }

    /// Adds a tool. If `may_replace` is true, it may replace a tool with the same name and owner.
    fn insert(&self, tool: RegisteredTool, may_replace: bool) -> Result<(), RegisterError> {
        let mut tools = self.write();
        if let Some(existing) = tools.get(&name_key(&tool.schema.name)) {
            if !may_replace || existing.owner != tool.owner || existing.schema.name != tool.schema.name {
                return Err(RegisterError::Duplicate {
                    existing: existing.schema.name.clone(),
                    owner: existing.owner.clone(),
                    name: tool.schema.name,
                    new_owner: tool.owner,
                });
            }
            // The owner replaces its own tool (contract X3), which is nothing to warn about.
            tracing::info!(tool = %tool.schema.name, owner = %tool.owner, "tool replaced");
        }
        tools.insert(name_key(&tool.schema.name), Arc::new(tool));
        Ok(())
    }

    // A panic while the lock is held cannot leave the map half changed, so a poisoned lock can be used.
    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<String, Arc<RegisteredTool>>> {
        self.tools.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Arc<RegisteredTool>>> {
        self.tools.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
