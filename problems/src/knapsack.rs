//! The 0/1 knapsack problem.

use pleach_core::search::tree::{Children, Goal, Tree};
use pleach_core::search::work::Entry;
use pleach_core::wire::fingerprint;

/// The maximum number of items.
pub const MOST_ITEMS: usize = 256;
/// The greatest value, weight or capacity: sums, and products of two, stay within 63 bits.
pub const MOST: i64 = 1_000_000_000;

/// An item.
#[derive(Clone, Copy, Debug)]
struct Item {
    value: i64,
    weight: i64,
    /// Its number in the input, from 1.
    number: i64,
}

/// A knapsack and its items, by decreasing value per weight.
#[derive(Clone, Debug)]
pub struct Knapsack {
    capacity: i64,
    items: Vec<Item>,
}

/// A node: how many items are decided, the room left, the value so far, and the items taken.
type Decided = (u32, i64, i64, [u64; MOST_ITEMS / 64]);

impl Knapsack {
    /// A knapsack with this capacity and items given as value and weight.
    ///
    /// # Errors
    /// If there are more than [`MOST_ITEMS`], or a number is not within 0 to [`MOST`].
    pub fn new(capacity: i64, items: &[[i64; 2]]) -> Result<Self, String> {
        let numbers = items.iter().flatten().chain([&capacity]);
        if let Some(wrong) = numbers.into_iter().find(|number| !(0..=MOST).contains(*number)) {
            return Err(format!("{wrong}: expected a number from 0 to {MOST}"));
        }
        if items.len() > MOST_ITEMS {
            return Err(format!("{} items: expected at most {MOST_ITEMS}", items.len()));
        }
        let item = |(number, &[value, weight]): (i64, &[i64; 2])| Item { value, weight, number };
        let mut items: Vec<Item> = (1..).zip(items).map(item).collect();
        // Compare exact ratios, or the bound would be wrong. Items without weight come first: they always fit.
        items.sort_by(|a, b| {
            let ratio = (b.value * a.weight).cmp(&(a.value * b.weight));
            (a.weight > 0).cmp(&(b.weight > 0)).then(ratio)
        });
        Ok(Self { capacity, items })
    }

    /// Dantzig's bound (1957): fills the room with the best items left, the last one fractionally.
    fn bound(&self, from: u32, mut room: i64, mut value: i64) -> i64 {
        for item in &self.items[from as usize..] {
            if item.weight > room {
                return value + item.value * room / item.weight;
            }
            room -= item.weight;
            value += item.value;
        }
        value
    }
}

impl Tree for Knapsack {
    type Node = Decided;
    const GOAL: Goal = Goal::Maximise;

    fn root(&self) -> Decided {
        (0, self.capacity, 0, [0; MOST_ITEMS / 64])
    }

    fn expand(
        &self,
        &(at, room, value, taken): &Decided,
        _: Option<i64>,
        out: &mut Children<'_, Self>,
    ) {
        let Some(item) = self.items.get(at as usize) else {
            let is_taken = |i: &usize| taken[i / 64] >> (i % 64) & 1 == 1;
            let taken = (0..self.items.len()).filter(is_taken);
            return out.solution(value, || {
                let mut numbers: Vec<i64> = taken.map(|i| self.items[i].number).collect();
                numbers.sort_unstable();
                numbers
            });
        };
        if item.weight <= room {
            let (room, value, mut taken) = (room - item.weight, value + item.value, taken);
            taken[at as usize / 64] |= 1 << (at % 64);
            out.child_within(self.bound(at + 1, room, value), (at + 1, room, value, taken));
        }
        out.child_within(self.bound(at + 1, room, value), (at + 1, room, value, taken));
    }

    fn valid(&self, entry: &Entry<Decided>) -> bool {
        let (at, room, value, _) = entry.node;
        let most = MOST * MOST_ITEMS as i64;
        at as usize <= self.items.len()
            && (0..=self.capacity).contains(&room)
            && (0..=most).contains(&value)
    }

    fn fingerprint(&self) -> Option<u64> {
        // A solution consists of numbers of items.
        let items: Vec<(i64, i64, i64)> =
            self.items.iter().map(|item| (item.value, item.weight, item.number)).collect();
        Some(fingerprint("knapsack", &(self.capacity, items)))
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        let (mut value, mut weight) = (0, 0);
        for (i, number) in solution.iter().enumerate() {
            let item = self.items.iter().find(|item| item.number == *number);
            let Some(item) = item.filter(|_| !solution[..i].contains(number)) else {
                return Some(Err(format!("item {number} is unknown or taken twice")));
            };
            value += item.value;
            weight += item.weight;
        }
        Some(if weight <= self.capacity {
            Ok(value)
        } else {
            Err(format!("weight {weight} exceeds the capacity {}", self.capacity))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oorandom::Rand64;
    use pleach_core::search::depth_first::TreeExplorer;
    use pleach_core::search::explorer::Explorer;
    use pleach_core::search::laws::{explorer_law, hostile_law, run_to_end};
    use pleach_core::search::work::Pool;

    fn random(rng: &mut Rand64, n: usize) -> Knapsack {
        let mut below = |n: u64| rng.rand_range(0..n) as i64;
        let items: Vec<[i64; 2]> = (0..n).map(|_| [below(30), below(20)]).collect();
        Knapsack::new(below(10 * n as u64 + 1), &items).unwrap()
    }

    /// Items of nearly equal value per weight: only an exact comparison orders them.
    fn large(rng: &mut Rand64, n: usize) -> Knapsack {
        let mut below = |n: u64| rng.rand_range(0..n) as i64;
        let items: Vec<[i64; 2]> =
            (0..n).map(|_| [below(12), 400_000_000 + below(500_000_000)]).collect();
        Knapsack::new(below(MOST as u64), &items).unwrap()
    }

    #[test]
    fn items_of_nearly_equal_worth_are_ordered_exactly() {
        let items = [
            [9, 900_000_000],
            [5, 536_870_912],
            [5, 536_870_912],
            [5, 488_064_466],
            [5, 488_064_466],
        ];
        let knapsack = Knapsack::new(976_128_932, &items).unwrap();
        let mut explorer = TreeExplorer::new(&knapsack);
        explorer.put_pool(Pool::whole(knapsack.root()));
        let found = run_to_end(&mut explorer, i64::MAX).found.unwrap();
        assert_eq!(Goal::Maximise.value(found.score), 10);
    }

    fn best_by_hand(knapsack: &Knapsack) -> i64 {
        let sums = (0u32..1 << knapsack.items.len()).filter_map(|set| {
            let taken = |&(i, _): &(usize, &Item)| set >> i & 1 == 1;
            let items: Vec<&Item> =
                knapsack.items.iter().enumerate().filter(taken).map(|(_, item)| item).collect();
            let weight: i64 = items.iter().map(|item| item.weight).sum();
            (weight <= knapsack.capacity).then(|| items.iter().map(|item| item.value).sum())
        });
        sums.max().unwrap()
    }

    #[test]
    fn optima_agree_with_brute_force() {
        let mut rng = Rand64::new(2);
        for n in (0..13).cycle().take(400) {
            let make = if rng.rand_range(0..2) == 0 { random } else { large };
            let knapsack = make(&mut rng, n);
            let mut explorer = TreeExplorer::new(&knapsack);
            explorer.put_pool(Pool::whole(knapsack.root()));
            let found = run_to_end(&mut explorer, i64::MAX).found.unwrap();
            let value = Goal::Maximise.value(found.score);
            assert_eq!(value, best_by_hand(&knapsack), "{knapsack:?}");
            assert_eq!(knapsack.check(&found.solution), Some(Ok(value)));
        }
    }

    #[test]
    fn the_laws_hold() {
        let knapsack: &'static _ = Box::leak(Box::new(random(&mut Rand64::new(5), 24)));
        let root = Pool::whole(knapsack.root()).to_work();
        let mut explorer = TreeExplorer::new(knapsack);
        explorer.add_work(&root.bytes).unwrap();
        let best = run_to_end(&mut explorer, i64::MAX).found.unwrap().score;
        explorer.add_work(&root.bytes).unwrap();
        let whole = run_to_end(&mut explorer, best);
        for seed in 0..20 {
            explorer_law(&|_| Box::new(TreeExplorer::new(knapsack)), &root, best, &whole, seed);
        }
        explorer.add_work(&root.bytes).unwrap();
        explorer.run(5, best);
        let good = explorer.drain();
        hostile_law(&|| Box::new(TreeExplorer::new(knapsack)), &good.bytes, 2000, 3);
    }

    #[test]
    fn wrong_solutions_are_told() {
        let knapsack = Knapsack::new(10, &[[6, 4], [5, 3], [8, 6], [3, 2]]).unwrap();
        assert_eq!(knapsack.check(&[1, 3]), Some(Ok(14)));
        for wrong in [&[1, 1][..], &[5], &[1, 2, 3]] {
            assert!(knapsack.check(wrong).unwrap().is_err(), "{wrong:?}");
        }
        assert!(Knapsack::new(-1, &[]).is_err());
        assert!(Knapsack::new(1, &[[1, 1]; 257]).is_err());
    }
}
