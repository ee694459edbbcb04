//! Kernels behind function handles, and what programs ask of them.

use std::sync::{Arc, LazyLock};

use cannery_abi as abi;

use super::binary::Binary;
use super::elf::Symbol;
use super::handles::Handles;
use super::module::Description;
use super::symbol::Program;
use crate::error::{Error, Result};
use crate::memory::inner::DeviceBlock;
use crate::process::{Here, current};
use crate::stream::event::bad_handle;

pub(crate) static KERNELS: Handles<Kernel> = Handles::new(0xb2);

/// One kernel.
pub(crate) struct Kernel {
    pub(crate) name: String,
    /// Address of the function in this process.
    pub(crate) entry: u64,
    /// Where it lies in its module.
    pub(crate) symbol: Symbol,
    /// `None`: its module says nothing of it.
    pub(crate) description: Option<Description>,
    /// aclrtKernelType.
    pub(crate) kind: i32,
    pub(crate) home: Home,
}

/// Where a kernel comes from.
pub(crate) enum Home {
    Binary(Arc<Binary>),
    Program(Arc<Program>),
}

impl Kernel {
    /// The image that a launch on the caller's device uses, and what takes an address of a variable in
    /// the module to the variable in the image.
    pub(crate) fn image(&self, here: &Here) -> Result<(Arc<DeviceBlock>, u64)> {
        let (image, base) = match &self.home {
            Home::Binary(binary) => (binary.image_for(here)?, binary.module().base()),
            Home::Program(program) => (program.image(here)?, program.module().base()),
        };
        let distance = image.alias().wrapping_sub(base);
        Ok((image, distance))
    }

    /// Bytes of its parameters, where its module says so.
    pub(crate) fn sizes(&self) -> Result<&[u32]> {
        match &self.description {
            Some(description) => Ok(&description.sizes),
            None => Err(Error::rt_param(
                abi::ACL_ERROR_RT_PARAM_INVALID,
                "func",
                format!(
                    "nothing says which parameters kernel {} has; describe them with \
                     CANNERY_PARAMETERS({}, sizes) beside the kernel",
                    self.name, self.name
                ),
            )),
        }
    }

    pub(crate) fn is_simt(&self) -> bool {
        self.description.as_ref().is_some_and(|d| d.is_simt)
    }
}

/// Offsets of parameters of these sizes: every one begins at a multiple of 8. The last number is the
/// bytes of all.
pub(crate) fn offsets(sizes: &[u32]) -> Vec<u64> {
    let mut at = 0;
    let mut all = Vec::with_capacity(sizes.len() + 1);
    for size in sizes {
        all.push(at);
        at += u64::from(*size).next_multiple_of(8);
    }
    all.push(at);
    all
}

/// The kernel of a handle.
pub(crate) fn find(param: &'static str, handle: u64) -> Result<Arc<Kernel>> {
    current()?;
    KERNELS
        .get(handle)
        .ok_or_else(|| bad_handle(param, handle, "kernel function"))
}

fn asked(param: &'static str, handle: u64) -> Result<Arc<Kernel>> {
    if handle == 0 {
        return Err(Error::null(param));
    }
    find(param, handle)
}

/// aclrtGetFunctionAddr: device addresses of the kernel's code for cube and vector cores; 0 for cores
/// that it does not use.
///
/// # Errors
/// 100000 for NULL; 107017; 107002 and as for a launch where its binary is not on the device yet.
pub fn addresses(handle: u64, cube: Option<&mut u64>, vector: Option<&mut u64>) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("funcHandle"));
    }
    let (Some(cube), Some(vector)) = both("aicAddr", cube, "aivAddr", vector)? else {
        return Ok(());
    };
    let kernel = find("funcHandle", handle)?;
    let here = crate::process::here()?;
    let at = match &kernel.home {
        Home::Binary(binary) => binary.image_for(&here)?.address() + kernel.symbol.start,
        Home::Program(_) => return Err(no_image(&kernel)),
    };
    let is_vector = kernel.kind == abi::ACL_KERNEL_TYPE_VECTOR;
    (*cube, *vector) = if is_vector { (0, at) } else { (at, 0) };
    Ok(())
}

fn no_image(kernel: &Kernel) -> Error {
    Error::unsupported(format!(
        "the code of kernel {} is part of the program and has no copy on the device",
        kernel.name
    ))
}

type Both<'a, T> = (Option<&'a mut T>, Option<&'a mut T>);

fn both<'a, T>(
    first: &'static str,
    a: Option<&'a mut T>,
    second: &'static str,
    b: Option<&'a mut T>,
) -> Result<Both<'a, T>> {
    match (&a, &b) {
        (None, _) => Err(Error::null(first)),
        (_, None) => Err(Error::null(second)),
        _ => Ok((a, b)),
    }
}

/// aclrtGetFunctionSize: bytes of the kernel's code for cube and vector cores; 0 for cores that it does
/// not use.
///
/// # Errors
/// 100000 for NULL; 107017; 207000 where the product lacks it.
pub fn code_sizes(handle: u64, cube: Option<&mut usize>, vector: Option<&mut usize>) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("funcHandle"));
    }
    let (Some(cube), Some(vector)) = both("aicSize", cube, "aivSize", vector)? else {
        return Ok(());
    };
    let kernel = find("funcHandle", handle)?;
    if matches!(kernel.home, Home::Program(_)) {
        return Err(no_image(&kernel));
    }
    let bytes = kernel.symbol.bytes as usize;
    let is_vector = kernel.kind == abi::ACL_KERNEL_TYPE_VECTOR;
    (*cube, *vector) = if is_vector { (0, bytes) } else { (bytes, 0) };
    Ok(())
}

/// aclrtGetFunctionName, into a place for `room` bytes with the end: `write` gets the name.
///
/// # Errors
/// 100000 for NULL; 107017; 107000 for a place that is too small: nothing is written.
pub fn name(handle: u64, room: u32, no_place: bool, write: impl FnOnce(&str)) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("funcHandle"));
    }
    if no_place {
        return Err(Error::null("name"));
    }
    let kernel = find("funcHandle", handle)?;
    if kernel.name.len() >= room as usize {
        return Err(Error::rt_value(
            "maxLen",
            room,
            format!("at least {} (the name and its end)", kernel.name.len() + 1),
        ));
    }
    write(&kernel.name);
    Ok(())
}

/// aclrtGetFunctionAttribute.
///
/// # Errors
/// 100000 for NULL; 107017; 107000 for unknown attributes; 207000 for the ratio on products without it.
pub fn attribute(handle: u64, attribute: i32, out: Option<&mut i64>) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("funcHandle"));
    }
    let Some(out) = out else {
        return Err(Error::null("attrValue"));
    };
    let kernel = find("funcHandle", handle)?;
    *out = match attribute {
        abi::ACL_FUNC_ATTR_KERNEL_TYPE => i64::from(kernel.kind),
        abi::ACL_FUNC_ATTR_KERNEL_RATIO => {
            let profile = current()?.settings.profile;
            if !["A3", "910B", "310P"].contains(&profile.name) {
                return Err(Error::unsupported(format!(
                    "profile {} has no ratio of cube and vector cores; A3, 910B and 310P have it",
                    profile.name
                )));
            }
            // Vector cores in the low half, cube cores in the high one.
            match kernel.kind {
                abi::ACL_KERNEL_TYPE_VECTOR => 1,
                _ => 1 << 16,
            }
        }
        abi::ACL_FUNC_ATTR_KERNEL_SCHED_MODE => 0,
        _ => {
            return Err(Error::rt_value(
                "attrType",
                attribute,
                "a value in [1, 3] (aclrtFuncAttribute)",
            ));
        }
    };
    Ok(())
}

/// aclrtFunctionGetBinary: the handle of the binary.
///
/// # Errors
/// 100000 for NULL; 107017; 107000 for a kernel of the program itself.
pub fn binary(handle: u64, out: Option<&mut u64>) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("funcHandle"));
    }
    let Some(out) = out else {
        return Err(Error::null("binHandle"));
    };
    let kernel = find("funcHandle", handle)?;
    match &kernel.home {
        Home::Binary(binary) => *out = binary.handle(),
        Home::Program(_) => {
            return Err(Error::rt_param(
                abi::ACL_ERROR_RT_PARAM_INVALID,
                "funcHandle",
                format!(
                    "kernel {} is part of the program, not of a binary",
                    kernel.name
                ),
            ));
        }
    }
    Ok(())
}

/// aclrtFunctionGetParamCount.
///
/// # Errors
/// 100000 for NULL; 107017; 107000 where the kernel is not described.
pub fn parameter_count(handle: u64, out: Option<&mut usize>) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("func"));
    }
    let Some(out) = out else {
        return Err(Error::null("paramCount"));
    };
    *out = find("func", handle)?.sizes()?.len();
    Ok(())
}

/// aclrtFunctionGetParamInfo: offset and bytes of one parameter.
///
/// # Errors
/// 100000 for NULL; 107017; 107000 where the kernel is not described, and for an index beyond its
/// parameters.
pub fn parameter(
    handle: u64,
    index: usize,
    offset: Option<&mut usize>,
    bytes: Option<&mut usize>,
) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("func"));
    }
    let (Some(offset), Some(bytes)) = both("paramOffset", offset, "paramSize", bytes)? else {
        return Ok(());
    };
    let kernel = find("func", handle)?;
    let sizes = kernel.sizes()?;
    let Some(size) = sizes.get(index) else {
        return Err(Error::rt_value(
            "paramIndex",
            index,
            format!("a value in [0, {})", sizes.len()),
        ));
    };
    *offset = offsets(sizes)[index] as usize;
    *bytes = *size as usize;
    Ok(())
}

/// aclrtFunctionGetAvailDynUbufPerBlock: 0 for kernels that are not SIMT.
///
/// # Errors
/// 100000 for NULL and flags; 107017; 207000 for SIMT kernels: no source states the size of the buffer.
pub fn dynamic_buffer(handle: u64, flags: u32, out: Option<&mut usize>) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("func"));
    }
    if flags != 0 {
        return Err(Error::value("flags", flags, "must be 0, it is reserved"));
    }
    let Some(out) = out else {
        return Err(Error::null("dynamicUbufSize"));
    };
    if asked("func", handle)?.is_simt() {
        return Err(Error::unsupported(
            "the size of the unified buffer of this profile is not known",
        ));
    }
    *out = 0;
    Ok(())
}

/// aclrtGetArgsFromExceptionInfo and aclrtGetFuncHandleFromExceptionInfo. Kernels of this runtime do not
/// fail, they crash: no kernel is behind any exception.
///
/// # Errors
/// 100000 for NULL (`places`: names of the places, and whether they were given) and for what is no
/// exception under way; 107000 for exceptions: other tasks caused them.
pub fn of_exception(info: u64, places: &[(&'static str, bool)]) -> Result<()> {
    if info == 0 {
        return Err(Error::null("info"));
    }
    if let Some((param, _)) = places.iter().find(|(_, given)| !given) {
        return Err(Error::null(param));
    }
    crate::stream::exception::facts(info)?;
    Err(Error::rt_param(
        abi::ACL_ERROR_RT_PARAM_INVALID,
        "info",
        "no kernel is behind this exception: a kernel that fails here ends the process",
    ))
}

/// One page on each device that nothing reads: see [`sync_address`].
static SYNC: LazyLock<std::sync::Mutex<Vec<DeviceBlock>>> = LazyLock::new(Default::default);

/// aclrtGetHardwareSyncAddr: an address of device memory that cube and vector cores of hardware use to
/// wait for each other. Here blocks run one after another, so nothing reads it.
///
/// # Errors
/// 100000 for NULL; 107002; 207000 where the product lacks it; 207001.
pub fn sync_address(out: Option<&mut u64>) -> Result<()> {
    const BYTES: u64 = 4096;
    let Some(out) = out else {
        return Err(Error::null("addr"));
    };
    let here = crate::process::here()?;
    let mut pages = SYNC
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    pages.retain(DeviceBlock::is_there);
    let device = here.device().index();
    if let Some(page) = pages.iter().find(|page| page.device() == device) {
        *out = page.address();
        return Ok(());
    }
    let page = DeviceBlock::of(&here, BYTES, cannery_observe::Family::Status)?;
    crate::memory::inner::clear(&page, BYTES);
    *out = page.address();
    pages.push(page);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::offsets;

    #[test]
    fn parameters_begin_at_multiples_of_8() {
        assert_eq!(offsets(&[]), [0]);
        assert_eq!(offsets(&[8, 4, 1, 12, 8]), [0, 8, 16, 24, 40, 48]);
    }
}
