//! The launch calls: their arguments, checked, become a task.
#![allow(unsafe_code)] // arguments in memory of the program

use std::sync::Arc;

use cannery_abi as abi;

use super::function::{Kernel, find, offsets};
use super::run::{Args, Launch, Shape};
use super::{args, symbol};
use crate::custom_allocator;
use crate::error::{Error, Result};
use crate::memory::locate;
use crate::os;
use crate::process::Here;
use crate::stream::manage::stream_of_call;
use crate::stream::task::Task;
use crate::stream::{Stream, engine, manage};

/// One attribute of a launch: its id, and the words of its value.
pub type Attribute = (i32, [u32; 4]);

/// A pointer in the arguments that a launch fills in, in bytes from their start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// Where the pointer goes.
    pub address: u64,
    /// What it points to.
    pub data: u64,
}

/// Arguments in host memory.
#[derive(Clone, Copy)]
pub struct HostArgs<'a> {
    /// First byte.
    pub start: u64,
    /// Bytes.
    pub bytes: u64,
    /// `None`: NULL.
    pub placeholders: Option<&'a [abi::aclrtPlaceHolderInfo]>,
    /// As the program said.
    pub placeholder_count: usize,
}

/// What the attributes of a launch decide.
#[derive(Clone, Copy, Default)]
struct Config {
    first: u32,
    scratch: u32,
}

fn config(attributes: &[Attribute]) -> Result<Config> {
    let mut config = Config::default();
    for (id, words) in attributes {
        let word = words[0];
        let small = word & 0xff;
        let most = match *id {
            abi::ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE => {
                config.scratch = word;
                continue;
            }
            abi::ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET => {
                config.first = word;
                continue;
            }
            // Nothing here schedules, prefetches, dumps or profiles kernels, or ends them.
            abi::ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT | abi::ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US => {
                continue;
            }
            abi::ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE => (word, 1),
            1 | 5 | 6 | 9 => (small, 1),
            _ => {
                return Err(Error::rt_value(
                    "cfg->attrs[].id",
                    id,
                    "a value in [1, 9] (aclrtLaunchKernelAttrId)",
                ));
            }
        };
        if most.0 > most.1 {
            return Err(Error::rt_value(
                "cfg->attrs[].value",
                most.0,
                format!("0 or 1 for attribute {id}"),
            ));
        }
    }
    Ok(config)
}

/// Bytes of the program, copied.
///
/// # Safety
/// They are readable.
pub(super) unsafe fn copy_in(from: u64, bytes: u64) -> Vec<u8> {
    let mut all = vec![0u8; bytes as usize];
    // SAFETY: per contract; `all` has as many.
    unsafe { os::copy::copy(all.as_mut_ptr() as u64, from, bytes) };
    all
}

fn check_front(function: u64, param: &'static str, blocks: u32) -> Result<()> {
    if function == 0 {
        return Err(Error::null(param));
    }
    if blocks == 0 {
        return Err(Error::zero("numBlocks"));
    }
    Ok(())
}

/// A stream that is not the default one is looked at before its context.
fn check_stream(stream: u64) -> Result<()> {
    match stream {
        0 => Ok(()),
        _ => manage::find("stream", stream).map(|_| ()),
    }
}

/// What is launched, but for its arguments.
pub(super) struct Call {
    function: u64,
    kernel: Arc<Kernel>,
    shape: Shape,
    attributes: Vec<Attribute>,
    scratch: u32,
}

impl Call {
    /// A kernel in blocks.
    fn blocks(
        function: u64,
        kernel: Arc<Kernel>,
        count: u32,
        attributes: Vec<Attribute>,
        config: Config,
    ) -> Call {
        let first = config.first;
        Call {
            function,
            kernel,
            shape: Shape::Blocks { first, count },
            attributes,
            scratch: config.scratch,
        }
    }

    pub(super) fn launch(self, here: &Here, args: Args) -> Result<Launch> {
        let (image, variables) = self.kernel.image(here)?;
        Ok(Launch {
            function: self.function,
            kernel: self.kernel,
            attributes: self.attributes,
            _image: image,
            variables,
            device: here.device().index() as u32,
            distance: here.runtime.window.distance(),
            shape: self.shape,
            args,
            scratch: self.scratch,
        })
    }
}

struct Target {
    here: Here,
    stream: &'static Stream,
    handle: u64,
}

fn target(stream: u64) -> Result<Target> {
    let (here, found) = stream_of_call("stream", stream)?;
    let handle = match stream {
        0 => manage::default_stream(&here)?.0,
        handle => handle,
    };
    Ok(Target {
        here,
        stream: found,
        handle,
    })
}

fn submit(target: &Target, call: Call, args: Args) -> Result<()> {
    let launch = call.launch(&target.here, args)?;
    engine::submit(target.stream, Task::Kernel(Arc::new(launch)));
    Ok(())
}

/// Launches with arguments that have to get to the device.
fn submit_host_args(
    target: &Target,
    call: Call,
    mut bytes: Vec<u8>,
    placeholders: &[Placeholder],
) -> Result<()> {
    // Before memory is taken for them.
    call.kernel.image(&target.here)?;
    if bytes.is_empty() {
        return submit(target, call, Args::None);
    }
    // A launch that a model repeats needs memory that stays its own.
    let allocator = (!target.stream.keeps_tasks()).then_some(target.handle);
    let mut place = custom_allocator::workspace(&target.here, allocator, bytes.len() as u64)?;
    for placeholder in placeholders {
        let pointer = place.address + placeholder.data;
        let at = placeholder.address as usize;
        bytes[at..at + 8].copy_from_slice(&pointer.to_le_bytes());
    }
    let args = Args::Host {
        bytes: bytes.into_boxed_slice(),
        at: place
            .address
            .wrapping_add(target.here.runtime.window.distance()),
        block: place.block.take().map(Arc::new),
    };
    // Memory of the stream's allocator goes back when `place` ends, which is in stream order.
    submit(target, call, args)
}

/// A launch in blocks for a model that exists already.
pub(super) fn call(function: u64, count: u32, attributes: Vec<Attribute>) -> Result<Call> {
    check_front(function, "params.funcHandle", count)?;
    let config = config(&attributes)?;
    let kernel = find("params.funcHandle", function)?;
    not_simt(&kernel)?;
    Ok(Call::blocks(function, kernel, count, attributes, config))
}

/// Device memory for arguments of a launch that repeats.
pub(super) fn place_for(here: &Here, bytes: u64) -> Result<super::captured::Place> {
    let mut place = custom_allocator::workspace(here, None, bytes)?;
    let at = place.address.wrapping_add(here.runtime.window.distance());
    Ok((at, place.block.take().map(Arc::new)))
}

fn not_simt(kernel: &Kernel) -> Result<()> {
    if kernel.is_simt() {
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "funcHandle",
            format!(
                "kernel {} is a SIMT kernel; launch it with aclrtLaunchSIMTKernelWithHostArgs or \
                 aclrtLaunchSIMTKernelWithArgsArray",
                kernel.name
            ),
        ));
    }
    Ok(())
}

/// aclrtLaunchKernel and aclrtLaunchKernelV2: `bytes` bytes of arguments at `data` on the device.
///
/// # Errors
/// 100000 for NULL, 0 blocks and 0 bytes; 107000 for attributes; 107017 for function and stream; 107002;
/// 107003; 107000 for arguments that are not on the device of the stream, and for a kernel of another
/// device.
pub fn with_device_args(
    function: u64,
    count: u32,
    data: u64,
    bytes: u64,
    attributes: impl FnOnce() -> Result<Vec<Attribute>>,
    stream: u64,
) -> Result<()> {
    check_front(function, "funcHandle", count)?;
    if data == 0 && bytes > 0 {
        return Err(Error::null("argsData"));
    }
    if data != 0 && bytes == 0 {
        return Err(Error::zero("argsSize"));
    }
    let attributes = attributes()?;
    let config = config(&attributes)?;
    let kernel = find("funcHandle", function)?;
    check_stream(stream)?;
    not_simt(&kernel)?;
    let target = target(stream)?;
    let args = device_args(&target.here, data, bytes)?;
    let call = Call::blocks(function, kernel, count, attributes, config);
    submit(&target, call, args)
}

/// Arguments in memory of the program on the device.
pub(super) fn device_args(here: &Here, data: u64, bytes: u64) -> Result<Args> {
    if bytes == 0 {
        return Ok(Args::None);
    }
    let spot = locate::range(here.runtime, "argsData", data, bytes)?;
    if spot.device != Some(here.device().index()) {
        return Err(Error::address(
            "argsData",
            data,
            match spot.device {
                Some(device) => format!("memory of device {device}, not of the launching one"),
                None => "host memory; aclrtLaunchKernelWithHostArgs takes arguments from there"
                    .to_owned(),
            },
        ));
    }
    Ok(Args::Device { at: spot.at, bytes })
}

/// aclrtLaunchKernelWithConfig: arguments of a list.
///
/// # Errors
/// As [`with_device_args`]; 100000 for a reserved argument; 107017 for the list; 107000 where it is not
/// complete or of another kernel; 207001.
pub fn with_list(
    function: u64,
    count: u32,
    stream: u64,
    attributes: impl FnOnce() -> Result<Vec<Attribute>>,
    list: u64,
    reserve: u64,
) -> Result<()> {
    check_front(function, "funcHandle", count)?;
    if list == 0 {
        return Err(Error::null("argsHandle"));
    }
    if reserve != 0 {
        return Err(Error::cause(
            "reserve",
            format!("{reserve:#x}"),
            "reserved, must be NULL",
        ));
    }
    let attributes = attributes()?;
    let config = config(&attributes)?;
    let kernel = find("funcHandle", function)?;
    check_stream(stream)?;
    not_simt(&kernel)?;
    let (bytes, placeholders) = args::bytes_for(function, list)?;
    let target = target(stream)?;
    let call = Call::blocks(function, kernel, count, attributes, config);
    submit_host_args(&target, call, bytes, &placeholders)
}

/// Checks arguments in host memory and copies them.
///
/// # Safety
/// They are readable.
unsafe fn read(args: &HostArgs<'_>) -> Result<(Vec<u8>, Vec<Placeholder>)> {
    if args.start == 0 && args.bytes > 0 {
        return Err(Error::null("hostArgs"));
    }
    if args.start != 0 && args.bytes == 0 {
        return Err(Error::zero("argsSize"));
    }
    if args.placeholder_count > 0 && args.placeholders.is_none() {
        return Err(Error::null("placeHolderArray"));
    }
    let mut placeholders = Vec::new();
    for info in args.placeholders.unwrap_or_default() {
        let (address, data) = (u64::from(info.addrOffset), u64::from(info.dataOffset));
        if address + 8 > args.bytes || data >= args.bytes {
            return Err(Error::rt_value(
                "placeHolderArray[]",
                format!("{{{address}, {data}}}"),
                format!("offsets within the {} bytes of the arguments", args.bytes),
            ));
        }
        placeholders.push(Placeholder { address, data });
    }
    // SAFETY: per contract.
    Ok((unsafe { copy_in(args.start, args.bytes) }, placeholders))
}

/// aclrtLaunchKernelWithHostArgs: arguments in host memory, which may be reused at once.
///
/// # Errors
/// As [`with_device_args`]; 107000 for placeholders outside of the arguments; 207001.
///
/// # Safety
/// The arguments are readable for the whole call.
pub unsafe fn with_host_args(
    function: u64,
    count: u32,
    stream: u64,
    attributes: impl FnOnce() -> Result<Vec<Attribute>>,
    args: &HostArgs<'_>,
) -> Result<()> {
    check_front(function, "funcHandle", count)?;
    let attributes = attributes()?;
    let config = config(&attributes)?;
    // SAFETY: per contract.
    let (bytes, placeholders) = unsafe { read(args)? };
    let kernel = find("funcHandle", function)?;
    check_stream(stream)?;
    not_simt(&kernel)?;
    let target = target(stream)?;
    let call = Call::blocks(function, kernel, count, attributes, config);
    submit_host_args(&target, call, bytes, &placeholders)
}

/// A function handle, or the address of a kernel of the program.
fn handle_or_symbol(func: u64) -> Result<(u64, Arc<Kernel>)> {
    let handle = symbol::kernel_at(func)?.unwrap_or(func);
    Ok((handle, find("func", handle)?))
}

/// Packs arguments that are given by address.
///
/// # Safety
/// `args` points to as many pointers as the kernel has parameters, each to a value of its size.
unsafe fn pack(kernel: &Kernel, args: u64) -> Result<Vec<u8>> {
    let sizes = kernel.sizes()?;
    let offsets = offsets(sizes);
    if args == 0 && !sizes.is_empty() {
        return Err(Error::null("args"));
    }
    let mut bytes = vec![0u8; offsets[sizes.len()] as usize];
    for (i, size) in sizes.iter().enumerate() {
        // SAFETY: per contract.
        let value = unsafe { (args as *const u64).add(i).read() };
        if value == 0 {
            return Err(Error::null("args[]"));
        }
        let at = bytes.as_mut_ptr() as u64 + offsets[i];
        // SAFETY: per contract; the place has room for it.
        unsafe { os::copy::copy(at, value, u64::from(*size)) };
    }
    Ok(bytes)
}

/// aclrtLaunchKernelWithArgsArray: `func` is a function handle or a kernel of the program; `args` points
/// to the address of each argument.
///
/// # Errors
/// As [`with_host_args`]; 107000 where nothing says which parameters the kernel has.
///
/// # Safety
/// Number and sizes of the arguments are those of the kernel.
pub unsafe fn with_array(
    func: u64,
    count: u32,
    stream: u64,
    attributes: impl FnOnce() -> Result<Vec<Attribute>>,
    args: u64,
) -> Result<()> {
    check_front(func, "func", count)?;
    let attributes = attributes()?;
    let config = config(&attributes)?;
    let (function, kernel) = handle_or_symbol(func)?;
    check_stream(stream)?;
    not_simt(&kernel)?;
    // SAFETY: per contract.
    let bytes = unsafe { pack(&kernel, args)? };
    let target = target(stream)?;
    let call = Call::blocks(function, kernel, count, attributes, config);
    submit_host_args(&target, call, bytes, &[])
}

/// Grid and block of a SIMT launch, in blocks and threads.
#[derive(Clone, Copy, Debug)]
pub struct Dimensions {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Bytes of scratch memory for each block.
    pub scratch: u64,
}

fn threads(dimensions: &Dimensions) -> Result<(Shape, u32)> {
    for (param, sizes) in [("gridDim", dimensions.grid), ("blockDim", dimensions.block)] {
        let all = sizes
            .iter()
            .try_fold(1u32, |all, size| all.checked_mul(*size));
        if all.is_none_or(|all| all == 0) {
            return Err(Error::value(
                param,
                format!("{sizes:?}"),
                "each must be above 0, and their product below 2^32",
            ));
        }
    }
    let scratch = u32::try_from(dimensions.scratch)
        .map_err(|_| Error::value("dynUbufSize", dimensions.scratch, "must be below 4 GiB"))?;
    let shape = Shape::Threads {
        grid: dimensions.grid,
        block: dimensions.block,
    };
    Ok((shape, scratch))
}

fn only_simt(kernel: &Kernel) -> Result<()> {
    if kernel.is_simt() {
        return Ok(());
    }
    Err(Error::rt_param(
        abi::ACL_ERROR_RT_PARAM_INVALID,
        "func",
        format!(
            "kernel {} is no SIMT kernel; describe it with CANNERY_SIMT_PARAMETERS, or launch it with \
             aclrtLaunchKernelWithHostArgs",
            kernel.name
        ),
    ))
}

/// aclrtLaunchSIMTKernelWithHostArgs.
///
/// # Errors
/// As [`with_host_args`]; 100000 for sizes of 0; 107000 for a kernel that is not SIMT; 207000 where the
/// product lacks it.
///
/// # Safety
/// As [`with_host_args`].
pub unsafe fn simt_with_host_args(
    func: u64,
    dimensions: &Dimensions,
    stream: u64,
    attributes: impl FnOnce() -> Result<Vec<Attribute>>,
    args: &HostArgs<'_>,
) -> Result<()> {
    check_front(func, "func", 1)?;
    let (shape, scratch) = threads(dimensions)?;
    let attributes = attributes()?;
    let config = Config {
        scratch,
        ..config(&attributes)?
    };
    // SAFETY: per contract.
    let (bytes, placeholders) = unsafe { read(args)? };
    let (function, kernel) = handle_or_symbol(func)?;
    check_stream(stream)?;
    only_simt(&kernel)?;
    let target = target(stream)?;
    let call = Call {
        function,
        kernel,
        shape,
        attributes,
        scratch: config.scratch,
    };
    submit_host_args(&target, call, bytes, &placeholders)
}

/// aclrtLaunchSIMTKernelWithArgsArray.
///
/// # Errors
/// As [`simt_with_host_args`].
///
/// # Safety
/// As [`with_array`].
pub unsafe fn simt_with_array(
    func: u64,
    dimensions: &Dimensions,
    stream: u64,
    attributes: impl FnOnce() -> Result<Vec<Attribute>>,
    args: u64,
) -> Result<()> {
    check_front(func, "func", 1)?;
    let (shape, scratch) = threads(dimensions)?;
    let attributes = attributes()?;
    let config = Config {
        scratch,
        ..config(&attributes)?
    };
    let (function, kernel) = handle_or_symbol(func)?;
    check_stream(stream)?;
    only_simt(&kernel)?;
    // SAFETY: per contract.
    let bytes = unsafe { pack(&kernel, args)? };
    let target = target(stream)?;
    let call = Call {
        function,
        kernel,
        shape,
        attributes,
        scratch: config.scratch,
    };
    submit_host_args(&target, call, bytes, &[])
}
