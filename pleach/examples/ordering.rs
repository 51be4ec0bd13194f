//! Orders stops with precedences at least cost: `… --example ordering -- data/ordering/ESC12.sop`.
//!
//! The sequential ordering problem: a path through all stops from the first to the last, where some must come before
//! others. The file has TSPLIB's form: row u and column v hold the cost of going from u to v, or -1 if v must come
//! before u. Every open stop is left once and reached once, so the least costs of leaving, and what is then still
//! missing to the least costs of reaching, add up to a bound.
use pleach::{Children, Goal, Tree};

struct Ordering {
    costs: Vec<Vec<i64>>,
    before: Vec<u128>, // the stops that must come before each one
}

impl Tree for Ordering {
    type Node = (Vec<u8>, i64); // the path so far, and its cost
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> Self::Node {
        (vec![0], 0)
    }

    fn expand(&self, (path, cost): &Self::Node, _: Option<i64>, out: &mut Children<Self>) {
        let last = path[path.len() - 1];
        let visited = path.iter().fold(0_u128, |set, stop| set | 1 << stop);
        let open: Vec<u8> = (0..self.costs.len() as u8).filter(|v| visited >> v & 1 == 0).collect();
        if open.is_empty() {
            return out.solution(*cost, || path.iter().map(|&stop| stop.into()).collect());
        }
        let mut next = open.clone();
        next.retain(|&v| self.before[usize::from(v)] & !visited == 0);
        next.sort_by_key(|&v| self.cost(last, v));
        for v in next {
            let cost = cost + self.cost(last, v).unwrap_or_default();
            let rest: Vec<u8> = open.iter().copied().filter(|&stop| stop != v).collect();
            if let Some(more) = self.bound(v, &rest) {
                out.child_within(cost + more, ([&path[..], &[v]].concat(), cost));
            }
        }
    }

    /// Paths through the same stops with the same last one have the same completions: the cheapest is enough.
    fn key(&self, (path, _): &Self::Node) -> Option<u128> {
        let last = path.last().copied().unwrap_or_default();
        Some(path.iter().fold(u128::from(last) << 120, |set, stop| set | 1 << stop))
    }

    fn dominates(&self, (_, one): &Self::Node, (_, other): &Self::Node) -> bool {
        one <= other
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        let at = |stop: usize| solution.iter().position(|&v| v == stop as i64);
        let stops = 0..self.costs.len();
        if solution.len() != stops.len() || stops.clone().any(|stop| at(stop).is_none()) {
            return Some(Err("not every stop is visited once".into()));
        }
        let early = |v: usize| stops.clone().any(|u| self.before[v] >> u & 1 == 1 && at(u) > at(v));
        if let Some(v) = stops.clone().find(|&v| early(v)) {
            return Some(Err(format!("stop {v} comes too early")));
        }
        let cost = |two: &[i64]| self.costs[two[0] as usize][two[1] as usize];
        Some(Ok(solution.windows(2).map(cost).sum()))
    }

    fn fingerprint(&self) -> Option<u64> {
        Some(pleach::fingerprint("ordering", &self.costs))
    }
}

impl Ordering {
    /// The cost of going from `u` to `v` at once, if `v` need not come first and nothing need come between.
    fn cost(&self, u: u8, v: u8) -> Option<i64> {
        let (u, v) = (usize::from(u), usize::from(v));
        (u != v && self.costs[u][v] >= 0).then_some(self.costs[u][v])
    }

    /// The least that a path from `last` through the rest can cost, if there is one.
    fn bound(&self, last: u8, rest: &[u8]) -> Option<i64> {
        let end = self.costs.len() as u8 - 1;
        if rest.is_empty() {
            return Some(0);
        }
        let from = || rest.iter().copied().filter(|&u| u != end).chain([last]);
        let leaving = |u: u8| rest.iter().filter_map(|&v| self.cost(u, v)).min();
        let least: Vec<i64> = from().map(leaving).collect::<Option<_>>()?;
        let reaching = |&v: &u8| {
            from().zip(&least).filter_map(|(u, least)| Some(self.cost(u, v)? - least)).min()
        };
        let more: Vec<i64> = rest.iter().map(reaching).collect::<Option<_>>()?;
        Some(least.iter().chain(&more).sum())
    }
}

/// Reads a TSPLIB file.
fn parse(text: &str) -> Option<Ordering> {
    let numbers = text.split_once("EDGE_WEIGHT_SECTION")?.1.split("EOF").next()?;
    let number = |word: &str| word.parse().ok().filter(|n| (-1..=1_000_000).contains(n));
    let numbers: Vec<i64> = numbers.split_whitespace().map(number).collect::<Option<_>>()?;
    let n = numbers.len().isqrt();
    // Some files repeat the dimension.
    let repeated = numbers[..numbers.len() - n * n].iter().all(|&first| first == n as i64);
    if !(2..=100).contains(&n) || numbers.len() > n * n + 1 || !repeated {
        return None;
    }
    let costs: Vec<Vec<i64>> =
        numbers[numbers.len() - n * n..].chunks(n).map(<[i64]>::to_vec).collect();
    let before = |row: &Vec<i64>| (0..n).filter(|&v| row[v] == -1).fold(0, |set, v| set | 1 << v);
    let before: Vec<u128> = costs.iter().map(before).collect();
    (before[0] == 0 && before[n - 1] == (1 << (n - 1)) - 1).then_some(Ordering { costs, before })
}

fn main() -> std::process::ExitCode {
    let words = pleach::words();
    let [file] = &words[..] else {
        return pleach::main(Err::<Ordering, _>("expected a TSPLIB file that ends in .sop"));
    };
    let expected = "expected costs of 2 to 100 stops in TSPLIB's form, from the first to the last";
    pleach::main(
        pleach::text(file)
            .and_then(|text| parse(&text).ok_or_else(|| format!("{file}: {expected}"))),
    )
}
