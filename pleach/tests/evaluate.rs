//! GPUs that bound what the host branches, with a stand-in driver whose copies and kernels run late, in random order.

use crate::gpu::{answer, pleach};
use serde_json::Value;

const DRIVER: &str = "kernel=flowshop_bounds";

/// The report of a search from the optimum.
fn search(bound: &str, devices: &str, driver: &str) -> Option<(Value, String)> {
    search_of("VFR10_10_2", bound, devices, driver)
}

fn search_of(instance: &str, bound: &str, devices: &str, driver: &str) -> Option<(Value, String)> {
    let command = format!("solve flowshop {instance} --best optimum --bound {bound}");
    let output = pleach(&format!("{command} --devices {devices} --json --quiet"), driver)?;
    Some((answer(&output), String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[test]
fn trees_are_those_of_the_cpu_however_many_batches_are_in_flight() {
    for (bound, instance) in
        [("one", "VFR10_10_1"), ("one-tight", "VFR10_10_1"), ("two", "VFR10_10_2")]
    {
        let Some((wanted, _)) = search_of(instance, bound, "cpu", DRIVER) else { return };
        for devices in ["gpu:mode=evaluate", "gpu:rmax=1", "gpu:rmax=5:pool=3"] {
            let (answer, said) = search_of(instance, bound, devices, DRIVER).unwrap();
            assert_eq!(answer["nodes"], wanted["nodes"], "{bound} on {devices}");
            assert_eq!(said, "", "{bound} on {devices}");
        }
        // Threads would be done with the smaller tree before a GPU could take part.
        let (alone, _) = search(bound, "cpu", DRIVER).unwrap();
        let (answer, said) = search(bound, "cpu,gpu:mode=evaluate:pool=40", DRIVER).unwrap();
        assert_eq!((&answer["nodes"], said.as_str()), (&alone["nodes"], ""), "{bound} shared");
        let two = format!("{DRIVER},gpus=2");
        let (answer, _) = search_of(instance, bound, "gpu0:rmax=2,gpu1:rmax=3", &two).unwrap();
        assert_eq!(answer["nodes"], wanted["nodes"], "{bound} on two GPUs");
        assert!(answer["units"].as_array().unwrap().iter().all(|unit| unit["mode"] == "evaluate"));
    }
}

/// Whichever batch is lost, the host has its nodes.
#[test]
fn a_gpu_that_fails_loses_nothing() {
    let Some((wanted, _)) = search("two", "cpu", DRIVER) else { return };
    for fail in 1..20 {
        let (answer, said) =
            search("two", "gpu:rmax=3:pool=2", &format!("{DRIVER},fail={fail}")).unwrap();
        assert_eq!(answer["nodes"], wanted["nodes"], "launch {fail}");
        assert!(said.contains("its work continues on the CPU"), "launch {fail}: {said}");
    }
}

/// The host waits for a second; then the CPU continues, and the GPU is left alone.
#[test]
fn a_hanging_kernel_does_not_stop_the_search() {
    let Some((wanted, _)) = search("two", "cpu", DRIVER) else { return };
    for (devices, hang) in [("gpu:rmax=1:wait=1", 2), ("gpu:rmax=3:pool=2:wait=1", 9)] {
        let (answer, said) = search("two", devices, &format!("{DRIVER},hang={hang}")).unwrap();
        assert_eq!(answer["nodes"], wanted["nodes"], "{devices}");
        assert!(said.contains("a kernel hangs"), "{devices}: {said}");
    }
}

#[test]
fn a_gpu_that_cannot_bound_is_left_out() {
    for (command, driver, reason) in [
        ("--bound auto", DRIVER, "it has no kernel that bounds with bound auto"),
        ("--bound two --nodes interval", DRIVER, "it has no kernel that bounds with intervals"),
        ("--bound two", "kernel=flowshop_bounds,memory=1000", "bytes of memory, only"),
        ("--bound two", "kernel=none", "cannot build kernel 'flowshop_bounds'"),
    ] {
        let run = |devices| {
            let words = format!("solve flowshop VFR10_5_3 {command} --devices {devices}");
            let output = pleach(&words, driver)?;
            Some((output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned()))
        };
        let Some((code, said)) = run("gpu:mode=evaluate") else { return };
        assert!(code == Some(2) && said.contains(reason), "{command}, {driver}: {said}");
        // With the CPU taking part, this may show only at the end.
        let (code, said) = run("cpu,gpu:mode=evaluate").unwrap();
        let known = said.contains(reason) || said.is_empty() && driver != DRIVER;
        assert!(code == Some(0) && known, "{command}, {driver}: {said}");
    }
}
