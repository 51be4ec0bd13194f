//! Carries out a peer's changes to copies: the part of the interpreter that only late giving needs.

use super::messages::{Change, Recall};
use crate::steal::effects::Effects;
use crate::steal::giving::hand_over;
use crate::steal::ledger::Ledger;
use crate::steal::message::Message;
use crate::steal::peer::Peer;
use crate::steal::ticket::{Fraction, PeerId, Ticket};

/// The parts of an interpreter: its peer, the pieces that it answers for, and the work that came with a message.
type HostParts<'a, P> = (&'a mut Peer, &'a mut Ledger<P>, &'a mut Option<P>);

/// Carries out one change. Returns whether the size of the peer's own work changed.
pub(in super::super) fn carry_out<P: Clone, V: Effects<Piece = P>>(
    (peer, ledger, incoming): HostParts<'_, P>,
    change: Change,
    effects: &mut V,
) -> Result<bool, V::Error> {
    match change {
        Change::Give { to, ticket, of, owner, share } => {
            return give((peer, ledger), (to, ticket), (of, owner), share, effects);
        }
        Change::Hold { ticket } => hold((peer, ledger, incoming), ticket, effects)?,
        Change::Trim => {
            if let (Some(away), Some(late)) = (incoming.take(), effects.late()) {
                late.trim(&away)?;
                return Ok(true);
            }
        }
        Change::Tell { ticket } => {
            if let Some(late) = effects.late() {
                let left = late.copy()?;
                effects.send(0, Message::Late(Recall::Left { ticket }), Some(left));
            }
        }
    }
    Ok(false)
}

/// Splits a copy, gives the part, and notifies the owner.
fn give<P: Clone, V: Effects<Piece = P>>(
    (peer, ledger): (&mut Peer, &mut Ledger<P>),
    (to, ticket): (PeerId, Ticket),
    (of, owner): (Ticket, PeerId),
    share: Fraction,
    effects: &mut V,
) -> Result<bool, V::Error> {
    let (Some(copy), Some(late)) = (ledger.piece_mut(of), effects.late()) else {
        return Ok(false);
    };
    let (left, given) = late.split_copy(copy, share.value())?;
    keep((peer, ledger), of, left, effects);
    let Some(given) = given else {
        peer.take_copy_back(to, ticket);
        return Ok(false);
    };
    effects.send(owner, Message::Late(Recall::Trim { ticket }), Some(given.clone()));
    if to == peer.me() {
        effects.add_work(given)?;
    } else {
        hand_over((peer, ledger), to, ticket, given, effects)?;
    }
    Ok(true)
}

/// Reduces a copy to what its owner has left.
fn hold<P: Clone, V: Effects<Piece = P>>(
    (peer, ledger, incoming): HostParts<'_, P>,
    ticket: Ticket,
    effects: &mut V,
) -> Result<(), V::Error> {
    let Some(left) = incoming.take() else { return Ok(()) };
    let (Some(copy), Some(late)) = (ledger.piece_mut(ticket), effects.late()) else {
        return Ok(());
    };
    let still = late.intersect(copy, &left)?;
    keep((peer, ledger), ticket, still, effects);
    Ok(())
}

/// Changes a copy, and reports its size to the peer.
fn keep<P: Clone, V: Effects<Piece = P>>(
    (peer, ledger): (&mut Peer, &mut Ledger<P>),
    ticket: Ticket,
    piece: P,
    effects: &mut V,
) {
    peer.note_copy(ticket, effects.size_of(&piece));
    if let Some(kept) = ledger.piece_mut(ticket) {
        *kept = piece;
    }
}
