//! Words over two letters, each prefix of which takes a while: to try limits, and clusters with slow nodes.
//! `… --example slow -- 6 1000`: words of 6 letters, a second for each node.
use pleach::{Children, Goal, Tree};
use std::time::Duration;

struct Slow {
    letters: u32,
    node: Duration,
}

impl Tree for Slow {
    type Node = (u32, u32); // length and letters of a prefix
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> Self::Node {
        (0, 0)
    }

    fn expand(&self, &(length, word): &Self::Node, _: Option<i64>, out: &mut Children<Self>) {
        std::thread::sleep(self.node);
        if length == self.letters {
            return out.count(1);
        }
        out.child((length + 1, word << 1));
        out.child((length + 1, word << 1 | 1));
    }
}

fn read() -> Option<Slow> {
    let words = pleach::words();
    let letters = words.first()?.parse().ok().filter(|letters| *letters <= 32)?;
    Some(Slow { letters, node: Duration::from_millis(words.get(1)?.parse().ok()?) })
}

fn main() -> std::process::ExitCode {
    pleach::main(read().ok_or("expected a number of letters up to 32, and milliseconds"))
}
