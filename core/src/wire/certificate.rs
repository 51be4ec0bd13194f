//! [`Certificate`]: what a proof consists of, as bytes: the search, and the regions of its tree.

use crate::search::region::Region;
use crate::search::work::Pack;
use crate::wire::checkpoint::Checkpoint;
use crate::wire::{ContentKind, Unreadable, open, seal};

/// A proof that no solution is better than a value, or of a count.
#[derive(Clone, Debug, Default, PartialEq, Pack)]
pub struct Certificate {
    /// The search, without open work. Its `best` is the score that no solution beats.
    pub search: Checkpoint,
    /// All of its tree.
    pub regions: Vec<Region>,
}

impl Certificate {
    /// The certificate as the bytes of a file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        seal(ContentKind::Certificate, self.search.fingerprint, self)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If the bytes are not an undamaged certificate.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Unreadable> {
        let (fingerprint, mut content) = open::<Self>(ContentKind::Certificate, bytes)?;
        content.search.fingerprint = fingerprint;
        Ok(content)
    }
}
