//! Sequences jobs with due dates on one machine: `… --example tardiness -- data/tardiness/wt40.txt 40 1`.
//!
//! Each job has a processing time p, a weight w and a due date d; each unit of time that it ends after d costs w. The
//! last job is fixed first. A job that would be in time even there goes there. Of two jobs, one that is no longer,
//! weighs no less and is due no later comes first (Emmons, 1969), and no two neighbours may be better off swapped.
//!
//! The bound: for any u from 0 to w, the cost is at least the sum of u (C - d), where C is when a job ends. A sequence
//! along which u / p does not rise has the least sum of u C (Smith, 1956), so any sequence gives a bound by the best such
//! u (Potts and Van Wassenhove, 1985): u / p is at most the least w / p so far, and having it that high up to a job pays
//! where the sum of p (C - d) up to there exceeds all earlier ones.
use pleach::{Children, Goal, Tree};

/// The time, weight and due date of every job.
struct Tardiness {
    jobs: Vec<[i64; 3]>,
}

impl Tree for Tardiness {
    type Node = (Vec<u8>, i64); // the jobs from the last one back, and their cost
    const GOAL: Goal = Goal::Minimise;

    fn root(&self) -> Self::Node {
        (vec![], 0)
    }

    fn expand(&self, (tail, cost): &Self::Node, _: Option<i64>, out: &mut Children<Self>) {
        let open: Vec<u8> = (0..self.jobs.len() as u8).filter(|job| !tail.contains(job)).collect();
        let end = self.time(&open);
        let head = self.greedy(open.clone());
        out.solution(cost + self.cost(&head), || {
            head.iter().chain(tail.iter().rev()).map(|&job| job.into()).collect()
        });
        let first = |i: u8, j: u8| {
            let ([p, w, d], [q, v, e]) = (self.job(i), self.job(j));
            p <= q && w >= v && d <= e && ((p, w, d) != (q, v, e) || i < j)
        };
        let mut last: Vec<u8> =
            open.iter().copied().filter(|&i| !open.iter().any(|&j| first(i, j))).collect();
        if let Some(&job) = last.iter().find(|&&job| self.late(job, end) == 0) {
            last = vec![job];
        }
        last.sort_by_key(|&job| self.late(job, end));
        for job in last {
            if tail.last().is_some_and(|&next| self.cost_of_swap(job, next, end) < 0) {
                continue;
            }
            let rest: Vec<u8> = open.iter().copied().filter(|&other| other != job).collect();
            let cost = cost + self.late(job, end);
            out.child_within(
                cost + self.bound(&self.greedy(rest)),
                ([&tail[..], &[job]].concat(), cost),
            );
        }
    }

    fn check(&self, solution: &[i64]) -> Option<Result<i64, String>> {
        let sequence: Vec<u8> = solution.iter().map(|&job| job as u8).collect();
        let whole = (0..self.jobs.len() as u8).all(|job| sequence.contains(&job));
        let right = whole && sequence.len() == self.jobs.len();
        Some(if right { Ok(self.cost(&sequence)) } else { Err("not every job comes once".into()) })
    }

    fn fingerprint(&self) -> Option<u64> {
        Some(pleach::fingerprint("tardiness", &self.jobs))
    }
}

impl Tardiness {
    fn job(&self, job: u8) -> [i64; 3] {
        self.jobs[usize::from(job)]
    }

    /// The cost of a job that ends at this time.
    fn late(&self, job: u8, end: i64) -> i64 {
        let [_, weight, due] = self.job(job);
        weight * (end - due).max(0)
    }

    fn time(&self, jobs: &[u8]) -> i64 {
        jobs.iter().map(|&job| self.job(job)[0]).sum()
    }

    fn cost(&self, sequence: &[u8]) -> i64 {
        (0..sequence.len()).map(|i| self.late(sequence[i], self.time(&sequence[..=i]))).sum()
    }

    /// What it costs to swap two neighbours, the first of which ends at this time.
    fn cost_of_swap(&self, one: u8, two: u8, end: i64) -> i64 {
        let after = end + self.job(two)[0];
        let swapped = self.late(two, after - self.job(one)[0]) + self.late(one, after);
        swapped - self.late(one, end) - self.late(two, after)
    }

    /// A sequence: from the last place to the first, the job that costs least there.
    fn greedy(&self, mut jobs: Vec<u8>) -> Vec<u8> {
        let mut end = self.time(&jobs);
        for places in (1..=jobs.len()).rev() {
            let least = (0..places)
                .min_by_key(|&i| (self.late(jobs[i], end), -self.job(jobs[i])[0]))
                .unwrap_or(0);
            jobs.swap(least, places - 1);
            end -= self.job(jobs[places - 1])[0];
        }
        jobs
    }

    /// The least that these jobs can cost, whatever their order.
    fn bound(&self, sequence: &[u8]) -> i64 {
        let (mut end, mut level, mut sum, mut most, mut bound) = (0, f64::INFINITY, 0, 0, 0.0);
        for &job in sequence {
            let [time, weight, due] = self.job(job);
            (end, level) = (end + time, level.min(weight as f64 / time as f64));
            sum += time * (end - due);
            if sum > most {
                bound += level * (sum - most) as f64;
                most = sum;
            }
        }
        (bound - 0.01).ceil() as i64 // costs are whole, and rounding must not raise the bound
    }
}

/// The instance of this number in a file of the OR-Library: all times, all weights, all due dates, again and again.
fn parse(text: &str, jobs: usize, number: usize) -> Option<Tardiness> {
    let numbers =
        text.split_whitespace().map(|word| word.parse().ok().filter(|n| (0..=10_000).contains(n)));
    let all: Vec<i64> =
        numbers.skip(3 * jobs * (number - 1)).take(3 * jobs).collect::<Option<_>>()?;
    let row = |i: usize| [all[i], all[jobs + i], all[2 * jobs + i]];
    let right = all.len() == 3 * jobs && all[..jobs].iter().all(|&time| time > 0);
    right.then(|| Tardiness { jobs: (0..jobs).map(row).collect() })
}

fn main() -> std::process::ExitCode {
    let words = pleach::words();
    let expected = "expected a file, how many jobs an instance has (at most 100), and its number";
    let read = || {
        let [file, jobs, number] = &words[..] else { return Err(expected.to_string()) };
        let (Ok(jobs @ 1..=100), Ok(number @ 1..=1000)) = (jobs.parse(), number.parse()) else {
            return Err(expected.to_string());
        };
        let text = pleach::text(file)?;
        parse(&text, jobs, number)
            .ok_or_else(|| format!("{file}: no instance {number} of {jobs} jobs"))
    };
    pleach::main(read())
}
