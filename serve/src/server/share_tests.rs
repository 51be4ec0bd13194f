//! Shares over time, and plans in all situations.

use super::*;

fn user(weight: f64) -> UserShare {
    UserShare { weight, usage: 0.0, most: u32::MAX }
}

fn job(id: u64, user: &str) -> JobShare {
    JobShare {
        is_search: true,
        id,
        user: user.into(),
        priority: 0,
        open: true,
        running: true,
        may_stop: true,
        room: u32::MAX,
    }
}

fn joiner() -> JoinerShare {
    JoinerShare { threads: 1, only_for: None, avoids: Vec::new(), job: None }
}

fn situation(weights: &[(&str, f64)], jobs: Vec<JobShare>, joiners: usize) -> Situation {
    Situation {
        users: weights.iter().map(|(name, weight)| (name.to_string(), user(*weight))).collect(),
        jobs,
        joiners: vec![joiner(); joiners],
        roots: 100,
        root_threads: 0,
        half_life: 120.0,
    }
}

/// Random numbers below a limit, always the same ones.
fn random() -> impl FnMut(u64) -> u64 {
    let mut state = 12345_u64;
    move |limit| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    }
}

/// Follows plans for some seconds; returns the mean threads of each user and the number of moves.
fn follow(at: &mut Situation, seconds: u32) -> (BTreeMap<String, f64>, u32) {
    let (mut mean, mut moves) = (BTreeMap::new(), 0);
    for _ in 0..seconds {
        let plan = at.plan();
        for (joiner, job) in at.joiners.iter_mut().zip(&plan.joiners) {
            moves += u32::from(joiner.job.is_some() && joiner.job != *job);
            joiner.job = *job;
        }
        let used: BTreeMap<String, u32> =
            at.of_users(&plan.threads).into_iter().map(|(name, n)| (name.into(), n)).collect();
        for (name, user) in &mut at.users {
            let threads = f64::from(used.get(name).copied().unwrap_or(0));
            *mean.entry(name.clone()).or_default() += threads / f64::from(seconds);
            user.usage = decayed(user.usage, threads, 1.0, 120.0);
        }
    }
    (mean, moves)
}

#[test]
fn shares_follow_weights_within_a_point() {
    let weights = [("ann", 1.0), ("bob", 2.0), ("cleo", 4.0)];
    let jobs = vec![job(1, "ann"), job(2, "bob"), job(3, "cleo"), job(4, "cleo")];
    let mut at = situation(&weights, jobs, 16);
    let (mean, moves) = follow(&mut at, 120);
    for (name, weight) in weights {
        let share = mean[name] / 16.0;
        assert!((share - weight / 7.0).abs() < 0.01, "{name}: {share}");
    }
    // A move costs some hundredths of a second of one joiner.
    assert!(moves <= 30, "{moves} moves");
}

#[test]
fn what_one_user_cannot_use_goes_to_others() {
    let weights = [("ann", 1.0), ("bob", 1.0)];
    let jobs = vec![JobShare { room: 2, ..job(1, "ann") }, job(2, "bob")];
    let mut at = situation(&weights, jobs, 8);
    let plan = at.plan();
    assert_eq!((plan.threads[&1], plan.threads[&2]), (2, 6));
    if let Some(bob) = at.users.get_mut("bob") {
        bob.most = 3;
    }
    let plan = at.plan();
    assert_eq!((plan.threads[&1], plan.threads[&2]), (2, 3));
    assert_eq!(plan.joiners.iter().flatten().count(), 5, "the rest waits");
}

#[test]
fn one_who_was_away_comes_first_for_a_while() {
    let weights = [("ann", 1.0), ("bob", 1.0)];
    let mut at = situation(&weights, vec![job(1, "ann")], 8);
    follow(&mut at, 600);
    at.jobs.push(job(2, "bob"));
    let plan = at.plan();
    assert_eq!(plan.threads[&2], 8);
    let more = at.more_in(1).unwrap();
    assert!((10.0..200.0).contains(&more), "{more}");
    follow(&mut at, 600);
    let (mean, _) = follow(&mut at, 120);
    assert!((mean["ann"] - 4.0).abs() < 0.1, "{mean:?}");
}

#[test]
fn priorities_and_age_decide_within_a_user() {
    let urgent = JobShare { priority: 1, room: 3, ..job(3, "ann") };
    let at = situation(&[("ann", 1.0)], vec![job(1, "ann"), job(2, "ann"), urgent], 8);
    let plan = at.plan();
    assert_eq!((plan.threads[&1], plan.threads[&2], plan.threads[&3]), (3, 2, 3));
}

#[test]
fn joiners_bound_to_a_user_serve_no_other() {
    let mut at = situation(&[("ann", 1.0), ("bob", 1.0)], vec![job(1, "ann")], 3);
    at.joiners[1].only_for = Some("bob".into());
    assert_eq!(at.plan().joiners, [Some(1), None, Some(1)]);
    at.jobs.push(job(2, "bob"));
    assert_eq!(at.plan().joiners[1], Some(2));
}

#[test]
fn joiners_do_not_serve_jobs_that_they_avoid() {
    let mut at = situation(&[("ann", 1.0), ("bob", 1.0)], vec![job(1, "ann")], 3);
    (at.joiners[1].avoids, at.joiners[1].job) = (vec![1], Some(1));
    assert_eq!(at.plan().joiners, [Some(1), None, Some(1)]);
    at.jobs.push(job(2, "bob"));
    assert_eq!(at.plan().joiners[1], Some(2));
}

#[test]
fn a_full_house_makes_room_for_a_user_without_a_root() {
    let weights = [("ann", 1.0), ("bob", 1.0)];
    let mut at = situation(&weights, (1..=4).map(|id| job(id, "ann")).collect(), 0);
    (at.roots, at.root_threads) = (4, 1);
    follow(&mut at, 60);
    at.jobs.push(JobShare { running: false, open: false, ..job(5, "bob") });
    assert_eq!(at.plan().roots, [1, 2, 3, 5]);
    for job in &mut at.jobs[..4] {
        job.may_stop = false;
    }
    assert_eq!(at.plan().roots, [1, 2, 3, 4]);
}

/// An hour of jobs of all sizes, from a second on one thread to minutes on all, of users who always have some: in every
/// half-life, each gets the share of the weight.
#[test]
fn shares_follow_weights_over_an_hour_of_mixed_jobs() {
    const HALF_LIFE: usize = 600;
    let weights = [("ann", 1.0), ("bob", 2.0), ("cleo", 4.0)];
    let mut below = random();
    let mut at = situation(&weights, vec![], 16);
    (at.roots, at.root_threads, at.half_life) = (12, 1, HALF_LIFE as f64);
    let (mut id, mut worst, mut ended) = (0, 0.0_f64, 0);
    let mut left: BTreeMap<u64, f64> = BTreeMap::new();
    let mut used: Vec<BTreeMap<String, f64>> = Vec::new();
    for _ in 0..3600 {
        for (user, _) in weights {
            while at.jobs.iter().filter(|job| job.user == user).count() < 4 {
                id += 1;
                let (running, open) = (false, false);
                let (room, priority) = (4 + below(13) as u32, below(3) as i32);
                at.jobs.push(JobShare { room, priority, running, open, ..job(id, user) });
                left.insert(id, 10_f64.powf(below(32) as f64 / 10.0));
            }
        }
        let plan = at.plan();
        for (joiner, job) in at.joiners.iter_mut().zip(&plan.joiners) {
            joiner.job = *job;
        }
        let mut second = BTreeMap::new();
        for job in &mut at.jobs {
            let threads = f64::from(plan.threads.get(&job.id).copied().unwrap_or(0));
            *second.entry(job.user.clone()).or_default() += threads;
            *left.get_mut(&job.id).unwrap() -= threads;
            job.running = plan.roots.contains(&job.id);
            job.open = job.running;
        }
        for (name, user) in &mut at.users {
            user.usage = decayed(user.usage, second[name], 1.0, at.half_life);
        }
        at.jobs.retain(|job| left[&job.id] > 0.0);
        used.push(second);
        let Some(window) = used.len().checked_sub(HALF_LIFE).map(|from| &used[from..]) else {
            continue;
        };
        let of = |name: &str| window.iter().map(|second| second[name]).sum::<f64>();
        let all: f64 = weights.iter().map(|(name, _)| of(name)).sum();
        for (name, weight) in weights {
            worst = worst.max((of(name) / all - weight / 7.0).abs());
        }
        ended = left.len() - at.jobs.len();
    }
    println!("{ended} jobs, at most {:.2} points from the weights", worst * 100.0);
    assert!(worst < 0.03, "{worst}");
    assert!(ended > 100, "{ended}");
}

/// An hour of jobs that come and go, of random users, on joiners that come and go.
#[test]
fn plans_are_valid_whatever_happens() {
    let mut below = random();
    let names = ["ann", "bob", "cleo"];
    let mut at = situation(&[("ann", 1.0), ("bob", 2.0), ("cleo", 4.0)], vec![], 16);
    (at.roots, at.root_threads) = (6, 1);
    for id in 0..3600 {
        if below(4) == 0 {
            let room = 1 + below(20) as u32;
            let (running, open) = (false, false);
            at.jobs.push(JobShare { room, running, open, ..job(id, names[below(3) as usize]) });
        }
        if below(4) == 0 && !at.jobs.is_empty() {
            at.jobs.remove(below(at.jobs.len() as u64) as usize);
        }
        if below(20) == 0 {
            at.joiners.push(JoinerShare { threads: 1 + below(4) as u32, ..joiner() });
            at.joiners.remove(0);
        }
        let plan = at.plan();
        assert!(plan.roots.len() <= 6 && plan.joiners.len() == at.joiners.len());
        let mut threads: BTreeMap<u64, u32> = plan.roots.iter().map(|&id| (id, 1)).collect();
        for (joiner, job) in at.joiners.iter().zip(&plan.joiners) {
            let Some(id) = job else { continue };
            let job = at.jobs.iter().find(|job| job.id == *id).unwrap();
            assert!(job.open && plan.roots.contains(id));
            *threads.get_mut(id).unwrap() += joiner.threads;
            assert!(threads[id] < job.room + joiner.threads);
        }
        assert_eq!(threads, plan.threads);
        follow(&mut at, 1);
        for job in &mut at.jobs {
            job.running = plan.roots.contains(&job.id);
            job.open = job.running;
        }
    }
}
