//! [`Hub`]: a site that forwards what the others send each other, at a limited rate.

use crate::network::Traffic;
use std::collections::HashMap;

/// How site 0 forwards messages between other sites. Its own messages take it the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hub {
    /// The time for a message.
    pub message_ns: u64,
    /// Bytes per nanosecond in addition; infinite if message size does not matter.
    pub bytes_per_ns: f64,
    /// The number of messages in ten seconds after which two sites open a direct link, if they do.
    pub link_after: Option<u32>,
}

/// The time over which messages of a pair are counted, and the maximum number of links of a site.
const WINDOW_NS: u64 = 10_000_000_000;
const MOST_LINKS: u32 = 32;

/// What two sites have sent each other.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    /// When their messages were first counted, and how many there were since.
    since_ns: u64,
    count: u32,
    linked: bool,
}

/// The state of a hub. A link is never closed.
#[derive(Debug, Default)]
pub(super) struct HubState {
    free_ns: u64,
    pairs: HashMap<(u32, u32), Pair>,
    links: HashMap<u32, u32>,
    /// The last arrival from one site at another: a link overtakes no forwarded message.
    last_ns: HashMap<(u32, u32), u64>,
    pub forwarded: u64,
    pub busy_ns: u64,
}

impl HubState {
    /// Sends a message now, by the hub or directly, and returns when it arrives.
    pub fn send(
        &mut self,
        hub: &Hub,
        traffic: &mut Traffic<'_>,
        (from, to, bytes): (u32, u32, u64),
        now_ns: u64,
    ) -> u64 {
        let arrival_ns = if from == 0 {
            let sent_ns = self.handle(hub, bytes, now_ns);
            traffic.send(from, to, bytes, sent_ns)
        } else if to == 0 {
            let came_ns = traffic.send(from, to, bytes, now_ns);
            self.handle(hub, bytes, came_ns)
        } else if self.are_linked(hub, from, to, now_ns) {
            traffic.send(from, to, bytes, now_ns)
        } else {
            self.forwarded += 1;
            let came_ns = traffic.send(from, 0, bytes, now_ns);
            let sent_ns = self.handle(hub, bytes, came_ns);
            traffic.send(0, to, bytes, sent_ns)
        };
        let last_ns = self.last_ns.entry((from, to)).or_default();
        *last_ns = arrival_ns.max(*last_ns);
        *last_ns
    }

    /// The hub handles a message that has arrived by this time. Returns when it is done.
    fn handle(&mut self, hub: &Hub, bytes: u64, at_ns: u64) -> u64 {
        let takes_ns = hub.message_ns + (bytes as f64 / hub.bytes_per_ns) as u64;
        self.busy_ns += takes_ns;
        self.free_ns = self.free_ns.max(at_ns) + takes_ns;
        self.free_ns
    }

    /// Counts a message, and returns whether its sites have a direct link.
    fn are_linked(&mut self, hub: &Hub, from: u32, to: u32, now_ns: u64) -> bool {
        let Some(after) = hub.link_after else { return false };
        let pair = self.pairs.entry((from.min(to), from.max(to))).or_default();
        if pair.linked {
            return true;
        }
        // A gateway that reads many messages is ahead of the others.
        if now_ns.saturating_sub(pair.since_ns) > WINDOW_NS {
            (pair.since_ns, pair.count) = (now_ns, 0);
        }
        pair.count += 1;
        let links = |site| self.links.get(&site).copied().unwrap_or(0);
        if pair.count > after && links(from).max(links(to)) < MOST_LINKS {
            pair.linked = true;
            for site in [from, to] {
                *self.links.entry(site).or_default() += 1;
            }
        }
        pair.linked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Link, Network};

    #[test]
    fn a_hub_forwards_one_message_at_a_time() {
        let network = Network::uniform(Link { latency_ns: 100, bytes_per_ns: f64::INFINITY });
        let mut traffic = Traffic::new(&network, 4, 0);
        let hub = Hub { message_ns: 1000, bytes_per_ns: f64::INFINITY, link_after: Some(3) };
        let mut state = HubState::default();
        let mut send = |from, to| state.send(&hub, &mut traffic, (from, to, 10), 0);
        assert_eq!(send(1, 2), 1200);
        assert_eq!(send(3, 2), 2200);
        assert_eq!(send(3, 0), 3100);
        assert_eq!(send(0, 3), 4200);
        assert_eq!(send(2, 1), 5200);
        assert_eq!(send(1, 2), 6200);
        // The fourth message of a pair goes directly, but overtakes no other.
        assert_eq!(send(1, 2), 6200);
        assert_eq!(send(2, 1), 5200);
        assert_eq!((state.forwarded, state.busy_ns), (4, 6000));
    }

    /// The time since the count began used to overflow if the other site was behind.
    #[test]
    fn messages_of_a_pair_are_counted_in_both_directions() {
        let network = Network::uniform(Link { latency_ns: 100, bytes_per_ns: f64::INFINITY });
        let mut traffic = Traffic::new(&network, 4, 0);
        let hub = Hub { message_ns: 1000, bytes_per_ns: f64::INFINITY, link_after: Some(1) };
        let (mut state, late_ns) = (HubState::default(), 2 * WINDOW_NS);
        state.send(&hub, &mut traffic, (1, 2, 10), late_ns);
        state.send(&hub, &mut traffic, (2, 1, 10), late_ns - 1);
        assert_eq!(state.forwarded, 1);
    }
}
