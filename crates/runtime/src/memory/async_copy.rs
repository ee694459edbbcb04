//! Manual chapter: memory copy and set, the queued forms.

use cannery_abi as abi;
use cannery_observe::Family;

use super::copy2d::{self, Plane};
use super::locate::{self, Spot};
use super::{batch, guard};
use crate::error::{Error, Fault, Result};
use crate::process::{Here, here};
use crate::stream::manage::{find, stream_of_call};
use crate::stream::task::Task;
use crate::stream::{Stream, engine};

/// What the runtime knows of one end of a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Device,
    Pinned,
    /// Host memory of the program that may be paged out.
    Pageable,
}

impl End {
    fn is_host(self) -> bool {
        self != End::Device
    }
}

fn end_of(here: &Here, address: u64, bytes: u64, spot: &Spot) -> End {
    if spot.device.is_some() {
        return End::Device;
    }
    let host = locate::block(here.runtime, address);
    let own = host.is_some_and(|block| Family::from_number(block.owner.family).is_host());
    match own || here.runtime.registered.covers(address, bytes) {
        true => End::Pinned,
        false => End::Pageable,
    }
}

fn host_to_host(dst: u64, src: u64) -> Error {
    Error::unsupported(format!(
        "dst {dst:#x} and src {src:#x} are both host memory: queued copies from host to host do not exist \
         where host and device are apart; use memcpy or aclrtMemcpy"
    ))
}

/// One end of a copy, in words.
fn words(end: End, spot: &Spot) -> String {
    match (end, spot.device) {
        (End::Device, Some(device)) if device != locate::EVERY_DEVICE => {
            format!("memory of device {device}")
        }
        (End::Device, _) => "managed memory".to_owned(),
        (End::Pinned, _) => "pinned host memory".to_owned(),
        (End::Pageable, _) => "host memory of the program".to_owned(),
    }
}

/// A direction as programs write it.
fn name_of(kind: i32) -> &'static str {
    match kind {
        abi::ACL_MEMCPY_HOST_TO_HOST => "ACL_MEMCPY_HOST_TO_HOST",
        abi::ACL_MEMCPY_HOST_TO_DEVICE => "ACL_MEMCPY_HOST_TO_DEVICE",
        abi::ACL_MEMCPY_DEVICE_TO_HOST => "ACL_MEMCPY_DEVICE_TO_HOST",
        abi::ACL_MEMCPY_DEVICE_TO_DEVICE => "ACL_MEMCPY_DEVICE_TO_DEVICE",
        abi::ACL_MEMCPY_DEFAULT => "ACL_MEMCPY_DEFAULT",
        _ => "ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE",
    }
}

/// An end of a copy: the address that was given, where it is, and what is known of it.
type Given<'a> = (u64, &'a Spot, End);

/// With one unknown end the kind may only choose between the directions that fit.
fn check_kind(kind: i32, dst: Given<'_>, src: Given<'_>) -> Result<()> {
    let (to, from) = (dst.2, src.2);
    if to.is_host() && from.is_host() {
        return Err(host_to_host(dst.0, src.0));
    }
    if to != End::Pageable && from != End::Pageable {
        // Both ends are known: the kind is corrected, whatever it was.
        return Ok(());
    }
    let natural = if to.is_host() {
        abi::ACL_MEMCPY_DEVICE_TO_HOST
    } else {
        abi::ACL_MEMCPY_HOST_TO_DEVICE
    };
    let fits = [
        natural,
        abi::ACL_MEMCPY_DEVICE_TO_DEVICE,
        abi::ACL_MEMCPY_DEFAULT,
    ];
    let buffered = kind == abi::ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE && from.is_host();
    if fits.contains(&kind) || buffered {
        return Ok(());
    }
    Err(Error::rt_param(
        abi::ACL_ERROR_RT_PARAM_INVALID,
        "kind",
        format!(
            "{} ({kind}) does not fit: dst {:#x} is {}, src {:#x} is {}; use {} ({natural}), or \
             ACL_MEMCPY_DEFAULT (4)",
            name_of(kind),
            dst.0,
            words(to, dst.1),
            src.0,
            words(from, src.1),
            name_of(natural),
        ),
    ))
}

fn check_front(dst: u64, src: u64, kind: i32) -> Result<()> {
    if dst == 0 {
        return Err(Error::null("dst"));
    }
    if src == 0 {
        return Err(Error::null("src"));
    }
    if !(abi::ACL_MEMCPY_HOST_TO_HOST..=abi::ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE).contains(&kind) {
        let error = Error::value("kind", kind, "must be in [0, 5] (aclrtMemcpyKind)");
        return Err(error.at("Memory copy type conversion"));
    }
    Ok(())
}

fn check_handle(stream: u64) -> Result<()> {
    if stream == 0 {
        Ok(())
    } else {
        find("stream", stream).map(|_| ())
    }
}

/// Queues a task; where host memory is pageable, or may be reused at once, waits for it. A capture waits for
/// nothing: it refuses what would, or (relaxed) takes it at its word.
///
/// # Errors
/// 107041 while the stream is captured.
fn submit(stream: &'static Stream, task: Task, wait: bool) -> Result<()> {
    if wait && let Some(captured) = stream.captured() {
        crate::graph::mode::blocking_call(&captured.model)?;
    }
    engine::submit(stream, task);
    if wait {
        engine::wait_for(stream, stream.submitted(), None);
    }
    Ok(())
}

/// aclrtMemcpyAsync and aclrtMemcpyAsyncWithCondition. Pinned and registered host memory, device memory: queued;
/// pageable host memory: the stream is drained and the bytes are there on return.
///
/// # Errors
/// 100000 for NULL and kinds; 107017 for a dead stream; 107000 for a count above `dest_max`; 107002
/// without a context; 107003 for a stream of another one; 207000 from host to host (EP); 107000 for
/// kinds that do not fit and ranges outside of their blocks. Nothing is queued then.
pub fn memcpy(dst: u64, dest_max: u64, src: u64, count: u64, kind: i32, stream: u64) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    check_front(dst, src, kind)?;
    check_handle(stream)?;
    if count > dest_max {
        return Err(Error::rt_value(
            "cnt",
            count,
            format!("a value in (0, {dest_max}] (destMax)"),
        ));
    }
    if dst == src {
        return Ok(());
    }
    let (here, stream) = stream_of_call("stream", stream)?;
    let (to, from) = super::copy::ends(&here, dst, src, count)?;
    let (to_end, from_end) = (
        end_of(&here, dst, count, &to),
        end_of(&here, src, count, &from),
    );
    if !here.runtime.is_rc() {
        check_kind(kind, (dst, &to, to_end), (src, &from, from_end))?;
    }
    let pageable = to_end == End::Pageable || from_end == End::Pageable;
    let buffered = kind == abi::ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;
    submit(
        stream,
        Task::Copy {
            to: to.at,
            from: from.at,
            bytes: count,
        },
        pageable || buffered,
    )
}

/// aclrtMemsetAsync: queued on device memory, pinned and registered memory.
///
/// # Errors
/// 100000 for NULL; 107017; 107000 for a count above `max`; 107002; 107003; 107000 for a range outside
/// of its block.
pub fn memset(address: u64, max: u64, value: i32, count: u64, stream: u64) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    if address == 0 {
        return Err(Error::null("devPtr"));
    }
    check_handle(stream)?;
    if count > max {
        return Err(Error::rt_value(
            "cnt",
            count,
            format!("a value in (0, {max}] (maxCount)"),
        ));
    }
    let (here, stream) = stream_of_call("stream", stream)?;
    let spot = locate::range(here.runtime, "devPtr", address, count)?;
    if spot.device.is_some() {
        guard::touch(spot.at, count)?;
    }
    locate::note_touch(&here, &spot, address, count, true);
    let wait = end_of(&here, address, count, &spot) == End::Pageable;
    submit(
        stream,
        Task::Fill {
            at: spot.at,
            value: value as u8,
            bytes: count,
        },
        wait,
    )
}

/// aclrtMemsetD32Async: device memory in stream order, host memory at once.
///
/// # Errors
/// As aclrtMemsetD32, and 107017, 107003 for the stream.
pub fn memset_d32(address: u64, size: u64, value: u32, count: u64, stream: u64) -> Result<()> {
    let Some((spot, count)) = super::set::check_d32(address, size, count)? else {
        return Ok(());
    };
    check_handle(stream)?;
    let (_, stream) = stream_of_call("stream", stream)?;
    let host = spot.device.is_none();
    submit(
        stream,
        Task::FillWords {
            at: spot.at,
            value,
            count,
        },
        host,
    )
}

/// aclrtMemcpy2dAsync: also from device to device.
///
/// # Errors
/// As aclrtMemcpy2d; without a context 107000, since no stream can be found.
pub fn memcpy2d(
    dst: Plane,
    src: Plane,
    width: u64,
    height: u64,
    kind: i32,
    stream: u64,
) -> Result<()> {
    if width == 0 || height == 0 {
        return Ok(());
    }
    copy2d::check_arguments(dst, src, width, height, kind)?;
    check_handle(stream)?;
    if stream == 0 && here().is_err() {
        return Err(Fault::RtNull { param: "curStm" }.into());
    }
    let (here, stream) = stream_of_call("stream", stream)?;
    let (to, from) = copy2d::ends(&here, dst, src, width, height)?;
    let (to_end, from_end) = (
        end_of(&here, dst.address, dst.pitch * (height - 1) + width, &to),
        end_of(&here, src.address, src.pitch * (height - 1) + width, &from),
    );
    if to_end.is_host() && from_end.is_host() {
        return Err(host_to_host(dst.address, src.address));
    }
    let row = |row: u64| (to.at + row * dst.pitch, from.at + row * src.pitch, width);
    let rows: Box<[_]> = (0..height).map(row).collect();
    let pageable = to_end == End::Pageable || from_end == End::Pageable;
    submit(stream, Task::Copies(rows), pageable)
}

/// aclrtMemcpyBatchAsync and V2.
///
/// # Errors
/// As aclrtMemcpyBatch, and 107017, 107003 for the stream.
pub fn memcpy_batch(
    list: &batch::Batch<'_>,
    fail: Option<&mut usize>,
    fail_expected: bool,
    stream: u64,
) -> Result<()> {
    check_handle(stream)?;
    let Some(ready) = batch::prepare(list, fail, fail_expected, true)? else {
        return Ok(());
    };
    let (here, stream) = stream_of_call("stream", stream)?;
    let mut pageable = false;
    for (to, from, bytes) in &ready {
        for spot in [to, from] {
            pageable |= end_of(&here, spot.at, *bytes, spot) == End::Pageable;
        }
    }
    let copies: Box<[_]> = ready
        .iter()
        .map(|(to, from, n)| (to.at, from.at, *n))
        .collect();
    submit(stream, Task::Copies(copies), pageable)
}

/// aclrtMemcpyAsyncWithDesc: the copy that a description holds, read when the task runs.
///
/// # Errors
/// 100000 for NULL, the default stream included; 207000 for other kinds; 107017, 107002, 107003; 107000
/// for memory without a description.
pub fn memcpy_with_descriptor(desc: u64, kind: i32, stream: u64) -> Result<()> {
    if desc == 0 {
        return Err(Error::null("desc"));
    }
    if stream == 0 {
        return Err(Error::null("stream"));
    }
    super::descriptor::check_kind(kind)?;
    let (here, stream) = stream_of_call("stream", stream)?;
    let (src, dst, count) = super::descriptor::read(&here, desc)?;
    let (to, from) = super::copy::ends(&here, dst, src, count)?;
    submit(
        stream,
        Task::Copy {
            to: to.at,
            from: from.at,
            bytes: count,
        },
        false,
    )
}
