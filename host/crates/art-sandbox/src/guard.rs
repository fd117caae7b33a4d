//! The guard around a running call: time, cancellation, and the processor time it used.
//!
//! A guest gives control back to its guard every [`YIELD_FUEL`](crate::meter::YIELD_FUEL) units of fuel, after a turn
//! of calls into the host, and whenever it waits. The guard looks at the clock at each of these points, so that a busy
//! guest is stopped within one interval of its deadline, and lets it continue until its turn is over; then others on
//! the thread have theirs. A timer wakes the guard when the guest waits.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use art_core::limits::Limits;
use rustix::time::{ClockId, clock_gettime};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::meter::TurnClock;

/// Why the guard stopped a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// It took too long.
    Timeout,
    /// The caller gave up.
    Cancelled,
}

/// The state of a guard.
#[derive(Debug)]
pub(crate) struct Watch {
    deadline: Instant,
    cancel: CancellationToken,
    turn: TurnClock,
}

impl Watch {
    pub(crate) fn new(limits: &Limits, cancel: CancellationToken, turn: TurnClock) -> Self {
        Self {
            deadline: turn.zero() + Duration::from_millis(limits.timeout_ms),
            cancel,
            turn,
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.turn.zero().elapsed()
    }

    /// Runs `call` to its end or until it must be stopped. Gives the processor time it used on this thread as well.
    pub(crate) async fn guard<F: Future>(&self, call: F) -> (Result<F::Output, Stopped>, Duration) {
        let guarded = Guarded {
            watch: self,
            call: std::pin::pin!(call),
            wakers: None,
            cpu: None,
        };
        guarded.await
    }

    fn must_stop(&self, now: Instant) -> Option<Stopped> {
        if self.cancel.is_cancelled() {
            Some(Stopped::Cancelled)
        } else if now >= self.deadline {
            Some(Stopped::Timeout)
        } else {
            None
        }
    }
}

struct Guarded<'a, F> {
    watch: &'a Watch,
    call: Pin<&'a mut F>,
    /// Made when the call first waits: most calls never do.
    wakers: Option<Wakers>,
    /// None until the first turn is over.
    cpu: Option<Duration>,
}

struct Wakers {
    timer: Pin<Box<tokio::time::Sleep>>,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Wakers {
    fn new(watch: &Watch) -> Self {
        Self {
            timer: Box::pin(tokio::time::sleep_until(watch.deadline.into())),
            cancelled: Box::pin(watch.cancel.clone().cancelled_owned()),
        }
    }

    fn any_ready(&mut self, cx: &mut Context<'_>) -> bool {
        self.timer.as_mut().poll(cx).is_ready() | self.cancelled.as_mut().poll(cx).is_ready()
    }
}

impl<F: Future> Future for Guarded<'_, F> {
    type Output = (Result<F::Output, Stopped>, Duration);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let (polled, cpu) = self.as_mut().turn(cx);
        if let Poll::Ready(output) = polled {
            return Poll::Ready((Ok(output), cpu));
        }
        let watch = self.watch;
        let woken = self.wakers.get_or_insert_with(|| Wakers::new(watch)).any_ready(cx);
        match watch.must_stop(Instant::now()) {
            Some(stopped) => Poll::Ready((Err(stopped), cpu)),
            // The timer rounds to milliseconds and may fire a little before the deadline.
            None if woken => Poll::Ready((Err(Stopped::Timeout), cpu)),
            None => Poll::Pending,
        }
    }
}

impl<F: Future> Guarded<'_, F> {
    /// Returns one turn of the guest, and the processor time of all turns so far.
    ///
    /// The first turn ends with the first interval of fuel and counts by the clock: asking the kernel for the processor time
    /// of a thread takes an eighth of a short call.
    fn turn(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> (Poll<F::Output>, Duration) {
        self.watch.turn.begin();
        let (polled, cpu) = match self.cpu {
            None => (self.call.as_mut().poll(cx), self.watch.elapsed()),
            Some(earlier) => {
                let before = thread_cpu_time();
                let polled = self.poll_for_a_turn(cx);
                (polled, earlier + thread_cpu_time().saturating_sub(before))
            }
        };
        self.cpu = Some(cpu);
        (polled, cpu)
    }

    /// Polls the guest until its turn is over; it yields far more often than others need the thread.
    fn poll_for_a_turn(&mut self, cx: &mut Context<'_>) -> Poll<F::Output> {
        let yields = Arc::new(YieldWaker::new(cx.waker()));
        let waker = Waker::from(Arc::clone(&yields));
        let mut cx = Context::from_waker(&waker);
        loop {
            let polled = self.call.as_mut().poll(&mut cx);
            let now = Instant::now();
            let others_wait = || self.watch.turn.is_over_at(now) || self.watch.must_stop(now).is_some();
            if polled.is_ready() || !yields.take() || others_wait() {
                return polled;
            }
        }
    }
}

/// A waker that records whether the guest yielded because of its fuel. It wakes the task as well, since the turn may be over.
struct YieldWaker {
    task: Waker,
    yielded: AtomicBool,
}

impl YieldWaker {
    fn new(task: &Waker) -> Self {
        Self {
            task: task.clone(),
            yielded: AtomicBool::new(false),
        }
    }

    /// Returns whether the guest yielded since the last call.
    fn take(&self) -> bool {
        self.yielded.swap(false, Ordering::Relaxed)
    }
}

impl Wake for YieldWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.yielded.store(true, Ordering::Relaxed);
        self.task.wake_by_ref();
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
    use super::*;
    use crate::meter::Meter;

    fn watch() -> Watch {
        let turn = Meter::new(&Limits::EXECUTE).turn().clone();
        Watch::new(&Limits::EXECUTE, CancellationToken::new(), turn)
    }

    /// Gives control back so many times, wanting it again at once or not, and counts how often it had it.
    struct GivesWay<'a> {
        left: u32,
        computes: bool,
        polls: &'a mut u32,
    }

    impl Future for GivesWay<'_> {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            *self.polls += 1;
            if self.left == 0 {
                return Poll::Ready(());
            }
            self.left -= 1;
            if self.computes {
                cx.waker().wake_by_ref();
            }
            Poll::Pending
        }
    }

    /// Polls a guarded guest until it is done or has been polled so many times, as a runtime would. Gives how often it was.
    fn poll_guarded(guest: GivesWay<'_>, most: u32) -> u32 {
        let watch = watch();
        let mut guarded = std::pin::pin!(watch.guard(guest));
        let mut cx = Context::from_waker(Waker::noop());
        let done = (1..most).find(|_| guarded.as_mut().poll(&mut cx).is_ready());
        done.unwrap_or(most)
    }

    #[tokio::test]
    async fn a_guest_that_computes_goes_on_within_its_turn() {
        let mut polls = 0;
        let guest = GivesWay {
            left: 10_000,
            computes: true,
            polls: &mut polls,
        };
        let turns = poll_guarded(guest, u32::MAX);
        assert_eq!(polls, 10_001);
        assert!(turns < 1_000, "{turns}");
    }

    #[tokio::test]
    async fn a_guest_that_always_computes_gives_way_when_its_turn_is_over() {
        let mut polls = 0;
        let guest = GivesWay {
            left: u32::MAX,
            computes: true,
            polls: &mut polls,
        };
        assert_eq!(poll_guarded(guest, 5), 5);
    }

    #[tokio::test]
    async fn a_guest_that_waits_is_left_alone() {
        let mut polls = 0;
        let guest = GivesWay {
            left: u32::MAX,
            computes: false,
            polls: &mut polls,
        };
        poll_guarded(guest, 4);
        assert_eq!(polls, 3);
    }
}
