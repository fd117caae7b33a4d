//! The guard around a running call: time, cancellation, and the processor time it used.
//!
//! A guest gives control back every [`YIELD_FUEL`](crate::meter::YIELD_FUEL) units of fuel, after a turn of calls into the
//! host, and whenever it waits. The guard looks at the clock at each of these points, so that a busy guest is stopped within
//! one interval of its deadline; a timer wakes it when the guest waits.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
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

/// What a guard watches.
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

    /// Runs `call` to its end or until it has to be stopped. Gives the processor time it used on this thread as well.
    pub(crate) async fn guard<F: Future>(&self, call: F) -> (Result<F::Output, Stopped>, Duration) {
        let guarded = Guarded {
            watch: self,
            call: std::pin::pin!(call),
            wakers: None,
            cpu: None,
        };
        guarded.await
    }

    fn must_stop(&self) -> Option<Stopped> {
        if self.cancel.is_cancelled() {
            Some(Stopped::Cancelled)
        } else if Instant::now() >= self.deadline {
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
        match watch.must_stop() {
            Some(stopped) => Poll::Ready((Err(stopped), cpu)),
            // The timer rounds to milliseconds and may fire a little before the deadline.
            None if woken => Poll::Ready((Err(Stopped::Timeout), cpu)),
            None => Poll::Pending,
        }
    }
}

impl<F: Future> Guarded<'_, F> {
    /// One turn of the guest, and the processor time of all turns so far.
    ///
    /// The first turn counts by the clock, because asking the kernel for the processor time of a thread takes an eighth of a
    /// short call. It ends where the guest first waits or has burnt one interval of fuel, so the difference is what the
    /// machine did meanwhile.
    fn turn(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> (Poll<F::Output>, Duration) {
        let earlier = self.cpu.map(|cpu| (cpu, thread_cpu_time()));
        if earlier.is_some() {
            self.watch.turn.begin();
        }
        let polled = self.call.as_mut().poll(cx);
        let cpu = match earlier {
            Some((cpu, before)) => cpu + thread_cpu_time().saturating_sub(before),
            None => self.watch.elapsed(),
        };
        self.cpu = Some(cpu);
        (polled, cpu)
    }
}

fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}
