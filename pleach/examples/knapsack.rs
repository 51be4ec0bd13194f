//! The 0/1 knapsack from a file: `cargo run --release --example knapsack -- FILE [flags]`.
use pleach::{Children, Goal, Tree};

/// The capacity, and value, weight and number of every item, best ratio first.
struct Knapsack {
    capacity: i64,
    items: Vec<[i64; 3]>,
}

impl Tree for Knapsack {
    type Node = (u32, i64, i64, u128); // items decided, room left, value, items taken
    const GOAL: Goal = Goal::Maximise;

    fn root(&self) -> Self::Node {
        (0, self.capacity, 0, 0)
    }

    fn expand(&self, &(at, room, sum, set): &Self::Node, _: Option<i64>, out: &mut Children<Self>) {
        let Some(&[gain, weight, _]) = self.items.get(at as usize) else {
            let taken = (0..self.items.len()).filter(|i| set >> i & 1 == 1);
            return out.solution(sum, || taken.map(|i| self.items[i][2]).collect());
        };
        let with = (room - weight, sum + gain, set | 1 << at);
        for (room, sum, set) in [with, (room, sum, set)] {
            if room >= 0 {
                out.child_within(self.bound(at + 1, room, sum), (at + 1, room, sum, set));
            }
        }
    }
}

impl Knapsack {
    fn bound(&self, from: u32, mut room: i64, mut value: i64) -> i64 {
        for &[gain, weight, _] in &self.items[from as usize..] {
            if weight > room {
                return value + gain * room / weight;
            }
            (room, value) = (room - weight, value + gain);
        }
        value
    }
}

fn main() -> std::process::ExitCode {
    pleach::main(pleach::rows::<2>(1_000_000_000, 128).map(|rows| {
        let mut all: Vec<_> = (1..rows.len()).map(|i| [rows[i][0], rows[i][1], i as i64]).collect();
        all.sort_by(|a, b| (a[1] > 0).cmp(&(b[1] > 0)).then((b[0] * a[1]).cmp(&(a[0] * b[1]))));
        Knapsack { capacity: rows[0][1], items: all }
    }))
}
