//! Ctrl-C and the signal to end: the first one cancels what is going on, the second one ends the process. A conversation at
//! a terminal goes on after Ctrl-C, and after nothing else.

use std::io::stdin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::error::CommandError;
use crate::executor::executor;
use crate::exit::Exit;
use crate::render;

/// What Ctrl-C during a run means for what was to come after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterInterrupt {
    /// A person at a terminal asks the next question.
    GoOn,
    /// Nothing comes.
    End,
}

/// Listens for signals on a thread of its own, so that they count whatever the rest of the program waits for.
#[derive(Debug)]
pub(super) struct Interrupts {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// The run that is going on.
    current: Mutex<Option<CancellationToken>>,
    after: AfterInterrupt,
    /// Nothing is to begin any more.
    ended: AtomicBool,
    /// The terminal as it was found; an editor that waits for a line has changed it.
    terminal: Option<Termios>,
}

/// A run that a signal cancels, until this is dropped.
#[derive(Debug)]
pub(super) struct Interruptible<'a> {
    shared: &'a Shared,
    pub(super) cancel: CancellationToken,
}

impl Interrupts {
    /// Begins to listen. Without a run that is going on, a signal ends the process.
    ///
    /// # Errors
    /// When signals cannot be caught.
    pub(super) fn listen(after: AfterInterrupt) -> Result<Self, CommandError> {
        let failed = |error| CommandError::Failed(format!("signals cannot be caught: {error}"));
        let shared = Arc::new(Shared {
            current: Mutex::default(),
            after,
            ended: AtomicBool::new(false),
            terminal: tcgetattr(stdin()).ok(),
        });
        let interrupts = Self {
            shared: Arc::clone(&shared),
        };
        let executor = executor()?;
        let entered = executor.enter();
        let interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let terminate = signal(SignalKind::terminate()).map_err(failed)?;
        drop(entered);
        let thread = std::thread::Builder::new().name("signals".to_owned());
        thread
            .spawn(move || executor.block_on(listen(&shared, interrupt, terminate)))
            .map_err(failed)?;
        Ok(interrupts)
    }

    /// A run begins.
    pub(super) fn begin(&self) -> Interruptible<'_> {
        let cancel = CancellationToken::new();
        *self.shared.current() = Some(cancel.clone());
        Interruptible {
            shared: &self.shared,
            cancel,
        }
    }

    /// Whether a signal has ended more than the run that it cancelled.
    pub(super) fn ended(&self) -> bool {
        self.shared.ended.load(Ordering::SeqCst)
    }
}

impl Shared {
    fn current(&self) -> std::sync::MutexGuard<'_, Option<CancellationToken>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the process and leaves the terminal as it was found.
    fn exit(&self) -> ! {
        if let Some(terminal) = &self.terminal
            && let Err(error) = tcsetattr(stdin(), OptionalActions::Now, terminal)
        {
            tracing::debug!(%error, "the terminal is not as it was");
        }
        std::process::exit(i32::from(Exit::Cancelled as u8))
    }
}

impl Drop for Interruptible<'_> {
    fn drop(&mut self) {
        *self.shared.current() = None;
    }
}

async fn listen(shared: &Shared, mut interrupt: Signal, mut terminate: Signal) {
    loop {
        let ends = tokio::select! {
            _ = interrupt.recv() => shared.after == AfterInterrupt::End,
            _ = terminate.recv() => true,
        };
        // Held until it is decided: a run that ends meanwhile is seen by whoever began it with what was decided.
        let current = shared.current();
        match current.as_ref() {
            Some(run) if !run.is_cancelled() => {
                shared.ended.fetch_or(ends, Ordering::SeqCst);
                render::note("stopping; press again to stop at once");
                run.cancel();
            }
            Some(_) => shared.exit(),
            None => {
                if shared.after == AfterInterrupt::GoOn {
                    render::end_editing();
                }
                shared.exit()
            }
        }
    }
}
