//! Runs work on values without delaying other calls.

use std::time::Duration;

use art_core::outcome::Ending;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Remaining time and cancellation of a call, for the work that the host does on its values.
#[derive(Debug)]
pub(crate) struct Allowance<'c> {
    /// Remaining time of the call.
    pub(crate) left: Duration,
    /// Time limit of the call in milliseconds, for the message.
    pub(crate) limit_ms: u64,
    pub(crate) cancel: &'c CancellationToken,
}

/// Runs `work` on this thread if it is light, else on a thread where it blocks neither I/O nor other calls. Heavy work
/// is abandoned when the time is over or the call is cancelled. If it has begun, it still runs to its end, at a bounded
/// cost, but its result is dropped.
///
/// # Errors
/// Fails with the ending of the call if the work was abandoned or panicked.
pub(crate) async fn offload<T: Send + 'static>(
    is_light: bool,
    allowance: Allowance<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Ending> {
    if is_light {
        return Ok(work());
    }
    let working = spawn_blocking(work);
    // Drops work that has not begun when the caller is dropped.
    let _dropped = AbortOnDrop(working.abort_handle());
    tokio::select! {
        biased;
        () = allowance.cancel.cancelled() => Err(Ending::Cancelled),
        done = timeout(allowance.left, working) => match done {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(_panic)) => Err(Ending::HostError { message: "the check of its values panicked".to_owned() }),
            Err(_elapsed) => Err(Ending::Timeout { limit_ms: allowance.limit_ms }),
        },
    }
}

struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn allowance(left_ms: u64, cancel: &CancellationToken) -> Allowance<'_> {
        Allowance {
            left: Duration::from_millis(left_ms),
            limit_ms: 1_000,
            cancel,
        }
    }

    #[tokio::test]
    async fn light_work_is_done_at_once_even_without_time() {
        let cancel = CancellationToken::new();
        assert_eq!(offload(true, allowance(0, &cancel), || 7).await, Ok(7));
    }

    #[tokio::test]
    async fn heavy_work_is_left_when_the_time_is_over_or_the_call_is_cancelled() {
        let cancel = CancellationToken::new();
        let (end, ended) = mpsc::channel::<()>();
        let late = offload(false, allowance(20, &cancel), move || ended.recv().is_ok());
        assert_eq!(late.await, Err(Ending::Timeout { limit_ms: 1_000 }));
        drop(end);
        cancel.cancel();
        let cancelled = offload(false, allowance(60_000, &cancel), || ());
        assert_eq!(cancelled.await, Err(Ending::Cancelled));
    }

    #[tokio::test]
    async fn a_panic_of_the_work_ends_the_call_alone() {
        let cancel = CancellationToken::new();
        let ending = offload(false, allowance(60_000, &cancel), || -> u8 { panic!("told to") }).await;
        assert!(matches!(ending, Err(Ending::HostError { .. })), "{ending:?}");
    }

    #[tokio::test]
    async fn others_go_on_beside_heavy_work() {
        let cancel = CancellationToken::new();
        let (go, gone) = mpsc::channel::<()>();
        // The work ends only after other code has run on the same thread.
        let work = offload(false, allowance(60_000, &cancel), move || gone.recv().is_ok());
        let (done, ()) = tokio::join!(work, async move { go.send(()).unwrap() });
        assert_eq!(done, Ok(true));
    }
}
