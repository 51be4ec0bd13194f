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
/// A user's present joiners count for this part of a thread more to that user, so that joiners do not move back and
/// forth.
const STAY: f64 = 0.25;

/// A user.
#[derive(Clone, Debug)]
pub struct UserShare {
    /// The share of the machines, relative to the weights of others.
    pub weight: f64,
    /// Thread-seconds used, decayed.
    pub usage: f64,
    /// The maximum number of threads at once.
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
    /// Whether its root can be stopped without losing its work.
    pub is_search: bool,
    /// Whether its root has run long enough to be stopped for others.
    pub may_stop: bool,
    /// The maximum number of threads that it can use.
    pub room: u32,
}

/// A joiner.
#[derive(Clone, Debug)]
pub struct JoinerShare {
    /// Its threads.
    pub threads: u32,
    /// The only user for whom it works.
    pub only_for: Option<String>,
    /// The jobs that it does not serve.
    pub avoids: Vec<u64>,
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
    /// The maximum number of roots at once.
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
            let JoinerShare { threads, only_for, avoids, .. } = joiner;
            let kind = (only_for.is_none(), u32::MAX - threads, only_for, avoids);
            kinds.entry(kind).or_default().push(at);
        }
        for same in kinds.values() {
            let one = &self.joiners[same[0]];
            let mut given: BTreeMap<u64, usize> = BTreeMap::new();
            for _ in same {
                let Some(id) = self.neediest(&threads, &now, one) else { break };
                *given.entry(id).or_default() += 1;
                *threads.entry(id).or_default() += one.threads;
            }
            place(&self.joiners, same, given, &mut joiners);
        }
        Plan { roots, joiners, threads }
    }

    /// The jobs that should have a root: one at a time to the user with the least use.
    fn choose_roots(&self) -> Vec<u64> {
        // A root that has only just started stays.
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

    /// The job that should have the next joiner, which is like this one.
    fn neediest(
        &self,
        threads: &BTreeMap<u64, u32>,
        now: &BTreeMap<&str, u32>,
        joiner: &JoinerShare,
    ) -> Option<u64> {
        let used = self.of_users(threads);
        let has = |job: &JobShare| threads.get(&job.id).copied().unwrap_or(0);
        let able = self.jobs.iter().filter(|job| {
            job.open
                && threads.contains_key(&job.id)
                && joiner.only_for.as_ref().is_none_or(|user| *user == job.user)
                && !joiner.avoids.contains(&job.id)
                && has(job) < job.room
                && self.has_room(&job.user, &used, joiner.threads)
        });
        able.map(|job| {
            let claim = self.claim(&job.user, &used, now, joiner.threads);
            (claim, (std::cmp::Reverse(job.priority), has(job), job.id))
        })
        .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
        .map(|(_, (_, _, id))| id)
    }

    /// How much a user will have used, relative to the weight, if given this many more threads. The user with the least
    /// claim comes first.
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
                job.may_stop = job.is_search;
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
#[path = "share_tests.rs"]
mod tests;
