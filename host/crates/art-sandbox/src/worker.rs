//! The worker threads on which guests run. They do no other work of the host, so a busy guest delays only other guests.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use tokio::sync::{mpsc, oneshot};

type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

thread_local! {
    /// Identifier of the [`Workers`] that this thread belongs to, and its index in them.
    static CURRENT: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

/// The worker threads of a sandbox. Dropping them stops the threads and drops their unfinished jobs.
#[derive(Debug)]
pub(crate) struct Workers {
    id: usize,
    workers: Vec<Worker>,
}

#[derive(Debug)]
struct Worker {
    /// `None` only while the worker is being dropped.
    jobs: Option<mpsc::UnboundedSender<Job>>,
    /// Number of unfinished jobs.
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
        CURRENT.get().and_then(|(id, index)| (id == self.id).then_some(index))
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

    /// Runs `job` on worker `index`. Returns `None` if the job panicked or the worker has stopped.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        index: usize,
        job: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (sender, receiver) = oneshot::channel();
        // Sending fails if the caller was dropped, and then nobody needs the result.
        self.spawn(index, async move { drop(sender.send(job.await)) })?;
        receiver.await.ok()
    }

    /// Queues `job` on worker `index`. Returns `None` if the worker does not exist or has stopped.
    pub(crate) fn spawn(&self, index: usize, job: impl Future<Output = ()> + Send + 'static) -> Option<()> {
        let worker = self.workers.get(index)?;
        let open_job = OpenJob::new(&worker.open_jobs);
        let job = async move {
            let _open_job = open_job;
            job.await;
        };
        worker.jobs.as_ref()?.send(Box::pin(job)).ok()
    }
}

/// Counts as an unfinished job until it is dropped.
struct OpenJob(Arc<AtomicUsize>);

impl OpenJob {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for OpenJob {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Worker {
    fn start(id: usize, index: usize) -> std::io::Result<Self> {
        let (jobs, mut queue) = mpsc::unbounded_channel::<Job>();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let thread = std::thread::Builder::new()
            .name(format!("art-sandbox-{index}"))
            .spawn(move || {
                CURRENT.set(Some((id, index)));
                runtime.block_on(async {
                    while let Some(job) = queue.recv().await {
                        tokio::spawn(job);
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
        // The last owner may be a job on this thread, and a thread cannot join itself.
        if thread.thread().id() != std::thread::current().id() && thread.join().is_err() {
            tracing::error!("a sandbox thread panicked");
        }
    }
}
