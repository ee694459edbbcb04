//! Launches that a model holds: what they are, for those who ask, and with other parameters.
#![allow(unsafe_code)] // arguments in memory of the program

use std::sync::Arc;

use cannery_abi as abi;

use super::launch::{self, Attribute};
use super::run::{Args, Launch, Shape};
use crate::error::{Error, Result};
use crate::process::here;

/// Parameters of a launch.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// Function handle.
    pub function: u64,
    /// Attributes of the launch.
    pub attributes: Vec<Attribute>,
    /// Blocks.
    pub blocks: u32,
    /// Where the arguments are.
    pub args: Arguments,
}

/// Arguments of a launch.
#[derive(Clone, Debug)]
pub enum Arguments {
    /// So many bytes at a device address.
    Device {
        /// First byte.
        address: u64,
        /// Bytes.
        bytes: u64,
    },
    /// These, from the host.
    Host(Vec<u8>),
}

impl Launch {
    /// What it is.
    pub(crate) fn parameters(&self) -> Parameters {
        Parameters {
            function: self.function,
            attributes: self.attributes.clone(),
            blocks: match self.shape {
                Shape::Blocks { count, .. } => count,
                Shape::Threads { grid, .. } => grid.iter().product(),
            },
            args: match &self.args {
                Args::None => Arguments::Host(Vec::new()),
                Args::Device { at, bytes } => Arguments::Device {
                    address: at.wrapping_sub(self.distance),
                    bytes: *bytes,
                },
                Args::Host { bytes, .. } => Arguments::Host(bytes.to_vec()),
            },
        }
    }

    /// Value of an attribute, zeros where the launch does not set it. The last one counts.
    ///
    /// # Errors
    /// 107000 for attributes that do not exist; 207000 for those that cannot be asked for.
    pub(crate) fn attribute(&self, id: i32) -> Result<[u32; 4]> {
        let all = abi::ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE
            ..=abi::ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING;
        if !all.contains(&id) {
            return Err(Error::rt_value(
                "attrId",
                id,
                "a value in [1, 9] (aclrtLaunchKernelAttrId)",
            ));
        }
        let hidden = [
            abi::ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE,
            abi::ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET,
            abi::ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH,
        ];
        if hidden.contains(&id) {
            return Err(Error::unsupported(format!(
                "attribute {id} cannot be asked for: engine type (3), block offset (4) and prefetch (5) cannot"
            )));
        }
        let set = self.attributes.iter().rev().find(|(own, _)| *own == id);
        Ok(set.map_or([0; 4], |(_, words)| *words))
    }

    /// The launch with other parameters. Arguments of the same size from the host keep their place on the device, so
    /// that pointers of the arguments into themselves stay right.
    ///
    /// # Errors
    /// As for a launch; 507009 for SIMT kernels.
    pub(crate) fn with(&self, new: Parameters) -> Result<Launch> {
        if matches!(self.shape, Shape::Threads { .. }) {
            return Err(Error::sequence(
                abi::ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT,
                "launches of SIMT kernels cannot be changed; task groups (aclmdlRICaptureTaskUpdateBegin) change \
                 them",
            ));
        }
        let call = launch::call(new.function, new.blocks, new.attributes)?;
        let here = here()?;
        let args = match new.args {
            Arguments::Device { address, bytes } => launch::device_args(&here, address, bytes)?,
            Arguments::Host(bytes) if bytes.is_empty() => Args::None,
            Arguments::Host(bytes) => {
                let (at, block) = match &self.args {
                    Args::Host {
                        bytes: old,
                        at,
                        block,
                    } if old.len() == bytes.len() => (*at, block.clone()),
                    _ => launch::place_for(&here, bytes.len() as u64)?,
                };
                Args::Host {
                    bytes: bytes.into_boxed_slice(),
                    at,
                    block,
                }
            }
        };
        call.launch(&here, args)
    }
}

/// Parameters with arguments that the program has in host or device memory.
///
/// # Errors
/// 100000 for NULL arguments with a size.
///
/// # Safety
/// On the host the arguments are readable.
pub unsafe fn read(
    function: u64,
    attributes: Vec<Attribute>,
    blocks: u32,
    (args, bytes, on_host): (u64, u64, bool),
) -> Result<Parameters> {
    if args == 0 && bytes > 0 {
        return Err(Error::null("params.args"));
    }
    let args = if on_host {
        // SAFETY: per contract.
        Arguments::Host(unsafe { launch::copy_in(args, bytes) })
    } else {
        Arguments::Device {
            address: args,
            bytes,
        }
    };
    Ok(Parameters {
        function,
        attributes,
        blocks,
        args,
    })
}

/// Where arguments of a launch that repeats are put.
pub(super) type Place = (u64, Option<Arc<crate::memory::inner::DeviceBlock>>);
