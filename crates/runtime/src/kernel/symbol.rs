//! Kernels and variables of the program itself (aclrtGetFuncBySymbol, device variables): host and device
//! code in one source. Registered by what include/cannery/kernel.h puts beside them, before main.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cannery_abi as abi;

use super::elf::Symbol;
use super::function::{Home, KERNELS, Kernel};
use super::module::{Description, KernelInfo, Module};
use crate::error::{Error, Result};
use crate::memory::inner::DeviceBlock;
use crate::memory::{async_copy, copy};
use crate::process::{Here, here};

/// A part of the program (itself or one of its libraries) that registered something.
pub(crate) struct Program {
    module: Module,
    /// On each device, made when it is first needed there.
    images: Mutex<Vec<Arc<DeviceBlock>>>,
}

impl Program {
    pub(crate) fn module(&self) -> &Module {
        &self.module
    }

    /// The image on the device of the caller.
    pub(crate) fn image(&self, here: &Here) -> Result<Arc<DeviceBlock>> {
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        images.retain(|image| image.is_there());
        let device = here.device().index();
        if let Some(image) = images.iter().find(|image| image.device() == device) {
            return Ok(Arc::clone(image));
        }
        let image = Arc::new(self.module.image(here)?);
        images.push(Arc::clone(&image));
        Ok(image)
    }
}

struct Variable {
    program: Arc<Program>,
    bytes: u64,
}

struct Function {
    kernel: Arc<Kernel>,
    /// Its handle, once somebody asked.
    handle: u64,
}

struct Known {
    /// By the start of their variables.
    programs: BTreeMap<u64, Arc<Program>>,
    /// By address.
    variables: BTreeMap<u64, Variable>,
    functions: BTreeMap<u64, Function>,
}

static KNOWN: Mutex<Known> = Mutex::new(Known {
    programs: BTreeMap::new(),
    variables: BTreeMap::new(),
    functions: BTreeMap::new(),
});

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn program(known: &mut Known, variables: (u64, u64)) -> Arc<Program> {
    let (start, end) = variables;
    let fresh = || {
        Arc::new(Program {
            module: Module::of_program(start, end.max(start)),
            images: Mutex::default(),
        })
    };
    Arc::clone(known.programs.entry(start).or_insert_with(fresh))
}

/// The program has a variable at `address`, among those in `[variables.0, variables.1)`. Starts nothing.
///
/// # Errors
/// 100000 for NULL, 0 bytes, and a variable outside of that range.
pub fn register_variable(address: u64, bytes: u64, variables: (u64, u64)) -> Result<()> {
    if address == 0 {
        return Err(Error::null("symbol"));
    }
    if bytes == 0 {
        return Err(Error::zero("size"));
    }
    let end = address.checked_add(bytes);
    if address < variables.0 || end.is_none_or(|end| end > variables.1) {
        return Err(Error::cause(
            "symbol",
            format!("{address:#x}"),
            format!(
                "lies outside of [{:#x}, {:#x}); declare it with CANNERY_VARIABLE",
                variables.0, variables.1
            ),
        ));
    }
    let mut known = known();
    let program = program(&mut known, variables);
    known.variables.insert(address, Variable { program, bytes });
    Ok(())
}

/// The program has a kernel at `address`. Starts nothing.
///
/// # Errors
/// 100000 for NULL and for a description that cannot be used.
pub fn register_kernel(
    address: u64,
    name: Option<&str>,
    info: Option<&KernelInfo>,
    variables: (u64, u64),
) -> Result<()> {
    if address == 0 {
        return Err(Error::null("symbol"));
    }
    let Some(name) = name else {
        return Err(Error::null("name"));
    };
    let description = match info.map(KernelInfo::read) {
        None => None,
        Some(Ok(description)) => Some(description),
        Some(Err(why)) => {
            return Err(Error::cause(
                "info",
                format!("the description of {name}"),
                why,
            ));
        }
    };
    let mut known = known();
    let program = program(&mut known, variables);
    let kernel = Arc::new(new_kernel(address, name, description, program));
    known
        .functions
        .insert(address, Function { kernel, handle: 0 });
    Ok(())
}

fn new_kernel(
    address: u64,
    name: &str,
    description: Option<Description>,
    program: Arc<Program>,
) -> Kernel {
    Kernel {
        name: name.to_owned(),
        entry: address,
        symbol: Symbol {
            start: 0,
            bytes: 0,
            is_function: true,
        },
        description,
        kind: abi::ACL_KERNEL_TYPE_AICORE,
        home: Home::Program(program),
    }
}

/// Forgets a variable or kernel of the program, which is about to be unloaded.
pub fn unregister(address: u64) {
    let mut known = known();
    known.variables.remove(&address);
    let function = known.functions.remove(&address);
    drop(known);
    if let Some(function) = function
        && function.handle != 0
    {
        super::args::end_of_kernel(function.handle);
        KERNELS.remove(function.handle);
    }
}

fn unknown(symbol: u64, what: &str) -> Error {
    Error::rt_param(
        abi::ACL_ERROR_RT_INVALID_SYMBOL,
        "symbol",
        format!(
            "{symbol:#x} is no {what} that the program registered; declare it with the macros of \
             cannery/kernel.h"
        ),
    )
}

/// The handle of a registered kernel; `None`: it is none.
pub(crate) fn kernel_at(symbol: u64) -> Result<Option<u64>> {
    let mut known = known();
    let Some(function) = known.functions.get_mut(&symbol) else {
        return Ok(None);
    };
    // After a fork the handle is the parent's.
    if KERNELS.get(function.handle).is_none() {
        let made = KERNELS.add(Arc::clone(&function.kernel));
        function.handle = made.ok_or_else(|| {
            Error::sequence(
                abi::ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                "262144 kernel functions are alive; unload some with aclrtBinaryUnLoad",
            )
        })?;
    }
    Ok(Some(function.handle))
}

/// aclrtGetFuncBySymbol.
///
/// # Errors
/// 100000 for NULL; 107002; 107043 for what is no kernel of the program.
pub fn function(symbol: u64, out: Option<&mut u64>) -> Result<()> {
    if symbol == 0 {
        return Err(Error::null("symbol"));
    }
    let Some(out) = out else {
        return Err(Error::null("funcHandle"));
    };
    here()?;
    *out = kernel_at(symbol)?.ok_or_else(|| unknown(symbol, "kernel"))?;
    Ok(())
}

/// Device address and bytes of a variable.
fn variable(symbol: u64) -> Result<(u64, u64)> {
    let here = here()?;
    let (program, bytes) = {
        let known = known();
        let found = known.variables.get(&symbol);
        let variable = found.ok_or_else(|| unknown(symbol, "device variable"))?;
        (Arc::clone(&variable.program), variable.bytes)
    };
    let image = program.image(&here)?;
    let address = image.address() + (symbol - program.module.base());
    Ok((address, bytes))
}

/// aclrtGetSymbolAddress: the address of a device variable on the current device.
///
/// # Errors
/// 100000 for NULL; 107002; 107043 for what is no device variable.
pub fn address(symbol: u64, out: Option<&mut u64>) -> Result<()> {
    if symbol == 0 {
        return Err(Error::null("symbol"));
    }
    let Some(out) = out else {
        return Err(Error::null("devPtr"));
    };
    *out = variable(symbol)?.0;
    Ok(())
}

/// aclrtGetSymbolSize: the bytes of a device variable.
///
/// # Errors
/// As [`address`].
pub fn size(symbol: u64, out: Option<&mut usize>) -> Result<()> {
    if symbol == 0 {
        return Err(Error::null("symbol"));
    }
    let Some(out) = out else {
        return Err(Error::null("size"));
    };
    *out = variable(symbol)?.1 as usize;
    Ok(())
}

/// A copy between host memory and a device variable.
#[derive(Clone, Copy)]
pub struct SymbolCopy {
    /// Host address.
    pub host: u64,
    /// Bytes of the place there; the count where it is the source.
    pub host_max: u64,
    /// The variable.
    pub symbol: u64,
    /// Bytes to copy.
    pub count: u64,
    /// Where in the variable it begins.
    pub offset: u64,
    /// aclrtMemcpyKind.
    pub kind: i32,
    /// Whether the variable is the destination.
    pub to_symbol: bool,
}

fn bad(param: &'static str, value: u64, cause: String) -> Error {
    crate::error::Fault::Bad {
        param,
        value: value.to_string(),
        cause,
    }
    .into()
}

/// The checks of the front; then destination, its bytes and source.
fn ends(copy: &SymbolCopy, stream: Option<u64>) -> Result<(u64, u64, u64)> {
    let SymbolCopy {
        host,
        host_max,
        symbol,
        count,
        offset,
        kind,
        to_symbol,
    } = *copy;
    let pointers = if to_symbol {
        [("symbol", symbol), ("src", host)]
    } else {
        [("dst", host), ("symbol", symbol)]
    };
    for (param, address) in pointers {
        if address == 0 {
            return Err(Error::null(param));
        }
    }
    if stream == Some(0) {
        return Err(Error::null("stream"));
    }
    if count > host_max {
        return Err(bad(
            "count",
            count,
            format!("more than the {host_max} bytes of the destination (dstMax)"),
        ));
    }
    let allowed = if to_symbol {
        abi::ACL_MEMCPY_HOST_TO_DEVICE
    } else {
        abi::ACL_MEMCPY_DEVICE_TO_HOST
    };
    if kind != allowed && kind != abi::ACL_MEMCPY_DEFAULT {
        return Err(Error::value(
            "kind",
            kind,
            format!("must be {allowed} or 4 (default)"),
        ));
    }
    let (address, bytes) = variable(symbol)?;
    if offset.checked_add(count).is_none_or(|end| end > bytes) {
        return Err(bad(
            "count",
            count,
            format!("with offset {offset} it leaves the variable, which has {bytes} bytes"),
        ));
    }
    let place = address + offset;
    Ok(if to_symbol {
        (place, count, host)
    } else {
        (host, host_max, place)
    })
}

/// aclrtMemcpyToSymbol and aclrtMemcpyFromSymbol.
///
/// # Errors
/// 100000 for NULL, kinds, and counts that leave the place or the variable; 107002; 107043.
///
/// # Safety
/// The host range is mapped for the whole call.
#[allow(unsafe_code)] // hands the host range on
pub unsafe fn memcpy(ends_of: &SymbolCopy) -> Result<()> {
    if ends_of.count == 0 {
        return Ok(());
    }
    let (to, max, from) = ends(ends_of, None)?;
    // SAFETY: per contract.
    unsafe { copy::memcpy(to, max, from, ends_of.count, ends_of.kind) }
}

/// aclrtMemcpyToSymbolAsync and aclrtMemcpyFromSymbolAsync: queued where host memory is pinned.
///
/// # Errors
/// As [`memcpy`]; 100000 for the default stream, 107017, 107003.
pub fn memcpy_async(ends_of: &SymbolCopy, stream: u64) -> Result<()> {
    if ends_of.count == 0 {
        return Ok(());
    }
    let (to, max, from) = ends(ends_of, Some(stream))?;
    async_copy::memcpy(to, max, from, ends_of.count, ends_of.kind, stream)
}
