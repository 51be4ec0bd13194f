//! [`NamedInstance`]: an instance that the command knows by name, and what is known of it.

use crate::report::grouped;
use crate::results::JsonInteger;
use serde_json::{Value, json};

/// An instance that the command knows by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedInstance {
    /// Its name.
    pub name: String,
    /// Its size, in a few words.
    pub size: String,
    /// What is known of it.
    pub known: KnownResult,
}

/// What is known of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownResult {
    /// The best value that was found, and the best bound that was proven.
    Best(i64, i64),
    /// The number of solutions, or of nodes.
    Count(u128),
}

/// Instances that have names and published optima.
pub fn solved<T>(
    names: impl Iterator<Item = &'static str>,
    named: fn(&str) -> Option<Result<T, String>>,
    optimum: fn(&str) -> Option<i64>,
    size: fn(&T) -> String,
) -> Vec<NamedInstance> {
    let instance = |name: &str| {
        let size = size(&named(name)?.ok()?);
        let optimum = optimum(name)?;
        let known = KnownResult::Best(optimum, optimum);
        Some(NamedInstance { name: name.into(), size, known })
    };
    names.filter_map(instance).collect()
}

impl NamedInstance {
    /// What is known of it, in a few words.
    pub fn known_text(&self) -> String {
        match self.known {
            KnownResult::Best(best, bound) if best == bound => format!("optimum {best}"),
            KnownResult::Best(best, bound) => format!("best known {best}, bound {bound}"),
            KnownResult::Count(count) => grouped(count),
        }
    }

    /// The instance as data.
    pub fn json(&self) -> Value {
        let (best, bound, count) = match self.known {
            KnownResult::Best(best, bound) => (Some(best), Some(bound), None),
            KnownResult::Count(count) => (None, None, Some(count)),
        };
        json!({
            "name": self.name,
            "size": self.size,
            "best": best.map(JsonInteger),
            "lower_bound": bound.map(JsonInteger),
            "count": count.map(JsonInteger),
        })
    }
}
