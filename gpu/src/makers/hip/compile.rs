//! [`compile`]: compiles source with HIP's run-time compiler to machine code for the current GPU.

use super::calls::{Compiler, Handle, compiler};
use crate::form::in_one_line;
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::{null, null_mut};

/// A program of the compiler's, freed when dropped.
struct HipProgram(&'static Compiler, Handle);

impl Drop for HipProgram {
    fn drop(&mut self) {
        // SAFETY: the program was made once, and nobody uses it any more.
        unsafe { (self.0.hiprtcDestroyProgram)(&mut self.1) };
    }
}

/// The version of the compiler.
///
/// # Errors
/// If there is none.
pub(super) fn version() -> Result<(c_int, c_int), String> {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: writes to valid integers.
    unsafe { (compiler()?.hiprtcVersion)(&mut major, &mut minor) };
    Ok((major, minor))
}

/// Compiles a source with these options for the GPU of the calling thread.
///
/// # Errors
/// The compiler's message, in one line.
pub(super) fn compile(source: &str, options: &[String]) -> Result<Vec<u8>, String> {
    let calls = compiler()?;
    let text = |text: &str| CString::new(text).map_err(|_| "a text with a zero byte".to_string());
    let source = text(source)?;
    let options = options.iter().map(|option| text(option)).collect::<Result<Vec<_>, _>>()?;
    let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    let mut program = null_mut();
    // SAFETY: the source ends with a zero byte, and there are no headers.
    let made = unsafe {
        (calls.hiprtcCreateProgram)(
            &mut program,
            source.as_ptr(),
            c"kernel.hip".as_ptr(),
            0,
            null(),
            null(),
        )
    };
    done(calls, made)?;
    let program = HipProgram(calls, program);
    let count = options.len() as c_int;
    // SAFETY: the program, its source and the options are alive.
    let compiled = unsafe { (calls.hiprtcCompileProgram)(program.1, count, options.as_ptr()) };
    done(calls, compiled).map_err(|why| in_one_line(&format!("{why}\n{}", log_of(&program))))?;
    let mut bytes = 0;
    // SAFETY: the program has been compiled, and the number is valid.
    done(calls, unsafe { (calls.hiprtcGetCodeSize)(program.1, &mut bytes) })?;
    let mut code = vec![0_u8; bytes];
    // SAFETY: as above; there is room for as many bytes as the compiler reported.
    done(calls, unsafe { (calls.hiprtcGetCode)(program.1, code.as_mut_ptr().cast()) })?;
    Ok(code)
}

fn done(calls: &Compiler, code: c_int) -> Result<(), String> {
    if code == 0 { Ok(()) } else { Err(calls.said(code)) }
}

/// The compiler's log.
fn log_of(program: &HipProgram) -> String {
    let HipProgram(calls, program) = program;
    let mut bytes = 0;
    // SAFETY: the program is alive, and the number is valid.
    unsafe { (calls.hiprtcGetProgramLogSize)(*program, &mut bytes) };
    let mut log = vec![0_u8; bytes + 1];
    // SAFETY: as above; there is room for as many bytes as the compiler reported.
    unsafe { (calls.hiprtcGetProgramLog)(*program, log.as_mut_ptr().cast()) };
    CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses the compiler itself if it is installed: given a GPU's name, it needs no GPU.
    #[test]
    fn kernels_are_compiled_and_errors_have_a_log() {
        if version().is_err() {
            return;
        }
        let options = ["-DSIZE_0=12u", "-DSIZE_1=2u", "-std=c++17", "--offload-arch=gfx1030"];
        let options = options.map(String::from);
        let source = pleach_kernels::source("queens").unwrap();
        assert!(compile(&source, &options).unwrap().len() > 1000);
        let why = compile("extern \"C\" __global__ void explore() { nonsense; }", &options);
        let why = why.unwrap_err();
        assert!(why.contains("HIP error 6") && why.contains("nonsense"), "{why}");
    }
}
