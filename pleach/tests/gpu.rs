//! What drives GPUs, with a driver that has the emulated device for one, and a compiler that is none.

use crate::outside::folder;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The folder of the driver, made once; nothing where there is no compiler.
fn driver() -> Option<&'static Path> {
    static MADE: OnceLock<Option<PathBuf>> = OnceLock::new();
    MADE.get_or_init(make).as_deref()
}

fn make() -> Option<PathBuf> {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels");
    let folder = folder("driver");
    let source = |name: &str| kernels.join("emulated").join(name).into_os_string();
    let mut parts = Vec::new();
    let mut compilers = Vec::new();
    for (name, file) in [
        ("queens", "kernel.cpp"),
        ("flowshop", "kernel.cpp"),
        ("flowshop_bounds", "kernel.cpp"),
        ("uts", "kernel.cpp"),
        ("block", "block.cpp"),
        ("driver", "driver.cpp"),
        ("compiler", "compiler.cpp"),
    ] {
        let part = folder.join(format!("{name}.o"));
        let compiler = Command::new("c++")
            .args(["-c", "-O1", "-fPIC", "-std=c++17", "-Wno-unknown-pragmas"])
            .arg(format!("-DPLEACH_SOURCE=\"{name}.cu\""))
            .arg(format!("-DPLEACH_LAUNCH=pleach_emulated_{name}"))
            .arg(format!("-DPLEACH_BOUNDS={}", u8::from(name.ends_with("_bounds"))))
            .arg("-I")
            .arg(kernels.join("cuda"))
            .args([source(file), "-o".into(), part.clone().into_os_string()])
            .spawn()
            .ok()?;
        compilers.push(compiler);
        parts.push(part);
    }
    for mut compiler in compilers {
        assert!(compiler.wait().unwrap().success());
    }
    let compiler = parts.split_off(6);
    for (parts, name) in [(parts, "cuda"), (compiler, "nvrtc")] {
        let place = folder.join(name);
        std::fs::create_dir_all(&place).unwrap();
        let library = place.join(format!("lib{name}.so"));
        let linked = Command::new("c++").arg("-shared").args(parts).arg("-o").arg(library).status();
        assert!(linked.unwrap().success());
    }
    Some(folder)
}

/// Runs the command with a driver that is like this.
pub fn pleach(words: &str, driver_is: &str) -> Option<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    command
        .env("LD_LIBRARY_PATH", driver()?.join("cuda"))
        .env("XDG_CACHE_HOME", folder("no-kernels"));
    Some(command.env("PLEACH_DRIVER", driver_is).args(words.split_whitespace()).output().unwrap())
}

/// Counts queens, with a compiler that is like this too, which keeps what it makes there.
fn compiling(compiler_is: &str, kept: &Path) -> Option<Output> {
    let both = ["cuda", "nvrtc"].map(|name| driver().map(|driver| driver.join(name)));
    let [Some(cuda), Some(nvrtc)] = both else { return None };
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    command.env("LD_LIBRARY_PATH", std::env::join_paths([cuda, nvrtc]).unwrap());
    command.env("PLEACH_DRIVER", "kernel=queens").env("PLEACH_COMPILER", compiler_is);
    command.env("XDG_CACHE_HOME", kept).args(["count", "queens", "8", "--devices", "gpu"]);
    Some(command.output().unwrap())
}

pub fn answer(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn names(answer: &Value) -> Vec<&str> {
    answer["units"].as_array().unwrap().iter().map(|unit| unit["name"].as_str().unwrap()).collect()
}

#[test]
fn counts_on_gpus_are_those_of_the_cpu() {
    for (kernel, command) in [
        ("queens", "count queens 11"),
        ("uts", "count uts type=binomial,b0=60,q=0.19,m=5,seed=3"),
        ("flowshop", "solve flowshop VFR10_5_3 --best optimum --bound one"),
    ] {
        let like = format!("kernel={kernel}");
        let run = |devices: &str, like: &str| {
            let output = pleach(&format!("{command} --devices {devices} --json --quiet"), like)?;
            assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(answer(&output))
        };
        let Some(wanted) = run("cpu", &like) else { return };
        for (devices, gpus, units) in [
            ("gpu", 1, &["gpu0"][..]),
            ("cpu,gpu0:inside=adapt", 1, &["cpu0", "gpu0"]),
            ("gpu", 2, &["gpu0", "gpu1"]),
            ("gpu1:explorers=33", 2, &["gpu1"]),
        ] {
            let answer = run(devices, &format!("{like},gpus={gpus}")).unwrap();
            for key in ["branched", "bounded"] {
                assert_eq!(answer["nodes"][key], wanted["nodes"][key], "{command} on {devices}");
            }
            assert_eq!(answer["count"], wanted["count"], "{command} on {devices}");
            let names = names(&answer);
            assert!(units.iter().all(|unit| names.contains(unit)), "{names:?} of {devices}");
        }
    }
}

#[test]
fn gpus_take_part_without_being_asked() {
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
        flowshop["units"].as_array().unwrap().iter().map(|unit| &unit["name"]).collect();
    assert!(names.contains(&&Value::from("gpu0")), "{names:?}");
}

#[test]
fn what_is_wrong_with_a_gpu_is_said_and_the_run_goes_on() {
    for (like, said) in [
        ("kernel=queens,gpus=0", "gpu0 not used: the CUDA driver sees no GPU"),
        ("kernel=queens,version=11080", "supports CUDA 11.8, expected 12.1 or later"),
        ("kernel=queens,memory=20000", "bytes of memory, only"),
        ("kernel=queens,memory=5000000", "bytes of memory, only"),
        ("kernel=none", "cannot build kernel 'queens'"),
        ("kernel=queens,fail=1", "gpu0: "),
        ("kernel=queens,fail=6", "gpu0: "),
        ("kernel=queens,fail=11", "gpu0: "),
    ] {
        let Some(output) = pleach("count queens 11 --devices cpu,gpu --threads 1", like) else {
            return;
        };
        let warned = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{warned}");
        // A device that fails as the search ends has nothing to lose.
        assert!(warned.contains(said) || like.contains("fail="), "{like}: {warned}");
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

#[test]
fn kernels_are_kept_and_made_anew_where_what_is_kept_is_broken() {
    let place = folder("kernels");
    let count = |compiler_is: &str| {
        let output = compiling(compiler_is, &place)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.starts_with("queens 8: 92 (counted)"), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
        Some(())
    };
    let files = || -> Vec<PathBuf> {
        let files = std::fs::read_dir(place.join("pleach")).into_iter().flatten();
        files.map(|file| file.unwrap().path()).collect()
    };
    files().iter().for_each(|file| std::fs::remove_file(file).unwrap());
    if count("").is_none() {
        return;
    }
    let [file] = &files()[..] else { panic!("{:?}", files()) };
    let good = std::fs::read_to_string(file).unwrap();
    for broken in ["", "\0", "nothing that was compiled"] {
        std::fs::write(file, broken).unwrap();
        count("").unwrap();
        assert_eq!(std::fs::read_to_string(file).unwrap(), good);
    }
    // What is kept is used: a compiler that fails by now is not asked.
    count("broken").unwrap();
    // Without it there is still what was compiled for any instance, which is not kept.
    for compiler_is in ["broken", "another"] {
        std::fs::remove_file(file).unwrap_or_default();
        count(compiler_is).unwrap();
        assert!(!file.exists());
    }
    // What a compiler makes that is newer than the driver is taken all the same.
    count("newer").unwrap();
    assert_eq!(std::fs::read_to_string(file).unwrap().trim(), good.trim());
}

#[test]
fn gpus_are_shown_with_a_rate() {
    let Some(output) = pleach("devices", "kernel=queens") else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("gpu0: emulated GPU, 1024 MiB\n  queens 16"), "{text}");
    let output = pleach("devices --json", "kernel=queens").unwrap();
    let gpu = &answer(&output)["gpus"][0];
    assert!(gpu["queens 16"].as_f64().is_some_and(|rate| rate > 0.0), "{gpu}");
    assert!(gpu["fails"].is_null(), "{gpu}");
}
