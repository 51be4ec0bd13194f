//! [`Overlay`]: the tree of peers that carries waves and endings, and along which some policies ask.

use super::PeerId;

/// A complete tree of peers 0 to n − 1 in which every peer has up to `degree` children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Overlay {
    me: PeerId,
    peers: u32,
    degree: u32,
}

impl Overlay {
    /// The place of `me` in the tree.
    ///
    /// # Panics
    /// If `me` is not among the peers or the degree is 0.
    #[must_use]
    pub fn new(me: PeerId, peers: u32, degree: u32) -> Self {
        assert!(me < peers && degree > 0, "peer {me} of {peers} in a tree of degree {degree}");
        Self { me, peers, degree }
    }

    /// The peer above, unless this is the root.
    #[must_use]
    pub fn parent(&self) -> Option<PeerId> {
        (self.me > 0).then(|| (self.me - 1) / self.degree)
    }

    /// The peers right below.
    pub fn children(&self) -> impl Iterator<Item = PeerId> + use<> {
        let (first, end) = self.below(u64::from(self.me), u64::from(self.me) + 1);
        (first..end).map(|child| child as PeerId)
    }

    /// Whether a peer is right below.
    #[must_use]
    pub fn is_child(&self, peer: PeerId) -> bool {
        peer > 0 && (peer - 1) / self.degree == self.me
    }

    /// Peers in the subtree, this one among them.
    #[must_use]
    pub fn size(&self) -> u32 {
        let (mut first, mut end) = (u64::from(self.me), u64::from(self.me) + 1);
        let mut size = 0;
        while first < end {
            size += end - first;
            (first, end) = self.below(first, end);
        }
        size as u32
    }

    /// A peer somewhere else, the same one always: neither this one nor a neighbour in the tree.
    #[must_use]
    pub fn bridge(&self) -> Option<PeerId> {
        let neighbours = self.children().chain(self.parent()).chain([self.me]);
        let taken: Vec<PeerId> = neighbours.collect();
        let mix = |step: u64| {
            let x = (u64::from(self.me) << 32 | step).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let x = (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            ((x ^ x >> 32) % u64::from(self.peers)) as PeerId
        };
        // In a tree of few peers there may be none.
        (0..64).map(mix).find(|peer| !taken.contains(peer))
    }

    /// The range of the children of a range of peers.
    fn below(&self, first: u64, end: u64) -> (u64, u64) {
        let child = |peer: u64| (peer * u64::from(self.degree) + 1).min(u64::from(self.peers));
        (child(first), child(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_subtrees_add_up() {
        for degree in 1..6 {
            for peers in 1..60 {
                for me in 0..peers {
                    let at = Overlay::new(me, peers, degree);
                    let below =
                        at.children().map(|child| Overlay::new(child, peers, degree).size());
                    assert_eq!(at.size(), 1 + below.sum::<u32>());
                    assert!(
                        at.children().all(|c| Overlay::new(c, peers, degree).parent() == Some(me))
                    );
                    let bridge = at.bridge();
                    assert!(bridge.is_none_or(|peer| peer != me && Some(peer) != at.parent()));
                    assert!(peers < 30 || degree > 2 || bridge.is_some());
                }
                assert_eq!(Overlay::new(0, peers, degree).size(), peers);
            }
        }
    }
}
