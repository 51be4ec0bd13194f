//! `pleach devices`: what this machine offers, with measured rates.

use super::options::Options;
use super::{Failure, machine, measured_rate, measured_rate_with, print};
use crate::report::short;
use pleach_problems::queens::Queens;
use pleach_problems::simd::Level;
use pleach_problems::uts::{Uts, parameters::Parameters};
use pleach_run::executor::gpu::spec::{Kind, Spec};
use pleach_run::executor::gpu::{emulates, gpus};
use pleach_run::{Settings, cores};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Measures and prints.
pub fn show(options: &Options) -> Result<ExitCode, Failure> {
    let levels: Vec<String> =
        Level::ALL.iter().filter(|level| level.works()).map(ToString::to_string).collect();
    let tree = Parameters::parse("T1XXL").map_err(Failure::Inside)?;
    let queens = |n| Queens::new(n, options.simd).map_err(Failure::Inside);
    let rates = [
        ("uts".to_string(), measured_rate(Uts::new(tree, options.simd))?),
        ("queens 16".to_string(), measured_rate(queens(16)?)?),
        ("queens 20".to_string(), measured_rate(queens(20)?)?),
    ];
    let gpus = gpus();
    let on = |kind| {
        let problem = Queens::new(16, options.simd).map_err(Failure::Inside)?;
        let settings =
            Settings { threads: 0, devices: vec![Spec::of(kind)], ..Settings::default() };
        measured_rate_with(problem, settings)
    };
    let numbered = |number: usize| on(Kind::Gpu(number as u32));
    let emulated = emulates().then(|| on(Kind::Emulated)).transpose()?;
    if options.json {
        let mut all = machine(cores(), &levels, &rates);
        all["gpus"] = match &gpus {
            Ok(gpus) => {
                gpus.iter().enumerate().map(|(i, gpu)| described(gpu, numbered(i))).collect()
            }
            Err(_) => json!([]),
        };
        all["no_gpu"] = json!(gpus.err().map(|why| why.to_string()));
        all["emulated"] = json!({ "queens 16": emulated.map(f64::round) });
        print(&all.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!("cpu: {} cores, code paths {}", cores(), levels.join(", "));
    for (name, rate) in &rates {
        text += &format!("\n  {name:10} {:>12} nodes a second on one thread", short(*rate));
    }
    match &gpus {
        Ok(gpus) => {
            for (i, (name, memory)) in gpus.iter().enumerate() {
                let rate = numbered(i)
                    .map_or_else(said, |rate| format!("{:>12} nodes a second", short(rate)));
                text += &format!("\ngpu{i}: {name}, {} MiB\n  queens 16  {rate}", memory >> 20);
            }
        }
        Err(why) => text += &format!("\ngpu: none, {why}"),
    }
    text += &match emulated {
        Some(rate) => format!(
            "\nemulated: the code of GPUs on the CPU, for tests\n  queens 16  {:>12} nodes a second",
            short(rate)
        ),
        None => "\nemulated: none, this build was made without a C++ compiler".into(),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// A GPU as JSON, with its rate or why it has none.
fn described((name, memory): &(String, u64), rate: Result<f64, Failure>) -> Value {
    let (rate, why) = match rate {
        Ok(rate) => (Some(rate.round()), None),
        Err(why) => (None, Some(said(why))),
    };
    json!({ "name": name, "memory": memory, "queens 16": rate, "fails": why })
}

fn said(why: Failure) -> String {
    match why {
        Failure::Usage(why) | Failure::Inside(why) => why,
    }
}
