//! Compiles components. If the host has a compiler program, this is done in a separate process, so that a component that
//! makes the compiler hang, run out of memory or crash does not affect the host.
//!
//! All components that are compiled at one start of the host together get a limited processor time, and each component gets a
//! share of this time. A component that uses up its share is postponed for a day.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use art_core::text::byte_prefix;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use wasmtime::Engine;

use crate::confine::confine_compiler;
use crate::engine::compiling_engine;
use crate::error::LoadError;
use crate::inspect::MAX_COMPONENT_BYTES;
use crate::instrument::instrument;

/// Processor time that a component gets whatever its size, in seconds; more is added for each MiB. It is short, so that even many
/// small components whose author made them slow to compile do not take long together.
const BASE_CPU_SECONDS: u64 = 10;
/// Additional processor time for each MiB of a component, in seconds. Ordinary code takes less than this.
const CPU_SECONDS_PER_MIB: u64 = 6;
/// Maximum processor time for a component, in seconds.
const MAX_CPU_SECONDS: u64 = 60;
/// Seconds of processor time beyond the limit, after which the kernel kills a process that ignored the signal at the limit.
const CPU_GRACE_SECONDS: u64 = 5;
/// Maximum time that the host waits for a compiler process.
const TIMEOUT: Duration = Duration::from_secs(90);
/// Interval at which the host checks the processor time of a compiler process.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Unit of the times in `/proc`, in milliseconds. It is the same on every architecture that the host supports.
const MILLIS_PER_TICK: u64 = 10;
/// Maximum address space of a compiler process, in bytes.
const ADDRESS_SPACE_BYTES: u64 = 4 << 30;
/// Maximum size of the compiled code, in bytes.
const MAX_CODE_BYTES: u64 = 512 << 20;
/// Maximum size of an error message of the compiler, in bytes. The rest is cut off.
const MAX_MESSAGE_BYTES: usize = 2_000;
/// Exit code of a process that refused the component.
const EXIT_REFUSED: u8 = 3;
/// Number of threads of one compiler. It is low because the host compiles several components at the same time.
const COMPILER_THREADS: &str = "4";

/// A program that compiles components, and its arguments. Its `main` has to call [`compile_process`] and nothing else.
#[derive(Clone, Debug)]
pub struct CompilerProgram {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl CompilerProgram {
    /// Returns the program that is running, even if its file was replaced meanwhile. `None` if it cannot be found.
    #[must_use]
    pub fn this_program(arguments: &[&str]) -> Option<Self> {
        let running = Path::new("/proc/self/exe");
        let program = if running.exists() {
            running.to_owned()
        } else {
            std::env::current_exe().ok()?
        };
        Some(Self {
            program,
            arguments: arguments.iter().map(OsString::from).collect(),
        })
    }

    /// Creates a compiler program from a path and its arguments.
    pub fn new(program: impl Into<PathBuf>, arguments: impl IntoIterator<Item = OsString>) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().collect(),
        }
    }

    /// Compiles `wasm`. `cpu_share` is the processor time that a start of the host may spend on this component; without it,
    /// only the limits of the process apply.
    ///
    /// # Errors
    /// - [`LoadError::Postponed`] when the share is used up, or when a process with a share exceeds the wall-clock time and used
    ///   at least [`BASE_CPU_SECONDS`] of processor time.
    /// - [`LoadError::CompileTimeout`] when any other process exceeds the wall-clock time.
    /// - [`LoadError::CompileLimit`] when the process exceeds a limit of processor time or memory.
    /// - [`LoadError::CompilerProcess`] when the process cannot be started or crashes.
    /// - [`LoadError::Compile`] when the compiler refuses the component.
    pub(crate) fn compile(&self, wasm: &[u8], cpu_share: Option<Duration>) -> Result<Vec<u8>, LoadError> {
        if cpu_share == Some(Duration::ZERO) {
            return Err(LoadError::Postponed);
        }
        log_start(wasm);
        let mut child = self.start().map_err(LoadError::CompilerProcess)?;
        let budget = CompilerBudget {
            process: child.id(),
            cpu_share,
            deadline: Instant::now() + TIMEOUT,
        };
        let (stdout, stderr) = (read_to_end(child.stdout.take()), read_to_end(child.stderr.take()));
        let stdin = child.stdin.take();
        let output = thread::scope(|scope| {
            // Writing fails if the process ends early; its exit status then shows why.
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(wasm)));
            let output = budget.wait_for_both(&stdout, &stderr);
            if output.is_err() {
                // Killing fails if the process has just ended.
                drop(child.kill());
            }
            output
        });
        let status = child.wait().map_err(LoadError::CompilerProcess)?;
        let (code, message) = output?;
        if status.success() {
            return Ok(code);
        }
        Err(process_failure(
            status,
            &String::from_utf8_lossy(&message),
            cpu_seconds(wasm),
        ))
    }

    /// Starts the process with an empty environment, except for the variables that limit its threads and their memory pools.
    fn start(&self) -> std::io::Result<Child> {
        Command::new(&self.program)
            .args(&self.arguments)
            .env_clear()
            .env("RAYON_NUM_THREADS", COMPILER_THREADS)
            .env("MALLOC_ARENA_MAX", COMPILER_THREADS)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    }
}

/// Reads a pipe to its end on a separate thread. The returned channel then gets all its bytes.
fn read_to_end(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // Ignore an error of reading: the exit status of the process shows the failure.
            drop(pipe.take(MAX_CODE_BYTES).read_to_end(&mut bytes));
        }
        // Sending fails if the host stopped waiting.
        drop(sender.send(bytes));
    });
    receiver
}

/// The time that a compiler process may take before the host stops it.
struct CompilerBudget {
    /// Identifier of the process.
    process: u32,
    /// Maximum processor time, which does not depend on how busy the machine is. `None` if there is only the deadline.
    cpu_share: Option<Duration>,
    /// Deadline in wall-clock time.
    deadline: Instant,
}

impl CompilerBudget {
    /// Waits for the contents of two pipes.
    ///
    /// # Errors
    /// Same as [`wait_for`](Self::wait_for).
    fn wait_for_both(
        &self,
        stdout: &Receiver<Vec<u8>>,
        stderr: &Receiver<Vec<u8>>,
    ) -> Result<(Vec<u8>, Vec<u8>), LoadError> {
        Ok((self.wait_for(stdout)?, self.wait_for(stderr)?))
    }

    /// Waits for the contents of a pipe until the budget is used up.
    ///
    /// # Errors
    /// Fails with [`LoadError::Postponed`] or [`LoadError::CompileTimeout`] when the budget is used up, and with
    /// [`LoadError::CompilerProcess`] when the output is lost.
    fn wait_for(&self, pipe: &Receiver<Vec<u8>>) -> Result<Vec<u8>, LoadError> {
        loop {
            match pipe.recv_timeout(CHECK_INTERVAL) {
                Ok(bytes) => return Ok(bytes),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(compiler_process_error("its output was lost".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => self.check()?,
            }
        }
    }

    /// Fails when the budget is used up.
    fn check(&self) -> Result<(), LoadError> {
        if self
            .cpu_share
            .is_some_and(|share| processor_time(self.process) >= share)
        {
            return Err(LoadError::Postponed);
        }
        if Instant::now() >= self.deadline {
            return Err(self.timeout_error(processor_time(self.process)));
        }
        Ok(())
    }

    /// Returns the error for a process that reached the deadline after `cpu_time` of processor time. If that is at least
    /// [`BASE_CPU_SECONDS`], a busy machine was not the only cause. A component with a share is then postponed for a day, because
    /// otherwise every start of the host would wait for the same deadline.
    fn timeout_error(&self, cpu_time: Duration) -> LoadError {
        if self.cpu_share.is_some() && cpu_time >= Duration::from_secs(BASE_CPU_SECONDS) {
            return LoadError::Postponed;
        }
        let seconds = TIMEOUT.as_secs();
        LoadError::CompileTimeout { seconds }
    }
}

/// Returns the processor time that a running process has used, or zero if the system does not report it.
fn processor_time(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the program is in brackets and may contain spaces. User and system time are the 12th and 13th field
    // after it.
    let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks.saturating_mul(MILLIS_PER_TICK))
}

/// Returns the error for a failure of the compiler process. The same component may compile at the next attempt.
fn compiler_process_error(reason: String) -> LoadError {
    LoadError::CompilerProcess(std::io::Error::other(reason))
}

/// Returns the error for a compiler process that failed. [`LoadError::CompileLimit`] is only for a limit that the component
/// itself exceeded, because the cache stores this error and the component is then not compiled again.
fn process_failure(status: ExitStatus, message: &str, cpu_seconds: u64) -> LoadError {
    let message = byte_prefix(message.trim(), MAX_MESSAGE_BYTES);
    if status.code() == Some(i32::from(EXIT_REFUSED)) {
        return LoadError::Compile(wasmtime::Error::msg(message.to_owned()));
    }
    let limit = match status.signal().and_then(Signal::from_named_raw) {
        Some(Signal::XCPU) => format!("{cpu_seconds} s of processor time"),
        Some(Signal::ABORT) if message.contains("memory allocation") => {
            format!("{} GiB of memory", ADDRESS_SPACE_BYTES >> 30)
        }
        _ => return compiler_process_error(format!("{status}: {message}")),
    };
    LoadError::CompileLimit { limit }
}

/// Compiles `wasm` in the process of the host, without limits of time and memory.
///
/// # Errors
/// Fails with [`LoadError::Compile`] when the compiler refuses the component, and with [`LoadError::CompilerProcess`]
/// when it panics.
pub(crate) fn compile_in_host(engine: &Engine, wasm: &[u8]) -> Result<Vec<u8>, LoadError> {
    log_start(wasm);
    catch_panic(|| instrument_and_compile(engine, wasm))?.map_err(LoadError::Compile)
}

/// Logs that compiling starts, since it may take long. The surrounding span has the name of the component.
fn log_start(wasm: &[u8]) {
    tracing::info!(bytes = wasm.len(), "compiling a component for this machine");
}

fn catch_panic<T>(compile: impl FnOnce() -> T) -> Result<T, LoadError> {
    // Unwind safe: no state of the compilation is used after a panic.
    catch_unwind(AssertUnwindSafe(compile)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref().cloned()).unwrap_or_default();
        compiler_process_error(format!("it panicked: {}", byte_prefix(&text, MAX_MESSAGE_BYTES)))
    })
}

fn instrument_and_compile(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Vec<u8>> {
    engine.precompile_component(&instrument(wasm)?)
}

/// Does the work of a compiler process: reads a component from stdin and writes its compiled code to stdout, or the reason of a
/// failure to stderr. Exits when the host that started it is gone. The process first confines itself, as far as
/// the kernel supports that, so that it can open nothing.
#[must_use]
pub fn compile_process() -> ExitCode {
    // The component is compiled whatever the kernel supports; `art doctor` says what is active.
    drop(confine_compiler());
    thread::spawn(exit_when_host_is_gone);
    let (code, error) = match compile_stdin() {
        Ok(Ok(())) => return ExitCode::SUCCESS,
        Ok(Err(refused)) => (ExitCode::from(EXIT_REFUSED), format!("{refused:#}")),
        Err(error) => (ExitCode::FAILURE, error.to_string()),
    };
    // Writing fails if the host is gone, and then nobody needs the message.
    drop(std::io::stderr().write_all(error.as_bytes()));
    code
}

/// Compiles the component that is read from stdin. The inner error is a refusal of the component; the outer one is any
/// other failure.
#[expect(
    clippy::disallowed_methods,
    reason = "the host that started this process reads the compiled code from stdout"
)]
fn compile_stdin() -> std::io::Result<wasmtime::Result<()>> {
    limit_this_process()?;
    let mut wasm = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_COMPONENT_BYTES)
        .read_to_end(&mut wasm)?;
    let seconds = cpu_seconds(&wasm);
    lower_limit(Resource::Cpu, seconds, seconds + CPU_GRACE_SECONDS)?;
    match compiling_engine().and_then(|engine| instrument_and_compile(&engine, &wasm)) {
        Ok(code) => std::io::stdout().lock().write_all(&code).map(Ok),
        Err(refused) => Ok(Err(refused)),
    }
}

/// Exits this process when the other end of its stdout is closed, since a host that is killed cannot stop it.
#[expect(clippy::disallowed_methods, reason = "stdout is polled and not written to")]
fn exit_when_host_is_gone() {
    let stdout = std::io::stdout();
    let mut descriptors = [PollFd::new(&stdout, PollFlags::empty())];
    while poll(&mut descriptors, None) == Err(Errno::INTR) {}
    let closed = PollFlags::ERR | PollFlags::HUP;
    if descriptors.iter().any(|stdout| stdout.revents().intersects(closed)) {
        std::process::exit(1);
    }
}

/// Returns the processor time that the compiler may use for `wasm`, in seconds.
fn cpu_seconds(wasm: &[u8]) -> u64 {
    let mib = (wasm.len() >> 20) as u64;
    (BASE_CPU_SECONDS + CPU_SECONDS_PER_MIB * mib).min(MAX_CPU_SECONDS)
}

fn limit_this_process() -> std::io::Result<()> {
    lower_limit(Resource::As, ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES)?;
    lower_limit(Resource::Core, 0, 0)
}

/// Sets a resource limit of this process, unless it is lower already.
fn lower_limit(resource: Resource, soft: u64, hard: u64) -> std::io::Result<()> {
    let old = getrlimit(resource);
    let limit = Rlimit {
        current: Some(old.current.map_or(soft, |allowed| allowed.min(soft))),
        maximum: Some(old.maximum.map_or(hard, |allowed| allowed.min(hard))),
    };
    Ok(setrlimit(resource, limit)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_the_compiler_grows_with_the_component_up_to_a_maximum() {
        let seconds = |bytes: usize| cpu_seconds(&vec![0; bytes]);
        assert_eq!(seconds(1), BASE_CPU_SECONDS);
        assert_eq!(seconds(3 << 20), BASE_CPU_SECONDS + 3 * CPU_SECONDS_PER_MIB);
        assert_eq!(seconds(32 << 20), MAX_CPU_SECONDS);
    }

    #[test]
    fn a_timeout_postpones_only_components_that_have_a_share_and_computed_for_long() {
        let error_after = |cpu_seconds, cpu_share| {
            let (process, deadline) = (0, Instant::now());
            let budget = CompilerBudget {
                process,
                cpu_share,
                deadline,
            };
            budget.timeout_error(Duration::from_secs(cpu_seconds))
        };
        let share = Some(Duration::from_secs(60));
        let (short, long) = (BASE_CPU_SECONDS / 2, BASE_CPU_SECONDS + 1);
        assert!(matches!(error_after(long, share), LoadError::Postponed));
        assert!(matches!(error_after(short, share), LoadError::CompileTimeout { .. }));
        assert!(matches!(error_after(long, None), LoadError::CompileTimeout { .. }));
    }

    #[test]
    fn the_processor_time_of_a_process_that_computes_grows() {
        let start = Instant::now();
        let own_time = || processor_time(std::process::id());
        let before = own_time();
        while own_time() < before + Duration::from_millis(30) {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "the processor time does not grow"
            );
        }
    }

    #[test]
    fn the_processor_time_of_an_unknown_process_is_zero() {
        assert_eq!(processor_time(u32::MAX), Duration::ZERO);
    }

    #[test]
    fn a_panic_of_the_compiler_is_an_error_of_the_compiler_process() {
        let number = "four";
        let panics = || number.parse::<u8>().unwrap();
        let error = catch_panic(panics).unwrap_err();
        assert!(matches!(&error, LoadError::CompilerProcess(reason) if reason.to_string().contains("InvalidDigit")));
        assert_eq!(catch_panic(|| 4).unwrap(), 4);
    }
}
