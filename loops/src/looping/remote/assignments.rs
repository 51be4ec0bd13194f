//! [`Assignments`]: the ranges that the root has handed out to this process, and which of them are done.

use crate::looping::contract::RemoteLoop;
use pleach_runtime::sync::{Mutex, lock};
use std::ops::Range;

/// The ranges that the root has handed out to this process. They do not overlap.
#[derive(Default)]
pub(super) struct Assignments(Mutex<Vec<Assignment>>);

struct Assignment {
    number: u32,
    rows: Range<u32>,
    /// Rows not done.
    missing: u32,
}

impl Assignments {
    /// Adds a range.
    pub fn add(&self, number: u32, rows: Range<u32>) {
        lock(&self.0).push(Assignment { number, missing: rows.end - rows.start, rows });
    }

    /// Marks rows as done. Returns whether that finishes a range.
    pub fn mark_done(&self, rows: &Range<u32>) -> bool {
        let mut all = lock(&self.0);
        let of = |request: &&mut Assignment| {
            request.rows.start <= rows.start && rows.end <= request.rows.end
        };
        let Some(request) = all.iter_mut().find(of) else { return false };
        request.missing = request.missing.saturating_sub(rows.end - rows.start);
        request.missing == 0
    }

    /// Removes the ranges that are done.
    pub fn take_finished(&self) -> Vec<(u32, Range<u32>)> {
        let mut all = lock(&self.0);
        let done = all.extract_if(.., |request| request.missing == 0);
        done.map(|request| (request.number, request.rows)).collect()
    }
}

/// A message of results is sent once it has this many bytes. A process counts as alive as long as messages arrive from it,
/// so they must not be large even over a slow network.
const PIECE: usize = 1 << 20;

/// Packs the results of rows, piece by piece.
pub(super) fn in_pieces(
    work: &dyn RemoteLoop,
    rows: Range<u32>,
    units: &dyn Fn(&Range<u32>) -> Range<usize>,
    mut give: impl FnMut(Range<u32>, Vec<u8>),
) {
    let (mut from, mut bytes) = (rows.start, Vec::new());
    for row in rows.clone() {
        let end = row + 1;
        units(&(row..end)).for_each(|unit| work.pack(unit, &mut bytes));
        if bytes.len() >= PIECE || end == rows.end {
            give(from..end, std::mem::take(&mut bytes));
            from = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_core::search::work::{Malformed, Reader};

    #[test]
    fn a_range_is_finished_once_all_of_its_rows_are() {
        let assignments = Assignments::default();
        assignments.add(7, 0..10);
        assignments.add(8, 10..12);
        assert!(!assignments.mark_done(&(0..4)));
        assert!(assignments.mark_done(&(10..12)));
        assert_eq!(assignments.take_finished(), [(8, 10..12)]);
        assert!(assignments.mark_done(&(4..10)));
        assert!(!assignments.mark_done(&(20..21)));
        assert_eq!(assignments.take_finished(), [(7, 0..10)]);
        assert_eq!(assignments.take_finished(), []);
    }

    /// A quarter of a megabyte for each unit.
    struct Large;

    impl RemoteLoop for Large {
        fn pack(&self, unit: usize, out: &mut Vec<u8>) {
            out.extend(vec![unit as u8; 1 << 18]);
        }
        fn unpack(&self, _: usize, _: &mut Reader<'_>) -> Result<(), Malformed> {
            Ok(())
        }
    }

    #[test]
    fn large_results_travel_in_pieces() {
        let mut seen = Vec::new();
        let units = |rows: &Range<u32>| rows.start as usize..rows.end as usize;
        in_pieces(&Large, 3..14, &units, |rows, bytes| {
            assert_eq!(bytes.len(), rows.len() << 18);
            assert_eq!(u32::from(bytes[0]), rows.start);
            seen.push(rows);
        });
        assert_eq!(seen, [3..7, 7..11, 11..14]);
    }
}
