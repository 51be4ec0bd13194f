//! The book: the commands that its pages show run, in the order of the page, where a test can run them.

use crate::cluster::party::free_address;
use crate::house::root;
use crate::outside::{example_path, folder, until};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// First words of commands that are run.
const RUN: [&str; 4] = ["pleach ", "cargo ", "walks ", "for "];

/// Parts of commands that need what this test does not have: another machine, a service, a cluster's scheduler, another
/// program, or an hour; and what other tests try: MPI, processes that are killed, the scripts of `ci`, the Python package.
const LEFT: [&str; 18] = [
    "ci/", "docker ", "podman ", "kubectl ", "systemctl ", "scp ", "srun ", "sbatch ", "mpiexec ",
    "kill -9", "bb ", "pip ", "python ", "PYJOBSHOP", "cargo install", "sha256sum ", "--grow ",
    "tar ",
];

/// What a command says instead, so that it runs here: no GPU, no other machine, and no proof that takes minutes.
const INSTEAD: [(&str, &str); 9] = [
    ("ta021 --best optimum --certificate", "ta001 --certificate"),
    ("cpu,gpu0", "cpu,emulated"),
    ("cpu,gpu:", "cpu,emulated:"),
    ("--check gpu0", "--check emulated"),
    ("--devices gpu", "--devices emulated"),
    ("build-host:7400", "127.0.0.1:7400"),
    ("root:7400", "127.0.0.1:7400"),
    ("HOST:7400", "127.0.0.1:7400"),
    ("0.0.0.0:7400", "127.0.0.1:7400"),
];

/// Flags whose files later commands of a page read: a search that is stopped may leave none.
const NEEDED: [&str; 3] = ["--certificate", "--solution", "--schedule"];

/// No command takes as long, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(1024);

/// A command of a page, and the first line that it prints there.
struct Shown {
    line: String,
    first: Option<String>,
}

/// A block of a page.
enum Block {
    Commands(Vec<Shown>),
    /// A file, which the block shows under its name.
    File(String, String),
}

/// The blocks of a page.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, Vec<&str>)> = None;
    for line in page.lines() {
        if let Some(info) = line.trim_start().strip_prefix("```") {
            match open.take() {
                None => open = Some((info, Vec::new())),
                Some(("" | "sh", lines)) => blocks.push(Block::Commands(commands(&lines))),
                Some((info, lines)) => {
                    let name = info.split_once(' ').map(|(_, name)| name.to_string());
                    blocks.extend(name.map(|name| Block::File(name, lines.join("\n") + "\n")));
                }
            }
        } else if let Some((_, lines)) = &mut open {
            lines.push(line);
        }
    }
    assert!(open.is_none(), "a block is open at the end");
    blocks
}

/// The commands of a block: the lines that begin with `$`, or else those that begin with a program.
fn commands(lines: &[&str]) -> Vec<Shown> {
    let session = lines.iter().any(|line| line.starts_with("$ "));
    let begins = |line: &str| RUN.iter().chain(&LEFT).any(|word| line.starts_with(word));
    let mut found: Vec<Shown> = Vec::new();
    let mut unfinished = false;
    for line in lines.iter().map(|line| line.trim()) {
        match line.strip_prefix("$ ") {
            _ if unfinished => found.last_mut().unwrap().line += &format!("\n{line}"),
            Some(line) => found.push(Shown { line: line.into(), first: None }),
            None if !session && begins(line) => {
                found.push(Shown { line: line.into(), first: None });
            }
            None => {
                if let Some(last) = found.last_mut().filter(|last| last.first.is_none()) {
                    last.first = Some(line.into());
                }
                continue;
            }
        }
        unfinished = line.ends_with('\\');
    }
    found
}

/// A page as it is tried: a folder with the files that its commands name, and programs under their names.
struct Trial {
    place: PathBuf,
    /// The service that the page has started, and its address.
    service: Option<(Group, String)>,
}

impl Trial {
    fn new(page: &str) -> Self {
        let place = folder("book").join(page.replace('/', "-"));
        let _ = fs::remove_dir_all(&place);
        for part in [
            "docs",
            "bin",
            ".zfunc",
            ".config/fish/completions",
            ".local/share/man/man1",
            ".local/share/bash-completion/completions",
        ] {
            fs::create_dir_all(place.join(part)).unwrap();
        }
        for part in ["data", "scenarios"] {
            symlink(root().join(part), place.join(part)).unwrap();
        }
        for file in fs::read_dir(root().join("pleach/tests/book")).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), place.join(file.file_name())).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_pleach"), place.join("bin/pleach")).unwrap();
        symlink(example_path("walks"), place.join("bin/walks")).unwrap();
        let examples = example_path("");
        let cargo = format!(
            "#!/bin/sh\nshift 2\n[ \"$1\" = -- ] && {{ shift; exec pleach \"$@\"; }}\n\
             example=$2; shift 3; exec '{}'/$example \"$@\"\n",
            examples.display()
        );
        fs::write(place.join("bin/cargo"), cargo).unwrap();
        fs::set_permissions(place.join("bin/cargo"), fs::Permissions::from_mode(0o755)).unwrap();
        Self { place, service: None }
    }

    /// Starts a command in a group of processes of its own.
    fn start(&self, line: &str, files: &str) -> Group {
        let file = |end: &str| fs::File::create(self.place.join(format!("{files}.{end}"))).unwrap();
        let path = std::env::var("PATH").unwrap();
        Command::new("bash")
            .args(["-c", line])
            .current_dir(&self.place)
            .env("HOME", &self.place)
            .env("PLEACH_SERVICE", "service/operator")
            .env("PATH", format!("{}:{path}", self.place.join("bin").display()))
            .stdin(Stdio::null())
            .stdout(file("out"))
            .stderr(file("err"))
            .process_group(0)
            .spawn()
            .map(Group)
            .unwrap()
    }

    fn text(&self, file: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.place.join(file)).unwrap_or_default()).into_owned()
    }

    /// Runs the commands of a block; returns what is wrong.
    fn run(&mut self, block: &[Shown]) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut listening: Option<(Group, &str, String)> = None;
        for Shown { line, first } in block {
            let mut changed = line.clone();
            for (one, other) in INSTEAD {
                changed = changed.replace(one, other);
            }
            if changed.contains("--dashboard") {
                changed =
                    format!("script --quiet --return --flush --command '{changed}' /dev/null");
            }
            if changed.starts_with("pleach serve") {
                let address = free_address();
                let changed = changed.replace("127.0.0.1:7400", &address);
                let mut group = self.start(&changed, "service");
                until(&format!("'{line}' to listen"), || {
                    self.text("service.err").contains("serving at") || group.is_over()
                });
                self.service = Some((group, address));
                continue;
            }
            if changed.contains("--listen") && listening.is_none() {
                let address = free_address();
                let mut group =
                    self.start(&changed.replace("127.0.0.1:7400", &address), "listening");
                until(&format!("'{line}' to listen"), || {
                    self.text("listening.err").contains("to join") || group.is_over()
                });
                listening = Some((group, line, address));
                continue;
            }
            let on_page = self.service.as_ref().map_or("127.0.0.1:1", |(_, address)| address);
            let address = listening.as_ref().map_or(on_page, |(_, _, address)| address);
            changed = changed.replace("127.0.0.1:7400", address);
            changed = changed.replace("spare:7401", &free_address());
            wrong.extend(self.finish(line, &changed, first.as_deref()));
        }
        if let Some((mut group, line, _)) = listening {
            group.interrupt();
            let code = group.end().code();
            if !matches!(code, Some(0 | 3)) {
                wrong.push(format!("{line}: {code:?}: {}", self.text("listening.err")));
            }
        }
        wrong
    }

    /// Runs one command to its end, or for a while; returns what is wrong.
    fn finish(&self, line: &str, changed: &str, first: Option<&str>) -> Option<String> {
        let is_needed = NEEDED.iter().any(|flag| line.contains(flag));
        let mut most = Duration::from_secs(1);
        while most <= PATIENCE {
            let mut group = self.start(changed, "command");
            let since = Instant::now();
            while !group.is_over() && since.elapsed() < most {
                sleep(Duration::from_millis(5));
            }
            let interrupted = !group.is_over();
            if interrupted {
                group.interrupt();
            }
            let end = group.end();
            // On a busy machine it may not yet be able to stop cleanly, or not be done: then it gets more time.
            most *= 4;
            let stopped = end.signal() == Some(2) || end.code() == Some(130);
            let searches =
                ["pleach solve", "pleach count"].iter().any(|it| changed.starts_with(it));
            let mut words = changed.split_whitespace().skip_while(|word| *word != "--checkpoint");
            let file = words.nth(1).filter(|_| searches);
            let unsaved = file.is_some_and(|file| !self.place.join(file).exists());
            if stopped || interrupted && (is_needed || unsaved) && end.code() == Some(3) {
                continue;
            }
            let (out, err) = (self.text("command.out"), self.text("command.err"));
            let differs = first.filter(|first| {
                let result = ["(optimal)", "(counted)"].iter().any(|word| first.contains(word));
                result && line == changed && end.code() == Some(0) && !out.contains(*first)
            });
            return match (end.code(), differs) {
                (Some(0 | 3), None) => None,
                (Some(0 | 3), Some(first)) => Some(format!("{line}: not '{first}', but {out}")),
                (code, _) => Some(format!("{line}: exit code {code:?}: {err}")),
            };
        }
        Some(format!("{line}: cannot be stopped"))
    }
}

/// A command, with all processes that it starts; those that are left end with it.
struct Group(Child);

impl Group {
    fn is_over(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }

    fn end(&mut self) -> ExitStatus {
        until("the end of a command", || self.is_over());
        self.0.wait().unwrap()
    }

    /// Sends Ctrl-C to all of its processes.
    fn interrupt(&self) {
        self.send("-INT");
    }

    fn send(&self, signal: &str) {
        let group = format!("-{}", self.0.id());
        // It may have ended by now.
        let _ = Command::new("kill").args([signal, "--", &group]).stderr(Stdio::null()).status();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.send("-KILL");
        let _ = self.0.wait();
    }
}

/// Whether a command of a page is run.
fn is_run(line: &str) -> bool {
    let form = ["…", " PROBLEM", "HOST:PORT", " FILE"].iter().any(|part| line.contains(part));
    let left = LEFT.iter().any(|part| line.contains(part));
    !form && !left
}

/// Tries all commands of a page.
fn try_page(page: &str) {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let mut trial = Trial::new(page);
    let mut wrong = Vec::new();
    let mut tried = 0;
    for block in blocks(&text) {
        match block {
            Block::File(name, text) => fs::write(trial.place.join(name), text).unwrap(),
            Block::Commands(mut commands) => {
                commands.retain(|shown| is_run(&shown.line));
                tried += commands.len();
                wrong.extend(trial.run(&commands));
            }
        }
    }
    if let Some((mut group, _)) = trial.service.take() {
        group.interrupt();
        let code = group.end().code();
        assert_eq!(code, Some(0), "{page}: {}", trial.text("service.err"));
    }
    assert!(tried > 0, "{page} has no commands");
    assert!(wrong.is_empty(), "{page}:\n{}", wrong.join("\n"));
}

macro_rules! pages {
    ($($name:ident $page:literal)*) => {
        $(#[test] fn $name() { try_page($page) })*
        const PAGES: &[&str] = &[$($page),*];
    };
}

pages! {
    readme "README.md"
    tutorial "docs/tutorial.md"
    recipes "docs/howto.md"
    gallery "docs/gallery.md"
    use_ "docs/use.md"
    flowshop "docs/flowshop.md"
    atsp "docs/atsp.md"
    clique "docs/clique.md"
    qap "docs/qap.md"
    service "docs/service.md"
    cluster "docs/cluster.md"
    gpu "docs/gpu.md"
    simulator "docs/simulator.md"
    loops "docs/loops.md"
    figures "docs/figures.md"
    python "docs/python.md"
    measured "docs/measured.md"
}

#[test]
fn every_page_with_commands_is_tried() {
    for page in crate::house::pages() {
        let text = fs::read_to_string(root().join(&page)).unwrap();
        let has = blocks(&text).iter().any(|block| match block {
            Block::Commands(commands) => commands.iter().any(|shown| is_run(&shown.line)),
            Block::File(..) => false,
        });
        assert_eq!(has, PAGES.contains(&page.as_str()), "{page}");
    }
}

#[test]
fn commands_are_found() {
    let page = "```\n$ pleach count queens 8\nqueens 8: 92 (counted)\n```\n```rust\npleach no\n```\n\
                ```\npleach a \\\n  --b\nci/test.sh\nelse\n```\n";
    let mut found = blocks(page).into_iter();
    let mut next = || match found.next() {
        Some(Block::Commands(commands)) => commands,
        _ => panic!("no commands"),
    };
    let [first, second] = [next(), next()];
    let lines = |block: &[Shown]| block.iter().map(|shown| shown.line.clone()).collect::<Vec<_>>();
    assert_eq!(lines(&first), ["pleach count queens 8"]);
    assert_eq!(first[0].first.as_deref(), Some("queens 8: 92 (counted)"));
    assert_eq!(lines(&second), ["pleach a \\\n--b", "ci/test.sh"]);
    assert!(is_run("pleach count queens 8"));
    assert!(!is_run("ci/test.sh") && !is_run("pleach resume FILE"));
}
