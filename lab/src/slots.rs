//! [`Slots`]: things by small numbers, which are reused.

/// Things by small numbers.
pub(super) struct Slots<T> {
    items: Vec<Option<T>>,
    empty: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { items: Vec::new(), empty: Vec::new() }
    }
}

impl<T> Slots<T> {
    /// Puts one in. Returns its number.
    pub fn put(&mut self, item: T) -> u32 {
        if let Some(at) = self.empty.pop() {
            self.items[at as usize] = Some(item);
            return at;
        }
        self.items.push(Some(item));
        self.items.len() as u32 - 1
    }

    /// Takes the one with this number out.
    pub fn take(&mut self, at: u32) -> Option<T> {
        self.empty.push(at);
        self.items[at as usize].take()
    }

    /// The one with this number.
    pub fn get(&self, at: u32) -> Option<&T> {
        self.items[at as usize].as_ref()
    }

    /// All that are in.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().flatten()
    }
}
