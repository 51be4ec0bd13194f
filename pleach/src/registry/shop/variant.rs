//! [`variant`]: the flowshop that a command line describes, with its objective and side conditions.

use super::read::read;
use crate::campaign::shop::{Objective, Passing, Shop, Variant};
use crate::failure::{Failure, usage};
use crate::registry::Request;
use serde_json::{Value, json};

/// The shop that a command line names, with the objective and the conditions that its flags say.
pub fn variant(request: &Request<'_>) -> Result<Variant, Failure> {
    let given = request.given;
    let word = given.word("objective").unwrap_or("makespan");
    let objective = Objective::parse(word).or_else(|why| usage(format!("--objective {why}")))?;
    let passing = match (given.on("no-wait"), given.on("blocking")) {
        (true, true) => {
            return usage(
                "--no-wait cannot be combined with --blocking: jobs that never wait never block",
            );
        }
        (true, false) => Passing::NoWait,
        (false, true) => Passing::Blocking,
        (false, false) => Passing::Wait,
    };
    let shop = read(request)?;
    if objective.needs_due_dates() && shop.due.is_none() {
        return usage(format!(
            "--objective {objective} needs due dates: a column 'due' in a table, or --due FILE"
        ));
    }
    if let Some(unused) = unused(&shop, objective)
        && !given.on("quiet")
        && !given.on("json")
    {
        (request.note)(&format!(
            "{}: {unused} are not used: the objective is {}",
            request.name(),
            phrase(objective)
        ));
    }
    Variant::new(shop, objective, passing)
        .or_else(|why| usage(format!("{}: {why}", request.name())))
}

/// What an objective is about.
pub fn phrase(objective: Objective) -> &'static str {
    match objective {
        Objective::Makespan => "the makespan",
        Objective::FlowTime => "the total flow time",
        Objective::Tardiness => "the total tardiness",
        Objective::Lateness => "the maximum lateness",
        Objective::TardyJobs => "the number of tardy jobs",
    }
}

/// What is known of the jobs and the objective does not depend on.
fn unused(shop: &Shop, objective: Objective) -> Option<&'static str> {
    let due = shop.due.is_some() && !objective.needs_due_dates();
    let weights = shop.weights.is_some() && !objective.uses_weights();
    match (due, weights) {
        (true, true) => Some("due dates and weights"),
        (true, false) => Some("due dates"),
        (false, true) => Some("weights"),
        (false, false) => None,
    }
}

/// The side conditions by name.
pub fn conditions(variant: &Variant) -> Value {
    let all = [
        ("no-wait", variant.passing() == Passing::NoWait),
        ("blocking", variant.passing() == Passing::Blocking),
        ("releases", variant.has_releases()),
        ("setups", variant.shop().setups.is_some()),
    ];
    json!(all.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name).collect::<Vec<_>>())
}
