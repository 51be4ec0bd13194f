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

/// The first vertex.
#[inline]
pub(super) fn first<const W: usize>(set: &Bits<W>) -> Option<usize> {
    let word = set.iter().position(|&word| word != 0)?;
    Some(64 * word + set[word].trailing_zeros() as usize)
}

/// The vertices of a set in order.
pub(super) fn vertices<const W: usize>(set: &Bits<W>) -> impl Iterator<Item = usize> {
    let mut rest = *set;
    std::iter::from_fn(move || {
        let vertex = first(&rest)?;
        remove(&mut rest, vertex);
        Some(vertex)
    })
}
