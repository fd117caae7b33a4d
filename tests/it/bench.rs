//! A tool system over the guests, with observations that can be looked at.

use std::sync::{Arc, Mutex};

use art_core::limits::Limits;
use art_core::observation::NewObservation;
use art_core::outcome::Outcome;
use art_core::tool::{ParsedToolCall, ToolSchema};
use art_sandbox::Plugin;
use art_tools::{
    Admitted, CallScope, EnabledTools, ObservationSink, SinkError, SystemConfig, ToolExecutor, ToolRegistry,
    ToolReport, ToolSystem,
};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::harness::{components, guest};

/// A plugin with limits that make attacks short.
#[derive(Debug)]
struct Limited(Arc<Plugin>);

impl ToolExecutor for Limited {
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

    fn execute<'a>(&'a self, call: &'a Admitted) -> BoxFuture<'a, Outcome> {
        self.0.execute(call)
    }
}

#[derive(Debug, Default)]
struct Kept(Mutex<Vec<NewObservation>>);

impl ObservationSink for Kept {
    fn record<'a>(&'a self, observation: NewObservation) -> BoxFuture<'a, Result<(), SinkError>> {
        Box::pin(async move {
            self.0.lock().expect("no test panicked here").push(observation);
            Ok(())
        })
    }
}

/// A system with the guests of these tests, all enabled.
pub(crate) struct Bench {
    system: ToolSystem,
    kept: Arc<Kept>,
    pub(crate) scope: CallScope,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let registry = Arc::new(ToolRegistry::new());
        let mut scope = CallScope {
            thread_id: "thread".to_owned(),
            trace_id: "trace".to_owned(),
            ..CallScope::default()
        };
        let mut names = Vec::new();
        for path in [components::ECHO, components::HOSTILE, components::INVALID_OUTPUT] {
            let tool = Limited(guest(path));
            names.push(tool.schema().name.clone());
            registry.register(Arc::new(tool)).expect("the tool is admitted");
        }
        scope.enabled_tools = EnabledTools::Named(names);
        let kept = Arc::new(Kept::default());
        let system = ToolSystem::new(registry, Arc::<Kept>::clone(&kept), SystemConfig::default());
        Self { system, kept, scope }
    }

    /// Returns what was observed so far.
    pub(crate) fn observed(&self) -> Vec<NewObservation> {
        self.kept.0.lock().expect("no test panicked here").clone()
    }

    /// Runs one batch; the calls are numbered from 0.
    pub(crate) async fn batch(&self, calls: Vec<(&str, Value)>) -> Vec<ToolReport> {
        let calls = calls
            .into_iter()
            .enumerate()
            .map(|(n, (name, arguments))| ParsedToolCall {
                call_id: format!("call_{n}"),
                tool_name: name.to_owned(),
                arguments,
            });
        self.system.execute_batch(calls.collect(), &self.scope).await
    }

    pub(crate) async fn one(&self, name: &str, arguments: Value) -> ToolReport {
        self.batch(vec![(name, arguments)]).await.remove(0)
    }

    /// Returns what the tool that breaks the contract comes to.
    pub(crate) async fn invalid(&self, what: &str) -> ToolReport {
        self.one("invalid_output", json!({"what": what})).await
    }
}
