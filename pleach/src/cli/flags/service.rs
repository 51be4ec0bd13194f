//! Flags of the service and of its clients.

use super::flag::{About, Applies, Flag, Group};
use super::numbers::{size, time, whole};
use super::verb::Verb;
use pleach_serve::api::Role;
use pleach_serve::slurm::Slurm;
use std::time::Duration;

const ABOUT: About =
    About { group: Group::Service, applies: Applies::To(&[Verb::Serve]), ..About::BASE };

/// Commands that talk to a service.
const CLIENTS: &[Verb] = &[
    Verb::Submit,
    Verb::Jobs,
    Verb::Watch,
    Verb::Cancel,
    Verb::Pause,
    Verb::Continue,
    Verb::Priority,
    Verb::Result,
    Verb::User,
];

pub static DATA: Flag<String> = Flag::text(ABOUT.valued(
    "data",
    "FOLDER",
    "folder of the service: its database, certificate, credentials, and the jobs' files",
));

pub static ADDRESS: Flag<String> = Flag {
    about: About {
        default: "that of --listen; this machine's name instead of 0.0.0.0",
        ..ABOUT.valued(
            "address",
            "HOST:PORT",
            "address at which users and joiners reach the service, as credentials name it",
        )
    },
    parse: super::cluster::address,
};

pub static ROOTS: Flag<u64> = Flag {
    about: About {
        default: "twice the cores",
        ..ABOUT.valued(
            "roots",
            "N",
            "maximum number of jobs that run at once; each has a process on this machine",
        )
    },
    parse: |word| whole(word, 1, 10_000),
};

pub static HALF_LIFE: Flag<Duration> = Flag {
    about: About {
        default: "1h",
        ..ABOUT.valued(
            "half-life",
            "T",
            "half-life of recorded usage: after this time, past use counts half",
        )
    },
    parse: |word| match time(word)? {
        Duration::ZERO => Err(format!("{word}: expected a time above 0")),
        time => Ok(time),
    },
};

pub static KEEP: Flag<Option<Duration>> = Flag {
    about: About {
        default: "none",
        ..ABOUT.valued(
            "keep",
            "T",
            "how long to keep the files of finished jobs, such as 30d; none: forever",
        )
    },
    parse: |word| if word == "none" { Ok(None) } else { time(word).map(Some) },
};

pub static TLS_CERTIFICATE: Flag<String> = Flag::text(ABOUT.valued(
    "tls-certificate",
    "FILE",
    "certificate of the service with its chain (PEM), instead of one that it makes",
));

pub static TLS_KEY: Flag<String> =
    Flag::text(ABOUT.valued("tls-key", "FILE", "private key of --tls-certificate (PEM)"));

pub static GROW: Flag<Slurm> = Flag {
    about: ABOUT.valued("grow", "HOW", "start more joiners while searches could use them: slurm:PARTITION,max=N,time=T, optionally with \
               threads=N (per joiner, 1 by default) and idle=T (how long a joiner may be idle before it is dismissed, \
               60s by default)"),
    parse: slurm,
};

pub static SERVICE: Flag<String> = Flag::text(About {
    default: "the file that PLEACH_SERVICE names",
    applies: Applies::To(CLIENTS),
    ..ABOUT.valued("service", "FILE", "credentials: where the service is, and who you are")
});

pub static PRIORITY: Flag<i32> = Flag {
    about: About {
        default: "0",
        applies: Applies::To(&[Verb::Submit]),
        ..ABOUT.valued(
            "priority",
            "N",
            "among your jobs, those with the highest priority come first",
        )
    },
    parse: priority,
};

pub static WAIT: Flag<()> = Flag::switch(About {
    applies: Applies::To(&[Verb::Submit]),
    ..ABOUT.named("wait", "wait for the end of the job, and print its result")
});

pub static FETCH: Flag<String> = Flag::text(About {
    applies: Applies::To(&[Verb::Result]),
    ..ABOUT.valued("fetch", "FOLDER", "write the job's files, its log among them, to this folder")
});

const ACCOUNT: About = About { applies: Applies::To(&[Verb::User]), ..ABOUT };

pub static ROLE: Flag<Role> = Flag {
    about: About {
        name: "role",
        value: Some("ROLE"),
        help: "user, operator (sees and controls everything), or joiner (credentials for 'pleach join')",
        default: "user",
        choices: || Role::ALL.map(|role| role.word().to_string()).to_vec(),
        ..ACCOUNT
    },
    parse: |word| {
        let role = Role::ALL.into_iter().find(|role| role.word() == word);
        role.ok_or_else(|| format!("{word}: expected user, operator or joiner"))
    },
};

pub static WEIGHT: Flag<f64> = Flag {
    about: About {
        name: "weight",
        value: Some("W"),
        help: "the user's share of the machines, relative to the weights of others",
        default: "1",
        ..ACCOUNT
    },
    parse: |word| match word.parse() {
        Ok(weight) if weight > 0.0 && weight <= 1e6 => Ok(weight),
        _ => Err(format!("{word}: expected a number above 0, at most 1,000,000")),
    },
};

pub static MOST_THREADS: Flag<Option<u64>> = Flag {
    about: About {
        name: "most-threads",
        value: Some("N"),
        help: "maximum number of threads that the user may have at once; none: no limit",
        ..ACCOUNT
    },
    parse: |word| limit(word, |word| whole(word, 1, u32::MAX.into())),
};

pub static MOST_JOBS: Flag<Option<u64>> = Flag {
    about: About {
        name: "most-jobs",
        value: Some("N"),
        help: "maximum number of unfinished jobs of the user; none: no limit",
        ..ACCOUNT
    },
    parse: |word| limit(word, |word| whole(word, 1, u32::MAX.into())),
};

pub static MOST_MEMORY: Flag<Option<u64>> = Flag {
    about: About {
        name: "most-memory",
        value: Some("SIZE"),
        help: "--memory of each of the user's searches on the service's machine: 500M, 8G; none: no \
               limit",
        ..ACCOUNT
    },
    parse: |word| limit(word, size),
};

pub static MOST_FILES: Flag<Option<u64>> = Flag {
    about: About {
        name: "most-files",
        value: Some("SIZE"),
        help: "maximum size of the files of the user's unfinished jobs, checkpoints included; none: no limit",
        ..ACCOUNT
    },
    parse: |word| limit(word, size),
};

pub static ONLY_FOR: Flag<String> = Flag::text(About {
    name: "only-for",
    value: Some("USER"),
    help: "joiners with these credentials work for this user only; none: for all users",
    ..ACCOUNT
});

pub static RENEW: Flag<()> = Flag::switch(About {
    name: "renew",
    help: "make a new token; the old one is no longer valid",
    ..ACCOUNT
});

pub static REMOVE: Flag<()> =
    Flag::switch(About { name: "remove", help: "remove the account", ..ACCOUNT });

/// How to get joiners from Slurm.
fn slurm(word: &str) -> Result<Slurm, String> {
    let wrong = || format!("{word}: expected slurm:PARTITION,max=N,time=T");
    let mut parts = word.strip_prefix("slurm:").ok_or_else(wrong)?.split(',');
    let partition = parts.next().unwrap_or_default().to_string();
    if partition.starts_with('-') || partition.contains('=') {
        return Err(wrong());
    }
    let (mut most, mut limit) = (None, None);
    let mut all = Slurm {
        partition,
        most: 0,
        time: Duration::ZERO,
        threads: 1,
        idle: Duration::from_secs(60),
    };
    for part in parts {
        let (key, value) = part.split_once('=').ok_or_else(wrong)?;
        let about = |why: String| format!("{word}: {key}={why}");
        match key {
            "max" => most = Some(whole(value, 1, 10_000).map_err(about)? as u32),
            "threads" => all.threads = whole(value, 1, 1024).map_err(about)? as u32,
            "time" => limit = Some(time(value).map_err(about)?),
            "idle" => all.idle = time(value).map_err(about)?,
            _ => return Err(format!("{word}: '{key}': expected max, time, threads or idle")),
        }
    }
    let (Some(most), Some(time)) = (most, limit) else { return Err(wrong()) };
    Ok(Slurm { most, time, ..all })
}

/// A priority.
pub fn priority(word: &str) -> Result<i32, String> {
    let priority = word.parse().ok().filter(|priority: &i32| (-1000..=1000).contains(priority));
    priority.ok_or_else(|| format!("{word}: expected a whole number from -1000 to 1000"))
}

fn limit(
    word: &str,
    parse: impl FnOnce(&str) -> Result<u64, String>,
) -> Result<Option<u64>, String> {
    if word == "none" { Ok(None) } else { parse(word).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest number used to have no absolute value.
    #[test]
    fn priorities_are_limited() {
        assert_eq!((priority("-1000"), priority("1000")), (Ok(-1000), Ok(1000)));
        for wrong in ["-1001", "1001", "-2147483648", "high"] {
            assert!(priority(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ways_to_grow_are_read() {
        let all = slurm("slurm:night,max=20,time=1h,threads=4,idle=5m").unwrap();
        assert_eq!((all.partition.as_str(), all.most, all.threads), ("night", 20, 4));
        assert_eq!((all.time.as_secs(), all.idle.as_secs()), (3600, 300));
        assert_eq!(slurm("slurm:,max=1,time=60").unwrap().partition, "");
        for wrong in [
            "pbs:x",
            "slurm:x",
            "slurm:x,max=2",
            "slurm:max=2,time=1h",
            "slurm:x,max=0,time=1h",
            "slurm:x,max=2,time=soon",
            "slurm:x,max=2,time=1h,size=3",
            "slurm:--x,max=2,time=1h",
        ] {
            assert!(slurm(wrong).is_err(), "{wrong}");
        }
    }
}
