//! A flowshop in which no job may wait between two machines, as a tour of the ATSP.
//!
//! Once started, a job goes through all machines without a pause, so two jobs in a row only need the least delay
//! between their starts: for each machine, the second job must not reach it before the first has left it and the
//! setup is done. City 0 stands for the start, city `j + 1` for job `j`. An arc between two jobs is as long as this
//! delay, an arc from the start has length 0, and an arc back to it takes the total time of the last job. The length
//! of a tour is then the makespan.

use super::shop::Shop;
use crate::atsp::instance::{Instance, MOST_CITIES, MOST_COST};

/// The shop as a tour, which respects setups and ignores due dates.
///
/// # Errors
/// If there are too many jobs or the times are too large for a tour, or if jobs have release dates.
pub fn tour(shop: &Shop) -> Result<Instance, String> {
    let times = &shop.instance;
    let jobs = times.jobs();
    if jobs >= MOST_CITIES {
        return Err(format!(
            "{jobs} jobs, expected at most {} if they may not wait",
            MOST_CITIES - 1
        ));
    }
    if shop.releases.iter().flatten().any(|&release| release > 0) {
        return Err("release dates, expected none if jobs may not wait".into());
    }
    let setup = |machine: usize, i: usize, j: usize| {
        shop.setups.as_ref().map_or(0, |setups| i64::from(setups[(machine * jobs + i) * jobs + j]))
    };
    let cities = jobs + 1;
    let mut costs = vec![0; cities * cities];
    for i in 0..jobs {
        let first = times.job(i);
        let row = &mut costs[(i + 1) * cities..][..cities];
        row[0] = first.iter().map(|&time| i64::from(time)).sum();
        for j in (0..jobs).filter(|&j| j != i) {
            let (mut delay, mut through, mut before) = (0, 0, 0);
            for (machine, (&time, &other)) in first.iter().zip(times.job(j)).enumerate() {
                through += i64::from(time);
                delay = delay.max(through + setup(machine, i, j) - before);
                before += i64::from(other);
            }
            row[j + 1] = delay;
        }
    }
    match costs.iter().max() {
        Some(&most) if most > MOST_COST => Err(format!(
            "a delay of {most} between two consecutive jobs, expected at most {MOST_COST} if jobs may not wait"
        )),
        _ => Instance::new(cities, costs),
    }
}

/// The order of jobs that a tour stands for; the tour may start anywhere.
#[must_use]
pub fn order_of(tour: &[u16]) -> Vec<u16> {
    let start = tour.iter().position(|&city| city == 0).unwrap_or(0);
    let (before, after) = tour.split_at(start);
    after.iter().chain(before).filter_map(|city| city.checked_sub(1)).collect()
}

/// The tour that stands for an order of jobs. It starts in city 0.
#[must_use]
pub fn tour_of(order: &[u16]) -> Vec<u16> {
    std::iter::once(0).chain(order.iter().map(|job| job + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atsp::Atsp;
    use crate::atsp::bound::Bound;
    use crate::flowshop::instance::Instance as Times;
    use crate::flowshop::named::named;
    use crate::simd::Level;
    use oorandom::Rand64;
    use pleach_core::search::laws::explore_whole;
    use pleach_core::search::problem::Problem;
    use pleach_core::search::work::Nodes;

    fn random(rng: &mut Rand64, jobs: usize, has_setups: bool) -> Shop {
        let mut below = |n: u64| rng.rand_range(0..n) as u32;
        let (machines, most) = (1 + below(4) as usize, 1 + u64::from(below(30)));
        let times = (0..jobs * machines).map(|_| below(most)).collect();
        let mut shop = Shop::new(Times::new(machines, times).unwrap());
        shop.setups = has_setups.then(|| (0..machines * jobs * jobs).map(|_| below(20)).collect());
        shop
    }

    /// The makespan of an order without waiting: each job starts at the first moment at which no machine is still
    /// busy with any job before, tried one by one.
    fn simulate(shop: &Shop, order: &[u16]) -> u32 {
        let jobs = shop.instance.jobs();
        // When each machine is through with the job before.
        let mut free = vec![0; shop.instance.machines()];
        let mut last: Option<usize> = None;
        for &job in order {
            let job = usize::from(job);
            let fits = |start: &u32| {
                let mut arrival = *start;
                (0..free.len()).all(|machine| {
                    let setup = match (&shop.setups, last) {
                        (Some(setups), Some(last)) => {
                            setups[machine * jobs * jobs + last * jobs + job]
                        }
                        _ => 0,
                    };
                    let on_time = arrival >= free[machine] + setup;
                    arrival += shop.instance.job(job)[machine];
                    on_time
                })
            };
            let mut now = (0..).find(fits).unwrap();
            for (free, &time) in free.iter_mut().zip(shop.instance.job(job)) {
                now += time;
                *free = now;
            }
            last = Some(job);
        }
        free[free.len() - 1]
    }

    fn orders(jobs: u16) -> Vec<Vec<u16>> {
        let Some(last) = jobs.checked_sub(1) else { return vec![Vec::new()] };
        let longer = |order: Vec<u16>| {
            (0..=order.len()).map(move |at| {
                let mut order = order.clone();
                order.insert(at, last);
                order
            })
        };
        orders(last).into_iter().flat_map(longer).collect()
    }

    fn atsp(shop: &Shop) -> Atsp {
        let how = (Nodes::Pool, Level::best());
        Atsp::new(tour(shop).unwrap(), Bound::Auto, how, (None, 1), &|| true).unwrap()
    }

    #[test]
    fn lengths_and_optima_agree_with_a_simulation() {
        let mut rng = Rand64::new(6);
        for (case, jobs) in (1..7).cycle().take(300).enumerate() {
            let shop = random(&mut rng, jobs.into(), case % 2 == 0);
            let instance = tour(&shop).unwrap();
            let makespans = orders(jobs).into_iter().map(|order| {
                let makespan = simulate(&shop, &order).into();
                assert_eq!(instance.length(&tour_of(&order)), makespan, "{order:?} {shop:?}");
                makespan
            });
            let best = makespans.min().unwrap();
            let found = explore_whole(&atsp(&shop), best + 1).found.unwrap();
            let order = order_of(&instance.order(&found.solution).unwrap());
            assert_eq!((found.score, simulate(&shop, &order).into()), (best, best), "{shop:?}");
        }
    }

    #[test]
    fn orders_are_tours_from_any_city() {
        let mut tour = tour_of(&[2, 0, 1, 3]);
        assert_eq!(tour, [0, 3, 1, 2, 4]);
        for _ in 0..5 {
            assert_eq!(order_of(&tour), [2, 0, 1, 3]);
            tour.rotate_left(1);
        }
    }

    #[test]
    fn published_values_are_proven() {
        for (name, best) in [
            ("ta001", 1486),
            ("ta010", 1377),
            ("ta011", 2044),
            ("ta020", 2051),
            ("ta021", 2973),
            ("ta030", 2979),
        ] {
            let atsp = atsp(&Shop::new(named(name).unwrap()));
            assert_eq!(explore_whole(&atsp, best + 1).found.unwrap().score, best, "{name}");
            assert_eq!(explore_whole(&atsp, best).found, None, "{name}");
        }
    }

    /// With this many arcs, the arborescence bound is raised with few of them, and then tours are sought close to it.
    #[test]
    fn with_many_arcs_bounds_agree() {
        let mut rng = Rand64::new(2);
        for jobs in [30, 60, 90] {
            let times = (0..40 * jobs).map(|_| 1 + rng.rand_range(0..99) as u32).collect();
            let instance = tour(&Shop::new(Times::new(40, times).unwrap())).unwrap();
            let optimum = |bound: Bound| {
                let how = (Nodes::Pool, Level::best());
                let atsp = Atsp::new(instance.clone(), bound, how, (None, 1), &|| true).unwrap();
                let start = instance.length(atsp.start());
                let found = explore_whole(&atsp, start + 1).found.unwrap();
                assert!(atsp.least_score() <= found.score && found.score <= start);
                assert_eq!(explore_whole(&atsp, found.score).found, None, "{bound} {jobs}");
                found.score
            };
            assert_eq!(optimum(Bound::Arborescence), optimum(Bound::Assignment), "{jobs}");
        }
    }

    #[test]
    fn what_a_tour_cannot_express_is_refused() {
        let shop = |times: Vec<u32>| Shop::new(Times::new(1, times).unwrap());
        assert!(tour(&shop(vec![1; 999])).is_ok());
        assert_eq!(
            tour(&shop(vec![1; 1000])),
            Err("1000 jobs, expected at most 999 if they may not wait".into())
        );
        assert_eq!(
            tour(&shop(vec![1_000_000_001, 1])),
            Err("a delay of 1000000001 between two consecutive jobs, expected at most 1000000000 if jobs \
                 may not wait"
                .into())
        );
        let late = Shop { releases: Some(vec![0, 3]), ..shop(vec![1, 1]) };
        assert_eq!(tour(&late), Err("release dates, expected none if jobs may not wait".into()));
    }
}
