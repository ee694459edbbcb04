//! The overflow status (manual chapters: context management, device management, other functions). Operators
//! raise it by writing to the address of a flag; there are none here, so it says that nothing overflowed,
//! zeros, unless a kernel or a copy of the program writes there.
#![allow(unsafe_code)] // clears fresh device memory

use crate::context::Context;
use crate::error::{Error, Fault, Result};
use crate::memory::inner::DeviceBlock;
use crate::memory::{guard, locate};
use crate::os;
use crate::process::here;
use crate::stream::engine;
use crate::stream::manage::{find, stream_of_call};
use crate::stream::task::Task;

/// Bytes of the status.
const STATUS: u64 = 64;

/// aclrtCtxGetFloatOverflowAddr: the address of the flag of the current context, made and cleared when it is
/// first asked for.
///
/// # Errors
/// 107002 without a context; 207001 without device memory for it; 207000 where the product lacks it.
pub fn flag_address() -> Result<u64> {
    let here = here()?;
    let mut flag = here.context.overflow_flag();
    if let Some(block) = flag.as_ref().filter(|block| block.is_there()) {
        return Ok(block.address());
    }
    // Another one would be of memory that a reset has taken away.
    let block = DeviceBlock::of(&here, STATUS, cannery_observe::Family::Status)?;
    // SAFETY: fresh memory of so many bytes, which nobody knows yet.
    unsafe { os::copy::fill(block.alias(), 0, STATUS) };
    let address = block.address();
    *flag = Some(block);
    Ok(address)
}

/// Where the runtime touches the flag of a context; `None` while nobody has asked for it.
fn flag_of(context: &Context) -> Option<u64> {
    let flag = context.overflow_flag();
    flag.as_ref()
        .filter(|block| block.is_there())
        .map(DeviceBlock::alias)
}

/// aclrtGetOverflowStatus: queues the writing of the status to device memory.
///
/// # Errors
/// 100000 without an address and for a size other than 64; 107017; 107002; 107003; 107000 for what is
/// not 64 bytes of device memory; 207000 where the product lacks it; 207001 when the host runs out of
/// memory.
pub fn query(address: u64, bytes: u64, stream: u64) -> Result<()> {
    if address == 0 {
        return Err(Error::null("outputAddr"));
    }
    if bytes != STATUS {
        return Err(Error::value("outputSize", bytes, "must be 64"));
    }
    if stream != 0 {
        find("stream", stream)?;
    }
    let (here, stream) = stream_of_call("stream", stream)?;
    let spot = locate::range(here.runtime, "outputAddr", address, STATUS)?;
    if spot.device.is_none() {
        return Err(Fault::Address {
            param: "outputAddr",
            address,
            cause: "host memory; the status goes to device memory".to_owned(),
        }
        .into());
    }
    guard::touch(spot.at, STATUS)?;
    let task = match flag_of(here.context) {
        Some(flag) => Task::Copy {
            to: spot.at,
            from: flag,
            bytes: STATUS,
        },
        None => Task::Fill {
            at: spot.at,
            value: 0,
            bytes: STATUS,
        },
    };
    engine::submit(stream, task);
    Ok(())
}

/// aclrtResetOverflowStatus: queues the clearing of the status.
///
/// # Errors
/// 107017; 107002; 107003; 207000 where the product lacks it.
pub fn reset(stream: u64) -> Result<()> {
    let (here, stream) = stream_of_call("stream", stream)?;
    let task = match flag_of(here.context) {
        Some(flag) => Task::Fill {
            at: flag,
            value: 0,
            bytes: STATUS,
        },
        None => Task::nothing(),
    };
    engine::submit(stream, task);
    Ok(())
}
