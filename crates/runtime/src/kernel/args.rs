//! Lists of arguments (aclrtKernelArgs...): put together one by one, used by launches as often as one
//! likes.
//!
//! Each parameter begins at a multiple of 8. A placeholder is a pointer to a buffer that the program
//! fills on the host; a launch copies it to the device and puts its device address there.
#![allow(unsafe_code)] // bytes of the program

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cannery_abi as abi;

use super::function::find as find_kernel;
use super::launch::Placeholder;
use super::module::MOST_PARAMETERS;
use crate::error::{Error, Result};
use crate::os;
use crate::process::current;
use crate::stream::event::bad_handle;

/// Bytes that aclrtKernelArgsGetHandleMemSize answers: nothing is kept there, only the address counts.
const HANDLE_BYTES: usize = 64;
/// Added to what the parameters take, for the buffers of placeholders.
const SPARE: u64 = 2048;
/// Lists that are kept; then the oldest one that a launch has used makes room.
const KEPT: usize = 1 << 16;

/// Handles of lists in memory of the runtime look like no address.
const TAG: u64 = 0xb5 << 48;
/// As do handles of parameters.
const PARAMETER_TAG: u64 = 0xb6 << 48;

struct Lists {
    all: BTreeMap<u64, Arc<Mutex<List>>>,
    /// In order of their making; may hold ended ones.
    order: VecDeque<u64>,
}

static LISTS: Mutex<Lists> = Mutex::new(Lists {
    all: BTreeMap::new(),
    order: VecDeque::new(),
});
static NEXT: AtomicU64 = AtomicU64::new(1);

fn lists() -> MutexGuard<'static, Lists> {
    LISTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// In a forked child: the lists belong to the parent. Leaves them alone when a thread that is not here
/// holds the lock; their kernels are gone anyway.
pub(crate) fn forget() {
    if let Some(mut lists) = crate::patient::lock(&LISTS) {
        lists.all.clear();
        lists.order.clear();
    }
}

/// The kernel of this handle is gone, and its lists with it.
pub(super) fn end_of_kernel(kernel: u64) {
    let ended: Vec<_> = {
        let mut lists = lists();
        let mine = |list: &Arc<Mutex<List>>| lock(list).kernel == kernel;
        let keys: Vec<u64> = lists
            .all
            .iter()
            .filter(|(_, list)| mine(list))
            .map(|(key, _)| *key)
            .collect();
        keys.iter()
            .filter_map(|key| lists.all.remove(key))
            .collect()
    };
    drop(ended);
}

/// Arguments of one kernel.
struct List {
    kernel: u64,
    /// The values, where the program gave no memory for them.
    own: Vec<u8>,
    /// Memory of the program: first byte, bytes.
    given: Option<(u64, u64)>,
    used: u64,
    parameters: Vec<Parameter>,
    /// Bytes of `given` that buffers of placeholders take, from its end on.
    buffered: u64,
    finalized: bool,
    launched: bool,
}

struct Parameter {
    offset: u64,
    bytes: u64,
    is_placeholder: bool,
    buffer: Option<Buffer>,
}

/// What a placeholder points to, until a launch copies it.
enum Buffer {
    /// Stays where it is while the list lives.
    Own(Box<[u8]>),
    Given(u64, u64),
}

fn lock(list: &Arc<Mutex<List>>) -> MutexGuard<'_, List> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

fn too_large(needed: u64, capacity: u64) -> Error {
    Error::rt_value(
        "actualArgsSize",
        capacity,
        format!(
            "at least {needed} bytes for these parameters; ask aclrtKernelArgsGetMemSize with the sizes \
             of all of them"
        ),
    )
}

impl List {
    fn new(kernel: u64, given: Option<(u64, u64)>) -> List {
        List {
            kernel,
            own: Vec::new(),
            given,
            used: 0,
            parameters: Vec::new(),
            buffered: 0,
            finalized: false,
            launched: false,
        }
    }

    /// Room for one parameter; its offset.
    fn reserve(&mut self, bytes: u64) -> Result<u64> {
        if self.parameters.len() == MOST_PARAMETERS {
            return Err(Error::sequence(
                abi::ACL_ERROR_RT_PARAM_INVALID,
                format!("a list holds at most {MOST_PARAMETERS} parameters"),
            ));
        }
        let offset = self.used;
        let end = bytes
            .checked_next_multiple_of(8)
            .and_then(|bytes| offset.checked_add(bytes))
            .filter(|end| *end <= u64::from(u32::MAX));
        let Some(end) = end else {
            return Err(Error::rt_value(
                "paramSize",
                bytes,
                "a size with which the arguments stay below 4 GiB",
            ));
        };
        match self.given {
            None => self.own.resize(end as usize, 0),
            Some((_, capacity)) if end + self.buffered > capacity => {
                return Err(too_large(end + self.buffered, capacity));
            }
            Some(_) => {}
        }
        self.used = end;
        Ok(offset)
    }

    fn place(&mut self, offset: u64) -> u64 {
        match self.given {
            Some((start, _)) => start + offset,
            None => self.own.as_mut_ptr() as u64 + offset,
        }
    }

    fn append(&mut self, value: Option<u64>, bytes: u64) -> Result<u64> {
        self.check_open()?;
        let offset = self.reserve(bytes)?;
        if let Some(from) = value {
            // SAFETY: the room was reserved; the value is readable for so many bytes per contract.
            unsafe { os::copy::copy(self.place(offset), from, bytes) };
        }
        self.parameters.push(Parameter {
            offset,
            bytes,
            is_placeholder: value.is_none(),
            buffer: None,
        });
        Ok(PARAMETER_TAG | (self.parameters.len() as u64 - 1))
    }

    fn check_open(&self) -> Result<()> {
        if self.finalized {
            return Err(Error::sequence(
                abi::ACL_ERROR_RT_PARAM_INVALID,
                "the list is complete (aclrtKernelArgsFinalize); only aclrtKernelArgsParaUpdate changes it",
            ));
        }
        Ok(())
    }

    fn parameter(&self, handle: u64) -> Result<usize> {
        let index = (handle ^ PARAMETER_TAG) as usize;
        if index < self.parameters.len() {
            return Ok(index);
        }
        Err(bad_handle("paramHandle", handle, "parameter of this list"))
    }

    fn update(&mut self, handle: u64, from: u64, bytes: u64) -> Result<()> {
        let index = self.parameter(handle)?;
        let Parameter {
            offset,
            bytes: was,
            is_placeholder,
            ..
        } = self.parameters[index];
        if is_placeholder {
            return Err(Error::rt_param(
                abi::ACL_ERROR_RT_PARAM_INVALID,
                "paramHandle",
                "a placeholder has no value; write to its buffer \
                 (aclrtKernelArgsGetPlaceHolderBuffer) instead",
            ));
        }
        if bytes != was {
            return Err(Error::rt_value(
                "paramSize",
                bytes,
                format!("{was}, as when it was appended"),
            ));
        }
        // SAFETY: the room was reserved; the value is readable for so many bytes per contract.
        unsafe { os::copy::copy(self.place(offset), from, bytes) };
        self.finalized = false;
        Ok(())
    }

    fn buffer(&mut self, handle: u64, bytes: u64) -> Result<u64> {
        let index = self.parameter(handle)?;
        if !self.parameters[index].is_placeholder {
            return Err(Error::rt_param(
                abi::ACL_ERROR_RT_PARAM_INVALID,
                "paramHandle",
                "the parameter is no placeholder; append it with aclrtKernelArgsAppendPlaceHolder",
            ));
        }
        let known = match &self.parameters[index].buffer {
            Some(Buffer::Own(own)) => Some((own.as_ptr() as u64, own.len() as u64)),
            Some(Buffer::Given(start, bytes)) => Some((*start, *bytes)),
            None => None,
        };
        if let Some((start, room)) = known {
            if bytes <= room {
                return Ok(start);
            }
            return Err(Error::rt_value(
                "dataSize",
                bytes,
                format!("at most {room}, what this placeholder's buffer was made for"),
            ));
        }
        let Some((start, capacity)) = self.given else {
            let own = vec![0; bytes as usize].into_boxed_slice();
            let at = own.as_ptr() as u64;
            self.parameters[index].buffer = Some(Buffer::Own(own));
            return Ok(at);
        };
        let room = bytes.next_multiple_of(8);
        let needed = self.used + self.buffered + room;
        if needed > capacity {
            return Err(too_large(needed, capacity));
        }
        self.buffered += room;
        let at = start + capacity / 8 * 8 - self.buffered;
        self.parameters[index].buffer = Some(Buffer::Given(at, bytes));
        Ok(at)
    }

    /// The bytes for a launch, buffers of placeholders behind the parameters.
    fn bytes(&mut self) -> Result<(Vec<u8>, Vec<Placeholder>)> {
        if !self.finalized {
            return Err(Error::sequence(
                abi::ACL_ERROR_RT_PARAM_INVALID,
                "the argument list is not complete; call aclrtKernelArgsFinalize after the last change",
            ));
        }
        let mut all = vec![0u8; self.used as usize];
        let from = self.place(0);
        // SAFETY: so many bytes were reserved there; `all` has as many.
        unsafe { os::copy::copy(all.as_mut_ptr() as u64, from, self.used) };
        let mut placeholders = Vec::new();
        for (index, parameter) in self.parameters.iter().enumerate() {
            if !parameter.is_placeholder {
                continue;
            }
            let (at, bytes) = match &parameter.buffer {
                Some(Buffer::Own(own)) => (own.as_ptr() as u64, own.len()),
                Some(Buffer::Given(at, bytes)) => (*at, *bytes as usize),
                None => {
                    return Err(Error::sequence(
                        abi::ACL_ERROR_RT_PARAM_INVALID,
                        format!(
                            "placeholder {index} has no buffer; ask for it with \
                             aclrtKernelArgsGetPlaceHolderBuffer"
                        ),
                    ));
                }
            };
            let data = all.len().next_multiple_of(32);
            all.resize(data + bytes, 0);
            // SAFETY: the buffer has so many bytes, as has the place in `all`.
            unsafe { os::copy::copy(all.as_mut_ptr() as u64 + data as u64, at, bytes as u64) };
            placeholders.push(Placeholder {
                address: parameter.offset,
                data: data as u64,
            });
        }
        self.launched = true;
        Ok((all, placeholders))
    }
}

fn add(handle: u64, list: List) {
    let mut ended = Vec::new();
    let mut lists = lists();
    if lists.all.len() >= KEPT {
        // One round at most: lists that were never launched go to the end.
        for _ in 0..lists.order.len() {
            let Some(oldest) = lists.order.pop_front() else {
                break;
            };
            match lists.all.get(&oldest).map(|list| lock(list).launched) {
                None => {}
                Some(true) => {
                    ended.extend(lists.all.remove(&oldest));
                    break;
                }
                Some(false) => lists.order.push_back(oldest),
            }
        }
    }
    if lists
        .all
        .insert(handle, Arc::new(Mutex::new(list)))
        .is_none()
    {
        lists.order.push_back(handle);
    }
    drop(lists);
    drop(ended);
}

fn find(handle: u64) -> Result<Arc<Mutex<List>>> {
    if handle == 0 {
        return Err(Error::null("argsHandle"));
    }
    current()?;
    let found = lists().all.get(&handle).cloned();
    found.ok_or_else(|| bad_handle("argsHandle", handle, "argument list"))
}

/// aclrtKernelArgsInit: a new list in memory of the runtime. It lives until its binary is unloaded; of
/// more than 65536 lists the oldest ones that were launched go.
///
/// # Errors
/// 100000 for NULL; 107017.
pub fn init(kernel: u64, out: Option<&mut u64>) -> Result<()> {
    if kernel == 0 {
        return Err(Error::null("funcHandle"));
    }
    let Some(out) = out else {
        return Err(Error::null("argsHandle"));
    };
    find_kernel("funcHandle", kernel)?;
    let handle = TAG | NEXT.fetch_add(1, Ordering::Relaxed) & (TAG - 1) & 0xffff_ffff_ffff;
    add(handle, List::new(kernel, None));
    *out = handle;
    Ok(())
}

/// aclrtKernelArgsInitByUserMem: a new list with values in `bytes` bytes of the program at `memory`,
/// behind the handle `handle`, an address of the program's too.
///
/// # Errors
/// 100000 for NULL and 0 bytes; 107017.
pub fn init_in_memory(kernel: u64, handle: u64, memory: u64, bytes: u64) -> Result<()> {
    for (param, value) in [
        ("funcHandle", kernel),
        ("argsHandle", handle),
        ("userHostMem", memory),
    ] {
        if value == 0 {
            return Err(Error::null(param));
        }
    }
    if bytes == 0 {
        return Err(Error::zero("actualArgsSize"));
    }
    find_kernel("funcHandle", kernel)?;
    add(handle, List::new(kernel, Some((memory, bytes))));
    Ok(())
}

/// aclrtKernelArgsGetMemSize: bytes for parameters that take `bytes` together (each rounded up to 8),
/// and for 2 KiB of buffers of placeholders.
///
/// # Errors
/// 100000 for NULL and for sizes that wrap; 107017.
pub fn memory_size(kernel: u64, bytes: u64, out: Option<&mut usize>) -> Result<()> {
    if kernel == 0 {
        return Err(Error::null("funcHandle"));
    }
    let Some(out) = out else {
        return Err(Error::null("actualArgsSize"));
    };
    let all = bytes
        .checked_next_multiple_of(8)
        .and_then(|bytes| bytes.checked_add(SPARE));
    let Some(all) = all else {
        return Err(Error::cause(
            "userArgsSize",
            bytes,
            "wraps when it is rounded up",
        ));
    };
    find_kernel("funcHandle", kernel)?;
    *out = all as usize;
    Ok(())
}

/// aclrtKernelArgsGetHandleMemSize.
///
/// # Errors
/// 100000 for NULL; 107017.
pub fn handle_size(kernel: u64, out: Option<&mut usize>) -> Result<()> {
    if kernel == 0 {
        return Err(Error::null("funcHandle"));
    }
    let Some(out) = out else {
        return Err(Error::null("memSize"));
    };
    find_kernel("funcHandle", kernel)?;
    *out = HANDLE_BYTES;
    Ok(())
}

/// aclrtKernelArgsAppend: copies a value of `bytes` bytes.
///
/// # Errors
/// 100000 for NULL and 0 bytes; 107017; 107000 for a complete list, the 129th parameter, and memory of
/// the program that is too small.
///
/// # Safety
/// The value is readable, and the memory of the list writable.
pub unsafe fn append(list: u64, value: u64, bytes: u64, out: Option<&mut u64>) -> Result<()> {
    if list == 0 {
        return Err(Error::null("argsHandle"));
    }
    if value == 0 {
        return Err(Error::null("param"));
    }
    if bytes == 0 {
        return Err(Error::zero("paramSize"));
    }
    let Some(out) = out else {
        return Err(Error::null("paramHandle"));
    };
    *out = lock(&find(list)?).append(Some(value), bytes)?;
    Ok(())
}

/// aclrtKernelArgsAppendPlaceHolder.
///
/// # Errors
/// As [`append`].
pub fn append_placeholder(list: u64, out: Option<&mut u64>) -> Result<()> {
    if list == 0 {
        return Err(Error::null("argsHandle"));
    }
    let Some(out) = out else {
        return Err(Error::null("paramHandle"));
    };
    *out = lock(&find(list)?).append(None, 8)?;
    Ok(())
}

/// aclrtKernelArgsGetPlaceHolderBuffer: host memory for what the placeholder points to.
///
/// # Errors
/// 100000 for NULL and 0 bytes; 107017 for lists and parameters; 107000 for a parameter with a value,
/// more bytes than at first, and memory of the program that is too small.
pub fn placeholder_buffer(
    list: u64,
    parameter: u64,
    bytes: u64,
    out: Option<&mut u64>,
) -> Result<()> {
    if list == 0 {
        return Err(Error::null("argsHandle"));
    }
    if parameter == 0 {
        return Err(Error::null("paramHandle"));
    }
    if bytes == 0 {
        return Err(Error::zero("dataSize"));
    }
    if bytes > u64::from(u32::MAX) {
        return Err(Error::value("dataSize", bytes, "must be below 4 GiB"));
    }
    let Some(out) = out else {
        return Err(Error::null("bufferAddr"));
    };
    *out = lock(&find(list)?).buffer(parameter, bytes)?;
    Ok(())
}

/// aclrtKernelArgsParaUpdate: a new value of the same size; the list has to be completed again.
///
/// # Errors
/// 100000 for NULL and 0 bytes; 107017; 107000 for placeholders and other sizes.
///
/// # Safety
/// As [`append`].
pub unsafe fn update(list: u64, parameter: u64, value: u64, bytes: u64) -> Result<()> {
    for (param, given) in [
        ("argsHandle", list),
        ("paramHandle", parameter),
        ("param", value),
    ] {
        if given == 0 {
            return Err(Error::null(param));
        }
    }
    if bytes == 0 {
        return Err(Error::zero("paramSize"));
    }
    lock(&find(list)?).update(parameter, value, bytes)
}

/// aclrtKernelArgsFinalize.
///
/// # Errors
/// 100000 for NULL; 107017.
pub fn finalize(list: u64) -> Result<()> {
    lock(&find(list)?).finalized = true;
    Ok(())
}

/// What a launch of `kernel` takes from a list.
pub(super) fn bytes_for(kernel: u64, list: u64) -> Result<(Vec<u8>, Vec<Placeholder>)> {
    let list = find(list)?;
    let mut list = lock(&list);
    if list.kernel != kernel {
        return Err(Error::rt_param(
            abi::ACL_ERROR_RT_PARAM_INVALID,
            "argsHandle",
            "the list was made for another kernel (aclrtKernelArgsInit)",
        ));
    }
    list.bytes()
}
