//! [`OuterEffects`]: the effects of a gateway's peer: it splits off work for other sites, and writes to them.

use super::message::GatewayMessage;
use super::portion::{Portion, Tally};
use super::state::GatewayState;
use super::workers::Workers;
use crate::lease::LeaseAction;
use crate::search::work::Work;
use crate::steal::{Effects, InFlight, Message, PeerId, Power, Violation};
use std::sync::Arc;

/// The maximum number of bytes that a gift should take: messages have a limit, and the receiver of a long one waits.
pub const LONGEST_PIECE: usize = 32 << 20;

/// The effects of the gateway's peer.
pub(super) struct OuterEffects<'g, D, I> {
    pub state: &'g mut GatewayState<D>,
    pub inside: &'g mut I,
    pub now_ns: u64,
    pub power: Power,
}

impl<D: Tally, I: Workers<Done = D>> OuterEffects<'_, D, I> {
    /// Takes a share of all work from a holding that waits for its turn, or as much of that share
    /// as it has.
    fn split_waiting(&mut self, share: f64, all: f64) -> Option<Arc<Work>> {
        let held = self.state.waiting()?.held();
        let (inside, gives_all) = (&*self.inside, self.state.coordinates);
        let take = |content: &mut Portion<D>| {
            let last = content.open.pop()?;
            let longest = LONGEST_PIECE as f64 / last.bytes.len().max(1) as f64;
            let part = (share * all / last.size.max(1.0)).min(longest);
            if gives_all && part >= 1.0 {
                return Some(last);
            }
            let part = if gives_all { part } else { part.min(0.5) };
            let Some((left, given)) = inside.divide_piece(&last, part) else {
                // The last piece stays, unless the site explores nothing itself.
                if content.open.is_empty() && !gives_all {
                    content.open.push(last);
                    return None;
                }
                return Some(last);
            };
            content.open.push(Arc::new(left));
            Some(Arc::new(given))
        };
        let taken = self.state.timer.site_mut().change_content(held, take).flatten()?;
        self.state.split_from = Some(held);
        Some(taken)
    }
}

impl<D: Tally, I: Workers<Done = D>> Effects for OuterEffects<'_, D, I> {
    type Piece = Arc<Work>;
    type Error = I::Error;

    fn size(&mut self) -> f64 {
        self.state.size(self.inside, self.now_ns, self.power)
    }

    fn size_of(&self, piece: &Arc<Work>) -> f64 {
        piece.size
    }

    fn split(&mut self, share: f64) -> Result<Option<Arc<Work>>, I::Error> {
        // A site that is leaving passes nothing on, and a piece must not be lost between split and send.
        if self.state.site().leaving() {
            return Ok(None);
        }
        let all = self.size();
        if let Some(piece) = self.split_waiting(share, all) {
            return Ok(Some(piece));
        }
        self.state.split_from = self.state.at_work;
        let spare = self.state.spare(self.inside);
        if spare == 0.0 || self.state.at_work.is_none() {
            return Ok(None);
        }
        let piece = self.inside.split((share * all / spare).min(1.0)).map(Arc::new);
        if self.state.spare(self.inside) == 0.0 {
            self.state.bare_ns = Some(self.now_ns);
            self.inside.wake_at(self.state.low_at(self.now_ns));
        }
        Ok(piece)
    }

    fn add_work(&mut self, _piece: Arc<Work>) -> Result<(), I::Error> {
        // A lease holds it already.
        Ok(())
    }

    fn send(&mut self, to: PeerId, message: Message, piece: Option<Arc<Work>>) {
        match (message, piece, self.state.split_from) {
            (Message::Work { ticket, .. }, Some(piece), Some(held)) => {
                let mut actions = Vec::new();
                let give = |_: &mut Portion<D>| Some(Portion::open(vec![Arc::clone(&piece)]));
                let site = self.state.timer.site_mut();
                match site.lend_work(held, to, give, &mut actions) {
                    Some(lease) => {
                        self.state.gifts.insert(lease, (to, ticket));
                    }
                    // The lease refused: put the piece back into the holding.
                    None => {
                        site.change_content(held, |content| content.open.push(piece));
                    }
                }
                for action in actions {
                    if let LeaseAction::Send { to, message } = action {
                        self.inside.send(to, GatewayMessage::Gift(ticket, message));
                    }
                }
            }
            // The lease protocol sends its own receipts.
            (Message::Work { .. } | Message::Ack { .. }, ..) => {}
            (Message::Best { .. }, ..) => {
                if let Some(best) = self.state.site().best() {
                    self.inside.send(to, GatewayMessage::Best(best.clone()));
                }
            }
            (message, ..) => self.inside.send(to, GatewayMessage::Peer(message)),
        }
    }

    fn cut(&mut self, _epoch: u64, _in_flight: InFlight<Arc<Work>>) -> Result<(), I::Error> {
        Ok(())
    }

    fn join_counter(&mut self) -> Result<(), I::Error> {
        Ok(())
    }

    fn leave_counter(&mut self) -> Result<bool, I::Error> {
        Ok(false)
    }

    fn update_incumbent(&mut self, _score: i64) {}

    fn wake_at(&mut self, at_ns: u64) {
        self.state.wake_ns = at_ns;
        self.inside.wake_at(at_ns);
    }

    fn finish(&mut self) -> Result<(), I::Error> {
        self.state.over = true;
        Ok(())
    }

    fn report_violation(&mut self, _violation: Violation) -> Result<(), I::Error> {
        Ok(())
    }
}
