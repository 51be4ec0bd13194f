//! [`Rest`]: how long to rest between two looks at a network that wakes nobody.

use std::time::{Duration, Instant};

/// After any activity, no rest for this long.
const AWAKE: Duration = Duration::from_micros(50);
/// The longest rest.
const LONGEST: Duration = Duration::from_millis(1);

/// Knows when something last happened.
#[derive(Clone, Copy, Debug)]
pub struct Rest {
    active: Instant,
}

impl Rest {
    pub fn new(now: Instant) -> Self {
        Self { active: now }
    }

    /// Something was sent or arrived.
    pub fn wake(&mut self, now: Instant) {
        self.active = now;
    }

    /// As long as nothing has happened so far, so that rests double.
    pub fn at(&self, now: Instant) -> Duration {
        let idle = now.saturating_duration_since(self.active);
        if idle < AWAKE { Duration::ZERO } else { idle.min(LONGEST) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_double_up_to_the_longest() {
        let start = Instant::now();
        let (rest, mut now) = (Rest::new(start), start);
        assert_eq!(rest.at(now), Duration::ZERO);
        now += Duration::from_micros(49);
        assert_eq!(rest.at(now), Duration::ZERO);
        now += Duration::from_micros(1);
        for micros in [50, 100, 200, 400, 800, 1000, 1000] {
            assert_eq!(rest.at(now), Duration::from_micros(micros));
            now += rest.at(now);
        }
        let mut rest = rest;
        rest.wake(now);
        assert_eq!(rest.at(now), Duration::ZERO);
    }
}
