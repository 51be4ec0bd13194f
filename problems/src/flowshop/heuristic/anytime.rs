//! [`Heuristic`]: searches for better schedules as long as it may.

/// A schedule and its makespan.
pub type Found = (Vec<u16>, u32);

/// An anytime heuristic: runs in small steps, and sometimes finds a better schedule.
pub trait Heuristic {
    /// Runs for a while, but only briefly once `keep_going` returns false. Returns a schedule below `best` if it finds
    /// one. Not called once exhausted.
    fn step(&mut self, best: u32, keep_going: &dyn Fn() -> bool) -> Option<Found>;

    /// Work so far, roughly in places of a schedule times machines.
    fn work(&self) -> u64;

    /// Whether there is nothing left to try.
    fn exhausted(&self) -> bool;
}
