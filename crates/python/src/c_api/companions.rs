//! The media libraries beside the runtime, opened on first use.
//!
//! They may be missing; then their functions answer "not supported".

use std::ffi::{CStr, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

use cannery_abi::*;

use crate::loader;

c_functions! {
    /// The allocator of the first media family (`libacl_dvpp.so`).
    struct Dvpp;

    fn acldvppMalloc(devPtr: *mut *mut c_void, size: usize) -> aclError;
    fn acldvppFree(devPtr: *mut c_void) -> aclError;
}

c_functions! {
    /// The allocator of the second media family (`libacl_dvpp_mpi.so`).
    struct DvppMpi;

    fn hi_mpi_dvpp_malloc(dev_id: hi_u32, dev_ptr: *mut *mut c_void, size: hi_u64) -> hi_s32;
    fn hi_mpi_dvpp_free(dev_ptr: *mut c_void) -> hi_s32;
}

/// The first media family.
pub(crate) fn dvpp() -> &'static Dvpp {
    static TABLE: OnceLock<Dvpp> = OnceLock::new();
    TABLE.get_or_init(|| Dvpp::resolve(finder(c"libacl_dvpp.so")))
}

/// The second media family.
pub(crate) fn dvpp_mpi() -> &'static DvppMpi {
    static TABLE: OnceLock<DvppMpi> = OnceLock::new();
    TABLE.get_or_init(|| DvppMpi::resolve(finder(c"libacl_dvpp_mpi.so")))
}

/// Looks symbols up in a companion that stands beside the runtime, else in the runtime itself
/// (some builds hold the media allocators there).
fn finder(name: &CStr) -> impl Fn(&CStr) -> Option<std::ptr::NonNull<c_void>> {
    let runtime = loader::open(loader::RUNTIME, None).ok();
    let beside = runtime
        .as_ref()
        .and_then(|library| library.file_of(c"aclInit"));
    let directory = beside
        .as_deref()
        .and_then(std::path::Path::parent)
        .map(PathBuf::from);
    let companion = loader::open(name, directory.as_deref()).ok();
    move |symbol| {
        let libraries = companion.iter().chain(&runtime);
        libraries
            .into_iter()
            .find_map(|library| library.symbol(symbol))
    }
}
