//! [`RankLink`]: the messages on their way between this site and another one.

use super::calls::{Calls, ReceiveBuffer, Transfer};
use super::dialect::Dialect;
use super::message::{Inbox, MessagePart, PartKind, RankOutbox};
use crate::{NetError, Rank};
use std::collections::VecDeque;

/// The maximum number of messages to one site that the library holds at once.
const OUTSTANDING: usize = 8;
/// The maximum number of messages handed to the library before other sites get their turn.
const TURN: usize = 32;

/// The messages on their way to and from one site.
pub struct RankLink<D: Dialect> {
    pub outbox: RankOutbox,
    pub inbox: Inbox,
    /// In the order sent; they may be done in another order.
    sending: VecDeque<Transfer<D, MessagePart>>,
    /// In the order of arrival; the library may finish a short one before a long one.
    receiving: VecDeque<(PartKind, Transfer<D, ReceiveBuffer>)>,
}

impl<D: Dialect> Default for RankLink<D> {
    fn default() -> Self {
        Self {
            outbox: RankOutbox::default(),
            inbox: Inbox::default(),
            sending: VecDeque::new(),
            receiving: VecDeque::new(),
        }
    }
}

impl<D: Dialect> RankLink<D> {
    /// Whether something is being sent or waits to be sent.
    pub fn sends(&self) -> bool {
        !self.sending.is_empty() || !self.outbox.is_empty()
    }

    /// Whether something is being received.
    pub fn receives(&self) -> bool {
        !self.receiving.is_empty()
    }

    /// Forgets what has been sent, and hands more to the library. Returns whether anything changed.
    pub fn push(&mut self, calls: &Calls<D>, to: Rank) -> Result<bool, NetError> {
        let mut moved = false;
        for _ in 0..TURN {
            while let Some(first) = self.sending.pop_front() {
                if let Err(again) = calls.test(first)? {
                    self.sending.push_front(again);
                    break;
                }
                moved = true;
            }
            if self.sending.len() == OUTSTANDING {
                break;
            }
            let Some(piece) = self.outbox.next_part() else { break };
            self.sending.push_back(calls.send(to, piece)?);
            moved = true;
        }
        Ok(moved)
    }

    /// Adds a message being received.
    pub fn expect(&mut self, kind: PartKind, transfer: Transfer<D, ReceiveBuffer>) {
        self.receiving.push_back((kind, transfer));
    }

    /// Takes the next message if it has arrived.
    pub fn pull(&mut self, calls: &Calls<D>) -> Result<Option<(PartKind, Vec<u8>)>, NetError> {
        let Some((kind, transfer)) = self.receiving.pop_front() else { return Ok(None) };
        match calls.received(transfer)? {
            Ok(bytes) => Ok(Some((kind, bytes))),
            Err(again) => {
                self.receiving.push_front((kind, again));
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::calls::fake::{Fake, LEFT, SENT, calls};
    use super::super::message::CHUNK;
    use super::*;

    #[test]
    fn the_library_holds_eight_messages_at_most() {
        let (calls, mut link) = (calls(), RankLink::<Fake>::default());
        link.outbox.push(vec![1; 5 * CHUNK]);
        (0..10).for_each(|i| link.outbox.push(vec![i]));
        // A length, five parts, ten messages.
        for (left, sent, moves) in [(0, 8, true), (0, 8, false), (3, 11, true), (10, 16, true)] {
            LEFT.set(left);
            assert_eq!(link.push(&calls, 1), Ok(moves));
            assert_eq!((SENT.get(), link.sends()), (sent, true));
        }
        LEFT.set(16);
        assert_eq!((link.push(&calls, 1), link.sends()), (Ok(true), false));
    }

    #[test]
    fn others_have_their_turn() {
        let (calls, mut link) = (calls(), RankLink::<Fake>::default());
        LEFT.set(1_000_000);
        (0..100).for_each(|i| link.outbox.push(vec![i]));
        assert_eq!(link.push(&calls, 1), Ok(true));
        assert_eq!(SENT.get() as usize, TURN);
    }
}
