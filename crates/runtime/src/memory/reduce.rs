//! aclrtReduceAsync: element by element, dst = dst op src, in stream order.
#![allow(unsafe_code)] // reads and writes the elements

use cannery_abi as abi;

use super::{copy, guard, locate};
use crate::error::{Error, Fault, Result};
use crate::half;
use crate::stream::engine;
use crate::stream::manage::{find, stream_of_call};
use crate::stream::task::Task;

#[derive(Clone, Copy)]
enum Op {
    Sum,
    Max,
    Min,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    F32,
    F16,
    Bf16,
    I8,
    I16,
    I32,
    U32,
}

impl Element {
    fn of(data_type: i32) -> Option<Element> {
        Some(match data_type {
            abi::ACL_FLOAT => Element::F32,
            abi::ACL_FLOAT16 => Element::F16,
            abi::ACL_BF16 => Element::Bf16,
            abi::ACL_INT8 => Element::I8,
            abi::ACL_INT16 => Element::I16,
            abi::ACL_INT32 => Element::I32,
            abi::ACL_UINT32 => Element::U32,
            _ => return None,
        })
    }

    fn bytes(self) -> u64 {
        match self {
            Element::I8 => 1,
            Element::F16 | Element::Bf16 | Element::I16 => 2,
            Element::F32 | Element::I32 | Element::U32 => 4,
        }
    }

    /// Types that a product reduces, by the manual.
    fn known_to(self, profile: &str) -> bool {
        use Element::{Bf16, F16, F32, I8, I16, I32, U32};
        let list: &[Element] = match profile {
            "950" => &[I8, I16, I32, U32, F16, F32, Bf16],
            "A3" | "910B" => &[I8, I16, I32, F16, F32, Bf16],
            "310B" => &[I8, I16, I32, F16, F32],
            "310P" => &[F32, F16, I16],
            _ => &[F32],
        };
        list.contains(&self)
    }
}

/// Queues a reduction of `count` bytes.
///
/// # Errors
/// 100000 for NULL and the reserved argument; 107017; 107000 for a count of 0 or of broken elements,
/// unknown kinds and types; 107002, 107003; 207000 for what the product lacks.
pub fn reduce(
    dst: u64,
    src: u64,
    count: u64,
    kind: i32,
    data_type: i32,
    stream: u64,
    reserve: u64,
) -> Result<()> {
    for (name, address) in [("dst", dst), ("src", src)] {
        if address == 0 {
            return Err(Error::null(name));
        }
    }
    if reserve != 0 {
        return Err(Fault::Param {
            param: "reserve",
            cause: "reserved, must be NULL".to_owned(),
        }
        .into());
    }
    if stream != 0 {
        find("stream", stream)?;
    }
    if count == 0 {
        return Err(Error::rt_value("count", 0, "a number of bytes above 0"));
    }
    let op = match kind {
        abi::ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM => Op::Sum,
        abi::ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX => Op::Max,
        abi::ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN => Op::Min,
        abi::ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL => {
            return Err(Error::unsupported(
                "what the kind EQUAL (13) computes is not stated anywhere",
            ));
        }
        _ => {
            return Err(Error::rt_value(
                "kind",
                kind,
                "10 (sum), 11 (max) or 12 (min)",
            ));
        }
    };
    let (here, stream) = stream_of_call("stream", stream)?;
    let profile = here.runtime.settings.profile.name;
    let element = Element::of(data_type).filter(|element| element.known_to(profile));
    let Some(element) = element else {
        return Err(Error::rt_value(
            "type",
            data_type,
            format!("a type that profile {profile} reduces"),
        ));
    };
    if !matches!(op, Op::Sum) && matches!(profile, "310P" | "910") {
        return Err(Error::unsupported(format!(
            "profile {profile} reduces by sum only"
        )));
    }
    if !count.is_multiple_of(element.bytes()) {
        return Err(Error::rt_value(
            "count",
            count,
            format!("a multiple of {}", element.bytes()),
        ));
    }
    let own = here.device().index();
    let to = locate::device_range(here.runtime, own, "dst", dst, count)?;
    let from = locate::device_range(here.runtime, own, "src", src, count)?;
    if let (Some(a), Some(b)) = (from.device, to.device)
        && a != b
    {
        here.runtime
            .check_peer_copy(a, b, crate::peer::Maker::Queue)?;
    }
    guard::touch(to.at, count)?;
    locate::note_touch(&here, &to, dst, count, true);
    locate::note_touch(&here, &from, src, count, false);
    for (name, address) in [("dst", dst), ("src", src)] {
        if !address.is_multiple_of(element.bytes()) {
            return Err(Error::address(
                name,
                address,
                "is not aligned to its elements",
            ));
        }
    }
    let elements = count / element.bytes();
    let work = move || {
        run(to.at, from.at, elements, op, element);
        0
    };
    engine::submit(stream, Task::Compute(std::sync::Arc::new(work)));
    Ok(())
}

fn each<T: Copy>(to: u64, from: u64, count: u64, op: impl Fn(T, T) -> T) {
    for i in 0..count as usize {
        // SAFETY: both ranges were checked at submission, aligned, and memory of the runtime stays
        // mapped (registered memory per contract, as with any queued copy); every pattern of bits is
        // a number.
        unsafe {
            let place = (to as *mut T).add(i);
            place.write(op(place.read(), (from as *const T).add(i).read()));
        }
    }
}

fn run(to: u64, from: u64, count: u64, op: Op, element: Element) {
    let float = |a: f32, b: f32| match op {
        Op::Sum => a + b,
        Op::Max => a.max(b),
        Op::Min => a.min(b),
    };
    macro_rules! integers {
        ($kind:ty) => {
            each::<$kind>(to, from, count, |a, b| match op {
                Op::Sum => a.wrapping_add(b),
                Op::Max => a.max(b),
                Op::Min => a.min(b),
            })
        };
    }
    match element {
        Element::F32 => each::<f32>(to, from, count, float),
        Element::F16 => each::<u16>(to, from, count, |a, b| {
            half::to_f16(float(half::from_f16(a), half::from_f16(b)))
        }),
        Element::Bf16 => each::<u16>(to, from, count, |a, b| {
            half::to_bf16(float(half::from_bf16(a), half::from_bf16(b)))
        }),
        Element::I8 => integers!(i8),
        Element::I16 => integers!(i16),
        Element::I32 => integers!(i32),
        Element::U32 => integers!(u32),
    }
}

/// aclrtMemcpyAsyncWithOffset: `dst` and `src` are places in device memory that hold the base
/// addresses, read when the task runs.
///
/// # Errors
/// 100000 for NULL; 207000 for other kinds; 107017; 107000 for a count above `dest_max` and places that
/// are no device memory; 107002, 107003. A base address that is bad when the task runs fails the
/// stream: 107000 at the next synchronisation.
#[allow(clippy::too_many_arguments)] // those of the C call
pub fn copy_with_offset(
    dst: u64,
    dest_max: u64,
    dst_offset: u64,
    src: u64,
    count: u64,
    src_offset: u64,
    kind: i32,
    stream: u64,
) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    for (name, address) in [("dst", dst), ("src", src)] {
        if address == 0 {
            return Err(Error::null(name));
        }
    }
    if stream != 0 {
        find("stream", stream)?;
    }
    if kind != abi::ACL_MEMCPY_INNER_DEVICE_TO_DEVICE {
        return Err(Error::unsupported(format!(
            "kind {kind}: only 6 (INNER_DEVICE_TO_DEVICE) is possible"
        )));
    }
    if count > dest_max {
        return Err(Error::rt_value(
            "cnt",
            count,
            format!("a value in (0, {dest_max}] (destMax)"),
        ));
    }
    let (here, stream) = stream_of_call("stream", stream)?;
    let place = |name, address: u64| {
        let spot = locate::range(here.runtime, name, address, 8)?;
        match spot.device {
            Some(_) if address.is_multiple_of(8) => Ok(spot.at),
            _ => Err(Error::address(
                name,
                address,
                "must be device memory at a multiple of 8",
            )),
        }
    };
    let (to_place, from_place) = (place("dst", dst)?, place("src", src)?);
    let work = move || {
        // SAFETY: eight bytes each of device memory, checked at submission and aligned.
        let (to, from) = unsafe {
            (
                (to_place as *const u64).read(),
                (from_place as *const u64).read(),
            )
        };
        let (to, from) = (to.wrapping_add(dst_offset), from.wrapping_add(src_offset));
        match copy::ends(&here, to, from, count) {
            Ok((to, from)) if to.device.is_some() && from.device.is_some() => {
                // SAFETY: both ranges were checked just now.
                unsafe { crate::os::copy::copy(to.at, from.at, count) };
                0
            }
            _ => abi::ACL_ERROR_RT_PARAM_INVALID,
        }
    };
    engine::submit(stream, Task::Compute(std::sync::Arc::new(work)));
    Ok(())
}
