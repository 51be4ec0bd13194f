//! A slab of a flow on a device: its planes as tables, and the orders of a sweep.

use super::flow::{Across, Flow};
use super::group::Wide;
use super::model::Q;
use super::slab::Slab;
use super::stepping::Steps;
use crate::looping::{SlabOrder, SteppingOnDevice};
use pleach_core::search::device::Layout;
use pleach_core::search::level::Level;
use std::ops::Range;

/// Words of an order apart from planes.
const ORDER: usize = 6;
/// Words of the numbers before the solid cells.
const NUMBERS: usize = 32;
/// Words of results that a step reserves: twice that many threads run.
const MOST_RESULTS: usize = 1 << 16;
/// Words of the slab that are fetched at a time, unless a plane has more.
const PART: usize = 1 << 22;
/// The state begins at a multiple of this many words.
const ALIGNED: usize = 64;

/// What a launch should do.
#[derive(Clone, Copy)]
enum What {
    Put,
    Step,
    Get,
}

fn order(what: What, ranges: [&Range<usize>; 2], odd: bool, results: usize) -> SlabOrder {
    let mut words = vec![what as u32];
    words.extend(ranges.into_iter().flat_map(|it| [it.start as u32, it.end as u32]));
    words.push(odd.into());
    SlabOrder { words, results }
}

impl Steps {
    /// Whether kernels can count the cells of any slab.
    pub(super) fn fits_devices(&self) -> bool {
        let flow = &self.0;
        let [_, rows, planes] = flow.size();
        let groups = (planes + 2 * flow.ghosts()).checked_mul(rows * flow.groups());
        let edges = flow.plane_numbers().checked_mul(2 * flow.ghosts());
        let fits = |words: Option<usize>| words.is_some_and(|it| it < u32::MAX as usize / 2);
        fits(groups) && fits(edges)
    }
}

/// Planes of the slab that are fetched at a time.
fn parts(slab: &Slab) -> impl Iterator<Item = Range<usize>> + use<> {
    let (own, end) = (slab.outline.ghosts[0], slab.outline.ghosts[0] + slab.planes().len());
    let planes = (PART / slab.flow().plane_numbers()).max(1);
    (own..end).step_by(planes).map(move |from| from..(from + planes).min(end))
}

fn words(numbers: &[f32]) -> impl Iterator<Item = u32> {
    numbers.iter().map(|number| number.to_bits())
}

fn write(to: &mut [f32], words: &[u32]) {
    to.iter_mut().zip(words).for_each(|(to, &word)| *to = f32::from_bits(word));
}

/// The numbers of a flow, and the solid cells of a slab's planes.
fn head(flow: &Flow, slab: &Slab) -> Vec<u32> {
    let mut tables: Vec<u32> = words(&Wide::of(&flow.numbers).numbers()).collect();
    tables.extend(words(&flow.numbers.inflow.unwrap_or([0.0; Q])));
    tables.resize(NUMBERS, 0);
    for plane in 0..slab.outline.held() {
        for row in 0..flow.size()[1] {
            let solid = flow.solid_row(row, slab.outline.number(plane));
            tables.extend(solid.iter().map(|&bits| u32::from(bits)));
        }
    }
    tables.resize(tables.len().next_multiple_of(ALIGNED), 0);
    tables
}

impl SteppingOnDevice<Slab> for Steps {
    fn layout(&self, slab: &Slab) -> Layout {
        let (flow, held) = (&self.0, slab.outline.held());
        let mut tables = head(flow, slab);
        let state = tables.len();
        tables.reserve_exact(held * flow.plane_numbers());
        tables.extend(words(slab.held_numbers(0..held)));
        let fused = flow.setup.level != Level::Off;
        let traits = u32::from(flow.setup.across == Across::Periodic)
            | u32::from(flow.numbers.inflow.is_some()) << 1
            | u32::from(fused) << 2;
        let edges = 2 * flow.ghosts() * flow.plane_numbers();
        Layout {
            kernel: "loop_lattice",
            parallel: None,
            values: vec![
                held as u32,
                flow.size()[1] as u32,
                flow.groups() as u32,
                traits,
                state as u32,
            ],
            words: ORDER + edges,
            width: edges.max(PART).max(MOST_RESULTS),
            tables,
            ..Layout::default()
        }
    }

    fn orders(&self, slab: &Slab, steps: usize) -> Vec<SlabOrder> {
        let flow = &self.0;
        // There may be more threads than cells, or fewer, which then do several cells each.
        let some = |planes: usize| (planes * flow.plane_numbers() / 32).clamp(1, MOST_RESULTS);
        let mut orders = Vec::new();
        let [below, above] = slab.outline.ghost_planes();
        if slab.outline.ghosts != [0; 2] {
            let mut put =
                order(What::Put, [&below, &above], false, some(below.len() + above.len()));
            let numbers = words(slab.held_numbers(below)).chain(words(slab.held_numbers(above)));
            put.words.extend(numbers);
            orders.push(put);
        }
        for step in slab.outline.plan(0, steps) {
            orders.push(order(
                What::Step,
                [&step.planes, &(0..0)],
                step.odd,
                some(step.planes.len()),
            ));
        }
        let [below, above] = slab.outline.edges();
        let count = (below.len() + above.len()) * flow.plane_numbers();
        orders.push(order(What::Get, [&below, &above], false, count.max(1)));
        orders
    }

    fn swept(&self, slab: &mut Slab, steps: usize, results: &[u32]) {
        let [below, above] = slab.outline.edges();
        let (low, high) = results.split_at(below.len() * self.0.plane_numbers());
        write(slab.held_numbers_mut(below), low);
        write(slab.held_numbers_mut(above), high);
        slab.outline.steps += steps as u64;
    }

    fn fetch(&self, slab: &Slab) -> Vec<SlabOrder> {
        let get = |planes: Range<usize>| {
            let count = planes.len() * self.0.plane_numbers();
            order(What::Get, [&planes, &(0..0)], false, count)
        };
        parts(slab).map(get).collect()
    }

    fn fetched(&self, slab: &mut Slab, part: usize, results: &[u32]) {
        if let Some(planes) = parts(slab).nth(part) {
            write(slab.held_numbers_mut(planes), results);
        }
    }
}
