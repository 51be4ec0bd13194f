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

/// `--data`.
pub static DATA: Flag<String> = Flag::text(About {
    name: "data",
    value: Some("FOLDER"),
    help: "folder of the service: its database, certificate, credentials, and the jobs' files",
    ..ABOUT
});

/// `--address`.
pub static ADDRESS: Flag<String> = Flag {
    about: About {
        name: "address",
        value: Some("HOST:PORT"),
        help: "address at which users and joiners reach the service, as credentials name it",
        default: "that of --listen; this machine's name instead of 0.0.0.0",
        ..ABOUT
    },
    parse: super::cluster::address,
};

/// `--roots`.
pub static ROOTS: Flag<u64> = Flag {
    about: About {
        name: "roots",
        value: Some("N"),
        help: "maximum number of jobs that run at once; each has a process on this machine",
        default: "twice the cores",
        ..ABOUT
    },
    parse: |word| whole(word, 1, 10_000),
};

/// `--half-life`.
pub static HALF_LIFE: Flag<Duration> = Flag {
    about: About {
        name: "half-life",
        value: Some("T"),
        help: "half-life of recorded usage: after this time, past use counts half",
        default: "1h",
        ..ABOUT
    },
    parse: |word| match time(word)? {
        Duration::ZERO => Err(format!("{word}: expected a time above 0")),
        time => Ok(time),
    },
};

/// `--keep`.
pub static KEEP: Flag<Option<Duration>> = Flag {
    about: About {
        name: "keep",
        value: Some("T"),
        help: "how long to keep the files of finished jobs, such as 30d; none: forever",
        default: "none",
        ..ABOUT
    },
    parse: |word| if word == "none" { Ok(None) } else { time(word).map(Some) },
};

/// `--tls-certificate`.
pub static TLS_CERTIFICATE: Flag<String> = Flag::text(About {
    name: "tls-certificate",
    value: Some("FILE"),
    help: "certificate of the service with its chain (PEM), instead of one that it makes",
    ..ABOUT
});

/// `--tls-key`.
pub static TLS_KEY: Flag<String> = Flag::text(About {
    name: "tls-key",
    value: Some("FILE"),
    help: "private key of --tls-certificate (PEM)",
    ..ABOUT
});

/// `--grow`.
pub static GROW: Flag<Slurm> = Flag {
    about: About {
        name: "grow",
        value: Some("HOW"),
        help: "start more joiners while searches could use them: slurm:PARTITION,max=N,time=T, optionally with \
               threads=N (per joiner, 1 by default) and idle=T (how long a joiner may be idle before it is dismissed, \
               60s by default)",
        ..ABOUT
    },
    parse: slurm,
};

/// `--service`.
pub static SERVICE: Flag<String> = Flag::text(About {
    name: "service",
    value: Some("FILE"),
    help: "credentials: where the service is, and who you are",
    default: "the file that PLEACH_SERVICE names",
    applies: Applies::To(CLIENTS),
    ..ABOUT
});

/// `--priority`.
pub static PRIORITY: Flag<i32> = Flag {
    about: About {
        name: "priority",
        value: Some("N"),
        help: "among your jobs, those with the highest priority come first",
        default: "0",
        applies: Applies::To(&[Verb::Submit]),
        ..ABOUT
    },
    parse: priority,
};

/// `--wait`.
pub static WAIT: Flag<()> = Flag::switch(About {
    name: "wait",
    help: "wait for the end of the job, and print its result",
    applies: Applies::To(&[Verb::Submit]),
    ..ABOUT
});

/// `--fetch`.
pub static FETCH: Flag<String> = Flag::text(About {
    name: "fetch",
    value: Some("FOLDER"),
    help: "write the job's files, its log among them, to this folder",
    applies: Applies::To(&[Verb::Result]),
    ..ABOUT
});

const ACCOUNT: About = About { applies: Applies::To(&[Verb::User]), ..ABOUT };

/// `--role`.
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

/// `--weight`.
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

/// `--most-threads`.
pub static MOST_THREADS: Flag<Option<u64>> = Flag {
    about: About {
        name: "most-threads",
        value: Some("N"),
        help: "maximum number of threads that the user may have at once; none: no limit",
        ..ACCOUNT
    },
    parse: |word| limit(word, |word| whole(word, 1, u32::MAX.into())),
};

/// `--most-jobs`.
pub static MOST_JOBS: Flag<Option<u64>> = Flag {
    about: About {
        name: "most-jobs",
        value: Some("N"),
        help: "maximum number of unfinished jobs of the user; none: no limit",
        ..ACCOUNT
    },
    parse: |word| limit(word, |word| whole(word, 1, u32::MAX.into())),
};

/// `--most-memory`.
pub static MOST_MEMORY: Flag<Option<u64>> = Flag {
    about: About {
        name: "most-memory",
        value: Some("SIZE"),
        help: "maximum memory of each job on the service's machine: 500M, 8G; none: no limit",
        ..ACCOUNT
    },
    parse: |word| limit(word, size),
};

/// `--most-files`.
pub static MOST_FILES: Flag<Option<u64>> = Flag {
    about: About {
        name: "most-files",
        value: Some("SIZE"),
        help: "maximum size of the files of the user's unfinished jobs, checkpoints included; none: no limit",
        ..ACCOUNT
    },
    parse: |word| limit(word, size),
};

/// `--only-for`.
pub static ONLY_FOR: Flag<String> = Flag::text(About {
    name: "only-for",
    value: Some("USER"),
    help: "joiners with these credentials work for this user only",
    ..ACCOUNT
});

/// `--renew`.
pub static RENEW: Flag<()> = Flag::switch(About {
    name: "renew",
    help: "make a new token; the old one is no longer valid",
    ..ACCOUNT
});

/// `--remove`.
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
    let priority = word.parse().ok().filter(|priority: &i32| priority.abs() <= 1000);
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
