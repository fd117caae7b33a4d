//! A loaded tool, ready to be called.

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
use crate::call::Session;
use crate::inspect::Inspection;
use crate::linked::Linked;
use crate::sandbox::Sandbox;
use crate::state::CallState;

/// A component that was checked, compiled and linked. Every call runs in a fresh instance.
pub struct Plugin {
    sandbox: Sandbox,
    name: String,
    digest: blake3::Hash,
    inspection: Inspection,
    limits: Limits,
    schema: ToolSchema,
    linked: Linked,
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
    pub(crate) fn new(
        sandbox: Sandbox,
        name: &str,
        digest: blake3::Hash,
        inspection: Inspection,
        limits: Limits,
        schema: ToolSchema,
        linked: Linked,
    ) -> Self {
        Self {
            sandbox,
            name: name.to_owned(),
            digest,
            inspection,
            limits,
            schema,
            linked,
        }
    }

    /// Name of its file, without the ending.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// BLAKE3 digest of the component, in hexadecimal.
    #[must_use]
    pub fn digest(&self) -> String {
        self.digest.to_hex().to_string()
    }

    /// What it imports and asks for.
    #[must_use]
    pub fn inspection(&self) -> &Inspection {
        &self.inspection
    }

    async fn run(&self, call: &Admitted) -> Outcome {
        let pre = |index: usize| self.sandbox.instance(&self.linked, index);
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
        // Cancelled when the caller drops this future, so that the guest does not run on for nobody.
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
    match Session::new(pre, limits, cancel) {
        Ok(session) => session.heard_by(progress).execute(pre, input, context).await,
        Err(error) => host_error(&format!("{error:#}")),
    }
}

fn host_error(message: &str) -> Outcome {
    let ending = Ending::HostError {
        message: message.to_owned(),
    };
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

    fn execute<'a>(&'a self, call: &'a Admitted) -> BoxFuture<'a, Outcome> {
        self.run(call).boxed()
    }
}
