//! Manual chapter: shared queues. Create, destroy, grant, attach, and bytes or buffers in and out.
//!
//! A queue belongs to the process that made it, which has every right; others get rights by process id
//! and take them up. It ends when it is destroyed, or with its maker.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use cannery_abi as abi;

use super::attribute::{self, DEFAULT_DEPTH};
use super::buffer;
use super::names::{self, MOST_QUEUES};
use super::page::{Kind, Page};
use super::parcel::{Parcel, Segment, USER_BYTES};
use super::ring::{Patience, Ring, no_memory};
use super::user_bytes::UserBytes;
use crate::error::{Error, Fault, Result};
use crate::os::{host, identity, shared_page};
use crate::patient;
use crate::process::{Runtime, current, here};

const MANAGE: u32 = abi::ACL_TDT_QUEUE_PERMISSION_MANAGE.cast_unsigned();
const DEQUEUE: u32 = abi::ACL_TDT_QUEUE_PERMISSION_DEQUEUE.cast_unsigned();
const ENQUEUE: u32 = abi::ACL_TDT_QUEUE_PERMISSION_ENQUEUE.cast_unsigned();
const ALL: u32 = MANAGE | DEQUEUE | ENQUEUE;

/// A queue that this process made or has rights on.
pub(crate) struct Queue {
    pub(crate) ring: Ring,
    own: bool,
    /// Nothing stops a call on a queue but its end.
    pub(crate) never: AtomicBool,
}

impl Queue {
    /// What this process may do, as it is now.
    fn rights(&self) -> u32 {
        if self.own {
            ALL
        } else {
            self.ring.page().granted()
        }
    }

    fn allow(&self, id: u32, right: u32, needed: &'static str) -> Result<()> {
        if self.rights() & right != 0 {
            return Ok(());
        }
        Err(Error::rt_value_code(
            abi::ACL_ERROR_RT_NO_PERMISSION,
            "qid",
            id,
            format!(
                "a queue on which this process has the right {needed}; its maker gives it with \
                 acltdtGrantQueue"
            ),
        ))
    }
}

#[derive(Default)]
struct Known {
    epoch: u32,
    /// The process that the entries belong to, as the system numbers it.
    pid: i32,
    queues: HashMap<u32, Arc<Queue>>,
}

static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

fn known<R>(act: impl FnOnce(&mut HashMap<u32, Arc<Queue>>) -> R) -> Result<R> {
    let epoch = current()?.epoch();
    let mut known = patient::lock(&KNOWN).ok_or(Fault::Forked)?;
    if known.epoch != epoch {
        if known.epoch == 0 {
            shared_page::at_exit(leave_all);
        }
        // What a parent process has stays its own.
        *known = Known {
            epoch,
            pid: host::pid(),
            queues: HashMap::new(),
        };
    }
    Ok(act(&mut known.queues))
}

/// At the end of the process: its queues go, and its rights on those of others.
extern "C" fn leave_all() {
    let Some(mut known) = patient::lock(&KNOWN) else {
        return;
    };
    if known.pid != host::pid() {
        return;
    }
    let queues = std::mem::take(&mut known.queues);
    drop(known);
    for queue in queues.into_values() {
        if queue.own {
            queue.ring.close();
            let _ = names::alone(|_| {
                queue.ring.name().remove();
                Ok(())
            });
        } else {
            queue.ring.page().leave();
        }
    }
}

/// The queue of an id, for what needs one of the rights.
fn find(id: u32, right: u32, needed: &'static str) -> Result<Arc<Queue>> {
    let queue = known(|queues| queues.get(&id).cloned())?;
    let queue = queue.ok_or_else(|| unknown(id))?;
    queue.ring.check()?;
    queue.allow(id, right, needed)?;
    Ok(queue)
}

/// The queue of an id, for a route.
pub(crate) fn managed(id: u32) -> Result<Arc<Queue>> {
    find(id, MANAGE, "MANAGE (1)")
}

fn unknown(id: u32) -> Error {
    Error::rt_value_code(
        abi::ACL_ERROR_INVALID_QUEUE_ID,
        "qid",
        id,
        "a queue that this process made with acltdtCreateQueue and has not destroyed, or attached with \
         acltdtAttachQueue",
    )
}

fn ring_of(page: Page, name: names::Name, id: u32) -> Ring {
    Ring::new(page, name, "qid", format!("queue {id}"))
}

/// acltdtCreateQueue. `attribute` 0: a name is made up, depth 8.
///
/// # Errors
/// 100000 for what is no attribute object; 107002 without a context; 207012 when 8192 queues exist;
/// 507899 when the runtime directory cannot be used.
pub fn create(attribute: u64) -> Result<u32> {
    let asked = match attribute {
        0 => None,
        handle => Some(attribute::read(handle)?),
    };
    here()?;
    let (name, depth) = asked.unwrap_or((Vec::new(), DEFAULT_DEPTH));
    let made = names::alone(|directory| {
        let id = names::free_queue_id(directory).ok_or_else(|| {
            Error::sequence(
                abi::ACL_ERROR_RT_OVER_LIMIT,
                format!("all {MOST_QUEUES} queues of this user exist; destroy some"),
            )
        })?;
        let name = match name.len() {
            0 => format!("queue_{}_{id}", host::pid()).into_bytes(),
            _ => name,
        };
        let place = names::queue(directory, id);
        let page = Page::create(&place.page(), Kind::Queue, depth, &name, identity::own());
        let page = page.map_err(|error| names::unusable(&error))?;
        Ok((id, ring_of(page, place, id)))
    });
    let (id, ring) = made?;
    let queue = Arc::new(Queue {
        ring,
        own: true,
        never: AtomicBool::new(false),
    });
    known(|queues| queues.insert(id, queue))?;
    Ok(id)
}

/// acltdtDestroyQueue: its messages are dropped; whoever waits for it, in any process, is refused.
///
/// # Errors
/// 107002; 100032 for an unknown queue; 207006 without the right to manage it.
pub fn destroy(id: u32) -> Result<()> {
    here()?;
    let queue = find(id, MANAGE, "MANAGE (1)")?;
    queue.ring.close();
    names::alone(|_| {
        queue.ring.name().remove();
        Ok(())
    })?;
    known(|queues| queues.remove(&id))?;
    Ok(())
}

/// acltdtGrantQueue: another process of the user may attach the queue. Takes effect at once; the
/// timeout is checked only.
///
/// # Errors
/// 100000 for rights and timeouts that do not exist; 107002; 100032; 207006 without the right to manage
/// the queue, and for a process of another user; 107000 for one that does not exist, and for the own one.
pub fn grant(id: u32, pid: i32, permission: u32, timeout: i32) -> Result<()> {
    if permission == 0 || permission & !ALL != 0 {
        return Err(Error::value(
            "permission",
            permission,
            "must be a sum of 1 (MANAGE), 2 (DEQUEUE) and 4 (ENQUEUE)",
        ));
    }
    Patience::new(timeout)?;
    here()?;
    let queue = find(id, MANAGE, "MANAGE (1)")?;
    let who = identity::of(pid)
        .filter(|_| pid > 0)
        .ok_or_else(|| Error::rt_cause("pid", pid, "is no process of this machine"))?;
    if !identity::is_of_same_user(pid) {
        return Err(Error::rt_value_code(
            abi::ACL_ERROR_RT_NO_PERMISSION,
            "pid",
            pid,
            "a process of the same user: others cannot reach what this one shares",
        ));
    }
    if who == queue.ring.page().owner() {
        return Err(Error::rt_cause(
            "pid",
            pid,
            "is the process that made the queue; it has every right",
        ));
    }
    queue.ring.grant(who, u64::from(permission))
}

/// acltdtAttachQueue: takes up the rights on a queue of another process; waits until there are some.
/// Returns them.
///
/// # Errors
/// 100000 for the timeout; 107002; 100032 for a queue that does not exist; 107019 when no rights are
/// given in time; 507022 when its maker is killed meanwhile.
pub fn attach(id: u32, timeout: i32) -> Result<u32> {
    let patience = Patience::new(timeout)?;
    here()?;
    if let Some(queue) = known(|queues| queues.get(&id).cloned())?
        && queue.ring.check().is_ok()
    {
        return Ok(queue.rights());
    }
    let place = names::alone(|directory| Ok(names::queue(directory, id)))?;
    let page = Page::open(&place.page(), Kind::Queue).map_err(|_| {
        Error::rt_value_code(
            abi::ACL_ERROR_INVALID_QUEUE_ID,
            "qid",
            id,
            "a queue that a process of this user made and has not destroyed",
        )
    })?;
    let queue = Queue {
        ring: ring_of(page, place, id),
        own: false,
        never: AtomicBool::new(false),
    };
    queue.ring.page().look_for_deaths();
    let rights = queue.ring.wait_for_rights(patience, &queue.never)?;
    known(|queues| queues.insert(id, Arc::new(queue)))?;
    Ok(rights)
}

fn check_user_size(bytes: u64) -> Result<()> {
    if bytes > USER_BYTES as u64 {
        return Err(Error::value(
            "userDataSize",
            bytes,
            format!("must be at most {USER_BYTES} bytes"),
        ));
    }
    Ok(())
}

/// In EP mode the host talks to the card, which is never immediate.
fn check_poll(runtime: &Runtime, timeout: i32) -> Result<()> {
    if timeout == 0 && !runtime.is_rc() {
        return Err(Error::unsupported(
            "timeout 0 works on the device side (RC mode) only; give 1 ms or more, or -1",
        ));
    }
    Ok(())
}

/// Bytes of the program, as an address and a number; no address means none.
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    /// Address.
    pub at: u64,
    /// Number of bytes.
    pub len: u64,
}

/// acltdtEnqueueData: copies bytes (and up to 96 of the user's own) into a queue; waits for room.
/// Timeouts in milliseconds, -1: for ever.
///
/// # Errors
/// 100000 for NULL, for no bytes, for `rsv` and the timeout; 107002; 207000 for timeout 0 in EP mode;
/// 100032, 207006 without the right to enqueue; 107000 for bytes that are not host memory; 207014 when
/// it stays full; 507022 when a process that uses the queue is killed meanwhile.
pub fn enqueue_data(id: u32, data: Bytes, user: Bytes, timeout: i32, rsv: u32) -> Result<()> {
    if data.at == 0 {
        return Err(Error::null("data"));
    }
    if data.len == 0 {
        return Err(Error::zero("dataSize"));
    }
    if user.at == 0 && user.len > 0 {
        return Err(Error::null("userData"));
    }
    check_user_size(user.len)?;
    let patience = Patience::new(timeout)?;
    if rsv != 0 {
        return Err(Error::value("rsv", rsv, "must be 0 (reserved)"));
    }
    let runtime = here()?.runtime;
    check_poll(runtime, timeout)?;
    let queue = find(id, ENQUEUE, "ENQUEUE (4)")?;
    let from = UserBytes::check(runtime, "data", data.at, data.len)?;
    let noted = user_range(runtime, user)?;
    let block = from.to_block().ok_or_else(|| no_memory(data.len))?;
    let segment = Segment::new(block, data.len);
    segment.user(|array| noted.copy_to(array));
    let parcel = Parcel {
        segments: vec![Arc::new(segment)],
    };
    queue.ring.put(&parcel, patience, &queue.never)
}

fn user_range(runtime: &Runtime, user: Bytes) -> Result<UserBytes> {
    match user.len {
        0 => Ok(UserBytes::NONE),
        len => UserBytes::check(runtime, "userData", user.at, len),
    }
}

/// acltdtDequeueData: copies the oldest message out of a queue; waits for one. Returns its bytes.
///
/// # Errors
/// As [`enqueue_data`], with 207013 when it stays empty, and 107000 when the message is larger than the
/// room: `size` is set then and the message stays.
pub fn dequeue_data(
    id: u32,
    data: Bytes,
    size: Option<&mut u64>,
    user: Bytes,
    timeout: i32,
) -> Result<()> {
    if data.at == 0 {
        return Err(Error::null("data"));
    }
    if data.len == 0 {
        return Err(Error::zero("dataSize"));
    }
    let Some(size) = size else {
        return Err(Error::null("retDataSize"));
    };
    if user.at == 0 && user.len > 0 {
        return Err(Error::null("userData"));
    }
    check_user_size(user.len)?;
    let patience = Patience::new(timeout)?;
    let runtime = here()?.runtime;
    check_poll(runtime, timeout)?;
    let queue = find(id, DEQUEUE, "DEQUEUE (2)")?;
    let to = UserBytes::check(runtime, "data", data.at, data.len)?;
    let noted = user_range(runtime, user)?;
    let needed = std::cell::Cell::new(0);
    let taken = queue.ring.take(patience, &queue.never, |bytes| {
        if bytes <= data.len {
            return Ok(());
        }
        needed.set(bytes);
        Err(Error::rt_value(
            "dataSize",
            data.len,
            format!("at least {bytes}, the size of the message, which stays in the queue"),
        ))
    });
    let parcel = match taken {
        Ok(parcel) => parcel,
        Err(error) => {
            if needed.get() > 0 {
                *size = needed.get();
            }
            return Err(error);
        }
    };
    let mut at = 0;
    for segment in &parcel.segments {
        // What its owner sets meanwhile (a reference kept elsewhere) does not make it longer.
        let bytes = segment.valid().min(to.bytes() - at);
        to.fill_from(at, &segment.block, bytes);
        at += bytes;
    }
    if let Some(first) = parcel.segments.first() {
        first.user(|array| noted.copy_from(array));
    }
    *size = at;
    Ok(())
}

/// acltdtEnqueue: a buffer (with its chain) goes into a queue; its handle ends. It stays the caller's
/// when the call fails.
///
/// # Errors
/// 100000 for NULL and what is no buffer or a part of a chain; as [`enqueue_data`] else.
pub fn enqueue(id: u32, buf: u64, timeout: i32) -> Result<()> {
    if buf == 0 {
        return Err(Error::null("buf"));
    }
    let patience = Patience::new(timeout)?;
    here()?;
    let queue = find(id, ENQUEUE, "ENQUEUE (4)")?;
    // Out of the table first: of two racing callers one has it.
    let taken = buffer::take(buf)?;
    let done = queue.ring.put(&taken.parcel(), patience, &queue.never);
    if done.is_err() {
        buffer::give_back(buf, taken)?;
    }
    done
}

/// acltdtDequeue: the oldest message of a queue, as a buffer that the caller frees; waits for one.
///
/// # Errors
/// 100000 for the timeout; as [`dequeue_data`] else.
pub fn dequeue(id: u32, timeout: i32) -> Result<u64> {
    let patience = Patience::new(timeout)?;
    here()?;
    let queue = find(id, DEQUEUE, "DEQUEUE (2)")?;
    let parcel = queue.ring.take(patience, &queue.never, |_| Ok(()))?;
    buffer::adopt(parcel)
}

/// Tells once that the manual lists a function for no product.
pub fn warn_unlisted(function: &'static str, told: &AtomicBool) {
    if !told.swap(true, Ordering::Relaxed) {
        crate::log::warn(format_args!(
            "{function}: the manual lists it for no product; a card may refuse it (docs/differences.md)"
        ));
    }
}
