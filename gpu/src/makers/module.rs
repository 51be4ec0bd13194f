//! [`CudaModule`]: a kernel's code on a GPU; a failed load returns the driver's log.

use crate::DeviceError;
use crate::form::in_one_line;
use cudarc::driver::{CudaContext, DriverError, result, sys};
use pleach_kernels::launch::THREADS;
use std::ffi::{CString, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

/// Converts an error of the driver.
pub(super) fn failed(why: DriverError) -> DeviceError {
    if why.0 == sys::CUresult::CUDA_ERROR_STUB_LIBRARY {
        let why = "the library path has a stub in place of the CUDA driver; remove the folder 'stubs' from it";
        return DeviceError::Failed(why.into());
    }
    DeviceError::Failed(why.to_string())
}

/// Bytes for each of the driver's logs.
const LOG: usize = 8192;

/// A kernel's code on a GPU.
pub(super) struct CudaModule {
    module: sys::CUmodule,
    context: Arc<CudaContext>,
}

// SAFETY: a module is not tied to a thread; every call binds its context first.
unsafe impl Send for CudaModule {}

/// An entry point of a module, valid only while that is loaded.
#[derive(Clone, Copy)]
pub(super) struct CudaFunction(sys::CUfunction);

// SAFETY: as for its module.
unsafe impl Send for CudaFunction {}

impl CudaModule {
    /// Loads machine code or PTX. With `lines`, code that the driver compiles has line information.
    ///
    /// # Errors
    /// The driver's error with its logs, in one line.
    pub fn load(
        context: &Arc<CudaContext>,
        mut code: Vec<u8>,
        lines: bool,
    ) -> Result<Self, String> {
        // The text ends with a zero byte.
        code.push(0);
        context.bind_to_thread().map_err(|why| why.to_string())?;
        let (mut errors, mut notes) = (vec![0_u8; LOG], vec![0_u8; LOG]);
        use sys::CUjit_option as Jit;
        let mut options = [
            Jit::CU_JIT_ERROR_LOG_BUFFER,
            Jit::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            Jit::CU_JIT_INFO_LOG_BUFFER,
            Jit::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            Jit::CU_JIT_GENERATE_LINE_INFO,
        ];
        // The driver takes numbers in place of addresses.
        let number = |n: usize| n as *mut c_void;
        let mut values: [*mut c_void; 5] = [
            errors.as_mut_ptr().cast(),
            number(LOG - 1),
            notes.as_mut_ptr().cast(),
            number(LOG - 1),
            number(lines.into()),
        ];
        let mut module = null_mut();
        // SAFETY: the code is complete and ends with a zero byte, and the buffers have the sizes stated.
        let loaded = unsafe {
            sys::cuModuleLoadDataEx(
                &mut module,
                code.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        match loaded.result() {
            Ok(()) => Ok(Self { module, context: Arc::clone(context) }),
            Err(why) => Err(in_one_line(&format!("{why}\n{}\n{}", said(&errors), said(&notes)))),
        }
    }

    /// One of its entry points.
    pub fn function(&self, name: &str) -> Result<CudaFunction, DriverError> {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the module is loaded.
        unsafe { result::module::get_function(self.module, name) }.map(CudaFunction)
    }
}

impl Drop for CudaModule {
    fn drop(&mut self) {
        // The context of a lost device has already taken the module with it.
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: the module was loaded once, and nobody uses its functions any more.
            let _ = unsafe { result::module::unload(self.module) };
        }
    }
}

/// What the driver wrote to a buffer.
fn said(log: &[u8]) -> String {
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
    String::from_utf8_lossy(&log[..end]).into_owned()
}

impl CudaFunction {
    /// How many of its thread blocks a multiprocessor can hold at once.
    pub fn blocks(self) -> Result<u32, DriverError> {
        let most = result::occupancy::max_active_block_per_multiprocessor_with_flags;
        // SAFETY: the function's module is loaded.
        let blocks = unsafe { most(self.0, THREADS as i32, 0, 0) }?;
        Ok(blocks.max(0) as u32)
    }

    /// Requests as much shared memory as these blocks use, so that the rest remains a cache.
    pub fn carve_out(self, context: &CudaContext, blocks: u32) -> Result<(), DriverError> {
        use sys::CUdevice_attribute as Attribute;
        use sys::CUfunction_attribute as Property;
        let all = context
            .attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?;
        let reserved =
            context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK)?;
        let mut used = 0;
        let size = Property::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
        // SAFETY: the function's module is loaded, and the integer is valid.
        unsafe { sys::cuFuncGetAttribute(&mut used, size, self.0) }.result()?;
        let percent = percent(used, reserved, blocks, all);
        let wish = Property::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
        // SAFETY: the function's module is loaded.
        unsafe { result::function::set_function_attribute(self.0, wish, percent) }
    }

    /// Launches this many blocks on a stream.
    ///
    /// # Safety
    /// `record` points to what the kernel takes, and its arrays have the sizes that the record states.
    pub unsafe fn launch(
        self,
        stream: sys::CUstream,
        blocks: u32,
        record: *const c_void,
    ) -> Result<(), DriverError> {
        let (grid, block) = ((blocks, 1, 1), (THREADS, 1, 1));
        let mut parameters = [record.cast_mut()];
        // SAFETY: the driver copies the record, the only parameter of every kernel, during the call.
        unsafe { result::launch_kernel(self.0, grid, block, 0, stream, &mut parameters) }
    }
}

/// The percentage of a multiprocessor's shared memory that these blocks use, rounded up.
fn percent(used: i32, reserved: i32, blocks: u32, all: i32) -> i32 {
    if used <= 0 || all <= 0 {
        return 0;
    }
    let each = used.unsigned_abs() + reserved.max(0).unsigned_abs();
    let together = u64::from(blocks) * u64::from(each);
    (100 * together).div_ceil(u64::from(all.unsigned_abs())).min(100) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_carve_out_is_what_all_blocks_use() {
        // Queens, flowshop of 20 jobs and UTS on a multiprocessor of an H200.
        assert_eq!(percent(26_624, 1024, 8, 233_472), 95);
        assert_eq!(percent(8_448, 1024, 10, 233_472), 41);
        assert_eq!(percent(0, 1024, 10, 233_472), 0);
        assert_eq!(percent(39_168, 1024, 9, 233_472), 100);
    }
}
