//! The guard around a running call. It enforces the deadline and the cancellation, and measures the processor time.
//!
//! A guest yields to its guard when its time slice is over, see [`meter`](crate::meter), and whenever it waits. The guard then
//! checks the clock. It stops a guest whose deadline has passed, and otherwise lets the other guests on the thread run. For a
//! guest that waits, a timer wakes the guard at the deadline.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use art_core::limits::Limits;
use rustix::time::{ClockId, clock_gettime};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::meter::TimeSlice;

/// Why the guard stopped a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// The deadline passed.
    Timeout,
    /// The caller cancelled the call.
    Cancelled,
}

/// The time that a call still has after its caller has cancelled it.
#[derive(Clone, Debug)]
pub(crate) struct Grace {
    pub(crate) time: Duration,
    /// Cancelled only by the caller. If the caller has gone, nobody waits for a result, and the call has no more time.
    pub(crate) by_caller: CancellationToken,
}

/// The deadline, the cancellation token and the time slice of a call.
#[derive(Debug)]
pub(crate) struct Guard {
    deadline: Instant,
    cancel: CancellationToken,
    /// Time that the call still has after its caller has cancelled it, so that a guest that asks for that can return what it has.
    grace: Option<Grace>,
    /// Also stores when the call started.
    time_slice: TimeSlice,
}

impl Guard {
    pub(crate) fn new(limits: &Limits, cancel: CancellationToken, time_slice: TimeSlice) -> Self {
        Self {
            deadline: time_slice.call_start() + Duration::from_millis(limits.timeout_ms),
            cancel,
            grace: None,
            time_slice,
        }
    }

    /// Gives the call time after its cancellation. By default it has none.
    pub(crate) fn set_grace(&mut self, grace: Grace) {
        self.grace = Some(grace);
    }

    /// Returns the time that the call still has if it is cancelled now.
    fn remaining_time(&self) -> Duration {
        let grace = self.grace.as_ref().filter(|grace| grace.by_caller.is_cancelled());
        grace.map_or(Duration::ZERO, |grace| grace.time)
    }

    /// Returns the time since the call started.
    pub(crate) fn elapsed(&self) -> Duration {
        self.time_slice.call_start().elapsed()
    }

    /// Returns a future that runs `call` until it ends or has to be stopped. Its output is the output of the call or the reason
    /// why it was stopped, and the processor time that the call used.
    pub(crate) const fn run<'a, F: Future>(&'a self, call: Pin<&'a mut F>) -> GuardedCall<'a, F> {
        GuardedCall {
            guard: self,
            call,
            wakers: None,
            cpu_time: None,
        }
    }

    /// Returns why the call has to be stopped now, if it has to. `grace_end` is when a cancelled call has to end.
    fn stop_reason(&self, now: Instant, grace_end: Option<Instant>) -> Option<StopReason> {
        match grace_end {
            Some(grace_end) if now >= grace_end => Some(StopReason::Cancelled),
            _ if now >= self.deadline => Some(StopReason::Timeout),
            _ => None,
        }
    }
}

/// The future that [`Guard::run`] returns.
pub(crate) struct GuardedCall<'a, F> {
    guard: &'a Guard,
    call: Pin<&'a mut F>,
    /// Created when the call first yields or waits, since most calls never do.
    wakers: Option<Wakers>,
    /// Processor time of all time slices so far; `None` until the first one ends.
    cpu_time: Option<Duration>,
}

/// Wakes the guard at the deadline, on cancellation, and at the end of the time that a cancelled call still has.
struct Wakers {
    timer: Pin<Box<tokio::time::Sleep>>,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
    /// When the cancelled call has to end; `None` while it is not cancelled.
    grace_end: Option<Instant>,
}

impl Wakers {
    fn new(guard: &Guard) -> Self {
        Self {
            timer: Box::pin(tokio::time::sleep_until(guard.deadline.into())),
            cancelled: Box::pin(guard.cancel.clone().cancelled_owned()),
            grace_end: None,
        }
    }

    /// Returns whether the time of the call is over. If it is not, the guard is going to be woken when it is, or when the call is
    /// cancelled.
    fn is_over(&mut self, guard: &Guard, cx: &mut Context<'_>) -> bool {
        if self.grace_end.is_none() && self.cancelled.as_mut().poll(cx).is_ready() {
            let grace_end = Instant::now() + guard.remaining_time();
            self.grace_end = Some(grace_end);
            self.timer.as_mut().reset(grace_end.min(guard.deadline).into());
        }
        self.timer.as_mut().poll(cx).is_ready()
    }
}

impl<F: Future> Future for GuardedCall<'_, F> {
    type Output = (Result<F::Output, StopReason>, Duration);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // A call that was cancelled in the queue of its worker must have no effect.
        if self.cpu_time.is_none() && self.guard.cancel.is_cancelled() {
            return Poll::Ready((Err(StopReason::Cancelled), Duration::ZERO));
        }
        let (polled, cpu_time) = self.as_mut().poll_and_measure(cx);
        if let Poll::Ready(output) = polled {
            return Poll::Ready((Ok(output), cpu_time));
        }
        let guard = self.guard;
        let wakers = self.wakers.get_or_insert_with(|| Wakers::new(guard));
        let is_over = wakers.is_over(guard, cx);
        match (guard.stop_reason(Instant::now(), wakers.grace_end), wakers.grace_end) {
            (Some(reason), _) => Poll::Ready((Err(reason), cpu_time)),
            // The timer woke the guard: it rounds to milliseconds and may fire a little too early.
            (None, Some(_)) if is_over => Poll::Ready((Err(StopReason::Cancelled), cpu_time)),
            (None, None) if is_over => Poll::Ready((Err(StopReason::Timeout), cpu_time)),
            (None, _) => Poll::Pending,
        }
    }
}

impl<F: Future> GuardedCall<'_, F> {
    /// Polls the guest for one time slice. Also returns the processor time of all slices so far.
    ///
    /// The first slice is measured with the wall clock, because most calls have no other and are short: asking the kernel for the
    /// processor time of a thread would take an eighth of a short call.
    fn poll_and_measure(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> (Poll<F::Output>, Duration) {
        self.guard.time_slice.start();
        let (polled, cpu_time) = match self.cpu_time {
            None => (self.call.as_mut().poll(cx), self.guard.elapsed()),
            Some(earlier) => {
                let before = thread_cpu_time();
                let polled = self.call.as_mut().poll(cx);
                (polled, earlier + thread_cpu_time().saturating_sub(before))
            }
        };
        self.cpu_time = Some(cpu_time);
        (polled, cpu_time)
    }
}

fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Waker;

    use futures_util::FutureExt;

    use super::*;
    use crate::meter::Meter;

    fn guard() -> Guard {
        let time_slice = Meter::new(&Limits::EXECUTE).time_slice().clone();
        Guard::new(&Limits::EXECUTE, CancellationToken::new(), time_slice)
    }

    /// A guest that yields or waits a number of times before it is done, and counts how often it is polled.
    struct TestGuest<'a> {
        pauses_left: u32,
        /// Whether the guest is computing when it pauses. It then yields and asks for its next turn at once; otherwise it waits.
        computes: bool,
        polls: &'a mut u32,
    }

    impl Future for TestGuest<'_> {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            *self.polls += 1;
            if self.pauses_left == 0 {
                return Poll::Ready(());
            }
            self.pauses_left -= 1;
            if self.computes {
                cx.waker().wake_by_ref();
            }
            Poll::Pending
        }
    }

    /// Polls a guarded guest until it is done, but at most `max_polls` times. Returns whether the guest is done.
    fn poll_guarded(guest: TestGuest<'_>, max_polls: u32) -> bool {
        let guard = guard();
        let guest = pin!(guest);
        let mut guarded = guard.run(guest);
        let mut cx = Context::from_waker(Waker::noop());
        (0..max_polls).any(|_| guarded.poll_unpin(&mut cx).is_ready())
    }

    #[test]
    fn a_call_that_was_cancelled_before_it_starts_is_not_polled() {
        let (guard, mut polls) = (guard(), 0);
        guard.cancel.cancel();
        let guest = pin!(TestGuest {
            pauses_left: 0,
            computes: false,
            polls: &mut polls,
        });
        let (result, _) = guard.run(guest).now_or_never().unwrap();
        assert_eq!((result, polls), (Err(StopReason::Cancelled), 0));
    }

    /// Cancels a guest that waits and would wait a number of times more, and polls its guard again. Returns the result, if there is
    /// one then.
    fn poll_after_cancellation(grace: Duration, pauses_left: u32) -> Option<Result<(), StopReason>> {
        let (mut guard, mut polls) = (guard(), 0);
        let by_caller = guard.cancel.clone();
        guard.set_grace(Grace { time: grace, by_caller });
        let guest = pin!(TestGuest {
            pauses_left,
            computes: false,
            polls: &mut polls,
        });
        let mut guarded = guard.run(guest);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(guarded.poll_unpin(&mut cx).is_pending());
        guard.cancel.cancel();
        match guarded.poll_unpin(&mut cx) {
            Poll::Ready((result, _)) => Some(result),
            Poll::Pending => None,
        }
    }

    #[tokio::test]
    async fn a_cancelled_guest_has_only_the_time_that_it_is_given() {
        let (none, minute) = (Duration::ZERO, Duration::from_secs(60));
        assert_eq!(poll_after_cancellation(none, 5), Some(Err(StopReason::Cancelled)));
        assert_eq!(poll_after_cancellation(minute, 5), None);
        assert_eq!(poll_after_cancellation(minute, 1), Some(Ok(())));
    }

    #[tokio::test]
    async fn the_guard_returns_to_its_caller_while_a_guest_computes() {
        let mut polls = 0;
        let guest = TestGuest {
            pauses_left: u32::MAX,
            computes: true,
            polls: &mut polls,
        };
        assert!(!poll_guarded(guest, 4));
    }

    #[tokio::test]
    async fn a_guest_that_waits_is_polled_once_per_poll_of_the_guard() {
        let mut polls = 0;
        let guest = TestGuest {
            pauses_left: u32::MAX,
            computes: false,
            polls: &mut polls,
        };
        poll_guarded(guest, 3);
        assert_eq!(polls, 3);
    }
}
