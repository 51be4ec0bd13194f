//! [`Hip`] and [`Compiler`]: the functions of AMD's libraries, opened at run time.

use crate::DeviceError;
use crate::form::in_one_line;
use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};
use std::env::var_os;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Names the only folder to look for the libraries in, if it is set.
const FOLDER: &str = "PLEACH_HIP";
/// The kernel driver's interface for HIP. Loading the library is slow, and useless without this driver.
const KERNEL_DRIVER: &str = "/dev/kfd";
/// Suffixes of the libraries' names, by version, newest first.
const VERSIONS: [&str; 4] = ["", ".7", ".6", ".5"];

/// Declares functions and loads all of them from a library.
macro_rules! functions {
    ($(#[$about:meta])* $name:ident { $($call:ident($($argument:ty),*);)* }) => {
        $(#[$about])*
        #[expect(non_snake_case, reason = "the functions have these names in the libraries")]
        pub(super) struct $name {
            /// Describes an error.
            // SAFETY: the caller obeys the rules of HIP for it.
            error: unsafe extern "C" fn(c_int) -> *const c_char,
            $(pub $call: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl $name {
            /// Finds the functions in a library that stays loaded; fails if any is missing.
            fn find(library: &'static Library, error: &str) -> Result<Self, String> {
                let missing = |why: libloading::Error| why.to_string();
                // SAFETY: the functions have these types in HIP's headers, and the library stays loaded.
                unsafe {
                    Ok(Self {
                        error: *library.get(error).map_err(missing)?,
                        $($call: *library.get(stringify!($call)).map_err(missing)?,)*
                    })
                }
            }

            /// The description of an error.
            pub fn said(&self, code: c_int) -> String {
                // SAFETY: the function takes any number, and returns a static text or null.
                let text = unsafe {
                    let text = (self.error)(code);
                    if text.is_null() { c"unknown" } else { CStr::from_ptr(text) }
                };
                in_one_line(&format!("HIP error {code}, {}", text.to_string_lossy()))
            }
        }
    };
}

/// A handle of HIP's.
pub(super) type Handle = *mut c_void;

functions! {
    /// HIP's run-time library.
    Hip {
        hipGetDeviceCount(*mut c_int);
        hipRuntimeGetVersion(*mut c_int);
        hipSetDevice(c_int);
        hipDeviceGetName(*mut c_char, c_int, c_int);
        hipDeviceTotalMem(*mut usize, c_int);
        hipDeviceGetAttribute(*mut c_int, c_int, c_int);
        hipDeviceSynchronize();
        hipMemGetInfo(*mut usize, *mut usize);
        hipMalloc(*mut Handle, usize);
        hipFree(Handle);
        hipHostMalloc(*mut Handle, usize, c_uint);
        hipHostFree(Handle);
        hipMemcpyHtoD(Handle, *const c_void, usize);
        hipMemcpyDtoH(*mut c_void, Handle, usize);
        hipMemcpyHtoDAsync(Handle, *const c_void, usize, Handle);
        hipMemcpyDtoHAsync(*mut c_void, Handle, usize, Handle);
        hipModuleLoadData(*mut Handle, *const c_void);
        hipModuleUnload(Handle);
        hipModuleGetFunction(*mut Handle, Handle, *const c_char);
        hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, Handle, c_int, usize);
        hipModuleLaunchKernel(
            Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut Handle, *mut Handle
        );
        hipStreamCreateWithFlags(*mut Handle, c_uint);
        hipStreamDestroy(Handle);
        hipStreamQuery(Handle);
        hipEventCreateWithFlags(*mut Handle, c_uint);
        hipEventDestroy(Handle);
        hipEventRecord(Handle, Handle);
        hipEventQuery(Handle);
    }
}

functions! {
    /// HIP's run-time compiler.
    Compiler {
        hiprtcVersion(*mut c_int, *mut c_int);
        hiprtcCreateProgram(
            *mut Handle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
        );
        hiprtcCompileProgram(Handle, c_int, *const *const c_char);
        hiprtcDestroyProgram(*mut Handle);
        hiprtcGetProgramLogSize(Handle, *mut usize);
        hiprtcGetProgramLog(Handle, *mut c_char);
        hiprtcGetCodeSize(Handle, *mut usize);
        hiprtcGetCode(Handle, *mut c_char);
    }
}

impl Hip {
    /// Turns an error code into a result.
    pub fn done(&self, code: c_int) -> Result<(), DeviceError> {
        if code == 0 { Ok(()) } else { Err(DeviceError::Failed(self.said(code))) }
    }
}

/// Whether HIP may find GPUs.
pub(super) fn is_here() -> bool {
    var_os(FOLDER).is_some() || Path::new(KERNEL_DRIVER).exists()
}

/// HIP, if this machine has it.
///
/// # Errors
/// Why it cannot be used.
pub(super) fn hip() -> Result<&'static Hip, DeviceError> {
    static FOUND: OnceLock<Result<Hip, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let library = open("libamdhip64.so").ok_or("HIP's libamdhip64.so is not installed")?;
        Hip::find(library, "hipGetErrorString")
    });
    found.as_ref().map_err(|why| DeviceError::Failed(why.clone()))
}

/// HIP's compiler, if this machine has it. Older versions have it in HIP's main library.
///
/// # Errors
/// Why it cannot be used.
pub(super) fn compiler() -> Result<&'static Compiler, String> {
    static FOUND: OnceLock<Result<Compiler, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let find = |name| Compiler::find(open(name)?, "hiprtcGetErrorString").ok();
        let found = find("libhiprtc.so").or_else(|| find("libamdhip64.so"));
        found.ok_or_else(|| format!("hiprtc not found; set {FOLDER} to the folder of HIP"))
    });
    found.as_ref().map_err(String::clone)
}

/// Opens a library, wherever it is; it stays loaded until the process ends.
fn open(name: &str) -> Option<&'static Library> {
    let folders = match var_os(FOLDER) {
        Some(only) => vec![PathBuf::from(only)],
        // Without a folder, search the loader's path.
        None => ["", "/opt/rocm/lib"].map(PathBuf::from).to_vec(),
    };
    let files = folders.iter().flat_map(|folder| {
        VERSIONS.iter().map(move |version| folder.join(format!("{name}{version}")))
    });
    let opened = files.into_iter().find_map(|file| {
        // SAFETY: these are HIP's own libraries, whose initialisation has no preconditions.
        unsafe { Library::open(Some(file), RTLD_LAZY | RTLD_LOCAL) }.ok()
    });
    opened.map(|library| &*Box::leak(Box::new(library)))
}
