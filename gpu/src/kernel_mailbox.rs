//! [`KernelMailbox`]: announces batches to a kernel that was launched once.

use super::DeviceError;
use pleach_core::search::evaluate::Parents;
use pleach_kernels::bounding::Bounding;
use pleach_kernels::serving::{HEAD, MAIL, ORDER, RING, mail};
use std::sync::atomic::{AtomicU32, Ordering};

/// What the host has announced so far.
#[derive(Default)]
pub(super) struct KernelMailbox {
    /// The number of the last batch.
    last: u32,
    /// The first ticket of the next one.
    ticket: u32,
}

/// A word of the announcement with this number.
fn word(words: &[AtomicU32], number: u32, at: usize) -> &AtomicU32 {
    &words[HEAD + number as usize % RING * MAIL + at]
}

impl KernelMailbox {
    /// Announces a batch of a single parent, with the device address for its results. Returns its number.
    ///
    /// # Errors
    /// If the parent is too large, or the previous batch in this place is unfinished.
    pub fn announce(
        &mut self,
        words: &[AtomicU32],
        parents: &Parents,
        bounds: u64,
    ) -> Result<u32, DeviceError> {
        let (number, children) = (self.last.wrapping_add(1), parents.children());
        if parents.len() != 1 || parents.words.len() > ORDER {
            return Err(DeviceError::Failed("the batch is too large to be announced".into()));
        }
        let tickets = Bounding { children, ..Bounding::default() }.blocks();
        let set = |at, value| word(words, number, at).store(value, Ordering::Release);
        let before = word(words, number, mail::NUMBER).load(Ordering::Relaxed);
        if before != word(words, number, mail::DONE).load(Ordering::Acquire) {
            return Err(DeviceError::Failed("its kernel left a batch unfinished".into()));
        }
        // Invalidate the place first: a kernel that reads meanwhile finds a number that belongs to another place.
        set(mail::NUMBER, self.last);
        set(mail::FIRST, self.ticket);
        set(mail::TICKETS, tickets);
        set(mail::CHILDREN, children);
        set(mail::BOUNDS, bounds as u32);
        set(mail::BOUNDS + 1, (bounds >> 32) as u32);
        parents.words.iter().enumerate().for_each(|(i, &order)| set(mail::ORDER + i, order));
        set(mail::NUMBER, number);
        self.last = number;
        self.ticket = self.ticket.wrapping_add(tickets);
        Ok(number)
    }
}

/// Whether the batch with this number is done.
pub(super) fn is_done(words: &[AtomicU32], number: u32) -> bool {
    word(words, number, mail::DONE).load(Ordering::Acquire) == number
}

/// Ends the kernel once all announced batches are done.
pub(super) fn stop(words: &[AtomicU32]) {
    words[0].store(1, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::{AHEAD, MOST_SLOTS};
    use pleach_kernels::serving::POST;

    /// However the slots of a device take turns, nothing is announced in the place of a batch that takes long.
    #[test]
    fn a_slow_batch_keeps_its_place() {
        let words: Vec<AtomicU32> = (0..POST).map(|_| AtomicU32::new(0)).collect();
        let parents = Parents { starts: vec![0, 1], words: vec![7] };
        let mut mailbox = KernelMailbox::default();
        let mut announce = || mailbox.announce(&words, &parents, 0);
        let finish = |number| word(&words, number, mail::DONE).store(number, Ordering::Release);
        let slow = announce().unwrap();
        // Those of as many slots as a device may have were sent before it, and may be announced later.
        let others = AHEAD - 1 + MOST_SLOTS as usize - 1;
        (0..others).for_each(|_| finish(announce().unwrap()));
        assert!(!is_done(&words, slow));
        (others + 1..RING).for_each(|_| finish(announce().unwrap()));
        assert!(announce().is_err(), "its place is next");
        finish(slow);
        assert!(announce().is_ok());
    }
}
