//! The state that the host has for one call of a tool.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use art_core::capability::{CallGrants, Denial, GrantUse};
use art_core::limits::Limits;
use art_core::outcome::{CallLog, LogLevel};
use art_core::secret::{Redactor, Secrets};
use art_tools::NewestProgress;
use tokio_util::sync::CancellationToken;
use wasmtime::component::{HasData, ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::capability::fs::{FileTree, ProtectedPlaces, StagingArea, WriteNotes};
use crate::capability::http::{Http, Network};
use crate::host_memory::HostMemory;
use crate::limiter::MemoryLimiter;
use crate::log::{CapturedOutput, LogBuffer};
use crate::meter::Meter;
use crate::outside::Outside;

/// The data of a store, which lives for one call.
pub(crate) struct CallState {
    pub(crate) limiter: MemoryLimiter,
    /// The memory of the host for what the guest fills.
    pub(crate) host_memory: HostMemory,
    pub(crate) meter: Meter,
    /// What the guest learns from outside of its sandbox.
    pub(crate) outside: Outside,
    /// What the call may use.
    pub(crate) grants: Arc<CallGrants>,
    /// The tree of the granted files. Built before the guest runs, or never if no files are granted.
    pub(crate) files: Option<Arc<FileTree>>,
    /// Places to which no grant may lead.
    pub(crate) protected: Arc<ProtectedPlaces>,
    /// Where the host notes in which directories the call writes.
    pub(crate) write_notes: Option<Arc<WriteNotes>>,
    /// Where the staged changes of files go, which wait until a person commits them.
    pub(crate) staging: Option<StagingArea>,
    /// Receives the progress reports of the tool.
    pub(crate) progress: NewestProgress,
    /// Created when the tool first calls WASI, since most tools never do.
    wasi: Option<Box<Wasi>>,
    /// The resources that the guest has handles of, such as streams.
    pub(crate) table: ResourceTable,
    /// The open streams of stdin, stdout and stderr, as indices in `table`. All other streams lead to files or requests.
    pub(crate) standard_streams: BTreeSet<u32>,
    /// Makes the connections of the call. `None` if the call can make none.
    pub(crate) network: Option<Arc<Network>>,
    /// The secrets that the host knows.
    pub(crate) secrets: Arc<Secrets>,
    /// The name of the first canary that was seen in a text that the tool logged or reported while it ran.
    canary: Option<String>,
    /// Created when the tool first calls `wasi:http`.
    http: Option<Box<Http>>,
    log: LogBuffer,
    /// Maximum number of bytes of stdout, and of stderr, that are kept: as many as of a log line.
    max_captured_bytes: usize,
    cancel: CancellationToken,
}

impl CallState {
    pub(crate) fn new(limits: &Limits, grants: Arc<CallGrants>, cancel: CancellationToken) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.handles as usize);
        Self {
            limiter: MemoryLimiter::new(limits),
            host_memory: HostMemory::default(),
            meter: Meter::new(limits),
            outside: Outside::default(),
            grants,
            files: None,
            protected: Arc::default(),
            write_notes: None,
            staging: None,
            progress: NewestProgress::default(),
            wasi: None,
            table,
            standard_streams: BTreeSet::new(),
            network: None,
            secrets: Secrets::none(),
            canary: None,
            http: None,
            log: LogBuffer::new(limits),
            max_captured_bytes: limits.log_record_bytes as usize,
            cancel,
        }
    }

    /// Returns the fuel that the calls into the host have cost so far, including one unit for each byte that the guest passed
    /// or got.
    pub(crate) fn host_fuel(&self) -> u64 {
        let written = self
            .wasi
            .as_ref()
            .map_or(0, |wasi| wasi.stdout.written() + wasi.stderr.written());
        self.meter.host_fuel().saturating_add(written)
    }

    /// Returns the requests that the call sent. `None` if it has not used `wasi:http`.
    pub(crate) fn sent_requests(&self) -> Option<&Http> {
        self.http.as_deref()
    }

    /// Counts a call of the guest into `wasi:http`, and returns the requests and the resource table of the tool's call.
    pub(crate) fn http_and_table(&mut self) -> (&mut Http, &mut ResourceTable) {
        self.meter.count_call();
        self.uncounted_http_and_table()
    }

    /// Same as [`http_and_table`](Self::http_and_table), without counting a call.
    pub(crate) fn uncounted_http_and_table(&mut self) -> (&mut Http, &mut ResourceTable) {
        let http = self.http.take().unwrap_or_else(|| Box::new(Http::new(self)));
        (self.http.insert(http), &mut self.table)
    }

    /// Notes the denials of requests. In a replay, they come from the record instead.
    pub(crate) fn note_denied_requests(&mut self) {
        if !self.outside.is_replay() {
            let denials = self.http.iter().flat_map(|http| http.take_denials());
            denials.for_each(|denial| self.outside.note_denial(denial));
        }
    }

    /// Opens the granted files, so that nothing that happens from now on changes where the grants lead. A replay needs no files.
    ///
    /// # Errors
    /// Fails with the denials of the grants that lead through a link, or to a protected place.
    pub(crate) fn open_files(&mut self) -> Result<(), Vec<Denial>> {
        if self.grants.fs.is_empty() || self.outside.is_replay() {
            return Ok(());
        }
        self.file_tree().open_bases(&self.grants)
    }

    /// Returns which grants the call used and for what, and clears this list.
    pub(crate) fn take_uses(&mut self) -> Vec<GrantUse> {
        let files = self.files.iter().flat_map(|files| files.take_uses());
        let requests = self.http.iter_mut().flat_map(|http| http.take_uses());
        files.chain(requests).collect()
    }

    pub(crate) fn take_log(&mut self) -> CallLog {
        let text = |output: fn(&Wasi) -> &CapturedOutput| self.wasi.as_deref().map(|wasi| output(wasi).finish());
        let (stdout, stderr) = (text(|wasi| &wasi.stdout), text(|wasi| &wasi.stderr));
        self.log.finish(stdout.unwrap_or_default(), stderr.unwrap_or_default())
    }
}

/// WASI with the granted environment variables, and without arguments, directories and network. Captures stdout and stderr.
struct Wasi {
    ctx: WasiCtx,
    stdout: CapturedOutput,
    stderr: CapturedOutput,
}

impl Wasi {
    fn new(max_captured_bytes: usize, env: &[(String, String)], redactor: &Redactor) -> Self {
        let (stdout, stderr) = (
            CapturedOutput::new(max_captured_bytes, redactor),
            CapturedOutput::new(max_captured_bytes, redactor),
        );
        let ctx = WasiCtx::builder()
            .stdout(stdout.clone())
            .stderr(stderr.clone())
            .envs(env)
            .allow_tcp(false)
            .allow_udp(false)
            .build();
        Self { ctx, stdout, stderr }
    }
}

impl WasiView for CallState {
    // Each WASI call begins with a call of this function, so the calls are counted here.
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.meter.count_call();
        let (max_captured_bytes, env, redactor) = (self.max_captured_bytes, &self.grants.env, self.secrets.redactor());
        let wasi = self
            .wasi
            .get_or_insert_with(|| Box::new(Wasi::new(max_captured_bytes, env, redactor)));
        WasiCtxView {
            ctx: &mut wasi.ctx,
            table: &mut self.table,
        }
    }
}

impl CallState {
    /// Counts a call into the host, and returns the state, on which the call is made.
    pub(crate) fn count_call(&mut self) -> &mut Self {
        self.meter.count_call();
        self
    }

    /// Adds a line to the log of the call. Secrets are redacted before the line is cut.
    pub(crate) fn log_line(&mut self, level: LogLevel, message: &str) {
        let message = self.redact(message);
        self.log.push(level, &message);
    }

    /// Returns a text of the tool with its secrets redacted, and notes a canary in it.
    pub(crate) fn redact<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let redactor = self.secrets.redactor();
        if self.canary.is_none() {
            self.canary = redactor.first_canary_in(text.as_bytes()).map(str::to_owned);
        }
        redactor.text(text)
    }

    /// Returns the name of the first canary that was seen while the tool ran.
    pub(crate) fn canary(&self) -> Option<String> {
        let in_requests = || self.http.as_ref()?.canary();
        let in_outputs = || {
            let wasi = self.wasi.as_deref()?;
            wasi.stdout.canary().or_else(|| wasi.stderr.canary())
        };
        self.canary.clone().or_else(in_requests).or_else(in_outputs)
    }

    /// Returns whether the caller has cancelled the call.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}

/// Marks interfaces whose functions [`CallState`] itself implements.
pub(crate) struct HostFunctions;

impl HasData for HostFunctions {
    type Data<'a> = &'a mut CallState;
}

/// Marks interfaces whose functions the table of resources implements.
pub(crate) struct Tables;

impl HasData for Tables {
    type Data<'a> = &'a mut ResourceTable;
}
