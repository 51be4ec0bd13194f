//! Sets of vertices as bits, of a fixed number of words.

/// A set of vertices.
pub(super) type Bits<const W: usize> = [u64; W];

/// Whether a set is empty.
#[inline]
pub(super) fn is_empty<const W: usize>(set: &Bits<W>) -> bool {
    set.iter().fold(0, |all, word| all | word) == 0
}

/// Adds a vertex.
#[inline]
pub(super) fn insert<const W: usize>(set: &mut Bits<W>, vertex: usize) {
    set[vertex / 64] |= 1 << (vertex % 64);
}

/// Takes a vertex out.
#[inline]
pub(super) fn remove<const W: usize>(set: &mut Bits<W>, vertex: usize) {
    set[vertex / 64] &= !(1 << (vertex % 64));
}

/// The vertices in both sets.
#[inline]
pub(super) fn both<const W: usize>(one: &Bits<W>, other: &Bits<W>) -> Bits<W> {
    std::array::from_fn(|at| one[at] & other[at])
}

/// The vertices of one set that are not in the other.
#[inline]
pub(super) fn without<const W: usize>(one: &Bits<W>, other: &Bits<W>) -> Bits<W> {
    std::array::from_fn(|at| one[at] & !other[at])
}

/// All vertices before this one.
#[inline]
pub(super) fn below<const W: usize>(vertex: usize) -> Bits<W> {
    std::array::from_fn(|at| match vertex.saturating_sub(64 * at) {
        bits @ 0..64 => (1 << bits) - 1,
        _ => u64::MAX,
    })
}

/// The vertices of a set in order.
#[inline]
pub(super) fn vertices(set: &[u64]) -> impl Iterator<Item = usize> {
    (0..).zip(set).flat_map(|(at, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(64 * at + bit)
        })
    })
}
