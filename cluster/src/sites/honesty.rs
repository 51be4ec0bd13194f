//! What an honest site can have sent, and what becomes of a site that sends something else.

use super::gateway_thread::GatewayThread;
use super::message::invalid_message_from;
use pleach_core::lease::gateway::{GatewayMessage, GatewayPacket, Portion};
use pleach_core::lease::{LeaseMessage, ProgressReport, SiteId};
use pleach_core::search::tree::{Counts, Goal};
use pleach_core::steal::Message;
use pleach_runtime::error::RunError;

/// The number of invalid messages after which a site is cut off.
const MOST_INVALID: u32 = 100;

impl GatewayThread<'_> {
    /// Whether an honest site can have sent this: nobody sends the root `Done` before the search is over, only the root
    /// begins a stop, only the root grants nodes of a limit, every solution has the stated value, and all work can be
    /// kept.
    pub fn may_be(&self, packet: &GatewayPacket) -> bool {
        let (root, message) = (self.cluster.is_root(), &packet.message);
        let best = match message {
            GatewayMessage::Draw { .. } => return root,
            GatewayMessage::Nodes(_) => return root || packet.from == 0,
            GatewayMessage::Peer(Message::Done) => return !root || self.gateway.over(),
            GatewayMessage::Stop => {
                return !root || self.cluster.is_open() || self.gateway.stopped();
            }
            GatewayMessage::Gift(_, message) | GatewayMessage::Lease(message)
                if !self.may_keep(message) =>
            {
                return false;
            }
            GatewayMessage::Best(best) => Some(best),
            GatewayMessage::Gift(_, message) | GatewayMessage::Lease(message) => message.best(),
            _ => None,
        };
        let Some(best) = best.filter(|best| best.score < self.run_state.control().best()) else {
            return true;
        };
        let goal = self.run_state.goal();
        match self.workers.problem.check(&best.solution) {
            None => true,
            Some(Ok(value)) => value == goal.value(best.score) || goal == Goal::Find,
            Some(Err(_)) => false,
        }
    }

    /// Whether the work in a message can be kept: a progress report divides what was given under its lease, as far as
    /// the problem's explorer can tell. Nobody keeps one of a lease that is not listed.
    fn may_keep(&self, message: &LeaseMessage<Portion<Counts>>) -> bool {
        let spare = &self.workers.effects.spare;
        if let LeaseMessage::Work { content, .. } = message {
            return spare.divides(&ProgressReport::of(content.clone()), None);
        }
        let Some(progress_report) = message.progress_report() else { return true };
        let mut given = self.gateway.site().given(message.lease());
        given.all(|given| spare.divides(progress_report, Some(given)))
    }

    /// Handles an invalid message. Where processes live and die together, a search without it might never end.
    /// Elsewhere, a site that sends too many is cut off.
    pub fn on_invalid_message(&mut self, from: SiteId) -> Result<(), RunError> {
        if !self.cluster.is_open() {
            return Err(invalid_message_from(from));
        }
        let count = self.invalid.entry(from).or_default();
        *count += 1;
        if *count == 1 {
            self.run_state.warn(format!("invalid message from site {from}"));
        }
        if *count == MOST_INVALID && self.session.expel(from, "its messages are invalid") {
            self.run_state.warn(format!("site {from} was excluded: its messages are invalid"));
            self.gateway().on_site_lost(from)?;
        }
        Ok(())
    }
}
