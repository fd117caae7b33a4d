//! The registry of tools.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use art_core::tool::ToolSchema;

use crate::compiled::Tool;
use crate::executor::ToolExecutor;
use crate::refusal::RegisterError;

/// Returns whether two names are equal except for `_` and `-`, which people and models confuse.
#[must_use]
pub fn same_name(left: &str, right: &str) -> bool {
    let spelt = |byte: u8| if byte == b'-' { b'_' } else { byte };
    left.bytes().map(spelt).eq(right.bytes().map(spelt))
}

/// The tools of a host, by name. All methods take `&self`.
///
/// A tool is checked when it is registered, not when it is called. A running call keeps its tool even if the tool is
/// unregistered or replaced.
#[derive(Debug, Default)]
pub struct ToolRegistry {
    tools: RwLock<BTreeMap<String, Arc<Tool>>>,
}

impl ToolRegistry {
    /// Creates an empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool under the name in its schema (T1).
    ///
    /// # Errors
    /// Fails if the name is taken, whoever owns it (X3), or if the tool is refused.
    pub fn register(&self, executor: Arc<dyn ToolExecutor>) -> Result<(), RegisterError> {
        let tool = Tool::compile(executor)?;
        self.insert(tool, false)
    }

    /// Adds a tool, or replaces a tool with the same name and owner (X3).
    ///
    /// # Errors
    /// Fails if another owner has the name, or if the tool is refused.
    pub fn replace(&self, executor: Arc<dyn ToolExecutor>) -> Result<(), RegisterError> {
        let tool = Tool::compile(executor)?;
        self.insert(tool, true)
    }

    /// Removes a tool. Returns `false` if there was none (T2).
    pub fn unregister(&self, name: &str) -> bool {
        self.write().remove(name).is_some()
    }

    /// Removes every tool for which `predicate` returns true, given its schema and owner. Returns their number (T2).
    pub fn unregister_where(&self, mut predicate: impl FnMut(&ToolSchema, &str) -> bool) -> usize {
        let mut tools = self.write();
        let before = tools.len();
        tools.retain(|_, tool| !predicate(&tool.schema, &tool.owner));
        before - tools.len()
    }

    /// Removes all tools (T2).
    pub fn clear(&self) {
        self.write().clear();
    }

    /// Returns the executor of a tool.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<dyn ToolExecutor>> {
        self.tool(name).map(|tool| Arc::clone(&tool.executor))
    }

    /// Returns the owner of a tool.
    #[must_use]
    pub fn owner(&self, name: &str) -> Option<String> {
        self.tool(name).map(|tool| tool.owner.clone())
    }

    /// Returns the schema of a tool, with every `$ref` resolved.
    #[must_use]
    pub fn schema(&self, name: &str) -> Option<ToolSchema> {
        self.tool(name).map(|tool| tool.schema.clone())
    }

    /// Returns copies of all schemas, by name.
    #[must_use]
    pub fn list(&self) -> Vec<ToolSchema> {
        self.read().values().map(|tool| tool.schema.clone()).collect()
    }

    /// Returns copies of the schemas of the tools that are both registered and enabled, by name (T3).
    #[must_use]
    pub fn available(&self, is_enabled: impl Fn(&str) -> bool) -> Vec<ToolSchema> {
        let tools = self.read();
        let available = tools.values().filter(|tool| is_enabled(&tool.schema.name));
        available.map(|tool| tool.schema.clone()).collect()
    }

    pub(crate) fn tool(&self, name: &str) -> Option<Arc<Tool>> {
        self.read().get(name).map(Arc::clone)
    }

    fn insert(&self, tool: Tool, replace: bool) -> Result<(), RegisterError> {
        let mut tools = self.write();
        let twin = tools
            .values()
            .find(|present| same_name(&present.schema.name, &tool.schema.name));
        if let Some(present) = twin {
            if !replace || present.owner != tool.owner || present.schema.name != tool.schema.name {
                return Err(RegisterError::Duplicate {
                    name: present.schema.name.clone(),
                    owner: present.owner.clone(),
                    newcomer: tool.owner,
                });
            }
            tracing::warn!(tool = %tool.schema.name, owner = %tool.owner, "tool replaced");
        }
        tools.insert(tool.schema.name.clone(), Arc::new(tool));
        Ok(())
    }

    // A panic while the lock is held cannot leave the map half changed, so a poisoned lock can be used.
    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<String, Arc<Tool>>> {
        self.tools.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Arc<Tool>>> {
        self.tools.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
