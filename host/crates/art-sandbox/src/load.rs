//! From the bytes of a component to a tool: what is known of it is used, what is not is found out once and remembered.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use art_core::error::in_one_line;
use art_core::limits::{LimitOverrides, Limits};
use tokio_util::sync::CancellationToken;

use crate::cache::CodeCache;
use crate::call::{Invocation, NoSchema};
use crate::compile::compile_in_host;
use crate::convert;
use crate::error::{LoadError, Retention};
use crate::inspect::{Inspection, MAX_COMPONENT_BYTES, take_apart};
use crate::linked::{Code, Linked};
use crate::plugin::Plugin;
use crate::program::{ComponentSource, LoadedProgram, Program};
use crate::sandbox::Sandbox;
use crate::schema_text::{SchemaText, with_promise};

/// What can be known of a component without compiling it.
struct Checked<'a> {
    inspection: Inspection,
    /// Digest of the whole file.
    digest: blake3::Hash,
    /// What is compiled.
    code: &'a [u8],
    /// Digest of the code, by which everything is remembered.
    program: blake3::Hash,
    promise: Option<SchemaText>,
    /// What it asks for.
    limits: LimitOverrides,
}

impl Sandbox {
    /// Checks a component and learns its schema: from what was remembered, else from its `art:schema` section, else by compiling
    /// it and asking it. What was not compiled here is compiled by the first call. `name` is that of its file, without the
    /// ending.
    ///
    /// Compiling takes a processor for a while: call it from a thread that may block, and never from a job of
    /// [`run_on_worker`](Self::run_on_worker). The schema is as the tool gave it; the registry decides whether to admit it.
    ///
    /// # Errors
    /// When the component is refused, with the reason, and on a worker thread.
    pub fn load(&self, name: &str, wasm: &[u8]) -> Result<Plugin, LoadError> {
        let copy: Arc<[u8]> = wasm.into();
        let source: ComponentSource = Arc::new(move || Ok(copy.to_vec()));
        match self.load_known(name, wasm, &source)? {
            Some(plugin) => Ok(plugin),
            None => self.load_unknown(name, wasm, &source, None),
        }
    }

    /// [`load`](Self::load) for a component whose schema is known or whose code was compiled before; none when it would have to
    /// be compiled. `source` gives the bytes again, should a call need them.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_known(&self, name: &str, wasm: &[u8], source: &ComponentSource) -> Result<Option<Plugin>, LoadError> {
        let checked = self.check(wasm)?;
        let (refused, left) = (self.remembered_refusal(&checked.program)?, self.left(&checked.program)?);
        if let Some(reason) = refused.or(left) {
            return Err(LoadError::Remembered(reason));
        }
        let said = match (&checked.promise, self.remembered_schema(&checked.program)?) {
            (Some(promise), Some(answer)) if *promise != answer => return Err(LoadError::PromiseBroken),
            (None, None) if self.has_code(&checked.program)? => {
                return self.load_unknown(name, wasm, source, None).map(Some);
            }
            (None, None) => return Ok(None),
            (Some(said), _) => said.clone(),
            (None, Some(said)) => said,
        };
        let program = self.program(checked.program, source);
        self.plugin(name, checked, said, program).map(Some)
    }

    /// [`load`](Self::load) for a component that has to be compiled. `share` is the processor time that the compiler
    /// program may use for it; none is as much as for a call.
    ///
    /// # Errors
    /// As [`load`](Self::load), and [`LoadError::PutOff`] when there was no time, which is remembered for a day.
    pub fn load_unknown(
        &self,
        name: &str,
        wasm: &[u8],
        source: &ComponentSource,
        share: Option<Duration>,
    ) -> Result<Plugin, LoadError> {
        let checked = self.check(wasm)?;
        let program = self.program(checked.program, source);
        let loaded = self.load_program(&checked.program, share, || Ok(checked.code.to_vec()))?;
        let said = loaded.answer.clone();
        // What can be mapped again in no time is let go: a thousand tools would hold a thousand files.
        if !self.has_code(&checked.program)? {
            program.keep(loaded);
        }
        self.plugin(name, checked, said, program)
    }

    /// The component with what it answers as its last section, so that hosts need not compile it to offer it.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn with_schema(&self, wasm: &[u8]) -> Result<Vec<u8>, LoadError> {
        let checked = self.check(wasm)?;
        let answer = match self.remembered_schema(&checked.program)? {
            Some(answer) => answer,
            None => {
                self.load_program(&checked.program, None, || Ok(checked.code.to_vec()))?
                    .answer
            }
        };
        with_promise(checked.code, &answer)
    }

    /// Remembers that this host refuses the tool for what it says of itself.
    pub(crate) fn refuse(&self, program: &blake3::Hash, reason: &str) {
        if let (Some(cache), Ok(engine)) = (self.cache(), self.first_engine()) {
            cache.refuse(engine, program, reason);
        }
    }

    fn check<'a>(&self, wasm: &'a [u8]) -> Result<Checked<'a>, LoadError> {
        if self.current_worker().is_some() {
            return Err(LoadError::OnWorker);
        }
        let bytes = wasm.len() as u64;
        if bytes > MAX_COMPONENT_BYTES {
            return Err(LoadError::TooLarge {
                bytes,
                limit: MAX_COMPONENT_BYTES,
            });
        }
        let (inspection, parts) = take_apart(wasm)?;
        let limits = inspection.manifest.as_ref().map(|m| m.limits).unwrap_or_default();
        // What no operator can allow is refused before it costs anything.
        limits.apply(Limits::EXECUTE)?;
        Ok(Checked {
            inspection,
            digest: blake3::hash(wasm),
            code: parts.code,
            program: blake3::hash(parts.code),
            promise: parts.promise,
            limits,
        })
    }

    fn plugin(
        &self,
        name: &str,
        checked: Checked<'_>,
        said: SchemaText,
        program: Arc<Program>,
    ) -> Result<Plugin, LoadError> {
        let schema = convert::schema(&said).map_err(|fault| LoadError::Schema {
            reason: fault.into_reason(),
        })?;
        // By the name under which it is offered: the manifest may name another tool, which is allowed more.
        let limits = self.limits().grant(&schema.name, checked.limits)?;
        Ok(Plugin {
            sandbox: self.clone(),
            name: name.to_owned(),
            digest: checked.digest,
            inspection: checked.inspection,
            limits,
            schema,
            said,
            program,
            checked: AtomicBool::new(false),
        })
    }

    /// The program with this digest: the same for all files that have it.
    fn program(&self, digest: blake3::Hash, source: &ComponentSource) -> Arc<Program> {
        let mut programs = self.programs().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(&digest).and_then(Weak::upgrade) {
            return program;
        }
        let program = Arc::new(Program::new(digest, Arc::clone(source)));
        programs.retain(|_, program| program.strong_count() > 0);
        programs.insert(digest, Arc::downgrade(&program));
        program
    }

    /// Compiles what the cache does not have, links it, and asks it for its schema unless that was done before. What is refused
    /// for what it is, is remembered; what the clock ended, for a day.
    pub(crate) fn load_program(
        &self,
        program: &blake3::Hash,
        share: Option<Duration>,
        code: impl FnOnce() -> Result<Vec<u8>, LoadError>,
    ) -> Result<LoadedProgram, LoadError> {
        if let Some(reason) = self.remembered_refusal(program)? {
            return Err(LoadError::Remembered(reason));
        }
        let code = match self.stored(program)? {
            Some(code) => code,
            None => self.compile(&code()?, program, share)?,
        };
        let home = self.least_busy_worker();
        let linked = Linked::new(self.shards(), home, &code)
            .inspect_err(|error| self.remember(error.retention(), program, error))?;
        let answer = match self.remembered_schema(program)? {
            Some(answer) => answer,
            None => self.ask(&linked, home, program)?,
        };
        Ok(LoadedProgram { linked, answer })
    }

    /// Asks for the schema, and remembers the answer, or that there is none.
    fn ask(&self, linked: &Linked, home: usize, program: &blake3::Hash) -> Result<SchemaText, LoadError> {
        let asked = self.schema(linked, home).and_then(|answer| {
            let lasting = |fault: convert::NotJson| NoSchema {
                reason: fault.into_reason(),
                retention: Retention::Always,
            };
            convert::schema(&answer).map_err(lasting).map(|_| answer)
        });
        let answer = asked.map_err(|NoSchema { reason, retention }| {
            let error = LoadError::Schema { reason };
            self.remember(retention, program, &error);
            error
        })?;
        if let (Some(cache), Ok(engine)) = (self.cache(), self.first_engine()) {
            cache.put_schema(engine, program, &answer);
        }
        Ok(answer)
    }

    /// Runs `schema()` on the worker that the component is linked for.
    fn schema(&self, linked: &Linked, home: usize) -> Result<SchemaText, NoSchema> {
        let not_run = |reason: &str| NoSchema::passing(format!("could not be run: {reason}"));
        let pre = self.instance(linked, home).cloned();
        let pre = pre.ok_or_else(|| not_run("it is not linked"))?;
        let job = async move {
            match Invocation::new(&pre, &Limits::SCHEMA, CancellationToken::new()) {
                Ok(invocation) => invocation.schema(&pre).await,
                Err(error) => Err(NoSchema::passing(format!("could not be run: {error:#}"))),
            }
        };
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        // The receiver is gone when it waited too long.
        let job = async move { drop(sender.send(job.await)) };
        let timeout = 2 * Duration::from_millis(Limits::SCHEMA.timeout_ms);
        let sent = self.workers_of_guests().spawn(home, job);
        let ran = sent.and_then(|()| receiver.recv_timeout(timeout).ok());
        ran.unwrap_or_else(|| Err(not_run("its worker is busy or has panicked")))
    }

    /// Compiled code from the cache.
    fn stored(&self, program: &blake3::Hash) -> Result<Option<Code>, LoadError> {
        let engine = self.first_engine()?;
        let file = self.cache().and_then(|cache| cache.get(engine, program));
        Ok(file.map(Code::Stored))
    }

    /// Whether there is compiled code in the cache, so that nobody has to wait for it.
    pub(crate) fn has_code(&self, program: &blake3::Hash) -> Result<bool, LoadError> {
        let engine = self.first_engine()?;
        Ok(self.cache().is_some_and(|cache| cache.has(engine, program)))
    }

    fn compile(&self, code: &[u8], program: &blake3::Hash, share: Option<Duration>) -> Result<Code, LoadError> {
        let engine = self.first_engine()?;
        let compiled = match self.compiler() {
            Some(compiler) => compiler.compile(code, share),
            None => compile_in_host(engine, code),
        };
        let compiled = compiled.inspect_err(|error| self.remember(error.retention(), program, error))?;
        if let Some(cache) = self.cache() {
            cache.put(engine, program, &compiled);
        }
        Ok(Code::Fresh(compiled))
    }

    fn remembered_refusal(&self, program: &blake3::Hash) -> Result<Option<String>, LoadError> {
        let engine = self.first_engine()?;
        Ok(self.cache().and_then(|cache| cache.refusal(engine, program)))
    }

    /// Why an earlier start left the component as it is. One that answered was brought since.
    fn left(&self, program: &blake3::Hash) -> Result<Option<String>, LoadError> {
        let engine = self.first_engine()?;
        let left = |cache: &CodeCache| {
            let left = cache.left(engine, program)?;
            cache.schema(engine, program).is_none().then_some(left)
        };
        Ok(self.cache().filter(|_| !self.tries_again()).and_then(left))
    }

    fn remembered_schema(&self, program: &blake3::Hash) -> Result<Option<SchemaText>, LoadError> {
        let engine = self.first_engine()?;
        Ok(self.cache().and_then(|cache| cache.schema(engine, program)))
    }

    fn remember(&self, retention: Retention, program: &blake3::Hash, error: &LoadError) {
        let (Some(cache), Ok(engine)) = (self.cache(), self.first_engine()) else {
            return;
        };
        match retention {
            Retention::Always => cache.refuse(engine, program, &in_one_line(error)),
            Retention::ForADay => cache.leave(engine, program, &in_one_line(error)),
            Retention::Not => {}
        }
    }
}
