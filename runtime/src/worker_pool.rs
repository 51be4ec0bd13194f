//! [`WorkerPool`]: threads that outlive a run and are reused by the next one.

use crate::error::RunError;
use crate::pins::{Pins, bind, run_on, unbound};
use crate::sync::{Condvar, Mutex, lock};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

/// A task for a thread of the worker pool.
type Task = Box<dyn FnOnce() + Send>;
/// A task that still borrows from a run.
type Borrowing<'env> = Box<dyn FnOnce() + Send + 'env>;

/// A thread, and the core to which it is bound, if it is.
struct PoolThread {
    core: Option<usize>,
    tasks: Sender<Task>,
}

impl PoolThread {
    fn start(number: u64, core: Option<usize>) -> std::io::Result<Self> {
        let (tasks, receive) = channel::<Task>();
        // A search within a search is started by a thread that may be bound.
        let cores = unbound();
        let work = move || {
            match core {
                Some(core) => bind(core),
                None => run_on(&cores),
            }
            receive.into_iter().for_each(|task| task());
        };
        thread::Builder::new().name(format!("pleach-{number}")).spawn(work)?;
        Ok(Self { core, tasks })
    }
}

/// Threads that outlive a run and are reused by the next one.
///
/// [`crate::run`] uses the worker pool of the process. Any other worker pool ends its threads when it is dropped.
#[derive(Default)]
pub struct WorkerPool {
    /// Threads that wait for a task.
    idle: Mutex<Vec<PoolThread>>,
    started: AtomicU64,
    /// The process in which the threads run.
    process: AtomicU32,
}

impl WorkerPool {
    /// The worker pool of the process.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<WorkerPool> = OnceLock::new();
        SHARED.get_or_init(Self::default)
    }

    /// The number of threads started so far.
    #[must_use]
    pub fn threads_started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// Runs each job on its own thread, and `meanwhile` on this one. Returns when all have ended. A panic of a job
    /// continues here.
    ///
    /// # Errors
    /// If the system cannot start enough threads: then no job was run.
    pub fn side_by_side<'env, R: Send + 'env>(
        &self,
        jobs: Vec<Box<dyn FnOnce() -> R + Send + 'env>>,
        meanwhile: impl FnOnce(&Arc<Latch>),
    ) -> Result<Vec<R>, RunError> {
        let workers = self.take_workers(jobs.len())?;
        let latch = Arc::new(Latch::new(jobs.len() as u32));
        let slots: Vec<JobResult<R>> = jobs.iter().map(|_| JobResult::default()).collect();
        {
            let _all_ended = WaitOnDrop(&latch);
            for ((job, slot), worker) in jobs.into_iter().zip(&slots).zip(&workers) {
                let ended = CountOnDrop(Arc::clone(&latch));
                let job = Job { job, slot: JobResult(Arc::clone(&slot.0)), ended };
                let task: Borrowing<'env> = Box::new(move || job.run());
                // SAFETY: `WaitOnDrop` keeps this function from returning, and from unwinding, before the
                // latch has counted every task, and a task is counted last, once it has run or was dropped.
                let task = unsafe { std::mem::transmute::<Borrowing<'env>, Task>(task) };
                // A thread ends only when its sender is dropped, so it takes the task.
                let _ = worker.tasks.send(task);
            }
            meanwhile(&latch);
        }
        lock(&self.idle).extend(workers);
        let results = slots.iter().map(|slot| lock(&slot.0).take().expect("every task was run"));
        Ok(results.map(|result| result.unwrap_or_else(|panic| resume_unwind(panic))).collect())
    }

    /// Takes `n` threads without a task, bound to cores if possible. Missing ones are started.
    fn take_workers(&self, n: usize) -> Result<Vec<PoolThread>, RunError> {
        let pins = Pins::new(n);
        let mut idle = lock(&self.idle);
        if self.process.swap(std::process::id(), Ordering::Relaxed) != std::process::id() {
            // A forked process has none of its parent's threads. Their handles are leaked.
            std::mem::forget(std::mem::take(&mut *idle));
        }
        let mut hired = Vec::new();
        for at in 0..n {
            let core = pins.core(at);
            let worker = match idle.iter().position(|worker| worker.core == core) {
                Some(free) => Ok(idle.swap_remove(free)),
                None => {
                    PoolThread::start(self.started.load(Ordering::Relaxed), core).inspect(|_| {
                        self.started.fetch_add(1, Ordering::Relaxed);
                    })
                }
            };
            match worker {
                Ok(worker) => hired.push(worker),
                Err(why) => {
                    idle.append(&mut hired);
                    return Err(RunError::Thread(at as u32, why));
                }
            }
        }
        Ok(hired)
    }
}

/// Where a job leaves its result.
struct JobResult<R>(Arc<Mutex<Option<thread::Result<R>>>>);

impl<R> Default for JobResult<R> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(None)))
    }
}

/// A job on its way to a thread. Its parts are dropped in this order, so that it is counted last.
struct Job<'env, R> {
    job: Box<dyn FnOnce() -> R + Send + 'env>,
    slot: JobResult<R>,
    ended: CountOnDrop,
}

impl<R> Job<'_, R> {
    fn run(self) {
        let Self { job, slot, ended } = self;
        let result = catch_unwind(AssertUnwindSafe(job));
        *lock(&slot.0) = Some(result);
        drop(slot);
        drop(ended);
    }
}

/// The number of jobs that have not ended.
#[derive(Debug)]
pub struct Latch {
    left: Mutex<u32>,
    changed: Condvar,
}

impl Latch {
    fn new(left: u32) -> Self {
        Self { left: Mutex::new(left), changed: Condvar::new() }
    }

    /// Waits until a job ends, the time is up or somebody wakes this thread, unless there is no reason to. Returns how many
    /// jobs have not ended.
    pub fn wait(&self, at_most: Duration, waits: impl FnOnce() -> bool) -> u32 {
        let left = lock(&self.left);
        if *left == 0 || !waits() {
            return *left;
        }
        let waited = self.changed.wait_timeout(left, at_most);
        *waited.unwrap_or_else(std::sync::PoisonError::into_inner).0
    }

    /// Wakes the thread that waits. What it waits for must be known before.
    pub fn wake(&self) {
        let _left = lock(&self.left);
        self.changed.notify_all();
    }
}

/// Waits for all jobs, even if the caller panics.
struct WaitOnDrop<'a>(&'a Latch);

impl Drop for WaitOnDrop<'_> {
    fn drop(&mut self) {
        let mut left = lock(&self.0.left);
        while *left > 0 {
            let waited = self.0.changed.wait(left);
            left = waited.unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }
}

/// Counts a job when it has ended.
struct CountOnDrop(Arc<Latch>);

impl Drop for CountOnDrop {
    fn drop(&mut self) {
        *lock(&self.0.left) -= 1;
        self.0.changed.notify_all();
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::pins::allowed;

    /// They used to share its core, and were kept for later runs.
    #[test]
    fn threads_that_a_bound_one_starts_are_not_bound() {
        let cores = allowed();
        let first = cores[0];
        let started = thread::spawn(move || {
            bind(first);
            let job = Box::new(allowed) as Box<dyn FnOnce() -> Vec<usize> + Send>;
            WorkerPool::default().side_by_side(vec![job], |_| ()).unwrap()
        });
        assert_eq!(started.join().unwrap(), [cores]);
    }
}
