//! SHA-1 of one short message in plain code: a node's state from its parent's.

/// A node's random state: a SHA-1 digest as five words.
pub type State = [u32; 5];

/// The initial state of SHA-1.
pub const START: State = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

/// The constants of the four groups of twenty rounds.
pub const KEYS: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];

/// The state of the root: the hash of sixteen zero bytes and the seed.
#[must_use]
pub fn root(seed: u32) -> State {
    compress([0, 0, 0, 0, seed, 0x8000_0000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 160])
}

/// The state of a child: the hash of the parent's state and the child's number.
#[must_use]
pub fn child(parent: &State, number: u32) -> State {
    compress(message(parent, number))
}

/// The padded message of a child.
#[must_use]
pub fn message(parent: &State, number: u32) -> [u32; 16] {
    let [a, b, c, d, e] = *parent;
    [a, b, c, d, e, number, 0x8000_0000, 0, 0, 0, 0, 0, 0, 0, 0, 192]
}

/// The message words of all eighty rounds.
#[must_use]
pub fn schedule(message: [u32; 16]) -> [u32; 80] {
    let mut w = [0; 80];
    w[..16].copy_from_slice(&message);
    for t in 16..80 {
        w[t] = (w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16]).rotate_left(1);
    }
    w
}

fn compress(message: [u32; 16]) -> State {
    let w = schedule(message);
    let [mut a, mut b, mut c, mut d, mut e] = START;
    for (t, &word) in w.iter().enumerate() {
        let f = match t / 20 {
            0 => d ^ (b & (c ^ d)),
            2 => (b & c) | (d & (b | c)),
            _ => b ^ c ^ d,
        };
        let next = a.rotate_left(5).wrapping_add(f).wrapping_add(e);
        let next = next.wrapping_add(KEYS[t / 20]).wrapping_add(word);
        (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
    }
    let end = [a, b, c, d, e];
    std::array::from_fn(|i| START[i].wrapping_add(end[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_example_hashes_as_published() {
        // "abc", padded by hand.
        let mut block = [0; 16];
        block[0] = 0x6162_6380;
        block[15] = 24;
        let wanted = [0xa999_3e36, 0x4706_816a, 0xba3e_2571, 0x7850_c26c, 0x9cd0_d89d];
        assert_eq!(compress(block), wanted);
    }
}
