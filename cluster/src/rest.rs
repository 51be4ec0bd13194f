//! [`Rest`]: how long to rest between two polls of a network that wakes nobody.

use std::time::{Duration, Instant};

/// There is no rest for this long after any activity: longer than the system's shortest sleep, which is some 80 µs.
/// Otherwise two sites that answer each other would each rest because the other does, forever.
const AWAKE: Duration = Duration::from_micros(150);
/// Rests are shorter than the silence before them by this factor, for the same reason.
const FRACTION: u32 = 8;
/// The longest rest after a short silence.
const LONGEST: Duration = Duration::from_millis(1);
/// After a long silence rests grow again, to 1/SLEEPY of the silence and at most `DEEPEST`: that saves three quarters
/// of the processor time of a site that has nothing to send.
const SLEEPY: u32 = 100;
const DEEPEST: Duration = Duration::from_millis(4);

/// Records the last activity.
#[derive(Clone, Copy, Debug)]
pub struct Rest {
    active: Instant,
}

impl Rest {
    pub fn new(now: Instant) -> Self {
        Self { active: now }
    }

    /// Notes that something was sent or arrived.
    pub fn wake(&mut self, now: Instant) {
        self.active = now;
    }

    /// How long to rest: a fraction of the time since the last activity.
    pub fn at(&self, now: Instant) -> Duration {
        let idle = now.saturating_duration_since(self.active);
        if idle < AWAKE {
            return Duration::ZERO;
        }
        (idle / FRACTION).min(LONGEST).max((idle / SLEEPY).min(DEEPEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_grow_up_to_the_longest() {
        let start = Instant::now();
        let mut rest = Rest::new(start);
        let after = |micros| start + Duration::from_micros(micros);
        for micros in [0, 149] {
            assert_eq!(rest.at(after(micros)), Duration::ZERO);
        }
        let all = [(160, 20), (800, 100), (8000, 1000), (100_000, 1000), (1_000_000, 4000)];
        for (micros, expected) in all {
            assert_eq!(rest.at(after(micros)), Duration::from_micros(expected));
        }
        rest.wake(after(1_000_000));
        assert_eq!(rest.at(after(1_000_149)), Duration::ZERO);
    }
}
