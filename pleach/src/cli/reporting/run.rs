//! [`Run`]: a search or a loop, as read from the output of `--json`.

use super::fields::{Fields, MOST};
use serde_json::{Map, Value};

/// A finished run of a search or a loop.
pub struct Run {
    pub problem: String,
    pub instance: String,
    pub status: String,
    pub objective: Option<i64>,
    pub lower_bound: Option<i64>,
    pub solution: Option<Vec<i64>>,
    pub count: Option<u128>,
    pub branched: Option<u128>,
    pub bounded: Option<u128>,
    pub depth: Option<u128>,
    pub seconds: f64,
    pub setup_s: f64,
    pub efficiency: Option<f64>,
    pub units: Vec<Unit>,
    pub sites: Vec<Site>,
    pub balance: Option<Balance>,
    pub of_loop: Option<Loop>,
    pub repeats: Option<Repeats>,
    pub settings: Map<String, Value>,
}

/// A thread or a device.
pub struct Unit {
    pub name: String,
    pub branched: Option<u128>,
    pub busy_s: f64,
    pub idle_s: f64,
    pub steals: Option<u128>,
    /// Nodes a second while it explored.
    pub power: Option<u128>,
}

/// A process.
pub struct Site {
    pub name: String,
    pub host: String,
    pub units: usize,
    pub joined_s: f64,
    pub left_s: Option<f64>,
    pub end: Option<String>,
    pub commits: Option<u128>,
    pub redone: Option<u128>,
}

/// The cost of keeping the units busy.
pub struct Balance {
    pub preset: String,
    pub requests: Option<u128>,
    pub served: Option<u128>,
    pub refused: Option<u128>,
    pub moved_bytes: Option<u128>,
}

/// What only loops report.
pub struct Loop {
    pub parts: Vec<Part>,
    /// The share and the time of the best static split.
    pub split: Option<(f64, f64)>,
    pub checksum: Option<f64>,
    pub rate: Option<f64>,
    pub rate_of: String,
}

/// The part of a thread or a device in a loop.
pub struct Part {
    pub name: String,
    pub share: f64,
    pub units: Option<u128>,
    pub ranges: Option<u128>,
    pub busy_s: f64,
    pub idle_s: f64,
}

/// How long several runs took, and how fast they were.
pub struct Repeats {
    pub runs: u128,
    pub seconds: Ends,
    pub rate: Option<Ends>,
}

/// The mean of several numbers, their standard deviation, and their range.
pub struct Ends {
    pub mean: f64,
    pub deviation: f64,
    pub least: f64,
    pub most: f64,
}

/// The ways in which a run may end.
const STATUSES: [&str; 7] =
    ["optimal", "no-better", "counted", "found", "infeasible", "stopped", "done"];

/// Where the object of a run comes from.
const OF_A_RUN: &str = "what 'pleach solve', 'count', 'loop' or 'sim' prints with --json";

impl Run {
    /// Reads a run.
    ///
    /// # Errors
    /// One line: file, key, value, and what was expected.
    pub fn read(of: &Fields<'_>) -> Result<Self, String> {
        of.word("pleach", OF_A_RUN)?;
        let [problem, instance, status] =
            ["problem", "instance", "status"].map(|key| of.word(key, OF_A_RUN).map(String::from));
        let (problem, instance, status) = (problem?, instance?, status?);
        if !STATUSES.contains(&status.as_str()) {
            return of.wrong("status", &format!("one of {}", STATUSES.join(", ")));
        }
        if !of.has("units") {
            return of.wrong("units", "a list of objects");
        }
        let nodes = of.object("nodes")?;
        let count = |key| nodes.as_ref().map_or(Ok(None), |nodes: &Fields<'_>| nodes.whole(key));
        let settings = of.object("settings")?.map(|settings| settings.all().clone());
        Ok(Self {
            problem,
            instance,
            status,
            objective: of.signed("objective")?,
            lower_bound: of.signed("lower_bound")?,
            solution: of.integers("solution")?,
            count: of.whole("count")?,
            branched: count("branched")?,
            bounded: count("bounded")?,
            depth: count("depth")?,
            seconds: of.needed("seconds", MOST)?,
            setup_s: of.number("setup_seconds", MOST)?.unwrap_or(0.0),
            efficiency: of.number("efficiency", MOST)?,
            units: of.objects("units")?.iter().map(unit).collect::<Result<_, _>>()?,
            sites: of.objects("sites")?.iter().map(site).collect::<Result<_, _>>()?,
            balance: of.object("balance")?.as_ref().map(balance).transpose()?,
            of_loop: of.object("loop")?.as_ref().map(of_loop).transpose()?,
            repeats: of.object("repeats")?.as_ref().map(repeats).transpose()?,
            settings: settings.unwrap_or_default(),
        })
    }

    /// A setting whose value is a text.
    pub fn setting(&self, key: &str) -> Option<&str> {
        self.settings.get(key)?.as_str()
    }

    /// The preset that balanced the work; empty for loops.
    pub fn preset(&self) -> &str {
        self.balance.as_ref().map_or("", |balance| &balance.preset)
    }

    /// The time of the run, or the mean time of several.
    pub fn time_s(&self) -> f64 {
        self.repeats.as_ref().map_or(self.seconds, |repeats| repeats.seconds.mean)
    }

    /// Nodes explored.
    pub fn nodes(&self) -> Option<u128> {
        self.bounded.max(self.branched)
    }

    /// The rate, with its unit: nodes or operations a second.
    pub fn rate(&self) -> Option<(f64, &str)> {
        if let Some(of_loop) = &self.of_loop {
            return Some((of_loop.rate?, &of_loop.rate_of));
        }
        let nodes = self.nodes()? as f64;
        (nodes > 0.0 && self.seconds > 0.0).then(|| (nodes / self.seconds, "nodes"))
    }

    /// Whether it was stopped before it was done.
    pub fn is_stopped(&self) -> bool {
        self.status == "stopped"
    }
}

fn unit(of: &Fields<'_>) -> Result<Unit, String> {
    Ok(Unit {
        name: of.word("name", "the unit's name")?.into(),
        branched: of.whole("branched")?,
        busy_s: of.number("busy_s", MOST)?.unwrap_or(0.0),
        idle_s: of.number("idle_s", MOST)?.unwrap_or(0.0),
        steals: of.whole("steals")?,
        power: of.whole("power")?,
    })
}

fn site(of: &Fields<'_>) -> Result<Site, String> {
    Ok(Site {
        name: of.word("name", "the site's name")?.into(),
        host: of.text("host")?.unwrap_or_default().into(),
        units: of.integers("units")?.map_or(0, |units| units.len()),
        joined_s: of.number("joined_s", MOST)?.unwrap_or(0.0),
        left_s: of.number("left_s", MOST)?,
        end: of.text("end")?.map(String::from),
        commits: of.whole("commits")?,
        redone: of.whole("redone")?,
    })
}

fn balance(of: &Fields<'_>) -> Result<Balance, String> {
    Ok(Balance {
        preset: of.text("preset")?.unwrap_or_default().into(),
        requests: of.whole("requests")?,
        served: of.whole("served")?,
        refused: of.whole("refused")?,
        moved_bytes: of.whole("moved_bytes")?,
    })
}

fn of_loop(of: &Fields<'_>) -> Result<Loop, String> {
    let part = |of: &Fields<'_>| {
        Ok(Part {
            name: of.word("name", "the unit's name")?.into(),
            share: of.number("share", 1.001)?.unwrap_or(0.0),
            units: of.whole("units")?,
            ranges: of.whole("ranges")?,
            busy_s: of.number("busy_s", MOST)?.unwrap_or(0.0),
            idle_s: of.number("idle_s", MOST)?.unwrap_or(0.0),
        })
    };
    let split = of.object("static")?;
    let split = split.map(|split| {
        Ok::<_, String>((split.needed("share", 1.001)?, split.needed("seconds", MOST)?))
    });
    Ok(Loop {
        parts: of.objects("parts")?.iter().map(part).collect::<Result<_, String>>()?,
        split: split.transpose()?,
        checksum: of.between("checksum", (f64::MIN, f64::MAX))?,
        rate: of.number("rate", 1e30)?,
        rate_of: of.text("rate_of")?.unwrap_or("operations").into(),
    })
}

fn repeats(of: &Fields<'_>) -> Result<Repeats, String> {
    let ends = |of: &Fields<'_>, most| {
        Ok::<_, String>(Ends {
            mean: of.needed("mean", most)?,
            deviation: of.needed("deviation", most)?,
            least: of.needed("least", most)?,
            most: of.needed("most", most)?,
        })
    };
    let Some(seconds) = of.object("seconds")? else { return of.wrong("seconds", "an object") };
    Ok(Repeats {
        runs: of.whole("runs")?.map_or_else(|| of.wrong("runs", "a number of runs"), Ok)?,
        seconds: ends(&seconds, MOST)?,
        rate: of.object("rate")?.map(|rate| ends(&rate, 1e30)).transpose()?,
    })
}
