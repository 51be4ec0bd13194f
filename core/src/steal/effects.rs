//! [`Effects`]: the operations that the interpreter of a peer needs, and the [`Violation`]s that it reports.

use super::late::LateEffects;
use super::ledger::InFlight;
use super::message::Message;
use super::ticket::{PeerId, Ticket};

/// The operations that the interpreter of a peer needs.
pub trait Effects {
    /// A piece of work that can be kept and sent.
    type Piece: Clone;
    /// Why an effect fails: the run cannot continue.
    type Error;

    /// The size of the peer's own work.
    fn size(&mut self) -> f64;

    /// The size of a piece.
    fn size_of(&self, piece: &Self::Piece) -> f64;

    /// Splits off a share of the peer's own work, all of it if the share is 1; `None` if it cannot be split now.
    ///
    /// # Errors
    /// If the work is broken.
    fn split(&mut self, share: f64) -> Result<Option<Self::Piece>, Self::Error>;

    /// Adds a piece to the peer's own work.
    ///
    /// # Errors
    /// If the piece cannot be read.
    fn add_work(&mut self, piece: Self::Piece) -> Result<(), Self::Error>;

    /// Sends a message, with the work that travels with it.
    fn send(&mut self, to: PeerId, message: Message, piece: Option<Self::Piece>);

    /// Records the peer's own work and counts at this instant, and the pieces on their way.
    ///
    /// # Errors
    /// If the work cannot be encoded.
    fn cut(&mut self, epoch: u64, in_flight: InFlight<Self::Piece>) -> Result<(), Self::Error>;

    /// Adds one to the counter that all workers share.
    ///
    /// # Errors
    /// If the run is over.
    fn join_counter(&mut self) -> Result<(), Self::Error>;

    /// Subtracts one from that counter. Returns whether it is now zero.
    ///
    /// # Errors
    /// If the counter was zero.
    fn leave_counter(&mut self) -> Result<bool, Self::Error>;

    /// Makes the worker look only for solutions better than this score, which another worker knows.
    fn update_incumbent(&mut self, score: i64);

    /// Schedules a wake-up of the peer.
    fn wake_at(&mut self, at_ns: u64);

    /// Ends the run.
    ///
    /// # Errors
    /// If the run is not over, as far as the interpreter can tell.
    fn finish(&mut self) -> Result<(), Self::Error>;

    /// Reports how the protocol broke a law: a bug in the protocol itself.
    ///
    /// # Errors
    /// Where that ends the run.
    fn report_violation(&mut self, violation: Violation) -> Result<(), Self::Error>;

    /// The operations that late giving needs, where it exists.
    fn late(&mut self) -> Option<&mut dyn LateEffects<Self::Piece, Self::Error>> {
        None
    }
}

/// How a wrong protocol broke a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A ticket was used twice.
    TicketUsedTwice(Ticket),
    /// A piece was released that was not kept.
    NotKept(Ticket),
    /// A piece was taken that had not arrived.
    NotArrived(Ticket),
    /// Work arrived and was not taken.
    NotTaken,
}
