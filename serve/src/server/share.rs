//! Fair shares: which jobs have a root, and which job each joiner serves. Pure: numbers in, a plan out.
//!
//! Threads are given one joiner at a time, each to the user with the least use compared with the weight: the
//! thread-seconds of the past, of which half is forgotten in every half-life, and what the threads that the plan has
//! given so far will use in an eighth of a half-life. So shares of users who can use them converge to the weights, and a
//! user who was away comes first for a while. Within a user, the highest priority comes first, then the job with the fewest
//! threads, then the oldest.

use std::collections::BTreeMap;

/// Shares are balanced over this part of the mean life of usage.
const HORIZON: f64 = 1.0 / 8.0;
/// What a user has is worth this part of a thread less to others, so that joiners do not move to and fro.
const STAY: f64 = 0.25;

/// A user.
#[derive(Clone, Debug)]
pub struct UserShare {
    /// The part of the machines, compared with those of others.
    pub weight: f64,
    /// Thread-seconds used, decayed.
    pub usage: f64,
    /// The most threads at once.
    pub most: u32,
}

/// A job that could run.
#[derive(Clone, Debug)]
pub struct JobShare {
    /// Its number; older jobs have smaller ones.
    pub id: u64,
    /// Its owner.
    pub user: String,
    /// Among the owner's jobs, the highest comes first.
    pub priority: i32,
    /// Whether its root is running and joiners can reach it.
    pub open: bool,
    /// Whether its root is running.
    pub running: bool,
    /// Whether its root has run long enough to be stopped for others.
    pub may_stop: bool,
    /// The most threads that it can use.
    pub room: u32,
}

/// A joiner.
#[derive(Clone, Debug)]
pub struct JoinerShare {
    /// Its threads.
    pub threads: u32,
    /// The only user for whom it works.
    pub only_for: Option<String>,
    /// The job that it serves.
    pub job: Option<u64>,
}

/// All that a plan depends on.
#[derive(Clone, Debug, Default)]
pub struct Situation {
    /// The users, by name.
    pub users: BTreeMap<String, UserShare>,
    /// The jobs that could run, by number.
    pub jobs: Vec<JobShare>,
    /// The joiners.
    pub joiners: Vec<JoinerShare>,
    /// The most roots at once.
    pub roots: usize,
    /// The threads of each root.
    pub root_threads: u32,
    /// The half-life of usage, in seconds.
    pub half_life: f64,
}

/// Who gets what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The jobs that should have a root.
    pub roots: Vec<u64>,
    /// The job of each joiner.
    pub joiners: Vec<Option<u64>>,
    /// The threads of each job, its root included.
    pub threads: BTreeMap<u64, u32>,
}

impl Situation {
    /// The mean time for which a used thread-second counts.
    #[must_use]
    pub fn mean_life(&self) -> f64 {
        self.half_life / std::f64::consts::LN_2
    }

    /// A plan for this situation.
    #[must_use]
    pub fn plan(&self) -> Plan {
        let roots = self.choose_roots();
        let mut threads: BTreeMap<u64, u32> =
            roots.iter().map(|&id| (id, self.root_threads)).collect();
        let now = self.threads_now();
        let mut joiners = vec![None; self.joiners.len()];
        // Those that are bound to a user first, then large ones first, since they are the hardest to place.
        let mut kinds: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (at, joiner) in self.joiners.iter().enumerate() {
            let kind = (joiner.only_for.is_none(), u32::MAX - joiner.threads, &joiner.only_for);
            kinds.entry(kind).or_default().push(at);
        }
        for same in kinds.values() {
            let JoinerShare { threads: size, only_for, .. } = &self.joiners[same[0]];
            let mut given: BTreeMap<u64, usize> = BTreeMap::new();
            for _ in same {
                let Some(id) = self.neediest(&threads, &now, *size, only_for.as_deref()) else {
                    break;
                };
                *given.entry(id).or_default() += 1;
                *threads.entry(id).or_default() += size;
            }
            place(&self.joiners, same, given, &mut joiners);
        }
        Plan { roots, joiners, threads }
    }

    /// The jobs that should have a root: one at a time to the user with the least use.
    fn choose_roots(&self) -> Vec<u64> {
        // A root that started a moment ago stays.
        let mut roots: Vec<u64> =
            self.jobs.iter().filter(|job| job.running && !job.may_stop).map(|job| job.id).collect();
        let mut threads: BTreeMap<u64, u32> =
            roots.iter().map(|&id| (id, self.root_threads)).collect();
        let now: BTreeMap<&str, u32> = self.of_users(
            &self
                .jobs
                .iter()
                .filter(|job| job.running)
                .map(|job| (job.id, self.root_threads))
                .collect(),
        );
        while roots.len() < self.roots {
            let used = self.of_users(&threads);
            let open = self.jobs.iter().filter(|job| !threads.contains_key(&job.id));
            let best = open
                .filter(|job| self.has_room(&job.user, &used, self.root_threads))
                .map(|job| {
                    let claim = self.claim(&job.user, &used, &now, self.root_threads);
                    (claim, (std::cmp::Reverse(job.priority), !job.running, job.id))
                })
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let Some((_, (_, _, id))) = best else { break };
            threads.insert(id, self.root_threads);
            roots.push(id);
        }
        roots.sort_unstable();
        roots
    }

    /// The job that should have the next joiner of this size.
    fn neediest(
        &self,
        threads: &BTreeMap<u64, u32>,
        now: &BTreeMap<&str, u32>,
        size: u32,
        only_for: Option<&str>,
    ) -> Option<u64> {
        let used = self.of_users(threads);
        let has = |job: &JobShare| threads.get(&job.id).copied().unwrap_or(0);
        let able = self.jobs.iter().filter(|job| {
            job.open
                && threads.contains_key(&job.id)
                && only_for.is_none_or(|user| user == job.user)
                && has(job) < job.room
                && self.has_room(&job.user, &used, size)
        });
        able.map(|job| {
            let claim = self.claim(&job.user, &used, now, size);
            (claim, (std::cmp::Reverse(job.priority), has(job), job.id))
        })
        .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
        .map(|(_, (_, _, id))| id)
    }

    /// How much a user will have used, compared with the weight, if given this number of threads more. The user with
    /// the least claim comes first.
    fn claim(
        &self,
        user: &str,
        used: &BTreeMap<&str, u32>,
        now: &BTreeMap<&str, u32>,
        more: u32,
    ) -> f64 {
        let Some(share) = self.users.get(user) else { return f64::INFINITY };
        let horizon = self.mean_life() * HORIZON;
        let has = used.get(user).copied().unwrap_or(0);
        let stays = now.get(user).is_some_and(|&now| now >= has + more);
        let threads = f64::from(has) + f64::from(more) * if stays { 0.5 - STAY } else { 0.5 };
        (share.usage + threads * horizon) / share.weight.max(1e-9)
    }

    fn has_room(&self, user: &str, used: &BTreeMap<&str, u32>, more: u32) -> bool {
        let most = self.users.get(user).map_or(0, |user| user.most);
        used.get(user).copied().unwrap_or(0) + more <= most
    }

    /// The threads of each user.
    fn of_users(&self, threads: &BTreeMap<u64, u32>) -> BTreeMap<&str, u32> {
        let mut all = BTreeMap::new();
        for job in &self.jobs {
            if let Some(threads) = threads.get(&job.id) {
                *all.entry(job.user.as_str()).or_default() += threads;
            }
        }
        all
    }

    /// The threads that each user has at present.
    fn threads_now(&self) -> BTreeMap<&str, u32> {
        let roots = self.jobs.iter().filter(|job| job.running);
        let mut threads: BTreeMap<u64, u32> =
            roots.map(|job| (job.id, self.root_threads)).collect();
        for joiner in &self.joiners {
            if let Some(job) = joiner.job {
                *threads.entry(job).or_default() += joiner.threads;
            }
        }
        self.of_users(&threads)
    }

    /// In how many seconds this job would have more threads if nothing but usage changed, looking ahead for four
    /// half-lives.
    #[must_use]
    pub fn more_in(&self, id: u64) -> Option<f64> {
        let mut ahead = self.clone();
        let mut plan = ahead.plan();
        let has = plan.threads.get(&id).copied().unwrap_or(0);
        let step = self.half_life / 16.0;
        for n in 1..=64 {
            let used: BTreeMap<String, u32> = ahead
                .of_users(&plan.threads)
                .into_iter()
                .map(|(name, n)| (name.into(), n))
                .collect();
            for (name, user) in &mut ahead.users {
                let threads = f64::from(used.get(name).copied().unwrap_or(0));
                user.usage = decayed(user.usage, threads, step, self.half_life);
            }
            for (joiner, job) in ahead.joiners.iter_mut().zip(&plan.joiners) {
                joiner.job = *job;
            }
            for job in &mut ahead.jobs {
                job.running = plan.roots.contains(&job.id);
                job.may_stop = true;
                job.open = job.running;
            }
            plan = ahead.plan();
            if plan.threads.get(&id).copied().unwrap_or(0) > has {
                return Some(f64::from(n) * step);
            }
        }
        None
    }
}

/// Places joiners of one kind: those that already serve a job that gets some stay there.
fn place(
    all: &[JoinerShare],
    same: &[usize],
    mut given: BTreeMap<u64, usize>,
    out: &mut [Option<u64>],
) {
    for &at in same {
        if let Some(job) = all[at].job
            && let Some(left) = given.get_mut(&job).filter(|left| **left > 0)
        {
            *left -= 1;
            out[at] = Some(job);
        }
    }
    let mut rest = given.into_iter().flat_map(|(job, left)| std::iter::repeat_n(job, left));
    for &at in same {
        if out[at].is_none() {
            out[at] = rest.next();
        }
    }
}

/// Usage after some seconds with this number of threads.
#[must_use]
pub fn decayed(usage: f64, threads: f64, seconds: f64, half_life: f64) -> f64 {
    let kept = (-seconds / half_life).exp2();
    let life = half_life / std::f64::consts::LN_2;
    usage * kept + threads * life * (1.0 - kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(weight: f64) -> UserShare {
        UserShare { weight, usage: 0.0, most: u32::MAX }
    }

    fn job(id: u64, user: &str) -> JobShare {
        JobShare {
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
        JoinerShare { threads: 1, only_for: None, job: None }
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
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
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
}
