//! Manual chapter: shared buffers. Memory with a valid length and 96 bytes of the user's own, alone or as
//! the head of a chain.

use std::sync::Arc;

use cannery_abi as abi;

use super::parcel::{MOST_SEGMENTS, Parcel, Segment, USER_BYTES};
use super::queues::Bytes;
use super::ring::no_memory;
use super::table::Table;
use super::user_bytes::UserBytes;
use crate::error::{Error, Result, show_bytes};
use crate::os::block::Block;
use crate::process::current;

/// Largest buffer.
const MOST_BYTES: u64 = 4 << 30;

/// What a handle stands for.
pub(crate) struct Buffer {
    segment: Arc<Segment>,
    /// Handles and segments of those behind it.
    chain: Vec<(u64, Arc<Segment>)>,
    /// The head of the chain that it is a part of; 0: none.
    head: u64,
}

impl Buffer {
    fn alone(segment: Arc<Segment>) -> Buffer {
        Buffer {
            segment,
            chain: Vec::new(),
            head: 0,
        }
    }

    /// It and its chain as a message.
    pub(crate) fn parcel(&self) -> Parcel {
        let chain = self.chain.iter().map(|(_, segment)| segment.clone());
        Parcel {
            segments: std::iter::once(self.segment.clone()).chain(chain).collect(),
        }
    }

    fn free_of_chain(&self, param: &'static str, handle: u64) -> Result<()> {
        if self.head == 0 {
            return Ok(());
        }
        Err(Error::cause(
            param,
            format!("{handle:#x}"),
            format!("is a part of the chain of {:#x}; pass the head", self.head),
        ))
    }
}

static TABLE: Table<Buffer> = Table::new(0xca, "buffer", "acltdtAllocBuf");

fn check(param: &'static str, handle: u64) -> Result<()> {
    if handle == 0 {
        return Err(Error::null(param));
    }
    Ok(())
}

/// Buffers exist where host and device are one.
fn need_rc(function: &str) -> Result<()> {
    if current()?.is_rc() {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "{function} exists in RC mode only (CANNERY_MODE=rc)"
    )))
}

/// acltdtAllocBuf: zeroed memory, valid length 0.
///
/// # Errors
/// 100000 for size 0 or above 4 GiB and for kinds other than normal memory; 207000 in EP mode; 207001
/// without memory.
pub fn alloc(size: u64, kind: u32) -> Result<u64> {
    if size == 0 {
        return Err(Error::zero("size"));
    }
    if size > MOST_BYTES {
        return Err(Error::value(
            "size",
            size,
            format!("must be at most {}", show_bytes(MOST_BYTES)),
        ));
    }
    if kind != abi::ACL_TDT_NORMAL_MEM.cast_unsigned() {
        return Err(Error::value("type", kind, "must be 0 (ACL_TDT_NORMAL_MEM)"));
    }
    need_rc("acltdtAllocBuf")?;
    let block = Block::new(size).ok_or_else(|| no_memory(size))?;
    TABLE.add(Buffer::alone(Arc::new(Segment::new(block, 0))))
}

/// acltdtFreeBuf: the handle ends, and with a head those of its chain; the memory goes with its last
/// reference.
///
/// # Errors
/// 100000 for NULL, what is no living buffer, and a part of a chain.
pub fn free(handle: u64) -> Result<()> {
    check("buf", handle)?;
    take(handle).map(drop)
}

/// Ends the handles of a buffer and its chain.
pub(crate) fn take(handle: u64) -> Result<Buffer> {
    let taken = TABLE.remove_if("buf", handle, |buffer| buffer.free_of_chain("buf", handle))?;
    for (member, _) in &taken.chain {
        TABLE.remove("buf", *member)?;
    }
    Ok(taken)
}

/// Makes the handles that [`take`] ended valid again.
pub(crate) fn give_back(handle: u64, buffer: Buffer) -> Result<()> {
    for (member, segment) in &buffer.chain {
        let mut part = Buffer::alone(segment.clone());
        part.head = handle;
        TABLE.restore(*member, part)?;
    }
    TABLE.restore(handle, buffer)
}

/// A buffer for a message.
pub(crate) fn adopt(parcel: Parcel) -> Result<u64> {
    let mut segments = parcel.segments.into_iter();
    let first = segments.next().ok_or_else(|| no_memory(0))?;
    let head = TABLE.add(Buffer::alone(first))?;
    for segment in segments {
        let mut part = Buffer::alone(segment.clone());
        part.head = head;
        let member = TABLE.add(part)?;
        TABLE.with("buf", head, |buffer| {
            buffer.chain.push((member, segment));
            Ok(())
        })?;
    }
    Ok(head)
}

/// acltdtCopyBufRef: another handle for the same memory, length and user area.
///
/// # Errors
/// 100000 for NULL and what is no living buffer; 207000 in EP mode.
pub fn copy_reference(handle: u64) -> Result<u64> {
    check("buf", handle)?;
    need_rc("acltdtCopyBufRef")?;
    let segment = segment("buf", handle)?;
    TABLE.add(Buffer::alone(segment))
}

fn segment(param: &'static str, handle: u64) -> Result<Arc<Segment>> {
    check(param, handle)?;
    TABLE.with(param, handle, |buffer| Ok(buffer.segment.clone()))
}

/// acltdtGetBufData: address and size in bytes.
///
/// # Errors
/// As [`free`].
pub fn data(handle: u64) -> Result<(u64, u64)> {
    let segment = segment("buf", handle)?;
    Ok((segment.block.at(), segment.block.bytes()))
}

/// acltdtGetBufDataLen: bytes that count; 0 until they are set.
///
/// # Errors
/// As [`free`].
pub fn valid_length(handle: u64) -> Result<u64> {
    Ok(segment("buf", handle)?.valid())
}

/// acltdtSetBufDataLen.
///
/// # Errors
/// As [`free`], and 100000 above the size of the buffer.
pub fn set_valid_length(handle: u64, len: u64) -> Result<()> {
    let segment = segment("buf", handle)?;
    let size = segment.block.bytes();
    if len > size {
        return Err(Error::value(
            "len",
            len,
            format!("must be at most the size of the buffer, {size} bytes"),
        ));
    }
    segment.set_valid(len);
    Ok(())
}

fn user_part(bytes: u64, offset: u64) -> Result<std::ops::Range<usize>> {
    let end = offset
        .checked_add(bytes)
        .filter(|end| *end <= USER_BYTES as u64);
    match end {
        Some(end) => Ok(offset as usize..end as usize),
        None => Err(Error::value(
            "size",
            bytes,
            format!("must be at most {USER_BYTES} together with offset ({offset})"),
        )),
    }
}

/// acltdtGetBufUserData: copies a part of the user area to the program.
///
/// # Errors
/// As [`free`]; 100000 beyond the 96 bytes; 107000 for what is no host memory.
pub fn user_data(handle: u64, to: Bytes, offset: u64) -> Result<()> {
    let (segment, to, part) = user_call(handle, to, offset)?;
    segment.user(|user| to.copy_from(&user[part]));
    Ok(())
}

/// acltdtSetBufUserData: copies bytes of the program to the user area.
///
/// # Errors
/// As [`user_data`].
pub fn set_user_data(handle: u64, from: Bytes, offset: u64) -> Result<()> {
    let (segment, from, part) = user_call(handle, from, offset)?;
    segment.user(|user| from.copy_to(&mut user[part]));
    Ok(())
}

fn user_call(
    handle: u64,
    bytes: Bytes,
    offset: u64,
) -> Result<(Arc<Segment>, UserBytes, std::ops::Range<usize>)> {
    check("buf", handle)?;
    check("dataPtr", bytes.at)?;
    if bytes.len == 0 {
        return Err(Error::zero("size"));
    }
    let part = user_part(bytes.len, offset)?;
    let segment = segment("buf", handle)?;
    let bytes = UserBytes::check(current()?, "dataPtr", bytes.at, bytes.len)?;
    Ok((segment, bytes, part))
}

/// acltdtAppendBufChain: a buffer becomes the last part of the chain of another one.
///
/// # Errors
/// As [`free`], for both; 100000 for the same buffer, one with a chain of its own, and above 128 parts.
pub fn append(head: u64, buf: u64) -> Result<()> {
    check("headBuf", head)?;
    check("buf", buf)?;
    if head == buf {
        return Err(Error::cause(
            "buf",
            format!("{buf:#x}"),
            "is headBuf itself",
        ));
    }
    TABLE.all(|buffers| {
        let (Some(first), Some(last)) = (buffers.get(&head), buffers.get(&buf)) else {
            let param = if buffers.contains_key(&head) {
                "buf"
            } else {
                "headBuf"
            };
            let handle = if param == "buf" { buf } else { head };
            return Err(TABLE.unknown(param, handle));
        };
        first.free_of_chain("headBuf", head)?;
        last.free_of_chain("buf", buf)?;
        if first.chain.len() + 1 >= MOST_SEGMENTS {
            return Err(Error::cause(
                "headBuf",
                format!("{head:#x}"),
                format!("has a chain of {MOST_SEGMENTS} buffers, the most"),
            ));
        }
        if !last.chain.is_empty() {
            return Err(Error::cause(
                "buf",
                format!("{buf:#x}"),
                "is the head of a chain itself",
            ));
        }
        let segment = last.segment.clone();
        if let Some(last) = buffers.get_mut(&buf) {
            last.head = head;
        }
        if let Some(first) = buffers.get_mut(&head) {
            first.chain.push((buf, segment));
        }
        Ok(())
    })
}

/// acltdtGetBufChainNum: buffers of the chain, with its head.
///
/// # Errors
/// As [`free`].
pub fn chain_length(head: u64) -> Result<u32> {
    check("headBuf", head)?;
    TABLE.with("headBuf", head, |buffer| Ok(1 + buffer.chain.len() as u32))
}

/// acltdtGetBufFromChain: 0 is the head.
///
/// # Errors
/// As [`free`], and 100000 for an index beyond the chain.
pub fn of_chain(head: u64, index: u32) -> Result<u64> {
    check("headBuf", head)?;
    TABLE.with("headBuf", head, |buffer| match index {
        0 => Ok(head),
        _ => match buffer.chain.get(index as usize - 1) {
            Some((member, _)) => Ok(*member),
            None => Err(Error::value(
                "index",
                index,
                format!(
                    "must be below {}, the length of the chain",
                    1 + buffer.chain.len()
                ),
            )),
        },
    })
}
