//! [`Pins`]: the cores to which the threads of a run are bound.

use std::cell::RefCell;
use std::fs::File;
use std::sync::OnceLock;

thread_local! {
    /// The cores that this thread could use before it was bound to one.
    static BEFORE: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// The core of each thread of a run; empty if threads are not bound.
///
/// Threads are bound only if there is exactly one for each core that this process may use: then no two share a core,
/// and no thread waits while another core is free. Only one process of a machine binds its threads, since two would
/// compete for the same cores.
pub(crate) struct Pins(Vec<usize>);

impl Pins {
    /// The cores for this number of threads.
    pub fn new(threads: usize) -> Self {
        let cores = allowed();
        let bind = threads > 1 && cores.len() == threads && is_first_process();
        Self(if bind { cores } else { Vec::new() })
    }

    /// The core of a thread.
    pub fn core(&self, thread: usize) -> Option<usize> {
        self.0.get(thread).copied()
    }
}

/// Whether no other process of this machine binds its threads. The lock is held for as long as this process lives; if
/// it cannot be taken, threads are not bound.
fn is_first_process() -> bool {
    static HELD: OnceLock<Option<File>> = OnceLock::new();
    let lock = || {
        let path = std::env::temp_dir().join("pleach-cores.lock");
        let file = File::options().write(true).create(true).truncate(false).open(path).ok()?;
        file.try_lock().ok().map(|()| file)
    };
    HELD.get_or_init(lock).is_some()
}

/// Binds this thread to a core. If the system does not allow that, the thread runs on any core.
pub(crate) fn bind(core: usize) {
    BEFORE.set(allowed());
    run_on(&[core]);
}

/// The cores for threads that this one starts, if it is bound: the system would bind them to the same core.
pub(crate) fn unbound() -> Vec<usize> {
    BEFORE.with_borrow(Clone::clone)
}

/// The cores that this thread may use; empty if the system does not report them.
#[cfg(target_os = "linux")]
pub(crate) fn allowed() -> Vec<usize> {
    // SAFETY: a set of cores is a plain array of bits, for which zeros are a valid value.
    let mut set = unsafe { std::mem::zeroed::<libc::cpu_set_t>() };
    // SAFETY: the set has the given size.
    let known = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } == 0;
    let all = if known { 0..libc::CPU_SETSIZE as usize } else { 0..0 };
    // SAFETY: all of them are below the size of the set.
    all.filter(|&core| unsafe { libc::CPU_ISSET(core, &set) }).collect()
}

/// Has this thread run on these cores only, if there are some and the system allows that.
#[cfg(target_os = "linux")]
pub(crate) fn run_on(cores: &[usize]) {
    // SAFETY: a set of cores is a plain array of bits, for which zeros are a valid value.
    let mut set = unsafe { std::mem::zeroed::<libc::cpu_set_t>() };
    for &core in cores.iter().filter(|&&core| core < libc::CPU_SETSIZE as usize) {
        // SAFETY: the core is below the size of the set.
        unsafe { libc::CPU_SET(core, &mut set) };
    }
    // SAFETY: the set has the given size. The system refuses an empty one.
    unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn allowed() -> Vec<usize> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn run_on(_: &[usize]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_bound_only_where_each_has_a_core() {
        let cores = allowed().len();
        for threads in [1, cores + 1, 1000] {
            assert_eq!(Pins::new(threads).core(0), None, "{threads} threads on {cores} cores");
        }
        // Whether this process is the first depends on what else is running.
        let pins = Pins::new(cores);
        let bound = (0..cores).filter(|&thread| pins.core(thread).is_some()).count();
        assert!(bound == 0 || bound == cores, "{bound} of {cores}");
        assert_eq!(pins.core(cores), None);
    }
}
