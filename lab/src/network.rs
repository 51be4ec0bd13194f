//! [`Network`]: how long messages take between two peers.

use super::chance::{exponential, mix, unit};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A connection between two peers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The time the shortest message takes.
    pub latency_ns: u64,
    /// Bytes per nanosecond, or gigabytes per second; infinite if message size does not matter.
    pub bytes_per_ns: f64,
}

/// Groups of peers that are closer to each other than to the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Peers per group, numbered consecutively.
    pub group: u32,
    /// The link between peers of one group.
    pub link: Link,
}

/// Random delays. Later messages on the same link wait behind a delayed one; messages on other links do not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delays {
    /// The probability that a message is delayed.
    pub chance: f64,
    /// The mean delay; there is no upper limit.
    pub mean_ns: u64,
    /// Whether delays are heavy-tailed: a few very long ones rather than many short ones.
    pub heavy: bool,
}

/// How peers are connected.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Nested groups, the smallest first: racks, then sites.
    pub levels: Vec<Level>,
    /// The link between peers that share no group.
    pub link: Link,
    /// Random delays, if any.
    pub delays: Option<Delays>,
}

impl Network {
    /// The same link between any two peers.
    #[must_use]
    pub fn uniform(link: Link) -> Self {
        Self { levels: Vec::new(), link, delays: None }
    }

    fn link(&self, from: u32, to: u32) -> Link {
        let near = self.levels.iter().find(|level| from / level.group == to / level.group);
        near.map_or(self.link, |level| level.link)
    }
}

/// The state of a network: each peer sends one message at a time, and each link keeps order.
pub(super) struct Traffic<'a> {
    network: &'a Network,
    seed: u64,
    /// When each peer will have finished sending.
    sent_ns: Vec<u64>,
    /// The last arrival on each link, if there are delays.
    last_ns: HashMap<u64, u64, BuildHasherDefault<Mixed>>,
    /// The size of `last_ns` at which stale entries are removed.
    tidy_at: usize,
    messages: u64,
}

impl<'a> Traffic<'a> {
    pub fn new(network: &'a Network, peers: u32, seed: u64) -> Self {
        let (last_ns, sent_ns) = (HashMap::default(), vec![0; peers as usize]);
        Self { network, seed, sent_ns, last_ns, tidy_at: 1 << 16, messages: 0 }
    }

    /// Sends a message now and returns when it arrives.
    pub fn send(&mut self, from: u32, to: u32, bytes: u64, now_ns: u64) -> u64 {
        let link = self.network.link(from, to);
        let sending_ns = (bytes as f64 / link.bytes_per_ns) as u64;
        let sent_ns = &mut self.sent_ns[from as usize];
        // A peer's messages leave one by one and take the same time, so they stay in order.
        *sent_ns = now_ns.max(*sent_ns) + sending_ns;
        let arrival_ns = *sent_ns + link.latency_ns;
        match self.network.delays {
            Some(delays) => self.delay(delays, from, to, arrival_ns, now_ns),
            None => arrival_ns,
        }
    }

    fn delay(&mut self, delays: Delays, from: u32, to: u32, at_ns: u64, now_ns: u64) -> u64 {
        self.messages += 1;
        let mut arrival_ns = at_ns;
        if unit(mix(self.seed, self.messages, 1)) < delays.chance {
            let drawn = exponential(mix(self.seed, self.messages, 2));
            // Both distributions have mean 1.
            let late = if delays.heavy { drawn.powi(3) / 6.0 } else { drawn };
            arrival_ns += (late * delays.mean_ns as f64) as u64;
        }
        let last_ns = self.last_ns.entry(u64::from(from) << 32 | u64::from(to)).or_default();
        arrival_ns = arrival_ns.max(*last_ns);
        *last_ns = arrival_ns;
        if self.last_ns.len() >= self.tidy_at {
            self.last_ns.retain(|_, last_ns| *last_ns > now_ns);
            self.tidy_at = (2 * self.last_ns.len()).max(1 << 16);
        }
        arrival_ns
    }
}

/// A fast hash function for single words.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = mix(self.0, word, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: Link = Link { latency_ns: 100, bytes_per_ns: 1.0 };
    const SLOW: Link = Link { latency_ns: 5000, bytes_per_ns: 0.1 };

    #[test]
    fn near_peers_are_near() {
        let levels = vec![Level { group: 4, link: FAST }];
        let network = Network { levels, link: SLOW, delays: None };
        let mut traffic = Traffic::new(&network, 8, 0);
        assert_eq!(traffic.send(0, 3, 10, 0), 110);
        assert_eq!(traffic.send(4, 3, 10, 0), 5100);
        // The second message waits until the first is sent.
        assert_eq!(traffic.send(0, 3, 10, 0), 120);
    }

    #[test]
    fn links_keep_order_however_late_messages_are() {
        for heavy in [false, true] {
            let delays = Some(Delays { chance: 0.3, mean_ns: 50_000, heavy });
            let network = Network { delays, ..Network::uniform(FAST) };
            let mut traffic = Traffic::new(&network, 4, 7);
            let mut last = [[0; 4]; 4];
            let (mut overtaken, mut latest) = (0, 0);
            for i in 0..20_000 {
                let (from, to) = ((mix(1, i, 0) % 4) as u32, (mix(2, i, 0) % 4) as u32);
                let at_ns = traffic.send(from, to, mix(3, i, 0) % 1000, 50 * i);
                let before = &mut last[from as usize][to as usize];
                assert!(at_ns >= *before, "message {i}");
                *before = at_ns;
                overtaken += u32::from(at_ns < latest);
                latest = latest.max(at_ns);
            }
            assert!(
                overtaken > 1000,
                "{overtaken} messages of 20000 were overtaken on other links"
            );
        }
    }
}
