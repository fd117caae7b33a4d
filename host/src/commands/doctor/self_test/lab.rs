//! Where the attacks take place: a folder with a secret, a server that counts connections, and the sandbox of the configuration.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use art_core::capability::{BaseDirs, ToolPolicy};
use art_runtime::compose::{Toolbox, open_sandbox};
use art_runtime::config::Config;
use art_runtime::error::in_one_line;
use art_sandbox::{Plugin, Sandbox};
use art_tools::{ToolExecutor as _, ToolReport};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime as Executor;

use super::attacks::{Attack, Expectation};
use crate::error::CommandError;
use crate::tokio_runtime::new_executor;

/// The component of `attacker.wat`.
const ATTACKER: &[u8] = include_bytes!("attacker.wasm");
/// Name of the tool in the component.
const TOOL: &str = "self_test";
/// Time limit of each call, in milliseconds.
const TIMEOUT_MS: u64 = 1_000;
/// Time after which a call that did not end is given up.
const GIVE_UP_AFTER: Duration = Duration::from_secs(20);

/// The environment of the attacks.
pub(super) struct Lab {
    folder: TempDir,
    server: SocketAddr,
    /// Number of connections to the server so far.
    connections: Arc<AtomicUsize>,
    sandbox: Sandbox,
    /// The attacker without grants. While it exists, the sandbox keeps its compiled code, which all attacks then use.
    plugin: Plugin,
    executor: Executor,
}

/// An attack that was made, with the report of its call.
pub(super) struct Attempt {
    pub(super) report: ToolReport,
    /// Number of connections that the attack made to the server.
    pub(super) connections: usize,
}

impl Lab {
    /// Sets everything up, and compiles the attacker.
    pub(super) fn new(config: &Config) -> Result<Self, CommandError> {
        let folder = create_folder().map_err(|error| setup_error("create the folder of the test", &error))?;
        let connections = Arc::default();
        let server =
            start_server(&connections).map_err(|error| setup_error("start a server on this machine", &error))?;
        let sandbox = open_sandbox(config)?;
        let plugin = load(&sandbox)?;
        Ok(Self {
            folder,
            server,
            connections,
            sandbox,
            plugin,
            executor: new_executor()?,
        })
    }

    /// Makes the attack in one call. The attack that looks for traces of an earlier call needs two calls, of which the second
    /// counts.
    pub(super) fn attempt(&self, attack: &Attack) -> Result<Attempt, CommandError> {
        let plugin = load(&self.sandbox)?.with_policy(attack.policy(self), BaseDirs::default());
        let plugin = plugin.map_err(|error| setup_error("grant what the test needs", &error))?;
        let toolbox = Toolbox::with_plugin(&Arc::new(plugin));
        let toolbox = toolbox.map_err(|error| setup_error("register the attacker", &error))?;
        let before = self.connections.load(Ordering::SeqCst);
        if attack.expectation == Expectation::FindsNothing {
            self.call(&toolbox, attack)?;
        }
        let report = self.call(&toolbox, attack)?;
        Ok(Attempt {
            report,
            connections: self.connections.load(Ordering::SeqCst) - before,
        })
    }

    fn call(&self, toolbox: &Toolbox, attack: &Attack) -> Result<ToolReport, CommandError> {
        let call = toolbox.call(TOOL, attack.input(self));
        let ended = self
            .executor
            .block_on(async { tokio::time::timeout(GIVE_UP_AFTER, call).await });
        let not_stopped =
            |_elapsed| CommandError::Failed(format!("attack {} got through: it was not stopped", attack.id));
        ended.map_err(not_stopped)
    }

    /// Returns how many truncated copies of the attacker the sandbox loads instead of refusing them.
    pub(super) fn count_loaded_truncated_copies(&self) -> usize {
        let lengths = (0..ATTACKER.len()).step_by(ATTACKER.len() / 16 + 1);
        let beginnings = lengths.filter_map(|length| ATTACKER.get(..length));
        beginnings
            .filter(|bytes| self.sandbox.load(TOOL, bytes).is_ok())
            .count()
    }

    /// Returns a policy without grants, with the time limit of the test.
    pub(super) fn policy_without_grants(&self) -> ToolPolicy {
        ToolPolicy {
            component: self.plugin.digest(),
            limits: [("timeout_ms".to_owned(), TIMEOUT_MS)].into(),
            ..ToolPolicy::default()
        }
    }

    /// Returns the full path of `path` in the folder of the test.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Returns the address of the server with `host` as its host name.
    pub(super) fn authority(&self, host: &str) -> String {
        format!("{host}:{}", self.server.port())
    }

    /// Returns whether a call wrote a file into the granted folder, which may only be read.
    pub(super) fn has_written_file(&self) -> bool {
        self.path("granted/new.txt").exists()
    }

    /// Returns the maximum size of a log, in bytes.
    pub(super) fn max_log_bytes(&self) -> usize {
        usize::try_from(self.plugin.limits().log_bytes).unwrap_or(usize::MAX)
    }
}

impl Attempt {
    /// Returns whether the tool reached what it aimed at: its output, or `None` if the output is not a boolean.
    pub(super) fn reached_aim(&self) -> Option<bool> {
        self.report.result.output.as_deref().and_then(Value::as_bool)
    }

    pub(super) fn log_bytes(&self) -> usize {
        self.report.log.records.iter().map(|record| record.message.len()).sum()
    }

    /// Returns whether the tool set a field of the result through its free metadata: the metadata in which a tool may choose any
    /// keys, but which must not set such fields. The JSON of the metadata is checked too, because there the keys of the tool
    /// stand beside the fields of the host.
    pub(super) fn has_forged_fields(&self) -> bool {
        let result = &self.report.result;
        let metadata = &result.metadata;
        result.call_id == "forged"
            || metadata.suspension_id.is_some()
            || metadata.rejected
            || metadata.not_run
            || metadata.title.is_some()
            || json!(metadata).get("suspensionId").is_some()
    }

    /// Returns the time that the call took above its limit, in milliseconds.
    pub(super) fn over_limit_ms(&self) -> f64 {
        let over = self.report.usage.wall_us.saturating_sub(TIMEOUT_MS * 1_000);
        Duration::from_micros(over).as_secs_f64() * 1_000.0
    }

    /// Returns how the attempt ended, in words.
    pub(super) fn ending_in_words(&self, expectation: Expectation) -> String {
        let ending = self.report.ending.as_str().replace('_', " ");
        match (self.reached_aim(), self.connections) {
            (_, 1..) => format!("{ending}, {} connections", self.connections),
            (Some(true), 0) => format!("{ending}, reached it"),
            (Some(false), 0) => match expectation {
                Expectation::LogIsCut => format!("{} bytes kept", self.log_bytes()),
                Expectation::FindsNothing => "found nothing".to_owned(),
                Expectation::ForgeryIsIgnored => "ignored".to_owned(),
                _ => "refused".to_owned(),
            },
            (None, 0) => ending,
        }
    }
}

fn load(sandbox: &Sandbox) -> Result<Plugin, CommandError> {
    sandbox
        .load(TOOL, ATTACKER)
        .map_err(|error| setup_error("load the attacker", &error))
}

fn setup_error(what: &str, error: &(dyn std::error::Error + 'static)) -> CommandError {
    CommandError::Failed(format!("failed to {what}: {}", in_one_line(error)))
}

/// Creates a folder with a secret file and the folder `granted`. The latter has a note, a link to the secret, and a pipe.
fn create_folder() -> std::io::Result<TempDir> {
    let folder = TempDir::with_prefix("art-self-test-")?;
    let granted = folder.path().join("granted");
    std::fs::create_dir(&granted)?;
    std::fs::write(folder.path().join("secret.txt"), "secret")?;
    std::fs::write(granted.join("note.txt"), "note")?;
    std::os::unix::fs::symlink(folder.path().join("secret.txt"), granted.join("link"))?;
    make_pipe(&granted.join("pipe"))?;
    Ok(folder)
}

fn make_pipe(path: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    Ok(())
}

/// Starts a server that answers every request, and counts its connections.
fn start_server(connections: &Arc<AtomicUsize>) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let (address, connections) = (listener.local_addr()?, Arc::clone(connections));
    std::thread::Builder::new().spawn(move || {
        for connection in listener.incoming().flatten() {
            connections.fetch_add(1, Ordering::SeqCst);
            drop(respond(connection));
        }
    })?;
    Ok(address)
}

fn respond(mut connection: TcpStream) -> std::io::Result<()> {
    connection.set_read_timeout(Some(Duration::from_secs(1)))?;
    let mut request = [0; 1024];
    let _bytes = connection.read(&mut request)?;
    connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}
