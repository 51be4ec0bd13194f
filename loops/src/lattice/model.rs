//! The nineteen directions of D3Q19: vectors, weights, opposites, and the equilibrium.

/// The number of directions.
pub const Q: usize = 19;

/// The directions: rest, then pairs of opposites.
pub const DIRECTIONS: [[i32; 3]; Q] = [
    [0, 0, 0],
    [1, 0, 0],
    [-1, 0, 0],
    [0, 1, 0],
    [0, -1, 0],
    [0, 0, 1],
    [0, 0, -1],
    [1, 1, 0],
    [-1, -1, 0],
    [1, -1, 0],
    [-1, 1, 0],
    [1, 0, 1],
    [-1, 0, -1],
    [1, 0, -1],
    [-1, 0, 1],
    [0, 1, 1],
    [0, -1, -1],
    [0, 1, -1],
    [0, -1, 1],
];

/// The weights of rest, of directions along an axis, and of diagonal ones.
pub const WEIGHTS: [f64; 3] = [1.0 / 3.0, 1.0 / 18.0, 1.0 / 36.0];

/// The weight of a direction.
#[must_use]
pub const fn weight(q: usize) -> f64 {
    WEIGHTS[(q > 0) as usize + (q > 6) as usize]
}

/// The opposite direction.
#[must_use]
pub const fn opposite(q: usize) -> usize {
    if q == 0 { 0 } else { ((q - 1) ^ 1) + 1 }
}

/// Every direction with one of its components reversed.
pub(crate) const fn mirrored(axis: usize) -> [usize; Q] {
    let mut out = [0; Q];
    let mut q = 0;
    while q < Q {
        let mut wanted = DIRECTIONS[q];
        wanted[axis] = -wanted[axis];
        let mut k = 0;
        while k < Q {
            let it = DIRECTIONS[k];
            if it[0] == wanted[0] && it[1] == wanted[1] && it[2] == wanted[2] {
                out[q] = k;
            }
            k += 1;
        }
        q += 1;
    }
    out
}

/// The equilibrium of a density and a velocity, less the weights, as populations are stored: a fluid at rest is all
/// zeros, so no digits are lost to the large constant part.
#[must_use]
pub fn equilibrium(density: f64, velocity: [f64; 3]) -> [f64; Q] {
    let square: f64 = velocity.iter().map(|u| u * u).sum();
    std::array::from_fn(|q| {
        let along: f64 = (0..3).map(|d| f64::from(DIRECTIONS[q][d]) * velocity[d]).sum();
        let moved = 3.0 * along + 4.5 * along * along - 1.5 * square;
        weight(q) * (density - 1.0 + density * moved)
    })
}

/// The density, less 1, and the momentum of populations less the weights.
#[must_use]
pub fn moments(populations: &[f64; Q]) -> (f64, [f64; 3]) {
    let mut momentum = [0.0; 3];
    for (population, direction) in populations.iter().zip(DIRECTIONS) {
        for (sum, along) in momentum.iter_mut().zip(direction) {
            *sum += population * f64::from(along);
        }
    }
    (populations.iter().sum(), momentum)
}

/// The velocity with which fluid leaves the box, from the populations that arrive at a cell of its last plane. The
/// density is 1, and populations from outside count as in equilibrium. Fluid leaves straight along x: if it kept its
/// velocity across x, a fluid of low viscosity would oscillate more and more there.
#[must_use]
pub fn leaving(populations: &[f64; Q]) -> [f64; 3] {
    let arrive = populations.iter().zip(DIRECTIONS).filter(|(_, [x, ..])| *x >= 0);
    [arrive.map(|(population, [x, ..])| population * f64::from(1 + x)).sum(), 0.0, 0.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_and_weights_are_a_lattice() {
        for q in 0..Q {
            assert_eq!(DIRECTIONS[opposite(q)], DIRECTIONS[q].map(|it| -it));
            for axis in 0..3 {
                assert_eq!(mirrored(axis)[mirrored(axis)[q]], q);
            }
        }
        assert!((0..Q).map(weight).sum::<f64>() - 1.0 < 1e-15);
        for (a, b) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))) {
            let second: f64 =
                (0..Q).map(|q| weight(q) * f64::from(DIRECTIONS[q][a] * DIRECTIONS[q][b])).sum();
            assert!((second - if a == b { 1.0 / 3.0 } else { 0.0 }).abs() < 1e-15);
        }
    }

    #[test]
    fn an_equilibrium_has_its_moments() {
        let (density, velocity) = (1.03, [0.07, -0.02, 0.04]);
        let (excess, momentum) = moments(&equilibrium(density, velocity));
        assert!((excess - 0.03).abs() < 1e-15);
        for d in 0..3 {
            assert!((momentum[d] - density * velocity[d]).abs() < 1e-15);
        }
    }

    #[test]
    fn an_equilibrium_leaves_with_its_velocity_along_x() {
        let arrives = equilibrium(1.0, [0.07, -0.02, 0.04]);
        for (found, wanted) in leaving(&arrives).into_iter().zip([0.07, 0.0, 0.0]) {
            assert!((found - wanted).abs() < 1e-15, "{found} {wanted}");
        }
    }
}
