//! [`compile`]: compiles CUDA source with NVRTC to machine code, and to PTX that drivers can compile.

use super::nvrtc;
use crate::form::in_one_line;
use cudarc::nvrtc::result;
use cudarc::nvrtc::sys;
use std::ffi::{CStr, CString};

/// A compiled kernel.
pub(super) struct CompiledKernel {
    /// Machine code for one kind of GPU.
    pub machine: Vec<u8>,
    /// PTX, which a driver turns into machine code.
    pub text: String,
}

/// A program of NVRTC's, freed when dropped.
struct Program(sys::nvrtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program was made once, and nobody uses it any more.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

/// Compiles a source; the options name the kind of GPU.
///
/// # Errors
/// The compiler's message, in one line.
pub(super) fn compile(source: &str, options: &[String]) -> Result<CompiledKernel, String> {
    if !nvrtc::find() {
        return Err("NVRTC not found; set PLEACH_NVRTC to its folder".into());
    }
    let source = CString::new(source).map_err(|_| "the source has a zero byte".to_string())?;
    let failed = |why: result::NvrtcError| why.to_string();
    let program = Program(result::create_program(&source, None).map_err(failed)?);
    // SAFETY: the program is alive, and so is its source.
    let compiled = unsafe { result::compile_program(program.0, options) };
    compiled.map_err(|why| in_one_line(&format!("{why}\n{}", log_of(&program))))?;
    // SAFETY: the program has been compiled.
    let text = unsafe { result::get_ptx(program.0) }.map_err(failed)?;
    let text = text.into_iter().map(|byte| byte as u8).take_while(|&byte| byte != 0).collect();
    let text = String::from_utf8(text).map_err(|why| why.to_string())?;
    Ok(CompiledKernel { machine: machine_code(&program).map_err(failed)?, text })
}

fn machine_code(program: &Program) -> Result<Vec<u8>, result::NvrtcError> {
    let mut bytes = 0;
    // SAFETY: the program has been compiled, and the number is valid.
    unsafe { sys::nvrtcGetCUBINSize(program.0, &mut bytes) }.result()?;
    let mut code = vec![0_u8; bytes];
    // SAFETY: as above; there is room for as many bytes as the compiler reported.
    unsafe { sys::nvrtcGetCUBIN(program.0, code.as_mut_ptr().cast()) }.result()?;
    Ok(code)
}

/// The compiler's log.
fn log_of(program: &Program) -> String {
    // SAFETY: the program is alive.
    let log = unsafe { result::get_program_log(program.0) }.unwrap_or_default();
    let log: Vec<u8> = log.into_iter().map(|byte| byte as u8).chain([0]).collect();
    CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy().into_owned()
}
