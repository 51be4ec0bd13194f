//! Fingerprints of states, for sets of visited states.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A map from states, by their fingerprints.
pub(super) type FingerprintMap<T> = HashMap<u64, T, BuildHasherDefault<IdentityHasher>>;

/// A state's fingerprint: the chance that two of a hundred million states share one is below 1 in 1,000.
pub(super) fn fingerprint(state: &impl Hash) -> u64 {
    let mut hasher = FastHasher(0x243f_6a88_85a3_08d3);
    state.hash(&mut hasher);
    hasher.finish()
}

/// A fast hasher that mixes in each word with a full multiplication.
struct FastHasher(u64);

impl Hasher for FastHasher {
    fn finish(&self) -> u64 {
        let product = u128::from(self.0) * 0xf39c_c060_5ced_c835;
        (product >> 64) as u64 ^ product as u64
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * 0x9e37_79b9_7f4a_7c15;
        self.0 = ((product >> 64) as u64 ^ product as u64).wrapping_add(0x1319_8a2e_0370_7344);
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// For keys that already are hashes.
#[derive(Default)]
pub(super) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("keys are u64");
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}
