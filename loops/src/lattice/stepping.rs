//! Implements work in steps for a flow: its slabs of planes, and the edges that neighbours exchange.

use super::blocks::PlaneBlocks;
use super::flow::Flow;
use super::outline::Outline;
use super::slab::{Side, Slab};
use crate::looping::{SlabBlocks, Stepping, SteppingOnDevice, SteppingTogether};
use std::ops::Range;
use std::sync::Arc;

/// A flow that several threads step together.
#[derive(Clone, Debug)]
pub struct Steps(pub Arc<Flow>);

fn side(above: bool) -> Side {
    if above { Side::Above } else { Side::Below }
}

impl Stepping for Steps {
    type Slab = Slab;

    fn units(&self) -> usize {
        self.0.size()[2]
    }

    fn least(&self) -> usize {
        self.0.ghosts().min(self.units())
    }

    fn depth(&self) -> usize {
        self.0.depth()
    }

    fn is_ring(&self) -> bool {
        self.0.is_ring()
    }

    fn begin(&self, planes: Range<usize>) -> Result<Slab, String> {
        Slab::new(&self.0, planes)
    }

    fn sweep(&self, slab: &mut Slab, steps: usize) {
        slab.sweep(steps);
    }

    fn edge(&self, slab: &Slab, above: bool, edge: &mut Vec<f32>) {
        if slab.has_neighbour(side(above)) {
            edge.extend_from_slice(slab.edge(side(above)));
        }
    }

    fn set_edge(&self, slab: &mut Slab, above: bool, edge: &[f32]) {
        slab.set_ghost(side(above), edge);
    }

    fn state(&self, slab: &Slab, planes: Range<usize>, state: &mut Vec<f32>) {
        state.extend_from_slice(slab.numbers_of(planes));
    }

    fn recut(
        &self,
        slab: &mut Slab,
        planes: Range<usize>,
        missing: &[(Range<usize>, Vec<f32>)],
    ) -> Result<(), String> {
        slab.recut(planes, missing)
    }

    fn together(&self) -> Option<&dyn SteppingTogether<Slab>> {
        Some(self)
    }

    fn on_device(&self) -> Option<&dyn SteppingOnDevice<Slab>> {
        self.fits_devices().then_some(self)
    }
}

impl SteppingTogether<Slab> for Steps {
    fn reserve(&self, planes: Range<usize>) -> Result<Slab, String> {
        Slab::empty(Outline::new(&self.0, planes, 0)?)
    }

    fn blocks<'a>(&self, slab: &'a mut Slab, most: usize) -> Box<dyn SlabBlocks + 'a> {
        Box::new(PlaneBlocks::new(slab, most))
    }

    fn swept(&self, slab: &mut Slab, steps: usize) {
        slab.outline.steps += steps as u64;
    }
}
