//! [`PlaneBlocks`]: the planes of a slab in blocks, which several threads sweep together.
//!
//! A sweep of a block does each step on fewer planes than the last, because the next block may not have got so far.
//! A sweep of the seam between two blocks then does the same steps on the planes left out. So no step is done twice,
//! and no two blocks, nor two seams, touch the same plane.

use super::lanes::Lane;
use super::outline::Outline;
use super::slab::{Slab, fill_evenly};
use super::sweep::{Sheet, Step};
use crate::looping::SlabBlocks;
use crate::simd::lattice_flat::{flat, flat_mut};
use crate::simd::parts::SliceParts;
use std::ops::Range;

/// A slab that is swept in blocks.
pub(super) struct PlaneBlocks<'a> {
    outline: &'a Outline,
    lines: SliceParts<'a, Lane>,
    /// Where blocks begin, and where the last one ends, in planes held.
    cuts: Vec<usize>,
}

impl<'a> PlaneBlocks<'a> {
    /// Cuts a slab into blocks, at most this many.
    pub fn new(slab: &'a mut Slab, most: usize) -> Self {
        let Slab { outline, lines } = slab;
        let held = outline.held();
        // A block's ends are swept with a seam each, which must not meet.
        let count = most.min(held / (2 * outline.flow.ghosts())).max(1);
        let cuts = (0..=count).map(|block| block * held / count).collect();
        Self { outline, lines: SliceParts::new(lines), cuts }
    }

    /// The planes held that a tile touches.
    fn touched(&self, tile: usize) -> Range<usize> {
        let (from, to) = (self.cuts[tile / 2], self.cuts[tile / 2 + 1]);
        let deep = self.outline.flow.ghosts();
        if tile.is_multiple_of(2) { from..to } else { to - deep..to + deep }
    }

    /// A tile's part of a sweep of these steps, when the slab has done `before` of them since it was cut.
    fn plan(&self, tile: usize, before: usize, steps: usize) -> Vec<Step> {
        let (from, to) = (self.cuts[tile / 2], self.cuts[tile / 2 + 1]);
        let mut order = self.outline.plan(before, steps);
        // An odd step reads and writes the next plane, so it stays one plane further from the cut, and the even step
        // after it stays another one.
        let mut reach = 0;
        for Step { odd, planes } in &mut order {
            let left_out = reach + usize::from(*odd);
            reach += 2 * usize::from(*odd);
            let own = if tile % 2 == 1 {
                to - left_out..to + left_out
            } else {
                let below = if from == 0 { 0 } else { left_out };
                let above = if to == self.outline.held() { 0 } else { left_out };
                from + below..to - above
            };
            *planes = common(planes, &own);
        }
        order
    }
}

/// What two ranges have in common.
fn common(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    let start = a.start.max(b.start);
    start..a.end.min(b.end).max(start)
}

impl SlabBlocks for PlaneBlocks<'_> {
    fn count(&self) -> usize {
        self.cuts.len() - 1
    }

    fn begin(&self, block: usize) {
        let planes = self.touched(2 * block);
        let first = self.outline.number(planes.start);
        fill_evenly(&self.outline.flow, first, &mut self.lines.borrow(self.outline.span(planes)));
    }

    fn units(&self, tile: usize) -> Range<usize> {
        let Outline { planes, ghosts, .. } = self.outline;
        let own = common(&self.touched(tile), &(ghosts[0]..ghosts[0] + planes.len()));
        planes.start + own.start - ghosts[0]..planes.start + own.end - ghosts[0]
    }

    fn sweep(&self, tile: usize, before: usize, steps: usize) -> usize {
        let Outline { flow, planes, ghosts, .. } = self.outline;
        let (touched, own) = (self.touched(tile), ghosts[0]..ghosts[0] + planes.len());
        let mut order = self.plan(tile, before, steps);
        let done = order.iter().map(|step| common(&step.planes, &own).len()).sum();
        for Step { planes, .. } in &mut order {
            *planes = planes.start - touched.start..planes.end - touched.start;
        }
        let first = self.outline.number(touched.start);
        let planes = touched.len();
        let lines = &mut self.lines.borrow(self.outline.span(touched));
        Sheet { flow, first, planes, lines }.sweep(&order);
        done
    }

    fn edge(&self, above: bool, edge: &mut Vec<f32>) {
        let planes = self.outline.edges()[usize::from(above)].clone();
        edge.extend_from_slice(flat(&self.lines.borrow(self.outline.span(planes))));
    }

    fn set_edge(&self, above: bool, edge: &[f32]) {
        let planes = self.outline.ghost_planes()[usize::from(above)].clone();
        flat_mut(&mut self.lines.borrow(self.outline.span(planes))).copy_from_slice(edge);
    }
}
