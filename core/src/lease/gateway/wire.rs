//! [`GatewayPacket`]: messages between gateways as bytes, and the checks that refuse what no site can have sent.

use super::message::GatewayMessage;
use super::portion::Portion;
use crate::lease::{LeaseMessage, SiteId};
use crate::search::tree::Counts;
use crate::search::work::{Malformed, Pack};
use crate::steal::Message;
use crate::wire::{ContentKind, Unreadable, open, seal};

/// A message between sites, with its sender.
#[derive(Clone, Debug, PartialEq, Pack)]
pub struct GatewayPacket {
    /// The sender.
    pub from: SiteId,
    /// The message.
    pub message: GatewayMessage<Counts>,
}

impl GatewayPacket {
    /// The packet as bytes for another process in the same search.
    #[must_use]
    pub fn to_bytes(&self, fingerprint: u64) -> Vec<u8> {
        seal(ContentKind::GatewayMessage, fingerprint, self)
    }

    /// Reads a packet of a search that has this many sites.
    ///
    /// # Errors
    /// If the bytes are no packet that a site of this search can have sent.
    pub fn from_bytes(bytes: &[u8], fingerprint: u64, sites: u32) -> Result<Self, Unreadable> {
        let (print, packet): (u64, Self) = open(ContentKind::GatewayMessage, bytes)?;
        if print != fingerprint {
            return Err(Unreadable::Foreign);
        }
        if packet.names_only(sites) && packet.is_possible() {
            Ok(packet)
        } else {
            Err(Malformed::Range.into())
        }
    }

    /// Whether all sites that it names have numbers below this.
    fn names_only(&self, sites: u32) -> bool {
        let messages = match &self.message {
            GatewayMessage::Peer(Message::Pass { thief, .. }) if *thief >= sites => return false,
            GatewayMessage::Gift(_, message) | GatewayMessage::Lease(message) => Some(message),
            _ => None,
        };
        let listed = messages.and_then(LeaseMessage::progress_report);
        let mut listed = listed.into_iter().flat_map(|progress_report| progress_report.nested());
        self.from < sites
            && messages.is_none_or(|message| message.lease().site < sites)
            && listed.all(|(lease, rec)| lease.site < sites && rec.holder < sites)
    }

    /// Whether a site can have sent it.
    fn is_possible(&self) -> bool {
        match &self.message {
            GatewayMessage::Gift(ticket, message) => {
                matches!(message, LeaseMessage::Work { .. })
                    && ticket.giver == self.from
                    && self.gives(message)
            }
            GatewayMessage::Lease(message) => match message.progress_report() {
                Some(report) => report.nested().all(|(lease, _)| lease != message.lease()),
                None => !matches!(message, LeaseMessage::Work { .. }) || self.gives(message),
            },
            GatewayMessage::Draw { .. } => self.from > 0,
            GatewayMessage::Peer(message) => message.is_between_sites(),
            GatewayMessage::Nodes(_)
            | GatewayMessage::Best(_)
            | GatewayMessage::Stop
            | GatewayMessage::Arriving => true,
        }
    }

    /// Whether the sender can give this work: it carries the giver's name, and all of it is open.
    fn gives(&self, message: &LeaseMessage<Portion<Counts>>) -> bool {
        let LeaseMessage::Work { lease, content, .. } = message else { return false };
        lease.site == self.from && !content.open.is_empty() && content.done == Counts::default()
    }
}

#[cfg(any(test, feature = "faults"))]
pub mod samples;
#[cfg(test)]
mod tests;
