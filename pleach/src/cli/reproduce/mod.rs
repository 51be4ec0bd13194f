//! `pleach reproduce`: runs the papers' experiments, and reports which of their results are reproduced here.

mod claim;
mod commands;
mod confidence;
mod data;
mod figure;
mod files;
mod measures;
mod page;
mod part;
mod rows;
mod seen;
mod shown;
mod simulated;
mod verdict;

use super::conduct::last_words;
use super::console::{Console, DONE, FAILED, STOPPED};
use super::files::replace;
use super::flags::{FlagValues, QUICK, Use, Verb};
use super::line::Line;
use super::progress::{self, interrupts};
use crate::failure::{Failure, usage};
use crate::provenance::stamped;
use crate::registry::Entry;
use crate::report::columns::{aligned, digits};
use commands::Place;
use data::Grid;
use figure::Figure;
use files::FILES;
use part::{On, Part};
use pleach_gpu::emulates;
use pleach_gpu::gpus::gpus;
use rows::{Origin, Row, Rows};
use seen::Seen;
use serde_json::json;
use simulated::Simulated;
use std::path::{Path, PathBuf};

/// The flags that it shares with other commands.
pub const FLAGS: [Use; 2] = [
    Use::with("out", "folder for charts, rows and index.html; created if missing", "reproduced"),
    Use::with("quick", "run smaller versions of figures, each in less than a minute", ""),
];

/// The names of all figures.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(id, _)| *id)
}

/// Lists the figures, or runs the named ones.
pub fn run(registry: &[Entry], console: &Console<'_>, line: &Line) -> Result<u8, Failure> {
    let given = &line.given;
    given.check_alone(Verb::Reproduce, &FLAGS)?;
    let quick = given.on(QUICK.about.name);
    let chosen = chosen(&line.words[1..])?;
    if chosen.is_empty() {
        return console.print(&list(quick)?).map(|()| DONE);
    }
    let folder = given.path("out").unwrap_or("reproduced".into());
    let cannot = |why| Failure::Usage(format!("--out {}: {why}", folder.display()));
    let page = folder.join("index.html");
    if page.exists() && !folder.join("rows").is_dir() {
        return usage(format!(
            "--out {} would replace {}, which 'reproduce' did not write; choose another folder",
            folder.display(),
            page.display()
        ));
    }
    std::fs::create_dir_all(folder.join("rows")).map_err(cannot)?;
    let work = Reproduction { registry, console, given, folder, quick, origin: Origin::here() };
    let (mut all, mut failed, several) = (Vec::new(), false, chosen.len() > 1);
    for id in chosen {
        if interrupts().is_cancelled() {
            break;
        }
        let (seen, well) = match work.run(id) {
            Ok(ran) => ran,
            // A figure that fails does not stop the others.
            Err(why) if several => {
                console.note(&format!("{id}: {}", why));
                failed = true;
                continue;
            }
            Err(why) => return Err(why),
        };
        failed |= !well;
        if !given.on("json") {
            console.print(&seen.text())?;
        }
        all.push(seen.json());
        work.write_page()?;
    }
    if given.on("json") {
        console.print(&stamped(json!({ "figures": all })))?;
    } else {
        console.print(&format!("\n{}", work.folder.join("index.html").display()))?;
    }
    if interrupts().is_cancelled() {
        console.note("interrupted; run the same command again to continue");
        return Ok(STOPPED);
    }
    Ok(if failed { FAILED } else { DONE })
}

/// The figures that words name, each once, in their order.
fn chosen(words: &[String]) -> Result<Vec<&'static str>, Failure> {
    let all = names;
    let mut ids = Vec::new();
    for word in words {
        let named: Vec<&str> =
            if word == "all" { all().collect() } else { all().filter(|id| id == word).collect() };
        if named.is_empty() {
            let ids = all().collect::<Vec<_>>().join(", ");
            return usage(format!("reproduce {word}: expected all, or some of {ids}"));
        }
        ids.extend(named);
    }
    let mut once = Vec::new();
    ids.into_iter().for_each(|id| {
        if !once.contains(&id) {
            once.push(id);
        }
    });
    Ok(once)
}

/// A line for each figure.
fn list(quick: bool) -> Result<String, Failure> {
    let mut rows = vec![["figure", "minutes", "on", "what it shows"].map(String::from).to_vec()];
    for (id, text) in FILES {
        let figure = Figure::read(id, text, quick).map_err(Failure::Inside)?;
        let minutes = if quick { "<1".into() } else { digits(figure.minutes()) };
        rows.push(vec![id.into(), minutes, figure.backends(), figure.title]);
    }
    Ok(format!(
        "{}\n\npleach reproduce FIGURE… [--quick] [--out FOLDER], or pleach reproduce all",
        aligned(&rows)
    ))
}

/// What to run, and where.
struct Reproduction<'a, 'o> {
    registry: &'a [Entry],
    console: &'a Console<'o>,
    given: &'a FlagValues,
    folder: PathBuf,
    quick: bool,
    origin: Origin,
}

/// A figure that is ready to run.
struct Ready {
    figure: Figure,
    /// The lists of each part, and why it cannot be run if it cannot.
    grids: Vec<Grid>,
    missing: Vec<Option<String>>,
    simulated: Vec<Option<Simulated>>,
}

impl Reproduction<'_, '_> {
    /// Runs a figure; returns whether every part that can run here did.
    fn run(&self, id: &'static str) -> Result<(Seen, bool), Failure> {
        let mut ready = self.ready(id, self.quick)?;
        let mut rows = Rows::open(&self.rows(id, self.quick), self.origin.clone())?;
        let place = Place { folder: &self.folder, id };
        let mut well = true;
        for (at, part) in ready.figure.parts.iter().enumerate() {
            if ready.missing[at].is_some() {
                continue;
            }
            let line = progress::line(self.given.on("quiet"));
            let step = |done: usize, all: usize| {
                line.set_message(format!("{id} {}: {done} of {all} runs", part.name));
                line.tick();
            };
            let ran = match (ready.simulated[at].take(), &part.runs) {
                (Some(simulated), _) => {
                    let again = "run the same command again to continue";
                    let _phase = last_words(self.console, &format!("{id} ({again})"), self.given);
                    simulated.run((self.registry, self.given), part, &mut rows, &step)
                }
                (None, Some(runs)) => commands::run(runs, part, &place, &mut rows, &step),
                (None, None) => Ok(()),
            };
            line.finish_and_clear();
            if interrupts().is_cancelled() {
                break;
            }
            if let Err(why) = ran {
                let why = why.to_string();
                self.console.note(&format!("{id}, part {}: {why}", part.name));
                ready.missing[at] = Some(why);
                well = false;
            }
        }
        let seen = self.see(ready, &rows.all, (self.quick, self.origin.clone()));
        self.write_charts(&seen)?;
        Ok((seen, well))
    }

    /// Reads a figure, and finds out which parts can run here.
    fn ready(&self, id: &'static str, quick: bool) -> Result<Ready, Failure> {
        let text = FILES.iter().find(|(own, _)| *own == id).map_or("", |(_, text)| text);
        let figure = Figure::read(id, text, quick).map_err(Failure::Inside)?;
        let simulated = |part: &Part| {
            let scenario = part.scenario.as_ref();
            scenario.map(|table| Simulated::new(self.registry, id, part, table)).transpose()
        };
        let simulated: Vec<Option<Simulated>> = figure
            .parts
            .iter()
            .map(simulated)
            .collect::<Result<_, _>>()
            .map_err(Failure::Inside)?;
        let grids = figure.parts.iter().zip(&simulated).map(|(part, simulated)| {
            let of_runs = || part.runs.as_ref().map(commands::grid).unwrap_or_default();
            simulated.as_ref().map_or_else(of_runs, Simulated::grid)
        });
        let grids = grids.collect();
        let missing = figure.parts.iter().map(lacks).collect();
        Ok(Ready { figure, grids, missing, simulated })
    }

    /// What a figure's rows show.
    fn see(&self, ready: Ready, rows: &[Row], (quick, origin): (bool, Origin)) -> Seen {
        let Ready { figure, grids, missing, .. } = ready;
        Seen::new((figure, quick, origin), &grids, &missing, rows)
    }

    /// The file of a figure's rows.
    fn rows(&self, id: &str, quick: bool) -> PathBuf {
        let quick = if quick { ".quick" } else { "" };
        self.folder.join("rows").join(format!("{id}{quick}.jsonl"))
    }

    /// Writes the charts of a figure.
    fn write_charts(&self, seen: &Seen) -> Result<(), Failure> {
        for (part, shown) in seen.figure.parts.iter().zip(&seen.parts) {
            if let seen::SeenPart::Shown { chart, over_time, .. } = shown {
                let quick = if seen.quick { ".quick" } else { "" };
                let name = format!("{}-{}", seen.figure.id, part.name);
                write(&self.folder.join(format!("{name}{quick}.svg")), chart)?;
                if let Some(chart) = over_time {
                    write(&self.folder.join(format!("{name}-over-time{quick}.svg")), chart)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the page for all figures that were ever run in this folder, the full version where it exists.
    fn write_page(&self) -> Result<(), Failure> {
        let (mut all, mut others) = (Vec::new(), Vec::new());
        for &(id, _) in &FILES {
            let found = [false, true].into_iter().find_map(|quick| {
                let text = std::fs::read_to_string(self.rows(id, quick)).ok()?;
                let (origin, rows) = rows::latest(&text)?;
                Some((quick, origin, rows))
            });
            match found {
                Some((quick, origin, rows)) => {
                    all.push(self.see(self.ready(id, quick)?, &rows, (quick, origin)));
                }
                None => others.push((id.to_string(), self.ready(id, self.quick)?.figure.title)),
            }
        }
        write(&self.folder.join("index.html"), &page::page(&all, &others))
    }
}

/// Why a part cannot run here.
fn lacks(part: &Part) -> Option<String> {
    if part.on == On::Gpu {
        return gpus().err().map(|why| format!("no GPU here, {why}"));
    }
    // Processes may have emulated devices.
    let is_emulated = part.runs.as_ref().is_some_and(|runs| runs.names("emulated"));
    let missing = if is_emulated { emulates().err() } else { None };
    missing.map(|why| format!("no emulated device here, {why}"))
}

/// Writes a whole file, or returns why that failed.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let written = replace(path, text.as_bytes());
    written.map_err(|why| Failure::Machine(format!("cannot write {}: {why}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::ENTRIES;

    #[test]
    fn every_file_is_built_in() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("figures");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        there.sort();
        let mut built: Vec<String> = FILES.iter().map(|(id, _)| format!("{id}.toml")).collect();
        built.sort();
        assert_eq!(there, built);
    }

    /// Every file can be read, and its claims name points that its parts have.
    #[test]
    fn every_figure_can_be_run_and_judged() {
        for (id, text) in FILES {
            for quick in [false, true] {
                let figure = Figure::read(id, text, quick).unwrap();
                assert!(!figure.claims.is_empty(), "{id} claims nothing");
                let grids: Vec<Grid> = figure.parts.iter().map(|part| grid(id, part)).collect();
                let shown = |at: usize| data::Data::new(&figure.parts[at], &grids[at], &[]).grid;
                for part in &figure.parts {
                    assert!(part.on == On::Gpu || !part.instead.is_empty(), "{id} {}", part.name);
                    let is_emulated = part.runs.as_ref().is_some_and(|it| it.names("emulated"));
                    assert!(part.on != On::Emulated || is_emulated, "{id} {}", part.name);
                }
                for claim in figure.claims.iter().filter(|_| !quick) {
                    let why = format!("{id}: {}", claim.says);
                    assert!(claim.speaks_of(&shown(claim.part)), "{why}");
                }
            }
        }
    }

    fn grid(id: &str, part: &Part) -> Grid {
        match (&part.scenario, &part.runs) {
            (Some(table), _) => Simulated::new(&ENTRIES, id, part, table)
                .unwrap_or_else(|why| panic!("{why}"))
                .grid(),
            (None, runs) => commands::grid(runs.as_ref().unwrap()),
        }
    }
}
