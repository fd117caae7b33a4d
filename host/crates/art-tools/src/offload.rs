//! Runs checks of large arguments and outputs without delaying other calls.

use std::time::Duration;

use art_core::outcome::Ending;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// The time that the host may take to check the arguments or the output of a call.
#[derive(Debug)]
pub(crate) struct TimeBudget<'c> {
    /// Remaining time of the call.
    pub(crate) remaining: Duration,
    /// Time limit of the call in milliseconds, for the message of a timeout.
    pub(crate) limit_ms: u64,
    /// Cancels the work.
    pub(crate) cancel: &'c CancellationToken,
}

/// Runs heavy `work` on a thread where it blocks neither I/O nor other calls. The work is abandoned when the time is over or the
/// call is cancelled: if it has begun, it runs to its end, at a bounded cost, but its result is dropped.
///
/// # Errors
/// Fails with the ending of the call if the work was abandoned or panicked.
pub(crate) async fn offload<T: Send + 'static>(
    budget: TimeBudget<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Ending> {
    // A timeout or a cancellation drops the task. Work that has not begun is then cancelled.
    let task = AbortOnDropHandle::new(spawn_blocking(work));
    tokio::select! {
        biased;
        () = budget.cancel.cancelled() => Err(Ending::Cancelled),
        finished = timeout(budget.remaining, task) => match finished {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(_panic)) => Err(Ending::HostError {
                message: "the check of its arguments or output panicked".to_owned(),
            }),
            Err(_elapsed) => Err(Ending::Timeout { limit_ms: budget.limit_ms }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn budget(remaining_ms: u64, cancel: &CancellationToken) -> TimeBudget<'_> {
        TimeBudget {
            remaining: Duration::from_millis(remaining_ms),
            limit_ms: 1_000,
            cancel,
        }
    }

    #[tokio::test]
    async fn heavy_work_is_abandoned_after_the_time_limit_or_a_cancellation() {
        let cancel = CancellationToken::new();
        let (sender, receiver) = mpsc::channel::<()>();
        let endless = offload(budget(20, &cancel), move || receiver.recv().is_ok());
        assert_eq!(endless.await, Err(Ending::Timeout { limit_ms: 1_000 }));
        // End the abandoned work, because the runtime of the test waits for it.
        drop(sender);
        cancel.cancel();
        let cancelled = offload(budget(60_000, &cancel), || ());
        assert_eq!(cancelled.await, Err(Ending::Cancelled));
    }

    #[tokio::test]
    async fn a_panic_of_the_work_ends_only_the_call() {
        let cancel = CancellationToken::new();
        let ending = offload(budget(60_000, &cancel), || -> u8 { panic!("on purpose") }).await;
        assert!(matches!(ending, Err(Ending::HostError { .. })), "{ending:?}");
    }

    #[tokio::test]
    async fn heavy_work_does_not_block_the_thread_of_its_caller() {
        let cancel = CancellationToken::new();
        let (sender, receiver) = mpsc::channel::<()>();
        // The work ends only after other code has run on the thread of the caller.
        let work = offload(budget(60_000, &cancel), move || receiver.recv().is_ok());
        let (result, ()) = tokio::join!(work, async move { sender.send(()).unwrap() });
        assert_eq!(result, Ok(true));
    }
}
