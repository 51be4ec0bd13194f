//! Certificates of proofs: [`certify`] makes one by a second search, [`audit`] explores parts of it again.

use crate::decimal::written;
use crate::parallel::in_parallel;
use crate::report::{Report, Status, counted};
use oorandom::Rand64;
use pleach_core::search::problem::{Plain, Problem};
use pleach_core::search::region::{NodeKey, Region, Walk, WholeNodes};
use pleach_core::search::seed::Top;
use pleach_core::search::tree::{Counts, Goal, Tree};
use pleach_core::steal::Policy;
use pleach_core::wire::certificate::Certificate;
use pleach_core::wire::checkpoint::Checkpoint;
use pleach_runtime::start::new_fingerprint;
use pleach_runtime::{ProgressSnapshot, Recorded, RunError, Settings, cores};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// A certificate has about this number of regions, unless they would be smaller or larger than these.
const REGIONS: u64 = 500;
const SMALLEST: u64 = 1_000;
const LARGEST: u64 = 50_000_000;

/// Searches again for solutions that beat the result of a search, and records what was explored; `None` if there is
/// nothing to prove, or the second search was stopped.
///
/// # Errors
/// If the machine fails, or the second search contradicts the first one.
pub(crate) fn certify(
    problem: &dyn Problem,
    settings: &Settings,
    report: &Report,
    watch: &mut dyn FnMut(&ProgressSnapshot) -> ControlFlow<()>,
) -> Result<Option<Box<Certificate>>, RunError> {
    let goal = problem.goal();
    let best = match report.status {
        Status::Optimal => report.objective,
        Status::NoBetter => report.lower_bound,
        Status::Infeasible | Status::Counted => None,
        Status::Found | Status::Stopped => return Ok(None),
    };
    let size = (report.outcome.counts.bounded / REGIONS).clamp(SMALLEST, LARGEST);
    let recorded = Recorded::new(problem, size);
    let settings = Settings {
        best,
        start: None,
        improve: false,
        best_first: false,
        devices: None,
        threads: settings.threads.max(1),
        save: None,
        resume: None,
        processes: None,
        time_limit: None,
        node_limit: None,
        // Others may explore nodes twice, or explore the top of the tree without an explorer.
        policy: Policy::default(),
        trace: false,
        ..settings.clone()
    };
    let outcome = pleach_runtime::run(&recorded, &settings, watch)?;
    if outcome.stop.is_some() {
        return Ok(None);
    }
    if let Some(better) = outcome.solution {
        let value = written(goal.value(better.score), problem.decimals());
        return Err(RunError::Solution(format!(
            "the second search found a solution of value {value}, which the first search had missed"
        )));
    }
    let same = goal != Goal::Count || outcome.counts.total == report.count;
    if !same {
        return Err(RunError::Solution(format!(
            "the second search counted {} instead of {}",
            outcome.counts.total, report.count
        )));
    }
    if goal == Goal::Count && outcome.counts.tally != report.outcome.counts.tally {
        let why = "the second search has other counters than the first one";
        return Err(RunError::Solution(why.into()));
    }
    let solution = report.outcome.solution.clone().filter(|_| report.status == Status::Optimal);
    let search = Checkpoint {
        fingerprint: new_fingerprint(problem),
        about: settings.about,
        elapsed_ns: (outcome.seconds * 1e9) as u64,
        counts: outcome.counts,
        best: best.map_or(i64::MAX, |value| goal.score(value)),
        solution,
        ..Checkpoint::default()
    };
    Ok(Some(Box::new(Certificate { search, regions: recorded.into_regions() })))
}

/// The regions that an audit explores again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// All of them.
    All,
    /// This many, chosen at random by this seed.
    Random(usize, u64),
}

/// The result of an audit that found nothing wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audit {
    /// The number of regions.
    pub regions: usize,
    /// Of those, how many were explored again.
    pub explored: usize,
    /// The counts of all regions.
    pub counts: Counts,
    /// The value of the solution that comes with the proof, if the problem can check it.
    pub objective: Option<i64>,
    /// The value that no solution beats.
    pub bound: Option<i64>,
}

/// Why a certificate proves nothing, or was not audited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoProof {
    /// Its contents contradict the problem or each other.
    #[error("it is not a proof: {0}")]
    Wrong(String),
    /// The audit was stopped.
    #[error("stopped")]
    Stopped,
}

fn wrong<T>(why: impl Into<String>) -> Result<T, NoProof> {
    Err(NoProof::Wrong(why.into()))
}

/// Checks a certificate of a tree on all cores: its solution, that its regions fit together and make up the whole tree,
/// and some regions by exploring them again.
///
/// # Errors
/// If it is not a proof.
pub fn audit_tree<T: Tree>(
    tree: T,
    certificate: &Certificate,
    sample: Sample,
) -> Result<Audit, NoProof> {
    audit(&Plain(tree), certificate, sample, cores(), &|| true)
}

/// Checks a certificate of a problem: its solution, that its regions fit together and make up the whole tree, and some
/// regions by exploring them again, with the tree's own code. `keep_going` is called often, on all threads.
///
/// # Errors
/// If the certificate is not a proof, or the audit was stopped.
pub(crate) fn audit(
    problem: &dyn Problem,
    certificate: &Certificate,
    sample: Sample,
    threads: u32,
    keep_going: &(dyn Fn() -> bool + Sync),
) -> Result<Audit, NoProof> {
    let Certificate { search, regions } = certificate;
    let goal = problem.goal();
    let shown = |value: i64| written(value, problem.decimals());
    let Some(top) = problem.top() else { return wrong("this problem has no certificates") };
    if !problem.has_fingerprint(search.fingerprint) {
        return wrong("it was made for another tree");
    }
    let mut objective = None;
    if let Some(solution) = &search.solution {
        let claimed = goal.value(solution.score);
        match problem.check(&solution.solution) {
            Some(Err(why)) => return wrong(format!("its solution is invalid: {why}")),
            Some(Ok(value)) if value != claimed => {
                let [value, claimed] = [value, claimed].map(shown);
                return wrong(format!("its solution has the value {value}, not {claimed}"));
            }
            Some(Ok(_)) => objective = Some(claimed),
            None => {}
        }
        if solution.score != search.best {
            return wrong(format!(
                "its solution has the value {}, but it proves the value {}",
                shown(claimed),
                shown(goal.value(search.best))
            ));
        }
    }
    let optimises = matches!(goal, Goal::Minimise | Goal::Maximise);
    if !optimises && (search.best != i64::MAX || search.solution.is_some()) {
        return wrong("its problem has no best value, but it states one");
    }
    if search.best == i64::MIN {
        return wrong("its value is the best that there can be, so it rules nothing out");
    }
    fits(problem, top, certificate)?;
    let mut counts = Counts::default();
    for region in regions {
        let Some(sum) = counts.plus(&region.counts) else { return wrong("its counts overflow") };
        counts = sum;
    }
    if let Some(other) = difference(&counts, &search.counts) {
        return wrong(format!("its regions have {other}"));
    }
    let chosen = choose(regions.len(), sample);
    in_parallel(&chosen, threads as usize, |&nth, nothing_failed| {
        explore_one(top, &regions[nth], nth, search.best, &|| nothing_failed() && keep_going())
    })?;
    let known = search.best != i64::MAX;
    Ok(Audit {
        regions: regions.len(),
        explored: chosen.len(),
        counts,
        objective,
        bound: known.then(|| goal.value(search.best)),
    })
}

/// Checks that regions begin at the root and where others end, exactly as often, and that rests of nodes count the same
/// where regions begin as where they end.
fn fits(problem: &dyn Problem, top: &dyn Top, certificate: &Certificate) -> Result<(), NoProof> {
    let Certificate { search, regions } = certificate;
    let mut left: HashMap<NodeKey, i64> = HashMap::new();
    let (mut at_ends, mut at_begins) = (Counts::default(), Counts::default());
    let mut add = |work: &[u8], times: i64, sum: &mut Counts| -> Result<(), NoProof> {
        let nodes = top.whole_nodes(work, search.best);
        let nodes = nodes.or_else(|why| wrong(format!("a region cannot be read: {why}")))?;
        let WholeNodes { keys, rests } = nodes;
        keys.into_iter().for_each(|key| *left.entry(key).or_default() += times);
        let Some(more) = sum.plus(&rests) else { return wrong("its counts overflow") };
        *sum = more;
        Ok(())
    };
    add(&problem.root().bytes, 1, &mut at_ends)?;
    for region in regions {
        region.ends.iter().try_for_each(|work| add(work, 1, &mut at_ends))?;
        region.begins.iter().try_for_each(|work| add(work, -1, &mut at_begins))?;
    }
    at_begins.depth = at_ends.depth;
    let missing: i64 = left.values().filter(|&&times| times > 0).sum();
    let twice: i64 = left.values().filter(|&&times| times < 0).map(|times| -times).sum();
    match (missing, twice) {
        (0, 0) if at_begins == at_ends => Ok(()),
        (0, 0) => {
            wrong("partly explored nodes count differently where regions begin and where they end")
        }
        (0, _) => {
            wrong(format!("regions begin at {} at which no region ends", counted(twice, "node")))
        }
        _ => wrong(format!("no region begins at {} at which others end", counted(missing, "node"))),
    }
}

/// The numbers of the regions to explore again.
fn choose(regions: usize, sample: Sample) -> Vec<usize> {
    let mut all: Vec<usize> = (0..regions).collect();
    if let Sample::Random(size, seed) = sample {
        let mut rng = Rand64::new(seed.into());
        for i in 0..size.min(regions) {
            all.swap(i, rng.rand_range(i as u64..regions as u64) as usize);
        }
        all.truncate(size);
    }
    all
}

/// Explores a region again and compares it with what the certificate says.
fn explore_one(
    top: &dyn Top,
    region: &Region,
    nth: usize,
    best: i64,
    may_continue: &dyn Fn() -> bool,
) -> Result<(), NoProof> {
    let said = |why: String| wrong(format!("region {}: {why}", nth + 1));
    let walk = top.walk(region, best, may_continue);
    let walk = walk.or_else(|why| wrong(format!("region {}: {why}", nth + 1)))?;
    let Some(walk) = walk else {
        return Err(NoProof::Stopped);
    };
    let Walk { counts, unreached, found, fault } = walk;
    if let Some(fault) = fault {
        return said(fault.to_string());
    }
    if found.is_some() {
        return said("there is a better solution".into());
    }
    if unreached > 0 {
        return said(format!(
            "{unreached} of the nodes where it ends are not below those where it begins"
        ));
    }
    difference(&counts, &region.counts).map_or(Ok(()), |other| said(format!("it has {other}")))
}

/// How counts differ from those that a certificate states, if they do. Depths may differ.
fn difference(now: &Counts, then: &Counts) -> Option<String> {
    let nodes = |now: u64, then: u64, what: &str| {
        (now != then).then(|| format!("{now} {what}, not {then}"))
    };
    let counted = || {
        (now.total != then.total).then(|| format!("a count of {}, not {}", now.total, then.total))
    };
    let tally = || {
        (now.tally != then.tally)
            .then(|| format!("the counters {:?}, not {:?}", now.tally, then.tally))
    };
    nodes(now.bounded, then.bounded, "nodes")
        .or_else(|| nodes(now.branched, then.branched, "branched nodes"))
        .or_else(counted)
        .or_else(tally)
}
