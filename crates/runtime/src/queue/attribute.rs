//! Attributes of a queue: a name and a depth.

use std::ffi::CString;

use super::page::NAME_BYTES;
use super::table::Table;
use crate::error::{Error, Result};
use cannery_abi as abi;

/// Messages in a queue without attributes.
pub(crate) const DEFAULT_DEPTH: u64 = 8;
/// Depths of queues and channels.
pub(crate) const DEPTHS: std::ops::RangeInclusive<u64> = 2..=8192;

struct Attribute {
    /// Never moves while the object lives and keeps its name: the program gets its address.
    name: CString,
    depth: u32,
}

static TABLE: Table<Attribute> = Table::new(0xc9, "queue attribute", "acltdtCreateQueueAttr");

/// acltdtCreateQueueAttr: no name, depth 8.
///
/// # Errors
/// 207000 where the product has no queues.
pub fn create() -> Result<u64> {
    TABLE.add(Attribute {
        name: CString::default(),
        depth: DEFAULT_DEPTH as u32,
    })
}

/// acltdtDestroyQueueAttr.
///
/// # Errors
/// 100000 for NULL and for what is no living attribute object.
pub fn destroy(handle: u64) -> Result<()> {
    if handle == 0 {
        return Err(Error::null("attr"));
    }
    TABLE.remove("attr", handle).map(drop)
}

/// What an attribute is set to.
#[derive(Debug)]
pub enum Value {
    /// The name: a copy of it, or where it is kept.
    Name(CString),
    /// The depth.
    Depth(u32),
}

/// Bytes of an attribute of this type.
///
/// # Errors
/// 100000 for an unknown type.
pub fn size(kind: i32) -> Result<usize> {
    match kind {
        abi::ACL_TDT_QUEUE_NAME_PTR => Ok(8),
        abi::ACL_TDT_QUEUE_DEPTH_UINT32 => Ok(4),
        _ => Err(Error::value(
            "type",
            kind,
            "must be 0 (ACL_TDT_QUEUE_NAME_PTR) or 1 (ACL_TDT_QUEUE_DEPTH_UINT32)",
        )),
    }
}

/// acltdtSetQueueAttr.
///
/// # Errors
/// 100000 for what is no attribute object, a name above 127 bytes, a depth outside 2 to 8192.
pub fn set(handle: u64, value: Value) -> Result<()> {
    TABLE.with("attr", handle, |attribute| {
        match value {
            Value::Name(name) if name.as_bytes().len() < NAME_BYTES => attribute.name = name,
            Value::Name(name) => {
                return Err(Error::cause(
                    "param",
                    name.to_string_lossy(),
                    format!("is a name of more than {} bytes", NAME_BYTES - 1),
                ));
            }
            Value::Depth(depth) if DEPTHS.contains(&u64::from(depth)) => attribute.depth = depth,
            Value::Depth(depth) => return Err(bad_depth("param", u64::from(depth))),
        }
        Ok(())
    })
}

pub(crate) fn bad_depth(param: &'static str, depth: u64) -> Error {
    Error::value(
        param,
        depth,
        format!("must be in [{}, {}]", DEPTHS.start(), DEPTHS.end()),
    )
}

/// acltdtGetQueueAttr for the name: where it is kept, while the object lives and keeps it.
///
/// # Errors
/// 100000 for what is no attribute object.
pub fn name_address(handle: u64) -> Result<u64> {
    TABLE.with("attr", handle, |attribute| {
        Ok(attribute.name.as_ptr() as u64)
    })
}

/// acltdtGetQueueAttr for the depth.
///
/// # Errors
/// As [`name_address`].
pub fn depth(handle: u64) -> Result<u32> {
    TABLE.with("attr", handle, |attribute| Ok(attribute.depth))
}

/// Name and depth.
pub(crate) fn read(handle: u64) -> Result<(Vec<u8>, u64)> {
    TABLE.with("attr", handle, |attribute| {
        let name = attribute.name.as_bytes().to_vec();
        Ok((name, u64::from(attribute.depth)))
    })
}
