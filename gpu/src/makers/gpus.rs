//! Finds this machine's GPUs of all makers: NVIDIA's first, then AMD's.

use super::any_gpu::Gpu;
use super::cuda::Cuda;
use super::hip::Amd;
use super::{cuda, hip};
use crate::DeviceError;
use crate::device::Device;
use pleach_runtime::sync::{AtomicBool, Mutex, Ordering, lock};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A GPU of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetectedGpu {
    /// Its maker: `NVIDIA` or `AMD`.
    pub maker: &'static str,
    /// Its name.
    pub name: String,
    /// Its memory in bytes.
    pub memory: u64,
}

/// A GPU by its number among those of its maker.
enum GpuPlace {
    Nvidia(u32),
    Amd(u32),
}

/// How many GPUs each maker has, and why the other has none.
fn counts() -> Result<(u32, u32, Option<DeviceError>), DeviceError> {
    match (cuda::count(), hip::is_here().then(hip::count)) {
        (Err(why), None) => Err(why),
        (Err(why), Some(Err(other))) => Err(DeviceError::Failed(format!("{why}; {other}"))),
        (Err(why), Some(Ok(amd))) => Ok((0, amd, Some(why))),
        (Ok(nvidia), Some(Err(why))) => Ok((nvidia, 0, Some(why))),
        (Ok(nvidia), amd) => Ok((nvidia, amd.and_then(Result::ok).unwrap_or(0), None)),
    }
}

fn place(number: u32) -> Result<GpuPlace, DeviceError> {
    let (nvidia, amd, other) = counts()?;
    match number.checked_sub(nvidia) {
        None => Ok(GpuPlace::Nvidia(number)),
        Some(number) if number < amd => Ok(GpuPlace::Amd(number)),
        Some(_) => {
            let n = nvidia + amd;
            let other = other.map_or(String::new(), |why| format!("; {why}"));
            Err(DeviceError::Failed(format!("no such GPU, expected a number below {n}{other}")))
        }
    }
}

/// The number of GPUs of this machine.
///
/// # Errors
/// Why none can be used.
pub fn count() -> Result<u32, DeviceError> {
    counts().map(|(nvidia, amd, _)| nvidia + amd)
}

/// The GPUs of this machine, in the order of their numbers.
///
/// # Errors
/// Why there are none.
pub fn gpus() -> Result<Vec<DetectedGpu>, DeviceError> {
    let seen = |number| {
        let (maker, (name, memory)) = match place(number)? {
            GpuPlace::Nvidia(number) => ("NVIDIA", cuda::describe(number)?),
            GpuPlace::Amd(number) => ("AMD", hip::describe(number)?),
        };
        Ok(DetectedGpu { maker, name, memory })
    };
    (0..count()?).map(seen).collect()
}

/// Whether a kernel hangs on the GPU with this number: opening it again in this process would wait for it.
fn hung(number: u32) -> Arc<AtomicBool> {
    static HUNG: Mutex<BTreeMap<u32, Arc<AtomicBool>>> = Mutex::new(BTreeMap::new());
    Arc::clone(lock(&HUNG).entry(number).or_default())
}

/// Checks whether there is a GPU with this number on which the kernels can run.
///
/// # Errors
/// Why there is none.
pub(crate) fn check(number: u32) -> Result<(), DeviceError> {
    let place = place(number)?;
    if hung(number).load(Ordering::Relaxed) {
        let why = "one of its kernels hangs; only a new process can use it";
        return Err(DeviceError::Failed(why.into()));
    }
    match place {
        GpuPlace::Nvidia(_) => Ok(()),
        GpuPlace::Amd(number) => hip::check(number),
    }
}

/// Opens a GPU.
///
/// # Errors
/// Why it cannot be used.
pub(crate) fn open(number: u32) -> Result<Device, DeviceError> {
    let hung = hung(number);
    Ok(match place(number)? {
        GpuPlace::Nvidia(number) => Device::new(Gpu::new(Cuda::open(number)?, hung)),
        GpuPlace::Amd(number) => Device::new(Gpu::new(Amd::open(number)?, hung)),
    })
}
