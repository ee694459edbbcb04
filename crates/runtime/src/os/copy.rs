//! The bytes that really move.

/// Copies `bytes` from `from` to `to`; the ranges may overlap.
///
/// # Safety
/// Both ranges are mapped with the access a copy needs, for the whole call.
#[inline]
pub(crate) unsafe fn copy(to: u64, from: u64, bytes: u64) {
    let (to_ptr, from_ptr, len) = (to as *mut u8, from as *const u8, bytes as usize);
    if to.abs_diff(from) >= bytes {
        // SAFETY: per contract, and the ranges are disjoint.
        unsafe { std::ptr::copy_nonoverlapping(from_ptr, to_ptr, len) }
    } else {
        // SAFETY: per contract.
        unsafe { std::ptr::copy(from_ptr, to_ptr, len) }
    }
}

/// Sets `bytes` bytes at `to` to `value`.
///
/// # Safety
/// The range is mapped writable for the whole call.
#[inline]
pub(crate) unsafe fn fill(to: u64, value: u8, bytes: u64) {
    // SAFETY: per contract.
    unsafe { std::ptr::write_bytes(to as *mut u8, value, bytes as usize) }
}

/// Sets `count` 32-bit words at `to` to `value`.
///
/// # Safety
/// The range of `4 * count` bytes is mapped writable for the whole call and 4-byte aligned.
#[inline]
pub(crate) unsafe fn fill_words(to: u64, value: u32, count: u64) {
    // SAFETY: per contract; u32 has no invalid values.
    let words = unsafe { std::slice::from_raw_parts_mut(to as *mut u32, count as usize) };
    words.fill(value);
}
