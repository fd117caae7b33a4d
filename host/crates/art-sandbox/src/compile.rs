//! Compiling, in a process of its own where the host has one: a component that keeps the compiler busy for ever, takes all
//! memory or breaks the compiler takes nothing from the host.

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

use crate::engine::compiling_engine;
use crate::error::LoadError;
use crate::inspect::MAX_COMPONENT_BYTES;
use crate::pieces::in_pieces;

/// Seconds of processor time for any component, those for each MiB of it, and the most. Code of compilers takes a few seconds for
/// each MiB; several small components that are made to take long are over soon.
const CPU_SECONDS: (u64, u64, u64) = (10, 6, 60);
/// Seconds until the process is gone for certain.
const CPU_GRACE: u64 = 5;
/// How long the host waits for it.
const WALL: Duration = Duration::from_secs(90);
/// How often the host looks at the processor time of the process.
const LOOK: Duration = Duration::from_millis(50);
/// The unit of times in `/proc`, which is the same on all processors.
const MILLIS_OF_A_TICK: u64 = 10;
/// Address space of the process.
const ADDRESS_SPACE: u64 = 4 << 30;
/// Bytes of compiled code that are taken.
const MAX_CODE_BYTES: u64 = 512 << 20;
/// Bytes of what the compiler says that are kept.
const MAX_REASON_BYTES: usize = 2_000;
/// How a process ends that refused the component.
const REFUSED: u8 = 3;
/// Threads of one compiler. The host compiles several components at once.
const THREADS: &str = "4";

/// The program that compiles, and what it is started with. It has to call [`compile_process`] and nothing else.
#[derive(Clone, Debug)]
pub struct CompilerProgram {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl CompilerProgram {
    /// The program that is running, as it was started, even when its file has been replaced meanwhile.
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

    /// Any program.
    pub fn new(program: impl Into<PathBuf>, arguments: impl IntoIterator<Item = OsString>) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().collect(),
        }
    }

    /// Compiles `wasm`. `share` is the processor time that a start allots to it; without one, only the limits of the process hold.
    ///
    /// # Errors
    /// - [`LoadError::PutOff`] when the share was not enough, [`LoadError::Slow`] when the clock ran out first.
    /// - [`LoadError::CompileLimit`] when the process used up what any component may use.
    /// - [`LoadError::CompilerProcess`] when it could not be started or crashed.
    /// - [`LoadError::Compile`] when the component is refused.
    pub(crate) fn compile(&self, wasm: &[u8], share: Option<Duration>) -> Result<Vec<u8>, LoadError> {
        if share == Some(Duration::ZERO) {
            return Err(LoadError::PutOff);
        }
        begins(wasm);
        let mut child = self.start().map_err(LoadError::CompilerProcess)?;
        let budget = CompilerBudget {
            process: child.id(),
            share,
            end: Instant::now() + WALL,
        };
        let (code, reason) = (all_of(child.stdout.take()), all_of(child.stderr.take()));
        let stdin = child.stdin.take();
        let said = thread::scope(|scope| {
            // A process that ends early takes no more; why it did is seen from how it ended.
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(wasm)));
            let said = budget
                .receive(&code)
                .and_then(|code| Ok((code, budget.receive(&reason)?)));
            if said.is_err() {
                // It may have ended by itself at the same moment.
                drop(child.kill());
            }
            said
        });
        let status = child.wait().map_err(LoadError::CompilerProcess)?;
        let (code, reason) = said?;
        if status.success() {
            return Ok(code);
        }
        Err(failure(status, &String::from_utf8_lossy(&reason), cpu_seconds(wasm)))
    }

    /// Starts the process with nothing of the host's environment.
    fn start(&self) -> std::io::Result<Child> {
        Command::new(&self.program)
            .args(&self.arguments)
            .env_clear()
            .env("RAYON_NUM_THREADS", THREADS)
            .env("MALLOC_ARENA_MAX", THREADS)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    }
}

/// Reads a pipe to its end on a thread of its own.
fn all_of(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error is given; the process has ended badly then, and is seen to.
        let read = pipe.map(|pipe| pipe.take(MAX_CODE_BYTES).read_to_end(&mut bytes));
        drop((read, sender.send(bytes)));
    });
    receiver
}

/// What a compiler may use before the host stops waiting: processor time, which a busy machine does not use up, and time on the
/// clock.
struct CompilerBudget {
    process: u32,
    share: Option<Duration>,
    end: Instant,
}

impl CompilerBudget {
    /// Receives the content of a pipe.
    ///
    /// # Errors
    /// [`LoadError::PutOff`] or [`LoadError::Slow`] when the budget is used up first.
    fn receive(&self, bytes: &Receiver<Vec<u8>>) -> Result<Vec<u8>, LoadError> {
        loop {
            match bytes.recv_timeout(LOOK) {
                Ok(bytes) => return Ok(bytes),
                Err(RecvTimeoutError::Disconnected) => return Err(broke("its output was lost".to_owned())),
                Err(RecvTimeoutError::Timeout) => self.check()?,
            }
        }
    }

    fn check(&self) -> Result<(), LoadError> {
        if self.share.is_some_and(|share| processor_time(self.process) >= share) {
            return Err(LoadError::PutOff);
        }
        if Instant::now() >= self.end {
            let seconds = WALL.as_secs();
            return Err(LoadError::Slow { seconds });
        }
        Ok(())
    }
}

/// Returns the processor time that a running process has used, or zero if the system does not report it.
fn processor_time(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the program, in brackets, may have spaces in it. User and system time are the 12th and 13th field behind it.
    let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks.saturating_mul(MILLIS_OF_A_TICK))
}

/// The process ended, or was ended, for a reason that may not be there the next time.
fn broke(reason: String) -> LoadError {
    LoadError::CompilerProcess(std::io::Error::other(reason))
}

/// Why a process gave no code. Only what the component itself used up is a limit, which is remembered.
fn failure(status: ExitStatus, reason: &str, cpu_seconds: u64) -> LoadError {
    let reason = byte_prefix(reason.trim(), MAX_REASON_BYTES);
    if status.code() == Some(i32::from(REFUSED)) {
        return LoadError::Compile(wasmtime::Error::msg(reason.to_owned()));
    }
    let limit = match status.signal().and_then(Signal::from_named_raw) {
        Some(Signal::XCPU) => format!("{cpu_seconds} s of processor time"),
        Some(Signal::ABORT) if reason.contains("memory allocation") => format!("{} GiB of memory", ADDRESS_SPACE >> 30),
        _ => return broke(format!("{status}: {reason}")),
    };
    LoadError::CompileLimit { limit }
}

/// Compiles `wasm` in the host itself, without limits of time and memory.
///
/// # Errors
/// [`LoadError::Compile`] when the component is refused, [`LoadError::CompilerProcess`] when the compiler panicked over it.
pub(crate) fn compile_in_host(engine: &Engine, wasm: &[u8]) -> Result<Vec<u8>, LoadError> {
    begins(wasm);
    unless_it_panics(|| cut_and_compile(engine, wasm))?.map_err(LoadError::Compile)
}

/// Tells whoever listens that something begins that may take long. The name of the component is in the span around it.
fn begins(wasm: &[u8]) {
    tracing::info!(bytes = wasm.len(), "compiling a component for this machine");
}

fn unless_it_panics<T>(compile: impl FnOnce() -> T) -> Result<T, LoadError> {
    // Nothing of a compilation that panicked is looked at again.
    catch_unwind(AssertUnwindSafe(compile)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref().cloned()).unwrap_or_default();
        broke(format!("it panicked: {}", byte_prefix(&text, MAX_REASON_BYTES)))
    })
}

fn cut_and_compile(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Vec<u8>> {
    engine.precompile_component(&in_pieces(wasm)?)
}

/// All that a compiling process does: reads a component from stdin and writes its compiled code to stdout. On stderr it says
/// why a component is refused, or why it broke. It ends at once when nobody is left to take the code.
#[must_use]
pub fn compile_process() -> ExitCode {
    thread::spawn(end_with_the_host);
    let (code, error) = match compile_stdin() {
        Ok(Ok(())) => return ExitCode::SUCCESS,
        Ok(Err(refused)) => (ExitCode::from(REFUSED), format!("{refused:#}")),
        Err(error) => (ExitCode::FAILURE, error.to_string()),
    };
    // Without anyone to tell there is nothing to say.
    drop(std::io::stderr().write_all(error.as_bytes()));
    code
}

/// The inner error is what the compiler has against the component; the outer one is no fault of it.
#[expect(
    clippy::disallowed_methods,
    reason = "the compiled code goes to the host that started this process"
)]
fn compile_stdin() -> std::io::Result<wasmtime::Result<()>> {
    limit_this_process()?;
    let mut wasm = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_COMPONENT_BYTES)
        .read_to_end(&mut wasm)?;
    let cpu = cpu_seconds(&wasm);
    lower(Resource::Cpu, cpu, cpu + CPU_GRACE)?;
    match compiling_engine().and_then(|engine| cut_and_compile(&engine, &wasm)) {
        Ok(code) => std::io::stdout().lock().write_all(&code).map(Ok),
        Err(refused) => Ok(Err(refused)),
    }
}

/// Ends this process when the other end of its stdout is closed: a host that was killed stops no compiler.
#[expect(clippy::disallowed_methods, reason = "it only looks whether the host is still there")]
fn end_with_the_host() {
    let stdout = std::io::stdout();
    let mut taker = [PollFd::new(&stdout, PollFlags::empty())];
    while poll(&mut taker, None) == Err(Errno::INTR) {}
    let gone = PollFlags::ERR | PollFlags::HUP;
    if taker.iter().any(|taker| taker.revents().intersects(gone)) {
        std::process::exit(1);
    }
}

/// Seconds of processor time that the compiler may use for `wasm`.
fn cpu_seconds(wasm: &[u8]) -> u64 {
    let (any, each_mib, most) = CPU_SECONDS;
    let mib = (wasm.len() >> 20) as u64;
    (any + each_mib * mib).min(most)
}

fn limit_this_process() -> std::io::Result<()> {
    lower(Resource::As, ADDRESS_SPACE, ADDRESS_SPACE)?;
    lower(Resource::Core, 0, 0)
}

/// Sets a limit of this process. Where less is allowed already, it stays so.
fn lower(resource: Resource, soft: u64, hard: u64) -> std::io::Result<()> {
    let found = getrlimit(resource);
    let limit = Rlimit {
        current: Some(found.current.map_or(soft, |allowed| allowed.min(soft))),
        maximum: Some(found.maximum.map_or(hard, |allowed| allowed.min(hard))),
    };
    Ok(setrlimit(resource, limit)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_the_compiler_grows_with_the_component_and_stops() {
        let seconds = |bytes: usize| cpu_seconds(&vec![0; bytes]);
        assert_eq!([1, 3 << 20, 32 << 20].map(seconds), [10, 28, 60]);
    }

    #[test]
    fn the_processor_time_of_a_process_grows_while_it_computes_and_of_none_is_zero() {
        let begun = Instant::now();
        let used = || processor_time(std::process::id());
        let before = used();
        while used() < before + Duration::from_millis(30) {
            assert!(begun.elapsed() < Duration::from_secs(60), "it does not grow");
        }
        assert_eq!(processor_time(u32::MAX), Duration::ZERO);
    }

    #[test]
    fn a_panic_of_the_compiler_is_an_error_of_the_compiler() {
        let number = "four";
        let panics = || number.parse::<u8>().unwrap();
        let error = unless_it_panics(panics).unwrap_err();
        assert!(matches!(&error, LoadError::CompilerProcess(reason) if reason.to_string().contains("InvalidDigit")));
        assert_eq!(unless_it_panics(|| 4).unwrap(), 4);
    }
}
