//! [`Spans`]: synthetic work that costs almost nothing to simulate: numbered units that can be split exactly, with even
//! or very uneven costs.

use super::chance::{mix, unit};
use super::load::{Hand, Load, UnitChecksum, WorkDone, WorkResult};
use pleach_core::search::tree::Counts;
use pleach_core::search::work::{Malformed, Pack, Work, portion};
use std::collections::VecDeque;
use std::sync::Arc;

/// Numbered units, each with a cost that depends only on its number.
#[derive(Clone, Debug)]
pub struct Spans(Arc<Costs>);

/// The costs of units. The whole is halved `levels` times; each time, the lower half gets a random part of the cost.
/// Units of the same smallest part cost the same.
#[derive(Debug)]
struct Costs {
    units: u64,
    total_ns: u64,
    levels: u32,
    uneven: f64,
    seed: u64,
}

impl Costs {
    /// The cost of the lower half of a part that costs `cost_ns`.
    fn lower(&self, level: u32, number: u64, cost_ns: u64) -> u64 {
        let drawn = unit(mix(self.seed, u64::from(level), number));
        let part = 0.5 + self.uneven * (drawn - 0.5);
        ((cost_ns as f64 * part) as u64).min(cost_ns)
    }

    /// Descends to a smallest part through the halves that `lower` chooses. Returns its first unit, its number of
    /// units, the cost of all units before it, and its own cost.
    fn descend(&self, mut lower: impl FnMut(u64, u64) -> bool) -> (u64, u64, u64, u64) {
        let (mut first, mut count) = (0, self.units);
        let (mut before_ns, mut cost_ns) = (0, self.total_ns);
        let mut number = 0;
        for level in 0..self.levels {
            if count < 2 {
                break;
            }
            let half = count / 2;
            let half_ns = self.lower(level, number, cost_ns);
            number *= 2;
            if lower(first + half, before_ns + half_ns) {
                (count, cost_ns) = (half, half_ns);
            } else {
                (first, before_ns) = (first + half, before_ns + half_ns);
                (count, cost_ns) = (count - half, cost_ns - half_ns);
                number += 1;
            }
        }
        (first, count, before_ns, cost_ns)
    }

    /// The cost of all units before `at`.
    fn before(&self, at: u64) -> u64 {
        let (first, count, before_ns, cost_ns) = self.descend(|middle, _| at < middle);
        before_ns + (u128::from(cost_ns) * u128::from(at - first) / u128::from(count)) as u64
    }

    /// The number of units completed by this cost.
    fn reached(&self, cost: u64) -> u64 {
        let (first, count, before_ns, cost_ns) = self.descend(|_, middle_ns| cost < middle_ns);
        if cost_ns == 0 {
            return first + count;
        }
        // The k-th unit is done once ⌊k · cost / count⌋ is reached.
        let done = (u128::from(cost - before_ns) + 1) * u128::from(count);
        first + (done.div_ceil(u128::from(cost_ns)) as u64 - 1).min(count)
    }

    /// Converts a cost to nodes of a search. All nodes cost the same, and there are as many nodes as units.
    ///
    /// An expensive unit stands for many nodes, as a leaf of an interval may, so measured power does not depend on the
    /// place in the tree.
    fn nodes(&self, cost_ns: u64) -> u64 {
        let nodes = u128::from(cost_ns) * u128::from(self.units);
        nodes.checked_div(u128::from(self.total_ns)).unwrap_or(0) as u64
    }

    /// The cost of the most expensive unit, found by visiting all smallest parts.
    fn costliest(&self, level: u32, number: u64, count: u64, cost_ns: u64) -> u64 {
        if level == self.levels || count < 2 {
            return cost_ns.div_ceil(count);
        }
        let (half, half_ns) = (count / 2, self.lower(level, number, cost_ns));
        let lower_ns = self.costliest(level + 1, 2 * number, half, half_ns);
        lower_ns.max(self.costliest(level + 1, 2 * number + 1, count - half, cost_ns - half_ns))
    }
}

/// The maximum number of levels of [`Spans`]: finding the most expensive unit visits all smallest parts.
pub const MOST_LEVELS: u32 = 24;

impl Spans {
    /// This many units with a total cost, in `levels` halvings. Each half gets from (1 − `uneven`) / 2 to (1 +
    /// `uneven`) / 2 of the cost.
    ///
    /// # Panics
    /// If there are no units, more than 2^40 units, or more levels than [`MOST_LEVELS`].
    #[must_use]
    pub fn new(units: u64, total_ns: u64, levels: u32, uneven: f64, seed: u64) -> Self {
        assert!((1..=1 << 40).contains(&units) && levels <= MOST_LEVELS, "{units} units");
        Self(Arc::new(Costs { units, total_ns, levels, uneven: uneven.clamp(0.0, 1.0), seed }))
    }

    /// The cost of the most expensive unit, the least work that can be given away.
    #[must_use]
    pub fn costliest_ns(&self) -> u64 {
        self.0.costliest(0, 0, self.0.units, self.0.total_ns)
    }
}

/// A range of units: the first one, and the one after the last.
type Span = (u64, u64);

fn work(spans: &[Span]) -> Work {
    let bytes = spans.to_vec().packed();
    let size = spans.iter().map(|&(from, to)| to - from).sum::<u64>() as f64;
    Work { size, least_bound: i64::MIN, bytes }
}

impl Load for Spans {
    type Hand = Held;

    fn hand(&self) -> Held {
        Held {
            costs: Arc::clone(&self.0),
            spans: VecDeque::new(),
            units: 0,
            begun_ns: 0,
            done: 0,
            which: UnitChecksum::default(),
            spent_ns: 0,
        }
    }

    fn root(&self) -> Work {
        work(&[(0, self.0.units)])
    }

    fn total_ns(&self) -> Option<u64> {
        Some(self.0.total_ns)
    }

    fn check(&self, done: &WorkDone, _best: i64, open: &[Work]) -> Result<(), String> {
        let mut hand = self.hand();
        let put = open.iter().try_for_each(|piece| hand.add_work(&piece.bytes));
        put.map_err(|why| format!("a piece cannot be read: {why}"))?;
        let mut which = done.which;
        hand.spans.iter().for_each(|&(from, to)| which.add(from, to));
        let mut all = UnitChecksum::default();
        all.add(0, self.0.units);
        let units = done.counts.bounded + hand.units;
        if units != self.0.units {
            Err(format!("{units} units instead of {}", self.0.units))
        } else if which != all {
            Err("a unit is lost and another one was done twice".into())
        } else {
            Ok(())
        }
    }
}

/// One peer's units.
#[derive(Clone, Debug)]
pub struct Held {
    costs: Arc<Costs>,
    /// The units left to do, in order.
    spans: VecDeque<Span>,
    units: u64,
    /// The cost already spent on the first unit.
    begun_ns: u64,
    done: u64,
    /// Which units are done.
    which: UnitChecksum,
    /// The cost spent on all units.
    spent_ns: u64,
}

impl Hand for Held {
    fn add_work(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let spans = Vec::<Span>::unpacked(bytes)?;
        if spans.iter().any(|&(from, to)| from >= to || to > self.costs.units) {
            return Err(Malformed::Range);
        }
        self.units += spans.iter().map(|&(from, to)| to - from).sum::<u64>();
        self.spans.extend(spans);
        Ok(())
    }

    fn size(&self) -> f64 {
        self.units as f64
    }

    fn ahead_ns(&self) -> Option<u64> {
        let spans = self.spans.iter();
        let all_ns: u64 =
            spans.map(|&(from, to)| self.costs.before(to) - self.costs.before(from)).sum();
        Some(all_ns - self.begun_ns)
    }

    fn run(&mut self, cost_ns: u64) -> WorkResult {
        let (mut left_ns, mut units) = (cost_ns, 0);
        while let Some(&(from, to)) = self.spans.front() {
            let start_ns = self.costs.before(from);
            let whole_ns = self.costs.before(to) - start_ns - self.begun_ns;
            if whole_ns <= left_ns {
                self.spans.pop_front();
                left_ns -= whole_ns;
                units += to - from;
                self.which.add(from, to);
                self.begun_ns = 0;
                continue;
            }
            let spent_ns = start_ns + self.begun_ns + left_ns;
            let at = self.costs.reached(spent_ns).clamp(from, to - 1);
            units += at - from;
            self.which.add(from, at);
            self.spans[0].0 = at;
            self.begun_ns = spent_ns - self.costs.before(at);
            left_ns = 0;
            break;
        }
        self.units -= units;
        self.done += units;
        let cost_ns = cost_ns - left_ns;
        let nodes_before = self.costs.nodes(self.spent_ns);
        self.spent_ns += cost_ns;
        let nodes = self.costs.nodes(self.spent_ns) - nodes_before;
        WorkResult { work_ns: cost_ns, time_ns: cost_ns, nodes, found: None }
    }

    /// Units have no depth: one of them, which is never left half done, stands for what is above any.
    fn seed(&mut self, _depth: u32, _cost_ns: u64, _nodes: u64) -> Option<WorkResult> {
        let one_ns = self.spans.front().map_or(0, |&(from, _)| {
            (self.costs.before(from + 1) - self.costs.before(from)).saturating_sub(self.begun_ns)
        });
        Some(self.run(one_ns))
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        if share >= 1.0 && self.units > 0 {
            let all = self.copy();
            self.spans.clear();
            (self.units, self.begun_ns) = (0, 0);
            return Some(all);
        }
        let mut left = portion(share, self.units as usize) as u64;
        if left == 0 {
            return None;
        }
        self.units -= left;
        let mut given = Vec::new();
        while left > 0 {
            let Some((from, to)) = self.spans.pop_back() else { break };
            let here = left.min(to - from);
            given.push((to - here, to));
            left -= here;
            if from < to - here {
                self.spans.push_back((from, to - here));
            }
        }
        Some(work(&given))
    }

    fn trim(&mut self, away: &[u8]) -> Result<(), Malformed> {
        let mut others = Self { spans: VecDeque::new(), ..self.clone() };
        others.add_work(away)?;
        let first = self.spans.front().map(|span| span.0);
        for (from, to) in others.spans {
            let sides = |&(a, b): &Span| [(a, b.min(from)), (a.max(to), b)];
            let rest = self.spans.iter().flat_map(sides).filter(|(a, b)| a < b);
            self.spans = rest.collect();
        }
        self.units = self.spans.iter().map(|(from, to)| to - from).sum();
        if self.spans.front().map(|span| span.0) != first {
            self.begun_ns = 0;
        }
        Ok(())
    }

    fn copy(&mut self) -> Work {
        if self.spans.is_empty() { Work::default() } else { work(self.spans.make_contiguous()) }
    }

    fn update_incumbent(&mut self, _score: i64) {}

    fn best(&self) -> i64 {
        i64::MAX
    }

    fn done(&self) -> WorkDone {
        let total = u128::from(self.done);
        let counts = Counts { bounded: self.done, total, ..Counts::default() };
        WorkDone { counts, which: self.which }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_add_up_and_are_reached() {
        for (units, total_ns, levels, uneven) in [
            (1, 10, 3, 0.5),
            (1000, 100_000, 0, 0.0),
            (777, 500, 8, 0.9),
            (50_000, 1 << 40, 12, 1.0),
        ] {
            let spans = Spans::new(units, total_ns, levels, uneven, 3);
            let costs = &spans.0;
            assert_eq!((costs.before(0), costs.before(units)), (0, total_ns));
            let mut costliest_ns = 0;
            for at in 0..units {
                let (before_ns, after_ns) = (costs.before(at), costs.before(at + 1));
                costliest_ns = costliest_ns.max(after_ns - before_ns);
                if before_ns < after_ns {
                    assert_eq!(costs.reached(before_ns), at, "{units} units");
                    assert_eq!(costs.reached(after_ns - 1), at);
                }
            }
            assert!(spans.costliest_ns().abs_diff(costliest_ns) <= 1);
        }
    }

    /// One unit lost and another done twice leave the number of units unchanged.
    #[test]
    fn a_lost_unit_and_a_doubled_one_do_not_cancel_out() {
        let spans = Spans::new(100, 1000, 0, 0.0, 0);
        let done = |parts: &[(u64, u64)]| {
            let mut hand = spans.hand();
            for &span in parts {
                hand.add_work(&work(&[span]).bytes).unwrap();
                hand.run(u64::MAX);
            }
            hand.done()
        };
        assert!(spans.check(&done(&[(0, 100)]), 0, &[]).is_ok());
        assert!(spans.check(&done(&[(0, 40)]), 0, &[work(&[(40, 100)])]).is_ok());
        for bad in [&[(0, 99), (3, 4)][..], &[(1, 100), (99, 100)], &[(0, 50), (51, 100), (0, 1)]] {
            let why = spans.check(&done(bad), 0, &[]).unwrap_err();
            assert!(why.contains("lost"), "{bad:?}: {why}");
        }
    }

    /// However work is split and passed on, every unit is done once, at its own cost.
    #[test]
    fn nothing_is_lost_by_splitting() {
        for seed in 0..200 {
            let units = 1 + mix(seed, 0, 0) % 5000;
            let spans = Spans::new(units, mix(seed, 1, 0) % 1_000_000, 6, 0.8, seed);
            let mut hands = [spans.hand(), spans.hand(), spans.hand()];
            hands[0].add_work(&spans.root().bytes).unwrap();
            let mut cost_ns = 0;
            for round in 2.. {
                let [from, to, what] = [1, 2, 3].map(|word| mix(seed, round, word) as usize % 3);
                match what {
                    0 => {
                        let share = unit(mix(seed, round, 4));
                        let size = hands[from].size();
                        let given = hands[from].split(share);
                        assert_eq!(given.is_some(), size >= 2.0);
                        if let Some(given) = given {
                            hands[to].add_work(&given.bytes).unwrap();
                        }
                    }
                    _ => {
                        let ahead_ns = hands[from].ahead_ns().unwrap();
                        let ran = hands[from].run(mix(seed, round, 5) % 50_000);
                        assert_eq!(hands[from].ahead_ns(), Some(ahead_ns - ran.work_ns));
                        cost_ns += ran.work_ns;
                    }
                }
                let mut done = WorkDone::default();
                hands.iter().for_each(|hand| done.add(&hand.done()));
                let open: Vec<Work> = hands.iter_mut().map(Hand::copy).collect();
                let open: Vec<Work> =
                    open.into_iter().filter(|work| !work.bytes.is_empty()).collect();
                spans.check(&done, i64::MAX, &open).unwrap();
                if open.is_empty() {
                    break;
                }
            }
            assert_eq!(Some(cost_ns), spans.total_ns());
            assert!(hands[0].add_work(&[1, 5, 2]).is_err() && hands[0].add_work(&[9]).is_err());
        }
    }
}
