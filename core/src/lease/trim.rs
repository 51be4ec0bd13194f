//! Trimming: a progress report that has grown too large is sent with older ones inside.

use super::progress_report::{Content, ProgressReport, Rec};
use std::sync::Arc;

/// The approximate limit on the bytes of a progress report, unless its own site's content alone takes more.
pub const MOST_BYTES: u64 = 1 << 20;

/// The deepest nesting of progress reports that are sent.
const MOST_LEVELS: usize = 64;

impl<C: Content> ProgressReport<C> {
    /// The same progress report, with as many complete levels of leases as these bytes allow. The leases below keep
    /// only the work as given: an old progress report, but a correct one.
    #[must_use]
    pub fn trimmed(self, most_bytes: u64) -> Self {
        let mut level: Vec<&Rec<C>> = self.subs.values().collect();
        let mut bytes = self.content.bytes();
        let mut whole = 0;
        while !level.is_empty() && whole < MOST_LEVELS {
            let below: Vec<&Rec<C>> =
                level.iter().flat_map(|rec| rec.subs().map(|(_, rec)| rec)).collect();
            let latest = level.iter().filter_map(|rec| rec.latest.as_ref());
            bytes += level.iter().map(|rec| rec.given.bytes()).sum::<u64>()
                + latest.map(|latest| latest.content.bytes()).sum::<u64>();
            let listed: u64 = below.iter().map(|rec| rec.given.bytes()).sum();
            if bytes + listed > most_bytes {
                break;
            }
            (level, whole) = (below, whole + 1);
        }
        if level.is_empty() { self } else { self.cut_below(whole) }
    }

    /// The same, with this many complete levels of leases.
    fn cut_below(&self, whole: usize) -> Self {
        let latest = |rec: &Rec<C>| {
            let latest = rec.latest.as_ref().filter(|_| whole > 0);
            latest.map(|latest| Arc::new(latest.cut_below(whole - 1)))
        };
        let cut = |rec: &Rec<C>| Rec { latest: latest(rec), given: Arc::clone(&rec.given), ..*rec };
        let subs = self.subs.iter().map(|(&lease, rec)| (lease, cut(rec))).collect();
        Self { content: self.content.clone(), subs }
    }
}
