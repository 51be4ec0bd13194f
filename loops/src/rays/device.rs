//! Rays on a device, which always marches, even if threads project.

use super::frame::Rays;
use super::march::Tally;
use super::prepare::Prepared;
use super::record::TILE_PIXELS;
use super::transfer::Piece;
use crate::looping::LoopOnDevice;
use pleach_core::search::device::Layout;
use std::ops::Range;

/// Words of a pixel: its four channels.
const PIXEL: usize = 4;
/// Pixels that rays are drawn to, and words of statistics about them: segments (low and high word), and lost rays.
const WARP: usize = 32;
const STATISTICS: usize = 3;
/// Words of the results of a tile.
const TILE_WORDS: usize = TILE_PIXELS * PIXEL + TILE_PIXELS / WARP * STATISTICS;
/// The maximum number of words for the results of a range.
const MOST_WORDS: usize = 1 << 22;
/// Words of a tetrahedron and of a piece of the transfer function.
const TET: usize = 24;
const PIECE: usize = 10;
/// How many tetrahedra to write between checks whether they are still wanted.
const PART: usize = 1 << 14;

fn write_tet(prepared: &Prepared, tet: usize, words: &mut Vec<u32>) {
    let (record, note) = (&prepared.records[tet], &prepared.notes[tet]);
    let numbers = [record.a, record.b, record.c, record.value];
    words.extend(numbers.as_flattened().iter().map(|number| number.to_bits()));
    words.extend(prepared.next[tet]);
    words.extend([note.entries, note.pieces[0], note.pieces[1], 0].map(u32::from));
}

fn write_piece(piece: &Piece, words: &mut Vec<u32>) {
    let numbers = [piece.low, piece.high].into_iter().chain(piece.extinction);
    let numbers = numbers.chain(piece.colour.into_iter().flatten());
    words.extend(numbers.map(f32::to_bits));
}

impl LoopOnDevice for Rays<'_> {
    fn layout(&self, wanted: &dyn Fn() -> bool) -> Option<Layout> {
        let (prepared, pieces) = (&self.frame.prepared, self.frame.scene.pieces());
        let (tets, entries) = (prepared.records.len(), &self.frame.entries);
        let words = tets * TET + pieces.len() * PIECE + entries.words();
        let mut tables = Vec::with_capacity(words);
        for tet in 0..tets {
            if tet % PART == 0 && !wanted() {
                return None;
            }
            write_tet(prepared, tet, &mut tables);
        }
        pieces.iter().for_each(|piece| write_piece(piece, &mut tables));
        entries.write(&mut tables);
        let (tiles, lens) = (self.frame.tiles, prepared.lens);
        let counts = [tets, pieces.len(), tiles.count(), tiles.across].map(|count| count as u32);
        let numbers = [lens.first[0], lens.first[1], lens.near, lens.least].map(f32::to_bits);
        Some(Layout {
            kernel: "loop_rays",
            parallel: None,
            values: [counts, numbers].concat(),
            words: 2,
            width: MOST_WORDS,
            tables,
            ..Layout::default()
        })
    }

    fn words(&self, units: &Range<usize>) -> usize {
        units.len() * TILE_WORDS
    }

    fn order(&self, units: &Range<usize>, words: &mut Vec<u32>) {
        words.extend([units.start as u32, units.len() as u32]);
    }

    fn store(&self, units: Range<usize>, results: &[u32]) {
        let (pixels, statistics) = results.split_at(units.len() * TILE_PIXELS * PIXEL);
        let statistics = statistics.chunks_exact(TILE_PIXELS / WARP * STATISTICS);
        for ((unit, pixels), statistics) in
            units.zip(pixels.chunks_exact(TILE_PIXELS * PIXEL)).zip(statistics)
        {
            let mut cells = self.tiles.part(unit);
            for (cell, words) in cells.iter_mut().zip(pixels.chunks_exact(PIXEL)) {
                *cell = std::array::from_fn(|channel| f32::from_bits(words[channel]));
            }
            let mut tally = Tally::default();
            for statistics in statistics.chunks_exact(STATISTICS) {
                let segments = u64::from(statistics[0]) | u64::from(statistics[1]) << 32;
                tally.add(Tally { segments, lost: statistics[2].into() });
            }
            self.count(unit, tally);
        }
    }
}
