//! [`in_large_pages`]: requests large pages for memory that is about to be written for the first time.

/// The size of a large page.
#[cfg(target_os = "linux")]
const LARGE: usize = 1 << 21;

/// Requests large pages for a list. Without them, nothing changes.
pub fn in_large_pages<T>(list: &mut [T]) {
    #[cfg(target_os = "linux")]
    {
        use std::ffi::{c_int, c_void};
        // SAFETY: this is the C library's own signature.
        unsafe extern "C" {
            fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
        }
        const HUGE: c_int = 14;
        let bytes = size_of_val(list);
        let begin = list.as_mut_ptr().cast::<u8>();
        let head = begin.align_offset(LARGE);
        if let Some(whole) = bytes.checked_sub(head).map(|rest| rest / LARGE * LARGE)
            && whole > 0
        {
            // SAFETY: whole pages within the list. The advice does not change their content.
            unsafe { madvise(begin.wrapping_add(head).cast(), whole, HUGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = list;
}
