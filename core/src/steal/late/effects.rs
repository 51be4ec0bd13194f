//! [`LateEffects`]: the operations on copies that late giving needs.

/// The rest of a copy, and the part that was split off if it can be split.
pub type Split<P> = (P, Option<P>);

/// The operations on copies that late giving needs.
pub trait LateEffects<P, E> {
    /// A copy of the peer's own work.
    ///
    /// # Errors
    /// If the work cannot be encoded.
    fn copy(&mut self) -> Result<P, E>;

    /// Splits a copy into the rest and the part that was split off, if it can be split.
    ///
    /// # Errors
    /// If the copy cannot be read.
    fn split_copy(&mut self, copy: &P, share: f64) -> Result<Split<P>, E>;

    /// The work that is both in a copy and in what its owner reports as left.
    ///
    /// # Errors
    /// If either cannot be read.
    fn intersect(&mut self, copy: &P, left: &P) -> Result<P, E>;

    /// Drops from the peer's own work what was given to another peer, and counts the part of it that was already
    /// explored.
    ///
    /// # Errors
    /// If the piece cannot be read.
    fn trim(&mut self, away: &P) -> Result<(), E>;
}
