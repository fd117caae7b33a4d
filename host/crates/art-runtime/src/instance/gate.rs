//! Counts the runs of an instance, so that closing it can wait for them.

use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::error::RuntimeError;

/// Maximum time that closing waits for cancelled runs.
const MAX_CANCELLING: Duration = Duration::from_secs(10);

/// The runs in progress, and whether more may begin.
#[derive(Clone, Copy, Debug, Default)]
struct Runs {
    in_progress: usize,
    /// Whether no more runs may begin.
    closed: bool,
}

/// Lets runs begin until it is closed.
#[derive(Debug, Default)]
pub(super) struct Gate {
    runs: watch::Sender<Runs>,
    cancel: CancellationToken,
}

/// A run in progress.
pub(super) struct OpenRun<'a> {
    gate: &'a Gate,
}

impl Gate {
    /// Begins a run, which counts as in progress until the returned value is dropped.
    ///
    /// # Errors
    /// Fails with [`RuntimeError::Closed`] after the gate was closed.
    pub(super) fn begin_run(&self) -> Result<OpenRun<'_>, RuntimeError> {
        let may_begin = self.runs.send_if_modified(|runs| {
            runs.in_progress += usize::from(!runs.closed);
            !runs.closed
        });
        if may_begin {
            return Ok(OpenRun { gate: self });
        }
        Err(RuntimeError::Closed)
    }

    /// Refuses further runs, waits for those in progress, cancels them after `patience`, and waits until they have ended. Returns
    /// how many did not end in time.
    pub(super) async fn close(&self, patience: Duration) -> usize {
        self.runs.send_modify(|runs| runs.closed = true);
        if !self.wait_for_end(patience).await {
            self.cancel.cancel();
            self.wait_for_end(MAX_CANCELLING).await;
        }
        self.runs.borrow().in_progress
    }

    /// Waits up to `time` until no run is in progress. Returns whether that is so.
    async fn wait_for_end(&self, time: Duration) -> bool {
        let mut runs = self.runs.subscribe();
        let ended = runs.wait_for(|runs| runs.in_progress == 0);
        tokio::time::timeout(time, ended).await.is_ok()
    }
}

impl OpenRun<'_> {
    /// Carries out a run, and cancels `cancel` when the gate cancels all runs.
    pub(super) async fn carry_out<T>(&self, cancel: &CancellationToken, run: impl Future<Output = T>) -> T {
        let mut run = std::pin::pin!(run);
        tokio::select! {
            biased;
            ended = &mut run => return ended,
            () = self.gate.cancel.cancelled() => cancel.cancel(),
        }
        run.await
    }
}

impl Drop for OpenRun<'_> {
    fn drop(&mut self) {
        self.gate.runs.send_modify(|runs| runs.in_progress -= 1);
    }
}
