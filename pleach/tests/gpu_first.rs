//! `ci/gpu-first.sh` against stand-ins with faults of every kind: it ends in time, and its report names them.

use crate::outside::folder;
use crate::stand_in::stand_in;
use std::path::Path;
use std::process::Command;

/// Seconds for a rehearsal, enough even on a busy machine.
const AMPLE: u64 = 3600;

/// Rehearses the script with this many seconds in all, and for each command: exit code and report.
fn rehearse(
    device: &str,
    driver_is: &str,
    stages: &str,
    seconds: u64,
    limit: &str,
) -> Option<(i32, String)> {
    let name: String =
        [device, driver_is, stages].concat().chars().filter(char::is_ascii_alphanumeric).collect();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ci/gpu-first.sh");
    let place = folder("rehearsal").join(&name);
    // A killed run may have left half a line there.
    let _ = std::fs::remove_dir_all(&place);
    let mut command = Command::new("bash");
    stand_in(&mut command, !driver_is.contains("nvrtc=0"), &folder("rehearsal-kernels"))?;
    // Without Python the script cannot run.
    Command::new("python3").arg("--version").output().ok().filter(|said| said.status.success())?;
    command.arg(script).arg(device).arg(&place);
    command.args(["--small", "--limit", limit, "--stages", stages]);
    command.arg("--seconds").arg(seconds.to_string());
    command.env("PLEACH", env!("CARGO_BIN_EXE_pleach")).env("PLEACH_DRIVER", driver_is);
    let output = command.output().unwrap();
    let report = std::fs::read_to_string(place.join("report.md")).unwrap();
    for line in std::fs::read_to_string(place.join("rows.jsonl")).unwrap().lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(row["stage"].is_string() && row["result"].is_string(), "{line}");
    }
    Some((output.status.code().unwrap(), report))
}

fn named(driver_is: &str, device: &str, said: &[&str]) {
    let Some((code, report)) = rehearse(device, driver_is, "driver,smoke", AMPLE, "60") else {
        return;
    };
    assert_eq!(code, 1, "{driver_is}: {report}");
    for said in said {
        assert!(report.contains(said), "{driver_is}: {said}: {report}");
    }
}

#[test]
fn all_is_right_without_a_fault() {
    let Some((code, report)) = rehearse("gpu0", "", "facts,driver,smoke,early", AMPLE, "60") else {
        return;
    };
    assert_eq!(code, 0, "{report}");
    for said in ["- driver: 1", "- smoke: 44", "## What does not\n\nNothing.", "million nodes/s"] {
        assert!(report.contains(said), "{said}: {report}");
    }
    // The same with the device that needs no driver.
    let (code, report) = rehearse("emulated", "", "smoke,speed", AMPLE, "60").unwrap();
    assert_eq!(code, 0, "{report}");
    assert!(report.contains("- smoke: 22"), "{report}");
}

#[test]
fn a_machine_that_cannot_be_used_is_reported() {
    named("stub=1", "gpu0", &["error 34", "has a stub in place of the CUDA driver"]);
    named("version=11080", "gpu0", &["supports CUDA 11.8, expected 12.1 or later"]);
    named("gpus=0", "gpu0", &["the CUDA driver sees no GPU"]);
    named("memory=20000", "gpu0", &["bytes of memory, only"]);
    named(
        "kernel=uts",
        "gpu0",
        &["load queens.ptx: error 200", "the stand-in refuses it", "- smoke: 6"],
    );
    named("nvrtc=0", "gpu0", &["NVRTC not found", "- driver: 1", "- smoke: 22"]);
}

#[test]
fn a_kernel_that_fails_is_reported_and_others_continue() {
    // All except six of the runs are of other kernels.
    named("wrong=3,faulty=queens", "gpu0", &["**wrong** `count queens 8", "- smoke: 38"]);
    named("abort=3,faulty=uts", "gpu0", &["**crashed** `count uts", "signal 6", "- smoke: 38"]);
    named("fail=3,faulty=queens", "gpu0", &["unspecified launch failure", "- smoke: 38"]);
    named("hang=3,faulty=uts", "gpu0:wait=1", &["a kernel hangs"]);
}

#[test]
fn the_script_ends_in_time_where_everything_hangs() {
    let Some((code, report)) = rehearse("gpu0", "hang=1", "driver,smoke,early,speed", 12, "3")
    else {
        return;
    };
    assert_eq!(code, 1, "{report}");
    assert!(report.contains("**timed out** `count queens 8"), "{report}");
    assert!(report.contains("## What was not reached\n\n- smoke: "), "{report}");
    assert!(report.contains("- speed: "), "{report}");
}

#[test]
fn the_matrix_reports_each_check() {
    let fault = "wrong=3,faulty=queens";
    let Some((code, report)) = rehearse("gpu0:explorers=3", fault, "matrix", 60, "60") else {
        return;
    };
    assert_eq!(code, 1, "{report}");
    assert!(report.contains("**wrong** `check queens 8 explorers=3 inside=windows`"), "{report}");
    assert!(!report.contains("**wrong** `check uts"), "{report}");
}
