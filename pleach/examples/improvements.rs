//! Receives each better solution as soon as it is known, the first from a heuristic alongside the search: the shortest
//! tour through twelve towns.

use pleach::{Children, Goal, Improver, Solution, Solver, Tree};
use std::ops::ControlFlow;

struct Tour {
    towns: Vec<(i64, i64)>,
}

impl Tour {
    fn length(&self, from: usize, to: usize) -> i64 {
        let ((x, y), (u, v)) = (self.towns[from], self.towns[to]);
        (x - u).abs() + (y - v).abs()
    }
}

impl Tree for Tour {
    type Node = (Vec<usize>, i64); // the towns visited so far, and the length of the path
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> Self::Node {
        (vec![0], 0)
    }

    fn expand(&self, (visited, way): &Self::Node, _: Option<i64>, out: &mut Children<Self>) {
        let last = visited[visited.len() - 1];
        if visited.len() == self.towns.len() {
            let plan = || visited.iter().map(|&town| town as i64).collect();
            return out.solution(way + self.length(last, 0), plan);
        }
        for next in (0..self.towns.len()).filter(|town| !visited.contains(town)) {
            let way = way + self.length(last, next);
            out.child_within(way + self.length(next, 0), ([&visited[..], &[next]].concat(), way));
        }
    }

    fn improver(&self, _seed: u64) -> Option<Box<dyn Improver + '_>> {
        Some(Box::new(Nearest { tour: self, start: 0, best: i64::MAX }))
    }
}

/// Goes to the nearest town that was not visited yet, from each town in turn.
struct Nearest<'t> {
    tour: &'t Tour,
    start: usize,
    best: i64,
}

impl Improver for Nearest<'_> {
    fn improve(&mut self) -> Option<Solution> {
        let n = self.tour.towns.len();
        if self.start == n {
            return None;
        }
        let (mut way, mut length) = (vec![self.start], 0);
        self.start += 1;
        while let Some(next) = (0..n)
            .filter(|town| !way.contains(town))
            .min_by_key(|&town| self.tour.length(way[way.len() - 1], town))
        {
            length += self.tour.length(way[way.len() - 1], next);
            way.push(next);
        }
        length += self.tour.length(way[n - 1], way[0]);
        let home = way.iter().position(|&town| town == 0)?;
        way.rotate_left(home);
        let better = length < self.best;
        self.best = self.best.min(length);
        better.then(|| Goal::Minimise.solution(length, way.iter().map(|&it| it as i64).collect()))
    }
}

fn main() -> Result<(), pleach::RunError> {
    let towns = (0..12).map(|i: i64| (i * i * 37 % 100, i * 71 % 100)).collect();
    let report = Solver::new(Tour { towns })
        .on_solution(|length, towns| println!("{length}: {towns:?}"))
        .on_progress(|snapshot| {
            eprintln!("{} nodes", snapshot.counts.bounded);
            ControlFlow::Continue(())
        })
        .run()?;
    println!("{:?}, {:?}", report.status, report.objective);
    Ok(())
}
