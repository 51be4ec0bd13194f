//! [`Instructions`]: proof that the processor supports a kernel's instructions, and tasks where they are enabled.

/// A task that runs where a kernel's instructions are enabled: `run` must always be inlined.
pub trait Task {
    /// Runs the task.
    fn run(self);
}

/// Instructions that the processor supports.
pub trait Instructions: Copy + Send {
    /// Runs a task where the instructions are enabled, so that calls of the kernel can be inlined
    /// into it.
    #[inline]
    fn inside(&self, task: impl Task) {
        task.run();
    }
}

/// Defines the type of a kernel: its name and level, and its features if tasks run inside.
#[cfg(target_arch = "x86_64")]
macro_rules! proof {
    ($kernel:ident: $level:expr) => {
        /// Proof that the processor supports the instructions.
        #[derive(Clone, Copy, Debug)]
        pub struct $kernel(());

        impl $kernel {
            /// The kernel, if the processor supports it.
            pub fn new() -> Option<Self> {
                $level.works().then_some(Self(()))
            }
        }
    };
    ($kernel:ident: $level:expr, $features:literal) => {
        proof!($kernel: $level);

        impl Instructions for $kernel {
            #[inline]
            fn inside(&self, task: impl Task) {
                #[target_feature(enable = $features)]
                fn inside(task: impl Task) {
                    task.run();
                }
                // SAFETY: `new` checked for the instructions.
                unsafe { inside(task) }
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
pub(crate) use proof;
