//! Manual chapter: tensor data transfer. Channels: rings of datasets that every process of the user
//! reaches by the device and the name.
//!
//! Nothing computes on the emulated device, so both ends are programs: what one sends, another one (or
//! the same) receives. A channel lasts while a process has it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use cannery_abi as abi;

use super::attribute::{DEPTHS, bad_depth};
use super::dataset;
use super::names;
use super::page::{Kind, NAME_BYTES, Page};
use super::ring::{Patience, Ring};
use super::table::Table;
use crate::error::{Error, Result};
use crate::os::{host, shared_page};
use crate::process::current;

struct Channel {
    ring: Ring,
    name: Vec<u8>,
    /// The process that opened it.
    pid: i32,
    has_capacity: bool,
    stopped: AtomicBool,
}

static CHANNELS: Table<Arc<Channel>> =
    Table::new(0xcd, "channel", "acltdtCreateChannelWithCapacity");

/// At the end of the process: it leaves its channels; the last one removes them.
extern "C" fn leave_all() {
    let pid = host::pid();
    let _ = CHANNELS.all(|channels| {
        for (_, channel) in channels.drain() {
            if channel.pid == pid {
                channel.leave();
            }
        }
        Ok(())
    });
}

impl Channel {
    fn leave(&self) {
        let _ = names::alone(|_| {
            self.ring.page().leave();
            if !self.ring.page().is_used() {
                self.ring.name().remove();
            }
            Ok(())
        });
    }
}

/// acltdtCreateChannel (`capacity` none) and acltdtCreateChannelWithCapacity: opens the channel of this
/// name, making it when there is none.
///
/// # Errors
/// 100000 without a name, for names above 127 bytes, and capacities outside 2 to 8192; 107001 for the
/// device; 107000 when it exists with another capacity; 507899 when the runtime directory cannot be used.
pub fn create(device: u32, name: Option<&[u8]>, capacity: Option<u64>) -> Result<u64> {
    let name = name.ok_or_else(|| Error::null("name"))?;
    if name.is_empty() || name.len() >= NAME_BYTES {
        return Err(Error::value(
            "name",
            String::from_utf8_lossy(name),
            format!("must have 1 to {} bytes", NAME_BYTES - 1),
        ));
    }
    if let Some(capacity) = capacity
        && !DEPTHS.contains(&capacity)
    {
        return Err(bad_depth("capacity", capacity));
    }
    let runtime = current()?;
    let index = runtime.device_index("deviceId", i32::try_from(device).unwrap_or(-1))?;
    let device = runtime.devices[index].physical();
    let depth = capacity.unwrap_or(*DEPTHS.end());
    let ring = names::alone(|directory| {
        let place = names::channel(directory, device, name);
        let page = match Page::open(&place.page(), Kind::Channel) {
            Ok(page) if page.is_used() => page,
            _ => {
                // Left behind by processes that were killed, or not there.
                place.remove();
                Page::create(&place.page(), Kind::Channel, depth, name, 0)
                    .map_err(|error| names::unusable(&error))?
            }
        };
        let text = String::from_utf8_lossy(name);
        if page.name() != name {
            return Err(Error::rt_cause(
                "name",
                text,
                "cannot be told from another name",
            ));
        }
        if page.depth() != depth {
            return Err(Error::rt_value(
                "capacity",
                depth,
                format!("{}, with which the channel exists", page.depth()),
            ));
        }
        let joined = {
            let _held = page.lock();
            page.join()
        };
        if !joined {
            return Err(Error::sequence(
                abi::ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                format!("the channel \"{text}\" is open 240 times, the most; destroy some handles"),
            ));
        }
        Ok(Ring::new(
            page,
            place,
            "handle",
            format!("channel \"{text}\""),
        ))
    })?;
    static AT_EXIT: Once = Once::new();
    AT_EXIT.call_once(|| shared_page::at_exit(leave_all));
    CHANNELS.add(Arc::new(Channel {
        ring,
        name: name.to_vec(),
        pid: host::pid(),
        has_capacity: capacity.is_some(),
        stopped: AtomicBool::new(false),
    }))
}

fn find(handle: u64) -> Result<Arc<Channel>> {
    if handle == 0 {
        return Err(Error::null("handle"));
    }
    CHANNELS.with("handle", handle, |channel| Ok(channel.clone()))
}

/// acltdtStopChannel: whoever waits with this handle is woken and refused; so are later calls.
///
/// # Errors
/// 100000 for NULL and what is no living channel.
pub fn stop(handle: u64) -> Result<()> {
    let channel = find(handle)?;
    channel.stopped.store(true, Ordering::Release);
    channel.ring.page().ring();
    Ok(())
}

/// acltdtDestroyChannel: stops it, and leaves it. Messages stay while another process (or handle) has
/// the channel.
///
/// # Errors
/// As [`stop`].
pub fn destroy(handle: u64) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("handle"));
    }
    let channel = CHANNELS.remove("handle", handle)?;
    channel.stopped.store(true, Ordering::Release);
    channel.ring.page().ring();
    channel.leave();
    Ok(())
}

fn check_dataset(dataset: u64) -> Result<()> {
    if dataset == 0 {
        return Err(Error::null("dataset"));
    }
    Ok(())
}

/// acltdtSendTensor: copies the bytes of all items into the channel; waits for room. Milliseconds, -1:
/// for ever.
///
/// # Errors
/// 100000 for NULL, what is no living object, and the timeout; 107000 for bytes that are not host
/// memory; 207014 when it stays full; 507901 when it is stopped; 507022 when a process that uses it is
/// killed meanwhile.
pub fn send(handle: u64, dataset: u64, timeout: i32) -> Result<()> {
    let channel = find_for(handle, dataset)?;
    let patience = Patience::new(timeout)?;
    let parcel = dataset::pack(dataset)?;
    channel.ring.put(&parcel, patience, &channel.stopped)
}

fn find_for(handle: u64, dataset: u64) -> Result<Arc<Channel>> {
    if handle == 0 {
        return Err(Error::null("handle"));
    }
    check_dataset(dataset)?;
    find(handle)
}

/// acltdtReceiveTensor: the oldest dataset of the channel, into an empty one; waits for one.
///
/// # Errors
/// As [`send`], 207013 when it stays empty, and 100000 for a dataset that has items.
pub fn receive(handle: u64, dataset: u64, timeout: i32) -> Result<()> {
    let channel = find_for(handle, dataset)?;
    let patience = Patience::new(timeout)?;
    dataset::check_empty(dataset)?;
    let parcel = channel.ring.take(patience, &channel.stopped, |_| Ok(()))?;
    dataset::unpack(dataset, &parcel, &channel.name)
}

fn with_capacity(handle: u64) -> Result<Arc<Channel>> {
    let channel = find(handle)?;
    if channel.has_capacity {
        return Ok(channel);
    }
    Err(Error::unsupported(
        "the channel was made without a capacity; make it with acltdtCreateChannelWithCapacity",
    ))
}

/// acltdtQueryChannelSize: messages in the channel.
///
/// # Errors
/// As [`stop`]; 207000 for a channel without a capacity.
pub fn count(handle: u64) -> Result<u64> {
    Ok(with_capacity(handle)?.ring.page().count())
}

/// acltdtCleanChannel: drops all messages.
///
/// # Errors
/// As [`count`].
pub fn clean(handle: u64) -> Result<()> {
    with_capacity(handle)?.ring.clear();
    Ok(())
}
