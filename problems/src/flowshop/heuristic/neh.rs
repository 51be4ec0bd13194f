//! [`neh`]: the heuristic of Nawaz, Enscore and Ham (1983): longest jobs first, each at its best
//! place.

use super::super::instance::Instance;
use super::insertion::{Insert, Insertion};

/// The NEH schedule and its makespan. Once `keep_going` returns false, the jobs left are appended in their order.
#[must_use]
pub fn neh(instance: &Instance, keep_going: &dyn Fn() -> bool) -> (Vec<u16>, u32) {
    let mut jobs: Vec<u16> = (0..instance.jobs() as u16).collect();
    let total = |job: &u16| instance.job((*job).into()).iter().sum::<u32>();
    jobs.sort_by_key(|job| std::cmp::Reverse(total(job)));
    let mut insertion = Insertion::new(instance);
    let mut order = Vec::with_capacity(jobs.len());
    for (placed, &job) in jobs.iter().enumerate() {
        if !keep_going() {
            order.extend(&jobs[placed..]);
            break;
        }
        insertion.insert(&mut order, job, i64::MAX, |_| 0);
    }
    let makespan = instance.makespan(&order);
    (order, makespan)
}

#[cfg(test)]
mod tests {
    use super::super::super::named::named;
    use super::*;

    #[test]
    fn published_values_come_out() {
        // Published values for NEH with ties to the first place.
        for (name, value) in [("ta001", 1286), ("ta031", 2733)] {
            let instance = named(name).unwrap();
            let (order, makespan) = neh(&instance, &|| true);
            assert_eq!(makespan, value, "{name}");
            assert_eq!(instance.makespan(&order), value);
        }
    }

    #[test]
    fn a_schedule_stopped_on_the_way_has_all_jobs() {
        let instance = named("ta031").unwrap();
        for most in [0, 1, 7, 49, 50] {
            let asked = std::cell::Cell::new(0);
            let (order, makespan) = neh(&instance, &|| asked.replace(asked.get() + 1) < most);
            assert_eq!(asked.get(), (most + 1).min(50), "nothing is inserted after the stop");
            assert_eq!(instance.makespan(&order), makespan);
            let mut jobs = order.clone();
            jobs.sort_unstable();
            assert!(jobs.into_iter().eq(0..50));
        }
    }
}
