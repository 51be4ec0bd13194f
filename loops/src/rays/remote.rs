//! Rays in several processes: how tiles of the picture travel.

use super::frame::Rays;
use super::march::Tally;
use crate::bytes::{put_numbers, take_numbers};
use crate::looping::{RemoteLoop, ResultPlacement};
use pleach_core::search::work::{Malformed, Pack, Reader};
use std::ops::Range;

impl RemoteLoop for Rays<'_> {
    fn result_placement(&self) -> ResultPlacement {
        ResultPlacement::First
    }

    fn pack(&self, units: Range<usize>, out: &mut Vec<u8>) {
        for unit in units {
            let Tally { segments, lost } = self.tally_of(unit);
            (segments, lost).pack(out);
            put_numbers(self.tiles.part(unit).as_flattened(), out);
        }
    }

    fn unpack(&self, units: Range<usize>, results: &[u8]) -> Result<(), Malformed> {
        let mut from = Reader::new(results);
        for unit in units {
            let (segments, lost) = Pack::unpack(&mut from)?;
            self.count(unit, Tally { segments, lost });
            take_numbers(&mut from, self.tiles.part(unit).as_flattened_mut())?;
        }
        from.finish()
    }
}
