//! aclDataBuffer: an address and a size, behind a handle. Handles are numbers looked up in a table,
//! so that any value may be passed.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use crate::error::{Error, Fault, Result};
use crate::patient;

#[derive(Clone, Copy)]
struct Described {
    address: u64,
    size: u64,
}

#[derive(Default)]
struct Table {
    next: u64,
    entries: HashMap<u64, Described>,
}

static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

/// Handles look like addresses that no mapping has.
const HANDLE_TAG: u64 = 0x00c8_0000_0000_0000;

fn with_table<R>(act: impl FnOnce(&mut Table) -> Result<R>) -> Result<R> {
    match patient::lock(&TABLE) {
        Some(mut table) => act(&mut table),
        None => Err(Fault::Forked.into()),
    }
}

fn unknown(handle: u64) -> Error {
    if handle == 0 {
        Error::null("dataBuffer")
    } else {
        Error::cause(
            "dataBuffer",
            format!("{handle:#x}"),
            "is no living data buffer; destroyed already?",
        )
    }
}

fn check(address: u64, size: u64) -> Result<()> {
    if address == 0 && size != 0 {
        return Err(Error::cause("size", size, "must be 0 when data is NULL"));
    }
    Ok(())
}

/// aclCreateDataBuffer. The memory stays the caller's.
///
/// # Errors
/// 100000 for no address with a size.
pub fn create(address: u64, size: u64) -> Result<u64> {
    check(address, size)?;
    with_table(|table| {
        table.next += 16;
        let handle = HANDLE_TAG | table.next;
        table.entries.insert(handle, Described { address, size });
        Ok(handle)
    })
}

/// aclDestroyDataBuffer. The memory is not released.
///
/// # Errors
/// 100000 for NULL and for what is no living data buffer.
pub fn destroy(handle: u64) -> Result<()> {
    with_table(|table| {
        table
            .entries
            .remove(&handle)
            .map(|_| ())
            .ok_or_else(|| unknown(handle))
    })
}

/// aclGetDataBufferAddr.
///
/// # Errors
/// As [`destroy`].
pub fn address(handle: u64) -> Result<u64> {
    with_table(|table| {
        table
            .entries
            .get(&handle)
            .map(|entry| entry.address)
            .ok_or_else(|| unknown(handle))
    })
}

/// aclGetDataBufferSizeV2.
///
/// # Errors
/// As [`destroy`].
pub fn size(handle: u64) -> Result<u64> {
    with_table(|table| {
        table
            .entries
            .get(&handle)
            .map(|entry| entry.size)
            .ok_or_else(|| unknown(handle))
    })
}

/// aclUpdateDataBuffer: another address and size.
///
/// # Errors
/// As [`destroy`] and [`create`].
pub fn update(handle: u64, address: u64, size: u64) -> Result<()> {
    with_table(|table| {
        let entry = table
            .entries
            .get_mut(&handle)
            .ok_or_else(|| unknown(handle))?;
        check(address, size)?;
        *entry = Described { address, size };
        Ok(())
    })
}
