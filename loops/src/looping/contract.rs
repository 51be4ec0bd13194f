//! [`Loop`]: independent units, numbered from 0, that threads run from the front and devices from the back.

use pleach_core::search::device::Layout;
use pleach_core::search::work::Malformed;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A loop of independent units of unequal cost.
///
/// The engine calls [`Loop::run`] for ranges that cover all units, each once, on several threads at a time and in no
/// particular order. Results go to wherever the loop keeps them: into [`Cells`], or into the hand of the thread.
pub trait Loop: Sync {
    /// What a thread keeps from one range to the next: buffers, sums, results.
    type Hand: Send;

    /// How many units there are.
    fn units(&self) -> usize;

    /// The cost of all units before this one, in any measure; for `units()`, that of all. It steers how many units a
    /// thread takes at a time, and nothing else.
    fn cost_before(&self, unit: usize) -> f64 {
        unit as f64
    }

    /// A hand for a thread.
    fn hand(&self) -> Self::Hand;

    /// Runs these units.
    fn run(&self, units: Range<usize>, hand: &mut Self::Hand);

    /// The same loop as a kernel of a device runs it.
    fn on_device(&self) -> Option<&dyn LoopOnDevice> {
        None
    }

    /// The same loop as several processes share it.
    fn remote(&self) -> Option<&dyn RemoteLoop> {
        None
    }
}

/// A loop that several processes share. Each of them has made it from the same input.
pub trait RemoteLoop: Sync {
    /// Who needs the results.
    fn result_placement(&self) -> ResultPlacement;

    /// Appends the results of these units, which were run here.
    fn pack(&self, units: Range<usize>, out: &mut Vec<u8>);

    /// Keeps the results of these units, which were run elsewhere.
    ///
    /// # Errors
    /// If these are no results of this many units.
    fn unpack(&self, units: Range<usize>, results: &[u8]) -> Result<(), Malformed>;
}

/// Which processes need the results of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultPlacement {
    /// Each its own.
    Apart,
    /// The first one all of them.
    First,
    /// All of them all.
    All,
}

/// A loop as a kernel of a device runs it: ranges of units go there in a few words, and results come back.
pub trait LoopOnDevice: Sync {
    /// What the kernel needs; nothing if it is not `wanted` any more, since others have run the whole loop meanwhile. A
    /// range takes [`Layout::words`] words, and its results at most [`Layout::width`].
    fn layout(&self, wanted: &dyn Fn() -> bool) -> Option<Layout>;

    /// How many words the results of these units take.
    fn words(&self, units: &Range<usize>) -> usize;

    /// Appends the words that tell the kernel which units to run.
    fn order(&self, units: &Range<usize>, words: &mut Vec<u32>);

    /// Keeps the results of these units.
    fn store(&self, units: Range<usize>, results: &[u32]);
}

/// Work in steps, cut into slabs of neighbouring units. Each slab is held by one thread, and steps by itself for a
/// while as long as it knows the edges of its neighbours.
pub trait Stepping: Sync {
    /// Some neighbouring units.
    type Slab: Send + Sync;

    /// How many units there are in all.
    fn units(&self) -> usize;

    /// The fewest units that a slab may have.
    fn least(&self) -> usize;

    /// The most steps in a sweep: so long the edges of neighbours last.
    fn depth(&self) -> usize;

    /// Whether the last unit is a neighbour of the first.
    fn is_ring(&self) -> bool;

    /// Does steps. The edges of the neighbours are as of now; afterwards they are of no use.
    fn sweep(&self, slab: &mut Self::Slab, steps: usize);

    /// Writes what a neighbour must know: the one above, or the one below.
    fn edge(&self, slab: &Self::Slab, above: bool, edge: &mut Vec<f32>);

    /// Takes what a neighbour has written.
    fn set_edge(&self, slab: &mut Self::Slab, above: bool, edge: &[f32]);

    /// Cuts a slab of these units out of slabs that together have all.
    ///
    /// # Errors
    /// If memory does not suffice.
    fn cut(&self, slabs: &[Self::Slab], range: Range<usize>) -> Result<Self::Slab, String>;

    /// The same work as a kernel of a device does it.
    fn on_device(&self) -> Option<&dyn SteppingOnDevice<Self::Slab>> {
        None
    }
}

/// Work in steps as a kernel of a device does it. A slab stays on the device from launch to launch, in the tables, which
/// the kernel changes. The host keeps the slab too: of its units only the edges, and those of the neighbours, count.
pub trait SteppingOnDevice<S>: Sync {
    /// What the kernel needs, with the slab as it is now. An order takes at most [`Layout::words`] words, and its
    /// results at most [`Layout::width`].
    fn layout(&self, slab: &S) -> Layout;

    /// The orders of a sweep, for launches one after the other. The results of the last are the slab's edges.
    fn orders(&self, slab: &S, steps: usize) -> Vec<SlabOrder>;

    /// Takes what a sweep of this many steps has left.
    fn swept(&self, slab: &mut S, steps: usize, edges: &[u32]);

    /// The orders to fetch the whole slab, part by part.
    fn fetch(&self, slab: &S) -> Vec<SlabOrder>;

    /// Takes a part.
    fn fetched(&self, slab: &mut S, part: usize, results: &[u32]);
}

/// What a launch is to do with a slab.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlabOrder {
    /// The order itself.
    pub words: Vec<u32>,
    /// Words of its results.
    pub results: usize,
}

/// A slice in parts that several threads fill, each part by the thread that has it at hand.
pub struct Cells<'a, T>(Vec<Mutex<&'a mut [T]>>);

impl<'a, T> Cells<'a, T> {
    /// Cuts a slice into parts of these lengths.
    ///
    /// # Panics
    /// If they add up to more than the slice.
    pub fn cut(mut slice: &'a mut [T], lengths: impl IntoIterator<Item = usize>) -> Self {
        let part = |length| {
            let (part, rest) = std::mem::take(&mut slice).split_at_mut(length);
            slice = rest;
            Mutex::new(part)
        };
        Self(lengths.into_iter().map(part).collect())
    }

    /// A part, for as long as the guard lives.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn part(&self, number: usize) -> MutexGuard<'_, &'a mut [T]> {
        self.0[number].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_side_by_side() {
        let mut numbers = [0; 6];
        let cells = Cells::cut(&mut numbers, [2, 0, 3]);
        cells.part(2).fill(3);
        cells.part(0).fill(1);
        cells.part(1).fill(2);
        assert_eq!(numbers, [1, 1, 3, 3, 3, 0]);
    }
}
