//! [`Effects`]: what the interpreter of a peer must be able to do, and the [`Law`]s that an interpreter watches.

use super::ledger::OnTheWay;
use super::message::Message;
use super::ticket::{PeerId, Ticket};

/// What the interpreter of a peer must be able to do.
pub trait Effects {
    /// A piece of work that can be kept and sent.
    type Piece: Clone;
    /// Why an effect fails: the run cannot continue.
    type Error;

    /// The size of the peer's own work.
    fn size(&mut self) -> f64;

    /// The size of a piece.
    fn size_of(&self, piece: &Self::Piece) -> f64;

    /// Splits a share off the peer's own work; `None` if it cannot be split.
    ///
    /// # Errors
    /// If the work is broken.
    fn split(&mut self, share: f64) -> Result<Option<Self::Piece>, Self::Error>;

    /// Adds a piece to the peer's own work.
    ///
    /// # Errors
    /// If the piece cannot be read.
    fn put(&mut self, piece: Self::Piece) -> Result<(), Self::Error>;

    /// Sends a message, with the work that travels with it.
    fn send(&mut self, to: PeerId, message: Message, piece: Option<Self::Piece>);

    /// Records the peer's own work and counts of this instant, and what is on its way.
    ///
    /// # Errors
    /// If the work cannot be written down.
    fn cut(&mut self, epoch: u64, on_the_way: OnTheWay<Self::Piece>) -> Result<(), Self::Error>;

    /// Adds one to the counter that all units share.
    ///
    /// # Errors
    /// If the run was over.
    fn join(&mut self) -> Result<(), Self::Error>;

    /// Subtracts one from it. Returns whether that leaves none.
    ///
    /// # Errors
    /// If the counter was zero.
    fn leave(&mut self) -> Result<bool, Self::Error>;

    /// Another unit knows a solution of this score: look only for better ones.
    fn beat(&mut self, score: i64);

    /// Wakes the peer at a time.
    fn wake_at(&mut self, at_ns: u64);

    /// The run is over.
    ///
    /// # Errors
    /// If it is not, as far as the interpreter can tell.
    fn finish(&mut self) -> Result<(), Self::Error>;

    /// Hears of a law that the protocol broke: a bug in the protocol itself.
    ///
    /// # Errors
    /// Where that ends the run.
    fn broken(&mut self, law: Law) -> Result<(), Self::Error>;
}

/// What can only go wrong if the protocol is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// A ticket was used twice.
    TicketUsedTwice(Ticket),
    /// A piece was released that nobody keeps.
    NotKept(Ticket),
    /// A piece was to be taken that did not come.
    DidNotCome(Ticket),
    /// Work came, and nobody took it.
    InVain,
}
