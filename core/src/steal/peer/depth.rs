//! How far down a worker explores before its peer gives or waits: to a cutoff or a second one, to the depth of its level,
//! or until its pool of open nodes is large enough.

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

    /// Begins to explore from the top of what has arrived, at a master and at the peer that divides the pool again.
    pub(super) fn begin_at_top(&mut self) {
        if self.is_divider() {
            self.down_to = self.policy.second_cutoff;
        }
        if !self.is_master() {
            return;
        }
        self.depth = if self.policy.pool.is_some() {
            // One level less than last time, in case that was too deep for this work.
            self.first_depth = self.first_depth.saturating_sub(1).max(1);
            self.is_first_pool = true;
            self.first_depth
        } else {
            let depths = &self.policy.depths;
            let at_level = depths.get(self.place.level() as usize).or(depths.last());
            at_level.copied().unwrap_or(1)
        };
        self.down_to = Some(self.depth);
    }

    /// Where depths adapt, gives from now on if the pool is large enough, even if some of its nodes are less deep.
    pub(super) fn end_descent_if_full(&mut self, size: f64) {
        let below = f64::from(self.place.size() - 1);
        let full = self.policy.pool.is_some_and(|nodes| size >= f64::from(nodes) * below);
        if full && self.down_to.take().is_some() && std::mem::take(&mut self.is_first_pool) {
            self.first_depth = self.depth;
        }
    }

    /// Handles a pool whose open nodes are all deep enough: goes one level deeper if they are too few, or gives from
    /// now on.
    pub(super) fn on_depth_reached(&mut self, depth: u32, size: f64, actions: &mut Vec<Action>) {
        if self.down_to != Some(depth) {
            // The size of the pool ended that descent, and a deeper one may have begun.
            return;
        }
        self.end_descent_if_full(size);
        if self.down_to.take().is_some() && self.policy.pool.is_some() {
            self.explore_deeper(size);
        }
        self.serve_thieves(size, actions);
    }

    /// Where depths adapt, makes a pool of the last node, instead of exploring all of it here.
    pub(super) fn refill_pool(&mut self, size: f64) {
        if self.policy.pool.is_some() && self.down_to.is_none() && size < 2.0 {
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

    /// Lets a master reach the depth down to which it explores.
    fn reach(master: &mut Peer, size: f64) -> (bool, Option<u32>) {
        let depth = master.explores_down_to().unwrap();
        after(master, Event::ReachedDepth { depth }, size)
    }

    fn request(from: u32) -> Event {
        let message = Message::Ask { power: Power(0), workers: 0, waits: true };
        Event::Message { from, message }
    }

    /// A piece from the first peer below the master.
    fn work(number: u64) -> Event {
        let message = Message::Work { ticket: Ticket { giver: 1, number }, epoch: 0 };
        Event::Message { from: 1, message }
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
        assert_eq!(reach(&mut master, 5.0), (false, Some(2)));
        assert_eq!(reach(&mut master, 20.0), (true, None));
        assert_eq!(after(&mut master, Event::Gave, 19.0), (false, None));
        assert!(master.waits(19.0));
        assert_eq!(after(&mut master, request(2), 19.0), (true, None));
        // The last node makes the next pool.
        assert_eq!(after(&mut master, Event::Gave, 1.0), (false, Some(3)));
        assert!(!master.waits(1.0));
        assert_eq!(reach(&mut master, 12.0), (false, None));
        // Work that arrives is first explored to one level less than the first pool.
        assert_eq!(after(&mut master, work(0), 3.0), (false, Some(1)));
        assert_eq!(reach(&mut master, 0.0), (false, None));
    }

    /// A master of two peers whose pool needs eight nodes.
    fn adaptive_master(more: &str) -> Peer {
        let words = format!("hierarchical-master-worker:degree=2,depth=auto/4{more}");
        let policy = Policy::parse(&words).unwrap();
        Peer::new(0, &PeerTree::new(3, policy.tree, 0), policy)
    }

    #[test]
    fn the_end_of_a_subtree_does_not_make_the_next_one_begin_deep() {
        let mut master = adaptive_master("");
        for depth in 1..5 {
            assert_eq!(reach(&mut master, 2.0), (false, Some(depth + 1)));
        }
        assert_eq!(reach(&mut master, 9.0), (false, None));
        // The last node makes one more large pool, then a narrow subtree down to the bottom.
        assert_eq!(after(&mut master, Event::Gave, 1.0), (false, Some(6)));
        assert_eq!(reach(&mut master, 9.0), (false, None));
        assert_eq!(after(&mut master, Event::Gave, 1.0), (false, Some(7)));
        for depth in 7..40 {
            assert_eq!(reach(&mut master, 3.0), (false, Some(depth + 1)));
        }
        assert_eq!(reach(&mut master, 0.0), (false, None));
        assert_eq!(after(&mut master, work(0), 1.0), (false, Some(4)));
        // Work that never makes a large pool leads to an even shallower beginning.
        for depth in 4..40 {
            assert_eq!(reach(&mut master, 3.0), (false, Some(depth + 1)));
        }
        assert_eq!(after(&mut master, work(1), 1.0), (false, Some(3)));
    }

    #[test]
    fn a_pool_that_is_large_enough_ends_the_descent() {
        let stepped = Event::Stepped { nodes: 1, busy_ns: 1 };
        let mut master = adaptive_master("");
        assert_eq!(after(&mut master, stepped, 7.0), (false, Some(1)));
        assert_eq!(after(&mut master, request(1), 7.0), (false, Some(1)));
        assert_eq!(after(&mut master, stepped, 8.0), (true, None));
        // The depth was reached in the same stretch: nothing is left to do.
        assert_eq!(after(&mut master, Event::ReachedDepth { depth: 1 }, 7.0), (false, None));
        // Depths that are given are reached only by exploring to them.
        let policy = Policy::parse("hierarchical-master-worker:degree=2,depth=3").unwrap();
        let mut master = Peer::new(0, &PeerTree::new(3, policy.tree, 0), policy);
        assert_eq!(after(&mut master, stepped, 1000.0), (false, Some(3)));
    }

    #[test]
    fn a_depth_reached_before_the_next_descent_does_not_end_it() {
        let stepped = Event::Stepped { nodes: 1, busy_ns: 1 };
        let mut master = adaptive_master("");
        assert_eq!(after(&mut master, request(1), 7.0), (false, Some(1)));
        assert_eq!(after(&mut master, stepped, 8.0), (true, None));
        // The thief took all but one node, which makes the next pool.
        assert_eq!(after(&mut master, Event::Gave, 1.0), (false, Some(2)));
        assert_eq!(after(&mut master, Event::ReachedDepth { depth: 1 }, 1.0), (false, Some(2)));
        assert_eq!(reach(&mut master, 3.0), (false, Some(3)));
    }

    #[test]
    fn a_descent_that_memory_ends_goes_no_deeper() {
        let mut master = adaptive_master("");
        assert_eq!(after(&mut master, request(1), 3.0), (false, Some(1)));
        assert_eq!(after(&mut master, Event::EndedDescent, 3.0), (true, None));
        // A later pool of the same work does not make the next work begin deep.
        assert_eq!(after(&mut master, Event::Gave, 1.0), (false, Some(2)));
        assert_eq!(reach(&mut master, 3.0), (false, Some(3)));
        assert_eq!(reach(&mut master, 9.0), (false, None));
        assert_eq!(after(&mut master, work(0), 1.0), (false, Some(1)));
    }

    #[test]
    fn a_pool_too_small_to_divide_is_explored_depth_first() {
        let mut master = adaptive_master(",least=100");
        assert_eq!(reach(&mut master, 20.0), (false, None));
        assert!(!master.waits(20.0));
        let stepped = Event::Stepped { nodes: 1, busy_ns: 1 };
        assert_eq!(after(&mut master, stepped, 2.0), (false, None));
        assert_eq!(after(&mut master, stepped, 1.0), (false, Some(2)));
    }

    #[test]
    fn depths_by_level_do_not_change() {
        let policy = Policy::parse("hierarchical-master-worker:degree=2,depth=2/5").unwrap();
        let tree = PeerTree::new(7, policy.tree, 0);
        let mut master = Peer::new(1, &tree, policy);
        assert_eq!(master.explores_down_to(), Some(5));
        assert_eq!(after(&mut master, request(3), 3.0), (false, Some(5)));
        assert_eq!(reach(&mut master, 3.0), (true, None));
        assert_eq!(after(&mut master, Event::Gave, 1.0), (false, None));
        assert_eq!(after(&mut master, work(0), 2.0), (false, Some(5)));
    }
}
