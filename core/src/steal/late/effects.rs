//! [`LateEffects`]: what a driver must be able to do with copies.

use crate::steal::effects;

/// What is left of a copy, and what was split off, if it can be split.
pub type Split<P> = (P, Option<P>);

/// What a driver must be able to do with copies.
pub trait LateEffects: effects::Effects {
    /// A copy of the own work.
    ///
    /// # Errors
    /// If the work cannot be written down.
    fn copy(&mut self) -> Result<Self::Piece, Self::Error>;

    /// Splits a copy: what is left of it, and what was split off, if it can be split.
    ///
    /// # Errors
    /// If the copy cannot be read.
    fn split_copy(
        &mut self,
        copy: &Self::Piece,
        share: f64,
    ) -> Result<Split<Self::Piece>, Self::Error>;

    /// What is both in a copy and in what its owner says is left.
    ///
    /// # Errors
    /// If either cannot be read.
    fn intersect(
        &mut self,
        copy: &Self::Piece,
        left: &Self::Piece,
    ) -> Result<Self::Piece, Self::Error>;

    /// Drops from the own work what was given to another peer, and counts what of it was explored
    /// already.
    ///
    /// # Errors
    /// If the piece cannot be read.
    fn trim(&mut self, away: &Self::Piece) -> Result<(), Self::Error>;
}
