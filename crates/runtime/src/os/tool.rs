//! Tools that run this process in a narrower world than the kernel's.

use std::ffi::CStr;
use std::sync::OnceLock;

/// Whether this process runs under Valgrind. It loads a library of its own into every program, ahead
/// of the others; asking the loader costs microseconds, once.
pub(crate) fn is_valgrind() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| is_loaded(c"/vgpreload_"))
}

/// Whether a library is loaded whose path contains `part`.
fn is_loaded(part: &CStr) -> bool {
    extern "C" fn look(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        data: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the loader passes a valid description, whose name is NULL or ends; `data` is the
        // string that `is_loaded` passes.
        unsafe {
            let name = (*info).dlpi_name;
            let part = data.cast_const().cast::<libc::c_char>();
            libc::c_int::from(!name.is_null() && !libc::strstr(name, part).is_null())
        }
    }
    // SAFETY: `look` only reads, and `part` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look), part.as_ptr().cast_mut().cast()) != 0 }
}

#[cfg(test)]
mod tests {
    use super::is_loaded;

    #[test]
    fn libraries_are_found_by_a_part_of_their_path() {
        assert!(is_loaded(c"libc"));
        assert!(!is_loaded(c"/vgpreload_of_no_tool"));
    }
}
