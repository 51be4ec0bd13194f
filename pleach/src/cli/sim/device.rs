//! Reads the table `device` of a class of peers.

use crate::cli::keys::{Keys, MOST_PEERS, US};
use pleach_core::search::inside::Inside;
use pleach_lab::device::{Device, Put};

/// The device of a class of this many peers, if it has the table. A peer reads its messages every `poll_ns`.
///
/// # Errors
/// One line: file, key, value, and what was expected.
pub fn read(class: &Keys<'_>, count: u32, poll_ns: u64) -> Result<Option<Device>, String> {
    let Some(keys) = class.table("device")? else { return Ok(None) };
    let most = MOST_PEERS / i64::from(count.max(1));
    let explorers = keys.whole("explorers", None, 1..=most)? as u32;
    let poll_us = poll_ns as f64 / US;
    let trigger =
        keys.whole("trigger", Some(i64::from(explorers / 8)), 0..=i64::from(explorers))?;
    let device = Device {
        explorers,
        step_ns: (keys.number("step_us", Some((poll_us / 16.0).max(0.001)), 0.001..=1e9)? * US)
            as u64,
        trigger: trigger as u32,
        launch_ns: keys.time_ns("launch_us", Some(10.0), US)?,
        copy_ns: keys.time_ns("copy_us", Some(20.0), US)?,
        inside: choice(&keys, "inside", "windows", Inside::parse, &Inside::ALL)?,
        put: choice(&keys, "put", "spread", |word| named(&Put::ALL, word), &Put::ALL)?,
        one_gives: choice(&keys, "take", "even", |word| named(&TAKES, word), &TAKES)?,
        cutoff: keys
            .if_any("cutoff", |key| keys.whole(key, None, 0..=1000))?
            .map(|depth| depth as u32),
        host_speed: keys.number("host_speed", Some(1.0), 1e-6..=1e9)?,
    };
    keys.finish()?;
    Ok(Some(device))
}

/// Whether one explorer gives all that it has.
const TAKES: [(bool, &str); 2] = [(false, "even"), (true, "one")];

fn named<T: Copy>(all: &[(T, &str)], word: &str) -> Option<T> {
    all.iter().find(|(_, name)| *name == word).map(|&(value, _)| value)
}

fn choice<T>(
    keys: &Keys<'_>,
    key: &'static str,
    default: &str,
    parse: impl Fn(&str) -> Option<T>,
    all: &[(T, &str)],
) -> Result<T, String> {
    let names = || all.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ");
    parse(&keys.word(key, Some(default))?).map_or_else(|| keys.wrong(key, &names()), Ok)
}
