//! Carries out what a peer wants done with copies: the part of the [`Host`] that only late giving needs.

use super::super::host::Host;
use super::super::message::{Message, Part, PeerId, Ticket};
use super::{Change, Recall, Verbs};

/// Carries out one change. Returns whether the size of the peer's own work changed.
pub(in super::super) fn carry_out<P: Clone, V: Verbs<Piece = P>>(
    host: &mut Host<P>,
    change: Change,
    verbs: &mut V,
) -> Result<bool, V::Error> {
    match change {
        Change::Give { to, ticket, of, owner, share } => {
            return give(host, (to, ticket), (of, owner), share, verbs);
        }
        Change::Hold { ticket } => hold(host, ticket, verbs)?,
        Change::Trim => {
            if let Some(away) = host.coming.take() {
                verbs.trim(&away)?;
                return Ok(true);
            }
        }
        Change::Tell { ticket } => {
            let left = verbs.copy()?;
            verbs.send(0, Message::Late(Recall::Left { ticket }), Some(left));
        }
    }
    Ok(false)
}

/// Splits a copy, gives the part and tells the owner.
fn give<P: Clone, V: Verbs<Piece = P>>(
    host: &mut Host<P>,
    (to, ticket): (PeerId, Ticket),
    (of, owner): (Ticket, PeerId),
    share: Part,
    verbs: &mut V,
) -> Result<bool, V::Error> {
    let Some(copy) = host.ledger.piece_mut(of).map(|piece| piece.clone()) else {
        return Ok(false);
    };
    let (left, given) = verbs.split_copy(&copy, share.value())?;
    keep(host, of, left, verbs);
    let Some(given) = given else { return Ok(false) };
    verbs.send(owner, Message::Late(Recall::Trim { ticket }), Some(given.clone()));
    if to == host.peer.me() {
        verbs.put(given)?;
    } else {
        let epoch = host.peer.epoch();
        host.hand_over(to, ticket, epoch, given, verbs)?;
    }
    Ok(true)
}

/// Reduces a copy to what is still left of it.
fn hold<P: Clone, V: Verbs<Piece = P>>(
    host: &mut Host<P>,
    ticket: Ticket,
    verbs: &mut V,
) -> Result<(), V::Error> {
    let Some(left) = host.coming.take() else { return Ok(()) };
    let Some(copy) = host.ledger.piece_mut(ticket).map(|piece| piece.clone()) else {
        return Ok(());
    };
    let still = verbs.intersect(&copy, &left)?;
    keep(host, ticket, still, verbs);
    Ok(())
}

/// Changes a copy, and tells the peer its size.
fn keep<P: Clone, V: Verbs<Piece = P>>(
    host: &mut Host<P>,
    ticket: Ticket,
    piece: P,
    verbs: &mut V,
) {
    host.peer.note_copy(ticket, verbs.size_of(&piece));
    if let Some(kept) = host.ledger.piece_mut(ticket) {
        *kept = piece;
    }
}
