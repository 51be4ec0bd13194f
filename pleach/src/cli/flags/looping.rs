//! Flags of loops of independent work.

use super::flag::{About, Applies, Flag, Group, Record};
use super::numbers::whole;
use super::verb::Verb;
use pleach_loops::looping::Sizes;
use pleach_loops::rays::frame::Method;
use serde_json::json;

const ABOUT: About = About { record: Record::IfGiven, ..About::BASE };

pub static COLUMNS: Flag<usize> = Flag {
    about: About {
        default: "64",
        record: Record::Own(|given| Some(json!(given.get(&COLUMNS).ok()??))),
        ..ABOUT.valued("columns", "N", "columns of the dense matrix")
    },
    parse: |word| whole(word, 1, 1 << 20).map(|columns| columns as usize),
};

pub static PRECISION: Flag<Precision> = Flag {
    about: About {
        default: "f64",
        ..ABOUT.valued("precision", "P", "floating-point numbers to compute with: f32 or f64")
    },
    parse: |word| match word {
        "f32" => Ok(Precision::Single),
        "f64" => Ok(Precision::Double),
        _ => Err(format!("{word}: expected f32 or f64")),
    },
};

pub static UNSORTED: Flag<()> = Flag::switch(ABOUT.named(
    "unsorted",
    "leave the columns within a row of the product unsorted where that is faster",
));

/// Single or double precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    Single,
    Double,
}

pub static CHUNKS: Flag<Sizes> = Flag {
    about: About { default: "by measured rates",
        group: Group::Workers,
        applies: Applies::To(&[Verb::Loop]), ..ABOUT.valued("chunks", "CPU,DEVICE", "units that a thread and a device take at a time; with block/N for CPU, all threads together take N when they are idle, and divide them evenly") },
    parse: |word| {
        let (block, word) = word.strip_prefix("block/").map_or((false, word), |word| (true, word));
        let (thread, device) = word.split_once(',').unwrap_or((word, word));
        let size = |word: &str| whole(word, 1, u64::from(u32::MAX)).map(|size| size as u32);
        let sizes = if block { Sizes::Block } else { Sizes::Given };
        Ok(sizes(size(thread)?, size(device)?))
    },
};

pub static SPLIT: Flag<Sizes> = Flag {
    about: About { default: "follow",
        group: Group::Workers, ..ABOUT.valued("split", "WHEN", "how to divide the box: follow (threads take planes as they get to them; devices get as many as measured speeds suggest) or keep (cut once, by the speeds of the first step)") },
    parse: |word| match word {
        "follow" => Ok(Sizes::Measured),
        "keep" => Ok(Sizes::FirstStep),
        _ => Err(format!("{word}: expected follow or keep")),
    },
};

pub static COMPARE: Flag<()> = Flag::switch(About {
    group: Group::Workers,
    applies: Applies::To(&[Verb::Loop]),
    ..ABOUT.named(
        "compare-static",
        "also find the best static split by trial, and compare the run with it",
    )
});

pub static OUT: Flag<String> = Flag::text(About {
    group: Group::Output,
    record: Record::No,
    ..ABOUT.valued("out", "PATH", "write the result")
});

/// `--size`: two or three dimensions.
pub static SIZE: Flag<Vec<u32>> = Flag {
    about: ABOUT.valued("size", "AxB…", "the size"),
    parse: |word| {
        let side = |word: &str| whole(word, 1, 1 << 20).map(|side| side as u32);
        word.split('x').map(side).collect::<Result<_, _>>().map_err(|why| format!("{word}: {why}"))
    },
};

pub static VALUES: Flag<String> = Flag::text(About {
    default: "the first array",
    ..ABOUT.valued("values", "NAME", "array of point values in the file to draw")
});

/// `--view`: azimuth and elevation.
pub static VIEW: Flag<[f64; 2]> = Flag {
    about: About { default: "30,20", ..ABOUT.valued("view", "A,E", "direction to the viewer: degrees from the x axis towards the y axis, and above their plane") },
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

pub static ZOOM: Flag<f64> = Flag {
    about: About {
        default: "1",
        ..ABOUT.valued("zoom", "F", "magnification; 1 shows the whole mesh")
    },
    parse: number,
};

pub static NEAR: Flag<f64> = Flag {
    about: About {
        default: "everything",
        ..ABOUT.valued(
            "near",
            "D",
            "hide everything closer to the viewer than depth D; the middle of the mesh has depth 0",
        )
    },
    parse: number,
};

pub static TRANSFER: Flag<String> = Flag::text(About {
    default: "from blue and thin to red and dense",
    ..ABOUT.valued(
        "transfer",
        "FILE",
        "transfer function: lines of value, red, green, blue, extinction",
    )
});

pub static METHOD: Flag<Method> = Flag {
    about: About { default: "project", ..ABOUT.valued("method", "M", "project: sort the tetrahedra and draw them, if they can be sorted; march: follow each ray") },
    parse: |word| match word {
        "project" => Ok(Method::Project),
        "march" => Ok(Method::March),
        _ => Err(format!("{word}: expected project or march")),
    },
};

pub static STEPS: Flag<usize> = Flag {
    about: About { default: "100", ..ABOUT.valued("steps", "N", "number of time steps") },
    parse: |word| whole(word, 0, 1 << 40).map(|steps| steps as usize),
};

pub static FRAMES: Flag<usize> = Flag {
    about: About {
        group: Group::Output,
        record: Record::No,
        ..ABOUT.valued(
            "frames",
            "N",
            "write an animation of N frames at equal intervals (APNG, which browsers play)",
        )
    },
    parse: |word| whole(word, 1, 1000).map(|frames| frames as usize),
};

pub static REYNOLDS: Flag<f64> = Flag {
    about: About {
        default: "100",
        ..ABOUT.valued(
            "reynolds",
            "R",
            "Reynolds number: speed times the obstacle's height over the viscosity",
        )
    },
    parse: |word| {
        let number = number(word).ok().filter(|&number| number > 0.0);
        number.ok_or_else(|| format!("{word}: expected a number above 0"))
    },
};

pub static SPEED: Flag<f64> = Flag {
    about: About {
        default: "0.05",
        ..ABOUT.valued("speed", "U", "speed of the inflow, in cells per step")
    },
    parse: number,
};

pub static OBSTACLE: Flag<String> = Flag::text(About { default: "sphere", ..ABOUT.valued("obstacle", "WHAT", "sphere, none, or a file of the solid cells (legacy VTK structured points of zeros and ones)") });
