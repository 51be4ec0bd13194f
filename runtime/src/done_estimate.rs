//! [`DoneEstimate`]: the share of the tree that is done, shown only while estimates of the tree's size agree.

use std::collections::VecDeque;

/// The most that two estimates of the tree's size may differ, as a ratio.
const AGREE: f64 = 1.25;

/// The least ratio of the numbers of nodes at two estimates that are remembered.
const APART: f64 = 1.05;

/// Estimates of the size of the tree from the search so far.
///
/// The nodes of a search divided by the share of the tree that it has closed, where the subtrees of siblings count as
/// equally large, estimate the size of the tree. In a tree where they are not, that estimate drifts with the search: if
/// it has changed much since half the nodes, it says nothing.
#[derive(Debug, Default)]
pub(crate) struct DoneEstimate {
    /// Numbers of nodes, and the sizes estimated then; only the first may be from before half of the nodes.
    earlier: VecDeque<(f64, f64)>,
}

impl DoneEstimate {
    /// The share done, if it can be trusted.
    pub fn trusted(&mut self, nodes: u64, done: f64) -> Option<f64> {
        if nodes == 0 || done <= 0.0 {
            return None;
        }
        let nodes = nodes as f64;
        let size = nodes / done;
        if self.earlier.back().is_none_or(|&(last, _)| nodes > APART * last) {
            self.earlier.push_back((nodes, size));
        }
        while self.earlier.get(1).is_some_and(|&(then, _)| then <= nodes / 2.0) {
            self.earlier.pop_front();
        }
        let half = self.earlier.front().is_some_and(|&(then, _)| then <= nodes / 2.0);
        let agrees = |&(_, before)| (1.0 / AGREE..=AGREE).contains(&(size / before));
        (half && self.earlier.iter().all(agrees)).then_some(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shares that are shown in a search that closes `closed(part)` with this part of its nodes.
    fn shown(closed: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut estimate = DoneEstimate::default();
        (1..=1000).filter_map(|i| estimate.trusted(i, closed(i as f64 / 1000.0))).collect()
    }

    #[test]
    fn a_share_is_shown_where_it_grows_with_the_nodes_and_nowhere_else() {
        let even = shown(|part| part);
        assert!(even.len() > 990 && (even[500] - 0.5).abs() < 0.02, "{even:?}");
        let noisy = shown(|part| part * (1.0 + 0.05 * (40.0 * part).sin()));
        assert!(noisy.len() > 900, "{noisy:?}");
        // One thirtieth of the nodes closes nearly all of the tree, as its siblings count.
        let skewed = shown(|part| (30.0 * part).min(0.999));
        assert!(skewed.len() < 50, "{skewed:?}");
        assert!(shown(|part| 0.9 + 0.1 * part).is_empty());
        assert!(shown(|_| 0.0).is_empty());
    }
}
