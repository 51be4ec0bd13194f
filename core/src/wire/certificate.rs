//! [`Certificate`]: what a proof consists of, as bytes: the search, and the regions of its tree.

use crate::search::region::Region;
use crate::search::work::{Malformed, Pack, Reader};
use crate::wire::checkpoint::Checkpoint;
use crate::wire::{ContentKind, Unreadable, open, seal};

/// A proof that no solution is better than a value, or of a count.
#[derive(Clone, Debug, Default, PartialEq)]
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

impl Pack for Certificate {
    const LEAST: usize = Checkpoint::LEAST + 1;

    fn pack(&self, out: &mut Vec<u8>) {
        self.search.pack(out);
        self.regions.pack(out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { search: Pack::unpack(from)?, regions: Pack::unpack(from)? })
    }
}
