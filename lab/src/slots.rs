//! [`Slots`]: items by small numbers, which are reused.

/// Items by small numbers.
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
    /// Adds an item. Returns its number.
    pub fn put(&mut self, item: T) -> u32 {
        if let Some(at) = self.empty.pop() {
            self.items[at as usize] = Some(item);
            return at;
        }
        self.items.push(Some(item));
        self.items.len() as u32 - 1
    }

    /// Removes the item with this number.
    pub fn take(&mut self, at: u32) -> Option<T> {
        self.empty.push(at);
        self.items[at as usize].take()
    }

    /// The item with this number.
    pub fn get(&self, at: u32) -> Option<&T> {
        self.items[at as usize].as_ref()
    }

    /// All items.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().flatten()
    }
}
