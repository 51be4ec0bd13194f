//! [`Node`]: a clique, with the vertices that can extend it.

use super::bits::Bits;
use pleach_core::search::work::{Malformed, Pack, Reader};

/// A clique, the vertices adjacent to all of it that may be added, and its size.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node<const W: usize> {
    pub clique: Bits<W>,
    pub open: Bits<W>,
    pub size: u32,
}

impl<const W: usize> Pack for Node<W> {
    const LEAST: usize = 2 * W + 1;

    fn pack(&self, out: &mut Vec<u8>) {
        self.clique.pack(out);
        self.open.pack(out);
        self.size.pack(out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (clique, open) = Pack::unpack(from)?;
        Ok(Self { clique, open, size: u32::unpack(from)? })
    }
}

/// A clique as a solution: the numbers of its vertices, of which `order` has the one at each place, in order.
pub(super) fn solution(order: &[usize], clique: impl IntoIterator<Item = usize>) -> Vec<i64> {
    let mut numbers: Vec<i64> = clique.into_iter().map(|place| order[place] as i64 + 1).collect();
    numbers.sort_unstable();
    numbers
}
