//! Trimming: a certificate that has grown too large is told with older ones inside.

use super::certificate::{Certificate, Content, Rec};
use std::sync::Arc;

/// A certificate that is told takes at most about this many bytes, unless what its site has itself takes more.
pub const MOST_BYTES: u64 = 1 << 20;

/// Certificates that are told nest at most this deep.
const MOST_LEVELS: usize = 64;

impl<C: Content> Certificate<C> {
    /// The same certificate, with as many levels of leases whole as these bytes allow. Of the leases below, only
    /// the work as it was given is told: an old certificate, but a right one.
    #[must_use]
    pub fn trimmed(self, most_bytes: u64) -> Self {
        let mut level: Vec<&Rec<C>> = self.subs.values().collect();
        let mut told = self.content.bytes();
        let mut whole = 0;
        while !level.is_empty() && whole < MOST_LEVELS {
            let below: Vec<&Rec<C>> =
                level.iter().flat_map(|rec| rec.subs().map(|(_, rec)| rec)).collect();
            let heard = level.iter().filter_map(|rec| rec.heard.as_ref());
            told += level.iter().map(|rec| rec.given.bytes()).sum::<u64>()
                + heard.map(|heard| heard.content.bytes()).sum::<u64>();
            let listed: u64 = below.iter().map(|rec| rec.given.bytes()).sum();
            if told + listed > most_bytes {
                break;
            }
            (level, whole) = (below, whole + 1);
        }
        if level.is_empty() { self } else { self.cut_below(whole) }
    }

    /// The same, with this many levels of leases whole.
    fn cut_below(&self, whole: usize) -> Self {
        let heard = |rec: &Rec<C>| {
            let heard = rec.heard.as_ref().filter(|_| whole > 0);
            heard.map(|heard| Arc::new(heard.cut_below(whole - 1)))
        };
        let cut = |rec: &Rec<C>| Rec { heard: heard(rec), given: Arc::clone(&rec.given), ..*rec };
        let subs = self.subs.iter().map(|(&lease, rec)| (lease, cut(rec))).collect();
        Self { content: self.content.clone(), subs }
    }
}
