//! Flags for searches and loops that several processes share.

use super::flag::{About, Applies, Flag, Group, Record};
use super::numbers::{time, whole};
use super::verb::{OPEN, SHARED, SHARED_AND_JOIN, Verb};
use pleach_cluster::tls::Reach;
use serde_json::json;
use std::time::Duration;

const ABOUT: About = About { group: Group::Processes, applies: Applies::To(SHARED), ..About::BASE };

pub static LISTEN: Flag<String> = Flag {
    about: About {
        default: "off",
        applies: Applies::To(OPEN),
        record: Record::Value,
        ..ABOUT.valued("listen", "HOST:PORT", "let other processes join the run with 'pleach join'")
    },
    parse: address,
};

pub static KEY: Flag<String> = Flag::text(About {
    default: "pleach.key",
    applies: Applies::To(SHARED_AND_JOIN),
    record: Record::Own(|given| {
        let key = given.word("key").unwrap_or(KEY.about.default);
        Some(json!(given.word("listen").map(|_| key)))
    }),
    ..ABOUT.valued(
        "key",
        "FILE",
        "key of the search: anyone with this key may join; --listen creates it if missing",
    )
});

/// The number of places without the flag.
pub const DEFAULT_PLACES: u32 = 64;

pub static PLACES: Flag<u32> = Flag {
    about: About {
        default: "64",
        record: Record::Own(|given| {
            let places = given.get(&PLACES).ok().flatten().unwrap_or(DEFAULT_PLACES);
            Some(json!(given.word("listen").map(|_| places)))
        }),
        ..ABOUT.valued(
            "places",
            "N",
            "maximum number of processes that can take part at once, including this one",
        )
    },
    parse: |word| whole(word, 2, 4096).map(|places| places as u32),
};

pub static PATIENCE: Flag<Option<Duration>> = Flag {
    about: About {
        default: "60s",
        applies: Applies::To(&[Verb::Join]),
        ..ABOUT.valued(
            "patience",
            "T",
            "how long to keep trying to reach the search, or to reconnect to it; none: no limit",
        )
    },
    parse: |word| if word == "none" { Ok(None) } else { time(word).map(Some) },
};

pub static REACH: Flag<Reach> = Flag {
    about: About { default: "the address by which it reaches the search, any port",
        applies: Applies::To(&[Verb::Join]), ..ABOUT.valued("reach", "HOST:PORT", "address at which other joiners can connect to this one directly; none: communicate only through the \
               search's first process") },
    parse: |word| if word == "none" { Ok(Reach::Nowhere) } else { address(word).map(Reach::At) },
};

pub static STANDBY: Flag<String> = Flag {
    about: About { default: "off",
        applies: Applies::To(&[Verb::Join]), ..ABOUT.valued("standby", "HOST:PORT", "take over the search if its first process is gone, and listen here; needs --checkpoint FILE for a copy") },
    parse: address,
};

pub static MPI: Flag<String> = Flag {
    about: About {
        default: "auto",
        record: Record::ValueOrDefault,
        ..ABOUT.valued(
            "mpi",
            "auto|off|PATH",
            "MPI library to use under a launcher such as mpiexec or srun",
        )
    },
    parse: |word| {
        if word.is_empty() { Err("expected auto, off or a path".into()) } else { Ok(word.into()) }
    },
};

/// Checks that a word is a host and a port.
pub fn address(word: &str) -> Result<String, String> {
    let port = word.rsplit_once(':').filter(|(host, _)| !host.is_empty());
    match port.and_then(|(_, port)| port.parse::<u16>().ok()) {
        Some(_) => Ok(word.into()),
        None => Err(format!("{word}: expected HOST:PORT, such as 0.0.0.0:7400")),
    }
}
