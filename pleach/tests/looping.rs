//! `pleach loop` from outside: the same result on all workers, and one line for bad input.

use crate::outside::{folder, json, pleach, refused};
use std::fs;

/// The checksum of a loop.
fn checksum(words: &str) -> f64 {
    let answer = json(&format!("loop {words}"));
    assert_eq!(answer["status"], "done");
    let parts = answer["loop"]["parts"].as_array().unwrap();
    let shares: f64 = parts.iter().map(|part| part["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-3, "{words}: {shares}");
    answer["loop"]["checksum"].as_f64().unwrap()
}

/// Rounding aside, nothing depends on workers, sizes and instructions.
#[test]
fn results_do_not_depend_on_who_computes_them() {
    for words in [
        "spmm fem:900",
        "spmm web:3000x3 random:3000x4 --precision f32",
        "spmm web:3000x3 --unsorted",
        "csrmm fem:900 --columns 5",
        "csrmm random:800x7 --columns 20 --precision f32",
        "rays sphere:300 --size 40x30",
        "rays bluntfin:5x4x4 --size 33x33 --method march",
    ] {
        let expected = checksum(&format!("{words} --threads 1"));
        for flags in [
            "--threads 2",
            "--threads 3 --chunks 1",
            "--simd off --chunks 5,2",
            "--threads 3 --chunks block/7,2",
            "--slow cpu1=3 --threads 2",
            "--devices cpu,cpu",
        ] {
            let is = checksum(&format!("{words} {flags}"));
            assert!((is / expected - 1.0).abs() < 1e-4, "{words} {flags}: {is} for {expected}");
        }
    }
    // A flow is bit for bit the same, however it is cut.
    let flow = "lattice --size 32x16x40 --steps 37";
    let expected = checksum(&format!("{flow} --threads 1"));
    for flags in [
        "--threads 2",
        "--threads 4",
        "--threads 2 --slow cpu0=4",
        "--threads 2 --slow cpu0=4 --split keep",
        "--threads 2 --chunks 1",
        "--threads 3 --compare-static",
    ] {
        assert_eq!(checksum(&format!("{flow} {flags}")), expected, "{flags}");
    }
}

/// Numbers of planes that neither blocks nor slabs divide.
#[test]
fn any_number_of_planes_is_divided() {
    for planes in [9, 11, 13, 17, 29] {
        let words = format!("lattice --size 16x8x{planes} --steps 5 --threads");
        let alone = checksum(&format!("{words} 1"));
        for threads in 2..4 {
            assert_eq!(checksum(&format!("{words} {threads}")), alone, "{planes} {threads}");
        }
    }
}

/// Also on devices, and where these fail. Devices march along rays, also where threads project; a flow is the same bit
/// by bit.
#[test]
fn devices_compute_the_same() {
    for (words, most) in [
        ("spmm fem:900", 1e-9),
        ("spmm web:700x3 random:700x4 --precision f32", 1e-4),
        ("csrmm fem:900 --columns 5", 1e-9),
        ("rays bluntfin:5x4x4 --size 70x33", 1e-4),
        ("rays bluntfin:5x4x4 --size 33x33 --method march", 0.0),
        ("lattice --size 32x8x16 --steps 13", 0.0),
    ] {
        let expected = checksum(&format!("{words} --threads 1"));
        for devices in
            ["emulated", "cpu,emulated", "cpu,emulated:fail=2", "emulated:fail=1,emulated"]
        {
            let answer = pleach(&format!("loop {words} --json --chunks 1 --devices {devices}"));
            let answer: serde_json::Value = serde_json::from_slice(&answer.stdout).unwrap();
            let is = answer["loop"]["checksum"].as_f64().unwrap();
            let apart = (is / expected - 1.0).abs();
            assert!(apart <= most, "{words}, {devices}: {is} for {expected}");
        }
    }
}

/// Threads prepare a frame even if a device draws it, but only tiles are units, and only those who draw are parts.
#[test]
fn preparing_a_frame_adds_no_units_or_parts() {
    for (flags, names) in
        [("--threads 2", vec!["cpu0", "cpu1"]), ("--devices emulated", vec!["emulated0"])]
    {
        let answer = json(&format!("loop rays sphere:3000 --size 64x64 {flags}"));
        let parts = answer["loop"]["parts"].as_array().unwrap();
        let named: Vec<&str> = parts.iter().map(|part| part["name"].as_str().unwrap()).collect();
        let units: u64 = parts.iter().map(|part| part["units"].as_u64().unwrap()).sum();
        assert_eq!((named, units), (names, answer["loop"]["units"].as_u64().unwrap()), "{flags}");
    }
}

#[test]
fn every_loop_prints_the_same_keys() {
    let keys =
        |words: &str| -> Vec<String> { json(words).as_object().unwrap().keys().cloned().collect() };
    let search = keys("count queens 5");
    for words in [
        "loop spmm fem:90",
        "loop csrmm fem:90",
        "loop rays cube:2 --size 9x9",
        "loop lattice --size 16x8x8 --steps 3",
    ] {
        let of_loop = keys(words);
        assert!(of_loop.contains(&"loop".to_string()));
        let contract =
            ["pleach", "problem", "instance", "status", "objective", "units", "settings", "seed"];
        for key in contract {
            assert!(
                of_loop.iter().any(|it| it == key) && search.iter().any(|it| it == key),
                "{key}"
            );
        }
        let answer = json(words);
        for key in ["name", "units", "parts", "seconds", "static", "checksum"] {
            assert!(answer["loop"].get(key).is_some(), "{words}: {key}");
        }
    }
    let compared = json("loop csrmm fem:900 --threads 2 --compare-static");
    assert!(
        compared["loop"]["static"]["share"]
            .as_f64()
            .is_some_and(|share| (0.0..=1.0).contains(&share))
    );
}

/// A product is written as a file that SciPy and others can read; reading it back gives the same matrix.
#[test]
fn results_go_to_files() {
    let folder = folder("looping");
    let file = |name: &str| folder.join(name).display().to_string();
    let (a, c, d, png) = (file("a.mtx"), file("c.mtx"), file("d.mtx"), file("p.png"));
    fs::write(&a, "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n1 2 1\n2 2 3\n")
        .unwrap();
    assert!(pleach(&format!("loop spmm {a} --out {c}")).status.success());
    let product = fs::read_to_string(&c).unwrap();
    let lines: Vec<&str> = product.lines().skip(1).collect();
    assert_eq!(lines, ["2 2 3", "1 1 4e0", "1 2 5e0", "2 2 9e0"]);
    assert!(pleach(&format!("loop csrmm {c} --columns 2 --out {d}")).status.success());
    // Rows of the dense matrix: -5 -2, then 2 5.
    assert_eq!(
        fs::read_to_string(&d).unwrap().lines().skip(1).collect::<Vec<_>>(),
        ["2 2", "-1e1", "1.8e1", "1.7e1", "4.5e1"]
    );
    assert!(pleach(&format!("loop rays cube:1 --size 8x8 --out {png}")).status.success());
    assert!(fs::read(&png).unwrap().starts_with(b"\x89PNG"));
    let (vti, png) = (file("f.vti"), file("f.png"));
    for out in [&vti, &png] {
        assert!(
            pleach(&format!("loop lattice --size 32x16x16 --steps 5 --out {out}")).status.success()
        );
    }
    let (one, several) = (file("one.png"), file("several.png"));
    for (frames, out) in [(1, &one), (5, &several)] {
        let words = "loop lattice --size 32x16x16 --steps 5 --frames";
        assert!(pleach(&format!("{words} {frames} --out {out}")).status.success());
    }
    assert_eq!(fs::read(&one).unwrap(), fs::read(&png).unwrap());
    // The chunk that makes a file a moving picture, and begins with the number of pictures.
    let moving = fs::read(&several).unwrap();
    let at = moving.windows(4).position(|word| word == b"acTL").unwrap();
    assert_eq!(moving[at + 4..at + 8], 5u32.to_be_bytes());
    // If the steps start over, everything is shown again.
    let (anew, failing) = (file("anew.png"), "--devices cpu,emulated:fail=4");
    let words = "loop lattice --size 32x16x16 --steps 5 --frames 5";
    assert!(pleach(&format!("{words} {failing} --out {anew}")).status.success());
    assert_eq!(fs::read(&anew).unwrap(), moving);
    assert!(fs::read_to_string(&vti).is_err(), "it holds binary numbers");
    assert!(
        fs::read(&vti).unwrap().starts_with(b"<?xml")
            && fs::read(&png).unwrap().starts_with(b"\x89PNG")
    );
    refused(&format!("loop spmm {a} --out {a}"), "is the same file as the input");
}

#[test]
fn numbers_that_are_not_what_they_should_be_are_refused() {
    let file = |name: &str, text: &str| {
        let path = folder("looping").join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let matrix = |field, value| {
        format!("%%MatrixMarket matrix coordinate {field} general\n1 1 1\n1 1 {value}\n")
    };
    let broken = file("broken.mtx", &matrix("integer", "3.7"));
    refused(&format!("loop spmm {broken}"), "line 3: '3.7': expected a whole number");
    let large = file("large.mtx", &matrix("real", "1e39"));
    for name in ["spmm", "csrmm"] {
        refused(&format!("loop {name} {large} --precision f32"), "1e39 needs --precision f64");
        assert!(pleach(&format!("loop {name} {large}")).status.success());
    }
    let mesh = |corner| {
        format!(
            "# vtk DataFile Version 3.0\none\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n\
             CELLS 1 5\n4 0 {corner} 2 3\nCELL_TYPES 1\n10\nPOINT_DATA 4\nSCALARS v float 1\nLOOKUP_TABLE default\n0 1 2 3\n"
        )
    };
    let whole = file("whole.vtk", &mesh("1"));
    assert!(pleach(&format!("loop rays {whole} --size 8x8")).status.success());
    let half = file("half.vtk", &mesh("1.9"));
    refused(&format!("loop rays {half} --size 8x8"), "corner 1 of the cells: point 1.9, expected");
    // A picture does not depend on the unit of length.
    let of_size = |unit: &str| {
        let mesh = mesh("1")
            .replace("0 0 0 1 0 0 0 1 0 0 0 1", &format!("0 0 0 {unit} 0 0 0 {unit} 0 0 0 {unit}"));
        let file = file(&format!("unit-{unit}.vtk"), &mesh);
        ["project", "march"]
            .map(|method| checksum(&format!("rays {file} --size 32x32 --method {method}")))
    };
    let one = of_size("1");
    assert_eq!(one, [297_854.0; 2]);
    for unit in ["1e-9", "1e6", "1e10", "1e13"] {
        assert_eq!(of_size(unit), one, "{unit}");
    }
    // Help shows only what a loop takes.
    let help =
        |name: &str| String::from_utf8(pleach(&format!("loop {name} --help")).stdout).unwrap();
    assert!(help("spmm").contains("--listen") && !help("lattice").contains("--listen"));
    // They have the name that the usage gives them.
    assert!(help("rays").contains("rays ARGUMENTS [FLAGS]"));
    assert!(help("rays").contains("ARGUMENTS: a mesh"));
}

#[test]
fn compressed_matrices_are_read() {
    let folder = folder("looping");
    let plain = folder.join("plain.mtx");
    fs::write(&plain, "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n1 1\n3 1\n")
        .unwrap();
    let packed = folder.join("packed.mtx.gz");
    let done = std::process::Command::new("gzip").arg("-ck").arg(&plain).output().unwrap();
    fs::write(&packed, done.stdout).unwrap();
    let sum = |path: &std::path::Path| checksum(&format!("spmm {}", path.display()));
    assert_eq!(sum(&plain), sum(&packed));
}

#[test]
fn bad_input_is_one_line() {
    let folder = folder("looping");
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let short = file("short.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n");
    let wide = file("wide.mtx", "%%MatrixMarket matrix array real general\n1 2\n1\n2\n");
    let mesh = file("mesh.vtk", "# vtk DataFile Version 3.0\n");
    let colours = file("colours.txt", "0 0 0 0 0\n1 1 x 1 1\n");
    refused("loop", "the name of a loop is required");
    refused("loop sort", "expected one of spmm, csrmm, rays, lattice");
    refused("loop spmm", "expected one matrix");
    refused("loop spmm a b c", "expected one matrix");
    refused("loop spmm none.mtx", "none.mtx: No such file");
    let out = folder.join("never.mtx");
    refused(&format!("loop spmm none.mtx --out {}", out.display()), "none.mtx: No such file");
    assert!(!out.exists());
    refused(
        &format!("loop spmm {short}"),
        "short.mtx: line 4: the file ends; expected 1 more entries",
    );
    refused(&format!("loop spmm {wide}"), "2 columns times 1 rows");
    refused("loop spmm fem:y", "'y': expected a whole number");
    refused("loop csrmm fem:90 --columns 0", "--columns 0: expected a whole number");
    refused("loop csrmm fem:90 --precision f16", "--precision f16: expected f32 or f64");
    refused("loop csrmm fem:90 --bound one", "--bound does not apply");
    refused("loop csrmm fem:90 --slow cpu9=2 --threads 2", "--slow cpu9=2");
    refused(&format!("loop rays {mesh}"), "mesh.vtk: ");
    refused("loop rays sphere:x", "expected sphere:TETRAHEDRA");
    refused("loop rays sphere:100 --size 5x5x5", "--size 5x5x5: expected WIDTHxHEIGHT");
    refused("loop rays sphere:100 --size 99999x5", "expected 1 to 16384");
    refused(&format!("loop rays sphere:100 --transfer {colours}"), "line 2: 'x'");
    refused("loop lattice x", "expected no arguments");
    refused("loop lattice --size 100x64x64", "divisible by 16");
    refused("loop lattice --size 64x64", "--size 64x64: expected three numbers");
    refused("loop lattice --frames 3", "--frames: expected --out with a picture");
    refused("loop lattice --frames 3 --steps 2 --out x.png", "at most the number of --steps, 2");
    refused("loop lattice --frames 0 --out x.png", "--frames 0: expected");
    refused("loop lattice --split often", "--split often: expected follow or keep");
    refused("loop lattice --split keep --chunks 1", "--split has no effect with --chunks");
    refused("loop spmm fem:900 --split keep", "--split");
    refused("loop lattice --speed 3", "an inflow of 3");
    refused("loop lattice --reynolds 0", "--reynolds 0: expected a number above 0");
    refused("loop lattice --size 1048576x1048576x1048576", "too large");
    refused(&format!("loop lattice --obstacle {mesh}"), "mesh.vtk: ");
    refused("loop lattice --size 1048576x1048576x32768", "too large");
    refused(
        "loop lattice --size 32x16x16 --reynolds 1e9 --speed 0.3 --steps 9000",
        "the flow became unstable",
    );
    let huge = file("huge.mtx", "%%MatrixMarket matrix coordinate real general\n4294967295 1 0\n");
    refused(&format!("loop spmm {huge}"), "at most 268435456 rows");
    refused("solve flowshop ta001 --columns 3", "--columns does not apply");
}
