//! The number of children from depth and random value: exact, without a logarithm per node.

use super::parameters::{Parameters, Shape, TreeType};

/// The most children, except for the root of a binomial tree and all of a balanced one.
pub const MOST: u32 = 100;
/// Thresholds are stored in rows of this many, padded with `u32::MAX`.
pub const ROW: usize = 128;
/// Depths with thresholds of their own; beyond them the formula is evaluated.
const DEPTHS: u32 = 512;

/// The rule of a tree, prepared for many nodes at once.
#[derive(Clone, Debug)]
pub struct Rules {
    parameters: Parameters,
    /// Depth from which nodes are binomial; 0 for binomial trees, `u32::MAX` if none are.
    pub binomial_from: u32,
    /// A binomial node has children if its value is below this.
    pub below: u32,
    /// Children of a binomial node that has any.
    pub m: u32,
    /// Rows of thresholds: entry i is the least value that gives at least i + 1 children.
    pub rows: Vec<[u32; ROW]>,
    /// The row of each depth from the root down; deeper nodes use the last one.
    pub row_of: Vec<u32>,
    /// Depth from which nodes have no children, whatever their value.
    pub limit: u32,
}

impl Rules {
    /// The rule of the tree with these parameters.
    #[must_use]
    pub fn new(parameters: &Parameters) -> Self {
        let p = parameters;
        let mut rules = Self {
            parameters: p.clone(),
            binomial_from: match p.tree_type {
                TreeType::Binomial => 0,
                TreeType::Hybrid => (p.f * f64::from(p.gen_mx)).ceil() as u32,
                TreeType::Geometric | TreeType::Balanced => u32::MAX,
            },
            // The product is exact, so "value / 2^31 < q" and "value < below" are equivalent.
            below: (p.q * 2f64.powi(31)).ceil() as u32,
            m: p.m,
            rows: Vec::new(),
            row_of: Vec::new(),
            limit: limit(p),
        };
        if matches!(p.tree_type, TreeType::Geometric | TreeType::Hybrid) {
            rules.fill_rows();
        }
        rules
    }

    fn fill_rows(&mut self) {
        // Shapes of limited depth have few depths or few distinct rows; `expdec` has no limit.
        let depths = self.limit.min(self.binomial_from).min(DEPTHS);
        for depth in 0..depths.max(1) {
            let row = std::array::from_fn(|i| self.threshold(depth, i as u32 + 1));
            if self.rows.last() != Some(&row) {
                self.rows.push(row);
            }
            self.row_of.push(self.rows.len() as u32 - 1);
        }
    }

    /// The least value that gives at least `n` children.
    fn threshold(&self, depth: u32, n: u32) -> u32 {
        if n > MOST {
            return u32::MAX;
        }
        let gives = |value: u32| self.formula(depth, value) >= n;
        let p = 1.0 / (1.0 + self.mean(depth));
        let guess = (1.0 - (1.0 - p).powi(n as i32)) * 2f64.powi(31);
        // The guess is right except for rounding; if not, the bisection starts from the full range.
        let (mut low, mut high) = (guess as u32 as i64 - 2, guess as i64 + 2);
        if low < 0 || gives(low as u32) || high >= 1 << 31 || !gives(high as u32) {
            (low, high) = (-1, 1 << 31);
        }
        while high - low > 1 {
            let middle = low.midpoint(high);
            if gives(middle as u32) { high = middle } else { low = middle }
        }
        if high == 1 << 31 { u32::MAX } else { high as u32 }
    }

    /// The mean number of children of a geometric node.
    fn mean(&self, depth: u32) -> f64 {
        let Parameters { shape, b0, gen_mx, .. } = self.parameters;
        let (d, gen_mx) = (f64::from(depth), f64::from(gen_mx));
        match shape {
            _ if depth == 0 => b0,
            Shape::Fixed => {
                if d < gen_mx {
                    b0
                } else {
                    0.0
                }
            }
            Shape::Linear => (b0 * (1.0 - d / gen_mx)).max(0.0),
            Shape::Cyclic if d > 5.0 * gen_mx => 0.0,
            Shape::Cyclic => b0.powf((2.0 * std::f64::consts::PI * d / gen_mx).sin()),
            Shape::Expdec => b0 * d.powf(-b0.ln() / gen_mx.ln()),
        }
    }

    /// Children of a geometric node, by the defining formula.
    fn formula(&self, depth: u32, value: u32) -> u32 {
        let p = 1.0 / (1.0 + self.mean(depth));
        let u = f64::from(value) / 2f64.powi(31);
        let n = ((1.0 - u).ln() / (1.0 - p).ln()).floor();
        (n as u32).min(MOST)
    }

    /// Children of the node with this depth and value.
    #[must_use]
    pub fn children(&self, depth: u32, value: u32) -> u32 {
        match self.parameters.tree_type {
            TreeType::Balanced => {
                if depth < self.limit {
                    self.parameters.b0 as u32
                } else {
                    0
                }
            }
            TreeType::Binomial if depth == 0 => self.parameters.b0 as u32,
            _ if depth >= self.binomial_from => {
                if value < self.below {
                    self.m
                } else {
                    0
                }
            }
            _ if depth >= self.limit => 0,
            _ => match self.row_of.get(depth as usize) {
                Some(&row) => {
                    let row = &self.rows[row as usize];
                    row.iter().take_while(|&&threshold| threshold <= value).count() as u32
                }
                None => self.formula(depth, value),
            },
        }
    }

    /// The most children that any node can have.
    #[must_use]
    pub fn widest(&self) -> u32 {
        match self.parameters.tree_type {
            TreeType::Binomial | TreeType::Balanced => (self.parameters.b0 as u32).max(self.m),
            TreeType::Geometric | TreeType::Hybrid => MOST,
        }
    }

    /// Whether `rows` has the thresholds of all depths above the limit.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.limit.min(self.binomial_from) as usize <= self.row_of.len() || self.rows.is_empty()
    }

    /// Children of every node above `limit`, if that defines the tree.
    #[must_use]
    pub fn balanced(&self) -> Option<u32> {
        (self.parameters.tree_type == TreeType::Balanced).then_some(self.parameters.b0 as u32)
    }
}

fn limit(p: &Parameters) -> u32 {
    match (p.tree_type, p.shape) {
        (TreeType::Binomial | TreeType::Hybrid, _) => u32::MAX,
        (TreeType::Balanced, _) | (_, Shape::Fixed | Shape::Linear) => p.gen_mx,
        (_, Shape::Cyclic) => 5 * p.gen_mx + 1,
        (_, Shape::Expdec) => u32::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_say_what_the_formula_says() {
        let mut rng = oorandom::Rand32::new(1);
        for words in ["b0=4", "b0=0.3", "b0=250", "b0=0"] {
            for shape in ["fixed", "linear", "cyclic", "expdec"] {
                let words = format!("{words},shape={shape},gen_mx=12");
                let rules = Rules::new(&Parameters::parse(&words).unwrap());
                for _ in 0..2000 {
                    let (depth, value) = (rng.rand_range(0..70), rng.rand_u32() >> 1);
                    // Nodes below the limit do not occur, but must have no children.
                    let wanted = if depth < rules.limit { rules.formula(depth, value) } else { 0 };
                    assert_eq!(rules.children(depth, value), wanted, "{words} at {depth}");
                }
                for depth in 0..rules.row_of.len() as u32 {
                    for &threshold in &rules.rows[rules.row_of[depth as usize] as usize] {
                        for value in threshold.saturating_sub(2)..threshold.saturating_add(2) {
                            let value = value.min(i32::MAX as u32);
                            assert_eq!(rules.children(depth, value), rules.formula(depth, value));
                        }
                    }
                }
            }
        }
    }
}
