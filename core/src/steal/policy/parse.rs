//! Parses a policy: the name of a preset, and changes to it.

use super::super::share::Share;
use super::super::tree::Growth;
use super::{End, PRESETS, Policy, Victim};
use std::sync::Arc;

impl Policy {
    /// The keys that may follow a preset's name.
    pub const KEYS: &str = "share, grain, least, degree, levels, tree, end, patience, power, weights, first (where any \
                            peer may give), bridges (overlay), late (master-worker, in simulations), siblings, depth \
                            (hierarchical-master-worker), or cutoff, second_cutoff, coordinator (static, dynamic, guided)";

    /// Parses `NAME:key=value,…` with the keys in [`Policy::KEYS`].
    ///
    /// # Errors
    /// If the text is not a policy: the faulty word, and the expected ones.
    pub fn parse(words: &str) -> Result<Self, String> {
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
        // One subtree at a time, unless the user wants more.
        let levels = policy.has_masters() || !policy.grains.is_empty();
        if levels && !keys.split(',').any(|pair| pair.starts_with("share=")) {
            policy.share = Share::Levels;
        }
        if policy.least > 2 && (policy.is_late() || policy.coordinator) {
            return Err(format!(
                "balance {name}: least cannot be combined with late or coordinator=yes"
            ));
        }
        if policy.coordinator && policy.cutoff.is_none() {
            return Err(format!("balance {name}: coordinator=yes needs cutoff=N"));
        }
        if policy.second_cutoff.is_some() && !policy.coordinator {
            return Err(format!("balance {name}: second_cutoff: expected coordinator=yes, too"));
        }
        policy.profile = name == "weighted" && policy.weights.is_empty();
        Ok(policy)
    }

    /// Like [`Policy::parse`], with default weights for `weighted` where nothing can be measured beforehand.
    ///
    /// # Errors
    /// Like [`Policy::parse`], and if there are no weights where some are needed.
    pub fn parse_with(words: &str, weights: &[u32]) -> Result<Self, String> {
        let policy = Self::parse(words)?;
        if !policy.profile {
            return Ok(policy);
        }
        if weights.is_empty() {
            return Err("balance weighted: expected weights=1/4/…, one per worker".into());
        }
        Ok(Self { weights: weights.into(), profile: false, ..policy })
    }

    /// Sets one key.
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let number = |most: u32| {
            let number = value.parse().ok().filter(|number| (1..=most).contains(number));
            number.ok_or_else(|| format!("expected a whole number from 1 to {most}"))
        };
        match (key, self.victim) {
            ("share", _) => self.share = parse_share(value)?,
            ("degree", _) => self.tree.degree = number(1_000_000)?,
            ("patience", _) if value == "none" => self.rests.patience = u32::MAX,
            ("patience", _) => self.rests.patience = number(1000)?,
            ("late", Victim::Broker | Victim::Late) if value.is_empty() => {
                self.victim = Victim::Late
            }
            ("levels", _) => self.tree.levels = number(1000)?,
            ("tree", _) => {
                self.tree.growth =
                    one_of(value, [("full", Growth::Full), ("random", Growth::Random)])?
            }
            ("bridges", Victim::Overlay { .. }) => {
                let words =
                    [("yes", (true, false)), ("random", (true, true)), ("no", (false, false))];
                let (bridges, drawn) = one_of(value, words)?;
                self.victim = Victim::Overlay { bridges };
                self.tree.drawn_bridges = drawn;
            }
            ("first", victim) if victim.is_without_center() => {
                self.tree.drawn_first = one_of(value, [("random", true), ("0", false)])?;
            }
            ("power", _) => {
                self.whole_power = one_of(value, [("whole", true), ("window", false)])?;
            }
            ("end", Victim::Overlay { .. }) if value == "requests" => {
                self.end = Some(End::Requests)
            }
            ("siblings", Victim::Parent { .. }) => {
                self.victim = Victim::Parent { siblings: one_of(value, YES_OR_NO)? };
            }
            ("depth", Victim::Parent { .. }) => {
                (self.depths, self.pool) = match value.strip_prefix("auto") {
                    Some("") => (Arc::default(), Some(POOL)),
                    Some(nodes) => (Arc::default(), Some(parse_pool(nodes)?)),
                    None => (numbers(value)?, None),
                };
            }
            ("cutoff", Victim::Master) => self.cutoff = Some(number(1000)?),
            ("second_cutoff", Victim::Master) => self.second_cutoff = Some(number(1000)?),
            ("coordinator", Victim::Master) => self.coordinator = one_of(value, YES_OR_NO)?,
            ("end", _) => {
                self.end = Some(one_of(value, [("waves", End::Waves), ("counter", End::Counter)])?);
            }
            ("weights", _) => self.weights = numbers(value)?,
            ("grain", _) => self.grains = numbers(value)?,
            ("least", _) => {
                let least = value.parse().ok().filter(|&least| least >= 2);
                self.least = least.ok_or("expected a whole number of at least 2")?;
            }
            _ => return Err(format!("expected {}", Self::KEYS)),
        }
        Ok(())
    }
}

/// Open nodes for each peer below a master, unless the user says how many.
const POOL: u32 = 8;

const YES_OR_NO: [(&str, bool); 2] = [("yes", true), ("no", false)];

/// Parses one of several words.
fn one_of<T: Copy, const N: usize>(value: &str, words: [(&str, T); N]) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| *word == value);
    let names = || words.map(|(word, _)| word).join(" or ");
    found.map(|&(_, meaning)| meaning).ok_or_else(|| format!("expected {}", names()))
}

/// Parses whole numbers separated by slashes.
fn numbers(value: &str) -> Result<Arc<[u32]>, String> {
    let numbers = value.split('/').map(|word| word.parse().ok().filter(|&number: &u32| number > 0));
    let numbers: Option<Vec<u32>> = numbers.collect();
    Ok(numbers.ok_or("expected positive whole numbers, such as 1/4/4")?.into())
}

/// Parses `/n`, after `auto`.
fn parse_pool(value: &str) -> Result<u32, String> {
    let nodes = value.strip_prefix('/').and_then(|word| word.parse().ok());
    let nodes = nodes.filter(|&nodes: &u32| nodes > 0);
    nodes.ok_or_else(|| "expected depths such as 2/4/6, auto, or auto/n with n at least 1".into())
}

fn parse_share(value: &str) -> Result<Share, String> {
    let after = |name: &str| value.strip_prefix(name).and_then(|parts| parts.parse().ok());
    match value {
        "half" => return Ok(Share::Part(2)),
        "power" => return Ok(Share::Power),
        "subtree" => return Ok(Share::Subtree),
        "subtree-power" => return Ok(Share::SubtreePower),
        "even" => return Ok(Share::Even),
        _ => {}
    }
    match (after("1/"), after("chunk/"), after("guided/"), after("grain/")) {
        (Some(parts @ 2..), ..) => Ok(Share::Part(parts)),
        (_, Some(nodes @ 1..), ..) => Ok(Share::Chunk(nodes)),
        (_, _, Some(parts @ 1..), _) => Ok(Share::Guided(parts)),
        (.., Some(nodes @ 1..)) => Ok(Share::Grain(nodes)),
        _ => Err("expected half, 1/k with k at least 2, power, subtree, subtree-power, even, \
                  chunk/n, guided/n or grain/n"
            .into()),
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
        assert_eq!((overlay.tree.degree, overlay.share), (3, Share::Part(2)));
        let weighted = Policy::parse("weighted:weights=1/4").unwrap();
        assert_eq!(Policy::parse("random-half:patience=none").unwrap().rests.patience, u32::MAX);
        assert_eq!([0, 1, 2].map(|peer| weighted.fixed_power(peer).unwrap().0), [1, 4, 4]);
        assert!(!weighted.profile && Policy::parse("weighted").unwrap().profile);
        assert!(Policy::parse_with("weighted", &[]).is_err());
        let tree =
            Policy::parse("hierarchical-master-worker:grain=64/8/1,levels=2,siblings=no").unwrap();
        assert_eq!((tree.victim, tree.share), (Victim::Parent { siblings: false }, Share::Levels));
        assert_eq!((&tree.grains[..], tree.tree.levels), (&[64, 8, 1][..], 2));
        let depths = |depth: &str| {
            let words = format!("hierarchical-master-worker:depth={depth}");
            let policy = Policy::parse(&words).unwrap();
            assert!(policy.has_masters() && policy.share == Share::Levels, "{depth}");
            (policy.depths.to_vec(), policy.pool)
        };
        assert_eq!(depths("2/4"), (vec![2, 4], None));
        assert_eq!(depths("auto"), (Vec::new(), Some(8)));
        assert_eq!(depths("auto/3"), (Vec::new(), Some(3)));
        assert_eq!(Policy::parse("adaptive:tree=random").unwrap().tree.growth, Growth::Random);
        let drawn =
            Policy::parse("overlay:bridges=random,end=requests,first=random,power=whole").unwrap();
        assert!(drawn.tree.drawn_bridges && drawn.tree.drawn_first && drawn.whole_power);
        assert_eq!(drawn.end, Some(End::Requests));
        let powers = Policy::parse("overlay:share=subtree-power").unwrap();
        assert_eq!(powers.share, Share::SubtreePower);
        assert_eq!(Policy::parse("overlay:least=1000000000000").unwrap().least, 1_000_000_000_000);
        let seeded = "dynamic:share=chunk/1,cutoff=2,second_cutoff=8,coordinator=yes";
        let seeded = Policy::parse(seeded).unwrap();
        assert_eq!((seeded.cutoff, seeded.second_cutoff), (Some(2), Some(8)));
        assert!(seeded.coordinator);
        for (name, ..) in PRESETS {
            assert!(Policy::parse(name).is_ok(), "{name}");
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
            "overlay:first=1",
            "adaptive:first=random",
            "random-half:end=requests",
            "adaptive:power=half",
            "overlay:siblings=no",
            "overlay:levels=0",
            "overlay:grain=64//1",
            "overlay:late",
            "adaptive:least=1",
            "adaptive:least=1e9",
            "master-worker:least=9,late",
            "master-worker:late,least=9",
            "dynamic:cutoff=2,coordinator=yes,least=9",
            "adaptive:end=soon",
            "master-worker:late=yes",
            "adaptive:bridges=yes",
            "weighted:weights=1/0",
            "dynamic:share=chunk/0",
            "dynamic:cutoff=0",
            "overlay:depth=2",
            "overlay:depth=auto",
            "hierarchical-master-worker:depth=2/0",
            "hierarchical-master-worker:depth=auto/0",
            "hierarchical-master-worker:depth=auto2",
            "random-half:cutoff=2",
            "overlay:coordinator=yes",
            "dynamic:coordinator=yes",
            "dynamic:cutoff=2,second_cutoff=8",
        ] {
            assert!(Policy::parse(bad).is_err(), "{bad}");
        }
    }
}
