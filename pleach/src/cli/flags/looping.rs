//! Flags of loops of independent work.

use super::flag::{About, Applies, Flag, Group, Record};
use super::numbers::whole;
use super::verb::Verb;
use pleach_loops::looping::Sizes;
use pleach_loops::rays::frame::Method;
use serde_json::json;

const ABOUT: About = About { record: Record::IfGiven, ..About::BASE };

/// `--columns`.
pub static COLUMNS: Flag<usize> = Flag {
    about: About {
        name: "columns",
        value: Some("N"),
        help: "columns of the dense matrix",
        default: "64",
        record: Record::Own(|given| Some(json!(given.get(&COLUMNS).ok()??))),
        ..ABOUT
    },
    parse: |word| whole(word, 1, 1 << 20).map(|columns| columns as usize),
};

/// `--precision`.
pub static PRECISION: Flag<Precision> = Flag {
    about: About {
        name: "precision",
        value: Some("P"),
        help: "floating-point numbers to compute with: f32 or f64",
        default: "f64",
        ..ABOUT
    },
    parse: |word| match word {
        "f32" => Ok(Precision::Single),
        "f64" => Ok(Precision::Double),
        _ => Err(format!("{word}: expected f32 or f64")),
    },
};

/// `--unsorted`.
pub static UNSORTED: Flag<()> = Flag::switch(About {
    name: "unsorted",
    help: "leave the columns within a row of the product unsorted where that is faster",
    ..ABOUT
});

/// Single or double precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    Single,
    Double,
}

/// `--chunks`.
pub static CHUNKS: Flag<Sizes> = Flag {
    about: About {
        name: "chunks",
        value: Some("CPU,DEVICE"),
        help: "units that a thread and a device take at a time; with block/N for CPU, all threads together take N when they are idle, and divide them evenly",
        default: "by measured rates",
        group: Group::Workers,
        applies: Applies::To(&[Verb::Loop]),
        ..ABOUT
    },
    parse: |word| {
        let (block, word) = word.strip_prefix("block/").map_or((false, word), |word| (true, word));
        let (thread, device) = word.split_once(',').unwrap_or((word, word));
        let size = |word: &str| whole(word, 1, u64::from(u32::MAX)).map(|size| size as u32);
        let sizes = if block { Sizes::Block } else { Sizes::Given };
        Ok(sizes(size(thread)?, size(device)?))
    },
};

/// `--split`.
pub static SPLIT: Flag<Sizes> = Flag {
    about: About {
        name: "split",
        value: Some("WHEN"),
        help: "when to divide the box according to measured speeds: follow (whenever that pays off) or keep (once, after the first step)",
        default: "follow",
        group: Group::Workers,
        ..ABOUT
    },
    parse: |word| match word {
        "follow" => Ok(Sizes::Measured),
        "keep" => Ok(Sizes::FirstStep),
        _ => Err(format!("{word}: expected follow or keep")),
    },
};

/// `--compare-static`.
pub static COMPARE: Flag<()> = Flag::switch(About {
    name: "compare-static",
    help: "also find the best static split by trial, and compare the run with it",
    group: Group::Workers,
    applies: Applies::To(&[Verb::Loop]),
    ..ABOUT
});

/// `--out`.
pub static OUT: Flag<String> = Flag::text(About {
    name: "out",
    value: Some("PATH"),
    help: "write the result",
    group: Group::Output,
    record: Record::No,
    ..ABOUT
});

/// `--size`: two or three dimensions.
pub static SIZE: Flag<Vec<u32>> = Flag {
    about: About { name: "size", value: Some("AxB…"), help: "the size", ..ABOUT },
    parse: |word| {
        let side = |word: &str| whole(word, 1, 1 << 20).map(|side| side as u32);
        word.split('x').map(side).collect::<Result<_, _>>().map_err(|why| format!("{word}: {why}"))
    },
};

/// `--values`.
pub static VALUES: Flag<String> = Flag::text(About {
    name: "values",
    value: Some("NAME"),
    help: "array of point values in the file to draw",
    default: "the first array",
    ..ABOUT
});

/// `--view`: azimuth and elevation.
pub static VIEW: Flag<[f64; 2]> = Flag {
    about: About {
        name: "view",
        value: Some("A,E"),
        help: "direction to the viewer: degrees from the x axis towards the y axis, and above their plane",
        default: "30,20",
        ..ABOUT
    },
    parse: |word| {
        let angle = |word: &str| word.parse::<f64>().ok().filter(|angle| angle.is_finite());
        let both = word.split_once(',').and_then(|(a, e)| Some([angle(a)?, angle(e)?]));
        both.ok_or_else(|| format!("{word}: expected two angles in degrees, such as 30,20"))
    },
};

fn number(word: &str) -> Result<f64, String> {
    let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| format!("{word}: expected a number"))
}

/// `--zoom`.
pub static ZOOM: Flag<f64> = Flag {
    about: About {
        name: "zoom",
        value: Some("F"),
        help: "magnification; 1 shows the whole mesh",
        default: "1",
        ..ABOUT
    },
    parse: number,
};

/// `--near`.
pub static NEAR: Flag<f64> = Flag {
    about: About {
        name: "near",
        value: Some("D"),
        help: "hide everything closer to the viewer than depth D; the middle of the mesh has depth 0",
        default: "everything",
        ..ABOUT
    },
    parse: number,
};

/// `--transfer`.
pub static TRANSFER: Flag<String> = Flag::text(About {
    name: "transfer",
    value: Some("FILE"),
    help: "transfer function: lines of value, red, green, blue, extinction",
    default: "from blue and thin to red and dense",
    ..ABOUT
});

/// `--method`.
pub static METHOD: Flag<Method> = Flag {
    about: About {
        name: "method",
        value: Some("M"),
        help: "project: sort the tetrahedra and draw them, if they can be sorted; march: follow each ray",
        default: "project",
        ..ABOUT
    },
    parse: |word| match word {
        "project" => Ok(Method::Project),
        "march" => Ok(Method::March),
        _ => Err(format!("{word}: expected project or march")),
    },
};

/// `--steps`.
pub static STEPS: Flag<usize> = Flag {
    about: About {
        name: "steps",
        value: Some("N"),
        help: "number of time steps",
        default: "100",
        ..ABOUT
    },
    parse: |word| whole(word, 0, 1 << 40).map(|steps| steps as usize),
};

/// `--frames`.
pub static FRAMES: Flag<usize> = Flag {
    about: About {
        name: "frames",
        value: Some("N"),
        help: "write an animation of N frames at equal intervals (APNG, which browsers play)",
        group: Group::Output,
        record: Record::No,
        ..ABOUT
    },
    parse: |word| whole(word, 1, 1000).map(|frames| frames as usize),
};

/// `--reynolds`.
pub static REYNOLDS: Flag<f64> = Flag {
    about: About {
        name: "reynolds",
        value: Some("R"),
        help: "Reynolds number: speed times the obstacle's height over the viscosity",
        default: "100",
        ..ABOUT
    },
    parse: |word| {
        let number = number(word).ok().filter(|&number| number > 0.0);
        number.ok_or_else(|| format!("{word}: expected a number above 0"))
    },
};

/// `--speed`.
pub static SPEED: Flag<f64> = Flag {
    about: About {
        name: "speed",
        value: Some("U"),
        help: "speed of the inflow, in cells per step",
        default: "0.05",
        ..ABOUT
    },
    parse: number,
};

/// `--obstacle`.
pub static OBSTACLE: Flag<String> = Flag::text(About {
    name: "obstacle",
    value: Some("WHAT"),
    help: "sphere, none, or a file of the solid cells (legacy VTK structured points of zeros and ones)",
    default: "sphere",
    ..ABOUT
});
