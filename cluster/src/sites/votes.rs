//! [`Votes`]: which joiners have lost the root, as a standby knows it.

use std::collections::BTreeMap;
use std::time::Duration;

/// How long a vote counts. A joiner votes again at each attempt to return, at least every few seconds.
const COUNTS_FOR: Duration = Duration::from_secs(20);

/// The maximum number of votes that are kept.
const MOST: usize = 4096;

/// The joiners that have lost the root, each by its token, and when it last reported that.
#[derive(Clone, Debug, Default)]
pub struct Votes(BTreeMap<u64, Duration>);

impl Votes {
    /// Notes that a joiner has lost the root.
    pub fn record(&mut self, token: u64, now: Duration) {
        self.0.retain(|_, voted| now.saturating_sub(*voted) < COUNTS_FOR);
        if self.0.len() < MOST || self.0.contains_key(&token) {
            self.0.insert(token, now);
        }
    }

    /// Whether most joiners have lost the root: of this site, which lost it at `lost`, and this many others, more than
    /// half, counting those that have reported the loss since then.
    #[must_use]
    pub fn are_majority(&self, others: u32, lost: Duration, now: Duration) -> bool {
        let counts = |voted: Duration| voted >= lost && now.saturating_sub(voted) < COUNTS_FOR;
        let votes = self.0.values().filter(|&&voted| counts(voted));
        2 * (votes.count() as u64 + 1) > u64::from(others) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(1000);

    #[test]
    fn more_than_half_of_all_joiners_must_agree() {
        for others in 0..9_u32 {
            for voters in 0..=others {
                let mut votes = Votes::default();
                (0..voters).for_each(|voter| votes.record(voter.into(), NOW));
                let here = voters + 1;
                let there = others - voters;
                assert_eq!(
                    votes.are_majority(others, NOW, NOW),
                    here > there,
                    "{voters} of {others}"
                );
            }
        }
    }

    #[test]
    fn a_joiner_votes_once_and_for_a_while() {
        let mut votes = Votes::default();
        (0..5).for_each(|_| votes.record(7, NOW));
        assert!(!votes.are_majority(3, NOW, NOW));
        votes.record(8, NOW);
        let later = Duration::from_nanos(1);
        assert!(!votes.are_majority(3, NOW + later, NOW + later), "votes from before the loss");
        assert!(votes.are_majority(3, NOW, NOW));
        assert!(!votes.are_majority(3, NOW, NOW + COUNTS_FOR));
        votes.record(9, NOW + COUNTS_FOR);
        assert_eq!(votes.0.len(), 1);
    }

    /// Of two parts of a network, only one can have more than half of the joiners, however the votes are cast.
    #[test]
    fn two_parts_of_a_network_never_both_agree() {
        for joiners in 1..12_u32 {
            for parted in 0..=joiners {
                let agrees = |here: u32| {
                    let mut votes = Votes::default();
                    (1..here).for_each(|voter| votes.record(voter.into(), NOW));
                    here > 0 && votes.are_majority(joiners - 1, NOW, NOW)
                };
                assert!(!(agrees(parted) && agrees(joiners - parted)), "{parted} of {joiners}");
            }
        }
    }
}
