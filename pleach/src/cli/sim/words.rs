//! What the command line asks to simulate: a scenario's file, or a problem and an instance.

use super::scenario::{Scenario, table};
use crate::cli::{Failure, usage};
use clap::ArgMatches;
use clap::parser::ValueSource;
use toml::{Table, Value};

/// The flags that stand for keys of a scenario.
const FLAGS: [&str; 6] = ["peers", "balance", "seed", "best", "bound", "branching"];

/// The scenario with what to call it in errors.
pub fn read(matches: &ArgMatches) -> Result<(String, Scenario), Failure> {
    let word = |name| matches.get_one::<String>(name).map_or("", String::as_str);
    let flags: Vec<(&str, &str)> = FLAGS
        .into_iter()
        .filter(|flag| matches.value_source(flag) == Some(ValueSource::CommandLine))
        .map(|flag| (flag, word(flag)))
        .collect();
    let (first, instance) = (word("problem"), word("instance"));
    let (name, table) = if matches.contains_id("instance") {
        ("sim", of_problem(first, instance, &flags)?)
    } else {
        (first, of_file(first, &flags)?)
    };
    let scenario = Scenario::read(name, &table).map_err(Failure::Usage)?;
    Ok((name.to_string(), scenario))
}

/// A file's scenario, with what flags say instead.
fn of_file(file: &str, flags: &[(&str, &str)]) -> Result<Table, Failure> {
    let text = std::fs::read_to_string(file)
        .or_else(|why| usage(format!("{file}: {why}; expected a scenario's file")))?;
    let mut scenario = table(file, &text).map_err(Failure::Usage)?;
    for (flag, value) in flags {
        if matches!(*flag, "best" | "bound" | "branching") {
            return usage(format!("--{flag}: expected in the scenario, in [load]"));
        }
        set(&mut scenario, flag, value)?;
    }
    Ok(scenario)
}

/// The scenario of a problem and an instance, as flags say.
fn of_problem(problem: &str, instance: &str, flags: &[(&str, &str)]) -> Result<Table, Failure> {
    let (mut scenario, mut load) = (Table::new(), Table::new());
    load.insert("problem".into(), problem.into());
    if problem == "interval" {
        load.insert("total_s".into(), seconds(instance)?.into());
    } else {
        load.insert("instance".into(), instance.into());
    }
    for (flag, value) in flags {
        if matches!(*flag, "best" | "bound" | "branching") {
            load.insert((*flag).into(), (*value).into());
        } else {
            set(&mut scenario, flag, value)?;
        }
    }
    if !scenario.contains_key("peers") {
        return usage("sim PROBLEM INSTANCE: expected --peers N");
    }
    scenario.insert("title".into(), format!("{problem} {instance}").into());
    scenario.insert("load".into(), load.into());
    Ok(scenario)
}

/// Sets what a flag says in a scenario's table.
fn set(table: &mut Table, flag: &str, value: &str) -> Result<(), Failure> {
    let number = |word: &str| match word.parse::<i64>() {
        Ok(number) if number >= 0 => Ok(Value::Integer(number)),
        _ => usage(format!("--{flag} {word}: expected a whole number, or some with commas")),
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

/// Reads the work of an interval: so many seconds.
fn seconds(word: &str) -> Result<f64, Failure> {
    let number = word.strip_suffix('s').and_then(|number| number.parse::<f64>().ok());
    match number.filter(|number| (0.0..=1e6).contains(number)) {
        Some(number) => Ok(number),
        None => usage(format!("interval {word}: expected seconds of work, from 0s to 1000000s")),
    }
}
