//! [`Loop`]: independent units, numbered from 0, that threads run from the front and devices from the back.

use pleach_core::search::device::Layout;
use pleach_core::search::work::{Malformed, Reader};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A loop of independent units with different costs.
///
/// The engine calls [`Loop::run`] for ranges that cover each unit once, on several threads at a time and in any order.
/// Results go wherever the loop keeps them: into [`Cells`], or into the local data of the thread.
pub trait Loop: Sync {
    /// What a thread keeps between ranges: buffers, sums, results.
    type Local: Send;

    /// The number of units.
    fn units(&self) -> usize;

    /// The cost of all units before this one, in any measure; at `units()`, the total cost. It only affects how many
    /// units a thread takes at a time.
    fn cost_before(&self, unit: usize) -> f64 {
        unit as f64
    }

    /// Creates a thread's local data.
    fn local(&self) -> Self::Local;

    /// Runs these units.
    fn run(&self, units: Range<usize>, local: &mut Self::Local);

    /// The same loop as a device's kernel runs it.
    fn on_device(&self) -> Option<&dyn LoopOnDevice> {
        None
    }

    /// The same loop as several processes share it.
    fn remote(&self) -> Option<&dyn RemoteLoop> {
        None
    }
}

/// A loop that several processes share. All of them have created it from the same input.
pub trait RemoteLoop: Sync {
    /// Who needs the results.
    fn result_placement(&self) -> ResultPlacement {
        ResultPlacement::First
    }

    /// Appends the result of a unit, which ran here.
    fn pack(&self, unit: usize, out: &mut Vec<u8>);

    /// Stores the result of a unit, which ran elsewhere.
    ///
    /// # Errors
    /// If this is not the result of a unit.
    fn unpack(&self, unit: usize, from: &mut Reader<'_>) -> Result<(), Malformed>;

    /// Stores the results of these units.
    ///
    /// # Errors
    /// If these are not results of this many units.
    fn unpack_all(&self, mut units: Range<usize>, results: &[u8]) -> Result<(), Malformed> {
        let mut from = Reader::new(results);
        units.try_for_each(|unit| self.unpack(unit, &mut from))?;
        from.finish()
    }
}

/// Which processes need the results of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultPlacement {
    /// The first process gets all of them.
    First,
    /// All processes get all of them.
    All,
}

/// A loop as a device's kernel runs it: ranges of units go to the device in a few words, and results come back.
pub trait LoopOnDevice: Sync {
    /// What the kernel needs; `None` if it is no longer `wanted` because others have finished the loop. A range takes
    /// [`Layout::words`] words, and its results at most [`Layout::width`].
    fn layout(&self, wanted: &dyn Fn() -> bool) -> Option<Layout>;

    /// How many words the results of these units take.
    fn words(&self, units: &Range<usize>) -> usize;

    /// Appends the words that describe a range of units to the kernel.
    fn order(&self, units: &Range<usize>, words: &mut Vec<u32>);

    /// Stores the results of these units.
    fn store(&self, units: Range<usize>, results: &[u32]);
}

/// Work in steps, cut into slabs of neighbouring units. A thread or device, or several threads together, can advance a
/// slab for a few steps if it knows the edges of its neighbours.
pub trait Stepping: Sync {
    /// Some neighbouring units and their state.
    type Slab: Send + Sync;

    /// The total number of units.
    fn units(&self) -> usize;

    /// The minimum number of units in a slab.
    fn least(&self) -> usize;

    /// The maximum number of steps in a sweep, which is how long the neighbours' edges are valid.
    fn depth(&self) -> usize;

    /// Whether the first and the last unit are neighbours.
    fn is_ring(&self) -> bool;

    /// A slab of these units in their state before the first step.
    ///
    /// # Errors
    /// If memory does not suffice.
    fn begin(&self, units: Range<usize>) -> Result<Self::Slab, String>;

    /// Does steps. The neighbours' edges must be current; afterwards they are stale.
    fn sweep(&self, slab: &mut Self::Slab, steps: usize);

    /// Writes the edge that a neighbour must know: the one above, or the one below.
    fn edge(&self, slab: &Self::Slab, above: bool, edge: &mut Vec<f32>);

    /// Reads the edge that a neighbour has written.
    fn set_edge(&self, slab: &mut Self::Slab, above: bool, edge: &[f32]);

    /// Appends the state of some of a slab's units, for [`Stepping::recut`].
    fn state(&self, slab: &Self::Slab, units: Range<usize>, state: &mut Vec<f32>);

    /// Changes a slab so that it has these units. Those that it lacks are given with their state.
    ///
    /// # Errors
    /// If memory does not suffice.
    fn recut(
        &self,
        slab: &mut Self::Slab,
        units: Range<usize>,
        missing: &[(Range<usize>, Vec<f32>)],
    ) -> Result<(), String>;

    /// The same work as several threads do it in one slab.
    fn together(&self) -> Option<&dyn SteppingTogether<Self::Slab>> {
        None
    }

    /// The same work as a device's kernel does it.
    fn on_device(&self) -> Option<&dyn SteppingOnDevice<Self::Slab>> {
        None
    }
}

/// Work in steps as several threads do it in one slab.
pub trait SteppingTogether<S>: Sync {
    /// Memory for a slab, in place of [`Stepping::begin`]: [`SlabBlocks::begin`] brings its blocks to their start.
    ///
    /// # Errors
    /// If memory does not suffice.
    fn reserve(&self, units: Range<usize>) -> Result<S, String>;

    /// Cuts a slab into blocks, at most this many.
    fn blocks<'a>(&self, slab: &'a mut S, most: usize) -> Box<dyn SlabBlocks + 'a>;

    /// Records that all blocks of a slab have done this many steps.
    fn swept(&self, slab: &mut S, steps: usize);
}

/// A slab in blocks, which threads sweep at the same time. A tile is a block or a seam: tile 2b is block b, and tile
/// 2b + 1 is the seam between it and the next block, where some steps need both. In each sweep, a seam comes after
/// both of its blocks, and a block after its seams of the previous sweep; the engine sees to that.
pub trait SlabBlocks: Sync {
    /// The number of blocks, at least one.
    fn count(&self) -> usize;

    /// Sets the units of a block to their state at the start.
    fn begin(&self, block: usize);

    /// The units of the slab that a tile touches.
    fn units(&self, tile: usize) -> Range<usize>;

    /// Does a tile's part of a sweep of this many steps, when the slab has done `before` of them since it was cut into
    /// blocks. Returns the number of units, each counted once for every step.
    fn sweep(&self, tile: usize, before: usize, steps: usize) -> usize;

    /// Writes an edge, like [`Stepping::edge`].
    fn edge(&self, above: bool, edge: &mut Vec<f32>);

    /// Reads an edge, like [`Stepping::set_edge`]. It belongs to the first or the last block.
    fn set_edge(&self, above: bool, edge: &[f32]);
}

/// Work in steps as a device's kernel does it. A slab stays on the device from launch to launch, in tables that the
/// kernel changes. The host keeps the slab too, but only its edges, and those of the neighbours, are valid there.
pub trait SteppingOnDevice<S>: Sync {
    /// What the kernel needs, with the current state of the slab. An order takes at most [`Layout::words`] words, and
    /// its results at most [`Layout::width`].
    fn layout(&self, slab: &S) -> Layout;

    /// The orders of a sweep, for consecutive launches. The results of the last are the slab's edges.
    fn orders(&self, slab: &S, steps: usize) -> Vec<SlabOrder>;

    /// Stores the results of a sweep of this many steps.
    fn swept(&self, slab: &mut S, steps: usize, edges: &[u32]);

    /// The orders that fetch the whole slab in parts.
    fn fetch(&self, slab: &S) -> Vec<SlabOrder>;

    /// Stores a part.
    fn fetched(&self, slab: &mut S, part: usize, results: &[u32]);
}

/// What a launch should do with a slab.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlabOrder {
    /// The order itself.
    pub words: Vec<u32>,
    /// Words of its results.
    pub results: usize,
}

/// A slice in parts that several threads fill, one thread at a time per part.
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

    /// Locks a part until the guard is dropped.
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
