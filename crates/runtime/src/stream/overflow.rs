//! The overflow status (manual chapters: device management, other functions). Operators raise it;
//! none run here, so it always says that nothing overflowed: zeros.

use crate::error::{Error, Fault, Result};
use crate::memory::{guard, locate};
use crate::stream::engine;
use crate::stream::manage::{find, stream_of_call};
use crate::stream::task::Task;

/// Bytes of the status.
const STATUS: u64 = 64;

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
    engine::submit(
        stream,
        Task::Fill {
            at: spot.at,
            value: 0,
            bytes: STATUS,
        },
    );
    Ok(())
}

/// aclrtResetOverflowStatus: queues the clearing of what nothing sets.
///
/// # Errors
/// 107017; 107002; 107003; 207000 where the product lacks it.
pub fn reset(stream: u64) -> Result<()> {
    let (_, stream) = stream_of_call("stream", stream)?;
    engine::submit(stream, Task::nothing());
    Ok(())
}
