//! [`GatewayPacket`]: messages between gateways as bytes, and the checks that refuse what no site can have sent.

use super::message::GatewayMessage;
use super::portion::Portion;
use crate::lease::{LeaseMessage, SiteId};
use crate::search::tree::Counts;
use crate::search::work::{Malformed, Pack, Reader};
use crate::steal::{Message, Ticket};
use crate::wire::{ContentKind, Unreadable, open, pack_message, seal, unpack_message};

/// A message between sites, with its sender.
#[derive(Clone, Debug, PartialEq)]
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
    /// If the bytes are no packet of this search, or name sites that do not exist.
    pub fn from_bytes(bytes: &[u8], fingerprint: u64, sites: u32) -> Result<Self, Unreadable> {
        let (print, packet): (u64, Self) = open(ContentKind::GatewayMessage, bytes)?;
        if print != fingerprint {
            return Err(Unreadable::Foreign);
        }
        if packet.names_only(sites) { Ok(packet) } else { Err(Malformed::Range.into()) }
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
            GatewayMessage::Lease(message) => {
                !matches!(message, LeaseMessage::Work { .. }) || self.gives(message)
            }
            GatewayMessage::Draw { .. } => self.from > 0,
            GatewayMessage::Peer(_)
            | GatewayMessage::Nodes(_)
            | GatewayMessage::Best(_)
            | GatewayMessage::Stop => true,
        }
    }

    /// Whether the sender can give this work: it carries the giver's name, and all of it is open.
    fn gives(&self, message: &LeaseMessage<Portion<Counts>>) -> bool {
        let LeaseMessage::Work { lease, content, .. } = message else { return false };
        lease.site == self.from && !content.open.is_empty() && content.done == Counts::default()
    }
}

impl Pack for Portion<Counts> {
    const LEAST: usize = Counts::LEAST + 1;

    fn pack(&self, out: &mut Vec<u8>) {
        self.done.pack(out);
        self.open.pack(out);
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let done = Counts::unpack(from)?;
        if !done.can_grow() {
            return Err(Malformed::Range);
        }
        Ok(Self { done, open: Pack::unpack(from)? })
    }
}

impl Pack for GatewayPacket {
    const LEAST: usize = 2;

    fn pack(&self, out: &mut Vec<u8>) {
        self.from.pack(out);
        match &self.message {
            GatewayMessage::Peer(message) => {
                0u8.pack(out);
                pack_message(*message, out);
            }
            GatewayMessage::Gift(ticket, message) => {
                (1u8, *ticket).pack(out);
                message.pack(out);
            }
            GatewayMessage::Lease(message) => {
                2u8.pack(out);
                message.pack(out);
            }
            GatewayMessage::Best(solution) => {
                3u8.pack(out);
                solution.pack(out);
            }
            GatewayMessage::Stop => 4u8.pack(out),
            GatewayMessage::Draw { dry } => (5u8, *dry).pack(out),
            GatewayMessage::Nodes(nodes) => (6u8, *nodes).pack(out),
        }
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let sender = SiteId::unpack(from)?;
        let message = match u8::unpack(from)? {
            0 => GatewayMessage::Peer(unpack_message(from)?),
            1 => {
                let ticket = Ticket::unpack(from)?;
                GatewayMessage::Gift(ticket, LeaseMessage::unpack(from)?)
            }
            2 => GatewayMessage::Lease(LeaseMessage::unpack(from)?),
            3 => GatewayMessage::Best(Pack::unpack(from)?),
            4 => GatewayMessage::Stop,
            5 => GatewayMessage::Draw { dry: Pack::unpack(from)? },
            6 => GatewayMessage::Nodes(Pack::unpack(from)?),
            _ => return Err(Malformed::Range),
        };
        let packet = Self { from: sender, message };
        if packet.is_possible() { Ok(packet) } else { Err(Malformed::Range) }
    }
}

#[cfg(any(test, feature = "faults"))]
pub mod samples;
#[cfg(test)]
mod tests;
