//! The code for AMD's GPUs, with stand-ins for HIP's libraries.

use crate::gpu::{REFUSED, answer, with_threads};
use crate::outside::{folder, output_of};
use crate::stand_in::{driver, stand_in, stand_in_hip};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the command with the libraries of a folder, and a driver and a compiler of these kinds.
fn run(
    words: &str,
    place: &str,
    driver_is: &str,
    compiler_is: &str,
    kept: &Path,
) -> Option<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    stand_in_hip(&mut command, place, kept)?;
    command.env("PLEACH_DRIVER", driver_is).env("PLEACH_COMPILER", compiler_is);
    Some(output_of(command.args(words.split_whitespace())))
}

fn pleach(words: &str, driver_is: &str) -> Option<Output> {
    run(words, "hip", driver_is, "", &folder("hip-kernels"))
}

/// The same on GPUs whose waves have 64 lanes.
fn pleach_64(words: &str, driver_is: &str) -> Option<Output> {
    run(words, "hip-64", driver_is, "", &folder("hip-64-kernels"))
}

/// A search on a GPU alone that fails, for this reason.
fn refused(device: &str, place: &str, driver_is: &str, compiler_is: &str, why: &str) -> Option<()> {
    let words = format!("count queens 8 --devices {device}");
    // Nothing can be cached if a file is in the way.
    let kept = folder("hip-unkept");
    std::fs::write(kept.join("pleach"), "in the way").unwrap();
    let output = run(&words, place, driver_is, compiler_is, &kept)?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{why}: {said}");
    assert!(said.contains("gpu0 not used: ") && said.lines().count() == 1, "{why}: {said}");
    assert!(said.contains(why), "{why}: {said}");
    Some(())
}

#[test]
fn counts_on_amd_gpus_are_those_of_the_cpu() {
    for (mode, command) in [
        ("explore", "count queens 10"),
        ("explore", "count queens 9 --nodes interval"),
        ("explore", "count uts type=binomial,b0=60,q=0.19,m=5,seed=3"),
        ("explore", "solve flowshop VFR10_5_5 --best optimum --bound one --nodes interval"),
        ("explore", "solve flowshop VFR10_5_5 --best optimum --bound one"),
        ("evaluate", "solve flowshop VFR10_10_1 --best optimum --bound one-tight"),
        ("evaluate", "solve flowshop VFR10_10_2 --best optimum --bound two"),
        ("explore", "solve atsp crane:9:1 --best 2431155 --bound partial"),
        ("explore", "solve atsp crane:8:1 --best 2301622 --bound partial --nodes interval"),
    ] {
        let run = |command: &str, devices: &str, like: &str| {
            let output = pleach(&format!("{command} --devices {devices} --json --quiet"), like)?;
            assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(answer(&output))
        };
        let mode = format!("mode={mode}");
        for (devices, gpus) in [
            (format!("gpu:{mode}"), 1),
            (format!("gpu0:{mode},gpu1:{mode}"), 2),
            (format!("cpu,gpu:{mode}"), 1),
        ] {
            let larger = with_threads(command);
            let command = if devices.starts_with("cpu") { &larger } else { command };
            let Some(wanted) = run(command, "cpu", "") else { return };
            let answer = run(command, &devices, &format!("gpus={gpus}")).unwrap();
            assert_eq!(answer["nodes"], wanted["nodes"], "{command} on {devices}");
            assert_eq!(answer["count"], wanted["count"], "{command} on {devices}");
            let workers = answer["units"].as_array().unwrap();
            let alone = |worker: &&Value| !devices.starts_with("cpu") && worker["name"] != "cpu0";
            assert!(workers.iter().filter(alone).all(|worker| worker["kernel"].is_string()));
        }
    }
}

/// Two warps then share each wave, and neither waits for the other.
#[test]
fn counts_on_waves_of_64_lanes_are_those_of_the_cpu() {
    for (choices, command) in [
        ("", "count queens 9"),
        (":inside=ring", "count queens 8"),
        (":mode=explore", "count queens 8 --nodes interval"),
        ("", "count uts type=binomial,b0=60,q=0.19,m=5,seed=3"),
        (":mode=explore", "solve flowshop VFR10_5_5 --best optimum --bound one"),
        (":mode=evaluate", "solve flowshop VFR10_5_3 --best optimum --bound two"),
        (":mode=explore", "solve flowshop VFR10_5_5 --best optimum --bound one --nodes interval"),
        (
            ":mode=explore:bounding=parallel",
            "solve flowshop VFR10_5_5 --best optimum --bound one --nodes interval",
        ),
        (":mode=explore", "solve flowshop VFR10_5_3 --best optimum --bound two --nodes interval"),
        (":mode=explore", "solve atsp crane:8:1 --best 2301622 --bound partial"),
        (":mode=explore", "solve atsp crane:8:1 --best 2301622 --bound partial --nodes interval"),
    ] {
        let run = |devices: &str, like: &str| {
            let output = pleach_64(&format!("{command} --devices {devices} --json --quiet"), like)?;
            assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(answer(&output))
        };
        let Some(wanted) = run("cpu", "") else { return };
        for (devices, gpus) in
            [(format!("gpu{choices}"), 1), (format!("gpu0{choices},gpu1{choices}"), 2)]
        {
            let answer = run(&devices, &format!("gpus={gpus}")).unwrap();
            assert_eq!(answer["nodes"], wanted["nodes"], "{command} on {devices}");
            assert_eq!(answer["count"], wanted["count"], "{command} on {devices}");
        }
    }
    for units in [
        "csrmm fem:300 --columns 8",
        "spmm fem:300",
        "rays bluntfin:4x3x3 --size 33x33 --method march",
        "lattice --size 32x8x16 --steps 5",
    ] {
        let sum = |devices: &str| {
            let words = format!("loop {units} --json --quiet --devices {devices}");
            answer(&pleach_64(&words, "").unwrap())["loop"]["checksum"].as_f64().unwrap()
        };
        let (is, expected) = (sum("gpu"), sum("cpu"));
        assert!((is / expected - 1.0).abs() < 1e-9, "{units}: {is} for {expected}");
    }
    // A loop whose only GPU cannot be used runs on the CPU.
    for (words, code) in [
        ("count queens 8 --devices gpu:giving=always", 2),
        ("loop csrmm fem:300 --columns 8 --devices gpu:launch=once", 0),
    ] {
        let output = pleach_64(words, "").unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{words}: {said}");
        assert!(said.contains("gpu0 not used: "), "{said}");
        assert!(said.contains("is not possible: two warps share each wave of 64 lanes"), "{said}");
    }
    let output = pleach_64("devices uts --check gpu0 --json --quiet --time-limit 20s", "").unwrap();
    let all = answer(&output);
    let gives = |row: &Value| row["choices"].as_str().unwrap().contains("giving");
    let checks = all["checks"].as_array().unwrap();
    assert!(!checks.iter().any(|row| gives(row) && row["result"] != "skipped"), "{all}");
    assert_eq!((&all["wrong"], &all["failed"]), (&0.into(), &0.into()), "{all}");
}

#[test]
fn launches_are_as_the_kernels_expect_them() {
    let file = folder("hip").join("launches.txt");
    for (words, kernel, entries, sizes) in [
        ("count queens 9 --devices gpu", "queens", &["put", "explore", "balance"][..], " 9 2 0"),
        (
            "count queens 8 --nodes interval --devices gpu",
            "queens_intervals",
            &["explore"],
            " 8 2 0",
        ),
        (
            "solve flowshop VFR10_10_2 --best optimum --bound two --devices gpu:mode=evaluate",
            "flowshop_bounds",
            &["bound"],
            " 10 10 ",
        ),
    ] {
        let _ = std::fs::remove_file(&file);
        let Some(output) = pleach(words, &format!("record={}", file.display())) else { return };
        assert!(output.status.success(), "{output:?}");
        let launches = std::fs::read_to_string(&file).unwrap();
        for entry in entries {
            let of = format!("{kernel} {entry} ");
            assert!(launches.lines().any(|line| line.starts_with(&of)), "{of}: {launches}");
        }
        for line in launches.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            assert!(words[0] == kernel && words[2] != "0" && words[3] == "128", "{line}");
            assert!(line.contains(&format!(" 128{sizes}")), "{line}");
        }
    }
}

#[test]
fn a_fault_of_an_amd_gpu_is_reported() {
    let waves = "its waves have 16 lanes, expected 32 or 64";
    let code = "compiled: HIP error 6, compiler error; refused";
    for (device, place, driver_is, compiler_is, why) in [
        ("gpu", "nothing", "", "", "; HIP's libamdhip64.so is not installed"),
        ("gpu", "hip", "gpus=0", "", "; HIP sees no GPU"),
        ("gpu", "hip", "wave=16", "", waves),
        ("gpu", "hip", "memory=20000", "", "bytes of memory, only"),
        ("gpu", "hip", "", "broken", code),
        (
            "gpu",
            "hip",
            "kernel=none",
            "",
            "compiled: HIP error 200, device kernel image is invalid",
        ),
        ("gpu", "no-hiprtc", "", "", "hiprtc not found; set PLEACH_HIP to the folder of HIP"),
        ("gpu:form=committed", "hip", "", "", "only compiled kernels run on AMD GPUs"),
    ] {
        if refused(device, place, driver_is, compiler_is, why).is_none() {
            return;
        }
    }
    let output = pleach("count queens 8 --devices gpu1", "").unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("gpu1 not used: no such GPU, expected a number below 1"), "{said}");
    // Those that cannot be used are shown all the same.
    let output = pleach("devices", "wave=16").unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("gpu0: emulated GPU (AMD), 1024 MiB\n") && text.contains(waves),
        "{text}"
    );
}

#[test]
fn an_amd_gpu_that_fails_or_hangs_loses_nothing() {
    for (words, count, faults) in [
        ("count queens 10 --devices gpu:wait=1", Value::from(724), ["fail", "hang"]),
        (
            "solve flowshop VFR10_5_3 --best optimum --bound two --devices gpu:wait=1:rmax=2:pool=2",
            Value::Null,
            ["fail", "hang"],
        ),
    ] {
        let words = format!("{words} --json --quiet");
        let Some(output) = pleach(&words, "") else { return };
        let wanted = answer(&output);
        for (fault, launch) in faults.into_iter().flat_map(|fault| [(fault, 1), (fault, 7)]) {
            let like = format!("{fault}={launch}");
            let output = pleach(&words, &like).unwrap();
            let answer = answer(&output);
            assert_eq!((&answer["count"], &answer["nodes"]), (&count, &wanted["nodes"]), "{like}");
            let said = String::from_utf8_lossy(&output.stderr);
            let why = if fault == "hang" { "a kernel hangs" } else { "HIP error 719" };
            assert!(said.contains(why) && said.contains("continues on the CPU"), "{like}: {said}");
        }
    }
    let output = pleach("count queens 10 11 --devices gpu0:wait=1", "hang=1").unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("724"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(REFUSED), "{said}");
}

#[test]
fn compiled_kernels_are_cached() {
    let place = folder("hip-kept");
    let _ = std::fs::remove_dir_all(place.join("pleach"));
    let words = "count queens 8 --devices gpu --json";
    for (compiler_is, kernel) in [("", "compiled"), ("broken", "cached"), ("", "cached")] {
        let Some(output) = run(words, "hip", "", compiler_is, &place) else { return };
        let answer = answer(&output);
        assert_eq!((&answer["count"], &answer["units"][0]["kernel"]), (&92.into(), &kernel.into()));
    }
    let files = std::fs::read_dir(place.join("pleach")).unwrap();
    for file in files {
        std::fs::write(file.unwrap().path(), "cut off").unwrap();
    }
    let answer = answer(&run(words, "hip", "", "", &place).unwrap());
    assert_eq!(answer["units"][0]["kernel"], "compiled");
}

#[test]
fn gpus_of_both_makers_search_together() {
    let command = |words: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
        stand_in(&mut command, true, &folder("both-kernels"))?;
        command.env("PLEACH_HIP", driver()?.join("hip"));
        Some(output_of(command.args(words.split(' '))))
    };
    let Some(output) = command("count queens 11 --devices gpu --json") else { return };
    let answer = answer(&output);
    assert_eq!((&answer["count"], &answer["nodes"]["bounded"]), (&2680.into(), &166_925.into()));
    let names = answer["units"].as_array().unwrap().iter().map(|worker| worker["name"].clone());
    assert_eq!(names.collect::<Vec<_>>(), ["gpu0", "gpu1"]);
    let shown = command("devices --json").unwrap();
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let makers = [0, 1].map(|at| shown["gpus"][at]["maker"].clone());
    assert_eq!(makers, ["NVIDIA", "AMD"]);
}

#[test]
fn kernels_on_an_amd_gpu_can_be_checked() {
    let Some(output) = pleach("devices uts --check gpu0 --json --quiet --time-limit 20s", "")
    else {
        return;
    };
    let all = answer(&output);
    assert!(all["checks"].as_array().unwrap().len() >= 8, "{all}");
    assert_eq!((&all["wrong"], &all["failed"]), (&0.into(), &0.into()), "{all}");
}

/// The real library, if installed, has all functions that are called.
#[test]
fn hip_itself_can_be_opened() {
    let place = "/usr/lib/x86_64-linux-gnu";
    if !["", ".5", ".6"]
        .iter()
        .any(|version| Path::new(&format!("{place}/libamdhip64.so{version}")).exists())
    {
        return;
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    command.env("PLEACH_HIP", place).env("LD_LIBRARY_PATH", folder("no-cuda"));
    let output = output_of(command.args(["count", "queens", "8", "--devices", "gpu"]));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() || said.contains("HIP sees no GPU"), "{said}");
}
