//! Help: the overview, the problems of a command, and the flags that apply to a command and problem.

use super::flags::{About, COMMANDS, Group, Use, Verb, applying, argument};
use crate::failure::{Failure, usage};
use crate::loops::{self, LOOPS};
use crate::registry::{Entry, entry};
use clap::Command;
use std::fmt::Write;

pub const EXIT_CODES: &str = "\
Exit codes: 0 finished and proven, 1 internal error or machine failure,
2 bad usage or bad input, 3 stopped by a limit or Ctrl-C (prints the result so far).";

/// Examples that do not belong to a problem.
const EXAMPLES: [&str; 8] = [
    "instances",
    "resume run.pleach",
    "sim uts T1 --peers 100",
    "sim scenarios/mixed-speeds.toml --svg chart.svg",
    "devices",
    "devices --check emulated",
    "reproduce",
    "reproduce C-fig3 --quick --out out",
];

/// How to install completions.
const INSTALL: &str = "\
Examples:
  pleach completions bash > ~/.local/share/bash-completion/completions/pleach
  pleach completions zsh > ~/.zfunc/_pleach   (a folder of $fpath, before compinit)
  pleach completions fish > ~/.config/fish/completions/pleach.fish";

/// The help for these words.
///
/// # Errors
/// If a word is not known.
pub fn help(registry: &[Entry], words: &[String]) -> Result<String, Failure> {
    let word = |i: usize| words.get(i).map_or("", String::as_str);
    let Some(verb) = Verb::of(word(0)) else {
        return match word(0) {
            "" => Ok(overview(registry)),
            other => unknown(other, &COMMANDS.map(|(verb, ..)| verb.word())),
        };
    };
    let named = [Verb::Solve, Verb::Count, Verb::Check].contains(&verb) && !word(1).is_empty();
    if named && entry(registry, word(1)).is_none() {
        return unknown(word(1), &registry.iter().map(|entry| entry.name).collect::<Vec<_>>());
    }
    if verb == Verb::Loop && !word(1).is_empty() && loops::entry(word(1)).is_none() {
        return unknown(word(1), &LOOPS.iter().map(|entry| entry.name).collect::<Vec<_>>());
    }
    Ok(match (verb, entry(registry, word(1))) {
        (Verb::Solve | Verb::Count | Verb::Check, None) => problems(registry, verb),
        (Verb::Solve | Verb::Count | Verb::Check, Some(entry)) => of_problem(entry, verb),
        (Verb::Sim, entry) => of_sim(registry, entry),
        (Verb::Loop, _) => crate::loops::entry(word(1)).map_or_else(all_loops, of_loop),
        (Verb::Resume, _) => {
            let about = "Continue a search that --checkpoint saved. What defines the search, such as \
                         its bound, cannot change; workers, limits and output can.";
            flags(about, "pleach resume FILE [FLAGS]", &applying(verb, &[]), "")
        }
        (Verb::Reproduce, _) => {
            let about = "Run the experiments of the papers again, and report which of their results are reproduced here. \
                         Without FIGURE, list the figures. An interrupted run continues where it stopped.";
            let usage = "pleach reproduce [FIGURE... | all] [FLAGS]";
            flags(about, usage, &applying(verb, &super::reproduce::FLAGS), "")
        }
        (Verb::Instances, _) => {
            let about = "List the instances of a problem that have names, with their sizes, and the best known values and \
                         bounds, or the known counts. With BEGIN, list only those whose names begin with it.";
            let usage = "pleach instances [PROBLEM [BEGIN...]] [FLAGS]";
            let after = "Examples:\n  pleach instances flowshop ta0\n  pleach instances qap --json";
            flags(about, usage, &applying(verb, &[]), after)
        }
        (Verb::Completions, _) => {
            let about = "Print the script with which a shell completes commands, names of instances, flags and their values.";
            let usage = "pleach completions bash | zsh | fish";
            flags(about, usage, &applying(verb, &[]), INSTALL)
        }
        (Verb::Man, _) => {
            let about = "Print the manual page, in the format of man.";
            let after = "Examples:\n  pleach man > ~/.local/share/man/man1/pleach.1";
            flags(about, "pleach man", &applying(verb, &[]), after)
        }
        (Verb::Serve, _) => {
            let about = "Run a service: users submit commands, joiners work for them, and fair shares decide who works for \
                         whom. The first start makes credentials of an operator and of joiners in FOLDER.";
            let usage = "pleach serve --listen HOST:PORT --data FOLDER [FLAGS]";
            let after = "Examples:\n  pleach serve --listen 0.0.0.0:7400 --data service\n  \
                         pleach join build-host:7400 --key service/joiners\n  \
                         pleach user ann --weight 2 --service service/operator -o ann.service\n  \
                         pleach submit solve flowshop ta021 --service ann.service";
            flags(about, usage, &applying(verb, &super::service::SERVE_FLAGS), after)
        }
        (Verb::Submit, _) => {
            let about = "Put a command into the queue of a service: solve, count, loop or sim, with its arguments and flags. \
                         Files that it reads are sent along.";
            let usage = "pleach submit COMMAND... [FLAGS]";
            let after = "Examples:\n  pleach submit solve flowshop ta021 --priority 1\n  \
                         pleach submit solve flowshop shop.csv --gantt gantt.svg --wait";
            flags(about, usage, &applying(verb, &[]), after)
        }
        (Verb::Jobs, _) => {
            let about = "List the jobs of a service, newest first, or show one: its threads, and why it has that many.";
            flags(about, "pleach jobs [ID] [FLAGS]", &applying(verb, &[]), "")
        }
        (Verb::Watch, _) => {
            let about =
                "Follow a job until it is over. With --json, print a line of JSON for each change.";
            flags(about, "pleach watch ID [FLAGS]", &applying(verb, &[]), "")
        }
        (Verb::Result, _) => {
            let about = "Print the result of a job: the JSON that its command printed.";
            flags(about, "pleach result ID [FLAGS]", &applying(verb, &[]), "")
        }
        (Verb::Pause, _) => {
            let about = "Save jobs and take them off the machines, until 'pleach continue'.";
            flags(about, "pleach pause ID... [FLAGS]", &applying(verb, &[]), "")
        }
        (Verb::Continue, _) => {
            let about = "Put paused jobs back into the queue; nothing that they did is lost.";
            flags(about, "pleach continue ID... [FLAGS]", &applying(verb, &[]), "")
        }
        (Verb::Priority, _) => {
            let about = "Change the priority of a job: among the jobs of one user, those with the highest priority come first.";
            flags(about, "pleach priority ID N [FLAGS]", &applying(verb, &[]), "")
        }
        (Verb::Cancel, _) => {
            let about = "End jobs without a result.";
            flags(about, "pleach cancel ID... [FLAGS]", &applying(verb, &[]), "")
        }
        (Verb::User, _) => {
            let about = "List the users of a service, or create or change one; for operators. A new user's credentials are \
                         written to a file, NAME.service by default.";
            let usage = "pleach user [NAME] [FLAGS]";
            let after = "Examples:\n  pleach user\n  pleach user ann --weight 2 --most-threads 64\n  \
                         pleach user night --role joiner --only-for ann -o night.service";
            flags(about, usage, &applying(verb, &super::service::USER_FLAGS), after)
        }
        (Verb::Audit, _) => {
            let about = "Check a certificate that --certificate wrote: that its regions fit together and make up the whole \
                         tree, and some of them by exploring them again, node by node.";
            let usage = "pleach audit FILE [FLAGS]";
            let after = "Examples:\n  pleach solve flowshop ta001 --certificate ta001.cert\n  pleach audit ta001.cert --all";
            flags(about, usage, &applying(verb, &super::audit::FLAGS), after)
        }
        (Verb::Batch, _) => {
            let about = "Run a command on several instances, with several settings and seeds, as FILE.toml lists them. \
                         Each run appends a row to a CSV file; an interrupted batch continues where it stopped. At the \
                         end, print a summary, and draw a performance profile and a cactus plot next to the CSV file.";
            let usage = "pleach batch FILE.toml [--out results.csv] [FLAGS]";
            flags(about, usage, &applying(verb, &super::batch::FLAGS), super::batch::EXAMPLE)
        }
        (Verb::Report, _) => {
            let about = "Write one self-contained HTML page about finished runs: results, activity over \
                         time, shares of workers, speed-ups, schedules. FILE holds what solve, count, loop or sim printed \
                         with --json, once or several times; - is standard input. Activity needs the file that --trace wrote.";
            let usage = "pleach report FILE... [-o report.html] [FLAGS]";
            let after = "Examples:\n  pleach solve flowshop ta021 --json --trace trace.json > run.json\n  \
                         pleach report run.json -o report.html";
            flags(about, usage, &applying(verb, &super::reporting::FLAGS), after)
        }
        (Verb::Join, _) => {
            let about = "Join a search that another process opened with --listen, or a service, which sends joiners \
                         from one search to the next. The instance and the settings of a search come from the process \
                         that leads it. Ctrl-C leaves, and hands back all open work.";
            let named = [Use::with(
                "checkpoint",
                "file in which a standby keeps its copy of the search",
                "",
            )];
            flags(about, "pleach join HOST:PORT [FLAGS]", &applying(verb, &named), "")
        }
        _ => flags(
            "List the devices of this machine, with measured rates, or check the kernels of a device.",
            "pleach devices [FLAGS], or pleach devices [PROBLEM …] --check DEVICE [FLAGS]",
            &applying(verb, &[]),
            "",
        ),
    })
}

/// The error for a word without help.
fn unknown(word: &str, known: &[&str]) -> Result<String, Failure> {
    usage(format!("no help for '{word}': expected one of {}", known.join(", ")))
}

/// Commands, problems and examples.
fn overview(registry: &[Entry]) -> String {
    let mut text =
        "Exact search of irregular trees, on all cores and devices of a machine\n\n".to_string();
    text += "Usage: pleach COMMAND [FLAGS]\n\nCommands:\n";
    for (_, words, about) in COMMANDS {
        let _ = writeln!(text, "  {words:33} {about}");
    }
    text += "\nProblems:\n";
    for entry in registry {
        let verbs: Vec<&str> = entry.tasks.iter().map(|task| task.verb.word()).collect();
        let sim = entry.simulation.map_or("", |_| ", sim");
        let _ = writeln!(text, "  {:10} {} ({}{sim})", entry.name, entry.about, verbs.join(", "));
    }
    text += "\nLoops:\n";
    for entry in &LOOPS {
        let _ = writeln!(text, "  {:10} {}", entry.name, entry.about);
    }
    text += "\nExamples:\n";
    for example in examples(registry) {
        let _ = writeln!(text, "  {example}");
    }
    let first = registry.iter().find_map(|entry| Some((entry, entry.tasks.first()?)));
    if let Some((entry, task)) = first {
        let words = format!("pleach {} {} --help", task.verb.word(), entry.name);
        let _ = write!(text, "\n'{words}' shows the flags of that command.\n\n");
    }
    text + EXIT_CODES
}

/// Whole command lines that show what the command does.
pub fn examples(registry: &[Entry]) -> Vec<String> {
    let own = registry.iter().flat_map(|entry| entry.tasks).flat_map(|task| task.examples);
    let loops = LOOPS.iter().flat_map(|entry| entry.examples.first());
    own.chain(loops).chain(&EXAMPLES).map(|example| format!("pleach {example}")).collect()
}

/// The problems of a command.
fn problems(registry: &[Entry], verb: Verb) -> String {
    let word = verb.word();
    let file = if verb == Verb::Check { " FILE" } else { "" };
    let more = if verb == Verb::Check { "" } else { "..." };
    let usage = format!("pleach {word} PROBLEM INSTANCE{more}{file} [FLAGS]");
    let mut text = format!("Usage: {usage}\n\nProblems:\n");
    for entry in registry.iter().filter(|entry| entry.task(verb).is_some()) {
        let _ = writeln!(text, "  {:10} {}", entry.name, entry.about);
        let _ = writeln!(text, "  {:10} INSTANCE: {}", "", entry.instance);
    }
    let _ = write!(text, "\n'pleach {word} PROBLEM --help' shows the flags for a problem.");
    text
}

/// The flags of a task.
fn of_problem(entry: &Entry, verb: Verb) -> String {
    let Some(task) = entry.task(verb) else {
        return format!("{} cannot {}", entry.name, verb.word());
    };
    let (name, word) = (entry.name, verb.word());
    let file = if verb == Verb::Check { " FILE" } else { "" };
    let about = format!("{name}: {}\n\nINSTANCE is {}.", entry.about, entry.instance);
    let mut after = String::new();
    for (i, example) in task.examples.iter().enumerate() {
        let _ = write!(after, "{}\n  pleach {example}", if i == 0 { "Examples:" } else { "" });
    }
    let more = if verb == Verb::Check { "" } else { "..." };
    let usage = format!("pleach {word} {name} INSTANCE{more}{file} [FLAGS]");
    flags(&about, &usage, &applying(verb, task.flags), &after)
}

/// All loops.
fn all_loops() -> String {
    let mut text = "Usage: pleach loop NAME ARGUMENTS [FLAGS]\n\nLoops:\n".to_string();
    for entry in &LOOPS {
        let _ = writeln!(text, "  {:10} {}", entry.name, entry.about);
        let _ = writeln!(text, "  {:10} ARGUMENTS: {}", "", entry.words);
    }
    text + "\n'pleach loop NAME --help' shows the flags of a loop."
}

/// The flags of a loop.
fn of_loop(entry: &loops::LoopEntry) -> String {
    let about = format!("{}: {}\n\nARGUMENTS: {}.", entry.name, entry.about, entry.words);
    let examples = entry
        .examples
        .iter()
        .fold("Examples:".to_string(), |text, example| format!("{text}\n  pleach {example}"));
    let words = if entry.takes.1 == 0 { "" } else { " ARGUMENTS" };
    let usage = format!("pleach loop {}{words} [FLAGS]", entry.name);
    let mut own = applying(Verb::Loop, entry.flags);
    own.retain(|about| entry.shared || about.group != Group::Processes);
    flags(&about, &usage, &own, &examples)
}

/// The flags of simulations, including those of a problem.
fn of_sim(registry: &[Entry], entry: Option<&Entry>) -> String {
    let named: &[Use] = entry.and_then(|entry| entry.simulation).map_or(&[], |sim| sim.flags);
    let names: Vec<&str> = registry
        .iter()
        .filter(|entry| entry.simulation.is_some())
        .map(|entry| entry.name)
        .collect();
    let about = format!(
        "Simulate a run on a cluster, from a scenario file (TOML) or a problem ({}, or \
         interval, whose INSTANCE is an amount of work such as 5s).",
        names.join(", ")
    );
    let usage = match entry {
        Some(entry) => format!("pleach sim {} INSTANCE --peers N [FLAGS]", entry.name),
        None => {
            "pleach sim SCENARIO [FLAGS], or pleach sim PROBLEM INSTANCE --peers N [FLAGS]".into()
        }
    };
    flags(&about, &usage, &applying(Verb::Sim, named), "")
}

/// The help of a user's own command.
pub fn own(program: &str, named: &[Use]) -> String {
    let usage = format!(
        "{program} [ARGUMENTS] [FLAGS], {program} resume FILE [FLAGS], or {program} join HOST:PORT [FLAGS]"
    );
    let about = "ARGUMENTS are the problem's input: files or sizes.";
    flags(about, &usage, &applying(Verb::Own, named), EXIT_CODES)
}

/// Flags under their headings.
fn flags(about: &str, usage: &str, flags: &[About], after: &str) -> String {
    let mut command = Command::new("pleach")
        .disable_help_flag(true)
        .about(about.to_string())
        .override_usage(usage.to_string())
        .after_help(after.to_string())
        .args(flags.iter().map(argument))
        .mut_arg("help", |help| help.short('h'));
    command.render_help().to_string().trim_end().to_string()
}

/// A help text, wrapped to the width of this process's terminal, if it has one.
pub fn fitted(text: &str) -> String {
    let out = console::Term::stdout();
    let columns = out.is_term().then(|| out.size_checked()).flatten().map(|(_, columns)| columns);
    let Some(columns) = columns.filter(|&columns| columns >= 40) else { return text.into() };
    let lines = text.lines().map(|line| wrapped(line, columns.into()));
    lines.collect::<Vec<_>>().join("\n")
}

/// Wraps a line; continuation lines start below its last column. Commands are never broken.
fn wrapped(line: &str, columns: usize) -> String {
    let is_command = line.trim_start().starts_with("pleach ");
    if line.chars().count() <= columns || is_command {
        return line.into();
    }
    let start = line.len() - line.trim_start().len();
    let below = line.rfind("  ").map_or(start, |at| at + 2).min(columns / 2);
    let (mut out, mut width) = (String::new(), 0);
    for word in line[start..].split_inclusive(' ') {
        let long = word.trim_end().chars().count();
        if width == 0 {
            out.push_str(&line[..start]);
            width = start;
        } else if width + long > columns {
            let kept = out.trim_end().len();
            out.truncate(kept);
            out.push('\n');
            out.push_str(&" ".repeat(below));
            width = below;
        }
        out.push_str(word);
        width += word.chars().count();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_fit_the_terminal() {
        let line = "  join HOST:PORT    join a search that another process opened with --listen";
        let long = wrapped(line, 48);
        assert!(long.lines().all(|line| line.len() <= 48), "{long}");
        assert!(long.lines().skip(1).all(|line| line.starts_with(&" ".repeat(20))), "{long}");
        let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        assert_eq!(words(&long), words(line));
        assert_eq!(wrapped(line, 100), line);
        let command = format!("  pleach solve flowshop {}", "x".repeat(60));
        assert_eq!(wrapped(&command, 48), command);
        let plain = "Exit codes: 0 finished and proven, 1 internal error or machine failure";
        assert_eq!(wrapped(plain, 48).lines().count(), 2);
    }
}
