//! [`neh`]: the heuristic of Nawaz, Enscore and Ham (1983): longest jobs first, each at its best
//! place.

use super::super::instance::Instance;
use super::insertion::Insertion;

/// The NEH schedule and its makespan.
#[must_use]
pub fn neh(instance: &Instance) -> (Vec<u16>, u32) {
    let mut jobs: Vec<u16> = (0..instance.jobs() as u16).collect();
    let total = |job: &u16| instance.job((*job).into()).iter().sum::<u32>();
    jobs.sort_by_key(|job| std::cmp::Reverse(total(job)));
    let mut insertion = Insertion::new(instance);
    let mut order = Vec::with_capacity(jobs.len());
    let mut makespan = 0;
    for job in jobs {
        makespan = insertion.insert(&mut order, job, |_| 0);
    }
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
            let (order, makespan) = neh(&instance);
            assert_eq!(makespan, value, "{name}");
            assert_eq!(instance.makespan(&order), value);
        }
    }
}
