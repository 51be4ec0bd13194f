//! How much memory this process uses, and how much more it may use.

use crate::sync::{AtomicBool, AtomicU64, Ordering};
use std::fs::read_to_string;
use std::path::Path;
use std::time::{Duration, Instant};

/// The memory that the process uses, in bytes, if the system reports it.
pub(crate) fn taken() -> Option<u64> {
    kib(&read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// The memory that the process may still use, in bytes: what the machine has free, or what its control group or a limit
/// on its address space leaves.
pub fn free_memory() -> Option<u64> {
    let machine = kib(&read_to_string("/proc/meminfo").ok()?, "MemAvailable:");
    [machine, of_group(), of_addresses()].into_iter().flatten().min()
}

/// The memory that a run may use unless it has a limit, in bytes: it leaves some to others, and shares the rest with the
/// other processes of its job on this machine.
pub fn usable_memory(processes: u32) -> Option<u64> {
    free_memory().map(|free| (free - free / LEFT_TO_OTHERS) / u64::from(processes.max(1)))
}

/// Looks up a name in a table of kibibytes. Returns bytes.
fn kib(table: &str, name: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1 << 10)
}

/// The memory that the control groups of this process leave.
fn of_group() -> Option<u64> {
    let groups = read_to_string("/proc/self/cgroup").ok()?;
    groups.lines().flat_map(left_in_groups).min()
}

/// The memory that the group on a line, and those above it, leave. In a container a group may appear at the top.
fn left_in_groups(line: &str) -> Vec<u64> {
    let parts: Vec<&str> = line.splitn(3, ':').collect();
    let [_, kinds, path] = parts[..] else { return Vec::new() };
    let (top, files) = match kinds {
        "" => ("/sys/fs/cgroup", ["memory.max", "memory.current", "inactive_file"]),
        _ if kinds.split(',').any(|kind| kind == "memory") => (
            "/sys/fs/cgroup/memory",
            ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"],
        ),
        _ => return Vec::new(),
    };
    let own = Path::new(path.trim_start_matches('/'));
    own.ancestors().filter_map(|group| left_in(&Path::new(top).join(group), files)).collect()
}

/// The memory that a group leaves, if it has a limit. The system's file cache counts as free.
fn left_in(group: &Path, [limit, usage, idle]: [&str; 3]) -> Option<u64> {
    let number = |file: &str| read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
    let statistics = read_to_string(group.join("memory.stat")).unwrap_or_default();
    let idle = statistics.lines().find_map(|line| line.strip_prefix(idle)?.trim().parse().ok());
    let used = number(usage)?.saturating_sub(idle.unwrap_or(0));
    Some(number(limit)?.saturating_sub(used))
}

/// The memory that a limit on the address space leaves. A growing vector needs addresses for the old and the new copy.
fn of_addresses() -> Option<u64> {
    let limits = read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let most: u64 = line.split_whitespace().next()?.parse().ok()?;
    let taken = kib(&read_to_string("/proc/self/status").ok()?, "VmSize:")?;
    Some(most.saturating_sub(taken) / 3)
}

/// How much the process may grow during a run. Any thread may check it.
pub(crate) struct MemoryLimit {
    start: Instant,
    /// The memory that the process used when the run began.
    before: u64,
    /// How much more it may use.
    most: u64,
    /// The memory use above which little is left.
    short: u64,
    /// How much more it used at the last check.
    used: AtomicU64,
    /// Whether that was more than `short` at any check.
    is_short: AtomicBool,
    /// The earliest time at which either can be exceeded, in nanoseconds since the start.
    check_at: AtomicU64,
}

/// No process takes memory faster than this many bytes in a second.
const FASTEST: u64 = 64 << 30;
/// The shortest and the longest time between two checks, which read a file of the system.
const CHECK_EVERY: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(500)];

/// By default, a run leaves 1/LEFT_TO_OTHERS of the free memory to others.
const LEFT_TO_OTHERS: u64 = 5;
/// At its end, a run that is saved holds its open work three times: as nodes, packed, and as the bytes of a file.
const COPIES: u64 = 3;

impl MemoryLimit {
    /// The limit of a run that begins; `None` if the system does not report memory use.
    pub fn new(limit: Option<u64>, saves: bool) -> Option<Self> {
        let all = limit.or_else(|| usable_memory(1))?;
        // While it is saved, a run holds its open work as bytes, too.
        let (most, short) = if saves { (all / COPIES, all / 9) } else { (all, all / 3 * 2) };
        Some(Self::from(taken()?, most, short))
    }

    fn from(before: u64, most: u64, short: u64) -> Self {
        let zero = || AtomicU64::new(0);
        let (start, is_short) = (Instant::now(), AtomicBool::new(false));
        Self { start, before, most, short, used: zero(), is_short, check_at: zero() }
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// For how long it is certain that neither limit is exceeded.
    pub fn safe_for(&self) -> Duration {
        Duration::from_nanos(self.check_at.load(Ordering::Relaxed).saturating_sub(self.now()))
    }

    /// Asks the system how much memory is used, which takes time, if either limit can be exceeded by now.
    pub fn check(&self) {
        let check_at = self.check_at.load(Ordering::Relaxed);
        // The first thread that is late checks for all.
        let taken_over =
            |at| self.check_at.compare_exchange(at, u64::MAX, Ordering::Relaxed, Ordering::Relaxed);
        if check_at > self.now() || taken_over(check_at).is_err() {
            return;
        }
        let used = self.grown();
        self.used.store(used, Ordering::Relaxed);
        if used > self.short {
            self.is_short.store(true, Ordering::Relaxed);
        }
        let next = if self.is_short() { self.most } else { self.short };
        let soonest = Duration::from_secs_f64(next.saturating_sub(used) as f64 / FASTEST as f64);
        let [least, most] = CHECK_EVERY;
        let after = soonest.clamp(least, most).as_nanos() as u64;
        self.check_at.store(self.now() + after, Ordering::Relaxed);
    }

    /// By how much the process has grown. Asks the system.
    pub fn grown(&self) -> u64 {
        taken().map_or(0, |taken| taken.saturating_sub(self.before))
    }

    /// Whether the limit was exceeded at the last check.
    pub fn is_full(&self) -> bool {
        self.used.load(Ordering::Relaxed) > self.most
    }

    /// Whether little was left at any check.
    pub fn is_short(&self) -> bool {
        self.is_short.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_in_bytes() {
        assert_eq!(kib("VmPeak:\t  20 kB\nVmRSS:\t    12 kB\n", "VmRSS:"), Some(12 << 10));
        assert_eq!(kib("VmRSS: many kB", "VmRSS:"), None);
        assert_eq!(kib("", "VmRSS:"), None);
    }

    #[test]
    fn groups_leave_what_their_limits_allow() {
        let group = std::env::temp_dir().join(format!("pleach-group-{}", std::process::id()));
        std::fs::create_dir_all(&group).unwrap();
        let files = ["memory.max", "memory.current", "inactive_file"];
        let write = |name: &str, text: &str| std::fs::write(group.join(name), text).unwrap();
        write("memory.current", "700\n");
        write("memory.max", "max\n");
        assert_eq!(left_in(&group, files), None);
        write("memory.max", "1000\n");
        assert_eq!(left_in(&group, files), Some(300));
        write("memory.stat", "anon 5\ninactive_file 100\n");
        assert_eq!(left_in(&group, files), Some(400));
        std::fs::remove_dir_all(&group).unwrap();
        assert_eq!(left_in_groups("nonsense"), Vec::<u64>::new());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_uses_memory_and_may_use_more() {
        assert!(taken().unwrap() > 0 && free_memory().unwrap() > 0);
        // Between the calls other processes may take memory, or free it.
        let [alone, shared] = [1, 8].map(|processes| usable_memory(processes).unwrap());
        assert!(shared < alone / 4, "{shared} of {alone}");
        let wide = MemoryLimit::new(Some(1 << 50), false).unwrap();
        wide.check();
        assert!(!wide.is_full() && !wide.is_short());
        // Only the last check counts, however much time passes.
        let full = MemoryLimit::from(0, 1, 0);
        assert!(!full.is_full());
        full.check();
        assert!(full.is_full() && full.is_short());
        let used = taken().unwrap();
        let short = MemoryLimit::from(0, 1 << 50, used / 2);
        short.check();
        assert!(!short.is_full() && short.is_short());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn checks_are_far_apart_where_much_is_left() {
        let wide = MemoryLimit::from(0, 1 << 50, 1 << 49);
        let least = wide.now() + CHECK_EVERY[1].as_nanos() as u64;
        wide.check();
        assert!(wide.check_at.load(Ordering::Relaxed) >= least);
        // Until then, nobody asks the system.
        wide.used.store(7, Ordering::Relaxed);
        wide.check_at.store(u64::MAX, Ordering::Relaxed);
        wide.check();
        assert_eq!(wide.used.load(Ordering::Relaxed), 7);
    }
}
