//! Words over two letters, each prefix of which takes a while: to try limits, and clusters with slow nodes.
//! `… --example slow -- 6 1000`: words of 6 letters, a second for each node. `… -- 6 1000 hold=FILE`: a node also
//! takes as long as FILE exists.
use pleach::{Children, Goal, Tree};
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

struct Slow {
    letters: u32,
    node: Duration,
    hold: Option<PathBuf>,
}

impl Tree for Slow {
    type Node = (u32, u32); // length and letters of a prefix
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> Self::Node {
        (0, 0)
    }

    fn expand(&self, &(length, word): &Self::Node, _: Option<i64>, out: &mut Children<Self>) {
        sleep(self.node);
        while self.hold.as_ref().is_some_and(|file| file.exists()) {
            sleep(Duration::from_millis(10));
        }
        if length == self.letters {
            return out.count(1);
        }
        out.child((length + 1, word << 1));
        out.child((length + 1, word << 1 | 1));
    }

    /// By default it is computed from nodes, which a file would hold up.
    fn fingerprint(&self) -> Option<u64> {
        self.hold.is_some().then_some(self.letters.into())
    }
}

fn read() -> Option<Slow> {
    let words = pleach::words();
    let letters = words.first()?.parse().ok().filter(|letters| *letters <= 32)?;
    let node = Duration::from_millis(words.get(1)?.parse().ok()?);
    let hold = words.get(2).and_then(|word| word.strip_prefix("hold=")).map(PathBuf::from);
    Some(Slow { letters, node, hold })
}

fn main() -> std::process::ExitCode {
    pleach::main(
        read()
            .ok_or("expected a number of letters up to 32, milliseconds, and optionally hold=FILE"),
    )
}
