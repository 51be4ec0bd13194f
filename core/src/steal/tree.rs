//! [`PeerTree`], the tree of all peers, which carries waves and endings and guides the requests of some policies; and
//! [`TreePlace`], one peer's place in it.

use super::PeerId;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// How the tree of peers grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Growth {
    /// Level by level, each peer with as many children as its degree allows.
    Full,
    /// Each peer's parent is any earlier peer, with equal probability.
    Random,
}

/// The shape of the tree of peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeShape {
    /// How it grows.
    pub growth: Growth,
    /// Children of a peer in a full tree.
    pub degree: u32,
    /// The maximum number of levels below the root, which then determine the degree; 0 for any
    /// number.
    pub levels: u32,
    /// Whether the seed draws the bridges; otherwise they are always the same.
    pub drawn_bridges: bool,
    /// Whether the seed draws the peer that has the whole work at first; otherwise it is peer 0.
    pub drawn_first: bool,
}

/// The tree of peers 0 to n − 1; parents have smaller numbers than their children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerTree {
    peers: u32,
    prescribed: TreeShape,
    seed: u64,
    shape: Shape,
    first: PeerId,
}

/// All peers of a run have the same tree, so hashing it would not distinguish their states.
impl Hash for PeerTree {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    /// Everything is computed from a peer's number.
    Full { degree: u32 },
    /// Everything is stored in one table for all peers. It may have more peers than the tree.
    Random(Arc<Table>),
}

/// A stored tree.
#[derive(Debug, PartialEq, Eq)]
struct Table {
    /// Each peer's parent; the root is its own.
    parents: Vec<PeerId>,
    levels: Vec<u32>,
    /// Where each peer's children begin in `children`; one entry more than there are peers.
    first: Vec<u32>,
    /// The children of peer 0 in order, then those of peer 1, and so on.
    children: Vec<PeerId>,
}

impl PeerTree {
    /// The tree that a policy prescribes for this many peers; `seed` determines its random parts.
    ///
    /// # Panics
    /// If there are no peers or the policy's degree is 0.
    #[must_use]
    pub fn new(peers: u32, prescribed: TreeShape, seed: u64) -> Self {
        Self::with_table(peers, prescribed, seed, None)
    }

    /// The tree, with a table of at least this many peers if there is one. Parents are drawn in the order of their
    /// children, so it begins like that of the tree alone.
    fn with_table(
        peers: u32,
        prescribed: TreeShape,
        seed: u64,
        table: Option<&Arc<Table>>,
    ) -> Self {
        let TreeShape { growth, degree, levels, drawn_first, .. } = prescribed;
        assert!(peers > 0 && degree > 0, "{peers} peers in a tree of degree {degree}");
        let first = if drawn_first { (mixed(seed, 2) % u64::from(peers)) as PeerId } else { 0 };
        let shape = match growth {
            Growth::Full if levels > 0 => Shape::Full { degree: narrowest(peers, levels) },
            Growth::Full => Shape::Full { degree },
            Growth::Random => {
                let drawn = || Arc::new(Table::drawn(peers, seed));
                Shape::Random(table.map_or_else(drawn, Arc::clone))
            }
        };
        Self { peers, prescribed, seed, shape, first }
    }

    /// The peer that has the whole work at first.
    #[must_use]
    pub fn first(&self) -> PeerId {
        self.first
    }

    /// The number of peers.
    #[must_use]
    pub fn peers(&self) -> u32 {
        self.peers
    }

    /// A peer's parent; the root has none.
    #[must_use]
    pub fn parent(&self, peer: PeerId) -> Option<PeerId> {
        (peer > 0).then(|| match &self.shape {
            Shape::Full { degree } => (peer - 1) / degree,
            Shape::Random(table) => table.parents[peer as usize],
        })
    }

    /// A peer's children.
    fn children(&self, peer: PeerId) -> impl Iterator<Item = PeerId> + use<'_> {
        let (range, table) = match &self.shape {
            Shape::Full { degree } => (self.below(*degree, peer.into(), u64::from(peer) + 1), None),
            Shape::Random(table) => {
                let [first, end] = [0, 1].map(|next| u64::from(table.first[peer as usize + next]));
                ((first, end), Some(table))
            }
        };
        (range.0..range.1)
            .map(move |at| table.map_or(at as PeerId, |table| table.children[at as usize]))
            .take_while(move |&child| child < self.peers)
    }

    /// The number of peers in a peer's subtree, including itself.
    fn size(&self, peer: PeerId) -> u32 {
        let degree = match &self.shape {
            Shape::Full { degree } => *degree,
            Shape::Random(_) => {
                return 1 + self.children(peer).map(|child| self.size(child)).sum::<u32>();
            }
        };
        let (mut first, mut end) = (u64::from(peer), u64::from(peer) + 1);
        let mut size = 0;
        while first < end {
            size += end - first;
            (first, end) = self.below(degree, first, end);
        }
        size as u32
    }

    /// A peer's distance from the root and, if it has children, the next peer on its level that has some; the first
    /// follows the last.
    fn level(&self, peer: PeerId) -> (u32, PeerId) {
        let is_parent = |peer: PeerId| self.children(peer).next().is_some();
        let degree = match &self.shape {
            Shape::Full { degree } => *degree,
            Shape::Random(table) => {
                let level = table.levels[peer as usize];
                let mut others = (peer + 1..self.peers).chain(0..peer);
                let next = is_parent(peer).then(|| {
                    others.find(|&it| table.levels[it as usize] == level && is_parent(it))
                });
                return (level, next.flatten().unwrap_or(peer));
            }
        };
        let (mut first, mut end, mut level) = (0, 1, 0);
        while end <= u64::from(peer) {
            (first, end) = self.below(degree, first, end);
            level += 1;
        }
        let next = peer + 1;
        let has_children = u64::from(next) < end && is_parent(next);
        (level, if has_children { next } else { first as PeerId })
    }

    /// The children of a range of peers in a full tree, also a range.
    fn below(&self, degree: u32, first: u64, end: u64) -> (u64, u64) {
        let child = |peer: u64| (peer * u64::from(degree) + 1).min(u64::from(self.peers));
        (child(first), child(end))
    }
}

/// A number whose bits depend on all bits of two others.
fn mixed(of: u64, salt: u64) -> u64 {
    let x = (of ^ salt << 61).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ x >> 32
}

/// The least degree at which this many peers fit on this many levels below the root.
fn narrowest(peers: u32, levels: u32) -> u32 {
    let room = |degree: u32| {
        let wider = |(all, row): (u64, u64), _| {
            let row = row.saturating_mul(degree.into());
            (all.saturating_add(row), row)
        };
        (0..levels.min(peers)).fold((1, 1), wider).0
    };
    let (mut least, mut most) = (1, peers.max(1));
    while least < most {
        let middle = least + (most - least) / 2;
        (least, most) =
            if room(middle) < peers.into() { (middle + 1, most) } else { (least, middle) };
    }
    least
}

impl Table {
    /// A random tree.
    fn drawn(peers: u32, seed: u64) -> Self {
        let mut chance = oorandom::Rand32::new_inc(seed, u64::from(u32::MAX));
        let mut parents: Vec<PeerId> = vec![0];
        parents.extend((1..peers).map(|peer| chance.rand_range(0..peer)));
        let mut levels = vec![0; peers as usize];
        let mut first = vec![0; peers as usize + 1];
        for peer in 1..parents.len() {
            levels[peer] = levels[parents[peer] as usize] + 1;
            first[parents[peer] as usize + 1] += 1;
        }
        (1..first.len()).for_each(|at| first[at] += first[at - 1]);
        let (mut free, mut children) = (first.clone(), vec![0; parents.len() - 1]);
        for (peer, &parent) in (1..).zip(&parents[1..]) {
            let place = &mut free[parent as usize];
            children[*place as usize] = peer;
            *place += 1;
        }
        Self { parents, levels, first, children }
    }
}

/// One peer's place in the tree of peers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TreePlace {
    /// Its number in the tree, like the others here.
    me: PeerId,
    tree: PeerTree,
    size: u32,
    level: u32,
    beside: PeerId,
    bridge: Option<PeerId>,
    /// The peers of the tree, by their numbers in it; empty if each has its own number.
    members: Vec<PeerId>,
}

impl TreePlace {
    /// The place of `me` in a tree.
    ///
    /// # Panics
    /// If there is no peer `me`.
    #[must_use]
    pub fn new(me: PeerId, tree: &PeerTree) -> Self {
        assert!(me < tree.peers, "peer {me} of {}", tree.peers);
        let (level, beside) = tree.level(me);
        let (size, tree) = (tree.size(me), tree.clone());
        let mut here = Self { me, tree, size, level, beside, bridge: None, members: Vec::new() };
        here.bridge = here.find_bridge();
        here
    }

    /// The place of the same peer in a tree of itself and these others only, which are in order.
    #[must_use]
    pub fn among(&self, others: &[PeerId]) -> Self {
        let me = self.peer(self.me);
        let at = others.partition_point(|&other| other < me);
        let mut members = others.to_vec();
        members.insert(at, me);
        let PeerTree { prescribed, seed, shape, .. } = &self.tree;
        let table = match shape {
            // A root that was restarted may have more places than the one before.
            Shape::Random(table) if table.parents.len() >= members.len() => Some(table),
            Shape::Random(_) | Shape::Full { .. } => None,
        };
        let tree = PeerTree::with_table(members.len() as u32, *prescribed, *seed, table);
        Self { members, ..Self::new(at as PeerId, &tree) }
    }

    /// The peer with this number in the tree.
    fn peer(&self, number: PeerId) -> PeerId {
        self.members.get(number as usize).copied().unwrap_or(number)
    }

    /// The number of a child in the tree; `None` if the peer is no child.
    fn child(&self, peer: PeerId) -> Option<PeerId> {
        let number = if self.members.is_empty() {
            Some(peer)
        } else {
            self.members.binary_search(&peer).ok().map(|at| at as PeerId)
        };
        // A file may name peers of a larger run.
        let known = number.filter(|&number| number < self.tree.peers());
        known.filter(|&number| self.tree.parent(number) == Some(self.me))
    }

    /// The peer's parent; the root has none.
    #[must_use]
    pub fn parent(&self) -> Option<PeerId> {
        self.tree.parent(self.me).map(|number| self.peer(number))
    }

    /// The peer's children.
    pub fn children(&self) -> impl Iterator<Item = PeerId> + use<'_> {
        self.tree.children(self.me).map(move |number| self.peer(number))
    }

    /// Whether a peer is a child of this one.
    #[must_use]
    pub fn is_child(&self, peer: PeerId) -> bool {
        self.child(peer).is_some()
    }

    /// The number of peers in the subtree, including this one.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The size without the subtrees of those children that are among these peers.
    #[must_use]
    pub fn size_without(&self, gone: &[PeerId]) -> u32 {
        let children = gone.iter().filter_map(|&peer| self.child(peer));
        self.size - children.map(|child| self.tree.size(child)).sum::<u32>()
    }

    /// Distance from the root.
    #[must_use]
    pub fn level(&self) -> u32 {
        self.level
    }

    /// The next peer on this level that has children, if this one has some and there is another.
    #[must_use]
    pub fn beside(&self) -> Option<PeerId> {
        let beside = Some(self.beside).filter(|&number| number != self.me && self.size > 1);
        beside.map(|number| self.peer(number))
    }

    /// A peer elsewhere in the tree, always the same one: neither this peer nor its parent or child.
    #[must_use]
    pub fn bridge(&self) -> Option<PeerId> {
        self.bridge.map(|number| self.peer(number))
    }

    fn find_bridge(&self) -> Option<PeerId> {
        let PeerTree { peers, prescribed, seed, .. } = self.tree;
        let bridges = if prescribed.drawn_bridges { mixed(seed, 1) } else { 0 };
        let mix = |step: u64| {
            let of = u64::from(self.me) << 32 | step;
            (mixed(of ^ bridges, 0) % u64::from(peers)) as PeerId
        };
        let parent = |number: PeerId| self.tree.parent(number);
        let near = |number: PeerId| {
            number == self.me || parent(self.me) == Some(number) || parent(number) == Some(self.me)
        };
        // A small tree may have none.
        (0..64).map(mix).find(|&number| !near(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(peers: u32, shape: TreeShape, seed: u64) -> Vec<TreePlace> {
        let tree = PeerTree::new(peers, shape, seed);
        (0..peers).map(|me| TreePlace::new(me, &tree)).collect()
    }

    fn shaped(growth: Growth, degree: u32, levels: u32) -> TreeShape {
        TreeShape { growth, degree, levels, drawn_bridges: false, drawn_first: false }
    }

    /// Checks what must hold in every tree.
    fn sound(all: &[TreePlace]) {
        for (me, at) in (0..).zip(all) {
            let children: Vec<PeerId> = at.children().collect();
            let below = children.iter().map(|&child| all[child as usize].size());
            assert_eq!(at.size(), 1 + below.sum::<u32>());
            for child in children {
                let child = &all[child as usize];
                assert_eq!((child.parent(), child.level()), (Some(me), at.level() + 1));
                assert!(at.is_child(child.me));
            }
            let bridge = at.bridge();
            assert!(bridge.is_none_or(|peer| peer != me && Some(peer) != at.parent()));
            // From one parent to the next, a level's parents form a cycle.
            let parents = all.iter().filter(|peer| peer.level() == at.level() && peer.size() > 1);
            let (mut round, mut next) = (1, at.beside());
            while let Some(peer) = next.filter(|&peer| peer != me) {
                (round, next) = (round + 1, all[peer as usize].beside());
            }
            assert!(at.size() == 1 && round == 1 || round == parents.count(), "{me} {round}");
        }
        assert_eq!((all[0].size(), all[0].level()), (all.len() as u32, 0));
    }

    #[test]
    fn sizes_of_subtrees_add_up() {
        for degree in 1..6 {
            for peers in 1..60 {
                let all = places(peers, shaped(Growth::Full, degree, 0), 0);
                sound(&all);
                assert!(peers < 30 || degree > 2 || all.iter().all(|at| at.bridge().is_some()));
            }
        }
    }

    #[test]
    fn random_trees_are_the_same_for_all_and_differ_by_seed() {
        let shape = shaped(Growth::Random, 10, 0);
        for seed in 0..20 {
            (1..60).for_each(|peers| sound(&places(peers, shape, seed)));
        }
        assert_eq!(PeerTree::new(50, shape, 3), PeerTree::new(50, shape, 3));
        assert_ne!(PeerTree::new(50, shape, 3).shape, PeerTree::new(50, shape, 4).shape);
        // Each of the six trees of four peers occurs.
        let tree = |seed| PeerTree::new(4, shape, seed);
        let trees: std::collections::HashSet<_> =
            (0..200).map(|seed| (tree(seed).parent(2), tree(seed).parent(3))).collect();
        assert_eq!(trees.len(), 6);
        // The table is shared, so a hundred thousand places are made quickly.
        let all = places(100_000, shape, 1);
        assert!(all.iter().map(TreePlace::level).max().unwrap() < 60);
    }

    #[test]
    fn the_seed_draws_bridges_and_the_first_peer() {
        let plain = shaped(Growth::Full, 3, 0);
        let drawn = TreeShape { drawn_bridges: true, drawn_first: true, ..plain };
        let bridges = |shape, seed| -> Vec<Option<PeerId>> {
            places(50, shape, seed).iter().map(TreePlace::bridge).collect()
        };
        assert_eq!(bridges(plain, 1), bridges(plain, 2));
        assert_eq!(bridges(drawn, 1), bridges(drawn, 1));
        assert_ne!(bridges(drawn, 1), bridges(drawn, 2));
        sound(&places(50, drawn, 1));
        let firsts = (0..200).map(|seed| PeerTree::new(7, drawn, seed).first());
        let firsts: std::collections::BTreeSet<PeerId> = firsts.collect();
        assert!(firsts.into_iter().eq(0..7));
        assert_eq!(PeerTree::new(7, plain, 5).first(), 0);
    }

    /// A tree of some of the peers is that of as many peers, numbered in their order.
    #[test]
    fn peers_that_are_present_form_a_tree_of_their_own() {
        let drawn =
            TreeShape { drawn_bridges: true, drawn_first: true, ..shaped(Growth::Full, 2, 0) };
        for shape in [drawn, shaped(Growth::Full, 10, 2), shaped(Growth::Random, 10, 0)] {
            let all = PeerTree::new(64, shape, 5);
            let members: [PeerId; 7] = [0, 3, 4, 9, 17, 40, 63];
            let member = |number: PeerId| members[number as usize];
            for (number, expected) in (0..).zip(places(7, shape, 5)) {
                let me = member(number);
                let others: Vec<PeerId> = members.into_iter().filter(|&it| it != me).collect();
                // Which peers were present before does not matter.
                let at = TreePlace::new(me, &all).among(&[me + 1]).among(&others);
                assert_eq!(at.parent(), expected.parent().map(member));
                assert!(at.children().eq(expected.children().map(member)));
                assert_eq!(at.bridge(), expected.bridge().map(member));
                assert_eq!(at.beside(), expected.beside().map(member));
                assert_eq!((at.size(), at.level()), (expected.size(), expected.level()));
                let children: Vec<PeerId> = (0..64).filter(|&peer| at.is_child(peer)).collect();
                assert!(at.children().eq(children.iter().copied()));
                let below: u32 = expected.children().map(|child| expected.tree.size(child)).sum();
                assert_eq!((at.size_without(&children), below + 1), (1, at.size()));
                assert_eq!(at.among(&[]).size(), 1);
                // Peers join and die often, so a random tree is not drawn again.
                if let (Shape::Random(all), Shape::Random(here)) = (&all.shape, &at.tree.shape) {
                    assert!(Arc::ptr_eq(all, here));
                }
            }
        }
    }

    /// A joiner used to crash if its root was restarted with more places, and a random tree.
    #[test]
    fn more_peers_may_be_present_than_there_were_at_first() {
        for shape in [shaped(Growth::Full, 10, 2), shaped(Growth::Random, 10, 0)] {
            let at = TreePlace::new(1, &PeerTree::new(2, shape, 5)).among(&[0, 3, 4]);
            assert_eq!(at.tree, PeerTree::new(4, shape, 5));
        }
    }

    #[test]
    fn levels_are_limited() {
        for (peers, levels, degree) in
            [(1, 1, 1), (200, 1, 199), (200, 2, 14), (7, 2, 2), (8, 2, 3)]
        {
            let shape = shaped(Growth::Full, 10, levels);
            let all = places(peers, shape, 0);
            sound(&all);
            assert!(all.iter().all(|at| at.level() <= levels));
            assert_eq!(all[0].children().count() as u32, degree.min(peers - 1));
        }
    }
}
