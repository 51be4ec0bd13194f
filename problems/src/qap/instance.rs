//! [`Instance`]: two matrices, and the cost of assigning facilities to locations.

use crate::permutation::permutation;
use pleach_core::search::tree::Solution;

/// The maximum number of locations: solving an assignment problem on all of them takes
/// milliseconds.
pub const MOST_LOCATIONS: usize = 256;
/// The greatest value of all flows, in absolute value, times the greatest distance: scaled costs stay within 63 bits.
pub const MOST_TOTAL: i64 = 1 << 50;

/// Flows between facilities and distances between locations.
///
/// There are as many facilities as locations: those that are missing have no flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    facilities: usize,
    locations: usize,
    /// Both with a row for each location.
    flows: Vec<i64>,
    distances: Vec<i64>,
}

impl Instance {
    /// An instance with these matrices, row by row; there may be more locations than facilities.
    ///
    /// # Errors
    /// If the sizes do not fit, or the numbers are too large.
    pub fn new(
        (facilities, flows): (usize, &[i64]),
        (locations, distances): (usize, &[i64]),
    ) -> Result<Self, String> {
        if !(1..=MOST_LOCATIONS).contains(&locations) {
            return Err(format!("{locations} locations, expected from 1 to {MOST_LOCATIONS}"));
        }
        if !(1..=locations).contains(&facilities) {
            return Err(format!("{facilities} facilities, expected from 1 to {locations}"));
        }
        for (matrix, size) in [(flows, facilities), (distances, locations)] {
            if matrix.len() != size * size {
                return Err(format!("{} numbers, expected {size} × {size}", matrix.len()));
            }
        }
        let flow: u128 = flows.iter().map(|flow| u128::from(flow.unsigned_abs())).sum();
        let farthest = distances.iter().map(|distance| distance.unsigned_abs()).max().unwrap_or(0);
        let total = flow.checked_mul(farthest.into());
        if total.is_none_or(|total| total > MOST_TOTAL as u128) {
            return Err(format!(
                "the sum of all flows times the greatest distance: {flow} times {farthest}, expected at most {MOST_TOTAL}"
            ));
        }
        if flow.max(farthest.into()) > MOST_TOTAL as u128 {
            return Err(format!(
                "the sum of all flows, or the greatest distance: {flow} and {farthest}, expected at most {MOST_TOTAL} each"
            ));
        }
        let mut padded = vec![0; locations * locations];
        for (to, from) in padded.chunks_mut(locations).zip(flows.chunks(facilities)) {
            to[..facilities].copy_from_slice(from);
        }
        Ok(Self { facilities, locations, flows: padded, distances: distances.to_vec() })
    }

    /// Number of facilities.
    #[must_use]
    pub fn facilities(&self) -> usize {
        self.facilities
    }

    /// Number of locations.
    #[must_use]
    pub fn locations(&self) -> usize {
        self.locations
    }

    /// The flow from one facility to another.
    #[inline]
    #[must_use]
    pub fn flow(&self, from: usize, to: usize) -> i64 {
        self.flows[from * self.locations + to]
    }

    /// The distance from one location to another.
    #[inline]
    #[must_use]
    pub fn distance(&self, from: usize, to: usize) -> i64 {
        self.distances[from * self.locations + to]
    }

    /// The greatest flow or distance, in absolute value.
    pub(super) fn greatest(&self) -> i64 {
        let all = self.flows.iter().chain(&self.distances);
        all.map(|value| value.abs()).max().unwrap_or(0)
    }

    /// The sum of all flows times the greatest distance, in absolute value.
    pub(super) fn total(&self) -> i64 {
        let farthest = self.distances.iter().map(|distance| distance.abs()).max().unwrap_or(0);
        self.flows.iter().map(|flow| flow.abs()).sum::<i64>() * farthest
    }

    /// Both matrices, row by row, as large as the number of locations.
    pub(super) fn matrices(&self) -> (&[i64], &[i64]) {
        (&self.flows, &self.distances)
    }

    /// The cost of an assignment: the location of each facility, counted from 0.
    #[must_use]
    pub fn cost(&self, places: &[u16]) -> i64 {
        let place = |i: usize| usize::from(places[i]);
        let row = |i: usize| -> i64 {
            (0..places.len()).map(|j| self.flow(i, j) * self.distance(place(i), place(j))).sum()
        };
        (0..places.len()).map(row).sum()
    }

    /// The assignment given by a solution: the location of each facility, numbered from 1.
    ///
    /// # Errors
    /// If a facility is missing, or a location unknown or repeated.
    pub fn places(&self, solution: &[i64]) -> Result<Vec<u16>, String> {
        if solution.len() != self.facilities {
            let (given, all) = (solution.len(), self.facilities);
            return Err(format!("locations for {given} facilities, expected {all}"));
        }
        let used = |location: &i64| solution.contains(location);
        let rest = (1..=self.locations as i64).filter(|location| !used(location));
        let mut all: Vec<i64> = solution.iter().copied().chain(rest).collect();
        all.truncate(self.locations);
        let mut places = permutation(&all, self.locations, "location")?;
        places.truncate(self.facilities);
        Ok(places)
    }

    /// A number that divides the cost of every assignment.
    pub(super) fn step(&self) -> i64 {
        let n = self.locations;
        let pairs = || (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
        let even = |of: &[i64]| pairs().all(|(i, j)| of[i * n + j] == of[j * n + i]);
        // Where one matrix is symmetric, only the sums of the other one's opposite entries matter.
        let divisor = |of: &[i64], sums: bool| {
            pairs().fold(0, |all, (i, j)| {
                let (there, back) = (of[i * n + j], of[j * n + i]);
                if sums { gcd(all, there + back) } else { gcd(gcd(all, there), back) }
            })
        };
        let (flows, distances) = self.matrices();
        let one = divisor(flows, even(distances)) * divisor(distances, false);
        let other = divisor(flows, false) * divisor(distances, even(flows));
        let diagonal = |of: &[i64]| (0..n).fold(0, |all, i| gcd(all, of[i * n + i]));
        gcd(one.max(other), diagonal(flows) * diagonal(distances)).max(1)
    }
}

/// The greatest common divisor of two absolute values; neither number may be `i64::MIN`.
fn gcd(one: i64, other: i64) -> i64 {
    let (mut one, mut other) = (one.unsigned_abs(), other.unsigned_abs());
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one.cast_signed()
}

/// An assignment as a solution: its cost, and the location of each facility, numbered from 1.
#[must_use]
pub fn solution(instance: &Instance, places: &[u16]) -> Solution {
    Solution { score: instance.cost(places), solution: solution_of(places) }
}

/// The location of each facility, numbered from 1.
#[must_use]
pub fn solution_of(places: &[u16]) -> Vec<i64> {
    places.iter().map(|&place| i64::from(place) + 1).collect()
}
