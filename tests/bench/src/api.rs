//! The C functions of the library under test.

use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use cannery_abi as abi;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

type Code = abi::aclError;

macro_rules! api {
    ($($name:ident: fn($($arg:ty),*) -> $ret:ty;)*) => {
        /// Pointers to the C functions, by their C names.
        #[allow(non_snake_case)]
        #[derive(Clone, Copy)]
        pub(crate) struct Api {
            $(pub(crate) $name: unsafe extern "C" fn($($arg),*) -> $ret,)*
        }

        impl Api {
            fn find(library: &Library) -> Result<Api, libloading::Error> {
                Ok(Api {
                    $(
                        // SAFETY: the type is the function's signature in the contract.
                        $name: unsafe { *library.get(concat!(stringify!($name), "\0").as_bytes())? },
                    )*
                })
            }
        }
    };
}

api! {
    aclInit: fn(*const c_char) -> Code;
    aclrtSetDevice: fn(i32) -> Code;
    aclGetRecentErrMsg: fn() -> *const c_char;
    aclrtMalloc: fn(*mut *mut c_void, usize, abi::aclrtMemMallocPolicy) -> Code;
    aclrtFree: fn(*mut c_void) -> Code;
    aclrtMallocHost: fn(*mut *mut c_void, usize) -> Code;
    aclrtFreeHost: fn(*mut c_void) -> Code;
    aclrtMemcpy: fn(*mut c_void, usize, *const c_void, usize, abi::aclrtMemcpyKind) -> Code;
    aclrtPointerGetAttributes: fn(*const c_void, *mut abi::aclrtPtrAttributes) -> Code;
    aclrtMemGetAddressRange: fn(*mut c_void, *mut *mut c_void, *mut usize) -> Code;
    aclrtMemcpyAsync: fn(*mut c_void, usize, *const c_void, usize, abi::aclrtMemcpyKind, abi::aclrtStream) -> Code;
    aclrtCreateStream: fn(*mut abi::aclrtStream) -> Code;
    aclrtDestroyStream: fn(abi::aclrtStream) -> Code;
    aclrtSynchronizeStream: fn(abi::aclrtStream) -> Code;
    aclrtStreamQuery: fn(abi::aclrtStream, *mut abi::aclrtStreamStatus) -> Code;
    aclrtCreateEvent: fn(*mut abi::aclrtEvent) -> Code;
    aclrtCreateEventExWithFlag: fn(*mut abi::aclrtEvent, u32) -> Code;
    aclrtSynchronizeEvent: fn(abi::aclrtEvent) -> Code;
    aclrtDestroyEvent: fn(abi::aclrtEvent) -> Code;
    aclrtRecordEvent: fn(abi::aclrtEvent, abi::aclrtStream) -> Code;
    aclrtQueryEventStatus: fn(abi::aclrtEvent, *mut abi::aclrtEventRecordedStatus) -> Code;
    aclrtReserveMemAddress: fn(*mut *mut c_void, usize, usize, *mut c_void, u64) -> Code;
    aclrtReleaseMemAddress: fn(*mut c_void) -> Code;
    aclrtMallocPhysical: fn(*mut abi::aclrtDrvMemHandle, usize, *const abi::aclrtPhysicalMemProp, u64) -> Code;
    aclrtFreePhysical: fn(abi::aclrtDrvMemHandle) -> Code;
    aclrtMapMem: fn(*mut c_void, usize, usize, abi::aclrtDrvMemHandle, u64) -> Code;
    aclrtUnmapMem: fn(*mut c_void) -> Code;
    aclrtMemPoolCreate: fn(*mut abi::aclrtMemPool, *const abi::aclrtMemPoolProps) -> Code;
    aclrtMemPoolDestroy: fn(abi::aclrtMemPool) -> Code;
    aclrtMemPoolMallocAsync: fn(*mut *mut c_void, usize, abi::aclrtMemPool, abi::aclrtStream) -> Code;
    aclrtMemPoolFreeAsync: fn(*mut c_void, abi::aclrtStream) -> Code;
    aclrtIpcMemGetExportKey: fn(*mut c_void, usize, *mut c_char, usize, u64) -> Code;
    aclrtIpcMemClose: fn(*const c_char) -> Code;
    aclrtGetMemInfo: fn(abi::aclrtMemAttr, *mut usize, *mut usize) -> Code;
}

impl Api {
    /// Opens the library for the rest of the process.
    ///
    /// # Errors
    /// What the loader says.
    pub(crate) fn open(library: &Path) -> Result<Api, String> {
        // SAFETY: the initialisers are those of the project's own library.
        let opened = unsafe { Library::open(Some(library), RTLD_NOW | RTLD_GLOBAL) };
        let opened = opened.map_err(|error| format!("{error}; run `make build` first"))?;
        let api = Api::find(&opened).map_err(|error| error.to_string())?;
        std::mem::forget(opened);
        Ok(api)
    }

    /// Initialises and sets device 0 on this thread.
    ///
    /// # Errors
    /// The text of the library.
    pub(crate) fn start(&self) -> Result<(), String> {
        // SAFETY: NULL is a valid configuration.
        let code = unsafe { (self.aclInit)(ptr::null()) };
        if code != 0 {
            return Err(self.text("aclInit", code));
        }
        self.set_device()
    }

    /// Sets device 0 on this thread.
    ///
    /// # Errors
    /// The text of the library.
    pub(crate) fn set_device(&self) -> Result<(), String> {
        // SAFETY: no pointers.
        match unsafe { (self.aclrtSetDevice)(0) } {
            0 => Ok(()),
            code => Err(self.text("aclrtSetDevice", code)),
        }
    }

    /// Free bytes of the normal and of the huge pages of the device.
    pub(crate) fn free_bytes(&self) -> (usize, usize) {
        let ask = |attribute| {
            let (mut free, mut total) = (0, 0);
            // SAFETY: both places are valid.
            let code = unsafe { (self.aclrtGetMemInfo)(attribute, &raw mut free, &raw mut total) };
            if code == 0 { free } else { 0 }
        };
        (ask(abi::ACL_HBM_MEM_NORMAL), ask(abi::ACL_HBM_MEM_HUGE))
    }

    /// Ends the program when a call that is being measured failed.
    #[inline(always)]
    pub(crate) fn check(&self, call: &str, code: Code) {
        if code != 0 {
            self.refuse(call, code);
        }
    }

    #[cold]
    #[inline(never)]
    fn refuse(&self, call: &str, code: Code) -> ! {
        panic!("{}", self.text(call, code));
    }

    fn text(&self, call: &str, code: Code) -> String {
        // SAFETY: no arguments.
        let text = unsafe { (self.aclGetRecentErrMsg)() };
        if text.is_null() {
            return format!("{call} returned {code}");
        }
        // SAFETY: a text that is valid until the next call of this thread.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        format!("{call} returned {code}: {text}")
    }
}

/// The directory with the built toolkit.
pub(crate) fn prefix() -> PathBuf {
    std::env::var_os("CANNERY_PREFIX").map_or_else(|| "target/prefix".into(), PathBuf::from)
}

/// The library in it.
pub(crate) fn library() -> PathBuf {
    prefix().join("lib64/libascendcl.so")
}
