//! [`FreshList`]: a list that several threads write, part by part, in memory that nobody has touched before.

use super::pages::in_large_pages;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Elements of a part; the last one may have fewer.
const PART: usize = 256;

/// A list while it is written. Each part is written once.
pub struct FreshList<T> {
    /// Empty, with room for all elements.
    list: Vec<T>,
    first: *mut T,
    length: usize,
    /// The parts that were requested.
    begun: Vec<AtomicBool>,
    /// How many parts are complete.
    complete: AtomicUsize,
}

// SAFETY: only the holder of a part writes its elements, and nobody reads them before `finish` takes the list by value.
unsafe impl<T: Send> Sync for FreshList<T> {}

impl<T: Copy> FreshList<T> {
    /// Room for this many elements.
    pub fn new(length: usize) -> Self {
        let mut list = Vec::with_capacity(length);
        in_large_pages(list.spare_capacity_mut());
        let first = list.as_mut_ptr();
        let begun = (0..length.div_ceil(PART)).map(|_| AtomicBool::new(false)).collect();
        Self { list, first, length, begun, complete: AtomicUsize::new(0) }
    }

    /// The number of parts.
    pub fn parts(&self) -> usize {
        self.begun.len()
    }

    /// A part, to be written.
    ///
    /// # Panics
    /// If there is no such part, or if it was requested before.
    pub fn part(&self, number: usize) -> FreshPart<'_, T> {
        let begun = self.begun[number].swap(true, Ordering::Relaxed);
        assert!(!begun, "part {number} is requested twice");
        let begin = number * PART;
        FreshPart { list: self, left: begin..(begin + PART).min(self.length) }
    }

    /// The list.
    ///
    /// # Panics
    /// If a part is missing.
    pub fn finish(mut self) -> Vec<T> {
        assert_eq!(*self.complete.get_mut(), self.begun.len(), "complete parts");
        // SAFETY: there is room for all elements, and the line above says that each was written.
        unsafe { self.list.set_len(self.length) };
        self.list
    }
}

/// A part of a list while it is written.
pub struct FreshPart<'a, T> {
    list: &'a FreshList<T>,
    left: Range<usize>,
}

impl<T> FreshPart<'_, T> {
    /// Which elements of the list are missing.
    pub fn left(&self) -> Range<usize> {
        self.left.clone()
    }

    /// Writes the next element.
    ///
    /// # Panics
    /// If the part is complete.
    #[inline]
    pub fn push(&mut self, element: T) {
        let at = self.left.next().expect("an element is missing");
        // SAFETY: inside the list's memory, and in the part that nobody else holds.
        unsafe { self.list.first.add(at).write(element) };
    }
}

impl<T> Drop for FreshPart<'_, T> {
    fn drop(&mut self) {
        if self.left.is_empty() {
            self.list.complete.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn write(list: &FreshList<usize>, number: usize) {
        let mut part = list.part(number);
        part.left().for_each(|at| part.push(3 * at));
    }

    #[test]
    fn threads_write_a_list_together() {
        for length in [0, 1, PART, 5 * PART + 7] {
            let list = FreshList::new(length);
            std::thread::scope(|scope| {
                for me in 0..3 {
                    let list = &list;
                    scope.spawn(move || {
                        (me..list.parts()).step_by(3).for_each(|number| write(list, number));
                    });
                }
            });
            assert!(list.finish().into_iter().eq((0..length).map(|at| 3 * at)));
        }
    }

    #[test]
    fn a_list_is_complete_and_each_part_written_once() {
        let list = FreshList::new(PART + 2);
        write(&list, 1);
        let refuses = |action: &dyn Fn()| catch_unwind(AssertUnwindSafe(action)).is_err();
        assert!(refuses(&|| write(&list, 1)) && refuses(&|| write(&list, 2)));
        let mut part = list.part(0);
        (1..PART).for_each(|at| part.push(at));
        assert_eq!(part.left(), PART - 1..PART);
        drop(part);
        assert!(catch_unwind(AssertUnwindSafe(|| list.finish())).is_err());
        let full = FreshList::new(1);
        let mut part = full.part(0);
        part.push(1);
        assert!(catch_unwind(AssertUnwindSafe(|| part.push(2))).is_err());
    }
}
