//! A tool that is loaded from a component and can be called.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use art_core::limits::Limits;
use art_core::outcome::{CallLog, Ending, Outcome};
use art_core::tool::{ExecutionContext, ToolSchema};
use art_core::usage::Usage;
use art_tools::NewestProgress;
use art_tools::executor::{Admitted, ToolExecutor};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::bindings::ToolPluginPre;
use crate::call::Invocation;
use crate::error::LoadError;
use crate::inspect::Inspection;
use crate::program::{LoadedProgram, Program};
use crate::sandbox::Sandbox;
use crate::schema_text::SchemaText;
use crate::state::CallState;

/// Progress message while a tool is compiled.
const COMPILING: &str = "compiling the tool for this machine (first use only)";

/// A tool from a component that was checked. Each call runs in a fresh instance, and the first call loads the program.
pub struct Plugin {
    pub(crate) sandbox: Sandbox,
    pub(crate) name: String,
    pub(crate) digest: blake3::Hash,
    pub(crate) inspection: Inspection,
    pub(crate) limits: Limits,
    pub(crate) schema: ToolSchema,
    /// `schema` as the tool or its file declares it, not parsed.
    pub(crate) schema_text: SchemaText,
    pub(crate) program: Arc<Program>,
    /// Whether the program is loaded and the result of its `schema()` equals `schema_text`.
    pub(crate) checked: AtomicBool,
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plugin")
            .field("name", &self.name)
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}

impl Plugin {
    /// Returns the name of the file, without the extension.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the BLAKE3 digest of the file, in hexadecimal.
    #[must_use]
    pub fn digest(&self) -> String {
        self.digest.to_hex().to_string()
    }

    /// Returns the imports and the manifest of the component.
    #[must_use]
    pub fn inspection(&self) -> &Inspection {
        &self.inspection
    }

    /// Stores in the cache that this host refuses the tool because of its schema, so that later starts do not load it
    /// again.
    pub fn refuse(&self, reason: &str) {
        self.sandbox.store_refusal(self.program.digest(), reason);
    }

    /// Loads the program, and checks that its `schema()` returns the schema that the file declares. Returns early if
    /// the call is cancelled.
    async fn load(&self, call: &Admitted) -> Result<(), Box<Ending>> {
        if !self.sandbox.has_code(self.program.digest()).unwrap_or_default() {
            call.progress().report(COMPILING, "");
        }
        let span = tracing::info_span!("component", file = format!("{}.wasm", self.name));
        let sandbox = self.sandbox.clone();
        let load = move |program: &Program| sandbox.load_program(program.digest(), None, || program.read_component());
        let loaded = tokio::select! {
            biased;
            () = call.cancel().cancelled() => return Err(Box::new(Ending::Cancelled)),
            loaded = span.in_scope(|| self.program.load(load)) => loaded,
        };
        loaded.map_err(|reason| Box::new(host_error(&reason)))?;
        let schema = self.program.loaded().map(|loaded| &loaded.schema);
        if schema != Some(&self.schema_text) {
            return Err(Box::new(host_error(&LoadError::SchemaMismatch.to_string())));
        }
        self.checked.store(true, Ordering::Release);
        Ok(())
    }

    async fn run(&self, call: &Admitted) -> Outcome {
        if let Some(preparation) = self.prepare(call)
            && let Err(ending) = preparation.await
        {
            return outcome_without_usage(*ending);
        }
        let Some(LoadedProgram { component, .. }) = self.program.loaded() else {
            return host_error_outcome("the tool's code was not loaded");
        };
        let instance_pre = |index: usize| self.sandbox.instance_pre(component, index);
        if let Some(instance_pre) = self.sandbox.current_worker().and_then(instance_pre) {
            let input = call.input_json().to_owned();
            let (cancel, progress) = (call.cancel().clone(), call.progress().clone());
            return run_on_this_thread(instance_pre, call.limits(), cancel, progress, input, call.context()).await;
        }
        let index = self.sandbox.least_busy_worker();
        let Some(instance_pre) = instance_pre(index).cloned() else {
            return host_error_outcome("the tool's component could not be linked for a worker thread");
        };
        let (limits, context, input) = (*call.limits(), call.context().clone(), call.input_json().to_owned());
        // Stops the guest if the caller drops this future.
        let cancel = call.cancel().child_token();
        let _cancel_on_drop = cancel.clone().drop_guard();
        let progress = call.progress().clone();
        let job = async move { run_on_this_thread(&instance_pre, &limits, cancel, progress, input, &context).await };
        let outcome = self.sandbox.run_on_worker(index, job).await;
        outcome.unwrap_or_else(|| host_error_outcome("the sandbox panicked"))
    }
}

/// Runs a call on the current thread.
async fn run_on_this_thread(
    instance_pre: &ToolPluginPre<CallState>,
    limits: &Limits,
    cancel: CancellationToken,
    progress: NewestProgress,
    input: String,
    context: &ExecutionContext,
) -> Outcome {
    match Invocation::new(instance_pre, limits, cancel) {
        Ok(invocation) => {
            let invocation = invocation.with_progress(progress);
            invocation.execute(instance_pre, input, context).await
        }
        Err(error) => host_error_outcome(&format!("{error:#}")),
    }
}

fn host_error_outcome(message: &str) -> Outcome {
    outcome_without_usage(host_error(message))
}

fn host_error(message: &str) -> Ending {
    Ending::HostError {
        message: message.to_owned(),
    }
}

fn outcome_without_usage(ending: Ending) -> Outcome {
    Outcome {
        ending,
        usage: Usage::default(),
        log: CallLog::default(),
    }
}

impl ToolExecutor for Plugin {
    fn schema(&self) -> &ToolSchema {
        &self.schema
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn owner(&self) -> &str {
        &self.name
    }

    fn digest(&self) -> Option<String> {
        Some(self.digest())
    }

    fn prepare<'a>(&'a self, call: &'a Admitted) -> Option<BoxFuture<'a, Result<(), Box<Ending>>>> {
        let needs_check = !self.checked.load(Ordering::Acquire);
        needs_check.then(|| self.load(call).boxed())
    }

    fn execute<'a>(&'a self, call: &'a Admitted) -> BoxFuture<'a, Outcome> {
        self.run(call).boxed()
    }
}
