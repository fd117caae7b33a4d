//! The worker threads on which guests run. They do no other work of the host, so a busy guest delays only other guests.
//!
//! A job is a future for a worker to run, such as a call of a tool. A worker takes jobs from its queue and runs several at a
//! time: the next job has its turn when the current job waits or its time slice is over.

use std::cell::Cell;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::thread::JoinHandle;

use futures_util::{FutureExt, poll};
use tokio::sync::{mpsc, oneshot};

/// Work for a worker. The work is on the heap, because every future that contained the work would reserve memory for it twice:
/// once for the captured variable, and once for the future that is awaited.
struct Job {
    work: Pin<Box<dyn Future<Output = ()> + Send>>,
    open_job_guard: OpenJobGuard,
}

impl Job {
    /// Runs the job until it first waits or yields, and makes a task of what is left of it. So a new job does not wait behind all
    /// tasks: if no other job is new, it waits only for the time slice of one guest. A short job needs no task.
    async fn start(mut self) {
        let first_poll = AssertUnwindSafe(async { poll!(&mut self.work) }).catch_unwind();
        // A job that panicked is dropped. Its caller notices that, because the result is not sent.
        if let Ok(Poll::Pending) = first_poll.await {
            tokio::spawn(self.run());
        }
    }

    async fn run(self) {
        let _open_job_guard = self.open_job_guard;
        self.work.await;
    }
}

/// Number of tasks that a worker polls before it looks for new jobs and at its timers. It is the minimum, because each of the
/// tasks may be a guest that uses its whole time slice.
const EVENT_INTERVAL: u32 = 1;

/// Number of tasks after which a worker polls a task that another thread woke, for example because a response has arrived.
const GLOBAL_QUEUE_INTERVAL: u32 = 2;

thread_local! {
    /// Identifier of the [`Workers`] that this thread belongs to, and its index in them. `None` in a thread that is no worker.
    static CURRENT_WORKER: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

/// The worker threads of a sandbox. Dropping them stops the threads and drops their unfinished jobs.
#[derive(Debug)]
pub(crate) struct Workers {
    /// Distinguishes the workers of this sandbox from those of others.
    id: usize,
    workers: Vec<Worker>,
}

#[derive(Debug)]
struct Worker {
    /// `None` only while the worker is being dropped.
    jobs: Option<mpsc::UnboundedSender<Job>>,
    /// Number of unfinished jobs, including those in the queue.
    open_jobs: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Workers {
    pub(crate) fn start(count: usize) -> std::io::Result<Self> {
        static NEXT_ID: AtomicUsize = AtomicUsize::new(0);
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let workers = (0..count)
            .map(|index| Worker::start(id, index))
            .collect::<std::io::Result<_>>()?;
        Ok(Self { id, workers })
    }

    /// Returns the index of the current thread, if it is one of these workers.
    pub(crate) fn current(&self) -> Option<usize> {
        CURRENT_WORKER
            .get()
            .and_then(|(id, index)| (id == self.id).then_some(index))
    }

    /// Returns the index of the worker with the fewest unfinished jobs.
    pub(crate) fn least_busy(&self) -> usize {
        let open_jobs = |(_, worker): &(usize, &Worker)| worker.open_jobs.load(Ordering::Relaxed);
        self.workers
            .iter()
            .enumerate()
            .min_by_key(open_jobs)
            .map_or(0, |(index, _)| index)
    }

    /// Queues `work` on worker `index`. The output of the returned future is the result of the work, or `None` if the work
    /// panicked, or if the worker stopped before the end of the work.
    pub(crate) fn run<T, F>(&self, index: usize, work: F) -> impl Future<Output = Option<T>> + use<T, F>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        // Sending fails if the returned future was dropped, and then nobody needs the result.
        let queued = self.spawn(index, work.map(|result| drop(sender.send(result))));
        async move {
            queued?;
            receiver.await.ok()
        }
    }

    /// Queues `work` on worker `index`. Returns `None` if the worker does not exist or has stopped.
    pub(crate) fn spawn(&self, index: usize, work: impl Future<Output = ()> + Send + 'static) -> Option<()> {
        let worker = self.workers.get(index)?;
        let job = Job {
            work: Box::pin(work),
            open_job_guard: OpenJobGuard::new(&worker.open_jobs),
        };
        worker.jobs.as_ref()?.send(job).ok()
    }
}

/// Counts as an unfinished job until it is dropped.
struct OpenJobGuard(Arc<AtomicUsize>);

impl OpenJobGuard {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for OpenJobGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Worker {
    fn start(id: usize, index: usize) -> std::io::Result<Self> {
        let (jobs, mut queue) = mpsc::unbounded_channel::<Job>();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .event_interval(EVENT_INTERVAL)
            .global_queue_interval(GLOBAL_QUEUE_INTERVAL)
            .build()?;
        let thread = std::thread::Builder::new()
            .name(format!("art-sandbox-{index}"))
            .spawn(move || {
                CURRENT_WORKER.set(Some((id, index)));
                runtime.block_on(async {
                    while let Some(job) = queue.recv().await {
                        // The workers are being dropped, and so are the jobs that are left.
                        if queue.is_closed() {
                            break;
                        }
                        job.start().await;
                        // Lets a guest that has started run before the next new one.
                        tokio::task::yield_now().await;
                    }
                });
            })?;
        Ok(Self {
            jobs: Some(jobs),
            open_jobs: Arc::default(),
            thread: Some(thread),
        })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        let Some(thread) = self.thread.take() else { return };
        // The last owner of the workers may be a job on this thread, and a thread cannot wait for its own end.
        if thread.thread().id() != std::thread::current().id() && thread.join().is_err() {
            tracing::error!("a sandbox thread panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use futures_util::future::join_all;

    use super::*;

    /// Lets others run and asks for the next turn at once, as a guest does when its time slice is over.
    async fn end_time_slice() {
        let mut is_over = false;
        let next_turn = std::future::poll_fn(|cx| {
            if std::mem::replace(&mut is_over, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        });
        next_turn.await;
    }

    #[tokio::test]
    async fn a_job_that_panics_has_no_result_and_leaves_its_worker_alive() {
        let workers = Workers::start(1).unwrap();
        let panics_later = async {
            end_time_slice().await;
            panic!("later");
        };
        assert_eq!(workers.run::<(), _>(0, async { panic!("at once") }).await, None);
        assert_eq!(workers.run::<(), _>(0, panics_later).await, None);
        assert_eq!(workers.run(0, async { 7 }).await, Some(7));
    }

    #[tokio::test]
    async fn jobs_in_the_queue_are_not_started_when_the_workers_are_dropped() {
        let workers = Workers::start(1).unwrap();
        let (is_running, running) = oneshot::channel();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let blocking_job = async move {
            is_running.send(()).unwrap();
            // Blocks the thread until the workers are being dropped.
            released.recv().ok();
        };
        workers.spawn(0, blocking_job).unwrap();
        running.await.unwrap();
        let queued = workers.run(0, async {});
        let dropping_thread = std::thread::spawn(move || drop(workers));
        std::thread::sleep(std::time::Duration::from_millis(50));
        drop(release);
        dropping_thread.join().unwrap();
        assert_eq!(queued.await, None);
    }

    #[tokio::test]
    async fn a_job_that_another_thread_wakes_waits_for_few_turns_of_other_jobs() {
        let workers = Workers::start(1).unwrap();
        let (wake, woken) = oneshot::channel();
        let has_continued = Arc::new(AtomicBool::new(false));
        let waiting_job = workers.run(0, {
            let has_continued = Arc::clone(&has_continued);
            async move {
                woken.await.unwrap();
                has_continued.store(true, Ordering::Relaxed);
            }
        });
        let counting_job = workers.run(0, async move {
            end_time_slice().await;
            // The worker is blocked until the other job is woken, so that all turns after that are counted.
            std::thread::spawn(move || wake.send(()).unwrap()).join().unwrap();
            let mut turns = 0;
            while !has_continued.load(Ordering::Relaxed) {
                turns += 1;
                end_time_slice().await;
            }
            turns
        });
        let (_, turns) = futures_util::join!(waiting_job, counting_job);
        assert!(turns.unwrap() <= 3, "{turns:?}");
    }

    #[tokio::test]
    async fn a_new_job_waits_for_few_turns_however_many_other_jobs_there_are() {
        let workers = Arc::new(Workers::start(1).unwrap());
        // Of the new job: whether it is queued, whether it has started, and how many turns other jobs had in between.
        let [is_queued, has_started] = [false; 2].map(|is_set| Arc::new(AtomicBool::new(is_set)));
        let turns_in_between = Arc::new(AtomicUsize::new(0));
        let old_job = |number| {
            let (is_queued, has_started) = (Arc::clone(&is_queued), Arc::clone(&has_started));
            let (workers, turns) = (Arc::clone(&workers), Arc::clone(&turns_in_between));
            async move {
                // By the end of these turns, all old jobs have started.
                for _ in 0..50 {
                    end_time_slice().await;
                }
                // The first old job queues the new one.
                if number == 0 {
                    is_queued.store(true, Ordering::Relaxed);
                    let has_started = Arc::clone(&has_started);
                    let new_job = async move { has_started.store(true, Ordering::Relaxed) };
                    workers.spawn(0, new_job).unwrap();
                }
                while !has_started.load(Ordering::Relaxed) {
                    turns.fetch_add(usize::from(is_queued.load(Ordering::Relaxed)), Ordering::Relaxed);
                    end_time_slice().await;
                }
            }
        };
        join_all((0..20).map(|number| workers.run(0, old_job(number)))).await;
        let turns = turns_in_between.load(Ordering::Relaxed);
        assert!(turns <= 2, "{turns} turns");
    }
}
