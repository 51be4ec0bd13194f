//! The campaign for the asymmetric travelling salesman problem: the shortest tour, with proof.

use super::started::{Ready, StartedSearch};
use super::{Best, Error, Inspection, Search};
use crate::report::{Report, Status};
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::Nodes;
use pleach_problems::atsp::Atsp;
pub use pleach_problems::atsp::bound::Bound;
pub use pleach_problems::atsp::instance::Instance;
use pleach_problems::atsp::instance::solution;
use pleach_problems::atsp::instance::solution_of;
pub use pleach_problems::atsp::named::{named, optimum};
pub use pleach_problems::atsp::read::read;
use pleach_runtime::{RunError, Settings};
use serde_json::json;
use std::time::Instant;

/// How to solve an instance.
#[derive(Default)]
pub struct Options<'a> {
    /// The value that the search starts from.
    pub best: Best,
    /// A tour to start from: cities in order, numbered from 0.
    pub start: Option<Vec<u16>>,
    /// The bound of nodes; chosen automatically if not given.
    pub bound: Option<Bound>,
    /// Workers, limits, checkpoint, progress.
    pub search: Search<'a>,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Answer {
    /// How it ended.
    pub status: Status,
    /// The best tour found: cities in order, numbered from 0.
    pub tour: Option<Vec<u16>>,
    /// Its length.
    pub length: Option<i64>,
    /// The proven lower bound on all lengths.
    pub bound: Option<i64>,
    /// The distance between length and bound, relative to the length.
    pub gap: Option<f64>,
    /// Nodes of the search.
    pub nodes: Counts,
    /// The bound that was used.
    pub chosen: Bound,
    /// Everything else.
    pub report: Report,
}

/// What a shop adds to the search for the tour that stands for its schedule.
pub(super) struct ShopStart<'o> {
    /// When the search began, before the delays between jobs were computed.
    pub began: Instant,
    /// Builds the tour of [`Best::Neh`], and ends soon once the function returns false.
    pub neh: &'o dyn Fn(&dyn Fn() -> bool) -> Vec<u16>,
}

/// Solves an instance.
///
/// ```
/// use pleach::atsp::{Instance, Options, solve};
///
/// let instance = Instance::new(3, vec![0, 1, 9, 9, 0, 1, 1, 9, 0])?;
/// let answer = solve(&instance, Options::default())?;
/// assert_eq!((answer.length, answer.tour), (Some(3), Some(vec![0, 1, 2])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If options contradict each other, the machine fails, or the checkpoint does not match.
pub fn solve(instance: &Instance, options: Options<'_>) -> Result<Answer, Error> {
    solve_from(instance, options, None)
}

/// The same for an instance that may come from a shop.
pub(super) fn solve_from(
    instance: &Instance,
    mut options: Options<'_>,
    shop: Option<&ShopStart<'_>>,
) -> Result<Answer, Error> {
    let (mut begun, atsp, mut ready) = prepare(instance, &mut options, shop, false)?;
    let report = begun.run(&atsp, &mut ready)?;
    let solution = report.solution.as_ref();
    let order = solution.map(|solution| instance.order(solution)).transpose();
    Ok(Answer {
        status: report.status,
        tour: order.map_err(Error::Input)?,
        length: report.objective,
        bound: report.lower_bound,
        gap: report.gap(),
        nodes: report.outcome.counts.clone(),
        chosen: atsp.bound(),
        report,
    })
}

/// Reads the checkpoint of a search.
pub(crate) fn inspect(instance: &Instance, options: Options<'_>) -> Result<Inspection, Error> {
    inspect_from(instance, options, None)
}

/// The same for an instance that may come from a shop.
pub(super) fn inspect_from(
    instance: &Instance,
    mut options: Options<'_>,
    shop: Option<&ShopStart<'_>>,
) -> Result<Inspection, Error> {
    let (mut begun, atsp, _) = prepare(instance, &mut options, shop, true)?;
    begun.inspect(&atsp)
}

fn prepare<'s, 'a>(
    instance: &Instance,
    options: &'s mut Options<'a>,
    shop: Option<&ShopStart<'_>>,
    looking: bool,
) -> Result<(StartedSearch<'s, 'a>, Atsp, Ready), Error> {
    let Options { best, start, bound, search } = options;
    // Any start value fits a shop.
    let named = if shop.is_some() { Best::None } else { *best };
    fits(named, bound.unwrap_or(Bound::Auto), search.nodes).map_err(Error::Input)?;
    if let Some(start) = start.as_deref() {
        instance.order(&solution_of(start)).map_err(RunError::Start)?;
    }
    let asked = json!({
        "best": best.to_string(),
        "start": start.as_deref().map(solution_of),
        "bound": bound.map(|bound| bound.to_string()),
        "nodes": search.nodes.to_string(),
    });
    let how = (search.nodes, search.simd);
    let mut begun = StartedSearch::new(search, asked, looking)?;
    if let Some(shop) = shop {
        begun.count_from(shop.began);
    }
    let saved = begun.saved.state["bound"].as_str().and_then(|word| Bound::parse(word).ok());
    let bound = saved.or(*bound).unwrap_or(Bound::Auto);
    // The checkpoint has the starting solution.
    let is_new = begun.resumed().is_none();
    let mut given = start.take().filter(|_| is_new);
    if is_new && (matches!(*best, Best::Neh | Best::Search) || given.is_some()) {
        begun.begins();
    }
    if let Some(shop) = shop.filter(|_| is_new && *best == Best::Neh) {
        given = Some((shop.neh)(&|| begun.has_time()));
    }
    let started = (given.as_deref(), begun.seed());
    let atsp = Atsp::unless_stopped(
        instance.clone(),
        bound,
        how,
        started,
        (&|| begun.is_wanted(), &|| begun.has_time()),
    );
    let atsp = atsp.map_err(Error::Input)?;
    if begun.is_wanted() {
        // The tree is complete.
        begun.keep_preparation();
    }
    let ready = ready(&begun, &atsp, *best, given);
    Ok((begun, atsp, ready))
}

/// Refuses options that contradict each other.
pub(crate) fn fits(best: Best, bound: Bound, nodes: Nodes) -> Result<(), String> {
    best.without_neh()?;
    if nodes == Nodes::Interval && bound != Bound::Partial {
        return Err("--nodes interval works only with --bound partial".into());
    }
    Ok(())
}

/// The search with its value to beat and its first tour.
fn ready(begun: &StartedSearch<'_, '_>, atsp: &Atsp, best: Best, given: Option<Vec<u16>>) -> Ready {
    let start = match best {
        _ if begun.resumed().is_some() => None,
        Best::Search => Some(atsp.start().to_vec()),
        Best::Reach(value) => atsp.reach(value, &begun.reaching(), begun.seed()).or(given),
        _ => given,
    };
    let to_beat = match best {
        Best::Value(value) | Best::Reach(value) => Some(value),
        _ => None,
    };
    let settings = Settings {
        best: to_beat,
        start: start.map(|order| solution(atsp.instance(), &order)),
        improve: best == Best::Search,
        resume: begun.resumed().cloned(),
        ..begun.settings().clone()
    };
    let state = json!({ "bound": atsp.bound().to_string(), "least": atsp.least_score() });
    Ready { settings, state }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// The time in which a shop becomes a tour used not to count.
    #[test]
    fn the_time_of_a_shop_counts_from_its_beginning() {
        let instance = Instance::new(3, vec![0, 1, 9, 9, 0, 1, 1, 9, 0]).unwrap();
        let began = Instant::now().checked_sub(Duration::from_secs(2)).unwrap();
        let shop = ShopStart { began, neh: &|_| vec![0, 1, 2] };
        let mut search = Search::default();
        search.settings.time_limit = Some(Duration::from_secs(1));
        let options = Options { best: Best::Neh, search, ..Options::default() };
        let answer = solve_from(&instance, options, Some(&shop)).unwrap();
        assert!(answer.report.outcome.seconds >= 2.0);
        assert_eq!(answer.tour, Some(vec![0, 1, 2]));
    }
}
