//! A search that other processes join: `joined KEY` listens on this machine, `joined KEY HOST:PORT` joins it.

use pleach::{Children, Goal, Processes, SharedReport, Solver, Tree};

/// Ways to cover a board of 2 × n with dominoes and single squares.
struct Covers(u32);

impl Tree for Covers {
    type Node = (u32, bool, bool); // columns covered, and whether each square of the next column is
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> Self::Node {
        (0, false, false)
    }

    fn expand(&self, &(at, above, below): &Self::Node, _: Option<i64>, out: &mut Children<Self>) {
        if at == self.0 {
            return out.count(1);
        }
        // Each free square of this column is covered alone, or by a domino that reaches into the next column.
        let choices = |covered: bool| if covered || at + 1 == self.0 { 1 } else { 2 };
        for first in 0..choices(above) {
            for second in 0..choices(below) {
                out.child((at + 1, first == 1, second == 1));
            }
        }
        if !above && !below {
            out.child((at + 1, false, false)); // one domino across
        }
    }
}

fn main() -> Result<(), pleach::RunError> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let processes = match &words[..] {
        [key] => Processes::listen("127.0.0.1:0", key)?,
        [key, address] => Processes::join(address, key)?,
        _ => panic!("expected KEY, or KEY HOST:PORT"),
    };
    if let Some(address) = processes.address() {
        println!("join {address}");
    }
    match Solver::new(Covers(16)).run_across(&processes)? {
        SharedReport::Whole(report) => println!("{} ways", report.count),
        SharedReport::Part(part) => println!("took part: {} nodes", part.counts.bounded),
        _ => println!("the search was over"),
    }
    Ok(())
}
