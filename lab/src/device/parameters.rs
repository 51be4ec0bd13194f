//! [`Device`]: the parameters of a simulated device.

use pleach_core::search::inside::Inside;

/// A device. Its speed is reached only while all its explorers have work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Device {
    /// Its explorers, all equally fast.
    pub explorers: u32,
    /// The time between two counts of idle explorers.
    pub step_ns: u64,
    /// More idle explorers than this end a round.
    pub trigger: u32,
    /// The time of a launch: there is one before each round, and some to exchange work after it.
    pub launch_ns: u64,
    /// The time to copy work to the device or from it.
    pub copy_ns: u64,
    /// How idle explorers get work from others, after a round.
    pub inside: Inside,
    /// Which explorers get the work that arrives.
    pub put: Put,
    /// Whether one explorer, drawn at random, gives all it has to a thief outside; otherwise all give.
    pub one_gives: bool,
    /// The depth down to which the host explores arriving work, if it does.
    pub cutoff: Option<u32>,
    /// The speed of the host.
    pub host_speed: f64,
}

/// Which explorers of a device get the work that arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Put {
    /// All that are idle get equal parts of it.
    #[default]
    Spread,
    /// The first gets all of it.
    One,
}

impl Put {
    /// All values with their names.
    pub const ALL: [(Self, &str); 2] = [(Self::Spread, "spread"), (Self::One, "one")];
}
