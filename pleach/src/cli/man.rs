//! `pleach man`: the manual page, made from the help.

use super::console::{Console, DONE};
use super::flags::{About, Applies, COMMANDS, FLAGS, Group, Use, Verb};
use super::help::{EXIT_CODES, examples};
use super::line::{Line, no_more};
use crate::failure::Failure;
use crate::loops::LOOPS;
use crate::registry::Entry;
use std::fmt::Write;

/// Prints the page.
pub fn run(registry: &[Entry], console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    line.given.check_alone(Verb::Man, &[])?;
    no_more(&line.words, 1)?;
    console.print(page(registry).trim_end()).map(|()| DONE)
}

/// The page in the language of man.
fn page(registry: &[Entry]) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut out = format!(".TH PLEACH 1 \"\" \"pleach {version}\" \"User Commands\"\n");
    out += ".SH NAME\npleach \\- exact search of irregular trees, on all cores and devices of a machine\n";
    out += ".SH SYNOPSIS\n.B pleach\n.I COMMAND\n[\\fIARGUMENTS\\fR...] [\\fIFLAGS\\fR...]\n";
    out += ".SH DESCRIPTION\n";
    out += &paragraph(
        "Solves instances of hard problems to proven optimality, counts trees, and runs loops of independent work, on \
         threads, GPUs and several processes. 'pleach solve PROBLEM --help' shows the flags that apply to a command and a \
         problem.",
    );
    out += ".SH COMMANDS\n";
    for (_, words, about) in COMMANDS {
        let (command, arguments) = words.split_once(' ').unwrap_or((words, ""));
        let _ = write!(out, ".TP\n\\fB{command}\\fR {}\n{}\n", text(arguments), text(about));
    }
    out += ".SH PROBLEMS\n";
    for entry in registry {
        let mut verbs: Vec<&str> = entry.tasks.iter().map(|task| task.verb.word()).collect();
        verbs.extend(entry.simulation.map(|_| "sim"));
        let about =
            format!("{} ({}). An instance is {}.", entry.about, verbs.join(", "), entry.instance);
        let _ = write!(out, ".TP\n\\fB{}\\fR\n{}\n", entry.name, text(&about));
    }
    out += ".SH LOOPS\n";
    for entry in &LOOPS {
        let about = format!("{}. ARGUMENTS: {}.", entry.about, entry.words);
        let _ = write!(out, ".TP\n\\fB{}\\fR\n{}\n", entry.name, text(&about));
    }
    out += ".SH FLAGS\n";
    for group in Group::ALL {
        let _ = writeln!(out, ".SS {}", text(group.heading()));
        for about in FLAGS.iter().map(|flag| flag.about()).filter(|about| about.group == group) {
            out += &flag(registry, about);
        }
    }
    out += ".SH EXIT STATUS\n";
    out += &paragraph(&EXIT_CODES.replace('\n', " "));
    out += ".SH EXAMPLES\n.nf\n";
    for line in examples(registry) {
        let _ = writeln!(out, "{}", text(&line));
    }
    out += ".fi\n";
    out
}

/// A flag, with its help for problems that have their own.
fn flag(registry: &[Entry], about: &About) -> String {
    let value = about.value.map_or(String::new(), |value| format!(" \\fI{}\\fR", text(value)));
    let default = |default: &str| match default {
        "" => String::new(),
        word => format!(" [default: {word}]"),
    };
    let mut out = format!(".TP\n\\fB\\-\\-{}\\fR{value}\n", text(about.name));
    let mut said = Vec::new();
    if !matches!(about.applies, Applies::Named) {
        said.push(format!("{}{}", about.help, default(about.default)));
    }
    for entry in registry {
        let uses = entry.tasks.iter().flat_map(|task| task.flags);
        let uses = uses.chain(entry.simulation.iter().flat_map(|simulation| simulation.flags));
        for Use { help, default: own, .. } in uses.filter(|own| own.flag == about.name) {
            let help = help.unwrap_or(about.help);
            let line = format!("{help}{}", default(own.unwrap_or(about.default)));
            if !said.iter().any(|before| before.contains(&line)) {
                said.push(if help == about.help {
                    line
                } else {
                    format!("{}: {line}", entry.name)
                });
            }
        }
    }
    if said.is_empty() {
        said.push(about.help.into());
    }
    let _ = writeln!(out, "{}", text(&said.join("\n.br\n")));
    out
}

/// A paragraph.
fn paragraph(words: &str) -> String {
    format!("{}\n", text(words))
}

/// A text in which no character has a special meaning; lines that begin with `.br` break it.
fn text(words: &str) -> String {
    let line = |line: &str| match line {
        ".br" => line.to_string(),
        _ => {
            let line = line.replace('\\', "\\e").replace('-', "\\-");
            if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
        }
    };
    words.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::ENTRIES;

    #[test]
    fn the_page_has_all_commands_flags_problems_and_loops() {
        let page = page(&ENTRIES);
        for (verb, ..) in COMMANDS {
            assert!(page.contains(&format!("\n\\fB{}\\fR", verb.word())), "{}", verb.word());
        }
        for flag in FLAGS {
            let name = flag.about().name.replace('-', "\\-");
            let heading = format!("\n\\fB\\-\\-{name}\\fR");
            assert!(
                page.contains(&format!("{heading}\n")) || page.contains(&format!("{heading} ")),
                "{name}"
            );
        }
        for entry in &ENTRIES {
            assert!(page.contains(&format!("\n\\fB{}\\fR\n", entry.name)), "{}", entry.name);
        }
        for entry in &LOOPS {
            assert!(page.contains(&format!("\n\\fB{}\\fR\n", entry.name)), "{}", entry.name);
        }
        assert!(page.contains("(count, sim)"));
        // Requests are the ones meant here, and nothing else begins like one.
        let requests = [".TH", ".SH", ".SS", ".TP", ".B", ".I", ".br", ".nf", ".fi"];
        let wrong = page.lines().find(|line| {
            line.starts_with(['.', '\''])
                && !requests.contains(&line.split(' ').next().unwrap_or_default())
        });
        assert_eq!(wrong, None);
    }
}
