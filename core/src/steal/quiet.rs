//! [`Waves`]: detects the end with four counters, gathered in waves over the tree of peers.
//!
//! The root sends a wave down. Each peer answers once it is idle and all its children have
//! answered, with the total numbers of pieces of work sent and received in its subtree. Two
//! successive waves with the same totals, as many received as sent, prove that no work was on its
//! way in between.

use super::tree::TreePlace;

/// Numbers of pieces of work sent and received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Totals {
    pub sent: u64,
    pub received: u64,
}

/// What a peer must do for a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Pass the wave to the children.
    Ask,
    /// Report to the parent.
    Report(Totals),
    /// At the root: the run is over.
    End,
}

/// A peer's state in the waves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Waves {
    root: bool,
    children: u32,
    /// The current wave: reports still missing from children, and their sum so far.
    wave: Option<(u32, Totals)>,
    /// At the root: the totals of the last wave.
    last: Option<Totals>,
}

impl Waves {
    pub fn new(place: &TreePlace) -> Self {
        let children = place.children().count() as u32;
        Self { root: place.parent().is_none(), children, wave: None, last: None }
    }

    /// Handles a wave from the parent.
    pub fn on_wave(&mut self) -> Step {
        self.wave = Some((self.children, Totals::default()));
        Step::Ask
    }

    /// Handles a child's report.
    pub fn on_report(&mut self, below: Totals) {
        // Reports that no child owes are ignored.
        if let Some((missing @ 1.., sum)) = &mut self.wave {
            *missing -= 1;
            sum.sent = sum.sent.wrapping_add(below.sent);
            sum.received = sum.received.wrapping_add(below.received);
        }
    }

    /// Must be called after every event that leaves the peer idle.
    pub fn on_idle(&mut self, own: Totals, rules: Rules) -> Option<Step> {
        match self.wave {
            None if self.root && rules.begins => Some(self.on_wave()),
            Some((0, below)) => {
                self.wave = None;
                let own = if rules.counts { own } else { Totals::default() };
                let sum = Totals {
                    sent: below.sent.wrapping_add(own.sent),
                    received: below.received.wrapping_add(own.received),
                };
                if !self.root {
                    return Some(Step::Report(sum));
                }
                let unchanged = self.last == Some(sum) || !rules.two_waves;
                self.last = Some(sum);
                let balanced = sum.sent == sum.received;
                Some(if unchanged && balanced { Step::End } else { self.on_wave() })
            }
            _ => None,
        }
    }
}

/// When a wave may begin, and the two conditions of an end, which only deliberately faulty peers leave out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub begins: bool,
    pub two_waves: bool,
    pub counts: bool,
}
