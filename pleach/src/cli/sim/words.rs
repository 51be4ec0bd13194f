//! What the command line asks to simulate: a scenario file, or a problem and an instance.

use super::scenario::Scenario;
use super::spec::simulation;
use crate::cli::flags::{FlagValues, Kind, Use, Verb};
use crate::cli::keys::table_of;
use crate::cli::line::{Line, no_more};
use crate::failure::{Failure, usage};
use crate::registry::{Entry, names};
use toml::{Table, Value};

/// General flags that stand for keys of a scenario.
const FLAGS: [&str; 3] = ["peers", "balance", "seed"];
/// Flags that stand for keys of its load.
const OF_LOAD: [&str; 3] = ["best", "bound", "branching"];
/// The switch among them.
const WHOLE: &str = "whole";

/// The scenario, its name in errors, and its file if it has one.
pub fn read(
    registry: &[Entry],
    line: &Line,
) -> Result<(String, Scenario, Option<String>), Failure> {
    no_more(&line.words, 3)?;
    let given = &line.given;
    let scenario =
        |name: &str, table: &Table| Scenario::read(registry, name, table).map_err(Failure::Usage);
    match &line.words[1..] {
        [problem, instance] => {
            let named = simulation(registry, problem).map_or(&[][..], |sim| sim.flags);
            check(given, problem, named)?;
            let table = of_problem(problem, instance, given)?;
            Ok(("sim".into(), scenario("sim", &table)?, None))
        }
        [file] => {
            if let Some(flag) = OF_LOAD.iter().chain([&WHOLE]).find(|flag| given.has(flag)) {
                return usage(format!(
                    "--{flag} does not apply to a scenario file; set load.{flag} in {file}"
                ));
            }
            check(given, "", &[])?;
            let table = of_file(file, given)?;
            Ok((file.clone(), scenario(file, &table)?, Some(file.clone())))
        }
        _ => {
            let known = names(registry, |entry| entry.simulation.is_some());
            usage(format!(
                "sim: a scenario file is required, or a problem (interval, {known}) and an instance"
            ))
        }
    }
}

fn check(given: &FlagValues, problem: &str, named: &[Use]) -> Result<(), Failure> {
    given.check(Kind { verb: Verb::Sim, problem, named })
}

/// A file's scenario, with the keys that flags replace.
fn of_file(file: &str, given: &FlagValues) -> Result<Table, Failure> {
    let text = crate::input::text_of(file)
        .or_else(|why| usage(format!("{file}: {why}; expected a scenario file")))?;
    let mut scenario = table_of(file, &text).map_err(Failure::Usage)?;
    set_all(&mut scenario, given)?;
    Ok(scenario)
}

/// The scenario for a problem and an instance, as flags specify.
fn of_problem(problem: &str, instance: &str, given: &FlagValues) -> Result<Table, Failure> {
    let (mut scenario, mut load) = (Table::new(), Table::new());
    load.insert("problem".into(), problem.into());
    if problem == "interval" {
        load.insert("total_s".into(), seconds(instance)?.into());
    } else {
        load.insert("instance".into(), instance.into());
    }
    for flag in OF_LOAD {
        if let Some(value) = given.word(flag) {
            load.insert(flag.into(), value.into());
        }
    }
    if given.on(WHOLE) {
        load.insert(WHOLE.into(), true.into());
    }
    set_all(&mut scenario, given)?;
    if !scenario.contains_key("peers") {
        return usage(format!("sim {problem} {instance}: expected --peers N"));
    }
    scenario.insert("title".into(), format!("{problem} {instance}").into());
    scenario.insert("load".into(), load.into());
    Ok(scenario)
}

/// Sets the keys that flags give in a scenario's table.
fn set_all(table: &mut Table, given: &FlagValues) -> Result<(), Failure> {
    for flag in FLAGS {
        if let Some(value) = given.word(flag) {
            set(table, flag, value)?;
        }
    }
    Ok(())
}

fn set(table: &mut Table, flag: &str, value: &str) -> Result<(), Failure> {
    let number = |word: &str| match word.parse::<i64>() {
        Ok(number) if number >= 0 => Ok(Value::Integer(number)),
        _ => usage(format!(
            "--{flag} {word}: expected a whole number, or several separated by commas"
        )),
    };
    let (key, value) = match flag {
        "balance" => (flag, value.into()),
        "seed" => ("seeds", Value::Array(vec![number(value)?])),
        _ if value.contains(',') => {
            (flag, Value::Array(value.split(',').map(number).collect::<Result<_, _>>()?))
        }
        _ => (flag, number(value)?),
    };
    table.insert(key.into(), value);
    Ok(())
}

/// The seconds of work of an interval.
fn seconds(word: &str) -> Result<f64, Failure> {
    let number = word.strip_suffix('s').and_then(|number| number.parse::<f64>().ok());
    match number.filter(|number| (0.0..=1e6).contains(number)) {
        Some(number) => Ok(number),
        None => usage(format!("interval {word}: expected seconds of work, from 0s to 1000000s")),
    }
}
