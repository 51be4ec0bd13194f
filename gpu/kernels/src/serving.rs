//! The arguments of a kernel that is launched once and fed by the host: matches `cuda/serve.cuh`.

/// The arguments of the entry point `serve`, passed by value. Addresses are device addresses.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Serving {
    /// `u32[`[`POST`]`]`, in page-locked memory: where batches are announced. Initially all zeros.
    pub post: u64,
    /// As many words on the device, initially all zeros.
    pub copy: u64,
    /// `u32[`[`COUNTS`]`]`: initially all zeros.
    pub counts: u64,
    /// As in [`Bounding`](crate::bounding::Bounding).
    pub tables: u64,
    /// Constants of the instance.
    pub sizes: [u32; 10],
}

/// The entry point of kernels that are launched once.
pub const SERVE: &str = "serve";

/// Batches that can be announced at once.
pub const RING: usize = 128;
/// Words before the announcements. The first one stops the kernel if it is not zero.
pub const HEAD: usize = 16;
/// Words of an announcement.
pub const MAIL: usize = 16;
/// The maximum number of words of a batch's only parent.
pub const ORDER: usize = 8;
/// Words of the post.
pub const POST: usize = HEAD + RING * MAIL;
/// Words of the counts.
pub const COUNTS: usize = 1 + RING;

/// The layout of an announcement.
pub mod mail {
    /// Its number, counted from 1; written last. While the rest is written, it is the previous number.
    pub const NUMBER: usize = 0;
    /// The first ticket of the batch.
    pub const FIRST: usize = 1;
    /// Its number of tickets: as many as a launch has blocks.
    pub const TICKETS: usize = 2;
    /// Words of results.
    pub const CHILDREN: usize = 3;
    /// The address of the results, lower half first.
    pub const BOUNDS: usize = 4;
    /// The number of the last finished batch in this place.
    pub const DONE: usize = 6;
    /// The parent.
    pub const ORDER: usize = 8;
}
