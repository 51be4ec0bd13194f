//! The parameters of a tree, and the trees that have a name.

use std::fmt;

/// The distribution of the number of children.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TreeType {
    /// The root `b0`; others `m` with probability `q`, else none.
    Binomial,
    /// A geometric distribution whose mean depends on the depth.
    Geometric,
    /// Geometric above the depth `f · gen_mx`, binomial below.
    Hybrid,
    /// `b0` for every node above the depth `gen_mx`.
    Balanced,
}

/// How the mean of a geometric tree depends on the depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// `b0` above `gen_mx`, then none.
    Fixed,
    /// Decreasing linearly to none at `gen_mx`.
    Linear,
    /// Oscillating between `b0` and `1/b0`, none below `5 · gen_mx`.
    Cyclic,
    /// Decreasing polynomially to one at `gen_mx`.
    Expdec,
}

/// The parameters that define a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// The distribution of the number of children.
    pub tree_type: TreeType,
    /// The shape of geometric parts.
    pub shape: Shape,
    /// Branching factor at the root.
    pub b0: f64,
    /// Depth scale of geometric parts.
    pub gen_mx: u32,
    /// Probability that a binomial node has children.
    pub q: f64,
    /// Children of a binomial node that has any.
    pub m: u32,
    /// Seed of the root's state.
    pub seed: u32,
    /// Depth at which hybrid trees turn binomial, as a fraction of `gen_mx`.
    pub f: f64,
    /// How often each hash is computed.
    pub g: u32,
}

/// The values of keys that are not given.
pub(super) const DEFAULT: Parameters = Parameters {
    tree_type: TreeType::Geometric,
    shape: Shape::Linear,
    b0: 4.0,
    gen_mx: 6,
    q: 15.0 / 64.0,
    m: 4,
    seed: 0,
    f: 0.5,
    g: 1,
};

const TREE_TYPES: [(&str, TreeType); 4] = [
    ("binomial", TreeType::Binomial),
    ("geometric", TreeType::Geometric),
    ("hybrid", TreeType::Hybrid),
    ("balanced", TreeType::Balanced),
];

const SHAPES: [(&str, Shape); 4] = [
    ("fixed", Shape::Fixed),
    ("linear", Shape::Linear),
    ("cyclic", Shape::Cyclic),
    ("expdec", Shape::Expdec),
];

const fn geometric(shape: Shape, b0: f64, gen_mx: u32, seed: u32) -> Parameters {
    Parameters { shape, b0, gen_mx, seed, ..DEFAULT }
}

const fn binomial(q: f64, m: u32, seed: u32) -> Parameters {
    Parameters { tree_type: TreeType::Binomial, b0: 2000.0, q, m, seed, ..DEFAULT }
}

/// The sample trees, with their published numbers of nodes.
pub const NAMED: [(&str, Parameters, u64); 20] = [
    ("T1", geometric(Shape::Fixed, 4.0, 10, 19), 4_130_071),
    ("T5", geometric(Shape::Linear, 4.0, 20, 34), 4_147_582),
    ("T2", geometric(Shape::Cyclic, 6.0, 16, 502), 4_117_769),
    ("T3", binomial(0.124_875, 8, 42), 4_112_897),
    (
        "T4",
        Parameters {
            tree_type: TreeType::Hybrid,
            q: 0.234_375,
            ..geometric(Shape::Linear, 6.0, 16, 1)
        },
        4_132_453,
    ),
    ("T1L", geometric(Shape::Fixed, 4.0, 13, 29), 102_181_082),
    ("T2L", geometric(Shape::Cyclic, 7.0, 23, 220), 96_793_510),
    ("T3L", binomial(0.200_014, 5, 7), 111_345_631),
    ("T1XL", geometric(Shape::Fixed, 4.0, 15, 29), 1_635_119_272),
    ("T1XXL", geometric(Shape::Fixed, 4.0, 15, 19), 4_230_646_601),
    ("T3XXL", binomial(0.499_995, 2, 316), 2_793_220_501),
    ("T2XXL", binomial(0.499_999_995, 2, 0), 10_612_052_303),
    ("T1WL", geometric(Shape::Fixed, 4.0, 18, 19), 270_751_679_750),
    ("T2WL", binomial(0.499_999_999_5, 2, 559), 295_393_891_003),
    ("T3WL", binomial(0.499_999_5, 2, 559), 157_063_495_159),
    ("P3D-T1", binomial(0.499_995, 2, 38), 4_996_491),
    ("P3D-T2", binomial(0.499_995, 2, 30), 51_747_899),
    ("P3D-T3", binomial(0.499_995, 2, 55), 514_989_317),
    ("P3D-T5", binomial(0.499_997_5, 2, 559), 52_990_562_043),
    ("P3D-T6", binomial(0.499_999, 2, 559), 94_795_626_943),
];

impl Parameters {
    /// The name of its distribution of children.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        let named = TREE_TYPES.iter().find(|(_, tree_type)| *tree_type == self.tree_type);
        named.map_or("", |(name, _)| name)
    }

    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "type" => self.tree_type = word(key, value, &TREE_TYPES)?,
            "shape" => self.shape = word(key, value, &SHAPES)?,
            "b0" => self.b0 = number(key, value, 0.0, 1e6)?,
            "gen_mx" => self.gen_mx = whole(key, value, 1, 1_000_000)?,
            "q" => self.q = number(key, value, 0.0, 1.0)?,
            "m" => self.m = whole(key, value, 0, 100)?,
            "seed" => self.seed = whole(key, value, 0, i32::MAX as u32)?,
            "f" => self.f = number(key, value, 0.0, 1.0)?,
            "g" => self.g = whole(key, value, 1, 1_000_000)?,
            _ => {
                return Err(format!(
                    "unknown key '{key}': expected type, shape, b0, gen_mx, q, m, seed, f or g"
                ));
            }
        }
        Ok(())
    }

    /// Why the tree may be infinite, if it may be, and what was expected.
    #[must_use]
    pub fn endless(&self) -> Option<String> {
        let mean = self.q * f64::from(self.m);
        match (self.tree_type, self.shape) {
            (TreeType::Binomial | TreeType::Hybrid, _) if mean >= 1.0 => Some(format!(
                "q·m = {mean}: with 1 or more children per node on average, the tree may be infinite; \
                 expected q·m below 1"
            )),
            // From depth `gen_mx` on, the mean is 1 or more.
            (TreeType::Geometric, Shape::Expdec)
                if self.gen_mx > 1 && self.b0 > 0.0 && self.b0 <= 1.0 =>
            {
                Some(format!(
                    "b0 = {} with shape expdec: deep nodes have 1 or more children on average, so the tree \
                     may be infinite; expected b0 above 1",
                    self.b0
                ))
            }
            _ => None,
        }
    }
}

fn word<T: Copy>(key: &str, value: &str, all: &[(&str, T)]) -> Result<T, String> {
    let found = all.iter().find(|(name, _)| *name == value);
    found.map(|&(_, item)| item).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|(name, _)| *name).collect();
        format!("{key}={value}: expected {}", names.join(", "))
    })
}

fn number(key: &str, value: &str, least: f64, most: f64) -> Result<f64, String> {
    let parsed = value.parse().ok().filter(|number| (least..=most).contains(number));
    parsed.ok_or_else(|| format!("{key}={value}: expected a number from {least} to {most}"))
}

fn whole(key: &str, value: &str, least: u32, most: u32) -> Result<u32, String> {
    let parsed = value.parse().ok().filter(|number| (least..=most).contains(number));
    parsed.ok_or_else(|| format!("{key}={value}: expected a whole number from {least} to {most}"))
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = TREE_TYPES.iter().find(|(_, of)| *of == self.tree_type);
        let tree_type = named.map_or("", |(name, _)| name);
        write!(f, "type={tree_type},b0={}", self.b0)?;
        if matches!(self.tree_type, TreeType::Geometric | TreeType::Hybrid) {
            let shape = SHAPES.iter().find(|(_, shape)| *shape == self.shape);
            write!(f, ",shape={}", shape.map_or("", |(name, _)| name))?;
        }
        if self.tree_type != TreeType::Binomial {
            write!(f, ",gen_mx={}", self.gen_mx)?;
        }
        if matches!(self.tree_type, TreeType::Binomial | TreeType::Hybrid) {
            write!(f, ",q={},m={}", self.q, self.m)?;
        }
        if self.tree_type == TreeType::Hybrid {
            write!(f, ",f={}", self.f)?;
        }
        if self.g != 1 {
            write!(f, ",g={}", self.g)?;
        }
        write!(f, ",seed={}", self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_bad_ones_explained() {
        let tree = Parameters::parse("type=binomial,b0=2000,q=0.2,m=5,seed=7").unwrap();
        assert_eq!(tree, binomial(0.2, 5, 7));
        assert_eq!(Parameters::parse(&tree.to_string()), Ok(tree));
        let hybrid = Parameters::parse("type=hybrid,b0=4,f=0.9,g=3").unwrap();
        assert_eq!(Parameters::parse(&hybrid.to_string()), Ok(hybrid));
        for (words, said) in [
            ("T99", "unknown tree 'T99'"),
            ("type=oak,m=1", "type=oak: expected binomial"),
            ("q=-0.1", "q=-0.1: expected a number from 0 to 1"),
            ("q=nan", "q=nan"),
            ("b0=1e300", "b0=1e300"),
            ("m=5000000000", "m=5000000000"),
            ("gen_mx=0", "gen_mx=0"),
            ("leaves=3", "unknown key 'leaves'"),
            ("m=1,", "'': expected key=value"),
            ("b0=2,m=1,b0=3", "b0 is given twice"),
        ] {
            let why = Parameters::parse(words).unwrap_err();
            assert!(why.contains(said), "{words}: {why}");
        }
    }

    #[test]
    fn endless_trees_are_told() {
        assert!(Parameters::parse("type=binomial,q=0.5,m=2").unwrap().endless().is_some());
        assert!(Parameters::parse("T2WL").unwrap().endless().is_none());
        // T3L is nevertheless known to be finite.
        assert!(Parameters::parse("T3L").unwrap().endless().is_some());
        let expdec = |words: &str| {
            Parameters::parse(&format!("shape=expdec,{words}")).unwrap().endless().is_some()
        };
        assert!(expdec("b0=0.9,gen_mx=6") && expdec("b0=1,gen_mx=2"));
        assert!(!expdec("b0=1.1,gen_mx=6") && !expdec("b0=0") && !expdec("b0=0.9,gen_mx=1"));
        assert!(!expdec("type=hybrid,b0=0.9") && !expdec("type=balanced,b0=0.9"));
    }
}
