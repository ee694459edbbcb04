//! What holds kernels and variables.
#![allow(unsafe_code)] // reads descriptions and initial values out of the shared object

use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::Path;

use super::elf::{self, Elf, Symbol};
use crate::error::{Error, Fault, Result};
use crate::memory::inner::DeviceBlock;
use crate::os::loader::Library;
use crate::os::{self};
use crate::process::Here;

/// Most parameters of a kernel.
pub(crate) const MOST_PARAMETERS: usize = 128;
/// Version of the description of a kernel (CANNERY_KERNEL_VERSION).
const VERSION: u32 = 1;

/// See the module.
#[derive(Debug)]
pub(crate) struct Module {
    /// For texts.
    pub(crate) name: String,
    /// `None`: part of the program, which keeps it loaded.
    _library: Option<Library>,
    /// Where its place 0 is in this process.
    base: u64,
    /// Bytes of its image.
    pub(crate) bytes: u64,
    /// What an image begins with: parts of the module, from `base` on.
    parts: Vec<(u64, u64)>,
    pub(crate) symbols: BTreeMap<String, Symbol>,
}

/// What the program says of a kernel: `cannery_kernel_info` in include/cannery/kernel.h.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelInfo {
    version: u32,
    kind: u32,
    /// Bytes of each parameter; 0 behind the last one.
    sizes: [u32; MOST_PARAMETERS + 1],
}

/// A kernel's description, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Description {
    /// Bytes of each parameter.
    pub(crate) sizes: Vec<u32>,
    /// Called for every thread of a block rather than for every block.
    pub(crate) is_simt: bool,
}

impl KernelInfo {
    /// What it says, or why it cannot be used.
    pub(crate) fn read(&self) -> core::result::Result<Description, String> {
        if self.version != VERSION || self.kind > 1 {
            return Err(format!(
                "is of version {} and kind {}, this library knows version {VERSION} and kinds 0 and 1; \
                 build it with the cannery/kernel.h of this library",
                self.version, self.kind
            ));
        }
        let sizes: Vec<u32> = self.sizes.iter().copied().take_while(|n| *n > 0).collect();
        if sizes.len() > MOST_PARAMETERS {
            return Err(format!("has more than {MOST_PARAMETERS} parameters"));
        }
        Ok(Description {
            sizes,
            is_simt: self.kind == 1,
        })
    }
}

/// A binary that cannot be used.
pub(crate) fn bad_binary(name: &str, cause: impl std::fmt::Display) -> Error {
    Fault::Binary {
        cause: format!("{name} cannot be used as a kernel binary: {cause}"),
    }
    .into()
}

impl Module {
    /// Loads a shared object: from its file, or from its bytes alone.
    pub(crate) fn load(name: String, bytes: &[u8], file: Option<&Path>) -> Result<Module> {
        let Elf { segments, symbols } = elf::read(bytes).map_err(|why| bad_binary(&name, why))?;
        let span = Elf {
            segments: segments.clone(),
            ..Elf::default()
        }
        .span();
        let opened = match file {
            Some(path) => Library::open(path),
            None => Library::open_bytes(bytes),
        };
        let library = opened.map_err(|why| bad_binary(&name, why))?;
        let base = symbols.iter().find_map(|(name, symbol)| {
            let at = library.symbol(&CString::new(name.as_str()).ok()?)?;
            at.checked_sub(symbol.start)
        });
        let Some(base) = base else {
            return Err(bad_binary(
                &name,
                "it exports neither kernels nor variables; declare them with CANNERY_KERNEL and \
                 CANNERY_VARIABLE",
            ));
        };
        let readable = segments.iter().filter(|segment| segment.readable);
        Ok(Module {
            name,
            _library: Some(library),
            base,
            bytes: span,
            parts: readable.map(|part| (part.start, part.bytes)).collect(),
            symbols,
        })
    }

    /// The variables of the program itself that lie in `[start, end)`.
    pub(crate) fn of_program(start: u64, end: u64) -> Module {
        let bytes = end - start;
        Module {
            name: "the program".to_owned(),
            _library: None,
            base: start,
            bytes,
            parts: vec![(0, bytes)],
            symbols: BTreeMap::new(),
        }
    }

    /// Where a function or variable is in this process.
    pub(crate) fn host_address(&self, symbol: &Symbol) -> u64 {
        self.base + symbol.start
    }

    /// Where place 0 is in this process.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// What the module says of the kernel of this name; `None` when it says nothing.
    pub(crate) fn description(&self, kernel: &str) -> Result<Option<Description>> {
        let Some(symbol) = self.symbols.get(&format!("{kernel}_cannery_info")) else {
            return Ok(None);
        };
        if symbol.is_function || symbol.bytes < size_of::<KernelInfo>() as u64 {
            return Err(bad_binary(
                &self.name,
                format!("the description of {kernel} is too short"),
            ));
        }
        let at = self.host_address(symbol) as *const KernelInfo;
        // SAFETY: a variable of the loaded object that has so many bytes; any bytes are a `KernelInfo`.
        let info = unsafe { at.read_unaligned() };
        let read = info.read();
        read.map(Some)
            .map_err(|why| bad_binary(&self.name, format!("the description of {kernel} {why}")))
    }

    /// A new copy in the memory of the caller's device.
    pub(crate) fn image(&self, here: &Here) -> Result<DeviceBlock> {
        let block = DeviceBlock::new(here, self.bytes.max(1))?;
        // SAFETY: the block has so many bytes; the parts lie in it and are readable in this process
        // while the module is loaded.
        unsafe {
            os::copy::fill(block.alias(), 0, self.bytes);
            for (start, bytes) in &self.parts {
                os::copy::copy(block.alias() + start, self.base + start, *bytes);
            }
        }
        Ok(block)
    }
}
