//! [`Amd`]: AMD's GPUs through HIP, whose library is opened at run time.

mod calls;
mod compile;

use super::cache::CodeFile;
use super::driver::Driver;
use crate::DeviceError;
use crate::form::{BuiltKernel, Form, Handling};
use calls::{Handle, Hip, hip};
use compile::compile;
use pleach_core::search::device::Layout;
use pleach_kernels::launch::THREADS;
use pleach_kernels::source;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;

/// Error codes: the operation is not done yet; there is no GPU.
const NOT_READY: c_int = 600;
const NO_DEVICE: c_int = 100;
/// Attributes of a GPU.
const WAVE: c_int = 87;
const MULTIPROCESSORS: c_int = 63;
const ARCHITECTURE: [c_int; 2] = [23, 61];
/// A stream that synchronises with the default stream; one that does not; an event that records no time.
const IN_TURN: u32 = 0;
const NON_BLOCKING: u32 = 1;
const NO_TIMING: u32 = 2;

/// Lanes per wave: the kernels' warps are waves, or halves of them.
const LANES: [c_int; 2] = [32, 64];

/// Whether there may be AMD GPUs.
pub(super) fn is_here() -> bool {
    calls::is_here()
}

/// The number of AMD GPUs.
///
/// # Errors
/// Why none can be used.
pub(super) fn count() -> Result<u32, DeviceError> {
    let calls = hip()?;
    let mut n = 0;
    // SAFETY: writes to a valid integer.
    let code = unsafe { (calls.hipGetDeviceCount)(&mut n) };
    if n <= 0 && (code == 0 || code == NO_DEVICE) {
        return Err(DeviceError::Failed("HIP sees no GPU".into()));
    }
    calls.done(code).map(|()| n.max(0) as u32)
}

/// Checks whether the kernels can run on this GPU.
///
/// # Errors
/// Why they cannot.
pub(super) fn check(number: u32) -> Result<(), DeviceError> {
    let lanes = attribute(hip()?, WAVE, number as c_int)?;
    if !LANES.contains(&lanes) {
        let why = format!("its waves have {lanes} lanes, expected 32 or 64");
        return Err(DeviceError::Failed(why));
    }
    Ok(())
}

/// The name of a GPU, and its memory in bytes.
///
/// # Errors
/// If the driver fails.
pub(super) fn describe(number: u32) -> Result<(String, u64), DeviceError> {
    let calls = hip()?;
    let (mut name, mut bytes) = ([0 as c_char; 256], 0);
    let room = name.len() as c_int - 1;
    // SAFETY: there is room for the name, which ends with a zero byte, and for the number.
    let name = unsafe {
        calls.done((calls.hipDeviceGetName)(name.as_mut_ptr(), room, number as c_int))?;
        calls.done((calls.hipDeviceTotalMem)(&mut bytes, number as c_int))?;
        CStr::from_ptr(name.as_ptr())
    };
    Ok((name.to_string_lossy().into_owned(), bytes as u64))
}

fn attribute(calls: &Hip, which: c_int, device: c_int) -> Result<c_int, DeviceError> {
    let mut value = 0;
    // SAFETY: writes to a valid integer.
    calls.done(unsafe { (calls.hipDeviceGetAttribute)(&mut value, which, device) })?;
    Ok(value)
}

/// An AMD GPU.
pub(super) struct Amd {
    calls: &'static Hip,
    device: c_int,
    multiprocessors: u32,
    /// Lanes per wave.
    lanes: c_int,
    /// What its machine code depends on besides the source.
    kind: String,
    /// The stream of all launches that name no other.
    main: Stream,
}

impl Amd {
    /// Opens a GPU by its number.
    pub fn open(number: u32) -> Result<Self, DeviceError> {
        let (calls, device) = (hip()?, number as c_int);
        // SAFETY: there is such a GPU.
        calls.done(unsafe { (calls.hipSetDevice)(device) })?;
        let multiprocessors = attribute(calls, MULTIPROCESSORS, device)?.max(0) as u32;
        let lanes = attribute(calls, WAVE, device)?;
        let [major, minor] = ARCHITECTURE.map(|part| attribute(calls, part, device).unwrap_or(0));
        let mut version = 0;
        // SAFETY: writes to a valid integer.
        calls.done(unsafe { (calls.hipRuntimeGetVersion)(&mut version) })?;
        let kind = format!("{} {major}.{minor} {version}", describe(number)?.0);
        let main = Stream::new(calls, IN_TURN)?;
        Ok(Self { calls, device, multiprocessors, lanes, kind, main })
    }
}

/// A kernel's code on a GPU.
pub(super) struct HipModule(&'static Hip, Handle);

// SAFETY: a module is not tied to a thread.
unsafe impl Send for HipModule {}

impl Drop for HipModule {
    fn drop(&mut self) {
        // SAFETY: the module was loaded once, and nobody uses its functions any more.
        unsafe { (self.0.hipModuleUnload)(self.1) };
    }
}

/// An entry point of a module, valid only while that is loaded.
#[derive(Clone, Copy)]
pub(super) struct HipFunction(Handle);

// SAFETY: as for its module.
unsafe impl Send for HipFunction {}

/// A stream, and an event that marks a point in it.
pub(super) struct Stream {
    calls: &'static Hip,
    stream: Handle,
    event: Handle,
}

// SAFETY: neither is tied to a thread.
unsafe impl Send for Stream {}

impl Stream {
    fn new(calls: &'static Hip, flags: u32) -> Result<Self, DeviceError> {
        let mut all = Self { calls, stream: null_mut(), event: null_mut() };
        // SAFETY: writes to valid addresses.
        unsafe {
            calls.done((calls.hipStreamCreateWithFlags)(&mut all.stream, flags))?;
            calls.done((calls.hipEventCreateWithFlags)(&mut all.event, NO_TIMING))?;
        }
        Ok(all)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: each was created at most once, and nobody uses it any more.
        unsafe {
            if !self.event.is_null() {
                (self.calls.hipEventDestroy)(self.event);
            }
            if !self.stream.is_null() {
                (self.calls.hipStreamDestroy)(self.stream);
            }
        }
    }
}

/// Page-locked words.
pub(super) struct HipPinned(&'static Hip, *mut u32, usize);

// SAFETY: it is memory like any other, and has one owner.
unsafe impl Send for HipPinned {}

impl Drop for HipPinned {
    fn drop(&mut self) {
        // SAFETY: it was allocated once, and no copy is under way.
        unsafe { (self.0.hipHostFree)(self.1.cast()) };
    }
}

/// Whether an operation is done, by the code of the call that asked.
fn has_happened(calls: &Hip, code: c_int) -> Result<bool, DeviceError> {
    if code == NOT_READY { Ok(false) } else { calls.done(code).map(|()| true) }
}

impl Driver for Amd {
    type Code = HipModule;
    type Kernel = HipFunction;
    type Stream = Stream;
    type Pinned = HipPinned;

    fn bind(&self) -> Result<(), DeviceError> {
        // SAFETY: there is such a GPU.
        self.calls.done(unsafe { (self.calls.hipSetDevice)(self.device) })
    }

    fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }

    fn has_independent_warps(&self) -> bool {
        self.lanes == LANES[0]
    }

    fn free_bytes(&self) -> u64 {
        let (mut free, mut all) = (0, 0);
        // SAFETY: writes to valid integers.
        let code = unsafe { (self.calls.hipMemGetInfo)(&mut free, &mut all) };
        if code == 0 { free as u64 } else { 0 }
    }

    fn allocate(&self, bytes: usize) -> Option<u64> {
        let mut address = null_mut();
        // SAFETY: writes to a valid address.
        let code = unsafe { (self.calls.hipMalloc)(&mut address, bytes) };
        (code == 0).then_some(address as u64)
    }

    // SAFETY: the trait says what callers guarantee.
    unsafe fn free(&self, address: u64) -> Result<(), DeviceError> {
        // SAFETY: as the caller guarantees.
        self.calls.done(unsafe { (self.calls.hipFree)(address as Handle) })
    }

    // SAFETY: the trait says what callers guarantee.
    unsafe fn write(&self, to: u64, words: &[u32]) -> Result<(), DeviceError> {
        let copy = self.calls.hipMemcpyHtoD;
        // SAFETY: as the caller guarantees.
        self.calls.done(unsafe { copy(to as Handle, words.as_ptr().cast(), size_of_val(words)) })
    }

    // SAFETY: the trait says what callers guarantee.
    unsafe fn read(&self, from: u64, words: &mut [u32]) -> Result<(), DeviceError> {
        let (copy, bytes) = (self.calls.hipMemcpyDtoH, size_of_val(words));
        // SAFETY: as the caller guarantees.
        self.calls.done(unsafe { copy(words.as_mut_ptr().cast(), from as Handle, bytes) })
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        // SAFETY: has no preconditions.
        self.calls.done(unsafe { (self.calls.hipDeviceSynchronize)() })
    }

    fn is_idle(&self) -> Result<bool, DeviceError> {
        // SAFETY: the stream exists.
        let code = unsafe { (self.calls.hipStreamQuery)(self.main.stream) };
        has_happened(self.calls, code)
    }

    fn load(
        &self,
        layout: &Layout,
        handling: Handling,
    ) -> Result<(HipModule, BuiltKernel), DeviceError> {
        let fault = |why: String| DeviceError::Kernel(layout.kernel.into(), why);
        if handling.form == Some(Form::Committed) {
            return Err(fault("only compiled kernels run on AMD GPUs".into()));
        }
        let source = source(layout.kernel).unwrap_or_default();
        let sizes = layout.sizes.iter().enumerate();
        let mut options: Vec<String> =
            sizes.map(|(i, size)| format!("-DSIZE_{i}={size}u")).collect();
        options.extend(["-std=c++17".into(), format!("-DWAVE_LANES={}", self.lanes)]);
        if handling.lines {
            options.push("-gline-tables-only".into());
        }
        let module = |code: &[u8]| {
            let mut module = null_mut();
            // SAFETY: the code is complete: an object file that states its own length.
            let code = unsafe { (self.calls.hipModuleLoadData)(&mut module, code.as_ptr().cast()) };
            self.calls.done(code).map(|()| HipModule(self.calls, module))
        };
        let version = compile::version().map_err(fault)?;
        let from = [&options[..], &[format!("{} {version:?}", self.kind)]].concat();
        let file = CodeFile::of(layout.kernel, &source, &from);
        let mut log = String::new();
        if handling.allows(Form::Cached)
            && let Some(code) = file.read()
        {
            match module(&code) {
                Ok(module) => return Ok((module, BuiltKernel { form: Form::Cached, log })),
                Err(why) => log = format!("{}: {why}; ", Form::Cached),
            }
        }
        let compiled = compile(&source, &options).and_then(|code| {
            let module = module(&code).map_err(|why| why.to_string())?;
            file.keep(&code);
            Ok(module)
        });
        match compiled {
            Ok(module) => Ok((module, BuiltKernel { form: Form::Compiled, log })),
            Err(why) => Err(fault(format!("{log}{}: {why}", Form::Compiled))),
        }
    }

    fn kernel(&self, code: &HipModule, name: &str) -> Result<HipFunction, DeviceError> {
        let name = CString::new(name).unwrap_or_default();
        let mut function = null_mut();
        let find = self.calls.hipModuleGetFunction;
        // SAFETY: the module is loaded.
        self.calls.done(unsafe { find(&mut function, code.1, name.as_ptr()) })?;
        Ok(HipFunction(function))
    }

    fn blocks(&self, HipFunction(function): HipFunction) -> Result<u32, DeviceError> {
        let mut blocks = 0;
        let most = self.calls.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor;
        // SAFETY: the function's module is loaded, and the integer is valid.
        self.calls.done(unsafe { most(&mut blocks, function, THREADS as c_int, 0) })?;
        Ok(blocks.max(0) as u32)
    }

    // SAFETY: the trait says what callers guarantee.
    unsafe fn launch(
        &self,
        HipFunction(function): HipFunction,
        stream: Option<&Stream>,
        blocks: u32,
        record: *const c_void,
    ) -> Result<(), DeviceError> {
        let stream = stream.unwrap_or(&self.main).stream;
        let mut parameters = [record.cast_mut()];
        let (launch, all) = (self.calls.hipModuleLaunchKernel, parameters.as_mut_ptr());
        // SAFETY: as the caller guarantees; the record is copied during the call.
        self.calls.done(unsafe {
            launch(function, blocks, 1, 1, THREADS, 1, 1, 0, stream, all, null_mut())
        })
    }

    fn stream(&self) -> Result<Stream, DeviceError> {
        Stream::new(self.calls, NON_BLOCKING)
    }

    fn pin(&self, words: usize, _sends: bool) -> Result<HipPinned, DeviceError> {
        let (mut memory, bytes) = (null_mut(), 4 * words);
        // SAFETY: writes to a valid address.
        self.calls.done(unsafe { (self.calls.hipHostMalloc)(&mut memory, bytes, 0) })?;
        // SAFETY: there is room for as many words.
        unsafe { memory.cast::<u8>().write_bytes(0, bytes) };
        Ok(HipPinned(self.calls, memory.cast(), words))
    }

    fn words<'m>(&self, memory: &'m mut HipPinned) -> &'m mut [u32] {
        // SAFETY: it has as many words, all of them written, and one owner.
        unsafe { std::slice::from_raw_parts_mut(memory.1, memory.2) }
    }

    fn as_words<'m>(&self, memory: &'m HipPinned) -> &'m [u32] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(memory.1, memory.2) }
    }

    // SAFETY: the trait says what callers guarantee.
    unsafe fn send(
        &self,
        stream: Option<&Stream>,
        to: u64,
        words: &[u32],
    ) -> Result<(), DeviceError> {
        let stream = stream.unwrap_or(&self.main);
        let (copy, bytes) = (self.calls.hipMemcpyHtoDAsync, size_of_val(words));
        // SAFETY: as the caller guarantees.
        self.calls.done(unsafe { copy(to as Handle, words.as_ptr().cast(), bytes, stream.stream) })
    }

    // SAFETY: the trait says what callers guarantee.
    unsafe fn fetch(
        &self,
        stream: Option<&Stream>,
        words: &mut [u32],
        from: u64,
    ) -> Result<(), DeviceError> {
        let stream = stream.unwrap_or(&self.main);
        let (copy, bytes) = (self.calls.hipMemcpyDtoHAsync, size_of_val(words));
        let to = words.as_mut_ptr().cast();
        // SAFETY: as the caller guarantees.
        self.calls.done(unsafe { copy(to, from as Handle, bytes, stream.stream) })
    }

    fn mark(&self, stream: &Stream) -> Result<(), DeviceError> {
        // SAFETY: both exist.
        self.calls.done(unsafe { (self.calls.hipEventRecord)(stream.event, stream.stream) })
    }

    fn is_past(&self, stream: &Stream) -> Result<bool, DeviceError> {
        // SAFETY: the event exists.
        let code = unsafe { (self.calls.hipEventQuery)(stream.event) };
        has_happened(self.calls, code)
    }

    fn abandon(&mut self) {
        // Destroying a stream would wait for it.
        (self.main.stream, self.main.event) = (null_mut(), null_mut());
    }
}
