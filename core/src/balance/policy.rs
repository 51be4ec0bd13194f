//! [`Policy`]: the choices that make up a way of balancing, and their presets by name.

use super::share::Share;

/// Whom an idle peer asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Victim {
    /// Any other peer, each as likely.
    Random,
}

/// All choices of a way of balancing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Whom to ask.
    pub victim: Victim,
    /// How much to give.
    pub share: Share,
    /// Children of a peer in the tree that carries waves.
    pub degree: u32,
    /// Refusals in a row after which an idle peer rests before it asks again.
    pub patience: u32,
    /// The first rest; each further one in a row is twice as long.
    pub rest_ns: u64,
    /// The longest rest.
    pub longest_rest_ns: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            victim: Victim::Random,
            share: Share::Power,
            degree: 2,
            patience: 2,
            rest_ns: 5_000,
            longest_rest_ns: 640_000,
        }
    }
}

/// The presets by name, with what each is.
pub const PRESETS: [(&str, &str); 2] = [
    ("adaptive", "ask at random, give by measured power"),
    ("random-half", "ask at random, give half"),
];

impl Policy {
    /// Reads `NAME` or `NAME:share=half`, `share=power`, `share=1/4`.
    ///
    /// # Errors
    /// What is wrong with the words, and what was expected.
    pub fn parse(words: &str) -> Result<Self, String> {
        let (name, keys) = words.split_once(':').unwrap_or((words, ""));
        let share = match name {
            "adaptive" => Share::Power,
            "random-half" => Share::Part(2),
            _ => {
                let names = PRESETS.map(|(name, _)| name).join(" or ");
                return Err(format!("unknown balance '{name}', expected {names}"));
            }
        };
        let mut policy = Self { share, ..Self::default() };
        for pair in keys.split(',').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("share", value)) => policy.share = parse_share(value)?,
                _ => return Err(format!("unknown key '{pair}' for {name}, expected share=…")),
            }
        }
        Ok(policy)
    }
}

fn parse_share(value: &str) -> Result<Share, String> {
    let parts = value.strip_prefix("1/").and_then(|parts| parts.parse().ok());
    match (value, parts) {
        ("half", _) => Ok(Share::Part(2)),
        ("power", _) => Ok(Share::Power),
        (_, Some(parts)) if parts >= 2 => Ok(Share::Part(parts)),
        _ => Err(format!("share={value}: expected half, power or 1/k with k of 2 or more")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_and_keys_are_read() {
        assert_eq!(Policy::parse("adaptive"), Ok(Policy::default()));
        let eighth = Policy { share: Share::Part(8), ..Policy::default() };
        assert_eq!(Policy::parse("random-half:share=1/8"), Ok(eighth));
        for bad in ["", "best", "adaptive:share=1/1", "adaptive:share=2", "adaptive:x=1"] {
            assert!(Policy::parse(bad).is_err(), "{bad}");
        }
    }
}
