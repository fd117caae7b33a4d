//! A loaded tool, ready to be called.

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

/// Progress message while the tool is compiled.
const COMPILES: &str = "compiling it for this machine, once";

/// A checked component. Every call runs in a fresh instance; the first one loads the program.
pub struct Plugin {
    pub(crate) sandbox: Sandbox,
    pub(crate) name: String,
    pub(crate) digest: blake3::Hash,
    pub(crate) inspection: Inspection,
    pub(crate) limits: Limits,
    pub(crate) schema: ToolSchema,
    /// The schema in its source text.
    pub(crate) said: SchemaText,
    pub(crate) program: Arc<Program>,
    /// Set once the program is loaded and its answer equals the section.
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
    /// Returns the name of its file, without the extension.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the BLAKE3 digest of the component, in hexadecimal.
    #[must_use]
    pub fn digest(&self) -> String {
        self.digest.to_hex().to_string()
    }

    /// Returns its imports and requests.
    #[must_use]
    pub fn inspection(&self) -> &Inspection {
        &self.inspection
    }

    /// Remembers that this host does not register the tool, because of its declarations.
    pub fn refuse(&self, reason: &str) {
        self.sandbox.refuse(self.program.digest(), reason);
    }

    /// Loads the program. A call that is cancelled does not wait for that.
    async fn load(&self, call: &Admitted) -> Result<(), Box<Ending>> {
        if !self.sandbox.has_code(self.program.digest()).unwrap_or_default() {
            call.progress().say(COMPILES, "");
        }
        let span = tracing::info_span!("component", file = format!("{}.wasm", self.name));
        let sandbox = self.sandbox.clone();
        let load = move |program: &Program| sandbox.load_program(program.digest(), None, || program.code());
        let loaded = tokio::select! {
            biased;
            () = call.cancel().cancelled() => return Err(Box::new(Ending::Cancelled)),
            loaded = span.in_scope(|| self.program.load(load)) => loaded,
        };
        loaded.map_err(|reason| Box::new(host_failure(&reason)))?;
        let answer = self.program.loaded().map(|loaded| &loaded.answer);
        if answer != Some(&self.said) {
            return Err(Box::new(host_failure(&LoadError::PromiseBroken.to_string())));
        }
        self.checked.store(true, Ordering::Release);
        Ok(())
    }

    async fn run(&self, call: &Admitted) -> Outcome {
        if let Some(preparing) = self.prepare(call)
            && let Err(ending) = preparing.await
        {
            return without_running(*ending);
        }
        let Some(LoadedProgram { linked, .. }) = self.program.loaded() else {
            return host_error("it was not loaded");
        };
        let pre = |index: usize| self.sandbox.instance(linked, index);
        if let Some(pre) = self.sandbox.current_worker().and_then(pre) {
            let input = call.input_json().to_owned();
            let (cancel, progress) = (call.cancel().clone(), call.progress().clone());
            return run_here(pre, call.limits(), cancel, progress, input, call.context()).await;
        }
        let index = self.sandbox.least_busy_worker();
        let Some(pre) = pre(index).cloned() else {
            return host_error("its component could not be linked for a worker");
        };
        let (limits, context, input) = (*call.limits(), call.context().clone(), call.input_json().to_owned());
        // Cancelled when the caller drops this future, so that the guest does not run on without a caller.
        let cancel = call.cancel().child_token();
        let _dropped = cancel.clone().drop_guard();
        let progress = call.progress().clone();
        let job = async move { run_here(&pre, &limits, cancel, progress, input, &context).await };
        let ran = self.sandbox.run_on_worker(index, job).await;
        ran.unwrap_or_else(|| host_error("the sandbox panicked"))
    }
}

async fn run_here(
    pre: &ToolPluginPre<CallState>,
    limits: &Limits,
    cancel: CancellationToken,
    progress: NewestProgress,
    input: String,
    context: &ExecutionContext,
) -> Outcome {
    match Invocation::new(pre, limits, cancel) {
        Ok(invocation) => invocation.with_progress(progress).execute(pre, input, context).await,
        Err(error) => host_error(&format!("{error:#}")),
    }
}

fn host_error(message: &str) -> Outcome {
    without_running(host_failure(message))
}

fn host_failure(message: &str) -> Ending {
    Ending::HostError {
        message: message.to_owned(),
    }
}

fn without_running(ending: Ending) -> Outcome {
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

    fn prepare<'a>(&'a self, call: &'a Admitted) -> Option<BoxFuture<'a, Result<(), Box<Ending>>>> {
        let has_to = !self.checked.load(Ordering::Acquire);
        has_to.then(|| self.load(call).boxed())
    }

    fn execute<'a>(&'a self, call: &'a Admitted) -> BoxFuture<'a, Outcome> {
        self.run(call).boxed()
    }
}
