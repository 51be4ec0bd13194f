//! Finds the shortest Golomb ruler with n marks: `cargo run --release --example golomb -- 10`.
//!
//! All distances between two marks of a Golomb ruler differ. Marks are set from left to right, and kept as bits, seen
//! from the last mark, so that a shift yields all its distances to the others. The next k distances between neighbours
//! are k different unused ones, which bounds how soon the k-th mark from here can come. Of a ruler and its mirror image,
//! only the one whose middle marks lie further left is needed: twice their mean is below the length.
use pleach::{Children, Goal, Tree};

/// The longest ruler whose marks fit into 128 bits, which is as long as the shortest with 14 marks.
const LONGEST: i64 = 127;

struct Golomb {
    marks: u8,
}

impl Tree for Golomb {
    /// Marks (bit d: one at distance d before the last), distances used, distances that the next mark must not have from
    /// the last, position of the last mark, number of marks.
    type Node = (u128, u128, u128, u8, u8);
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> Self::Node {
        (1, 1, 1, 0, 1)
    }

    fn expand(&self, node: &Self::Node, best: Option<i64>, out: &mut Children<Self>) {
        let &(marks, used, barred, last, set) = node;
        if set == self.marks {
            let positions =
                (0..=last).rev().filter(|d| marks >> d & 1 == 1).map(|d| i64::from(last - d));
            let positions: Vec<i64> = positions.collect();
            let (left, right) = self.middle();
            let middle = positions[usize::from(left) - 1] + positions[usize::from(right) - 1];
            // Otherwise its mirror image is found elsewhere.
            if middle < last.into() {
                out.solution(last.into(), || positions);
            }
            return;
        }
        let best = best.unwrap_or(i64::MAX).min(LONGEST + 1);
        let rest = self.marks - set - 1;
        let mut free = !barred & u128::MAX >> last;
        while free != 0 {
            let step = free.trailing_zeros() as u8;
            free &= free - 1;
            let at = last + step;
            if reach(used, at, rest) >= best {
                return; // larger steps lead even further
            }
            let used = used | marks << step;
            let mut bound = reach(used, at, rest);
            let (left, right) = self.middle();
            if set < right {
                let to = |mark: u8| {
                    if mark == set { last.into() } else { reach(used, at, mark - set - 1) }
                };
                bound = bound.max(to(left) + to(right) + 1);
            }
            if bound < best {
                let barred = barred >> step | used;
                out.child_within(bound, (marks << step | 1, used, barred, at, set + 1));
            }
        }
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        let pairs =
            solution.iter().enumerate().flat_map(|(i, a)| solution[..i].iter().map(move |b| a - b));
        let mut distances: Vec<i64> = pairs.collect();
        distances.sort_unstable();
        let distinct =
            distances.first() > Some(&0) && distances.windows(2).all(|two| two[0] < two[1]);
        let right = distinct && solution.len() == usize::from(self.marks);
        Some(if right {
            Ok(distances[distances.len() - 1])
        } else {
            Err("not a Golomb ruler".into())
        })
    }
}

impl Golomb {
    /// The numbers of the two middle marks, or twice that of the only one.
    fn middle(&self) -> (u8, u8) {
        (self.marks.div_ceil(2), self.marks / 2 + 1)
    }
}

/// The earliest position of the mark this many places further on: as many unused distances, added up from here.
fn reach(used: u128, at: u8, more: u8) -> i64 {
    let mut unused = !used;
    (0..more).fold(at.into(), |sum, _| {
        let least = unused.trailing_zeros();
        unused &= unused - 1;
        sum + i64::from(least)
    })
}

fn main() -> std::process::ExitCode {
    let words = pleach::words();
    let marks = if let [word] = &words[..] { word.parse().ok() } else { None };
    let marks = marks.filter(|marks| (3..=14).contains(marks));
    pleach::main(
        marks.map(|marks| Golomb { marks }).ok_or("expected a number of marks from 3 to 14"),
    )
}
