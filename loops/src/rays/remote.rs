//! Rays in several processes: how tiles of the picture travel.

use super::frame::Rays;
use super::march::Tally;
use crate::bytes::{put_numbers, take_numbers};
use crate::looping::RemoteLoop;
use pleach_core::search::work::{Malformed, Pack, Reader};

impl RemoteLoop for Rays<'_> {
    fn pack(&self, unit: usize, out: &mut Vec<u8>) {
        let Tally { segments, lost } = self.tally_of(unit);
        (segments, lost).pack(out);
        put_numbers(self.tiles.part(unit).as_flattened(), out);
    }

    fn unpack(&self, unit: usize, from: &mut Reader<'_>) -> Result<(), Malformed> {
        let (segments, lost) = Pack::unpack(from)?;
        self.count(unit, Tally { segments, lost });
        take_numbers(from, self.tiles.part(unit).as_flattened_mut())
    }
}
