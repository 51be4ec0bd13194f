//! [`PinnedStaging`]: backups of a GPU's work in page-locked memory, and the stream that copies them.

use super::driver::Driver;
use crate::DeviceError;
use std::time::{Duration, Instant};

/// Words of a piece; the report of a round may be copied between two pieces.
const PIECE: usize = 1 << 20;
/// Buffers of at least this many words get less spare room and are not kept for the next search.
const LARGE: usize = 1 << 22;

/// Two page-locked buffers, and a stream that fills them while kernels run.
pub(super) struct PinnedStaging<D: Driver> {
    stream: D::Stream,
    buffers: [Option<StagingBuffer<D>>; 2],
    /// When the copy under way began.
    since: Option<Instant>,
}

/// A buffer, its capacity in words, and how many of them are used.
struct StagingBuffer<D: Driver> {
    memory: D::Pinned,
    room: usize,
    words: usize,
}

impl<D: Driver> PinnedStaging<D> {
    /// Empty buffers.
    pub fn new(driver: &D) -> Result<Self, DeviceError> {
        Ok(Self { stream: driver.stream()?, buffers: [None, None], since: None })
    }

    /// Makes room for words in a buffer. Returns whether that succeeded.
    pub fn make_room(&mut self, driver: &D, buffer: usize, words: usize) -> bool {
        let fits = self.buffers[buffer].take().filter(|buffered| buffered.room >= words);
        // Pinning is slow: better too much once than twice.
        let more = if words < LARGE { 2 * words } else { words + words / 2 };
        let new = |room| {
            driver.pin(room, false).ok().map(|memory| StagingBuffer { memory, room, words: 0 })
        };
        self.buffers[buffer] = fits.or_else(|| new(more)).or_else(|| new(words));
        self.buffers[buffer].is_some()
    }

    /// Frees large buffers. No copy may be under way.
    pub fn trim(&mut self) {
        for buffered in &mut self.buffers {
            buffered.take_if(|buffered| buffered.room > LARGE);
        }
    }

    /// Starts copying words to a buffer that has room for them.
    ///
    /// # Safety
    /// There are that many words at `from`, and nobody writes them until the copy is done.
    pub unsafe fn send_off(
        &mut self,
        driver: &D,
        (buffer, from, words): (usize, u64, usize),
    ) -> Result<(), DeviceError> {
        let buffered = self.buffers[buffer].as_mut().filter(|buffered| buffered.room >= words);
        let buffered =
            buffered.ok_or_else(|| DeviceError::Failed("no buffer for a backup".into()))?;
        buffered.words = words;
        let there = &mut driver.words(&mut buffered.memory)[..words];
        for (nth, piece) in there.chunks_mut(PIECE).enumerate() {
            let from = from + 4 * (nth * PIECE) as u64;
            // SAFETY: as the caller guarantees; the buffer is read only once the stream has come to the mark.
            unsafe { driver.fetch(Some(&self.stream), piece, from)? };
        }
        driver.mark(&self.stream)?;
        self.since = Some(Instant::now());
        Ok(())
    }

    /// Whether the copy is done; if not, how long it has been under way.
    pub fn have_arrived(&mut self, driver: &D) -> Result<Result<(), Duration>, DeviceError> {
        let Some(since) = self.since else { return Ok(Ok(())) };
        if !driver.is_past(&self.stream)? {
            return Ok(Err(since.elapsed()));
        }
        self.since = None;
        Ok(Ok(()))
    }

    /// The words of a buffer.
    pub fn staged(&self, driver: &D, buffer: usize) -> &[u32] {
        let buffered = self.buffers[buffer].as_ref();
        buffered.map_or(&[], |buffered| &driver.as_words(&buffered.memory)[..buffered.words])
    }
}
