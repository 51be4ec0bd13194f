//! [`Policy`]: the choices that make up a way of balancing, and their presets by name.

use super::PeerId;
use super::overlay::Growth;
use super::share::{Power, Share};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Whom an idle peer asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Victim {
    /// At the start it waits at its parent in the tree; later it asks any other peer a few times, and
    /// then waits at its neighbours in a hypercube.
    Woven,
    /// Any other peer, each as likely.
    Random,
    /// The peers after it, one after the other.
    Ring,
    /// Any other peer a few times; then it waits at its neighbours in a hypercube.
    Lifelines,
    /// Its children in the tree; once they have nothing it waits at its parent.
    Overlay {
        /// Whether it waits at a peer somewhere else in parallel.
        bridges: bool,
    },
    /// Peer 0, which alone gives.
    Master,
    /// Peer 0, which knows how much each has, and has whoever has most give.
    Broker,
    /// Peer 0, which keeps a copy of all that is out, and gives of the largest at once: whoever has it
    /// hears later, so that some nodes are explored twice.
    Late,
    /// Its parent in the tree; work goes down only.
    Parent {
        /// Whether peers with others below them wait at the next of these on their level, too.
        siblings: bool,
    },
}

/// What tells that all is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Waves over the tree of peers, which gather how much was sent and received.
    Waves,
    /// A counter that all units share, inside one process: of units that are not idle, and of messages on
    /// their way that matter.
    Counter,
}

/// All choices of a way of balancing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Whom to ask.
    pub victim: Victim,
    /// How much to give.
    pub share: Share,
    /// Powers given by hand, of each peer; those beyond have the last one's. Measured if none are.
    pub weights: Arc<[u32]>,
    /// Time between two words of a worker to its broker about how much it has.
    pub report_ns: u64,
    /// What tells that all is done. If nothing is said, that is up to whoever runs the peers: a counter
    /// inside one process, waves elsewhere.
    pub end: Option<End>,
    /// How the tree of peers grows.
    pub tree: Growth,
    /// Children of a peer in a full tree.
    pub degree: u32,
    /// Levels below the root at most: the degree is then the least with which there are no more. None
    /// if 0.
    pub levels: u32,
    /// Nodes that are given at a time, from the root's level down; the last ones hold below.
    pub grains: Arc<[u32]>,
    /// Refusals in a row after which an idle peer rests before it asks again.
    pub patience: u32,
    /// The first rest; each further one in a row is twice as long.
    pub rest_ns: u64,
    /// The longest rest.
    pub longest_rest_ns: u64,
}

/// All peers of a run have one policy: it tells no two states of theirs apart.
impl Hash for Policy {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            victim: Victim::Woven,
            share: Share::Power,
            weights: Arc::default(),
            report_ns: 1_000_000,
            end: None,
            tree: Growth::Full,
            degree: 10,
            levels: 0,
            grains: Arc::default(),
            patience: 2,
            rest_ns: 5_000,
            longest_rest_ns: 640_000,
        }
    }
}

/// A preset: its name, what it is, and whom to ask and how much to give.
type Preset = (&'static str, &'static str, Victim, Share);

/// The presets by name.
pub const PRESETS: [Preset; 12] = [
    (
        "adaptive",
        "spread work down a tree at the start; then ask at random, then wait at the neighbours in a \
         hypercube; give by measured power",
        Victim::Woven,
        Share::Power,
    ),
    ("random-power", "ask at random, give by measured power", Victim::Random, Share::Power),
    ("random-half", "ask at random, give half", Victim::Random, Share::Part(2)),
    ("weighted", "ask at random, give by powers given by hand", Victim::Random, Share::Power),
    ("ring", "ask the next ones in turn, give half", Victim::Ring, Share::Part(2)),
    (
        "lifelines",
        "ask at random, then wait at the neighbours in a hypercube; give half",
        Victim::Lifelines,
        Share::Part(2),
    ),
    (
        "overlay",
        "ask down, then up a tree, and over a bridge; give by sizes of subtrees",
        Victim::Overlay { bridges: true },
        Share::Subtree,
    ),
    ("master-worker", "peer 0 has whoever has most give half", Victim::Broker, Share::Part(2)),
    (
        "hierarchical-master-worker",
        "parents in a tree give grains, larger ones to those who have more below them; those on one \
         level share with each other",
        Victim::Parent { siblings: true },
        Share::Grain(8),
    ),
    ("static", "peer 0 divides evenly, once", Victim::Master, Share::Even),
    ("dynamic", "peer 0 gives chunks", Victim::Master, Share::Chunk(64)),
    ("guided", "peer 0 gives parts of what is left", Victim::Master, Share::Guided(2)),
];

impl Policy {
    /// What may stand after the name of a preset.
    pub const KEYS: &str = "share, grain, degree, levels, tree, end, patience, weights, bridges of overlay, \
                            late of master-worker, or siblings of hierarchical-master-worker";

    /// Reads `NAME:key=value,…`; the keys are those of [`Policy::KEYS`].
    ///
    /// # Errors
    /// What is wrong with the words, and what was expected.
    pub fn parse(words: &str) -> Result<Self, String> {
        Self::parse_with(words, &[])
    }

    /// The same where `weighted` takes these weights unless others are named.
    ///
    /// # Errors
    /// As [`Policy::parse`].
    pub fn parse_with(words: &str, weights: &[u32]) -> Result<Self, String> {
        let (name, keys) = words.split_once(':').unwrap_or((words, ""));
        let preset = PRESETS.iter().find(|(preset, ..)| *preset == name);
        let Some(&(_, _, victim, share)) = preset else {
            let names = PRESETS.map(|(name, ..)| name).join(", ");
            return Err(format!("unknown balance '{name}', expected one of {names}"));
        };
        let mut policy = Self { victim, share, ..Self::default() };
        for pair in keys.split(',').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            policy.set(key, value).map_err(|why| format!("balance {name}: {pair}: {why}"))?;
        }
        if name == "weighted" && policy.weights.is_empty() {
            policy.weights = weights.into();
        }
        if name == "weighted" && policy.weights.is_empty() {
            return Err("balance weighted: expected weights=1/4/…, one for each unit".into());
        }
        Ok(policy)
    }

    /// Changes a choice.
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let number = |most: u32| {
            let number = value.parse().ok().filter(|number| (1..=most).contains(number));
            number.ok_or_else(|| format!("expected a whole number from 1 to {most}"))
        };
        match (key, self.victim) {
            ("share", _) => self.share = parse_share(value)?,
            ("degree", _) => self.degree = number(1_000_000)?,
            ("patience", _) => self.patience = number(1000)?,
            ("late", Victim::Broker | Victim::Late) if value.is_empty() => {
                self.victim = Victim::Late
            }
            ("levels", _) => self.levels = number(1000)?,
            ("tree", _) => {
                self.tree = one_of(value, [("full", Growth::Full), ("random", Growth::Random)])?
            }
            ("bridges", Victim::Overlay { .. }) => {
                self.victim = Victim::Overlay { bridges: one_of(value, YES_OR_NO)? };
            }
            ("siblings", Victim::Parent { .. }) => {
                self.victim = Victim::Parent { siblings: one_of(value, YES_OR_NO)? };
            }
            ("end", _) => {
                self.end = Some(one_of(value, [("waves", End::Waves), ("counter", End::Counter)])?);
            }
            ("weights", _) => self.weights = numbers(value)?,
            ("grain", _) => (self.share, self.grains) = (Share::Levels, numbers(value)?),
            _ => return Err(format!("expected {}", Self::KEYS)),
        }
        Ok(())
    }

    /// The power of a peer that was given by hand.
    pub(super) fn weight(&self, peer: PeerId) -> Option<Power> {
        let weight = self.weights.get(peer as usize).or(self.weights.last());
        weight.map(|&weight| Power(weight.into()))
    }

    /// Whether those above ask below, and must know where there is something.
    pub(super) fn asks_along_the_tree(&self) -> bool {
        matches!(self.victim, Victim::Overlay { .. })
    }

    /// Whether some nodes may be explored twice: what counts them is wrong with it.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.victim == Victim::Late
    }

    /// Whether a peer gives work to those who ask.
    pub(super) fn gives(&self, peer: PeerId) -> bool {
        !matches!(self.victim, Victim::Master | Victim::Late) || peer == 0
    }
}

const YES_OR_NO: [(&str, bool); 2] = [("yes", true), ("no", false)];

/// The meaning of one of two words.
fn one_of<T: Copy>(value: &str, words: [(&str, T); 2]) -> Result<T, String> {
    let [(one, _), (other, _)] = words;
    let found = words.iter().find(|(word, _)| *word == value);
    found.map(|&(_, meaning)| meaning).ok_or_else(|| format!("expected {one} or {other}"))
}

/// Whole numbers between slashes.
fn numbers(value: &str) -> Result<Arc<[u32]>, String> {
    let numbers = value.split('/').map(|word| word.parse().ok().filter(|&number: &u32| number > 0));
    let numbers: Option<Vec<u32>> = numbers.collect();
    Ok(numbers.ok_or("expected whole numbers above 0, as 1/4/4")?.into())
}

fn parse_share(value: &str) -> Result<Share, String> {
    let after = |name: &str| value.strip_prefix(name).and_then(|parts| parts.parse().ok());
    match value {
        "half" => return Ok(Share::Part(2)),
        "power" => return Ok(Share::Power),
        "subtree" => return Ok(Share::Subtree),
        "even" => return Ok(Share::Even),
        _ => {}
    }
    match (after("1/"), after("chunk/"), after("guided/"), after("grain/")) {
        (Some(parts @ 2..), ..) => Ok(Share::Part(parts)),
        (_, Some(nodes @ 1..), ..) => Ok(Share::Chunk(nodes)),
        (_, _, Some(parts @ 1..), _) => Ok(Share::Guided(parts)),
        (.., Some(nodes @ 1..)) => Ok(Share::Grain(nodes)),
        _ => {
            Err("expected half, 1/k with k of 2 or more, power, subtree, even, chunk/n, guided/n \
                  or grain/n"
                .into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_and_keys_are_read() {
        assert_eq!(Policy::parse("adaptive:end=counter").unwrap().end, Some(End::Counter));
        let by_class = |words| Policy::parse_with(words, &[60, 1]).unwrap();
        assert_eq!(by_class("weighted"), by_class("weighted:weights=60/1"));
        assert!(by_class("adaptive").weights.is_empty());
        assert_eq!(Policy::parse("adaptive"), Ok(Policy::default()));
        let (victim, share) = (Victim::Random, Share::Part(8));
        let eighth = Policy { victim, share, ..Policy::default() };
        assert_eq!(Policy::parse("random-half:share=1/8"), Ok(eighth));
        let overlay = Policy::parse("overlay:degree=3,bridges=no,share=half").unwrap();
        assert_eq!(overlay.victim, Victim::Overlay { bridges: false });
        assert_eq!((overlay.degree, overlay.share), (3, Share::Part(2)));
        let weighted = Policy::parse("weighted:weights=1/4").unwrap();
        assert_eq!([0, 1, 2].map(|peer| weighted.weight(peer).unwrap().0), [1, 4, 4]);
        let tree =
            Policy::parse("hierarchical-master-worker:grain=64/8/1,levels=2,siblings=no").unwrap();
        assert_eq!((tree.victim, tree.share), (Victim::Parent { siblings: false }, Share::Levels));
        assert_eq!((&tree.grains[..], tree.levels), (&[64, 8, 1][..], 2));
        assert_eq!(Policy::parse("adaptive:tree=random").unwrap().tree, Growth::Random);
        for (name, ..) in PRESETS {
            assert!(Policy::parse(name).is_ok() || name == "weighted", "{name}");
        }
        for bad in [
            "",
            "best",
            "adaptive:share=1/1",
            "adaptive:share=2",
            "adaptive:x=1",
            "overlay:degree=0",
            "ring:patience=1001",
            "overlay:bridges=maybe",
            "overlay:tree=birch",
            "overlay:siblings=no",
            "overlay:levels=0",
            "overlay:grain=64//1",
            "overlay:late",
            "adaptive:end=soon",
            "master-worker:late=yes",
            "adaptive:bridges=yes",
            "weighted",
            "weighted:weights=1/0",
            "dynamic:share=chunk/0",
        ] {
            assert!(Policy::parse(bad).is_err(), "{bad}");
        }
    }
}
