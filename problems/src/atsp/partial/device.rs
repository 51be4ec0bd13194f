//! Paths in device memory: a word with the cost and the last city, then a byte per city; or intervals.

use super::{Node, Paths};
use pleach_core::search::device::{IntervalWords, Layout, OnDevice};
use pleach_core::search::tree::read;
use pleach_core::search::work::{Entry, Interval, Malformed, Nodes, Pool, Work};

/// The factor by which a word multiplies costs to hold a city too; sums of raised costs stay below `MOST`.
const SCALE: u32 = 64;
const MOST: i64 = (u32::MAX / SCALE) as i64;

impl Paths {
    /// What the kernel does not support in this instance or search, if anything.
    pub(in super::super) fn fits_device(&self) -> Result<(), &'static str> {
        let n = self.instance.cities();
        let farthest = |i: usize| (0..n).map(|j| self.rows.cost(i, j)).max().unwrap_or(0);
        let faults = [
            (n == 1, "a single city"),
            ((0..n).map(farthest).sum::<i64>() >= MOST, "tours of length 67,108,863 or more"),
            (self.rows.inside(0) > u32::MAX.into(), "costs far below zero"),
        ];
        faults.into_iter().find(|(fault, _)| *fault).map_or(Ok(()), |(_, what)| Err(what))
    }

    fn intervals(&self) -> IntervalWords {
        IntervalWords(self.instance.cities() - 1)
    }

    /// Words per node: its own and those of its bytes, the number of cities and the cities.
    fn words(&self) -> usize {
        if self.nodes == Nodes::Interval {
            return self.intervals().words();
        }
        1 + (self.instance.cities() - 1).div_ceil(4)
    }
}

/// A cost and a city in one word.
fn word(cost: i64, city: u8) -> u32 {
    cost as u32 * SCALE + u32::from(city)
}

impl OnDevice for Paths {
    fn layout(&self) -> Layout {
        let n = self.instance.cities();
        let home = (0..n).map(|city| word(self.rows.cost(city, 0), 0));
        // Cities other than the first have one neighbour fewer.
        let row = |city: usize| {
            let near = self.rows.nearest(city).map(|(city, cost)| word(cost, city));
            near.chain([0]).take(n - 1)
        };
        Layout {
            kernel: if self.nodes == Nodes::Pool { "atsp" } else { "atsp_intervals" },
            parallel: None,
            sizes: vec![n as u32],
            values: vec![self.rows.inside(0) as u32],
            nodes: self.nodes,
            words: self.words(),
            plan: n,
            width: n - 1,
            depth: n - 1,
            tables: home.chain((0..n).flat_map(row)).collect(),
        }
    }

    fn to_words(&self, work: &[u8], words: &mut Vec<u32>) -> Result<(), Malformed> {
        if self.nodes == Nodes::Interval {
            let (on, valid) = (self.intervals(), |bound| self.rows.valid_bound(bound));
            return on.write(work, &Interval::whole(on.0), valid, words);
        }
        for Entry { bound, node: Node { path }, .. } in read(self, work)?.into_entries() {
            let cost = self.cost(&path);
            let known = if path.is_empty() { i64::MIN } else { self.rows.outside(cost) };
            // The kernel knows no other bounds.
            if bound != known {
                return Err(Malformed::Range);
            }
            words.push(word(cost, path.last().copied().unwrap_or(0)));
            let mut bytes: Vec<u8> = [path.len() as u8].into_iter().chain(path).collect();
            bytes.resize(4 * (self.words() - 1), 0);
            let all = bytes.chunks_exact(4);
            words.extend(all.map(|four| four.iter().rev().fold(0, |w, &b| w << 8 | u32::from(b))));
        }
        Ok(())
    }

    fn to_work(&self, words: &[u32]) -> Work {
        if self.nodes == Nodes::Interval {
            return self.intervals().read(words).to_work();
        }
        let entry = |words: &[u32]| {
            let bytes: Vec<u8> = words[1..].iter().flat_map(|word| word.to_le_bytes()).collect();
            let node = Node { path: bytes[1..=usize::from(bytes[0])].to_vec() };
            Entry { bound: self.bound(words), depth: bytes[0].into(), share: 0.0, node }
        };
        Pool::new(words.chunks_exact(self.words()).map(entry).collect()).to_work()
    }

    fn bound(&self, node: &[u32]) -> i64 {
        if self.nodes == Nodes::Interval {
            return self.intervals().bound(node);
        }
        let is_root = node[1] & 0xff == 0;
        if is_root { i64::MIN } else { self.rows.outside((node[0] / SCALE).into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::instance::Instance;
    use super::super::super::named::named;
    use super::*;
    use crate::atsp::{Atsp, bound::Bound};
    use crate::simd::Level;
    use oorandom::Rand64;
    use pleach_core::search::explorer::Explorer;
    use pleach_core::search::laws::mutate;
    use pleach_core::search::problem::Problem;
    use pleach_core::search::tree::{Tree, read};

    fn paths(name: &str) -> Paths {
        Paths::new(&named(name).unwrap().unwrap(), Nodes::Pool, Level::best()).unwrap()
    }

    fn nodes(paths: &Paths, work: &[u8]) -> Vec<(i64, Node)> {
        let entries = read(paths, work).unwrap().into_entries();
        entries.into_iter().map(|entry| (entry.bound, entry.node)).collect()
    }

    /// Work from the middle of a search.
    fn some(paths: &Paths, fuel: u64) -> Work {
        let mut explorer = super::super::trail::explorer(paths);
        explorer.add_work(&paths.whole().bytes).unwrap();
        explorer.run(fuel, i64::MAX);
        Explorer::drain(&mut *explorer)
    }

    #[test]
    fn paths_come_back_as_they_went() {
        for name in ["crane:2:1", "crane:3:1", "tsmat:13:1", "ftv33", "amat:64:1"] {
            let paths = paths(name);
            assert_eq!(paths.fits_device(), Ok(()), "{name}");
            for fuel in [0, 1, 500] {
                let work = some(&paths, fuel);
                let mut words = Vec::new();
                paths.to_words(&work.bytes, &mut words).unwrap();
                let (back, size) = (paths.to_work(&words), paths.layout().words);
                assert_eq!(nodes(&paths, &back.bytes), nodes(&paths, &work.bytes), "{name}");
                assert_eq!(words.len(), size * work.size as usize);
                for ((bound, _), words) in nodes(&paths, &work.bytes).iter().zip(words.chunks(size))
                {
                    assert_eq!(paths.bound(words), *bound);
                }
            }
        }
    }

    #[test]
    fn hostile_paths_are_refused() {
        let paths = paths("crane:20:1");
        let good = some(&paths, 200).bytes;
        let mut rng = Rand64::new(2);
        let mut refused = 0;
        for _ in 0..2000 {
            let bytes = mutate(&good, &mut rng);
            let mut words = Vec::new();
            let taken = paths.to_words(&bytes, &mut words);
            assert!(taken.is_err() || read(&paths, &bytes).is_ok());
            refused += u32::from(taken.is_err());
        }
        assert!(refused > 1000, "{refused}");
        // A path whose bound is not its cost.
        let entry = |bound| Entry { bound, depth: 1, share: 1.0, node: Node { path: vec![3] } };
        let (cost, mut words) = (paths.rows.outside(paths.cost(&[3])), Vec::new());
        for (bound, fits) in [(cost, true), (cost + 1, false), (i64::MIN, false)] {
            let work = Pool::new(vec![entry(bound)]).to_work();
            assert!(paths.valid(&entry(bound)));
            assert_eq!(paths.to_words(&work.bytes, &mut words).is_ok(), fits);
        }
    }

    #[test]
    fn what_the_kernel_cannot_do_is_not_offered() {
        let offered = |n: usize, costs: Vec<i64>, bound, nodes| {
            let instance = Instance::new(n, costs).unwrap();
            let atsp = Atsp::new(instance, bound, (nodes, Level::Off), (None, 1), &|| true);
            atsp.unwrap().on_device().err()
        };
        let two = |cost: i64| offered(2, vec![0, cost, 1, 0], Bound::Partial, Nodes::Pool);
        assert_eq!((two(67_108_861), two(-33_554_431)), (None, None));
        let long = Some("tours of length 67,108,863 or more");
        assert_eq!((two(67_108_862), two(-67_108_863)), (long, long));
        let low = offered(5, vec![-1_000_000_000; 25], Bound::Partial, Nodes::Pool);
        assert_eq!(low, Some("costs far below zero"));
        let three = |bound, nodes| offered(3, vec![1; 9], bound, nodes);
        assert_eq!(three(Bound::Partial, Nodes::Interval), None);
        assert_eq!(three(Bound::Assignment, Nodes::Pool), Some("bounds other than partial"));
        let single = offered(1, vec![0], Bound::Partial, Nodes::Pool);
        assert_eq!(single, Some("a single city"));
    }
}
