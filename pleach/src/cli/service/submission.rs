//! `pleach submit COMMAND`: sends a command and the files that it reads to a service; and what a service accepts.

use super::super::console::{Console, DONE};
use super::super::files::READ;
use super::super::flags::{Kind, PRIORITY, Verb};
use super::super::keys::table_of;
use super::super::line::{self, Argument, Line, arguments};
use super::request::{client, failed};
use crate::failure::{Failure, usage};
use crate::provenance::stamped;
use crate::registry::{ENTRIES, Entry, entry};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pleach_serve::api::{CommandKind, Submission, names_elsewhere};
use pleach_serve::client::ClientError;
use pleach_serve::credentials::new_token;
use serde_json::json;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use toml::{Table, Value};

/// Flags that belong to `submit`, and not to the command.
const OWN: [&str; 4] = ["service", "priority", "wait", "json"];
/// Flags that the service sets itself, or that make no sense there.
const REFUSED: [&str; 21] = [
    "listen", "key", "places", "patience", "mpi", "checkpoint", "every", "until-eof", "updates",
    "json", "quiet", "dashboard", "log", "metrics", "threads", "show", "help", "devices", "slow",
    "certificate", "repeat",
];
/// Flags of loops that name files to read.
const READ_BY_LOOPS: [&str; 2] = ["transfer", "obstacle"];

/// What a service may run: searches, loops and simulations, with flags that fit. The second function returns the contents
/// of a file that comes with the command.
pub fn check_command(
    args: &[String],
    contents: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> Result<CommandKind, String> {
    let said = |why: Failure| match why {
        Failure::Usage(why) => why,
        other => format!("{other:?}"),
    };
    let line = line::parse(args.iter().map(OsString::from)).map_err(said)?;
    let word = |i: usize| line.words.get(i).map_or("", String::as_str);
    let verb = match Verb::of(word(0)) {
        Some(verb @ (Verb::Solve | Verb::Count | Verb::Loop | Verb::Sim)) => verb,
        _ => return Err(format!("'{}': expected solve, count, loop or sim", word(0))),
    };
    if let Some(name) = REFUSED.iter().find(|name| line.given.has(name)) {
        return Err(format!("--{name} cannot be submitted: the service sets it"));
    }
    match verb {
        Verb::Loop => super::super::looping::check(&line).map_err(said)?,
        Verb::Sim => {
            let known = entry(&ENTRIES, word(1)).is_some_and(|entry| entry.simulation.is_some());
            if !known && word(1) != "interval" {
                check_scenario(word(1), contents)?;
            }
        }
        _ => {
            let problem = word(1);
            let found = entry(&ENTRIES, problem).and_then(|it| Some((it, it.task(verb)?)));
            let Some((found, task)) = found else {
                return Err(format!("{} {problem}: expected a problem", verb.word()));
            };
            let kind = Kind { verb, problem: found.name, named: task.flags };
            line.given.check(kind).map_err(said)?;
            if line.words.len() < 3 {
                return Err(format!("{} {problem}: an instance is required", verb.word()));
            }
            if word(2) == "-" {
                return Err(format!(
                    "{} {problem} -: name a file instead of standard input",
                    verb.word()
                ));
            }
            // A file of this process's own folder must not hide the instance of that name.
            let is_named = || (found.instances)().iter().any(|it| it.name == word(2));
            if contents(word(2)).is_none() && (found.is_file)(word(2)) && !is_named() {
                return Err(format!("{}: expected a file, or the name of an instance", word(2)));
            }
            // Several instances are several searches, which joiners of one root could not tell apart.
            if line.words.len() > 3 {
                return Err("expected one instance: submit each by itself".into());
            }
        }
    }
    Ok(match verb {
        Verb::Loop => CommandKind::Loop,
        Verb::Sim => CommandKind::Simulation,
        _ => CommandKind::Search,
    })
}

/// Refuses a scenario that is not among the files of a command, or that names a file outside the command's folder.
fn check_scenario(file: &str, contents: &dyn Fn(&str) -> Option<Vec<u8>>) -> Result<(), String> {
    let Some(bytes) = contents(file) else {
        return Err(format!(
            "sim {file}: expected a problem, or a scenario file that is sent along"
        ));
    };
    let text = String::from_utf8(bytes).map_err(|_| format!("{file}: expected text in UTF-8"))?;
    let mut scenario = table_of(file, &text)?;
    match instances(&mut scenario).into_iter().find(|name| names_elsewhere(name)) {
        Some(name) => Err(format!(
            "{file}: load.instance = '{name}': expected the name, without '/', of a file that is sent along"
        )),
        None => Ok(()),
    }
}

/// The instances of a scenario, which alone can be files.
fn instances(scenario: &mut Table) -> Vec<&mut String> {
    let instance = scenario.get_mut("load").and_then(|load| load.get_mut("instance"));
    let values = match instance {
        Some(Value::Array(list)) => list.iter_mut().collect(),
        one => Vec::from_iter(one),
    };
    let words = values.into_iter().filter_map(|value| match value {
        Value::String(word) => Some(word),
        _ => None,
    });
    words.collect()
}

/// Submits a command.
pub fn submit(
    registry: &[Entry],
    console: &Console<'_>,
    line: &Line,
    args: &[OsString],
) -> Result<u8, Failure> {
    let given = &line.given;
    let inner = inner(args)?;
    if inner.is_empty() {
        return usage("submit: expected a command, such as solve flowshop ta021");
    }
    let (args, files) = with_files(registry, &inner)?;
    let contents = |name: &str| files.get(name).and_then(|text| STANDARD.decode(text).ok());
    check_command(&args, &contents).map_err(|why| Failure::Usage(format!("submit: {why}")))?;
    let priority = given.get(&PRIORITY)?.unwrap_or(0);
    let mut client = client(given)?;
    // A submission that is sent twice, because an answer was lost, is one job.
    let key = new_token().map_err(Failure::Machine)?;
    let submission = Submission { args, files, priority, key };
    let id = match client.submit(&submission) {
        // The service knows by the key whether it has the job already.
        Err(ClientError::Unreachable { .. }) => client.submit(&submission),
        answer => answer,
    };
    let id = id.map_err(failed)?;
    if given.on("wait") {
        return super::jobs::wait(console, &mut client, id);
    }
    let text = if given.on("json") { stamped(json!({ "id": id })) } else { format!("job {id}") };
    console.print(&text).map(|()| DONE)
}

/// The arguments of the command: all but the first word and the flags of `submit`.
fn inner(args: &[OsString]) -> Result<Vec<String>, Failure> {
    let args: Option<Vec<String>> = args.iter().map(|arg| arg.to_str().map(Into::into)).collect();
    let Some(args) = args else { return usage("an argument is not valid UTF-8") };
    let others = arguments(&args).filter(|it| it.flag.is_none_or(|flag| !OWN.contains(&flag)));
    let mut others = Vec::from_iter(others);
    if let Some(at) = others.iter().position(|it| it.flag.is_none() && it.args[0] == "submit") {
        others.remove(at);
    }
    Ok(others.into_iter().flat_map(|it| it.args).cloned().collect())
}

/// The files that are sent along, in base 64, by their names in the job's folder.
#[derive(Default)]
struct FilesToSend {
    contents: BTreeMap<String, String>,
    /// The names of those that were read from these paths.
    names: BTreeMap<String, String>,
}

impl FilesToSend {
    /// Reads a file. Returns its name in the job's folder.
    fn add(&mut self, path: &str) -> Result<String, Failure> {
        if let Some(name) = self.names.get(path) {
            return Ok(name.clone());
        }
        let bytes =
            std::fs::read(path).or_else(|why| usage(format!("cannot read {path}: {why}")))?;
        Ok(self.insert(path, &bytes))
    }

    /// Reads a scenario and the instances that are files, whose names it replaces.
    fn add_scenario(&mut self, path: &str) -> Result<String, Failure> {
        let text = crate::input::text_of(path)
            .or_else(|why| usage(format!("{path}: {why}; expected a scenario file")))?;
        let mut scenario = table_of(path, &text).map_err(Failure::Usage)?;
        let mut renamed = false;
        for instance in instances(&mut scenario) {
            let file = ENTRIES.iter().any(|it| it.simulation.is_some() && (it.is_file)(instance));
            if file && Path::new(instance).is_file() {
                let name = self.add(instance)?;
                renamed |= name != *instance;
                *instance = name;
            }
        }
        let text = if renamed { scenario.to_string() } else { text };
        Ok(self.insert(path, text.as_bytes()))
    }

    fn insert(&mut self, path: &str, bytes: &[u8]) -> String {
        let base = Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or("file");
        let mut name = base.to_string();
        let mut n = 2;
        while self.contents.contains_key(&name) {
            name = format!("{n}-{base}");
            n += 1;
        }
        self.contents.insert(name.clone(), STANDARD.encode(bytes));
        self.names.insert(path.to_string(), name.clone());
        name
    }
}

/// Replaces the names of files by names in the job's folder, and reads these files.
fn with_files(
    registry: &[Entry],
    args: &[String],
) -> Result<(Vec<String>, BTreeMap<String, String>), Failure> {
    let line = line::parse(args.iter().map(OsString::from))?;
    let verb = line.words.first().map_or("", String::as_str);
    let is_file = |word: &str| {
        let of_problem = || {
            let problem = line.words.get(1).and_then(|name| entry(registry, name));
            problem.is_some_and(|entry| (entry.is_file)(word))
        };
        (!matches!(verb, "solve" | "count") || of_problem()) && Path::new(word).is_file()
    };
    let words: Vec<&String> = line.words.iter().skip(1).filter(|word| is_file(word)).collect();
    let scenario = (verb == "sim" && line.words.len() == 2).then(|| line.words[1].clone());
    let (mut out, mut files) = (Vec::new(), FilesToSend::default());
    for Argument { args, flag, value } in arguments(args) {
        let input = flag.is_some_and(|flag| READ.contains(&flag) || READ_BY_LOOPS.contains(&flag));
        match (flag, value) {
            (Some(flag), Some(path)) if input => {
                let name = files.add(path)?;
                match args {
                    [flag, _] => out.extend([flag.clone(), name]),
                    _ => out.push(format!("--{flag}={name}")),
                }
            }
            (None, _) if words.contains(&&args[0]) => {
                let path = &args[0];
                let is_scenario = scenario.as_ref() == Some(path);
                out.push(if is_scenario { files.add_scenario(path)? } else { files.add(path)? });
            }
            _ => out.extend_from_slice(args),
        }
    }
    Ok((out, files.contents))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    #[test]
    fn services_accept_searches_loops_and_simulations() {
        let check = |text| check_command(&words(text), &|_| None);
        assert_eq!(check("solve flowshop ta021 --bound two"), Ok(CommandKind::Search));
        assert_eq!(check("count queens 8"), Ok(CommandKind::Search));
        assert_eq!(check("sim uts T1 --peers 10"), Ok(CommandKind::Simulation));
        assert_eq!(check("loop spmm fem:900 --seed 1"), Ok(CommandKind::Loop));
        for wrong in [
            "join host:7400",
            "serve --data x",
            "submit solve flowshop ta001",
            "solve flowshop",
            "solve flowshop ta001 ta002",
            "solve nothing 7",
            "count flowshop ta001",
            "solve flowshop ta001 --listen 0.0.0.0:1",
            "solve flowshop ta001 --checkpoint x",
            "solve flowshop ta001 --threads 4",
            "solve flowshop ta001 --json",
            "solve flowshop ta001 --bond two",
            "",
            "sim scenario.toml",
            "solve flowshop ta001 --devices cpu,emulated",
            "solve flowshop -",
            "solve flowshop missing.txt",
            // It is in the folder of this test, but does not come with the command.
            "solve flowshop Cargo.toml",
            "solve knapsack ta001",
        ] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn scenarios_name_files_that_are_sent_along() {
        let folder = std::env::temp_dir().join(format!("pleach-scenario-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = |name: &str| folder.join(name).display().to_string();
        std::fs::write(folder.join("small.txt"), "2 1\n3\n4\n").unwrap();
        let text = |instance: &str| {
            format!("[load]\nproblem = \"flowshop\"\ninstance = [\"ta001\", '{instance}']\n")
        };
        let check = |text: &str| {
            let contents = |name: &str| (name == "s.toml").then(|| text.as_bytes().to_vec());
            check_command(&words("sim s.toml --seed 1"), &contents)
        };
        assert_eq!(check(&text("small.txt")), Ok(CommandKind::Simulation));
        for wrong in ["/etc/passwd", "../x", "jobs\\1"] {
            let why = check(&text(wrong)).unwrap_err();
            assert!(why.starts_with("s.toml: load.instance = '"), "{why}");
        }
        assert_eq!(check("x").unwrap_err().split(':').next(), Some("s.toml, line 1"));
        std::fs::write(folder.join("s.toml"), text(&path("small.txt"))).unwrap();
        let (args, files) = with_files(&ENTRIES, &["sim".into(), path("s.toml")]).unwrap();
        assert_eq!(args.join(" "), "sim s.toml");
        assert_eq!(files.keys().collect::<Vec<_>>(), ["s.toml", "small.txt"]);
        let sent = |name: &str| Some(STANDARD.decode(files.get(name)?).unwrap());
        assert_eq!(check_command(&args, &sent), Ok(CommandKind::Simulation));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn flags_of_submit_stay_behind() {
        let args = words("--service f submit solve flowshop ta001 --priority 3 --bound=one --wait");
        let args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
        assert_eq!(inner(&args).unwrap(), words("solve flowshop ta001 --bound=one"));
        let args = words("--start submit submit solve flowshop ta001");
        let args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
        assert_eq!(inner(&args).unwrap(), words("--start submit solve flowshop ta001"));
    }

    #[test]
    fn files_travel_under_their_own_names() {
        let folder = std::env::temp_dir().join(format!("pleach-submit-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("more")).unwrap();
        let path = |name: &str| folder.join(name).display().to_string();
        for name in ["shop.txt", "more/shop.txt", "due"] {
            std::fs::write(folder.join(name), name).unwrap();
        }
        let args =
            ["solve", "flowshop", &path("shop.txt"), "--due", &path("due"), "--gantt", "due"];
        let more = format!("--start={}", path("more/shop.txt"));
        let args: Vec<String> = args.into_iter().map(String::from).chain([more]).collect();
        let (args, files) = with_files(&ENTRIES, &args).unwrap();
        let wanted = "solve flowshop shop.txt --due due --gantt due --start=2-shop.txt";
        assert_eq!(args.join(" "), wanted);
        assert_eq!(files["2-shop.txt"], STANDARD.encode("more/shop.txt"));
        assert_eq!(files.len(), 3);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
