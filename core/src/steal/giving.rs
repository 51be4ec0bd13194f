//! Hands over a piece, which the giver keeps under its ticket until it is acknowledged.

use super::effects::{Effects, Violation};
use super::ledger::Ledger;
use super::message::Message;
use super::peer::Peer;
use super::ticket::{PeerId, Ticket};

/// Keeps a piece and sends it.
///
/// # Errors
/// If its ticket was used before, and that ends the run.
pub(super) fn hand_over<P: Clone, V: Effects<Piece = P>>(
    (peer, ledger): (&mut Peer, &mut Ledger<P>),
    to: PeerId,
    ticket: Ticket,
    piece: P,
    effects: &mut V,
) -> Result<(), V::Error> {
    if !ledger.insert(ticket, to, piece.clone()) {
        effects.report_violation(Violation::TicketUsedTwice(ticket))?;
    }
    if peer.keeps_copies() {
        peer.note_copy(ticket, effects.size_of(&piece));
    }
    effects.send(to, Message::Work { ticket, epoch: peer.epoch() }, Some(piece));
    Ok(())
}
