//! The campaign for the quadratic assignment: the cheapest assignment of facilities to locations, with proof.

pub use super::Options;
use super::started::{Ready, StartedSearch};
use super::{Best, Error, Inspection};
use crate::report::{Report, Status};
use pleach_core::search::problem::Plain;
use pleach_core::search::tree::Counts;
pub use pleach_problems::qap::instance::Instance;
use pleach_problems::qap::instance::{solution, solution_of};
use pleach_problems::qap::local::{improve, reach};
pub use pleach_problems::qap::named::{named, optimum};
pub use pleach_problems::qap::read::read;
use pleach_problems::qap::tree::Qap;
use pleach_runtime::{RunError, Settings};
use serde_json::json;

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Answer {
    /// How it ended.
    pub status: Status,
    /// The location of each facility, counted from 0.
    pub places: Option<Vec<u16>>,
    /// The cost of this assignment.
    pub cost: Option<i64>,
    /// The proven lower bound on all costs.
    pub bound: Option<i64>,
    /// The distance between cost and bound, relative to the cost.
    pub gap: Option<f64>,
    /// Nodes of the search.
    pub nodes: Counts,
    /// Everything else.
    pub report: Report,
}

/// Solves an instance.
///
/// ```
/// use pleach::qap::{Instance, Options, solve};
///
/// let (flows, distances) = ([0, 5, 1, 5, 0, 0, 1, 0, 0], [0, 1, 2, 1, 0, 3, 2, 3, 0]);
/// let instance = Instance::new((3, &flows), (3, &distances))?;
/// let answer = solve(&instance, Options::default())?;
/// assert_eq!((answer.cost, answer.places), (Some(14), Some(vec![0, 1, 2])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If options contradict each other, the machine fails, or the checkpoint does not match.
pub fn solve(instance: &Instance, mut options: Options<'_>) -> Result<Answer, Error> {
    let (mut begun, tree, mut ready) = prepare(instance, &mut options, false)?;
    let report = begun.run(&tree, &mut ready)?;
    let places = report.solution.as_ref().map(|solution| instance.places(solution)).transpose();
    Ok(Answer {
        status: report.status,
        places: places.map_err(Error::Input)?,
        cost: report.objective,
        bound: report.lower_bound,
        gap: report.gap(),
        nodes: report.outcome.counts.clone(),
        report,
    })
}

/// Reads the checkpoint of a search.
pub(crate) fn inspect(instance: &Instance, mut options: Options<'_>) -> Result<Inspection, Error> {
    let (mut begun, tree, _) = prepare(instance, &mut options, true)?;
    begun.inspect(&tree)
}

fn prepare<'s, 'a>(
    instance: &Instance,
    options: &'s mut Options<'a>,
    looking: bool,
) -> Result<(StartedSearch<'s, 'a>, Plain<Qap>, Ready), Error> {
    let Options { best, start, search } = options;
    best.without_neh().map_err(Error::Input)?;
    if let Some(start) = start.as_deref() {
        instance.places(&solution_of(start)).map_err(RunError::Start)?;
    }
    let asked = json!({ "best": best.to_string(), "start": start.as_deref().map(solution_of) });
    let mut begun = StartedSearch::new(search, asked, looking)?;
    // The checkpoint has the starting solution.
    let given = start.take().filter(|_| begun.resumed().is_none());
    let found = match *best {
        _ if begun.resumed().is_some() => None,
        Best::Search => {
            Some(improve(instance, given.as_deref(), begun.seed(), &|| begun.has_time()))
        }
        Best::Reach(value) => {
            let going = begun.reaching();
            reach(instance, given.as_deref(), begun.seed(), value, &going).or(given)
        }
        _ => given,
    };
    if found.is_some() {
        begun.keep_preparation();
    }
    let to_beat = match *best {
        Best::Value(value) | Best::Reach(value) => Some(value),
        _ => None,
    };
    let settings = Settings {
        best: to_beat,
        start: found.map(|places| solution(instance, &places)),
        resume: begun.resumed().cloned(),
        ..begun.settings().clone()
    };
    let ready = Ready { settings, state: json!({}) };
    Ok((begun, Plain(Qap::new(instance.clone())), ready))
}
