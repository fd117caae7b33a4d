//! Helpers for the tests of this crate: tools whose calls end as a closure says, and a tool system that runs them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use art_core::intake::Intake;
use art_core::limits::Limits;
use art_core::outcome::{CallLog, Ending, Outcome, Success};
use art_core::tool::{ExecutionMode, ParsedToolCall, ToolSchema};
use art_core::usage::ToolUsage;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use serde_json::{Value, json};

use crate::{CallScope, CheckedCall, EnabledTools, SystemConfig, ToolExecutor, ToolRegistry, ToolReport, ToolSystem};

/// Returns the declaration of a tool that accepts any object.
pub(crate) fn schema(name: &str) -> ToolSchema {
    ToolSchema {
        name: name.to_owned(),
        description: format!("does {name}"),
        input_schema: json!({"type": "object"}).into(),
        output_schema: None,
        examples: Vec::new().into(),
        execution_mode: ExecutionMode::Functional,
        blocking_config: None,
        display_config: None,
    }
}

/// Returns a call with the identifier `call_NAME`.
pub(crate) fn call(name: &str, arguments: Value) -> ParsedToolCall {
    ParsedToolCall {
        call_id: format!("call_{name}"),
        tool_name: name.to_owned(),
        arguments,
    }
}

type Script = Box<dyn Fn(&CheckedCall) -> BoxFuture<'static, Ending> + Send + Sync>;

/// The fuel that each call of a scripted tool reports as used.
pub(crate) const REPORTED_FUEL: u64 = 7;

/// A tool that counts its calls. Each call runs `script`, a closure of the test, and ends with the [`Ending`] that it returns.
pub(crate) struct ScriptedTool {
    pub(crate) schema: ToolSchema,
    pub(crate) owner: String,
    pub(crate) limits: Limits,
    pub(crate) calls: AtomicUsize,
    /// How long the tool takes to prepare its first call.
    pub(crate) preparation: Duration,
    script: Script,
}

impl std::fmt::Debug for ScriptedTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.schema.name)
    }
}

impl ScriptedTool {
    pub(crate) fn new<F, Fut>(schema: ToolSchema, script: F) -> Self
    where
        F: Fn(&CheckedCall) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Ending> + Send + 'static,
    {
        Self {
            schema,
            owner: "plugin".to_owned(),
            limits: Limits::EXECUTE,
            calls: AtomicUsize::new(0),
            preparation: Duration::ZERO,
            script: Box::new(move |call| Box::pin(script(call))),
        }
    }

    /// Creates a tool that returns its input.
    pub(crate) fn echo(name: &str) -> Self {
        Self::new(schema(name), |call| std::future::ready(success_with(call.input_json())))
    }

    pub(crate) fn call_count(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

/// Returns the ending of a successful call with this output.
pub(crate) fn success_with(output: &str) -> Ending {
    Ending::Success(Success {
        output: output.to_owned(),
        ..Success::default()
    })
}

impl ToolExecutor for ScriptedTool {
    fn schema(&self) -> &ToolSchema {
        &self.schema
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn owner(&self) -> &str {
        &self.owner
    }

    fn prepare<'a>(&'a self, _call: &'a CheckedCall) -> Option<BoxFuture<'a, Result<(), Box<Ending>>>> {
        let takes_time = !self.preparation.is_zero();
        takes_time.then(|| tokio::time::sleep(self.preparation).map(Ok).boxed())
    }

    fn execute<'a>(&'a self, call: &'a CheckedCall) -> BoxFuture<'a, Outcome> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let ending = (self.script)(call);
        Box::pin(async move {
            Outcome {
                ending: ending.await,
                usage: ToolUsage {
                    fuel: REPORTED_FUEL,
                    ..ToolUsage::default()
                },
                log: CallLog::default(),
                // The call learned nothing from outside, was denied nothing and used no grant.
                intake: Intake::default(),
                denials: Vec::new(),
                uses: Vec::new(),
            }
        })
    }
}

/// A tool system for tests, and a scope for calls in which all tools of the system are enabled. The calls belong to the plan
/// item `item` of the run `run` in the thread `T`.
pub(crate) struct TestHost {
    pub(crate) system: ToolSystem,
    pub(crate) scope: CallScope,
}

impl TestHost {
    pub(crate) fn new(tools: impl IntoIterator<Item = Arc<ScriptedTool>>) -> Self {
        Self::with_config(tools, SystemConfig::default())
    }

    pub(crate) fn with_config(tools: impl IntoIterator<Item = Arc<ScriptedTool>>, config: SystemConfig) -> Self {
        let registry = Arc::new(ToolRegistry::new());
        let mut scope = CallScope {
            thread_id: "T".to_owned(),
            trace_id: "run".to_owned(),
            parent_id: Some("item".to_owned()),
            ..CallScope::default()
        };
        let mut names = Vec::new();
        for tool in tools {
            names.push(tool.schema.name.clone());
            registry.register(tool).unwrap();
        }
        scope.enabled_tools = EnabledTools::Named(names);
        Self {
            system: ToolSystem::new(registry, config),
            scope,
        }
    }

    /// Makes the calls at the same time. Returns their reports in the order of the calls.
    pub(crate) async fn run(&self, calls: Vec<ParsedToolCall>) -> Vec<ToolReport> {
        self.run_in(calls, &self.scope).await
    }

    /// Makes the calls at the same time, as a batch with this scope.
    pub(crate) async fn run_in(&self, calls: Vec<ParsedToolCall>, scope: &CallScope) -> Vec<ToolReport> {
        join_all(calls.into_iter().map(|call| self.system.call(call, scope))).await
    }
}
