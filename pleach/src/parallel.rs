//! [`in_parallel`]: the same work on many items, on several threads.

use pleach_runtime::sync::lock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Works on all items, as many at once as there are threads, and returns the first failure. `work` is also given a
/// function that tells whether to continue: nothing has failed so far.
pub(crate) fn in_parallel<T: Sync, E: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T, &dyn Fn() -> bool) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let (next, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let failed = Mutex::new(None);
    let keep_going = || !over.load(Ordering::Relaxed);
    let work = || {
        while let Some(item) =
            items.get(next.fetch_add(1, Ordering::Relaxed)).filter(|_| keep_going())
        {
            if let Err(why) = work(item, &keep_going) {
                lock(&failed).get_or_insert(why);
                over.store(true, Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(items.len()) {
            scope.spawn(work);
        }
        work();
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}
