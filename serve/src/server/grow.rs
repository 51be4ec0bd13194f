//! `--grow`: asks Slurm for joiners while searches could use more threads, and dismisses them when they are idle.

use super::state::Service;
use crate::slurm::Slurm;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::sleep;

/// How often Slurm is asked.
const EVERY: Duration = Duration::from_secs(2);
/// How long a command of Slurm may take.
const MOST: Duration = Duration::from_secs(30);

/// What growing depends on.
struct Need {
    /// Searches that could use more threads.
    wanting: usize,
    /// Joiners that serve nothing.
    idle: usize,
    /// Jobs that are not over.
    open: usize,
    /// The Slurm job numbers of the joiners that are present.
    joined: BTreeSet<u64>,
}

/// Grows and shrinks until the task is dropped.
pub(super) async fn run(service: Arc<Service>, slurm: Slurm) {
    let mut last_error = String::new();
    loop {
        if let Err(why) = adjust(&service, &slurm).await {
            // Reported once, however often it is tried.
            if why != last_error {
                service.audit("slurm", &why);
            }
            last_error = why;
        } else {
            last_error.clear();
        }
        sleep(EVERY).await;
    }
}

async fn adjust(service: &Arc<Service>, slurm: &Slurm) -> Result<(), String> {
    let states = "PENDING,CONFIGURING,RUNNING";
    let name = job_name(service);
    let list = ["--noheader", "--me", "--name", &name, "--states", states, "--format", "%i"];
    let said = slurm_says("squeue", &list).await?;
    let alive: BTreeSet<u64> = said.lines().filter_map(|line| line.trim().parse().ok()).collect();
    let need = service.need(slurm.idle);
    let pending: Vec<u64> = alive.difference(&need.joined).copied().collect();
    if need.open == 0 {
        for id in &pending {
            slurm_says("scancel", &["--state", "PENDING", &id.to_string()]).await?;
        }
        return Ok(());
    }
    let room = (slurm.most as usize).saturating_sub(alive.len());
    // Twice as many each time, once the last ones have joined.
    let more = if need.wanting > 0 && need.idle == 0 && pending.is_empty() {
        room.min(alive.len().max(1))
    } else {
        0
    };
    for _ in 0..more {
        let id = submit(service, slurm).await?;
        service.audit("slurm", &format!("asked for a joiner: job {}", id.trim()));
    }
    Ok(())
}

/// The name of this service's joiners in Slurm; another service of the same user has others. With a port that the system
/// chooses, those of an earlier start do not count: they could not join any more.
fn job_name(service: &Service) -> String {
    let address = service.address().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    format!("pleach-joiner-{address}")
}

async fn submit(service: &Service, slurm: &Slurm) -> Result<String, String> {
    let address = service.address();
    let key = service.settings.data.join("joiners");
    let key = std::path::absolute(key).map_err(|why| why.to_string())?;
    let threads = slurm.threads.to_string();
    let minutes = slurm.time.as_secs().div_ceil(60).to_string();
    let program = service.settings.program.display().to_string();
    let key = key.display().to_string();
    let words = [&program, "join", &address, "--key", &key, "--threads", &threads, "--quiet"];
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let wrap = format!("exec {}", words.join(" "));
    let name = job_name(service);
    let mut args =
        vec!["--parsable", "--job-name", &name, "--time", &minutes, "--cpus-per-task", &threads];
    // It leaves its search in an orderly way before its time is over.
    args.extend(["--signal", "B:TERM@30", "--output", "/dev/null", "--wrap", &wrap]);
    if !slurm.partition.is_empty() {
        args.extend(["--partition", &slurm.partition]);
    }
    slurm_says("sbatch", &args).await
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Runs a command of Slurm, and returns what it prints.
async fn slurm_says(program: &str, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(args).kill_on_drop(true);
    let output = tokio::time::timeout(MOST, command.output()).await;
    let output = output.map_err(|_| format!("{program} took more than {} s", MOST.as_secs()))?;
    let output = output.map_err(|why| format!("cannot run {program}: {why}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{program}: {}", said.lines().next().unwrap_or("failed")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

impl Service {
    /// Gathers what growing depends on. Joiners from Slurm that have been idle for long are
    /// dismissed.
    fn need(&self, idle: Duration) -> Need {
        let mut state = self.lock();
        let wanting = state.wanting();
        let open = state.jobs.values().filter(|job| job.wants()).count();
        let (mut idle_now, mut joined, mut dismissed) = (0, BTreeSet::new(), Vec::new());
        for (name, joiner) in &mut state.joiners {
            // One that is bound to a user, or avoids a job, may be idle while others could use more.
            let bound = joiner.only_for.is_some() || !joiner.avoids().is_empty();
            let free = joiner.job.is_none() && !bound && !joiner.dismissed;
            idle_now += usize::from(free);
            // Its number in Slurm, then a random word.
            let number = name.rsplit_once("/slurm-").and_then(|(_, rest)| rest.rsplit_once('-'));
            let Some(id) = number.and_then(|(id, _)| id.parse().ok()) else { continue };
            joined.insert(id);
            let long = joiner.idle_since.is_some_and(|since| since.elapsed() > idle);
            if long && !joiner.dismissed {
                (joiner.dismissed, joiner.job) = (true, None);
                dismissed.push(name.clone());
            }
        }
        drop(state);
        for name in &dismissed {
            self.audit(name, "was idle and is dismissed");
        }
        if !dismissed.is_empty() {
            self.announce();
        }
        Need { wanting, idle: idle_now, open, joined }
    }
}
