//! Handles SIGINT (Ctrl-C) and SIGTERM: the first signal cancels the current run, or the current question to a person about a
//! decision. The second signal ends the process. When the cancelled run has ended, the command ends too; only a conversation at a
//! terminal continues after Ctrl-C.

use std::io::stdin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::render;
use crate::tokio_runtime::new_executor;

/// What the process does after Ctrl-C has cancelled the current run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterInterrupt {
    /// It waits for the next question of the person.
    Continue,
    /// It ends.
    End,
}

/// Handles signals on a separate thread, so that a blocked main thread does not delay them.
#[derive(Debug)]
pub(super) struct Interrupts {
    shared: Arc<Shared>,
}

/// What the main thread and the thread that handles signals share.
#[derive(Debug)]
struct Shared {
    /// What a signal cancels now.
    current: Mutex<Option<CurrentWork>>,
    after_interrupt: AfterInterrupt,
    /// Whether a signal requested that the process end when the current run has ended.
    exit_requested: AtomicBool,
    /// The terminal settings at the start. A line editor changes them.
    terminal: Option<Termios>,
}

/// The current run, or the current question to a person.
#[derive(Debug)]
struct CurrentWork {
    cancel: CancellationToken,
    is_run: bool,
}

/// The registration of a run, or of a question to a person, that a signal cancels by `cancel`. The registration ends when this
/// value is dropped.
#[derive(Debug)]
pub(super) struct Interruptible<'a> {
    shared: &'a Shared,
    pub(super) cancel: CancellationToken,
}

/// Makes a write beyond the maximum size of files (`ulimit -f`) fail with an error instead of ending the process by a signal.
///
/// # Errors
/// Fails if the signal cannot be caught.
pub(super) fn catch_file_size_limit() -> Result<(), CommandError> {
    let executor = new_executor()?;
    // `signal` needs to be called within an executor. What it installs stays when the executor is gone.
    let _entered = executor.enter();
    let caught = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()));
    caught
        .map(drop)
        .map_err(|error| CommandError::Failed(format!("signals cannot be caught: {error}")))
}

impl Interrupts {
    /// Starts handling signals. A signal ends the process at once if there is nothing to cancel.
    ///
    /// # Errors
    /// Fails if signals cannot be caught.
    pub(super) fn listen(after_interrupt: AfterInterrupt) -> Result<Self, CommandError> {
        let failed = |error| CommandError::Failed(format!("signals cannot be caught: {error}"));
        let shared = Arc::new(Shared {
            current: Mutex::default(),
            after_interrupt,
            exit_requested: AtomicBool::new(false),
            terminal: tcgetattr(stdin()).ok(),
        });
        let interrupts = Self {
            shared: Arc::clone(&shared),
        };
        let executor = new_executor()?;
        // `signal` needs to be called within an executor.
        let entered = executor.enter();
        let interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let terminate = signal(SignalKind::terminate()).map_err(failed)?;
        drop(entered);
        let thread = std::thread::Builder::new().name("signals".to_owned());
        thread
            .spawn(move || executor.block_on(handle_signals(&shared, interrupt, terminate)))
            .map_err(failed)?;
        Ok(interrupts)
    }

    /// Registers a new current run.
    pub(super) fn register_run(&self) -> Interruptible<'_> {
        self.register(true)
    }

    /// Registers a question to a person at the terminal. Ctrl-C ends the question without a decision.
    pub(super) fn register_question(&self) -> Interruptible<'_> {
        self.register(false)
    }

    fn register(&self, is_run: bool) -> Interruptible<'_> {
        let cancel = CancellationToken::new();
        *self.shared.lock_current() = Some(CurrentWork {
            cancel: cancel.clone(),
            is_run,
        });
        Interruptible {
            shared: &self.shared,
            cancel,
        }
    }

    /// Returns whether a signal requested that the process end, and not only that the current run be cancelled.
    pub(super) fn exit_requested(&self) -> bool {
        self.shared.exit_requested.load(Ordering::SeqCst)
    }
}

impl Shared {
    fn lock_current(&self) -> std::sync::MutexGuard<'_, Option<CurrentWork>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Restores the terminal settings and ends the process.
    fn exit_process(&self) -> ! {
        if let Some(terminal) = &self.terminal
            && let Err(error) = tcsetattr(stdin(), OptionalActions::Now, terminal)
        {
            tracing::debug!(%error, "the terminal settings could not be restored");
        }
        std::process::exit(i32::from(Exit::Cancelled as u8))
    }
}

impl Drop for Interruptible<'_> {
    fn drop(&mut self) {
        *self.shared.lock_current() = None;
    }
}

/// Handles signals as they arrive. Never returns.
async fn handle_signals(shared: &Shared, mut interrupt: Signal, mut terminate: Signal) {
    loop {
        let ends_process = tokio::select! {
            _ = interrupt.recv() => shared.after_interrupt == AfterInterrupt::End,
            _ = terminate.recv() => true,
        };
        // Keep the lock until `exit_requested` is set. Dropping the registration of a run takes the lock too, so a thread that
        // has dropped it sees `exit_requested`.
        let current = shared.lock_current();
        match current.as_ref() {
            Some(current) if !current.cancel.is_cancelled() => {
                shared.exit_requested.fetch_or(ends_process, Ordering::SeqCst);
                if current.is_run {
                    render::note("stopping; press again to stop immediately");
                }
                current.cancel.cancel();
            }
            Some(_) => shared.exit_process(),
            None => {
                // The line editor of a conversation at a terminal has turned on bracketed paste.
                if shared.after_interrupt == AfterInterrupt::Continue {
                    render::turn_off_bracketed_paste();
                }
                shared.exit_process()
            }
        }
    }
}
