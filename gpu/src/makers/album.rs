//! [`Album`]: images of a GPU's work in page-locked memory, with the stream on which they travel.

use super::driver::Driver;
use crate::DeviceError;
use std::time::{Duration, Instant};

/// Words of a piece: the report of a round may be copied between two of them.
const PIECE: usize = 1 << 20;
/// From how many words on a buffer gets less room to spare, and is not kept for the next search.
const LARGE: usize = 1 << 22;

/// Two page-locked buffers, and a stream that fills them while others run.
pub(super) struct Album<D: Driver> {
    stream: D::Stream,
    pages: [Option<Page<D>>; 2],
    /// Since when a copy is on its way.
    since: Option<Instant>,
}

/// A buffer: how many words it has room for, and how many of them are used.
struct Page<D: Driver> {
    memory: D::Pinned,
    room: usize,
    words: usize,
}

impl<D: Driver> Album<D> {
    /// No images.
    pub fn new(driver: &D) -> Result<Self, DeviceError> {
        Ok(Self { stream: driver.stream()?, pages: [None, None], since: None })
    }

    /// Makes room for words in a buffer. Returns whether there is.
    pub fn make_room(&mut self, driver: &D, buffer: usize, words: usize) -> bool {
        let fits = self.pages[buffer].take().filter(|page| page.room >= words);
        // Pinning takes long: rather too much than again.
        let more = if words < LARGE { 2 * words } else { words + words / 2 };
        let new = |room| driver.pin(room, false).ok().map(|memory| Page { memory, room, words: 0 });
        self.pages[buffer] = fits.or_else(|| new(more)).or_else(|| new(words));
        self.pages[buffer].is_some()
    }

    /// Gives large buffers up. Nothing may be on its way.
    pub fn trim(&mut self) {
        for page in &mut self.pages {
            page.take_if(|page| page.room > LARGE);
        }
    }

    /// Begins to copy words to a buffer that has room for them.
    ///
    /// # Safety
    /// There are as many from `from` on, and nobody writes them before they have come.
    pub unsafe fn send_off(
        &mut self,
        driver: &D,
        (buffer, from, words): (usize, u64, usize),
    ) -> Result<(), DeviceError> {
        let page = self.pages[buffer].as_mut().filter(|page| page.room >= words);
        let page = page.ok_or_else(|| DeviceError::Failed("no room for an image".into()))?;
        page.words = words;
        let there = &mut driver.words(&mut page.memory)[..words];
        for (nth, piece) in there.chunks_mut(PIECE).enumerate() {
            let from = from + 4 * (nth * PIECE) as u64;
            // SAFETY: as the caller guarantees; the buffer is read only once the stream has come to the mark.
            unsafe { driver.fetch(Some(&self.stream), piece, from)? };
        }
        driver.mark(&self.stream)?;
        self.since = Some(Instant::now());
        Ok(())
    }

    /// Whether nothing is on its way any more; if something is, for how long.
    pub fn have_arrived(&mut self, driver: &D) -> Result<Result<(), Duration>, DeviceError> {
        let Some(since) = self.since else { return Ok(Ok(())) };
        if !driver.is_past(&self.stream)? {
            return Ok(Err(since.elapsed()));
        }
        self.since = None;
        Ok(Ok(()))
    }

    /// The words of a buffer.
    pub fn image(&self, driver: &D, buffer: usize) -> &[u32] {
        let page = self.pages[buffer].as_ref();
        page.map_or(&[], |page| &driver.look(&page.memory)[..page.words])
    }
}
