//! Starts a job with a launcher, and checks how it ended.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How a job must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All sites succeed, and so does the launcher.
    Well,
    /// A site succeeds and leaves without announcing it, which the launcher may report as a failure.
    One,
    /// One site is killed; all others succeed, and so does the launcher.
    AllButOne,
    /// The launcher reports a failure.
    Badly,
    /// The launcher ends with this exit code.
    ExitCode(i32),
}

/// An MPI launcher.
pub struct Launcher {
    pub family: String,
    path: String,
    /// Part of the name of the matching library.
    library: &'static str,
}

impl Launcher {
    /// Reads `FAMILY=PATH`.
    pub fn read(text: &str) -> Self {
        let (family, path) = text.split_once('=').expect("FAMILY=PATH in PLEACH_MPI");
        let library = match family {
            "open-mpi" | "ulfm" => "/libmpi.so.40",
            "mpi-abi" => "/libmpi_abi.so",
            "mpich" => ".so.12",
            _ => panic!("{family}: expected open-mpi, ulfm, mpi-abi or mpich"),
        };
        assert!(Path::new(path).exists(), "no launcher {path}");
        Self { family: family.into(), path: path.into(), library }
    }

    /// Whether a case applies: where a job survives a death, a death does not end it.
    pub fn plays(&self, case: &str) -> bool {
        match case {
            "survived" => self.family == "ulfm",
            "killed" | "quit" => self.family != "ulfm",
            _ => true,
        }
    }

    /// Plays a case. An error has the output of the sites.
    pub fn run(&self, case: &str, sites: u32, end: End, limit: Duration) -> Result<(), String> {
        let log = std::env::temp_dir().join(format!("pleach-cluster-{}.log", std::process::id()));
        let file = File::create(&log).unwrap();
        let mut command = Command::new(&self.path);
        if self.family == "ulfm" {
            command.args(["--with-ft", "ulfm"]);
        }
        command.args(["-n", &sites.to_string()]);
        command.arg(std::env::current_exe().unwrap()).args(["site", case, self.library]);
        command.stdin(Stdio::null());
        command.stdout(file.try_clone().unwrap()).stderr(file);
        // More processes than cores, perhaps as root: Open MPI 4 and 5 need settings for both.
        for (name, value) in [
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
            ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
        ] {
            command.env(name, value);
        }
        if case.ends_with("-tcp") {
            let base = [("UCX_TLS", "tcp,self"), ("FI_PROVIDER", "tcp"), ("OMPI_MCA_pml", "ob1")];
            command.envs(base);
            command.env("OMPI_MCA_btl", "self,tcp").env("MPIR_CVAR_NOLOCAL", "1");
        }
        // A launcher in its own folder, such as one from PyPI, has its library next to it.
        let folder = Path::new(&self.path).parent().and_then(Path::parent);
        if let Some(folder) = folder.map(|folder| folder.join("lib")).filter(|f| holds_mpi(f)) {
            command.env("LD_LIBRARY_PATH", folder);
        }
        let status = wait(command.spawn().unwrap(), limit);
        let mut told = String::new();
        File::open(&log).and_then(|mut file| file.read_to_string(&mut told)).unwrap();
        std::fs::remove_file(&log).unwrap();
        judge(status, sites, end, &told, limit)
    }
}

/// Checks by the output of its sites whether a job ended as it must. An error has the output.
pub fn judge(
    status: Option<ExitStatus>,
    sites: u32,
    end: End,
    told: &str,
    limit: Duration,
) -> Result<(), String> {
    let content = told.lines().filter(|line| line.ends_with("is content")).count() as u32;
    match (status, end) {
        (None, _) => Err(format!("still running after {limit:?}\n{told}")),
        (Some(status), End::Well) if status.success() && content == sites => Ok(()),
        (Some(status), End::AllButOne) if status.success() && content + 1 == sites => Ok(()),
        (Some(_), End::One) if content > 0 => Ok(()),
        (Some(status), End::Badly) if !status.success() && content == 0 => Ok(()),
        (Some(status), End::ExitCode(code)) if status.code() == Some(code) && content == 0 => {
            Ok(())
        }
        (Some(status), _) => Err(format!("{status}, {content} sites content\n{told}")),
    }
}

fn holds_mpi(folder: &Path) -> bool {
    let Ok(mut entries) = folder.read_dir() else { return false };
    entries.any(|entry| entry.is_ok_and(|e| e.file_name().to_string_lossy().contains("libmpi")))
}

/// Waits for the job, and ends it if that takes too long.
pub fn wait(mut child: Child, limit: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // Asked politely, a launcher ends its processes first.
    let _ = Command::new("sh").args(["-c", &format!("kill {}", child.id())]).status();
    std::thread::sleep(Duration::from_secs(2));
    let _ = child.kill();
    let _ = child.wait();
    None
}
