//! [`GatewayMessage`]: the messages between gateways.

use super::portion::{Portion, Tally};
use crate::lease::{Content, LeaseMessage, ProgressReport, Rec};
use crate::search::tree::Solution;
use crate::search::work::Pack;
use crate::steal::{Message, Ticket};

/// A message from one site to another. The order of the kinds is part of the wire format.
#[derive(Clone, Debug, PartialEq, Pack)]
pub enum GatewayMessage<D> {
    /// Between peers: who wants work.
    Peer(Message),
    /// A peer's answer with work: a ticket for the peer, a lease for the lease protocol.
    Gift(Ticket, LeaseMessage<Portion<D>>),
    /// About a lease.
    Lease(LeaseMessage<Portion<D>>),
    /// A solution with its value.
    Best(Solution),
    /// To the root, where the search has a node limit: "I need more nodes to explore."
    Draw {
        /// Whether the sender has none left.
        dry: bool,
    },
    /// From the root: "Explore this many more." To the root: "I have no work, and this many are left."
    Nodes(u64),
    /// "Stop, and hand over what you have."
    Stop,
    /// "A long message from you is arriving here."
    Arriving,
}

impl<D: Tally> GatewayMessage<D> {
    /// Its approximate size in bytes, without the envelope.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let plan = |best: &Option<Solution>| best.as_ref().map_or(0, |it| it.solution.len() as u64);
        match self {
            GatewayMessage::Peer(_)
            | GatewayMessage::Draw { .. }
            | GatewayMessage::Nodes(_)
            | GatewayMessage::Stop
            | GatewayMessage::Arriving => 0,
            GatewayMessage::Best(solution) => 8 + solution.solution.len() as u64,
            GatewayMessage::Gift(_, message) | GatewayMessage::Lease(message) => match message {
                LeaseMessage::Work { content, best, .. } => content.bytes() + plan(best),
                LeaseMessage::Commit { progress_report, best, .. }
                | LeaseMessage::Return { progress_report, best, .. } => {
                    bytes_of(progress_report) + plan(best)
                }
                _ => 0,
            },
        }
    }
}

/// The approximate size of a progress report in bytes.
fn bytes_of<D: Tally>(progress_report: &ProgressReport<Portion<D>>) -> u64 {
    let latest = |rec: &Rec<Portion<D>>| rec.latest.as_ref().map_or(0, |latest| bytes_of(latest));
    let subs = progress_report.subs.values().map(|rec| 24 + rec.given.bytes() + latest(rec));
    progress_report.content.bytes() + subs.sum::<u64>()
}
