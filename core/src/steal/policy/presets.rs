//! [`PRESETS`]: balancing policies by name.

use super::super::share::Share;
use super::Victim;

/// A preset: its name, what it does, which peers it asks and how much it gives.
pub type Preset = (&'static str, &'static str, Victim, Share);

/// The presets: the default first, the others for comparison.
pub const PRESETS: [Preset; 12] = [
    (
        "adaptive",
        "spread work down a tree at the start; later ask at random, then wait at neighbours in a \
         hypercube; give by measured power",
        Victim::TreeThenLifelines,
        Share::Power,
    ),
    ("random-power", "ask at random, give by measured power", Victim::Random, Share::Power),
    ("random-half", "ask at random, give half", Victim::Random, Share::Part(2)),
    (
        "weighted",
        "ask at random, give by powers that are set, or measured before the search",
        Victim::Random,
        Share::Power,
    ),
    ("ring", "ask the next peers in turn, give half", Victim::Ring, Share::Part(2)),
    (
        "lifelines",
        "ask at random, then wait at neighbours in a hypercube; give half",
        Victim::Lifelines,
        Share::Part(2),
    ),
    (
        "overlay",
        "ask down a tree, then up, and over a bridge; give by the sizes of subtrees",
        Victim::Overlay { bridges: true },
        Share::Subtree,
    ),
    ("master-worker", "peer 0 has the most loaded peer give half", Victim::Broker, Share::Part(2)),
    (
        "hierarchical-master-worker",
        "parents in a tree give grains, larger ones to larger subtrees; inner peers of one level share \
         with each other",
        Victim::Parent { siblings: true },
        Share::Grain(8),
    ),
    ("static", "peer 0 divides the work once, evenly or by weights", Victim::Master, Share::Even),
    ("dynamic", "peer 0 gives chunks", Victim::Master, Share::Chunk(64)),
    ("guided", "peer 0 gives parts of what is left", Victim::Master, Share::Guided(1)),
];
