//! The GPU code, with a driver whose GPU is the emulated device, and a stand-in for its compiler.

use crate::outside::{folder, output_of};
use crate::stand_in::stand_in;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Runs the command with a driver of this kind.
pub fn pleach(words: &str, driver_is: &str) -> Option<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    stand_in(&mut command, true, &folder("some-kernels"))?;
    Some(output_of(command.env("PLEACH_DRIVER", driver_is).args(words.split_whitespace())))
}

/// Counts queens on a device, with a compiler of this kind or none; compiled code is cached in a folder.
fn compiling(device: &str, compiler_is: &str, kept: &Path) -> Option<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    stand_in(&mut command, compiler_is != "absent", kept)?;
    command.env("PLEACH_DRIVER", "kernel=queens").env("PLEACH_COMPILER", compiler_is);
    command.args(["count", "queens", "8", "--json", "--devices", device]);
    Some(output_of(&mut command))
}

/// The form of the only worker's kernel, and why there is no better one.
fn form(output: &Output) -> [String; 2] {
    let worker = answer(output)["units"][0].clone();
    ["kernel", "kernel_log"].map(|key| worker[key].as_str().unwrap_or_default().to_string())
}

pub fn answer(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn names(answer: &Value) -> Vec<&str> {
    answer["units"]
        .as_array()
        .unwrap()
        .iter()
        .map(|worker| worker["name"].as_str().unwrap())
        .collect()
}

/// Why a GPU cannot be used again.
pub const REFUSED: &str = "gpu0 not used: one of its kernels hangs; only a new process can use it";

/// The command with a larger tree: threads would be done with the smaller one before a GPU could take part.
pub fn with_threads(command: &str) -> String {
    let larger =
        [("queens 10", "queens 11"), ("VFR10_5_5", "VFR10_5_3"), ("VFR10_10_1", "VFR10_10_2")];
    larger.iter().fold(command.to_string(), |command, (small, large)| command.replace(small, large))
}

#[test]
fn counts_on_gpus_are_those_of_the_cpu() {
    for (kernel, command) in [
        ("queens", "count queens 10"),
        ("queens_intervals", "count queens 10 --nodes interval"),
        ("uts", "count uts type=binomial,b0=60,q=0.19,m=5,seed=3"),
        ("flowshop", "solve flowshop VFR10_5_5 --best optimum --bound one"),
        (
            "flowshop_intervals",
            "solve flowshop VFR10_5_5 --best optimum --bound one --nodes interval",
        ),
        (
            "flowshop_parallel",
            "solve flowshop VFR10_5_3 --best optimum --bound two --nodes interval",
        ),
        ("atsp", "solve atsp crane:9:1 --best 2431155 --bound partial"),
        ("atsp_intervals", "solve atsp crane:8:1 --best 2301622 --bound partial --nodes interval"),
    ] {
        let like = format!("kernel={kernel}");
        let run = |command: &str, devices: &str, like: &str| {
            let output = pleach(&format!("{command} --devices {devices} --json --quiet"), like)?;
            assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(answer(&output))
        };
        for (devices, gpus, workers) in [
            ("gpu", 1, &["gpu0"][..]),
            ("cpu,gpu0:inside=adapt", 1, &["cpu0", "gpu0"]),
            ("gpu", 2, &["gpu0", "gpu1"]),
            ("gpu1:explorers=33", 2, &["gpu1"]),
            ("gpu:giving=always:explorers=9", 1, &["gpu0"]),
        ] {
            if devices.contains("giving") && command.contains("interval") {
                continue;
            }
            let larger = with_threads(command);
            let command = if devices.starts_with("cpu") { &larger } else { command };
            let Some(wanted) = run(command, "cpu", &like) else { return };
            let answer = run(command, devices, &format!("{like},gpus={gpus}")).unwrap();
            for key in ["branched", "bounded"] {
                assert_eq!(answer["nodes"][key], wanted["nodes"][key], "{command} on {devices}");
            }
            assert_eq!(answer["count"], wanted["count"], "{command} on {devices}");
            let names = names(&answer);
            assert!(workers.iter().all(|worker| names.contains(worker)), "{names:?} of {devices}");
        }
    }
}

/// Whatever way their kernels are launched, and whichever launch fails.
#[test]
fn loops_on_gpus_have_the_results_of_the_cpu() {
    for (words, kernel) in [
        ("csrmm fem:600 --columns 3", "loop_csrmm"),
        ("rays bluntfin:4x3x3 --size 40x30 --method march", "loop_rays"),
        ("lattice --size 32x8x16 --steps 9", "loop_lattice"),
        ("spmm web:400x3", ""),
    ] {
        let run = |devices: &str, like: &str| {
            let words = format!("loop {words} --devices {devices} --json");
            let output = pleach(&words, like)?;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            Some((answer(&output)["loop"]["checksum"].as_f64().unwrap(), said))
        };
        let Some((wanted, _)) = run("cpu", "kernel=none") else { return };
        for (devices, like) in [
            ("gpu", "gpus=1"),
            ("gpu:launch=once", "gpus=1"),
            ("cpu,gpu:launch=once:rmax=5", "gpus=1"),
            ("gpu0:launch=once,gpu1", "gpus=2"),
            ("gpu", "fail=2"),
            ("gpu:launch=once", "fail=1"),
        ] {
            let (found, said) = run(devices, like).unwrap();
            let what = format!("{words} on {devices}, {like}: {found} for {wanted}, {said}");
            assert!((found / wanted - 1.0).abs() < 1e-9, "{what}");
            assert_eq!(
                said.contains("gpu0 failed") || said.contains("gpu0 not used"),
                like.contains("fail"),
                "{what}"
            );
        }
        let (found, said) = run("gpu:wait=1", "hang=1").unwrap();
        assert!((found / wanted - 1.0).abs() < 1e-9, "{words}: {found} for {wanted}");
        assert!(said.contains("a kernel hangs"), "{words}: {said}");
        // The second loop of `spmm` does not wait for the kernel of the first one.
        assert_eq!(said.contains(REFUSED), words.starts_with("spmm"), "{words}: {said}");
        if !kernel.is_empty() {
            let (_, said) = run("cpu,gpu", &format!("kernel={kernel}")).unwrap();
            assert!(said.is_empty(), "{said}");
        }
    }
}

#[test]
fn gpus_take_part_by_default() {
    let run = |words: &str, like: &str| {
        pleach(&format!("{words} --json --quiet"), like).map(|output| {
            assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
            answer(&output)
        })
    };
    let Some(queens) = run("count queens 10", "kernel=queens,gpus=2") else { return };
    let names = names(&queens);
    assert_eq!(names[names.len() - 2..], ["gpu0", "gpu1"]);
    assert_eq!(queens["settings"]["devices"], "cpu,gpu");
    let cores = std::thread::available_parallelism().unwrap().get();
    assert_eq!(names.len(), cores.saturating_sub(2).max(1) + 2, "each needs a core");
    // Two devices and a problem that they have no kernel for.
    let first = run("solve queens 8", "kernel=queens,gpus=2").unwrap();
    assert_eq!(first["units"].as_array().unwrap().len(), cores);
    let asked = run("count queens 10 --threads 3", "kernel=queens").unwrap();
    assert_eq!(asked["units"].as_array().unwrap().len(), 4);
    let flowshop = run("solve flowshop VFR10_5_3", "kernel=flowshop").unwrap();
    assert_eq!(flowshop["settings"]["bound"], "one");
    let names: Vec<&Value> =
        flowshop["units"].as_array().unwrap().iter().map(|worker| &worker["name"]).collect();
    assert!(names.contains(&&Value::from("gpu0")), "{names:?}");
}

#[test]
fn a_fault_of_a_gpu_is_reported_and_the_run_continues() {
    for (like, said) in [
        ("kernel=queens,gpus=0", "gpu0 not used: the CUDA driver sees no GPU"),
        ("kernel=queens,stub=1", "has a stub in place of the CUDA driver"),
        ("kernel=queens,version=11080", "supports CUDA 11.8, expected 12.1 or later"),
        ("kernel=queens,memory=20000", "bytes of memory, only"),
        ("kernel=queens,memory=5000000", "bytes of memory, only"),
        ("kernel=none", "ptxas application ptx input; the stand-in refuses it"),
        ("kernel=queens,fail=1", "gpu0: "),
        ("kernel=queens,fail=6", "gpu0: "),
        ("kernel=queens,fail=11", "gpu0: "),
    ] {
        let Some(output) = pleach("count queens 11 --devices cpu,gpu --threads 1", like) else {
            return;
        };
        let warned = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{warned}");
        // A device that fails as the search ends, or comes after that, has nothing to lose.
        let late = ["fail=", "memory=", "none"].iter().any(|fault| like.contains(fault));
        assert!(warned.contains(said) || late, "{like}: {warned}");
        assert!(warned.lines().count() <= 1, "{like}: {warned}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.starts_with("queens 11: 2,680 (counted)\n166,925 nodes"), "{like}: {text}");
        let alone = pleach("count queens 11 --devices gpu", like).unwrap();
        let warned = String::from_utf8_lossy(&alone.stderr);
        match alone.status.code() {
            Some(2) => assert!(warned.contains(said) && warned.lines().count() == 1, "{warned}"),
            code => {
                assert!(code == Some(0) && like.contains("fail="), "{like}: {warned}");
                assert!(warned.contains("unspecified launch failure"), "{like}: {warned}");
                assert!(warned.contains("its work continues on the CPU"), "{like}: {warned}");
            }
        }
    }
}

/// Slow steps run while the CPU is already searching, and never once the search is over.
#[test]
fn a_gpu_is_opened_during_the_search() {
    let words = "count queens 18 --devices cpu,gpu --threads 1 --time-limit 4s";
    let Some(output) = pleach(words, "kernel=none") else { return };
    let warned = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{warned}");
    let said = "refuses it; its thread searches on the CPU\n";
    assert!(warned.contains("gpu0 not used: cannot build") && warned.contains(said), "{warned}");
    let (start, words) = (Instant::now(), "count queens 8 9 --json --devices cpu,gpu");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    stand_in(&mut command, true, &folder("never-kept")).unwrap();
    command.env("PLEACH_DRIVER", "kernel=queens").env("PLEACH_COMPILER", "slow");
    let output = output_of(command.args(words.split(' ')));
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let lines = String::from_utf8_lossy(&output.stdout);
    let all: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(all.iter().map(|one| one["count"].clone()).collect::<Vec<_>>(), [92, 352]);
    let gpu = all[0]["units"].as_array().unwrap().last().unwrap();
    assert_eq!((&gpu["name"], &gpu["mode"]), (&"gpu0".into(), &"explore".into()));
    assert!(gpu["opened_s"].is_null() && gpu["kernel"].is_null(), "{gpu}");
    assert!(start.elapsed() < Duration::from_secs(1800));
}

#[test]
fn kernels_are_cached_and_compiled_again_if_the_cache_is_broken() {
    let place = folder("kernels");
    let count = |compiler_is: &str, wanted: &str| {
        let output = compiling("gpu", compiler_is, &place)?;
        assert_eq!(answer(&output)["count"], 92, "{output:?}");
        let [kernel, log] = form(&output);
        assert_eq!(kernel, wanted, "{output:?}");
        let warned = String::from_utf8_lossy(&output.stderr);
        assert_eq!(warned.is_empty(), wanted != "committed", "{compiler_is}: {output:?}");
        assert!(wanted != "committed" || warned.contains(&log), "{warned}");
        Some(())
    };
    let files = || -> Vec<PathBuf> {
        let files = std::fs::read_dir(place.join("pleach")).into_iter().flatten();
        files.map(|file| file.unwrap().path()).collect()
    };
    files().iter().for_each(|file| std::fs::remove_file(file).unwrap());
    if count("", "compiled").is_none() {
        return;
    }
    let [file] = &files()[..] else { panic!("{:?}", files()) };
    let good = std::fs::read(file).unwrap();
    assert!(good.starts_with(b"\x7fELF"), "machine code is kept, not text");
    let cut = &good[..good.len() - 1];
    for broken in [b"", &b"\0"[..], b"nothing that was compiled", cut] {
        std::fs::write(file, broken).unwrap();
        count("", "compiled").unwrap();
        assert_eq!(std::fs::read(file).unwrap(), good);
    }
    // The cache is used: a compiler that would now fail is not called.
    count("broken", "cached").unwrap();
    // Without the cache there is still the committed form, which is not cached.
    for compiler_is in ["broken", "another", "absent"] {
        std::fs::remove_file(file).unwrap_or_default();
        count(compiler_is, "committed").unwrap();
        assert!(!file.exists());
    }
    // Code from a compiler newer than the driver is accepted all the same.
    let output = compiling("gpu", "newer", &place).unwrap();
    let [kernel, log] = form(&output);
    assert_eq!(kernel, "lowered");
    assert!(log.contains("compiled: ") && log.contains("the stand-in refuses it"), "{log}");
    assert!(std::fs::read(file).unwrap().starts_with(b".version 8.0"));
    count("newer", "cached").unwrap();
}

#[test]
fn code_is_reused_by_the_next_instance() {
    // Nothing can be cached if a file is in the way.
    let place = folder("again");
    std::fs::write(place.join("pleach"), "in the way").unwrap();
    for (words, forms) in [
        ("count queens 8 8 --devices gpu", ["compiled", "cached"]),
        ("count queens 8 9 --devices gpu", ["compiled", "compiled"]),
        ("count queens 8 8 --devices gpu:form=committed", ["committed", "committed"]),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
        if stand_in(&mut command, true, &place).is_none() {
            return;
        }
        let output = output_of(command.args(words.split(' ')).arg("--json"));
        let lines = String::from_utf8(output.stdout).unwrap();
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let said: Vec<Value> = lines.map(|line| line["units"][0]["kernel"].clone()).collect();
        assert_eq!(said, forms, "{words}");
    }
    std::fs::remove_file(place.join("pleach")).unwrap();
}

#[test]
fn a_form_can_be_forced() {
    let place = folder("forced");
    for (device, compiler_is, kernel) in [
        ("gpu:form=compiled", "", "compiled"),
        ("gpu:form=compiled", "", "compiled"),
        ("gpu:form=compiled:lineinfo=yes", "newer", "lowered"),
        ("gpu:form=committed", "", "committed"),
        ("gpu:form=committed", "broken", "committed"),
    ] {
        let Some(output) = compiling(device, compiler_is, &place) else { return };
        assert_eq!(form(&output)[0], kernel, "{device} {compiler_is}");
        assert!(output.stderr.is_empty(), "{device} {compiler_is}: {output:?}");
    }
    for (compiler_is, said) in [
        ("broken", "compiled: NvrtcError(NVRTC_ERROR_COMPILATION); refused"),
        ("another", "lowered: DriverError(CUDA_ERROR_INVALID_IMAGE"),
        ("absent", "compiled: NVRTC not found"),
    ] {
        let output = compiling("gpu:form=compiled", compiler_is, &place).unwrap();
        let warned = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{warned}");
        assert!(warned.contains(said) && warned.lines().count() == 1, "{warned}");
    }
}

/// A kernel that does not end: no call that waits for it returns.
#[test]
fn a_device_that_hangs_is_given_up() {
    for launch in [1, 2, 9] {
        let hangs = format!("hang={launch}");
        let words = "count queens 10 --devices gpu0:wait=1 --json --quiet";
        let Some(output) = pleach(words, &hangs) else { return };
        assert_eq!(answer(&output)["count"], 724, "{hangs}");
        let warned = String::from_utf8_lossy(&output.stderr);
        let said = "gpu0 failed: a kernel hangs; its work continues on the CPU";
        assert!(warned.contains(said), "{hangs}: {warned}");
    }
    let output = pleach("count queens 10 11 --devices gpu0:wait=1", "hang=1").unwrap();
    let (text, warned) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("724") && !text.contains("2,680"), "{text}");
    assert!(warned.contains(REFUSED) && output.status.code() == Some(2), "{warned}");
}

#[test]
fn all_kernels_are_checked_in_one_process() {
    let Some(output) = pleach("devices --check gpu0 --quick", "") else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains(" right, 0 wrong, 0 failed"), "{text}");
    for kernel in ["flowshop", "atsp", "queens", "uts"] {
        for choice in
            ["explorers=1 ", "explorers=33 ", "explorers=all ", "inside=adapt ", "giving=always "]
        {
            let right = |line: &str| line.starts_with(&format!("ok     {kernel} "));
            assert!(text.lines().any(|line| right(line) && line.contains(choice)), "{text}");
        }
    }
    let output = pleach("devices uts --check gpu0:explorers=3 --json --quiet --quick", "").unwrap();
    let checks = answer(&output)["checks"].clone();
    assert!(checks.as_array().unwrap().iter().all(|row| row["problem"] == "uts"), "{checks}");
    assert!(checks.as_array().unwrap().len() >= 8 && output.stderr.is_empty(), "{checks}");
}

#[test]
fn a_kernel_that_fails_does_not_keep_others_from_being_checked() {
    for (fault, problems, result, said) in [
        ("wrong=4", "flowshop uts", "wrong", ""),
        ("fail=3", "flowshop uts", "failed", "unspecified launch failure"),
        ("hang=3", "flowshop uts", "failed", "a kernel hangs"),
        ("kernel=uts", "", "failed", "the stand-in refuses it"),
    ] {
        // Flowshop comes first, UTS last.
        let like = format!("{fault},faulty=flowshop");
        let device = "gpu0:wait=1:explorers=3";
        let words = format!("devices {problems} --check {device} --json --quiet --quick");
        let Some(output) = pleach(&words, &like) else { return };
        assert_eq!(output.status.code(), Some(1), "{like}: {output:?}");
        let all: Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = all["checks"].as_array().unwrap();
        let of = |kernel: &'static str| rows.iter().filter(move |row| row["problem"] == kernel);
        let bad = of("flowshop").find(|row| row["result"] == result).expect("it shows");
        assert!(bad["why"].as_str().unwrap_or_default().contains(said), "{like}: {bad}");
        let right = of("uts").filter(|row| row["result"] == "ok").count();
        assert!(right >= 4 && of("uts").all(|row| row["result"] != "wrong"), "{all}");
        assert_ne!(all[result], 0, "{all}");
    }
}

#[test]
fn gpus_are_shown_with_a_rate() {
    let Some(output) = pleach("devices", "kernel=queens") else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("gpu0: emulated GPU (NVIDIA), 1024 MiB\n  queens 16"), "{text}");
    let output = pleach("devices --json", "kernel=queens").unwrap();
    let gpu = &answer(&output)["gpus"][0];
    assert!(gpu["queens 16"].as_f64().is_some_and(|rate| rate > 0.0), "{gpu}");
    assert!(gpu["fails"].is_null(), "{gpu}");
}

/// It used to have the rate of the CPU, on which its work continued.
#[test]
fn a_gpu_that_fails_has_no_rate() {
    let Some(output) = pleach("devices --json", "kernel=queens,fail=3") else { return };
    let gpu = &answer(&output)["gpus"][0];
    assert!(gpu["queens 16"].is_null(), "{gpu}");
    let why = gpu["fails"].as_str().unwrap_or_default();
    assert!(why.contains("gpu0 failed: ") && why.contains("launch failure"), "{gpu}");
}
