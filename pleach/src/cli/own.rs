//! [`main()`]: a complete command for a user's own problem.

use super::conduct::Job;
use super::console::{Console, DONE};
use super::flags::{Kind, Use, Verb, value_to_beat};
use super::follow::{Known, follow};
use super::join::AfterJoin;
use super::line::Line;
use super::own_line::{own, program};
use super::{company, help, join, list, read, stopping};
use crate::campaign::Search;
use crate::failure::Failure;
use crate::registry::{Ended, Mode, Start};
use crate::report::Labels;
use pleach_core::search::problem::Plain;
use pleach_core::search::tree::{Goal, Tree, TreeSource};
use pleach_gpu::ending::end;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// A complete command for your own problem: the standard flags, progress, JSON and exit codes.
///
/// Takes a tree, or the result of reading one. The words before the flags come from [`words`](super::words).
#[must_use]
pub fn main<S: TreeSource>(source: S) -> ExitCode {
    let full = std::any::type_name::<S::Tree>();
    // A tree of moves has the name of what the user wrote.
    let moves = full.split_once("::Backtracking<").map(|(_, own)| own);
    let full = moves.unwrap_or(full).split(['<', '>']).next().unwrap_or(full);
    let name = full.rsplit("::").next().unwrap_or(full).to_lowercase();
    stopping::listen();
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    let console = Console::new(program(), true, &mut out, &mut err);
    company::only_one_speaks(&console);
    let code = console.finish(|| {
        let line = own()?;
        let named = named(S::Tree::GOAL);
        if line.given.on("version") {
            let version = format!("{} (pleach {})", console.program, env!("CARGO_PKG_VERSION"));
            return console.print(&version).map(|()| DONE);
        }
        if line.given.on("help") {
            return console
                .print(&help::fitted(&help::own(&console.program, named)))
                .map(|()| DONE);
        }
        let kind = Kind { verb: Verb::Own, problem: &name, named };
        line.given.check(kind)?;
        stopping::stop_at_eof(&line)?;
        let problem = Plain(source.into_tree().map_err(Failure::Usage)?);
        let decimals = problem.0.decimals();
        let best = value_to_beat(&line.given, decimals)?;
        let labels = || Labels { decimals, ..Labels::default() };
        let start = |search: Search<'_>, mode: Mode| Ended::plain(&problem, best, search, mode);
        let line =
            match join::take_part_early(Known::Own(&start), &console, &line.given).transpose()? {
                Some(AfterJoin::Ends(code)) => return Ok(code),
                Some(AfterJoin::Leads(next)) => *next,
                None => line,
            };
        let lead = |mut line: Line| {
            line.given.texts.replace(read::texts());
            let instance = line.words.join(" ");
            let files = line.words.iter().filter(|word| Path::new(word).is_file());
            let inputs = inputs(files.cloned().collect(), line.given.word("checkpoint"));
            let begin = || Ok(Start { labels: labels(), ..Start::new(start) });
            let starts = list::repeated(&line.given, begin)?;
            let Line { words, given } = &mut line;
            let (console, name, instance) = (&console, &*name, &*instance);
            let spent = Duration::ZERO;
            Job { console, name, instance, words, inputs, given, spent }.run_searches(starts)
        };
        company::run_together(&console, line, lead, |cluster, line| {
            follow(Known::Own(&start), &console, cluster, line)
        })
    });
    end(code)
}

/// The flags for a goal, in addition to the general ones.
fn named(goal: Goal) -> &'static [Use] {
    const ALL: &[Use] = &[Use::plain("solution"), Use::plain("best"), Use::plain("best-first")];
    match goal {
        Goal::Count => &[],
        Goal::Find => &ALL[..1],
        Goal::Minimise | Goal::Maximise => ALL,
    }
}

/// The words that name files. A word that is also the checkpoint's name may be a size, so it is left out.
fn inputs(files: Vec<String>, checkpoint: Option<&str>) -> Vec<String> {
    files.into_iter().filter(|word| Some(word.as_str()) != checkpoint).collect()
}
