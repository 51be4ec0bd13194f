//! [`Memory`]: what each kind of device provides: memory that kernels can reach, and launches.

use super::DeviceError;
use super::form::{BuiltKernel, Handling};
use super::slots::Slots;
use pleach_core::search::device::Layout;
use pleach_kernels::launch::{KernelEntry, Launch, LaunchReport};

/// Memory that kernels can reach, and launches. It is not used again after an error.
pub(super) trait Memory: Slots {
    /// The number of free bytes.
    fn bytes(&self) -> u64;

    /// Frees all arrays.
    fn clear(&mut self) -> Result<(), DeviceError>;

    /// Sets how the next kernels are built and how long they may run, if there is a choice.
    fn configure(&mut self, _handling: Handling) {}

    /// The form of the kernels, if there are several.
    fn built(&self) -> Option<BuiltKernel> {
        None
    }

    /// Whether a problem's kernels are already built.
    fn has_kernel(&self, _layout: &Layout, _handling: Handling) -> bool {
        true
    }

    /// Builds a problem's kernels. Returns how many explorers can run at once: without giving, and while they give
    /// nodes to one another.
    fn build_kernels(&mut self, layout: &Layout) -> Result<(u32, u32), DeviceError>;

    /// Allocates an array of words with arbitrary content. Returns its address.
    fn allocate(&mut self, words: usize) -> Result<u64, DeviceError>;

    /// Copies words to an address.
    fn write(&mut self, to: u64, words: &[u32]) -> Result<(), DeviceError>;

    /// Copies words from an address, after all launched kernels have ended.
    fn read(&mut self, from: u64, words: &mut [u32]) -> Result<(), DeviceError>;

    /// Waits for all launched kernels.
    fn wait(&mut self) -> Result<(), DeviceError>;

    /// Launches a kernel that runs after those launched before.
    fn launch(&mut self, entry: KernelEntry, launch: &Launch) -> Result<(), DeviceError>;

    /// Launches a kernel whose report begins with these words, waits for it, and reads its report.
    fn run(
        &mut self,
        entry: KernelEntry,
        launch: &Launch,
        report: &mut [u32; LaunchReport::WORDS],
    ) -> Result<(), DeviceError> {
        self.write(launch.report, report)?;
        self.launch(entry, launch)?;
        self.read(launch.report, report)
    }

    /// Makes room for words in a buffer on the host, of which there are two: one for the incoming backup of what the
    /// device holds, one for the backup before it. Its contents are garbage then. Returns whether there is room and it
    /// pays to copy this many words while kernels run. If `awaited`, a thief is waiting for some of them.
    fn make_room(&mut self, buffer: usize, words: usize, awaited: bool) -> bool;

    /// Starts copying words to a buffer that has room for them; its contents are garbage until they arrive. Until then,
    /// kernels must not change the words.
    fn send_off(&mut self, buffer: usize, from: u64, words: usize) -> Result<(), DeviceError>;

    /// Whether the words last sent off have arrived.
    fn have_arrived(&mut self) -> Result<bool, DeviceError>;

    /// The words of a buffer. They remain readable even if the device has failed.
    fn staged(&self, buffer: usize) -> &[u32];
}
