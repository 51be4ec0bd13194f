//! [`with_kernel`]: which kernel bounds the nodes of a flowshop.

use super::kernel::{Kernel, Plain};
use super::tree::Flowshop;
use crate::simd::Level;
#[cfg(target_arch = "x86_64")]
use crate::simd::{flowshop_avx2, flowshop_avx512};

/// A task generic over the kernel.
pub trait WithKernel {
    /// The result of the task.
    type Result;

    /// Runs the task.
    fn run<K: Kernel + 'static>(self, kernel: K) -> Self::Result;
}

/// Runs a task with the kernel for a flowshop's code path and word width.
pub fn with_kernel<T: WithKernel>(flowshop: &Flowshop, task: T) -> T::Result {
    // The greatest word means no limit, so no sum may reach it.
    #[cfg(target_arch = "x86_64")]
    let narrow = flowshop.instance.longest_path() < u64::from(u16::MAX);
    match flowshop.level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if narrow => or_plain(flowshop_avx512::Words16::new(), task),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => or_plain(flowshop_avx512::Words32::new(), task),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if narrow => or_plain(flowshop_avx2::Words16::new(), task),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => or_plain(flowshop_avx2::Words32::new(), task),
        _ => task.run(Plain),
    }
}

#[cfg(target_arch = "x86_64")]
fn or_plain<T: WithKernel>(kernel: Option<impl Kernel + 'static>, task: T) -> T::Result {
    match kernel {
        Some(kernel) => task.run(kernel),
        None => task.run(Plain),
    }
}
