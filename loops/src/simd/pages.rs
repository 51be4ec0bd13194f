//! [`in_large_pages`]: asks the system for large pages, where much memory is about to be written for the first time.

/// The size of a large page.
#[cfg(target_os = "linux")]
const LARGE: usize = 1 << 21;

/// Asks for large pages for a list. Where there are none, nothing changes.
pub fn in_large_pages<T>(list: &mut [T]) {
    #[cfg(target_os = "linux")]
    {
        use std::ffi::{c_int, c_void};
        // SAFETY: the C library's own signature.
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
            // SAFETY: whole pages within the list. The advice changes nothing of what is in them.
            unsafe { madvise(begin.wrapping_add(head).cast(), whole, HUGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = list;
}
