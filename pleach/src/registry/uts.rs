//! The entry of Unbalanced Tree Search.

use super::posed::{Load, Posed, record};
use super::{Act, Ended, Entry, Mode, Rate, Request, Simulation, Start, Task};
use crate::campaign::uts::{self as campaign, Parameters, Uts};
use crate::campaign::{Search, plain};
use crate::cli::flags::{Given, Verb};
use crate::failure::{Failure, usage};

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    name: "uts",
    about: "Unbalanced Tree Search: count the nodes of a tree that hashing grows",
    instance: "a tree's name (T1L), key=value,…, or the arguments of UTS in one word ('-t 1 -a 3 -d 10 \
               -b 4 -r 19')",
    is_file: |_| false,
    tasks: &[Task {
        verb: Verb::Count,
        flags: &[],
        examples: &[
            "count uts T1L",
            "count uts type=binomial,b0=2000,q=0.19,m=5,seed=7 --threads 2 --json",
            "count uts \"-t 1 -a 3 -d 10 -b 4 -r 19\"",
        ],
        act: Act::Search(count),
    }],
    simulation: Some(Simulation { flags: &[], intervals: false, pose }),
    rates: &[Rate {
        name: "uts",
        problem: |level| Ok(Box::new(Uts::new(Parameters::parse("T1XXL")?, level))),
        on_devices: false,
    }],
};

fn tree(words: &str) -> Result<Parameters, Failure> {
    Parameters::parse(words).or_else(|why| usage(format!("uts: {why}")))
}

fn count(request: &Request<'_>) -> Result<Start<'static>, Failure> {
    let tree = tree(request.instance)?;
    let search = request.given.search().map_err(Failure::Usage)?;
    let words = request.instance;
    campaign::may_end(&tree, &search).or_else(|why| {
        usage(format!(
            "uts {words}: {}",
            why.replace("a time limit or a node limit", "--time-limit or --node-limit")
        ))
    })?;
    Ok(Box::new(move |mut search: Search<'_>, mode| match mode {
        Mode::Run => Ok(Ended::plain(campaign::count(&tree, search)?.report)),
        Mode::Look => {
            let problem = Uts::new(tree, search.simd);
            Ok(Ended::Seen(Box::new(plain::look(&problem, None, &mut search)?)))
        }
    }))
}

fn pose(load: &Load, given: &Given) -> Result<Posed, Failure> {
    let tree = tree(&load.instance)?;
    if let Some(why) = campaign::endless(&tree) {
        return usage(format!("uts {}: {why}", load.instance));
    }
    let simd = given.simd().map_err(Failure::Usage)?;
    Posed::plain(load, Uts::new(tree, simd), record).map_err(Failure::Usage)
}
