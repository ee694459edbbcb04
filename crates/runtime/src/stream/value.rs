//! Manual chapter: value write and wait: eight bytes of device memory in stream order.

use cannery_abi as abi;

use super::engine;
use super::manage::stream_of_call;
use super::task::Task;
use crate::error::{Error, Result};
use crate::memory::{guard, locate};
use crate::process::{Here, here};

/// Whether a wait with `flag` for `value` is over when memory holds `now`.
pub(crate) fn holds(flag: u32, now: u64, value: u64) -> bool {
    match flag {
        abi::ACL_STREAM_WAIT_VALUE_GEQ => now.wrapping_sub(value).cast_signed() >= 0,
        abi::ACL_STREAM_WAIT_VALUE_EQ => now == value,
        abi::ACL_STREAM_WAIT_VALUE_AND => now & value != 0,
        _ => !(now | value) != 0,
    }
}

fn place(address: u64, stream: u64) -> Result<(&'static super::Stream, u64)> {
    let (here, stream) = stream_of_call("stream", stream)?;
    Ok((stream, checked(&here, address)?))
}

/// Where the runtime touches the eight bytes of a value task.
///
/// # Errors
/// 107000 for addresses that are not eight bytes of device memory at a multiple of 8.
pub(crate) fn task_place(address: u64) -> Result<u64> {
    checked(&here()?, address)
}

fn checked(here: &Here, address: u64) -> Result<u64> {
    if !address.is_multiple_of(8) {
        return Err(Error::address(
            "devAddr",
            address,
            "must be a multiple of 8",
        ));
    }
    let spot = locate::device_range(here.runtime, here.device().index(), "devAddr", address, 8)?;
    guard::touch(spot.at, 8)?;
    locate::note_touch(here, &spot, address, 8, true);
    Ok(spot.at)
}

/// aclrtValueWrite: queued.
///
/// # Errors
/// 100000 for NULL; 107000 for flags and addresses; 107002, 107003.
pub fn write(address: u64, value: u64, flag: u32, stream: u64) -> Result<()> {
    if address == 0 {
        return Err(Error::null("devAddr"));
    }
    if flag != 0 {
        return Err(Error::rt_value("flag", flag, "0, it is reserved"));
    }
    let (stream, at) = place(address, stream)?;
    engine::submit(stream, Task::ValueWrite { at, value });
    Ok(())
}

/// aclrtValueWait: queued.
///
/// # Errors
/// As [`write`](fn@write).
pub fn wait(address: u64, value: u64, flag: u32, stream: u64) -> Result<()> {
    if address == 0 {
        return Err(Error::null("devAddr"));
    }
    if flag > abi::ACL_STREAM_WAIT_VALUE_NOR {
        return Err(Error::rt_value("flag", flag, "a value in [0, 3]"));
    }
    let (stream, at) = place(address, stream)?;
    engine::submit(stream, Task::ValueWait { at, value, flag });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn conditions() {
        assert!(holds(0, 6, 5) && holds(0, 5, 5) && !holds(0, 4, 5));
        assert!(!holds(0, u64::MAX, 0), "-1 is not >= 0");
        assert!(holds(1, 7, 7) && !holds(1, 6, 7));
        assert!(holds(2, 0x10, 0x30) && !holds(2, 0x10, 0x20));
        assert!(!holds(3, u64::MAX, 0) && holds(3, 0, 0));
    }
}
