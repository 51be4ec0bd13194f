//! [`OnDrop`]: does something when a scope is left, even by a panic.

/// Calls a function when it is dropped; [`std::mem::forget`] cancels it.
pub struct OnDrop<F: FnMut()>(pub F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
