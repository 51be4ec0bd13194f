//! When it is over: four counters, gathered in waves over the tree of peers.
//!
//! The root sends a wave down. Each peer answers once it is idle and all its children have
//! answered, with the pieces of work sent and received by all below it. Two waves in a row that
//! bring the same totals, as many received as sent, prove that no work was on its way in between.

use super::overlay::Overlay;

/// Pieces of work sent and received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Totals {
    pub sent: u64,
    pub received: u64,
}

/// What a peer has to do for the wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Pass the wave to the children.
    Ask,
    /// Report to the parent.
    Report(Totals),
    /// The root: all is done.
    End,
}

/// A peer's part in the waves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Quiet {
    root: bool,
    children: u32,
    /// The wave that is here: reports still to come from the children, and what came so far.
    wave: Option<(u32, Totals)>,
    /// The root: what the last wave brought.
    last: Option<Totals>,
}

impl Quiet {
    pub fn new(overlay: &Overlay) -> Self {
        let children = overlay.children().count() as u32;
        Self { root: overlay.parent().is_none(), children, wave: None, last: None }
    }

    /// A wave has come from the parent.
    pub fn on_wave(&mut self) -> Step {
        self.wave = Some((self.children, Totals::default()));
        Step::Ask
    }

    /// A child has reported.
    pub fn on_report(&mut self, below: Totals) {
        // A report that no child owes is dropped.
        if let Some((missing @ 1.., sum)) = &mut self.wave {
            *missing -= 1;
            sum.sent = sum.sent.wrapping_add(below.sent);
            sum.received = sum.received.wrapping_add(below.received);
        }
    }

    /// Called after every event at which the peer is idle.
    pub fn on_idle(&mut self, own: Totals, rules: Rules) -> Option<Step> {
        match self.wave {
            None if self.root => Some(self.on_wave()),
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

/// What an ending rests on; both always hold outside the tests that break them on purpose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub two_waves: bool,
    pub counts: bool,
}
