//! A tool that is loaded from a component and can be called.
//!
//! A tool that sends, returns or logs a canary is in quarantine: it is not called again. A canary is a decoy among the secrets
//! of the host that no tool is ever given.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use art_core::capability::{Authority, BaseDirs, CallGrants, Capability, Denial, ToolPolicy};
use art_core::error::in_one_line;
use art_core::intake::{Divergence, DivergenceReason, GivenByOperator, Intake, Replayed};
use art_core::limits::{Limits, LimitsNotGranted, SettableLimit};
use art_core::outcome::{CallLog, Ending, Outcome};
use art_core::secret::Secrets;
use art_core::tool::ToolSchema;
use art_core::usage::ToolUsage;
use art_staging::Origin;
use art_tools::NewestProgress;
use art_tools::executor::{CheckedCall, ToolExecutor};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::bindings::ToolPluginPre;
use crate::call::{EndedCall, ExecuteArguments, Invocation};
use crate::capability::fs::{FileTree, ProtectedPlaces, StagingArea, WriteNotes};
use crate::capability::http::Network;
use crate::convert;
use crate::error::LoadError;
use crate::guard::Grace;
use crate::host_memory::HostMemory;
use crate::inspect::Inspection;
use crate::program::{ComponentSource, LoadedProgram, Program};
use crate::sandbox::Sandbox;
use crate::schema_text::SchemaText;
use crate::secrets::quarantine_ending;
use crate::state::CallState;

/// Progress message while a tool is compiled.
const COMPILING: &str = "compiling the tool for this machine (first use only)";

/// How many times longer a replay may take than the recorded call, because the machine may be busier now.
const REPLAY_TIME_FACTOR: u64 = 2;

/// A tool from a component that the sandbox accepted. The first call loads its program, which is the compiled and linked code of
/// the component. Each call runs in a fresh instance of the program.
pub struct Plugin {
    pub(crate) sandbox: Sandbox,
    /// Name of the file, without the extension.
    pub(crate) name: String,
    /// Digest of the whole file.
    pub(crate) file_digest: blake3::Hash,
    pub(crate) inspection: Inspection,
    pub(crate) limits: Limits,
    pub(crate) authority: Authority,
    pub(crate) schema: ToolSchema,
    /// The result of `schema()` with its JSON fields as text; if the file has an `art:schema` section, the schema in there.
    pub(crate) schema_text: SchemaText,
    pub(crate) program: Arc<Program>,
    /// Reads the file of a tool that came from the [catalogue](crate::Catalog), so that the first call can check it. `None`
    /// for any other tool, since its file was read when the tool was loaded.
    pub(crate) source_to_check: Option<ComponentSource>,
    /// Whether a call has checked that the file still has `file_digest`, and that the result of its `schema()` equals
    /// `schema_text`.
    pub(crate) checked: AtomicBool,
    /// The name of the canary that was seen in a call, after which the tool is not called again.
    pub(crate) seen_canary: OnceLock<String>,
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plugin")
            .field("name", &self.name)
            .field("digest", &self.file_digest)
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
        self.file_digest.to_hex().to_string()
    }

    /// Returns the imports and the manifest of the component.
    #[must_use]
    pub fn inspection(&self) -> &Inspection {
        &self.inspection
    }

    /// Returns what the tool may do.
    #[must_use]
    pub const fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Gives the tool what the operator grants it. If the grants were made for another component, none of them applies, and the
    /// tool is not called until the operator approves them for this component. Relative paths and paths with `~` refer to
    /// `base_dirs`.
    ///
    /// # Errors
    /// Fails if the tool can never use a grant, or requests higher limits than granted.
    pub fn with_policy(mut self, policy: ToolPolicy, base_dirs: BaseDirs) -> Result<Self, LoadError> {
        if !policy.is_for(&self.digest()) {
            return Ok(self.with_withheld_policy(policy, base_dirs));
        }
        self.check_grants_are_usable(&policy)?;
        self.limits = self.limits_with(&policy)?;
        self.authority = Authority::new(&self.schema.name, self.inspection.requests(), policy, base_dirs);
        Ok(self)
    }

    /// Same as [`with_policy`](Self::with_policy), but in any case nothing in the policy applies, and the tool is not called
    /// until the operator approves the component.
    #[must_use]
    pub fn with_withheld_policy(mut self, policy: ToolPolicy, base_dirs: BaseDirs) -> Self {
        let requests = self.inspection.requests();
        self.authority = Authority::of_changed_component(&self.schema.name, requests, policy, base_dirs);
        self
    }

    /// Returns the same tool for a change of its grants, which do not apply to it. Calls in progress keep the grants that they
    /// began with.
    #[must_use]
    pub fn without_policy(&self) -> Self {
        let (tool, requests) = (&self.schema.name, self.inspection.requests());
        Self {
            sandbox: self.sandbox.clone(),
            name: self.name.clone(),
            file_digest: self.file_digest,
            inspection: self.inspection.clone(),
            limits: self.limits,
            authority: Authority::new(tool, requests, ToolPolicy::default(), BaseDirs::default()),
            schema: self.schema.clone(),
            schema_text: self.schema_text.clone(),
            program: Arc::clone(&self.program),
            source_to_check: self.source_to_check.clone(),
            checked: AtomicBool::new(self.is_checked()),
            seen_canary: self.seen_canary.clone(),
        }
    }

    /// Returns the limits of a call under the policy, whose limits take precedence over those of the configuration.
    fn limits_with(&self, policy: &ToolPolicy) -> Result<Limits, LoadError> {
        let overrides = policy.limit_overrides().map_err(LoadError::InvalidGrants)?;
        let requested = self.inspection.manifest.as_ref().map(|manifest| manifest.limits);
        let requested = requested.unwrap_or_default();
        let configured = self.sandbox.limits();
        if policy.limits.is_empty() {
            return Ok(configured.grant(&self.schema.name, requested)?);
        }
        let mut limits = configured.clone();
        let entry = limits.tools.entry(self.schema.name.clone()).or_default();
        *entry = overrides.or(*entry);
        // The limits of `art.toml` were checked when the tool was loaded, so an error is about the limits in `policy`.
        let granted = limits.grant(&self.schema.name, requested);
        Ok(granted.map_err(LimitsNotGranted::by_grants)?)
    }

    /// Refuses a grant that the component can never use.
    fn check_grants_are_usable(&self, policy: &ToolPolicy) -> Result<(), LoadError> {
        let granted = [
            (Capability::Fs, !policy.fs.is_empty()),
            (Capability::Http, !policy.http.is_empty()),
            (Capability::Env, !policy.env.is_empty()),
        ];
        for (capability, _) in granted.into_iter().filter(|(_, is_granted)| *is_granted) {
            if !self.may_use(capability) {
                let tool = self.schema.name.clone();
                return Err(LoadError::UnusableGrant { capability, tool });
            }
        }
        Ok(())
    }

    /// Returns whether the component imports the interface of the capability, and its manifest, if it has one, requests the
    /// capability.
    fn may_use(&self, capability: Capability) -> bool {
        let requests = self.inspection.requests();
        let is_requested = requests
            .as_ref()
            .is_none_or(|requests| requests.iter().any(|request| request.capability() == capability));
        is_requested && self.inspection.can_use(capability)
    }

    /// Returns the policy without what [`with_policy`](Self::with_policy) would refuse: the grants that the component can never
    /// use, and the limits that are lower than those it requests.
    #[must_use]
    pub fn usable_part(&self, mut policy: ToolPolicy) -> ToolPolicy {
        if !self.may_use(Capability::Fs) {
            policy.fs.clear();
        }
        if !self.may_use(Capability::Http) {
            policy.http.clear();
        }
        if !self.may_use(Capability::Env) {
            policy.env.clear();
        }
        let requested = self.inspection.manifest.as_ref().map(|manifest| manifest.limits);
        for limit in &SettableLimit::ALL {
            let value = limit.get(requested.unwrap_or_default());
            policy
                .limits
                .retain(|name, granted| name != limit.setting || value.is_none_or(|value| value <= *granted));
        }
        policy
    }

    /// Stores in the cache that this host refuses the tool because of its schema, so that later starts do not load it
    /// again.
    pub fn refuse(&self, reason: &str) {
        self.sandbox.store_refusal(self.program.digest(), reason);
    }

    /// Returns the program. Loads it first if necessary, and checks once that the file has not changed and that its `schema()`
    /// returns the schema that the file declares. Returns early if the call is cancelled.
    async fn load(&self, call: &CheckedCall) -> Result<Arc<LoadedProgram>, Box<Ending>> {
        if let (Some(program), true) = (self.program.loaded(), self.is_checked()) {
            return Ok(program);
        }
        if !self.sandbox.has_code(self.program.digest()).unwrap_or_default() {
            call.progress().report(COMPILING, "");
        }
        let load_failure = |error: LoadError| Box::new(host_error(&in_one_line(&error)));
        self.check_file().await.map_err(load_failure)?;
        let span = tracing::info_span!("component", file = format!("{}.wasm", self.name));
        let (sandbox, program_to_load) = (self.sandbox.clone(), Arc::clone(&self.program));
        let load = move |program: &Program| {
            sandbox.resident().make_room_for(&program_to_load)?;
            sandbox.load_program(program.digest(), None, || program.read_component())
        };
        let loaded = tokio::select! {
            biased;
            () = call.cancel().cancelled() => return Err(Box::new(Ending::Cancelled)),
            loaded = span.in_scope(|| self.program.load(load)) => loaded,
        };
        loaded.map_err(|reason| Box::new(host_error(&reason)))?;
        // The program may have been unloaded again already, to make room for another one.
        let program = self.program.loaded().ok_or(Ending::Busy)?;
        if program.schema != self.schema_text {
            return Err(load_failure(LoadError::SchemaMismatch));
        }
        self.checked.store(true, Ordering::Release);
        Ok(program)
    }

    fn is_checked(&self) -> bool {
        self.checked.load(Ordering::Acquire)
    }

    /// Checks that the file of a tool from the catalogue has the digest of the tool, since the file was not read when the tool
    /// was loaded. Does nothing for other tools, or if an earlier call has checked the file.
    async fn check_file(&self) -> Result<(), LoadError> {
        let Some(source) = self.source_to_check.clone().filter(|_| !self.is_checked()) else {
            return Ok(());
        };
        let (digest, (sender, receiver)) = (self.file_digest, oneshot::channel());
        let check = move || {
            let read = source().map_err(LoadError::Unreadable);
            let checked = read.and_then(|wasm| match blake3::hash(&wasm) == digest {
                true => Ok(()),
                false => Err(LoadError::Replaced),
            });
            // Sending fails if nobody waits for the result because the call was cancelled.
            drop(sender.send(checked));
        };
        let spawned = std::thread::Builder::new().name("art-check".to_owned()).spawn(check);
        spawned.map_err(LoadError::Unreadable)?;
        let panicked = |_closed| Err(LoadError::Unreadable(std::io::Error::other("the host panicked")));
        receiver.await.unwrap_or_else(panicked)
    }

    /// Returns the place for the staged changes of a call: changes of files that wait until a person commits them. `None` if no
    /// grant of the call stages changes, or if there is no folder for them.
    fn staging_area(&self, call: &CheckedCall) -> Option<StagingArea> {
        let stages = call.grants().fs.iter().any(|fs_right| fs_right.grant.stage);
        let staging = self.sandbox.staging().filter(|_| stages)?;
        Some(StagingArea {
            staging: Arc::clone(staging),
            origin: Origin {
                run: call.context().trace_id.clone(),
                call: call.context().call_id.clone(),
                tool: self.schema.name.clone(),
            },
        })
    }

    /// Runs a call, or replays it if there is a record, unless the tool is in quarantine. The result has a divergence
    /// only if a replay differed from the record.
    async fn run(&self, call: &CheckedCall, recorded: Option<&Intake>) -> Replayed {
        if let Some(canary) = self.seen_canary.get() {
            return ended_without_usage(quarantine_ending(canary)).replayed;
        }
        let EndedCall { replayed, canary } = self.run_in_sandbox(call, recorded).await;
        if let Some(canary) = canary {
            self.sandbox.quarantine(&self.digest(), &self.schema.name, &canary);
            self.seen_canary.get_or_init(|| canary);
        }
        replayed
    }

    /// Runs a call, or replays it if there is a record, on the current thread if that is a worker, and else on the least busy
    /// worker.
    async fn run_in_sandbox(&self, call: &CheckedCall, recorded: Option<&Intake>) -> EndedCall {
        let program = match self.load(call).await {
            Ok(program) => program,
            Err(ending) => return ended_without_usage(*ending),
        };
        let mut call_job = match recorded {
            Some(recorded) => self.replay_job(call, recorded),
            None => self.call_job(call),
        };
        call_job.grace.time = self.sandbox.cancel_grace(&program.component);
        let link_set = call_job.given.links;
        let instance_pre_for = |worker: usize| self.sandbox.instance_pre(&program.component, worker, link_set);
        if let Some(instance_pre) = self.sandbox.current_worker().and_then(instance_pre_for) {
            // The inner future is boxed, so that this function reserves no memory for it when the call runs on another thread.
            return Box::pin(call_job.run_on_this_thread(instance_pre, call.cancel().clone())).await;
        }
        let worker = self.sandbox.least_busy_worker();
        let Some(instance_pre) = instance_pre_for(worker).cloned() else {
            return ended_without_usage(host_error(
                "the tool's component could not be linked for a worker thread",
            ));
        };
        // Stops the guest if the caller drops this future.
        let cancel = call.cancel().child_token();
        let _cancel_on_drop = cancel.clone().drop_guard();
        let job = async move { Box::new(call_job.run_on_this_thread(&instance_pre, cancel).await) };
        let ended = self.sandbox.run_on_worker(worker, job).await;
        ended.map_or_else(
            || ended_without_usage(host_error("the sandbox panicked")),
            |ended| *ended,
        )
    }
}

/// What a worker needs to run a call. It is on the heap, because otherwise each future that passes it on would reserve
/// memory for it.
struct CallJob {
    limits: Limits,
    /// The limits, linked interfaces and environment variables of the call, for its record.
    given: GivenByOperator,
    grants: Arc<CallGrants>,
    progress: NewestProgress,
    grace: Grace,
    arguments: Box<ExecuteArguments>,
    /// The record, if the call is a replay.
    recorded: Option<Intake>,
    network: Arc<Network>,
    staging: Option<StagingArea>,
    protected: Arc<ProtectedPlaces>,
    write_notes: Option<Arc<WriteNotes>>,
    secrets: Arc<Secrets>,
}

impl Plugin {
    fn call_job(&self, call: &CheckedCall) -> Box<CallJob> {
        let grants = Arc::clone(call.grants());
        Box::new(CallJob {
            limits: *call.limits(),
            given: GivenByOperator {
                // The time limit of `call` is what was left of the tool's limit after the check of the arguments. The record
                // has the limit of the tool.
                limits: Limits {
                    timeout_ms: self.limits.timeout_ms,
                    ..*call.limits()
                },
                links: grants.link_set(),
                env: grants.env.clone(),
            },
            progress: call.progress().clone(),
            grace: Grace {
                time: Duration::ZERO,
                by_caller: call.cancel().clone(),
            },
            arguments: Box::new(ExecuteArguments {
                input: call.input_json().to_owned(),
                context: convert::context(call.context()),
            }),
            recorded: None,
            network: Arc::clone(self.sandbox.network()),
            staging: self.staging_area(call),
            protected: Arc::clone(self.sandbox.protected()),
            write_notes: self.sandbox.write_notes().cloned(),
            secrets: self.sandbox.secrets(&grants),
            grants,
        })
    }

    /// Returns the job that replays a call with the linked interfaces and environment variables in its record, and with the limits
    /// in it as far as this host allows them to the tool, since the record may come from a file of somebody else.
    fn replay_job(&self, call: &CheckedCall, recorded: &Intake) -> Box<CallJob> {
        let call_job = self.call_job(call);
        let (given, mut limits) = match &recorded.given {
            Some(given) => (given.clone(), given.limits.at_most(self.limits)),
            None => (call_job.given.clone(), call_job.limits),
        };
        let grants = CallGrants {
            requested: self.authority.requested(&call.call().arguments),
            tool: Arc::from(self.schema.name.as_str()),
            base_dirs: Arc::clone(&call_job.grants.base_dirs),
            clock: given.links.clock,
            random: given.links.random,
            env: given.env.clone(),
            // A replay uses no files and no network: the record has what the guest got from them.
            fs: Vec::new(),
            http: Vec::new(),
        };
        limits.timeout_ms = limits.timeout_ms.saturating_mul(REPLAY_TIME_FACTOR);
        Box::new(CallJob {
            limits,
            given,
            grants: Arc::new(grants),
            recorded: Some(recorded.clone()),
            staging: None,
            ..*call_job
        })
    }
}

impl CallJob {
    /// Runs the call on the current thread.
    async fn run_on_this_thread(
        self: Box<Self>,
        instance_pre: &ToolPluginPre<CallState>,
        cancel: CancellationToken,
    ) -> EndedCall {
        let (protected, write_notes) = (Arc::clone(&self.protected), self.write_notes.clone());
        let (invocation, arguments) = match self.invocation(instance_pre, cancel) {
            Ok(ready) => ready,
            Err(error) => return ended_without_usage(host_error(&format!("{error:#}"))),
        };
        match invocation.with_files(protected, write_notes) {
            Ok(invocation) => invocation.execute(instance_pre, arguments).await,
            Err(denials) => denied(denials),
        }
    }

    /// Returns the call, which is ready to run, and its arguments.
    fn invocation(
        self: Box<Self>,
        instance_pre: &ToolPluginPre<CallState>,
        cancel: CancellationToken,
    ) -> wasmtime::Result<(Box<Invocation>, Box<ExecuteArguments>)> {
        let mut invocation = Invocation::new(instance_pre, &self.limits, self.grants, cancel)?
            .with_given(self.given)
            .with_progress(self.progress)
            .with_grace(self.grace)
            .with_network(self.network)
            .with_staging(self.staging)
            .with_secrets(self.secrets);
        if let Some(recorded) = self.recorded {
            invocation = invocation.with_record(recorded);
        }
        Ok((invocation, self.arguments))
    }
}

fn host_error(message: &str) -> Ending {
    Ending::HostError {
        message: message.to_owned(),
    }
}

/// Returns the end of a call that was not run, or of which nothing is known but its ending.
fn ended_without_usage(ending: Ending) -> EndedCall {
    let outcome = Outcome {
        ending,
        usage: ToolUsage::default(),
        log: CallLog::default(),
        intake: Intake::default(),
        denials: Vec::new(),
        uses: Vec::new(),
    };
    let replayed = Replayed {
        outcome,
        divergence: None,
    };
    EndedCall { replayed, canary: None }
}

/// Returns the end of a call that was not run, because its grants do not lead any more to where they led when they were made.
fn denied(denials: Vec<Denial>) -> EndedCall {
    let message = "a grant does not lead to where it led when it was made".to_owned();
    let mut ended = ended_without_usage(Ending::Denied { message });
    ended.replayed.outcome.denials = denials;
    ended
}

/// Returns the result of a replay that was not run because its record is not complete.
fn not_replayed(reason: DivergenceReason) -> Replayed {
    // No answer of the host can be replayed, so the first one differs already.
    let divergence = Divergence { number: 1, reason };
    Replayed {
        divergence: Some(divergence),
        ..ended_without_usage(host_error(&divergence.to_string())).replayed
    }
}

impl ToolExecutor for Plugin {
    fn schema(&self) -> &ToolSchema {
        &self.schema
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns whether no grant lets a call have an effect outside of the sandbox.
    fn is_repeatable(&self) -> bool {
        !self.authority.may_have_effects()
    }

    fn authorize(&self, arguments: &Value) -> Result<Arc<CallGrants>, Vec<Denial>> {
        let grants = self.authority.grants_for(arguments)?;
        if !grants.fs.is_empty() {
            let (without_staging, without_notes) = (None, None);
            let files = FileTree::new(
                &grants,
                without_staging,
                without_notes,
                (self.sandbox.protected(), &HostMemory::default()),
            );
            files.open_bases(&grants)?;
            // A person should not be asked about a change that cannot be made.
            let denials = match self.authority.names_files_in_arguments() {
                true => files.system_denials(),
                false => Vec::new(),
            };
            if !denials.is_empty() {
                return Err(denials);
            }
        }
        Ok(grants)
    }

    fn owner(&self) -> &str {
        &self.name
    }

    fn digest(&self) -> Option<String> {
        Some(self.digest())
    }

    fn prepare<'a>(&'a self, call: &'a CheckedCall) -> Option<BoxFuture<'a, Result<(), Box<Ending>>>> {
        let is_prepared = self.is_checked() && self.program.is_loaded();
        (!is_prepared).then(|| self.load(call).map(|loaded| loaded.map(drop)).boxed())
    }

    fn execute<'a>(&'a self, call: &'a CheckedCall) -> BoxFuture<'a, Outcome> {
        self.run(call, None).map(|replayed| replayed.outcome).boxed()
    }

    fn replay<'a>(&'a self, call: &'a CheckedCall, recorded: &'a Intake) -> Option<BoxFuture<'a, Replayed>> {
        if let Some(reason) = recorded.why_incomplete() {
            return Some(ready(not_replayed(reason)).boxed());
        }
        Some(self.run(call, Some(recorded)).boxed())
    }
}
