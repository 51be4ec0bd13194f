//! How far down a worker explores before its peer gives or waits: to a cutoff, to the depth of its level, or until its
//! pool of open nodes is large enough.

use super::super::message::Action;
use super::Peer;

impl Peer {
    /// The depth down to which the worker must explore now, if there is one. [`Event::ReachedDepth`] follows once all its
    /// open nodes are that deep.
    ///
    /// [`Event::ReachedDepth`]: crate::steal::Event::ReachedDepth
    #[must_use]
    pub fn explores_down_to(&self) -> Option<u32> {
        self.down_to
    }

    /// Whether this peer leaves deep subtrees to the peers below it.
    pub(super) fn is_master(&self) -> bool {
        self.policy.has_masters() && self.place.size() > 1
    }

    /// Begins to explore from the top of what has arrived, at a master.
    pub(super) fn begin_at_top(&mut self) {
        if !self.is_master() {
            return;
        }
        if self.policy.pool.is_some() {
            // One level less than last time, in case that was too deep for this work.
            self.depth = self.depth.saturating_sub(1).max(1);
        } else {
            let depths = &self.policy.depths;
            let at_level = depths.get(self.place.level() as usize).or(depths.last());
            self.depth = at_level.copied().unwrap_or(1);
        }
        self.down_to = Some(self.depth);
    }

    /// Handles that all open nodes are deep enough: goes one level deeper if they are too few, or gives from now on.
    pub(super) fn on_depth_reached(&mut self, size: f64, actions: &mut Vec<Action>) {
        self.down_to = None;
        let below = f64::from(self.place.size() - 1);
        if self.policy.pool.is_some_and(|nodes| size < f64::from(nodes) * below) {
            self.explore_deeper(size);
        }
        self.serve_thieves(size, actions);
    }

    /// Where depths adapt, makes a pool of work that is too small to be divided, instead of exploring all of it here.
    pub(super) fn refill_pool(&mut self, size: f64) {
        if self.policy.pool.is_some() && self.down_to.is_none() && !self.can_divide(size) {
            self.explore_deeper(size);
        }
    }

    /// Explores one level deeper, at a master with work.
    fn explore_deeper(&mut self, size: f64) {
        if self.is_master() && size > 0.0 {
            self.depth = self.depth.saturating_add(1);
            self.down_to = Some(self.depth);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Event, Message, PeerTree, Policy, Power, SeededChooser, Ticket};
    use super::*;

    /// Passes an event to a master that then holds this much work. Returns whether it gives, and the depth down to which
    /// it explores.
    fn after(master: &mut Peer, event: Event, size: f64) -> (bool, Option<u32>) {
        let (mut chooser, mut actions) = (SeededChooser::new(1, 0), Vec::new());
        master.handle_event(event, 0, size, &mut chooser, &mut actions);
        let gives = actions.iter().any(|action| matches!(action, Action::Give { .. }));
        (gives, master.explores_down_to())
    }

    fn request(from: u32) -> Event {
        let message = Message::Ask { power: Power(0), workers: 0, waits: true };
        Event::Message { from, message }
    }

    #[test]
    fn a_master_explores_until_its_pool_is_large_enough() {
        let policy = Policy::parse("hierarchical-master-worker:degree=2,depth=auto/4").unwrap();
        let tree = PeerTree::new(3, policy.tree, 0);
        let worker = Peer::new(2, &tree, policy.clone());
        assert_eq!(worker.explores_down_to(), None);
        let mut master = Peer::new(0, &tree, policy);
        assert_eq!(master.explores_down_to(), Some(1));
        // Two peers below, so eight nodes.
        assert_eq!(after(&mut master, request(1), 5.0), (false, Some(1)));
        assert_eq!(after(&mut master, Event::ReachedDepth, 5.0), (false, Some(2)));
        assert_eq!(after(&mut master, Event::ReachedDepth, 20.0), (true, None));
        assert_eq!(after(&mut master, Event::Gave, 19.0), (false, None));
        assert!(master.waits(19.0));
        assert_eq!(after(&mut master, request(2), 19.0), (true, None));
        // The last node makes the next pool.
        assert_eq!(after(&mut master, Event::Gave, 1.0), (false, Some(3)));
        assert!(!master.waits(1.0));
        assert_eq!(after(&mut master, Event::ReachedDepth, 12.0), (false, None));
        // What arrives is explored one level less deep at first.
        let ticket = Ticket { giver: 1, number: 0 };
        let work = Event::Message { from: 1, message: Message::Work { ticket, epoch: 0 } };
        assert_eq!(after(&mut master, work, 13.0), (false, Some(2)));
        assert_eq!(after(&mut master, Event::ReachedDepth, 0.0), (false, None));
    }

    #[test]
    fn depths_by_level_do_not_change() {
        let policy = Policy::parse("hierarchical-master-worker:degree=2,depth=2/5").unwrap();
        let tree = PeerTree::new(7, policy.tree, 0);
        let mut master = Peer::new(1, &tree, policy);
        assert_eq!(master.explores_down_to(), Some(5));
        assert_eq!(after(&mut master, request(3), 3.0), (false, Some(5)));
        assert_eq!(after(&mut master, Event::ReachedDepth, 3.0), (true, None));
        assert_eq!(after(&mut master, Event::Gave, 1.0), (false, None));
        let ticket = Ticket { giver: 0, number: 0 };
        let work = Event::Message { from: 0, message: Message::Work { ticket, epoch: 0 } };
        assert_eq!(after(&mut master, work, 2.0), (false, Some(5)));
    }
}
