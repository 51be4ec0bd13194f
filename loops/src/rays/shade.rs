//! The light of one segment of a ray inside a tetrahedron, in plain code.
//!
//! Along a segment the value is linear, and between two control points so are extinction and colour. The opacity of
//! such a part is exact: 1 − exp(−length · mean extinction). Its colour is the one at its mean place, where each place
//! is weighted by its extinction. That neglects how the front of a part hides its own back, which changes the colour
//! only in proportion to the part's opacity times its change of colour.

use super::transfer::Piece;

/// Values closer than this, as a part of the mesh's range, are one value: their quotient would be noise.
pub const SAME: f32 = 1e-6;

/// Coefficients of 2^x for −½ ≤ x ≤ ½, lowest first: Taylor's, with an error below 2e-7.
pub const POWERS: [f32; 7] = [
    1.0,
    std::f32::consts::LN_2,
    0.240_226_5,
    0.055_504_11,
    0.009_618_129,
    0.001_333_355_8,
    0.000_154_035_3,
];

/// Light below this power of two counts as none.
pub const LEAST_POWER: f32 = -120.0;

/// Adding this to a small number leaves no bits for a fraction: the sum's lowest bits are the nearest integer.
const ROUND: f32 = (3 << 22) as f32;

/// e^(−x) for x ≥ 0, in the same steps as the vector kernels.
#[must_use]
#[inline(always)]
pub fn decay(x: f32) -> f32 {
    let power = (x * -std::f32::consts::LOG2_E).max(LEAST_POWER);
    let rounded = power + ROUND;
    let part = power - (rounded - ROUND);
    let mut sum = POWERS[6];
    for i in (0..6).rev() {
        sum = sum * part + POWERS[i];
    }
    // The integer is from -120 to 0, so this is the exponent of a normal number.
    sum * f32::from_bits(rounded.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23)
}

/// Adds a segment to a pixel: its values at both ends, its length, and the pieces that the tetrahedron touches.
pub fn segment(pixel: &mut [f32; 4], pieces: &[Piece], [from, to]: [f32; 2], length: f32) {
    if let [piece] = pieces {
        return add(pixel, piece, [from, to], length);
    }
    let last = pieces.len() - 1;
    for step in 0..=last {
        let i = if to < from { last - step } else { step };
        // Rounding may exceed the tetrahedron's values slightly: extend its outer pieces.
        let low = if i == 0 { f32::NEG_INFINITY } else { pieces[i].low };
        let high = if i == last { f32::INFINITY } else { pieces[i].high };
        clipped(pixel, &Piece { low, high, ..pieces[i] }, [from, to], length);
    }
}

/// Adds the part of a segment whose values lie in a piece.
fn clipped(pixel: &mut [f32; 4], piece: &Piece, [from, to]: [f32; 2], length: f32) {
    let change = to - from;
    if change.abs() < SAME {
        let middle = 0.5 * (from + to);
        if piece.low <= middle && middle < piece.high {
            add(pixel, piece, [middle, middle], length);
        }
        return;
    }
    let ends = [from, to].map(|value| value.max(piece.low).min(piece.high));
    add(pixel, piece, ends, length * ((ends[1] - ends[0]) / change));
}

/// Adds a segment on which the transfer function is linear.
fn add(pixel: &mut [f32; 4], piece: &Piece, [from, to]: [f32; 2], length: f32) {
    let [slope, offset] = piece.extinction;
    let (front, back) = ((slope * from + offset).max(0.0), (slope * to + offset).max(0.0));
    let sum = front + back;
    let through = pixel[3];
    let rest = through * decay(0.5 * length * sum);
    let weight = through - rest;
    let mean = from + (to - from) * ((front + 2.0 * back) / (3.0 * sum).max(1e-30));
    for (channel, [slope, offset]) in pixel.iter_mut().zip(piece.colour) {
        *channel += weight * (slope * mean + offset);
    }
    pixel[3] = rest;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rays::transfer::Transfer;

    #[test]
    fn decay_is_the_exponential() {
        for i in 0..2000 {
            let x = i as f32 * 0.01;
            let exact = (-f64::from(x)).exp();
            assert!((f64::from(decay(x)) - exact).abs() <= 1e-6 * exact + 1e-9, "{x}");
        }
        assert!(decay(1e30) < 1e-30 && decay(0.0) == 1.0);
    }

    /// Compares a segment over many control points with a fine sum.
    #[test]
    fn segments_are_split_at_control_points() {
        let text = "0 1 0 0 0\n0.3 0 1 0 4\n0.3 0 0 1 1\n0.6 0 1 1 0\n0.8 1 1 1 9\n";
        let pieces = Transfer::parse(text).unwrap().pieces((0.0, 1.0));
        for [from, to] in [[0.1, 0.9], [0.9, 0.1], [0.2, 0.25], [0.5, 0.5], [0.0, 1.0]] {
            let mut pixel = [0.0, 0.0, 0.0, 1.0];
            segment(&mut pixel, &pieces, [from, to], 2.0);
            let steps = 20_000;
            let sum: f64 = (0..steps)
                .map(|i| {
                    let value = from + (to - from) * (i as f32 + 0.5) / steps as f32;
                    let piece = pieces.iter().find(|piece| value < piece.high).unwrap();
                    f64::from(piece.extinction[0] * value + piece.extinction[1])
                })
                .sum();
            let exact = (-sum * 2.0 / f64::from(steps)).exp();
            assert!(
                (f64::from(pixel[3]) - exact).abs() < 1e-4,
                "{from} {to}: {} {exact}",
                pixel[3]
            );
        }
    }
}
