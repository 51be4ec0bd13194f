//! [`Share`]: how much to give: a fixed part, by measured power, by subtree size, or in chunks.

use super::power::Power;
use super::thieves::Thief;
use super::tree::TreePlace;

/// How much of its work a victim gives to a thief.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Share {
    /// 1/n of the work; 2 gives half.
    Part(u32),
    /// In proportion to both peers' powers, measured or set by hand. At the start, a child in the tree gets the share
    /// of all peers below it.
    Power,
    /// In proportion to the numbers of peers that the two stand for: a child in the tree asks for its whole subtree, a
    /// parent for all peers outside the victim's subtree, any other peer for its own subtree.
    Subtree,
    /// The same in proportion to the powers of these peers, which are gathered up the tree; by their numbers until both
    /// sides know some.
    SubtreePower,
    /// This many nodes.
    Chunk(u32),
    /// 1/n of the work divided by the number of peers.
    Guided(u32),
    /// This many nodes for each peer that the thief asks for: grains grow towards the root of the tree.
    Grain(u32),
    /// The number of nodes that the policy lists for the giver's level in the tree.
    Levels,
    /// A part to each peer, once: an equal one, or in proportion to the powers set by hand.
    Even,
}

/// The inputs to a share.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShareContext<'a> {
    pub thief: &'a Thief,
    /// The victim's power, or that of its subtree where the thief's is that of a subtree.
    pub power: Power,
    pub place: &'a TreePlace,
    /// The victim's work.
    pub size: f64,
    /// The thief's part of the victim's work, where each peer gets one part of the whole.
    pub part: f64,
    pub peers: u32,
    /// Peers of the victim's subtree, including itself, that have not had their part of the whole.
    pub unserved: u32,
    /// Nodes per piece, by the giver's level.
    pub grains: &'a [u32],
}

impl Share {
    /// The fraction of its work that a victim gives to a thief.
    #[must_use]
    pub(super) fn of(self, context: &ShareContext<'_>) -> f64 {
        let own = f64::from(context.place.size());
        let theirs = f64::from(context.thief.workers.max(1));
        match self {
            Share::Part(parts) => 1.0 / f64::from(parts),
            Share::Power if context.thief.workers > 0 => {
                theirs / f64::from(context.unserved).max(theirs + 1.0)
            }
            Share::Power => by_power(context.power, context.thief.power),
            Share::Subtree => by_subtree(context, theirs, own),
            Share::SubtreePower => match (context.thief.power.0, context.power.0) {
                (0, _) | (_, 0) => by_subtree(context, theirs, own),
                (theirs, own) => by_subtree(context, theirs as f64, own as f64),
            },
            Share::Chunk(nodes) => f64::from(nodes) / context.size,
            Share::Grain(nodes) => f64::from(nodes) * theirs / context.size,
            Share::Levels => {
                let level = context.place.level() as usize;
                let grain = context.grains.get(level).or(context.grains.last());
                f64::from(grain.copied().unwrap_or(1)) / context.size
            }
            Share::Guided(parts) => 1.0 / (f64::from(parts) * f64::from(context.peers.max(1))),
            Share::Even => context.part,
        }
    }

    /// Whether a thief asks for its whole subtree.
    pub(super) fn is_by_subtree(self) -> bool {
        matches!(self, Share::Subtree | Share::SubtreePower | Share::Grain(_))
    }

    /// Whether each peer is served only once.
    pub(super) fn is_once(self) -> bool {
        self == Share::Even
    }
}

/// The share for all whom a thief asks for, given the numbers or the powers of the peers in both subtrees.
fn by_subtree(context: &ShareContext<'_>, theirs: f64, own: f64) -> f64 {
    let thief = context.thief;
    if context.place.parent() == Some(thief.peer) {
        // Outside the victim's subtree there is at least one peer: the parent.
        (theirs - own).max(theirs / f64::from(thief.workers.max(1))) / theirs
    } else if context.place.is_child(thief.peer) {
        (theirs / own).min(1.0)
    } else {
        theirs / (theirs + own)
    }
}

/// Two peers count as equal until both are measured.
fn by_power(victim: Power, thief: Power) -> f64 {
    if victim.0 == 0 || thief.0 == 0 {
        0.5
    } else {
        thief.0 as f64 / (thief.0 as f64 + victim.0 as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PeerId, PeerTree, Policy};
    use super::*;

    /// What peer 1 of 7, with power 300 in a tree of degree 2, gives to a thief.
    fn share(share: Share, peer: PeerId, power: u64, workers: u32) -> f64 {
        let thief = Thief { peer, power: Power(power), workers, waits: false };
        let mut policy = Policy::default();
        policy.tree.degree = 2;
        let place = &TreePlace::new(1, &PeerTree::new(7, policy.tree, 0));
        let power = Power(300);
        let (size, part, peers, unserved) = (40.0, 0.2, 7, 3);
        let grains = &[64, 8];
        let context =
            ShareContext { thief: &thief, power, place, size, part, peers, unserved, grains };
        share.of(&context)
    }

    #[test]
    fn shares_are_those_of_the_table() {
        assert_eq!(share(Share::Part(4), 2, 1, 1), 0.25);
        assert_eq!(share(Share::Power, 2, 0, 0), 0.5);
        assert_eq!(share(Share::Power, 2, 100, 0), 0.25);
        assert_eq!(share(Share::Power, 3, 0, 1), 1.0 / 3.0);
        // Peer 1 has three peers in its subtree; the thieves are its child, its parent and another
        // peer.
        assert_eq!(share(Share::Subtree, 3, 1, 1), 1.0 / 3.0);
        assert_eq!(share(Share::Subtree, 0, 1, 7), 4.0 / 7.0);
        assert_eq!(share(Share::Subtree, 6, 1, 2), 2.0 / 5.0);
        // The same peers with known powers, of which peer 1 has 300 in its subtree; without a power, numbers count.
        assert_eq!(share(Share::SubtreePower, 3, 200, 1), 2.0 / 3.0);
        assert_eq!(share(Share::SubtreePower, 0, 900, 7), 2.0 / 3.0);
        assert_eq!(share(Share::SubtreePower, 6, 100, 2), 1.0 / 4.0);
        assert_eq!(share(Share::SubtreePower, 3, 0, 1), 1.0 / 3.0);
        assert_eq!(share(Share::SubtreePower, 0, 0, 7), 4.0 / 7.0);
        // Reports lag behind: a parent cannot be slower than its child's subtree, and stands at least for itself.
        assert_eq!(share(Share::SubtreePower, 0, 280, 7), 1.0 / 7.0);
        assert_eq!(share(Share::Chunk(10), 2, 1, 1), 0.25);
        assert_eq!(share(Share::Grain(4), 2, 1, 3), 0.3);
        // Peer 1 is one level below the root.
        assert_eq!(share(Share::Levels, 3, 1, 1), 0.2);
        assert_eq!(share(Share::Guided(2), 2, 1, 1), 1.0 / 14.0);
        // The policy decides on the part.
        assert_eq!(share(Share::Even, 2, 1, 1), 0.2);
    }
}
