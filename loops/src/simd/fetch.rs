//! [`fetch`]: asks for memory before it is needed.

/// Asks for what is at a place of a list, if it is that long.
#[inline]
pub fn fetch<T>(list: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every processor of this kind has the instruction, which reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(list.as_ptr().wrapping_add(at).cast()) };
    }
    let _ = (list, at);
}
