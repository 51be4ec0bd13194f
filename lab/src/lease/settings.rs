//! The models to enumerate in full: few sites, few units, and each kind of fault.

use super::lease_model::Budget;

/// A model to enumerate in full.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// A description.
    pub name: &'static str,
    /// Places for sites.
    pub places: usize,
    /// Sites present at the start.
    pub present: usize,
    /// Units of work.
    pub units: u32,
    /// What may happen in it.
    pub budget: Budget,
    /// Whether this takes minutes rather than seconds.
    pub long: bool,
}

/// All settings.
#[must_use]
pub fn settings() -> Vec<Setting> {
    let calm = Budget { gives: 2, commits: 1, ordered: true, ..Budget::default() };
    let any_order = Budget { ordered: false, ..calm };
    let once = Budget { gives: 1, ..calm };
    let model = |name, sites: (usize, usize), units, budget| {
        let (places, present) = sites;
        Setting { name, places, present, units, budget, long: false }
    };
    let long = |setting: Setting| Setting { long: true, ..setting };
    vec![
        model("no fault", (3, 3), 3, calm),
        model("messages in any order", (2, 2), 3, any_order),
        model("a site joins, one leaves", (2, 1), 3, Budget { joins: 1, leaves: 1, ..calm }),
        model("a death", (2, 2), 2, Budget { deaths: 1, ..calm }),
        model("a death and a newcomer", (2, 2), 2, Budget { deaths: 1, joins: 1, ..once }),
        model("a wrong suspicion", (2, 2), 2, Budget { suspicions: 1, ..calm }),
        model("a message lost", (2, 2), 2, Budget { losses: 1, ..calm }),
        model("a message doubled", (2, 2), 2, Budget { doubles: 1, ..calm }),
        model("the root dies", (2, 2), 2, Budget { root_deaths: 1, ..calm }),
        model(
            "the root begins another run",
            (2, 2),
            2,
            Budget { root_deaths: 1, restarts: 1, ..calm },
        ),
        model("a standby takes over", (2, 2), 2, Budget { takeovers: 1, ..once }),
        long(model("four units", (3, 3), 4, Budget { gives: 3, ..calm })),
        long(model(
            "three sites, any order",
            (3, 2),
            3,
            Budget { joins: 1, leaves: 1, ..any_order },
        )),
        long(model(
            "death, newcomer, three units",
            (2, 2),
            3,
            Budget { deaths: 1, joins: 1, ..calm },
        )),
        long(model(
            "a death, progress reports trimmed",
            (2, 2),
            3,
            Budget { deaths: 1, trims: true, ..calm },
        )),
        long(model("suspicion, three sites", (3, 3), 2, Budget { suspicions: 1, ..once })),
        long(model("suspicion twice", (2, 2), 2, Budget { suspicions: 2, ..once })),
        long(model(
            "two roots, one dies",
            (2, 2),
            2,
            Budget { takeovers: 1, root_deaths: 1, ..once },
        )),
        long(model("loss in any order", (2, 2), 2, Budget { losses: 1, ordered: false, ..calm })),
        long(model(
            "root and site die",
            (2, 2),
            2,
            Budget { root_deaths: 1, deaths: 1, joins: 1, ..once },
        )),
    ]
}
