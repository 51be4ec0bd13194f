//! Walks of n steps on the square grid that never cross themselves: `… --example walks -- 16`.
use pleach::{Children, Goal, Tree};

struct Walks {
    steps: u8,
}

impl Tree for Walks {
    type Node = Vec<(i8, i8)>; // the squares visited so far
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> Self::Node {
        vec![(0, 0)]
    }

    fn expand(&self, walk: &Self::Node, _: Option<i64>, out: &mut Children<Self>) {
        if walk.len() > usize::from(self.steps) {
            return out.count(1);
        }
        let (x, y) = walk[walk.len() - 1];
        for step in [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)] {
            if !walk.contains(&step) {
                out.child([&walk[..], &[step]].concat());
            }
        }
    }
}

fn main() -> std::process::ExitCode {
    let words = pleach::words();
    let steps = if let [word] = &words[..] { word.parse().ok() } else { None };
    let steps = steps.filter(|steps| (1..=100).contains(steps));
    pleach::main(
        steps.map(|steps| Walks { steps }).ok_or("expected a number of steps from 1 to 100"),
    )
}
