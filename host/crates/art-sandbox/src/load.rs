//! Loads a component as a tool. The results of compiling the component and of calling `schema()` are stored in the cache, so that
//! each is done only once.
//!
//! The cache also keeps why a component was refused, or was postponed because it took too long to compile, so that later starts
//! of the host do not try again: for a refusal as long as the component and the host stay the same, for a postponement one day.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock, PoisonError, Weak};
use std::time::Duration;

use art_core::capability::{Authority, BaseDirs, CallGrants, CapabilityRequest, RequestedUrl, ToolPolicy};
use art_core::error::in_one_line;
use art_core::limits::{LimitOverrides, Limits};
use art_core::tool::ToolSchema;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::cache::CodeCache;
use crate::call::{Invocation, SchemaCallError};
use crate::catalog::ListedComponent;
use crate::compile::compile_in_host;
use crate::convert;
use crate::error::{LoadError, Retention};
use crate::inspect::{Inspection, MAX_COMPONENT_BYTES, inspect_and_split};
use crate::linked::{CompiledCode, LinkedComponent};
use crate::plugin::Plugin;
use crate::program::{ComponentSource, LoadedProgram, Program};
use crate::sandbox::Sandbox;
use crate::schema_text::{self, SchemaText};

/// Maximum number of arguments that an error names.
const MAX_NAMED_ARGUMENTS: usize = 16;

/// A file of a component that passed all checks that can be made without compiling it.
struct CheckedFile<'a> {
    inspection: Inspection,
    /// Digest of the whole file.
    file_digest: blake3::Hash,
    /// The bytes of the component without its `art:schema` section.
    component: &'a [u8],
    /// Digest of `component`, which is the key of the program in the cache.
    component_digest: blake3::Hash,
    /// The schema in the `art:schema` section.
    declared_schema: Option<SchemaText>,
}

impl CheckedFile<'_> {
    /// Returns the limits that the manifest requests.
    fn requested_limits(&self) -> LimitOverrides {
        let manifest = self.inspection.manifest.as_ref();
        manifest.map(|manifest| manifest.limits).unwrap_or_default()
    }
}

impl Sandbox {
    /// Loads a component as a tool. `name` is the name of its file, without the extension.
    ///
    /// The schema comes from the cache or the `art:schema` section, and the first call of the tool compiles the
    /// component. If neither has a schema, the component is compiled now and its `schema()` is called. Here, the JSON
    /// fields of the schema are only parsed; the registry validates the schema.
    ///
    /// Compiling keeps the thread busy for seconds. Call this from a thread that may block, and not from a job of
    /// [`run_on_worker`](Self::run_on_worker).
    ///
    /// # Errors
    /// Fails if the component is refused, or if the current thread is a worker thread.
    pub fn load(&self, name: &str, wasm: &[u8]) -> Result<Plugin, LoadError> {
        let copy: Arc<[u8]> = wasm.into();
        let source: ComponentSource = Arc::new(move || Ok(copy.to_vec()));
        match self.load_without_compiling(name, wasm, &source)? {
            Some(plugin) => Ok(plugin),
            None => self.compile_and_load(name, wasm, &source, None),
        }
    }

    /// Same as [`load`](Self::load), but returns `None` if the component would have to be compiled. `source` reads the
    /// file again when a call has to compile it.
    ///
    /// # Errors
    /// Same as [`load`](Self::load).
    pub fn load_without_compiling(
        &self,
        name: &str,
        wasm: &[u8],
        source: &ComponentSource,
    ) -> Result<Option<Plugin>, LoadError> {
        let file = self.check_file(wasm)?;
        self.check_not_refused(&file.component_digest)?;
        let schema_text = match (&file.declared_schema, self.cached_schema(&file.component_digest)?) {
            (Some(declared), Some(cached)) if *declared != cached => return Err(LoadError::SchemaMismatch),
            // The code is in the cache, so `compile_and_load` calls `schema()` and compiles nothing.
            (None, None) if self.has_code(&file.component_digest)? => {
                return self.compile_and_load(name, wasm, source, None).map(Some);
            }
            (None, None) => return Ok(None),
            (Some(declared), _) => declared.clone(),
            (None, Some(cached)) => cached,
        };
        let program = self.shared_program(file.component_digest, source, file.inspection.host_bytes);
        self.new_plugin(name, file, schema_text, program).map(Some)
    }

    /// Same as [`load`](Self::load), but always loads the program, which is the compiled and linked code. Compiles the component
    /// unless its code is in the cache. `cpu_share` is the processor time that the compiler process may use; `None` means that
    /// only the process's own limits apply.
    ///
    /// # Errors
    /// Same as [`load`](Self::load), and [`LoadError::Postponed`] when the share is used up. The cache keeps that for a
    /// day.
    pub fn compile_and_load(
        &self,
        name: &str,
        wasm: &[u8],
        source: &ComponentSource,
        cpu_share: Option<Duration>,
    ) -> Result<Plugin, LoadError> {
        let file = self.check_file(wasm)?;
        let program = self.shared_program(file.component_digest, source, file.inspection.host_bytes);
        let loaded = self.load_program(&file.component_digest, cpu_share, || Ok(file.component.to_vec()))?;
        let schema_text = loaded.schema.clone();
        // Keep the program loaded only if its code is not in the cache, and if there is room for it. Code in the cache is quickly
        // mapped again when the tool is called. If it stayed mapped, a thousand tools would keep a thousand files open.
        if !self.has_code(&file.component_digest)? {
            program.set_loaded(loaded);
            if self.resident().make_room_for(&program).is_err() {
                program.unload_if_idle();
            }
        }
        self.new_plugin(name, file, schema_text, program)
    }

    /// Loads a component of the [catalogue](crate::Catalog) as a tool, without reading its file. The first call of the tool reads
    /// the file with `source`, and fails if the file has another digest.
    ///
    /// # Errors
    /// Fails if the component is refused, or if the current thread is a worker thread.
    pub fn load_listed(
        &self,
        name: &str,
        listed: &ListedComponent,
        source: &ComponentSource,
    ) -> Result<Plugin, LoadError> {
        if self.current_worker().is_some() {
            return Err(LoadError::OnWorkerThread);
        }
        self.check_not_refused(&listed.digest)?;
        let file = CheckedFile {
            inspection: listed.inspection.clone(),
            file_digest: listed.file_digest,
            component: &[],
            component_digest: listed.digest,
            declared_schema: None,
        };
        let program = self.shared_program(file.component_digest, source, file.inspection.host_bytes);
        let mut plugin = self.new_plugin(name, file, listed.schema.clone(), program)?;
        plugin.source_to_check = Some(Arc::clone(source));
        Ok(plugin)
    }

    /// Fails if an earlier start of the host refused or postponed the component.
    fn check_not_refused(&self, digest: &blake3::Hash) -> Result<(), LoadError> {
        match self.cached_refusal(digest)?.or(self.postponement(digest)?) {
            Some(reason) => Err(LoadError::RefusedBefore(reason)),
            None => Ok(()),
        }
    }

    /// Returns the component with an `art:schema` section at its end that holds the result of its `schema()`, so that hosts can
    /// offer the tool without compiling it.
    ///
    /// # Errors
    /// Same as [`load`](Self::load).
    pub fn with_schema(&self, wasm: &[u8]) -> Result<Vec<u8>, LoadError> {
        let file = self.check_file(wasm)?;
        let schema = match self.cached_schema(&file.component_digest)? {
            Some(schema) => schema,
            None => {
                self.load_program(&file.component_digest, None, || Ok(file.component.to_vec()))?
                    .schema
            }
        };
        schema_text::append_section(file.component, &schema)
    }

    /// Stores in the cache that this host refuses the tool because of its schema.
    pub(crate) fn store_refusal(&self, digest: &blake3::Hash, reason: &str) {
        if let (Some(cache), Ok(engine)) = (self.cache(), self.first_engine()) {
            cache.put_refusal(engine, digest, reason);
        }
    }

    /// Makes all checks of the file of a component that need no compiling.
    fn check_file<'a>(&self, wasm: &'a [u8]) -> Result<CheckedFile<'a>, LoadError> {
        if self.current_worker().is_some() {
            return Err(LoadError::OnWorkerThread);
        }
        let bytes = wasm.len() as u64;
        if bytes > MAX_COMPONENT_BYTES {
            return Err(LoadError::TooLarge {
                bytes,
                limit: MAX_COMPONENT_BYTES,
            });
        }
        let (inspection, split_file) = inspect_and_split(wasm)?;
        let file = CheckedFile {
            inspection,
            file_digest: blake3::hash(wasm),
            component: split_file.component,
            component_digest: blake3::hash(split_file.component),
            declared_schema: split_file.declared_schema,
        };
        // `apply` fails for limits above the maximum, which no operator can allow. They are refused here, so that the component
        // is not compiled in vain.
        file.requested_limits().apply(Limits::EXECUTE)?;
        Ok(file)
    }

    /// Returns the tool, with no grants yet. Fails if a JSON field of its schema is invalid, if a capability refers to an argument
    /// that the tool does not have, or if its limits are not granted.
    fn new_plugin(
        &self,
        name: &str,
        file: CheckedFile<'_>,
        schema_text: SchemaText,
        program: Arc<Program>,
    ) -> Result<Plugin, LoadError> {
        let schema = convert::schema(&schema_text).map_err(|error| LoadError::SchemaCall {
            reason: error.into_reason(),
        })?;
        check_argument_references(&file.inspection, &schema)?;
        // The name in the schema decides which limits the tool gets, because the tool is called by that name. The name in the
        // manifest is not used for calls, so it could be that of another tool, which has higher limits.
        let limits = self.limits().grant(&schema.name, file.requested_limits())?;
        let authority = Authority::new(
            &schema.name,
            file.inspection.requests(),
            ToolPolicy::default(),
            BaseDirs::default(),
        );
        Ok(Plugin {
            authority,
            sandbox: self.clone(),
            name: name.to_owned(),
            file_digest: file.file_digest,
            inspection: file.inspection,
            limits,
            schema,
            schema_text,
            program,
            source_to_check: None,
            checked: AtomicBool::new(false),
            seen_canary: OnceLock::new(),
        })
    }

    /// Returns the program of the component with this digest. All files with the same component share one.
    fn shared_program(&self, digest: blake3::Hash, source: &ComponentSource, host_bytes: u64) -> Arc<Program> {
        let mut programs = self.programs().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(&digest).and_then(Weak::upgrade) {
            return program;
        }
        let program = Arc::new(Program::new(digest, Arc::clone(source), host_bytes));
        // Entries of dropped programs are removed only when the number of entries is a power of two: a folder may have ten
        // thousand programs, and to go through all entries for each new program would be slow.
        if programs.len().is_power_of_two() {
            programs.retain(|_, program| program.strong_count() > 0);
        }
        programs.insert(digest, Arc::downgrade(&program));
        program
    }

    /// Loads a program and its schema: from the cache, or by compiling the component and calling its `schema()`. Stores the
    /// results in the cache, including the reason of a refusal. `read_component` returns the bytes of the component, and is
    /// called only if the component has to be compiled.
    pub(crate) fn load_program(
        &self,
        digest: &blake3::Hash,
        cpu_share: Option<Duration>,
        read_component: impl FnOnce() -> Result<Vec<u8>, LoadError>,
    ) -> Result<LoadedProgram, LoadError> {
        if let Some(reason) = self.cached_refusal(digest)? {
            return Err(LoadError::RefusedBefore(reason));
        }
        let code = match self.cached_code(digest)? {
            Some(code) => code,
            None => self.compile(&read_component()?, digest, cpu_share)?,
        };
        let worker = self.least_busy_worker();
        let component = LinkedComponent::new(self.engines(), worker, &code)
            .inspect_err(|error| self.store_error(error.retention(), digest, error))?;
        let schema = match self.cached_schema(digest)? {
            Some(schema) => schema,
            None => self.call_schema_and_store(&component, worker, digest)?,
        };
        Ok(LoadedProgram { component, schema })
    }

    /// Calls `schema()` and stores its result, or its failure, in the cache.
    fn call_schema_and_store(
        &self,
        component: &LinkedComponent,
        worker: usize,
        digest: &blake3::Hash,
    ) -> Result<SchemaText, LoadError> {
        let result = self.call_schema(component, worker).and_then(|schema| {
            let invalid_schema_error = |error: convert::InvalidField| SchemaCallError {
                reason: error.into_reason(),
                retention: Retention::Always,
            };
            convert::schema(&schema).map_err(invalid_schema_error).map(|_| schema)
        });
        let schema = result.map_err(|SchemaCallError { reason, retention }| {
            let error = LoadError::SchemaCall { reason };
            self.store_error(retention, digest, &error);
            error
        })?;
        if let (Some(cache), Ok(engine)) = (self.cache(), self.first_engine()) {
            cache.put_schema(engine, digest, &schema);
        }
        Ok(schema)
    }

    /// Calls `schema()` on a worker, and blocks until it returns, but at most for twice its time limit.
    fn call_schema(&self, component: &LinkedComponent, worker: usize) -> Result<SchemaText, SchemaCallError> {
        let not_run_error = |reason: &str| SchemaCallError::transient(format!("could not be run: {reason}"));
        let grants = CallGrants::by_default();
        let instance_pre = self.instance_pre(component, worker, grants.link_set()).cloned();
        let instance_pre = instance_pre.ok_or_else(|| not_run_error("the component is not linked"))?;
        let job = async move {
            match Invocation::new(&instance_pre, &Limits::SCHEMA, grants, CancellationToken::new()) {
                Ok(invocation) => invocation.schema(&instance_pre).await,
                Err(error) => Err(SchemaCallError::transient(format!("could not be run: {error:#}"))),
            }
        };
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        // Sending fails if the receiver below timed out.
        let job = async move { drop(sender.send(job.await)) };
        let timeout = 2 * Duration::from_millis(Limits::SCHEMA.timeout_ms);
        let sent = self.worker_threads().spawn(worker, job);
        let result = sent.and_then(|()| receiver.recv_timeout(timeout).ok());
        result.unwrap_or_else(|| Err(not_run_error("its worker thread is busy or has panicked")))
    }

    fn cached_code(&self, digest: &blake3::Hash) -> Result<Option<CompiledCode>, LoadError> {
        let engine = self.first_engine()?;
        let file = self.cache().and_then(|cache| cache.code(engine, digest));
        Ok(file.map(CompiledCode::Cached))
    }

    /// Returns whether the cache has the compiled code, so that loading the program is fast.
    pub(crate) fn has_code(&self, digest: &blake3::Hash) -> Result<bool, LoadError> {
        let engine = self.first_engine()?;
        Ok(self.cache().is_some_and(|cache| cache.has_code(engine, digest)))
    }

    /// Compiles a component, and stores in the cache the code, or why the component was refused or postponed.
    fn compile(
        &self,
        component: &[u8],
        digest: &blake3::Hash,
        cpu_share: Option<Duration>,
    ) -> Result<CompiledCode, LoadError> {
        let engine = self.first_engine()?;
        let compiled = match self.compiler() {
            Some(compiler) => compiler.compile(component, cpu_share),
            None => compile_in_host(engine, component),
        };
        let compiled = compiled.inspect_err(|error| self.store_error(error.retention(), digest, error))?;
        if let Some(cache) = self.cache() {
            cache.put_code(engine, digest, &compiled);
        }
        Ok(CompiledCode::InMemory(compiled))
    }

    /// Returns why an earlier start of the host refused the component. `None` if none did.
    fn cached_refusal(&self, digest: &blake3::Hash) -> Result<Option<String>, LoadError> {
        let engine = self.first_engine()?;
        Ok(self.cache().and_then(|cache| cache.refusal(engine, digest)))
    }

    /// Returns why an earlier start of the host postponed the component. Returns `None` if none did, if this host is configured
    /// to try postponed components again, or if a cached schema shows that the component was loaded since then.
    fn postponement(&self, digest: &blake3::Hash) -> Result<Option<String>, LoadError> {
        let engine = self.first_engine()?;
        let valid_postponement = |cache: &CodeCache| {
            let reason = cache.postponement(engine, digest)?;
            cache.schema(engine, digest).is_none().then_some(reason)
        };
        Ok(self
            .cache()
            .filter(|_| !self.retries_postponed())
            .and_then(valid_postponement))
    }

    fn cached_schema(&self, digest: &blake3::Hash) -> Result<Option<SchemaText>, LoadError> {
        let engine = self.first_engine()?;
        Ok(self.cache().and_then(|cache| cache.schema(engine, digest)))
    }

    /// Stores in the cache why a component was refused or postponed, unless `retention` is `Never`.
    fn store_error(&self, retention: Retention, digest: &blake3::Hash, error: &LoadError) {
        let (Some(cache), Ok(engine)) = (self.cache(), self.first_engine()) else {
            return;
        };
        match retention {
            Retention::Always => cache.put_refusal(engine, digest, &in_one_line(error)),
            Retention::OneDay => cache.put_postponement(engine, digest, &in_one_line(error)),
            Retention::Never => {}
        }
    }
}

/// Checks that the arguments to which the requested capabilities refer are in the input schema. A call would otherwise get nothing
/// for them, and no grant could change that.
fn check_argument_references(inspection: &Inspection, schema: &ToolSchema) -> Result<(), LoadError> {
    let mut arguments = BTreeSet::new();
    collect_properties(&schema.input_schema, &mut arguments);
    for request in inspection.requests().iter().flatten() {
        let reference = match request {
            CapabilityRequest::Fs { path, .. } => path.as_ref(),
            CapabilityRequest::Http {
                url: Some(RequestedUrl::Argument(reference)),
                ..
            } => Some(reference),
            CapabilityRequest::Http { .. } | CapabilityRequest::Env { .. } => None,
        };
        if let Some(reference) = reference.filter(|reference| !arguments.contains(reference.name())) {
            return Err(LoadError::UnknownArgument {
                name: reference.name().to_owned(),
                arguments: arguments
                    .into_iter()
                    .take(MAX_NAMED_ARGUMENTS)
                    .map(str::to_owned)
                    .collect(),
            });
        }
    }
    Ok(())
}

/// Adds the names of all properties in a schema, at any depth: the arguments may be those of a variant or of a definition. A
/// schema does not nest deeply, because JSON with more than 128 levels is not parsed.
fn collect_properties<'a>(schema: &'a Value, names: &mut BTreeSet<&'a str>) {
    match schema {
        Value::Object(keywords) => {
            if let Some(Value::Object(properties)) = keywords.get("properties") {
                names.extend(properties.keys().map(String::as_str));
            }
            keywords.values().for_each(|value| collect_properties(value, names));
        }
        Value::Array(items) => items.iter().for_each(|value| collect_properties(value, names)),
        _ => {}
    }
}
