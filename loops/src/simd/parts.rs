//! [`SliceParts`]: a slice of which several threads borrow parts at the same time, none of them overlapping.

use pleach_runtime::sync::{Mutex, lock};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};

/// A slice that is borrowed in parts. Which parts are borrowed is known only at run time.
pub struct SliceParts<'a, T> {
    first: *mut T,
    length: usize,
    /// The parts that are borrowed now.
    borrowed: Mutex<Vec<Range<usize>>>,
    of: PhantomData<&'a mut [T]>,
}

// SAFETY: no element is borrowed by two threads at the same time, and the lock orders one after the other.
unsafe impl<T: Send> Sync for SliceParts<'_, T> {}

impl<'a, T> SliceParts<'a, T> {
    /// A slice of which nothing is borrowed yet.
    pub fn new(slice: &'a mut [T]) -> Self {
        let (first, length) = (slice.as_mut_ptr(), slice.len());
        Self { first, length, borrowed: Mutex::new(Vec::new()), of: PhantomData }
    }

    /// Borrows a part until the result is dropped.
    ///
    /// # Panics
    /// If the part is not inside the slice, or overlaps one that is borrowed.
    pub fn borrow(&self, part: Range<usize>) -> SlicePart<'_, T> {
        assert!(part.start <= part.end && part.end <= self.length, "{part:?} of {}", self.length);
        let mut borrowed = lock(&self.borrowed);
        let apart = |other: &Range<usize>| part.end <= other.start || other.end <= part.start;
        assert!(borrowed.iter().all(apart), "{part:?} overlaps {borrowed:?}");
        borrowed.push(part.clone());
        drop(borrowed);
        // SAFETY: inside the slice.
        let first = unsafe { self.first.add(part.start) };
        SlicePart { first, part, borrowed: &self.borrowed, of: PhantomData }
    }
}

/// A borrowed part of a slice.
pub struct SlicePart<'b, T> {
    first: *mut T,
    part: Range<usize>,
    borrowed: &'b Mutex<Vec<Range<usize>>>,
    of: PhantomData<&'b mut [T]>,
}

impl<T> Deref for SlicePart<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: inside the slice, which is borrowed mutably, and apart from all other parts until this is dropped.
        unsafe { std::slice::from_raw_parts(self.first, self.part.len()) }
    }
}

impl<T> DerefMut for SlicePart<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.first, self.part.len()) }
    }
}

impl<T> Drop for SlicePart<'_, T> {
    fn drop(&mut self) {
        let mut borrowed = lock(self.borrowed);
        if let Some(at) = borrowed.iter().position(|other| *other == self.part) {
            borrowed.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn parts_are_borrowed_by_several_threads_and_never_overlap() {
        let mut numbers = [0; 100];
        let parts = &SliceParts::new(&mut numbers);
        std::thread::scope(|scope| {
            for me in 0..4 {
                scope.spawn(move || {
                    for number in 0..25 {
                        let at = 25 * me + number;
                        parts.borrow(at..at + 1)[0] += at;
                    }
                });
            }
        });
        let refuses = |part: Range<usize>| {
            catch_unwind(AssertUnwindSafe(|| drop(parts.borrow(part)))).is_err()
        };
        let middle = parts.borrow(40..60);
        assert!(refuses(59..61) && refuses(0..41) && refuses(45..50) && refuses(0..100));
        assert!(!refuses(0..40) && !refuses(60..100), "neighbours");
        assert_eq!((middle[0], middle.len()), (40, 20));
        drop(middle);
        assert!(!refuses(0..100) && refuses(90..101));
        assert!(numbers.into_iter().eq(0..100));
    }
}
