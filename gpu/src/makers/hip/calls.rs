//! [`Hip`] and [`Compiler`]: the functions of AMD's libraries, opened at run time.

use crate::DeviceError;
use crate::form::in_one_line;
use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};
use std::env::var_os;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The only folder to look for the libraries in, if it is set.
const FOLDER: &str = "PLEACH_HIP";
/// What the driver in the kernel offers to HIP. Loading the library takes long, and is in vain without it.
const KERNEL_DRIVER: &str = "/dev/kfd";
/// Versions of the libraries, as their names end, the newest first.
const VERSIONS: [&str; 4] = ["", ".7", ".6", ".5"];

/// Declares functions, and finds all of them in a library.
macro_rules! functions {
    ($(#[$about:meta])* $name:ident { $($call:ident($($argument:ty),*);)* }) => {
        $(#[$about])*
        #[expect(non_snake_case, reason = "the functions have these names in the libraries")]
        pub(super) struct $name {
            /// Says what an error is.
            // SAFETY: the caller obeys the rules of HIP for it.
            error: unsafe extern "C" fn(c_int) -> *const c_char,
            $(pub $call: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl $name {
            /// The functions of a library that stays, where it has all of them.
            fn find(library: &'static Library, error: &str) -> Result<Self, String> {
                let missing = |why: libloading::Error| why.to_string();
                // SAFETY: the functions have these types in HIP's headers, and the library stays.
                unsafe {
                    Ok(Self {
                        error: *library.get(error).map_err(missing)?,
                        $($call: *library.get(stringify!($call)).map_err(missing)?,)*
                    })
                }
            }

            /// What an error is, in words.
            pub fn said(&self, code: c_int) -> String {
                // SAFETY: the function takes any number, and returns a text that stays, or null.
                let text = unsafe {
                    let text = (self.error)(code);
                    if text.is_null() { c"unknown" } else { CStr::from_ptr(text) }
                };
                in_one_line(&format!("HIP error {code}, {}", text.to_string_lossy()))
            }
        }
    };
}

/// Something of HIP's.
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
    /// Sees whether a call succeeded.
    pub fn done(&self, code: c_int) -> Result<(), DeviceError> {
        if code == 0 { Ok(()) } else { Err(DeviceError::Failed(self.said(code))) }
    }
}

/// Whether there may be GPUs that HIP sees.
pub(super) fn is_here() -> bool {
    var_os(FOLDER).is_some() || Path::new(KERNEL_DRIVER).exists()
}

/// HIP, if this machine has it.
///
/// # Errors
/// Why it has not.
pub(super) fn hip() -> Result<&'static Hip, DeviceError> {
    static FOUND: OnceLock<Result<Hip, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let library = open("libamdhip64.so").ok_or("HIP's libamdhip64.so is not installed")?;
        Hip::find(library, "hipGetErrorString")
    });
    found.as_ref().map_err(|why| DeviceError::Failed(why.clone()))
}

/// HIP's compiler, if this machine has it. Older versions have it in the library of HIP itself.
///
/// # Errors
/// Why it has not.
pub(super) fn compiler() -> Result<&'static Compiler, String> {
    static FOUND: OnceLock<Result<Compiler, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let find = |name| Compiler::find(open(name)?, "hiprtcGetErrorString").ok();
        let found = find("libhiprtc.so").or_else(|| find("libamdhip64.so"));
        found.ok_or_else(|| format!("hiprtc not found; {FOLDER} may name the folder of HIP"))
    });
    found.as_ref().map_err(String::clone)
}

/// A library that stays loaded until the process ends, wherever it is.
fn open(name: &str) -> Option<&'static Library> {
    let folders = match var_os(FOLDER) {
        Some(only) => vec![PathBuf::from(only)],
        // Without a folder, the loader looks on its own path.
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
