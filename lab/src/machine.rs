//! [`Machine`]: how fast peers work, how often they read messages, when they join and when they pause.

use super::chance::{mix, unit};
use super::device::Device;

/// Peers of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// The number of peers.
    pub count: u32,
    /// Their speed; costs are given for speed 1.
    pub speed: f64,
    /// The time between two reads of a working peer's messages; an idle peer reads them at once.
    pub poll_ns: u64,
    /// Whether they are devices; otherwise each has one explorer.
    pub device: Option<Device>,
}

/// Pauses: time is divided into equal spans, and each peer pauses once in each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pauses {
    /// The length of a span.
    pub every_ns: u64,
    /// The length of a pause; less than the span.
    pub length_ns: u64,
}

/// Varying speed: in each span of time a peer runs at a random fraction of its speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Changes {
    /// The length of a span.
    pub every_ns: u64,
    /// The least such fraction, at least 0.001.
    pub least: f64,
}

/// Peers that join late. The peer that starts with all the work never does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Late {
    /// The fraction of peers that join late.
    pub part: f64,
    /// The latest time at which they join.
    pub until_ns: u64,
}

/// The machine of a simulated cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Classes of peers, in the order of the peers' numbers.
    pub classes: Vec<Class>,
    /// Time to read a message and act on it.
    pub handle_ns: u64,
    /// Whether peers pause.
    pub pauses: Option<Pauses>,
    /// Whether peers' speed varies.
    pub changes: Option<Changes>,
    /// Whether peers join late.
    pub late: Option<Late>,
}

impl Machine {
    /// Peers of one class, at speed 1.
    #[must_use]
    pub fn uniform(count: u32, handle_ns: u64, poll_ns: u64) -> Self {
        let classes = vec![Class { count, speed: 1.0, poll_ns, device: None }];
        Self { classes, handle_ns, pauses: None, changes: None, late: None }
    }

    /// The number of peers.
    #[must_use]
    pub fn peers(&self) -> u32 {
        self.classes.iter().map(|class| class.count).sum()
    }

    /// The sum of all speeds.
    #[must_use]
    pub fn power(&self) -> f64 {
        self.classes.iter().map(|class| f64::from(class.count) * class.speed).sum()
    }

    /// The class of each peer.
    pub(super) fn each(&self) -> impl Iterator<Item = &Class> {
        let classes = self.classes.iter();
        classes.flat_map(|class| std::iter::repeat_n(class, class.count as usize))
    }

    /// The clock of each peer.
    pub(super) fn clocks(&self, seed: u64, first: u32) -> Vec<Clock> {
        let clock = |(peer, class): (u64, &Class)| Clock {
            speed: class.speed,
            poll_ns: class.poll_ns,
            joins_ns: self
                .late
                .filter(|_| peer != u64::from(first))
                .map_or(0, |late| joins_ns(late, seed, peer)),
            seed: mix(seed, peer, 10),
            pauses: self.pauses,
            changes: self.changes,
        };
        (0..).zip(self.each()).map(clock).collect()
    }
}

fn joins_ns(late: Late, seed: u64, peer: u64) -> u64 {
    let comes_late = unit(mix(seed, peer, 11)) < late.part;
    if comes_late { (unit(mix(seed, peer, 12)) * late.until_ns as f64) as u64 } else { 0 }
}

/// How time passes for one peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub speed: f64,
    pub poll_ns: u64,
    pub joins_ns: u64,
    seed: u64,
    pauses: Option<Pauses>,
    changes: Option<Changes>,
}

impl Clock {
    /// The speed at a time, and until when it lasts.
    fn pace(&self, at_ns: u64) -> (f64, u64) {
        let (mut speed, mut until_ns) = (self.speed, u64::MAX);
        if let Some(Changes { every_ns, least }) = self.changes {
            let span = at_ns / every_ns;
            speed *= least + (1.0 - least) * unit(mix(self.seed, span, 1));
            until_ns = (span + 1).saturating_mul(every_ns);
        }
        if let Some(Pauses { every_ns, length_ns }) = self.pauses {
            let span = at_ns / every_ns;
            let start_ns = span * every_ns + mix(self.seed, span, 2) % (every_ns - length_ns);
            let end_ns = start_ns + length_ns;
            if at_ns < start_ns {
                until_ns = until_ns.min(start_ns);
            } else if at_ns < end_ns {
                (speed, until_ns) = (0.0, end_ns);
            } else {
                until_ns = until_ns.min((span + 1).saturating_mul(every_ns));
            }
        }
        (speed, until_ns)
    }

    fn steady(&self) -> bool {
        self.pauses.is_none() && self.changes.is_none()
    }

    /// The first time from `at_ns` on at which the peer is not paused.
    pub fn awake(&self, at_ns: u64) -> u64 {
        let mut at_ns = at_ns;
        while self.pauses.is_some() {
            match self.pace(at_ns) {
                (0.0, until_ns) => at_ns = until_ns,
                _ => break,
            }
        }
        at_ns
    }

    /// When work of this cost that starts at `from_ns` ends.
    pub fn end(&self, from_ns: u64, cost_ns: u64) -> u64 {
        let mut left = cost_ns as f64;
        let mut at_ns = from_ns;
        loop {
            let (speed, until_ns) = self.pace(at_ns);
            let takes_ns = left / speed;
            if self.steady() || takes_ns <= (until_ns - at_ns) as f64 {
                return at_ns.saturating_add(takes_ns.ceil() as u64);
            }
            left -= (until_ns - at_ns) as f64 * speed;
            at_ns = until_ns;
        }
    }

    /// The cost of the work done between two times.
    pub fn done(&self, from_ns: u64, to_ns: u64) -> u64 {
        let (mut done, mut at_ns) = (0.0, from_ns);
        while at_ns < to_ns {
            let (speed, until_ns) = self.pace(at_ns);
            let next_ns = until_ns.min(to_ns);
            done += (next_ns - at_ns) as f64 * speed;
            at_ns = next_ns;
        }
        done as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_and_done_are_inverse() {
        let mut machine = Machine::uniform(3, 0, 100);
        machine.classes[0].speed = 0.37;
        machine.pauses = Some(Pauses { every_ns: 1000, length_ns: 400 });
        machine.changes = Some(Changes { every_ns: 700, least: 0.1 });
        machine.late = Some(Late { part: 1.0, until_ns: 500 });
        let clocks = machine.clocks(5, 0);
        assert!(clocks[0].joins_ns == 0 && clocks[1].joins_ns != clocks[2].joins_ns);
        for i in 0..2000 {
            let clock = &clocks[i as usize % 3];
            let (from_ns, cost_ns) = (mix(1, i, 0) % 5000, mix(2, i, 0) % 3000);
            let end_ns = clock.end(from_ns, cost_ns);
            let done = clock.done(from_ns, end_ns);
            assert!(done.abs_diff(cost_ns) <= 1, "{cost_ns} takes until {end_ns}, then {done}");
            let awake_ns = clock.awake(from_ns);
            assert!((from_ns..from_ns + 800).contains(&awake_ns));
            assert!(clock.pace(awake_ns).0 > 0.0);
        }
    }
}
