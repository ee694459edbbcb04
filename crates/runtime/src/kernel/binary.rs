//! Kernel binaries: loaded for one device in one context.
#![allow(unsafe_code)] // bytes of a binary that a program has in its memory

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cannery_abi as abi;

use super::function::{Home, KERNELS, Kernel};
use super::handles::Handles;
use super::module::Module;
use crate::context::Context;
use crate::error::{Error, Fault, Result};
use crate::memory::inner::DeviceBlock;
use crate::os::file_limits;
use crate::process::{Here, current, here};
use crate::stream::event::bad_handle;

pub(crate) static BINARIES: Handles<Binary> = Handles::new(0xb1);
pub(crate) static DESCRIPTIONS: Handles<Bytes> = Handles::new(0xb3);

/// What aclrtCreateBinary remembers: bytes that stay the program's own.
pub(crate) struct Bytes {
    start: u64,
    bytes: u64,
}

/// A loaded binary.
pub(crate) struct Binary {
    module: Arc<Module>,
    /// aclrtKernelType of its kernels.
    kind: i32,
    /// Where it was loaded: context, its generation, device.
    context: &'static Context,
    generation: u64,
    device: usize,
    /// The file as it was, when it was loaded from one.
    file: Option<Identity>,
    handle: OnceLock<u64>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    image: Option<Arc<DeviceBlock>>,
    /// Handles of kernels by name, made when they were first asked for.
    kernels: BTreeMap<String, u64>,
    /// Function and its data, as numbers. Nothing calls it: kernels do not fail, they crash.
    callback: Option<(usize, usize)>,
    unloaded: bool,
}

/// What tells one state of a file from another.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Identity {
    path: PathBuf,
    device: u64,
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

/// What the options of a load say.
#[derive(Clone, Copy)]
struct Options {
    lazy: bool,
    kind: i32,
}

fn options(list: &[(i32, u32)]) -> Result<Options> {
    let mut options = Options {
        lazy: false,
        kind: abi::ACL_KERNEL_TYPE_AICORE,
    };
    for (kind, value) in list {
        match *kind {
            abi::ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD if *value <= 1 => options.lazy = *value == 1,
            abi::ACL_RT_BINARY_LOAD_OPT_MAGIC => {
                options.kind = match *value {
                    abi::ACL_RT_BINARY_MAGIC_ELF_AICORE => abi::ACL_KERNEL_TYPE_AICORE,
                    abi::ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE => abi::ACL_KERNEL_TYPE_CUBE,
                    abi::ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE => abi::ACL_KERNEL_TYPE_VECTOR,
                    _ => {
                        return Err(Error::rt_value(
                            "options->options[].value.magic",
                            format!("{value:#x}"),
                            "a value of ACL_RT_BINARY_MAGIC_ELF_*",
                        ));
                    }
                };
            }
            abi::ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE if *value <= 2 => {
                options.kind = abi::ACL_KERNEL_TYPE_AICPU;
            }
            1 | 3 => {
                let most = if *kind == 1 { 1 } else { 2 };
                return Err(Error::rt_value(
                    "options->options[].value",
                    value,
                    format!("a value in [0, {most}] for option {kind}"),
                ));
            }
            _ => {
                return Err(Error::rt_value(
                    "options->options[].type",
                    kind,
                    "a value in [1, 3] (aclrtBinaryLoadOptionType)",
                ));
            }
        }
    }
    Ok(options)
}

impl Binary {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn module(&self) -> &Module {
        &self.module
    }

    pub(crate) fn handle(&self) -> u64 {
        self.handle.get().copied().unwrap_or_default()
    }

    /// The image on the device of the caller, put there when it is missing.
    pub(crate) fn image_for(&self, here: &Here) -> Result<Arc<DeviceBlock>> {
        let device = here.device().index();
        if device != self.device {
            return Err(Fault::Ownership {
                code: abi::ACL_ERROR_RT_PARAM_INVALID,
                object: "kernel binary",
                details: format!(
                    "{} was loaded for device {}, the current device is {device}; load it there too",
                    self.module.name, self.device
                ),
            }
            .into());
        }
        let mut state = self.state();
        match &state.image {
            Some(image) if image.is_there() => Ok(Arc::clone(image)),
            Some(_) => Err(Error::sequence(
                abi::ACL_ERROR_RT_PARAM_INVALID,
                format!(
                    "device {device} was reset after {} was loaded, which took it away; load it again",
                    self.module.name
                ),
            )),
            None => {
                let image = Arc::new(self.module.image(here)?);
                state.image = Some(Arc::clone(&image));
                Ok(image)
            }
        }
    }
}

fn load(
    here: &Here,
    name: String,
    bytes: &[u8],
    file: Option<(&Path, Identity)>,
    options: Options,
) -> Result<u64> {
    let (path, identity) = file.unzip();
    // The system's loader knows objects by their paths: another state of a file that is still loaded
    // has to come without one.
    let stale = identity.as_ref().is_some_and(|mine| {
        BINARIES.living().iter().any(|other| {
            let known = other.file.as_ref();
            known.is_some_and(|known| known.path == mine.path && known != mine)
        })
    });
    let module = Arc::new(Module::load(name, bytes, path.filter(|_| !stale))?);
    let binary = Arc::new(Binary {
        module,
        kind: options.kind,
        context: here.context,
        generation: here.runtime.contexts.generation_of(here.context),
        device: here.device().index(),
        file: identity,
        handle: OnceLock::new(),
        state: Mutex::default(),
    });
    if !options.lazy {
        binary.image_for(here)?;
    }
    let handle = BINARIES.add(Arc::clone(&binary)).ok_or_else(too_many)?;
    let _ = binary.handle.set(handle);
    Ok(handle)
}

fn too_many() -> Error {
    Error::sequence(
        abi::ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
        "262144 kernel binaries or functions are alive; unload some with aclrtBinaryUnLoad",
    )
}

/// aclrtBinaryLoadFromFile: loads the shared object at `path` for the current device. `list`: types and
/// values of the options.
///
/// # Errors
/// 100000 for NULL; 107000 for options, and for a file that is no shared object of this machine (EE1014);
/// 107002; 107009 for a file that cannot be read; 207001 when the device has no memory left for it.
pub fn load_file(
    path: Option<&Path>,
    list: impl FnOnce() -> Result<Vec<(i32, u32)>>,
    out: Option<&mut u64>,
) -> Result<()> {
    let Some(path) = path else {
        return Err(Error::null("binPath"));
    };
    let Some(out) = out else {
        return Err(Error::null("binHandle"));
    };
    let options = options(&list()?)?;
    let here = here()?;
    let shown = path.display().to_string();
    let unreadable = |error: std::io::Error| {
        Error::rt_param(
            abi::ACL_ERROR_RT_FILE_OPEN,
            "binPath",
            match file_limits::remedy(&error) {
                Some(remedy) => format!("{shown} cannot be read: {error}; {remedy}"),
                None => format!("{shown} cannot be read: {error}"),
            },
        )
    };
    let path = path.canonicalize().map_err(unreadable)?;
    let about = std::fs::metadata(&path).map_err(unreadable)?;
    let bytes = std::fs::read(&path).map_err(unreadable)?;
    let identity = Identity {
        path: path.clone(),
        device: about.dev(),
        inode: about.ino(),
        bytes: about.len(),
        changed: (about.mtime(), about.mtime_nsec()),
    };
    *out = load(&here, shown, &bytes, Some((&path, identity)), options)?;
    Ok(())
}

/// The bytes of the program at `start`.
///
/// # Safety
/// They are readable host memory for the whole call, and do not change.
unsafe fn bytes_of<'a>(
    here: &Here,
    param: &'static str,
    start: u64,
    bytes: u64,
) -> Result<&'a [u8]> {
    let spot = crate::memory::locate::range(here.runtime, param, start, bytes)?;
    if spot.device.is_some() && !here.runtime.is_rc() {
        return Err(Error::address(
            param,
            start,
            "device memory; a binary is loaded from host memory where the two are apart",
        ));
    }
    // SAFETY: per contract; a device range (RC) was checked.
    Ok(unsafe { std::slice::from_raw_parts(spot.at as *const u8, bytes as usize) })
}

/// aclrtBinaryLoadFromData: as [`load_file`], from `bytes` bytes at `data`, which are not needed
/// afterwards.
///
/// # Errors
/// 100000 for NULL and 0 bytes, and as [`load_file`].
///
/// # Safety
/// The bytes are readable for the whole call.
pub unsafe fn load_data(
    data: u64,
    bytes: u64,
    list: impl FnOnce() -> Result<Vec<(i32, u32)>>,
    out: Option<&mut u64>,
) -> Result<()> {
    if data == 0 {
        return Err(Error::null("data"));
    }
    if bytes == 0 {
        return Err(Error::zero("length"));
    }
    let Some(out) = out else {
        return Err(Error::null("binHandle"));
    };
    let options = options(&list()?)?;
    let here = here()?;
    // SAFETY: per contract.
    let content = unsafe { bytes_of(&here, "data", data, bytes)? };
    let name = format!("the binary of {bytes} bytes at {data:#x}");
    *out = load(&here, name, content, None, options)?;
    Ok(())
}

/// aclrtCreateBinary: a description of bytes that stay the caller's.
///
/// # Errors
/// 100000 for NULL and 0 bytes.
pub fn create(data: u64, bytes: u64) -> Result<u64> {
    if data == 0 {
        return Err(Error::null("data"));
    }
    if bytes == 0 {
        return Err(Error::zero("dataLen"));
    }
    current()?;
    DESCRIPTIONS
        .add(Arc::new(Bytes { start: data, bytes }))
        .ok_or_else(too_many)
}

/// aclrtDestroyBinary.
///
/// # Errors
/// 100000 for NULL; 107017.
pub fn destroy(handle: u64) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("binary"));
    }
    current()?;
    match DESCRIPTIONS.remove(handle) {
        Some(_) => Ok(()),
        None => Err(bad_handle("binary", handle, "binary description")),
    }
}

/// aclrtBinaryLoad: loads what [`create`] described.
///
/// # Errors
/// 100000 for NULL; 107017, and as [`load_file`].
///
/// # Safety
/// The bytes that were described are readable for the whole call.
pub unsafe fn load_described(handle: u64, out: Option<&mut u64>) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("binary"));
    }
    let Some(out) = out else {
        return Err(Error::null("binHandle"));
    };
    current()?;
    let description = DESCRIPTIONS
        .get(handle)
        .ok_or_else(|| bad_handle("binary", handle, "binary description"))?;
    let here = here()?;
    let (start, bytes) = (description.start, description.bytes);
    // SAFETY: per contract.
    let content = unsafe { bytes_of(&here, "binary", start, bytes)? };
    let name = format!("the binary of {bytes} bytes at {start:#x}");
    *out = load(&here, name, content, None, options(&[])?)?;
    Ok(())
}

fn find(handle: u64) -> Result<Arc<Binary>> {
    current()?;
    BINARIES
        .get(handle)
        .ok_or_else(|| bad_handle("binHandle", handle, "kernel binary"))
}

/// aclrtBinaryUnLoad: handle and kernels end. Launches that are queued still run.
///
/// # Errors
/// 100000 for NULL; 107017; 107002; 107000 in another context than the one that loaded it.
pub fn unload(handle: u64) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("binHandle"));
    }
    let binary = find(handle)?;
    let here = here()?;
    // Where the context is gone, any other may unload.
    let alive = binary.context.is_alive(binary.generation);
    if alive && !std::ptr::eq(binary.context, here.context) {
        return Err(Fault::Ownership {
            code: abi::ACL_ERROR_RT_PARAM_INVALID,
            object: "kernel binary",
            details: format!(
                "{} was loaded in another context, on device {}; make it current to unload the binary",
                binary.module.name, binary.device
            ),
        }
        .into());
    }
    if BINARIES.remove(handle).is_none() {
        return Err(bad_handle("binHandle", handle, "kernel binary"));
    }
    let kernels = {
        let mut state = binary.state();
        state.unloaded = true;
        std::mem::take(&mut state.kernels)
    };
    for kernel in kernels.into_values() {
        super::args::end_of_kernel(kernel);
        KERNELS.remove(kernel);
    }
    Ok(())
}

/// The handle of a kernel, made when it is first asked for. `function`: its name in the module.
fn kernel(binary: &Arc<Binary>, name: &str, function: &str) -> Result<u64> {
    if let Some(known) = binary.state().kernels.get(name) {
        return Ok(*known);
    }
    let module = &binary.module;
    let Some(symbol) = module.symbols.get(function).filter(|s| s.is_function) else {
        let kernels = module.symbols.iter().filter(|(_, s)| s.is_function);
        let known: Vec<&str> = kernels.take(8).map(|(name, _)| name.as_str()).collect();
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_KERNEL_LOOKUP,
            format!(
                "{} exports no function {function}; it exports {}",
                module.name,
                if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                }
            ),
        ));
    };
    let description = module.description(function)?;
    let kernel = Arc::new(Kernel {
        name: name.to_owned(),
        entry: module.host_address(symbol),
        symbol: *symbol,
        description,
        kind: binary.kind,
        home: Home::Binary(Arc::clone(binary)),
    });
    let mut state = binary.state();
    if state.unloaded {
        drop(state);
        return Err(bad_handle("binHandle", binary.handle(), "kernel binary"));
    }
    if let Some(known) = state.kernels.get(name) {
        return Ok(*known);
    }
    let handle = KERNELS.add(kernel).ok_or_else(too_many)?;
    state.kernels.insert(name.to_owned(), handle);
    Ok(handle)
}

/// aclrtBinaryGetFunction: the handle of a kernel. The first call puts a binary that was loaded lazily
/// on the device.
///
/// # Errors
/// 100000 for NULL; 107017; 507027 when the binary has no such function; as a load for a lazy one.
pub fn function(handle: u64, name: Option<&str>, out: Option<&mut u64>) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("binHandle"));
    }
    let Some(name) = name else {
        return Err(Error::null("kernelName"));
    };
    let Some(out) = out else {
        return Err(Error::null("funcHandle"));
    };
    let binary = find(handle)?;
    let here = here()?;
    let found = kernel(&binary, name, name)?;
    if binary.device == here.device().index() {
        binary.image_for(&here)?;
    }
    *out = found;
    Ok(())
}

/// aclrtBinaryGetFunctionByEntry: no product has it.
///
/// # Errors
/// 100000 for NULL; 107017; 207000.
pub fn function_by_entry(handle: u64, out: Option<&mut u64>) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("binHandle"));
    }
    if out.is_none() {
        return Err(Error::null("funcHandle"));
    }
    // Refuses by itself: no product has the function.
    find(handle)?;
    Err(Error::unsupported(
        "kernels have no entry keys; find them by name with aclrtBinaryGetFunction",
    ))
}

/// aclrtRegisterCpuFunc: a kernel of a binary loaded for the AI CPU, under a name of its own.
///
/// # Errors
/// 100000 for NULL; 107017; 107000 for empty names and for binaries of other kinds; 507027.
pub fn register_cpu_function(
    handle: u64,
    function: Option<&str>,
    name: Option<&str>,
    out: Option<&mut u64>,
) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("handle"));
    }
    let Some(function) = function else {
        return Err(Error::null("funcName"));
    };
    let Some(name) = name else {
        return Err(Error::null("kernelName"));
    };
    let Some(out) = out else {
        return Err(Error::null("funcHandle"));
    };
    for (param, text) in [("funcName", function), ("kernelName", name)] {
        if text.is_empty() {
            return Err(Error::rt_value(param, "\"\"", "a name"));
        }
    }
    let binary = find(handle)?;
    if binary.kind != abi::ACL_KERNEL_TYPE_AICPU {
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "handle",
            "its kernels are not for the AI CPU; load it with ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE",
        ));
    }
    *out = kernel(&binary, name, function)?;
    Ok(())
}

/// aclrtBinaryGetDevAddress: where the binary lies on its device, and its bytes; 0 while it was loaded
/// lazily and not used yet.
///
/// # Errors
/// 100000 for NULL; 107017.
pub fn device_address(
    handle: u64,
    address: Option<&mut u64>,
    bytes: Option<&mut usize>,
) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("binHandle"));
    }
    let Some(address) = address else {
        return Err(Error::null("binAddr"));
    };
    let Some(bytes) = bytes else {
        return Err(Error::null("binSize"));
    };
    let binary = find(handle)?;
    let state = binary.state();
    let image = state.image.as_ref().filter(|image| image.is_there());
    *address = image.map_or(0, |image| image.address());
    *bytes = binary.module.bytes as usize;
    Ok(())
}

/// aclrtBinaryGetGlobal: device address and bytes of a variable of the binary. Either place may be
/// missing.
///
/// # Errors
/// 100000 for NULL, and without any place; 107017; 107042 when the binary has no such variable; as a
/// load for a lazy one.
pub fn global(
    handle: u64,
    name: Option<&str>,
    address: Option<&mut u64>,
    bytes: Option<&mut usize>,
) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("binHandle"));
    }
    let Some(name) = name else {
        return Err(Error::null("name"));
    };
    if address.is_none() && bytes.is_none() {
        return Err(Error::null("dptr and size"));
    }
    let binary = find(handle)?;
    let here = here()?;
    let symbol = binary.module.symbols.get(name).filter(|s| !s.is_function);
    let Some(symbol) = symbol else {
        return Err(Error::sequence(
            abi::ACL_ERROR_RT_SYMBOL_NOT_FOUND,
            format!(
                "{} exports no variable {name}; declare it with CANNERY_VARIABLE",
                binary.module.name
            ),
        ));
    };
    let image = binary.image_for(&here)?;
    if let Some(address) = address {
        *address = image.address() + symbol.start;
    }
    if let Some(bytes) = bytes {
        *bytes = symbol.bytes as usize;
    }
    Ok(())
}

/// aclrtBinarySetExceptionCallback: remembered; the last one counts. A kernel of this runtime cannot
/// fail without ending the process, so it is never called.
///
/// # Errors
/// 100000 for NULL; 107017.
pub fn set_exception_callback(handle: u64, callback: Option<usize>, data: usize) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("binHandle"));
    }
    let Some(callback) = callback else {
        return Err(Error::null("callback"));
    };
    find(handle)?.state().callback = Some((callback, data));
    Ok(())
}
