//! A tool system, which checks, limits and makes the calls of its tools. The tools are three guests: components built for the
//! tests.

use std::sync::Arc;

use art_core::limits::Limits;
use art_core::outcome::Outcome;
use art_core::tool::{ParsedToolCall, ToolSchema};
use art_sandbox::Plugin;
use art_tools::{
    CallScope, CheckedCall, EnabledTools, SystemConfig, ToolExecutor, ToolRegistry, ToolReport, ToolSystem,
};
use futures_util::future::{BoxFuture, join_all};
use serde_json::{Value, json};

use crate::harness::{components, guest};

/// A plugin whose calls have low limits, so that attacks end soon.
#[derive(Debug)]
struct LimitedPlugin(Arc<Plugin>);

impl ToolExecutor for LimitedPlugin {
    fn schema(&self) -> &ToolSchema {
        self.0.schema()
    }

    fn limits(&self) -> Limits {
        Limits {
            fuel: 400_000_000,
            timeout_ms: 2_000,
            ..Limits::EXECUTE
        }
    }

    fn owner(&self) -> &str {
        self.0.owner()
    }

    fn execute<'a>(&'a self, call: &'a CheckedCall) -> BoxFuture<'a, Outcome> {
        self.0.execute(call)
    }
}

/// A tool system with three guests, all enabled.
pub(crate) struct GuestToolSystem {
    system: ToolSystem,
    pub(crate) scope: CallScope,
}

impl GuestToolSystem {
    pub(crate) fn new() -> Self {
        let registry = Arc::new(ToolRegistry::new());
        let mut scope = CallScope {
            thread_id: "thread".to_owned(),
            trace_id: "trace".to_owned(),
            ..CallScope::default()
        };
        let mut names = Vec::new();
        for path in [components::ECHO, components::HOSTILE, components::INVALID_OUTPUT] {
            let tool = LimitedPlugin(guest(path));
            names.push(tool.schema().name.clone());
            registry.register(Arc::new(tool)).expect("the tool is admitted");
        }
        scope.enabled_tools = EnabledTools::Named(names);
        let system = ToolSystem::new(registry, SystemConfig::default());
        Self { system, scope }
    }

    /// Makes calls at the same time. The identifiers of the calls are `call_0`, `call_1` and so on.
    pub(crate) async fn batch(&self, calls: Vec<(&str, Value)>) -> Vec<ToolReport> {
        let calls = calls
            .into_iter()
            .enumerate()
            .map(|(n, (name, arguments))| ParsedToolCall {
                call_id: format!("call_{n}"),
                tool_name: name.to_owned(),
                arguments,
            });
        join_all(calls.map(|call| self.system.call(call, &self.scope))).await
    }

    /// Runs one call.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> ToolReport {
        self.batch(vec![(name, arguments)]).await.remove(0)
    }

    /// Calls the guest `invalid_output`, which returns the outcome that `case` names.
    pub(crate) async fn call_invalid_output(&self, case: &str) -> ToolReport {
        self.call("invalid_output", json!({"case": case})).await
    }
}
