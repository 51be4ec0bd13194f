//! [`FakeDriver`]: a driver for tests whose operations do nothing, and end when a test says so.

use super::driver::Driver;
use crate::DeviceError;
use crate::form::{BuiltKernel, Form, Handling};
use pleach_core::search::device::Layout;
use pleach_runtime::sync::{AtomicU64, Ordering};
use std::ffi::c_void;
use std::sync::Arc;

/// A driver whose GPU does nothing; clones share its counters.
#[derive(Clone, Default)]
pub(super) struct FakeDriver {
    loads: Arc<AtomicU64>,
    /// How many streams were made.
    streams: Arc<AtomicU64>,
    /// How many streams, from the first one on, have passed their events.
    pub passed: Arc<AtomicU64>,
}

impl FakeDriver {
    /// How often code was loaded.
    pub fn loads(&self) -> u64 {
        self.loads.load(Ordering::Relaxed)
    }
}

impl Driver for FakeDriver {
    type Code = ();
    type Kernel = ();
    /// Its number.
    type Stream = u64;
    type Pinned = Vec<u32>;

    fn bind(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    fn multiprocessors(&self) -> u32 {
        1
    }

    fn free_bytes(&self) -> u64 {
        1 << 30
    }

    fn allocate(&self, _bytes: usize) -> Option<u64> {
        Some(0)
    }

    // SAFETY: it touches nothing.
    unsafe fn free(&self, _address: u64) -> Result<(), DeviceError> {
        Ok(())
    }

    // SAFETY: it touches nothing.
    unsafe fn write(&self, _to: u64, _words: &[u32]) -> Result<(), DeviceError> {
        Ok(())
    }

    // SAFETY: it touches nothing.
    unsafe fn read(&self, _from: u64, _words: &mut [u32]) -> Result<(), DeviceError> {
        Ok(())
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    fn is_idle(&self) -> Result<bool, DeviceError> {
        Ok(true)
    }

    fn load(
        &self,
        _layout: &Layout,
        _handling: Handling,
    ) -> Result<((), BuiltKernel), DeviceError> {
        self.loads.fetch_add(1, Ordering::Relaxed);
        Ok(((), BuiltKernel { form: Form::Compiled, log: String::new() }))
    }

    fn kernel(&self, _code: &(), _name: &str) -> Result<(), DeviceError> {
        Ok(())
    }

    fn blocks(&self, _kernel: ()) -> Result<u32, DeviceError> {
        Ok(1)
    }

    // SAFETY: it touches nothing.
    unsafe fn launch(
        &self,
        _kernel: (),
        _stream: Option<&u64>,
        _blocks: u32,
        _record: *const c_void,
    ) -> Result<(), DeviceError> {
        Ok(())
    }

    fn stream(&self) -> Result<u64, DeviceError> {
        Ok(self.streams.fetch_add(1, Ordering::Relaxed))
    }

    fn pin(&self, words: usize, _sends: bool) -> Result<Vec<u32>, DeviceError> {
        Ok(vec![0; words])
    }

    fn words<'m>(&self, memory: &'m mut Vec<u32>) -> &'m mut [u32] {
        memory
    }

    fn as_words<'m>(&self, memory: &'m Vec<u32>) -> &'m [u32] {
        memory
    }

    // SAFETY: it touches nothing.
    unsafe fn send(
        &self,
        _stream: Option<&u64>,
        _to: u64,
        _words: &[u32],
    ) -> Result<(), DeviceError> {
        Ok(())
    }

    // SAFETY: it touches nothing.
    unsafe fn fetch(
        &self,
        _stream: Option<&u64>,
        _words: &mut [u32],
        _from: u64,
    ) -> Result<(), DeviceError> {
        Ok(())
    }

    fn mark(&self, _stream: &u64) -> Result<(), DeviceError> {
        Ok(())
    }

    fn is_past(&self, stream: &u64) -> Result<bool, DeviceError> {
        Ok(*stream < self.passed.load(Ordering::Relaxed))
    }

    fn abandon(&mut self) {}
}
