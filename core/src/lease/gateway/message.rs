//! [`GatewayMessage`]: what travels between sites.

use super::portion::{Portion, Tally};
use crate::lease::{Content, LeaseMessage, ProgressReport, Rec};
use crate::search::tree::Solution;
use crate::steal::{Message, Ticket};

/// What one site sends another.
#[derive(Clone, Debug, PartialEq)]
pub enum GatewayMessage<D> {
    /// Between their peers: who wants work.
    Peer(Message),
    /// The answer of a peer that brings work: for the peer a ticket, for the lease protocol a lease.
    Gift(Ticket, LeaseMessage<Portion<D>>),
    /// About a lease.
    Lease(LeaseMessage<Portion<D>>),
    /// A solution, with its value.
    Best(Solution),
    /// To the root: "I need more nodes to explore." The search has a limit.
    Draw {
        /// Whether the sender has none left.
        dry: bool,
    },
    /// From the root: "explore this many more." To it: "I have no work, and this many are left."
    Nodes(u64),
    /// "Stop, and hand over what you have."
    Stop,
}

impl<D: Tally> GatewayMessage<D> {
    /// About how many bytes it takes, beside an envelope.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let plan = |best: &Option<Solution>| best.as_ref().map_or(0, |it| it.plan.len() as u64);
        match self {
            GatewayMessage::Peer(_)
            | GatewayMessage::Draw { .. }
            | GatewayMessage::Nodes(_)
            | GatewayMessage::Stop => 0,
            GatewayMessage::Best(solution) => 8 + solution.plan.len() as u64,
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

/// About how many bytes a progress report takes.
fn bytes_of<D: Tally>(progress_report: &ProgressReport<Portion<D>>) -> u64 {
    let latest = |rec: &Rec<Portion<D>>| rec.latest.as_ref().map_or(0, |latest| bytes_of(latest));
    let subs = progress_report.subs.values().map(|rec| 24 + rec.given.bytes() + latest(rec));
    progress_report.content.bytes() + subs.sum::<u64>()
}
