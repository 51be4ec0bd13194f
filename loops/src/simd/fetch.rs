//! [`fetch`]: prefetches memory before it is needed.

/// Prefetches an element of a list, if the list is long enough.
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
