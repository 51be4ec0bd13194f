//! [`Overlay`]: the tree of peers that carries waves and endings.

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
        let first = u64::from(self.me) * u64::from(self.degree) + 1;
        let end = (first + u64::from(self.degree)).min(u64::from(self.peers));
        (first..end).map(|child| child as PeerId)
    }
}
