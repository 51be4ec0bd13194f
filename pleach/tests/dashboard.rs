//! `--dashboard` on a terminal: it shows the run, and the terminal is left as it was, whatever happens.

use crate::outside::{folder, pleach, refused, until};
use serde_json::Value;
use std::fs;

#[test]
fn without_a_terminal_a_warning_says_so() {
    let output = pleach("count queens 8 --dashboard");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.lines().count() == 1 && said.contains("not a terminal"), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("queens 8: 92"));
    refused("count queens 8 --dashboard --quiet", "--dashboard and --quiet contradict each other");
    refused("sim uts T1 --dashboard", "--dashboard does not apply to 'sim");
}

/// Commands on a terminal, provided by `script` from util-linux.
#[cfg(target_os = "linux")]
mod terminal {
    use super::*;
    use crate::cluster::party::free_address;
    use std::io::{Read, Write};
    use std::process::{Child, Command, Stdio};
    use std::sync::{Arc, Mutex};
    use std::thread::{JoinHandle, sleep, spawn};
    use std::time::Duration;

    const ENTER: &str = "\x1b[?1049h";
    const LEAVE: &str = "\x1b[?1049l";

    /// A command on a terminal with 80 columns and 24 rows.
    struct Terminal {
        script: Child,
        seen: Arc<Mutex<Vec<u8>>>,
        reader: JoinHandle<()>,
    }

    impl Terminal {
        fn new(words: &str) -> Self {
            let pleach = env!("CARGO_BIN_EXE_pleach");
            let line = format!("stty rows 24 cols 80 && exec '{pleach}' {words}");
            let mut script = Command::new("script")
                .args(["--quiet", "--return", "--flush", "--command", &line, "/dev/null"])
                .env("TERM", "xterm")
                .env("NO_COLOR", "1")
                .env("SHELL", "/bin/sh")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("script, of util-linux");
            let mut out = script.stdout.take().unwrap();
            let seen = Arc::new(Mutex::new(Vec::new()));
            let all = Arc::clone(&seen);
            let reader = spawn(move || {
                let mut bytes = [0; 4096];
                while let Some(count) = out.read(&mut bytes).ok().filter(|&count| count > 0) {
                    all.lock().unwrap().extend(&bytes[..count]);
                }
            });
            Self { script, seen, reader }
        }

        fn text(&self) -> String {
            String::from_utf8_lossy(&self.seen.lock().unwrap()).into_owned()
        }

        /// Waits until it shows this.
        fn wait_for(&self, what: &str) {
            until(what, || {
                let (over, shown) = (self.reader.is_finished(), self.text());
                assert!(!over || shown.contains(what), "no {what}: {shown}");
                shown.contains(what)
            });
        }

        fn press_ctrl_c(&mut self) {
            self.press(b"\x03");
        }

        fn press(&mut self, key: &[u8]) {
            let keys = self.script.stdin.as_mut().unwrap();
            // It may have ended on its own.
            let _ = keys.write_all(key).and_then(|()| keys.flush());
        }

        fn is_over(&mut self) -> bool {
            self.script.try_wait().unwrap().is_some()
        }

        /// The exit code. What it shows ends with it; until then its standard input stays open.
        fn code(&mut self) -> Option<i32> {
            until("the end", || self.reader.is_finished());
            self.script.wait().unwrap().code()
        }

        /// The exit code, and what was shown before the dashboard, on it, and after it.
        fn end(mut self) -> (Option<i32>, [String; 3]) {
            let code = self.code();
            let all = self.text();
            let count = |what| all.matches(what).count();
            assert_eq!((count(ENTER), count(LEAVE)), (1, 1), "{all}");
            for (hidden, shown) in [("\x1b[?25l", "\x1b[?25h"), ("\x1b[?7l", "\x1b[?7h")] {
                assert_eq!((count(hidden), count(shown)), (1, 1), "{all}");
            }
            let (before, rest) = all.split_once(ENTER).unwrap();
            let (on, after) = rest.split_once(LEAVE).unwrap();
            (code, [before, on, after].map(str::to_string))
        }
    }

    #[test]
    fn the_result_comes_after_the_dashboard() {
        // However busy the machine is, there is something to show before that.
        let run = Terminal::new("count uts T1XXL --node-limit 200000000 --threads 2 --dashboard");
        let (code, [before, on, after]) = run.end();
        assert_eq!(code, Some(3));
        assert_eq!(before, "");
        for said in ["uts T1XXL", "getting ready", "cpu1", "nodes a second", "█"] {
            assert!(on.contains(said), "{said}: {on}");
        }
        assert!(after.starts_with("uts T1XXL: ") && after.contains("the node limit"), "{after}");
        assert!(!after.contains('\x1b'), "{after}");
    }

    #[test]
    fn ctrl_c_ends_a_search_and_its_dashboard() {
        let mut run = Terminal::new("solve flowshop ta056 --dashboard");
        run.wait_for("cpu0");
        run.press_ctrl_c();
        let (code, [_, on, after]) = run.end();
        assert_eq!(code, Some(3), "{after}");
        assert!(on.contains("best") && on.contains("bound"), "{on}");
        assert!(after.contains("flowshop ta056: ") && after.contains("request"), "{after}");
    }

    #[test]
    fn ctrl_z_leaves_the_dashboard_until_the_search_continues() {
        let mut run = Terminal::new("solve flowshop ta056 --dashboard");
        run.wait_for("cpu0");
        run.press(b"\x1a");
        // The command stops, and so does `script`, which has both continue at once.
        until("the dashboard again", || {
            let id = run.script.id().to_string();
            assert!(Command::new("kill").args(["-CONT", &id]).status().unwrap().success());
            run.text().matches(ENTER).count() >= 2
        });
        run.press_ctrl_c();
        assert_eq!(run.code(), Some(3));
        let all = run.text();
        let order: Vec<usize> =
            [ENTER, LEAVE].iter().flat_map(|it| all.match_indices(it)).map(|it| it.0).collect();
        assert!(
            order.len() == 4 && order[0] < order[2] && order[2] < order[1] && order[1] < order[3],
            "{all}"
        );
    }

    /// The end of a search waits for a process that has stopped, but a second Ctrl-C does not.
    #[test]
    fn a_second_ctrl_c_ends_the_process_and_its_dashboard() {
        let key = folder("dashboard").join("run.key");
        let _ = fs::remove_file(&key);
        let address = free_address();
        let mut run = Terminal::new(&format!(
            "solve flowshop ta056 --threads 1 --listen {address} --key {} --dashboard",
            key.display()
        ));
        run.wait_for("to join: ");
        let joiner = Command::new(env!("CARGO_BIN_EXE_pleach"))
            .args(["join", &address, "--threads", "1", "--key"])
            .arg(&key)
            .stderr(Stdio::null())
            .spawn();
        let joiner = Joiner(joiner.unwrap());
        run.wait_for("2 of 2 workers busy");
        assert!(Command::new("kill").args(["-STOP", &joiner.id()]).status().unwrap().success());
        until("the end", || {
            run.press_ctrl_c();
            // Two in a row count as one.
            sleep(Duration::from_millis(50));
            run.is_over()
        });
        let (code, [before, on, after]) = run.end();
        assert_eq!((code, after.as_str()), (Some(130), ""));
        assert!(before.contains("to join: ") && on.contains("site1"), "{on}");
    }

    /// A process that is ended when it is dropped.
    struct Joiner(Child);

    impl Joiner {
        fn id(&self) -> String {
            self.0.id().to_string()
        }
    }

    impl Drop for Joiner {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn loops_have_a_dashboard() {
        let mut run = Terminal::new("loop lattice --size 64x32x32 --steps 1000000 --dashboard");
        run.wait_for("cpu0");
        run.press_ctrl_c();
        let (code, [_, on, after]) = run.end();
        assert_eq!(code, Some(3), "{after}");
        assert!(on.contains("of 1,000,000") && on.contains("share"), "{on}");
        assert!(after.starts_with("lattice: stopped after "), "{after}");
    }

    #[test]
    fn notes_are_printed_once_the_terminal_is_as_it_was() {
        let folder = folder("dashboard");
        let file = folder.join("notes.pleach");
        let _ = fs::remove_file(&file);
        let words = format!("count queens 13 --checkpoint {}", file.display());
        assert_eq!(pleach(&format!("{words} --node-limit 500000")).status.code(), Some(3));
        let out = folder.join("out.json");
        let words = format!("{words} --dashboard --json > {}", out.display());
        let (code, [_, on, after]) = Terminal::new(&words).end();
        assert_eq!(code, Some(0), "{after}");
        assert!(!on.contains("count queens"), "{on}");
        assert!(after.starts_with("pleach: resuming the search in "), "{after}");
        let report: Value = serde_json::from_str(&fs::read_to_string(out).unwrap()).unwrap();
        assert_eq!(
            (&report["count"], &report["settings"]["dashboard"]),
            (&73_712.into(), &true.into())
        );
    }

    #[test]
    fn repeated_runs_share_a_dashboard() {
        let run = Terminal::new("count queens 12 --repeat 3 --dashboard");
        let (code, [_, on, after]) = run.end();
        assert_eq!(code, Some(0), "{after}");
        assert!(on.contains("run 1 of 3") && on.contains("run 3 of 3"), "{on}");
        assert!(after.starts_with("queens 12: 14,200 (counted)"), "{after}");
    }
}
