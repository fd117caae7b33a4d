//! Counts the runs of an instance, so that the instance can wait for them when it is closed.

use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::error::RuntimeError;

/// Maximum time that closing waits for cancelled runs.
const MAX_WAIT_FOR_CANCELLED: Duration = Duration::from_secs(10);

/// The number of runs in progress, and whether more may begin.
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
    /// Cancels all runs.
    cancel_all: CancellationToken,
}

/// A run in progress.
pub(super) struct RunInProgress<'a> {
    gate: &'a Gate,
}

impl Gate {
    /// Begins a run, which counts as in progress until the returned value is dropped.
    ///
    /// # Errors
    /// Fails with [`RuntimeError::Closed`] after the gate was closed.
    pub(super) fn begin_run(&self) -> Result<RunInProgress<'_>, RuntimeError> {
        let may_begin = self.runs.send_if_modified(|runs| {
            runs.in_progress += usize::from(!runs.closed);
            !runs.closed
        });
        if may_begin {
            return Ok(RunInProgress { gate: self });
        }
        Err(RuntimeError::Closed)
    }

    /// Refuses further runs, waits for those in progress, cancels the remaining ones after `patience`, and waits for them too.
    /// Returns how many did not end in time.
    pub(super) async fn close(&self, patience: Duration) -> usize {
        self.runs.send_modify(|runs| runs.closed = true);
        if !self.wait_until_all_ended(patience).await {
            self.cancel_all.cancel();
            self.wait_until_all_ended(MAX_WAIT_FOR_CANCELLED).await;
        }
        self.runs.borrow().in_progress
    }

    /// Waits up to `max_wait` until no run is in progress. Returns whether all runs have ended.
    async fn wait_until_all_ended(&self, max_wait: Duration) -> bool {
        let mut runs = self.runs.subscribe();
        let all_ended = runs.wait_for(|runs| runs.in_progress == 0);
        tokio::time::timeout(max_wait, all_ended).await.is_ok()
    }
}

impl RunInProgress<'_> {
    /// Carries out a run. `cancel` is the token of this run, which is cancelled when the gate cancels all runs.
    pub(super) async fn carry_out<T>(&self, cancel: &CancellationToken, run: impl Future<Output = T>) -> T {
        let mut run = std::pin::pin!(run);
        tokio::select! {
            biased;
            output = &mut run => return output,
            () = self.gate.cancel_all.cancelled() => cancel.cancel(),
        }
        run.await
    }
}

impl Drop for RunInProgress<'_> {
    fn drop(&mut self) {
        self.gate.runs.send_modify(|runs| runs.in_progress -= 1);
    }
}
