//! A value that states of a model share until one of them changes it.

use super::fingerprints::fingerprint;
use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// A value that is copied when it is first changed, with its fingerprint once that was needed.
#[derive(Clone, Debug)]
pub(super) struct Shared<T> {
    value: Rc<T>,
    print: Cell<Option<u64>>,
}

impl<T> Shared<T> {
    pub fn new(value: T) -> Self {
        Self { value: Rc::new(value), print: Cell::default() }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.print.set(None);
        Rc::make_mut(&mut self.value)
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Shared<T> {}

impl<T: Hash> Hash for Shared<T> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let print = self.print.get().unwrap_or_else(|| fingerprint(&*self.value));
        self.print.set(Some(print));
        hasher.write_u64(print);
    }
}
