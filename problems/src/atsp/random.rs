//! Random instances: the classes of Cirasella, Johnson, McGeoch and Zhang (2001), as
//! `class:cities:seed`.
//!
//! The rules are theirs, but not the random number generator: instances are of the same kind, but never identical.
//! Where a rule is uncertain, `docs/atsp.md` documents the choice.

use super::instance::Instance;
use oorandom::Rand64;

/// The side of the square that holds the cities; also the greatest random cost.
const SIDE: i64 = 1_000_000;
/// Machines of a flowshop, and the longest time.
const MACHINES: usize = 50;
const LONGEST: i64 = 1000;
/// Digits of a string.
const DIGITS: usize = 20;
/// Side length of a block.
const BLOCK: i64 = 1000;

/// Generates the costs of a class, row by row.
type Maker = fn(&mut Chance, usize) -> Vec<i64>;

/// The classes by name, each with its generator.
static CLASSES: [(&str, Maker); 12] = [
    ("amat", |chance, n| chance.matrix(n, false)),
    ("tmat", |chance, n| shortest(chance.matrix(n, false), n)),
    ("smat", |chance, n| chance.matrix(n, true)),
    ("tsmat", |chance, n| shortest(chance.matrix(n, true), n)),
    ("rect", |chance, n| tilted(chance, n, [1, 1, 1], |x, y| x + y)),
    ("rtilt", |chance, n| tilted(chance, n, [1, 2, 0], |x, y| x + y)),
    ("stilt", |chance, n| tilted(chance, n, [2, 4, 1], i64::max)),
    ("crane", crane),
    ("disk", disk),
    ("coin", coin),
    ("shop", shop),
    ("super", superstring),
];

/// The names of the classes.
fn classes() -> impl Iterator<Item = &'static str> {
    CLASSES.iter().map(|(name, _)| *name)
}

/// Whether a word starts with a class and a colon.
pub(super) fn is_class(word: &str) -> bool {
    word.split_once(':').is_some_and(|(class, _)| classes().any(|name| name == class))
}

/// The instance given by `class:cities:seed`; `None` if the word does not have that form.
#[must_use]
pub fn made(word: &str) -> Option<Result<Instance, String>> {
    if !is_class(word) {
        return None;
    }
    let mut parts = word.split(':');
    let (class, cities) = (parts.next()?, parts.next()?);
    let seed = parts.next().unwrap_or("");
    Some(make(class, cities, seed, parts.next().is_none()))
}

fn make(class: &str, cities: &str, seed: &str, complete: bool) -> Result<Instance, String> {
    let most = super::instance::MOST_CITIES;
    let maker = CLASSES.iter().find(|(name, _)| *name == class).map(|(_, maker)| maker);
    let cities: Option<usize> = cities.parse().ok().filter(|n| (2..=most).contains(n));
    let seed: Option<u64> = seed.parse().ok();
    let (Some(maker), Some(n), Some(seed), true) = (maker, cities, seed, complete) else {
        let names: Vec<&str> = classes().collect();
        return Err(format!(
            "expected CLASS:CITIES:SEED: a class of {}, 2 to {most} cities, a whole number",
            names.join(", ")
        ));
    };
    Instance::new(n, maker(&mut Chance(Rand64::new(seed.into())), n))
}

struct Chance(Rand64);

impl Chance {
    /// A random integer from 0 to `most`.
    fn upto(&mut self, most: i64) -> i64 {
        self.0.rand_range(0..most as u64 + 1) as i64
    }

    /// A random point in the square.
    fn point(&mut self) -> [i64; 2] {
        [self.upto(SIDE), self.upto(SIDE)]
    }

    /// Independent random costs, optionally symmetric.
    fn matrix(&mut self, n: usize, symmetric: bool) -> Vec<i64> {
        let mut costs: Vec<i64> = (0..n * n).map(|_| self.upto(SIDE)).collect();
        if symmetric {
            (0..n * n)
                .filter(|at| at / n > at % n)
                .for_each(|at| costs[at] = costs[at % n * n + at / n]);
        }
        costs
    }
}

/// The matrix with entries `cost(i, j)`.
fn by(n: usize, mut cost: impl FnMut(usize, usize) -> i64) -> Vec<i64> {
    (0..n * n).map(|at| if at / n == at % n { 0 } else { cost(at / n, at % n) }).collect()
}

/// Shortest-path costs (Floyd–Warshall).
fn shortest(mut costs: Vec<i64>, n: usize) -> Vec<i64> {
    for via in 0..n {
        for from in 0..n {
            for to in 0..n {
                let around = costs[from * n + via] + costs[via * n + to];
                costs[from * n + to] = costs[from * n + to].min(around);
            }
        }
    }
    costs
}

/// Random points; `join` combines the costs along x and along y, where up and down may differ.
fn tilted(
    chance: &mut Chance,
    n: usize,
    [x, up, down]: [i64; 3],
    join: fn(i64, i64) -> i64,
) -> Vec<i64> {
    let points: Vec<[i64; 2]> = (0..n).map(|_| chance.point()).collect();
    by(n, |i, j| {
        let (dx, dy) = (points[j][0] - points[i][0], points[j][1] - points[i][1]);
        join(x * dx.abs(), if dy > 0 { up * dy } else { down * -dy })
    })
}

/// The extent of a job: about the distance to the next source.
fn reach(n: usize) -> i64 {
    SIDE / ((n as f64).sqrt().round() as i64).max(1)
}

/// Jobs of a crane, each from a source to a destination; the cost is the empty way in between.
fn crane(chance: &mut Chance, n: usize) -> Vec<i64> {
    let reach = reach(n);
    let job = |chance: &mut Chance| {
        let source = chance.point();
        (source, source.map(|x| x + chance.upto(2 * reach) - reach))
    };
    let jobs: Vec<([i64; 2], [i64; 2])> = (0..n).map(|_| job(chance)).collect();
    by(n, |i, j| {
        let ([x, y], [to_x, to_y]) = (jobs[i].1, jobs[j].0);
        ((x - to_x) as f64).hypot((y - to_y) as f64).round() as i64
    })
}

/// Reads from a disk: the head changes tracks at a tenth of the disk's rotation speed, and waits
/// for the start of the next read.
fn disk(chance: &mut Chance, n: usize) -> Vec<i64> {
    let reach = reach(n);
    let reads: Vec<([i64; 2], i64)> =
        (0..n).map(|_| (chance.point(), chance.upto(reach))).collect();
    by(n, |i, j| {
        let ([x, y], length) = reads[i];
        let [to_x, to_y] = reads[j].0;
        let turn = (to_x - x - length).rem_euclid(SIDE);
        let seek = 10 * (to_y - y).abs();
        turn + SIDE * ((seek - turn).max(0) as u64).div_ceil(SIDE as u64) as i64
    })
}

/// Coin collection: telephones on the right-hand side of the streets, on a grid with as many blocks
/// as telephones; U-turns are possible only at the border.
fn coin(chance: &mut Chance, n: usize) -> Vec<i64> {
    let k = (n as f64).sqrt().ceil() as i64;
    let way =
        |[x, y]: [i64; 2], side: usize| [[x + 1, y], [x - 1, y], [x, y + 1], [x, y - 1]][side];
    let inside = |[x, y]: [i64; 2]| (0..=k).contains(&x) && (0..=k).contains(&y);
    let border = |[x, y]: [i64; 2]| x == 0 || y == 0 || x == k || y == k;
    // A lane leaves a crossing on one of four sides.
    let lane = |[x, y]: [i64; 2], side: usize| ((x * (k + 1) + y) as usize) * 4 + side;
    let crossing = |lane: usize| [lane as i64 / 4 / (k + 1), lane as i64 / 4 % (k + 1)];
    let lanes: Vec<usize> = (0..((k + 1) * (k + 1) * 4) as usize)
        .filter(|&lane| inside(way(crossing(lane), lane % 4)))
        .collect();
    let phones: Vec<(usize, i64)> = (0..n)
        .map(|_| (lanes[chance.upto(lanes.len() as i64 - 1) as usize], chance.upto(BLOCK - 1)))
        .collect();
    // Lanes between the end of a lane and the start of every other one.
    let between = |from: usize| {
        let mut steps = vec![i64::MAX; ((k + 1) * (k + 1) * 4) as usize];
        let mut open = std::collections::VecDeque::from([(from, 0)]);
        while let Some((at, n)) = open.pop_front() {
            let here = way(crossing(at), at % 4);
            for side in (0..4).filter(|&side| inside(way(here, side))) {
                let back = way(here, side) == crossing(at);
                let next = lane(here, side);
                if (!back || border(here)) && steps[next] == i64::MAX {
                    steps[next] = n;
                    open.push_back((next, n + 1));
                }
            }
        }
        steps
    };
    let mut row = (usize::MAX, Vec::new());
    by(n, |i, j| {
        let ((from, at), (to, place)) = (phones[i], phones[j]);
        if from == to && at <= place {
            return place - at;
        }
        if row.0 != i {
            row = (i, between(from));
        }
        BLOCK - at + BLOCK * row.1[to] + place
    })
}

/// A no-wait flowshop; a city without times closes the tour.
fn shop(chance: &mut Chance, n: usize) -> Vec<i64> {
    let mut times: Vec<Vec<i64>> =
        (0..n).map(|_| (0..MACHINES).map(|_| chance.upto(LONGEST)).collect()).collect();
    times[0].fill(0);
    by(n, |i, j| {
        let (mut delay, mut ahead) = (0, 0);
        for (first, second) in times[i].iter().zip(&times[j]) {
            ahead += first;
            delay = delay.max(ahead);
            ahead -= second;
        }
        delay
    })
}

/// Binary strings; the cost is the length less the best overlap, where a wrong digit counts twice.
fn superstring(chance: &mut Chance, n: usize) -> Vec<i64> {
    let strings: Vec<Vec<i64>> =
        (0..n).map(|_| (0..DIGITS).map(|_| chance.upto(1)).collect()).collect();
    by(n, |i, j| {
        let worth = |overlap: usize| {
            let (end, begin) = (&strings[i][DIGITS - overlap..], &strings[j][..overlap]);
            let wrong = end.iter().zip(begin).filter(|(a, b)| a != b).count();
            overlap as i64 - 2 * wrong as i64
        };
        DIGITS as i64 - (0..=DIGITS).map(worth).max().unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(word: &str) -> Instance {
        made(word).unwrap().unwrap()
    }

    #[test]
    fn every_class_gives_instances_of_its_kind() {
        for class in classes() {
            let instance = get(&format!("{class}:30:1"));
            assert_eq!(instance.cities(), 30);
            assert_eq!(
                instance,
                get(&format!("{class}:30:1")),
                "{class}: a seed gives one instance"
            );
            assert_ne!(instance, get(&format!("{class}:30:2")), "{class}");
            let all = || (0..30).flat_map(|i| (0..30).map(move |j| (i, j))).filter(|(i, j)| i != j);
            assert!(all().all(|(i, j)| instance.cost(i, j) >= 0), "{class}");
            let symmetric = all().all(|(i, j)| instance.cost(i, j) == instance.cost(j, i));
            assert_eq!(symmetric, ["smat", "tsmat", "rect"].contains(&class), "{class}");
            let triangle = all().all(|(i, j)| {
                (0..30)
                    .filter(|&k| k != i && k != j)
                    .all(|k| instance.cost(i, j) <= instance.cost(i, k) + instance.cost(k, j))
            });
            let told = ["tmat", "tsmat", "rect", "rtilt", "stilt", "coin", "shop"];
            assert!(triangle || !told.contains(&class), "{class}");
            for n in [2, 3] {
                assert_eq!(get(&format!("{class}:{n}:7")).cities(), n);
            }
        }
    }

    #[test]
    fn other_words_are_told_apart() {
        assert!(made("ftv33").is_none() && made("./a:b").is_none() && made("cran:16:1").is_none());
        for wrong in ["crane:16", "crane:1:1", "crane:16:x", "crane:16:1:1", "crane:9999:1"] {
            assert!(made(wrong).unwrap().unwrap_err().starts_with("expected CLASS:CITIES:SEED"));
        }
    }
}
