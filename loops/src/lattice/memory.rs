//! [`LineMemory`]: the lines of a slab, in memory that the system provides where it is first written.

use super::lanes::{LANES, Lane};
use crate::simd::lattice_flat::{lanes, lanes_mut};
use crate::simd::pages::in_large_pages;
use std::ops::{Deref, DerefMut};

/// Lines, all zero at first, with room for more.
#[derive(Debug)]
pub(super) struct LineMemory {
    numbers: Vec<f32>,
    /// Where the first line is: lines are aligned, numbers need not be.
    begin: usize,
    count: usize,
}

impl LineMemory {
    /// This many lines, with room for as many as that; `None` if memory does not suffice.
    pub fn new(count: usize, room: usize) -> Option<Self> {
        let numbers = room.max(count).checked_add(1)?.checked_mul(LANES)?;
        // Only to try the size: the system hands out zeroed memory without writing it.
        Vec::<f32>::new().try_reserve_exact(numbers).ok()?;
        let mut numbers = vec![0.0; numbers];
        // The system also frees large pages faster when a flow is stopped.
        in_large_pages(&mut numbers);
        let begin = numbers.as_ptr().align_offset(align_of::<Lane>());
        Some(Self { numbers, begin, count })
    }

    /// The maximum number of lines for which there is room.
    pub fn capacity(&self) -> usize {
        self.numbers.len() / LANES - 1
    }

    /// Changes the number of lines. New ones have any numbers.
    ///
    /// # Panics
    /// If there is no room for them.
    pub fn resize(&mut self, count: usize) {
        assert!(count <= self.capacity());
        self.count = count;
    }
}

impl Deref for LineMemory {
    type Target = [Lane];

    fn deref(&self) -> &[Lane] {
        lanes(&self.numbers[self.begin..][..self.count * LANES])
    }
}

impl DerefMut for LineMemory {
    fn deref_mut(&mut self) -> &mut [Lane] {
        lanes_mut(&mut self.numbers[self.begin..][..self.count * LANES])
    }
}

impl Clone for LineMemory {
    fn clone(&self) -> Self {
        let mut copy = Self::new(self.count, self.count).expect("enough memory for a copy");
        copy.copy_from_slice(self);
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_aligned_and_keep_their_place() {
        for (count, room) in [(0, 0), (1, 0), (5, 9), (1000, 2000)] {
            let mut lines = LineMemory::new(count, room).unwrap();
            assert_eq!((lines.len(), lines.capacity()), (count, room.max(count)));
            assert!(lines.iter().all(|line| *line == Lane::default()));
            lines
                .iter_mut()
                .zip(0u16..)
                .for_each(|(line, number)| line.0 = [f32::from(number); LANES]);
            lines.resize(room.max(count));
            let copy = lines.clone();
            assert_eq!(copy[..], lines[..]);
            lines.resize(count / 2);
            assert!(lines.iter().zip(0u16..).all(|(line, number)| line.0[3] == f32::from(number)));
        }
        assert!(LineMemory::new(usize::MAX / 4, 0).is_none());
    }
}
