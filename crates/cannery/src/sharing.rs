//! Buffers of other processes, by key.

use std::ffi::{CStr, CString, c_char};
use std::mem::size_of;
use std::ptr;
use std::sync::Arc;

use bytemuck::AnyBitPattern;
use cannery_abi as abi;

use crate::context::Context;
use crate::device_buffer::{DeviceBuffer, Imported, Owner};
use crate::drop_failures;
use crate::error::{Code, Error, Result};

/// Length of a key with its end.
const KEY: usize = 65;

/// Names a buffer for other processes. Printable.
///
/// # Thread rules
/// May be used from any thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    text: CString,
    len: usize,
}

impl Key {
    /// A key from its text and the number of elements, as another process sent them.
    ///
    /// # Errors
    /// [`Code::InvalidParam`] when it is no key.
    #[track_caller]
    pub fn new(text: &str, len: usize) -> Result<Key> {
        match CString::new(text) {
            Ok(text) if !text.is_empty() && text.as_bytes().len() < KEY => Ok(Key { text, len }),
            _ => Err(Error::own(
                Code::InvalidParam,
                "aclrtIpcMemImportByKey",
                format!(
                    "a key has 1 to {} characters without NUL, not {:?}",
                    KEY - 1,
                    text
                ),
            )),
        }
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        self.text.to_str().unwrap_or_default()
    }

    /// Number of elements of the buffer.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A buffer that others may open; the key is closed when it is dropped, before the memory is freed.
///
/// Importers close first, says the manual: end their buffers before this value.
#[derive(Debug)]
pub struct Exported<T> {
    key: Key,
    /// Freed after the key is closed.
    buffer: DeviceBuffer<T>,
}

impl<T: AnyBitPattern> DeviceBuffer<T> {
    /// Lets other processes of the machine open the buffer: those in the list, or all for `None`
    /// (`aclrtIpcMemGetExportKey`). The memory must begin at a page: allocate at least a page of it.
    ///
    /// # Errors
    /// Those of the C functions; the buffer is freed then.
    #[track_caller]
    pub fn export(self, processes: Option<&[i32]>) -> Result<Exported<T>> {
        let flags = if processes.is_some() {
            abi::ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT
        } else {
            abi::ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION
        };
        let mut text = [0 as c_char; KEY];
        let bytes = self.len() * size_of::<T>();
        let context = Arc::clone(self.context());
        context.call("aclrtIpcMemGetExportKey", |table| {
            let address = self.as_ptr().as_raw();
            // SAFETY: the block has this many bytes, the place has the length that is told.
            unsafe {
                (table.aclrtIpcMemGetExportKey)(address, bytes, text.as_mut_ptr(), KEY, flags)
            }
        })?;
        // SAFETY: the function ended the text.
        let text = unsafe { CStr::from_ptr(text.as_ptr()) }.to_owned();
        let exported = Exported {
            key: Key {
                text,
                len: self.len(),
            },
            buffer: self,
        };
        if let Some(processes) = processes {
            let mut processes = processes.to_vec();
            context.call("aclrtIpcMemSetImportPid", |table| {
                let key = exported.key.text.as_ptr();
                // SAFETY: the list has this length.
                unsafe {
                    (table.aclrtIpcMemSetImportPid)(key, processes.as_mut_ptr(), processes.len())
                }
            })?;
        }
        Ok(exported)
    }
}

impl<T> Exported<T> {
    /// The key to send to the others.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The buffer.
    pub fn buffer(&self) -> &DeviceBuffer<T> {
        &self.buffer
    }

    /// The buffer.
    pub fn buffer_mut(&mut self) -> &mut DeviceBuffer<T> {
        &mut self.buffer
    }
}

impl<T> Drop for Exported<T> {
    fn drop(&mut self) {
        let outcome = self.buffer.context().call("aclrtIpcMemClose", |table| {
            // SAFETY: a key of ours.
            unsafe { (table.aclrtIpcMemClose)(self.key.text.as_ptr()) }
        });
        drop_failures::note(outcome);
    }
}

impl<T: AnyBitPattern> DeviceBuffer<T, Imported> {
    /// Opens the buffer of another process (`aclrtIpcMemImportByKey`); closed when dropped. The other process
    /// may write it at any time: what is read is some bytes, never a Rust value that matters to safety.
    ///
    /// # Errors
    /// Those of the C function: this process is not on the list, or the buffer is gone.
    #[track_caller]
    pub fn import(context: &Arc<Context>, key: &Key) -> Result<DeviceBuffer<T, Imported>> {
        let mut block = ptr::null_mut();
        context.call("aclrtIpcMemImportByKey", |table| {
            let flags = abi::ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS;
            // SAFETY: the place is valid, the key a C text.
            unsafe { (table.aclrtIpcMemImportByKey)(&raw mut block, key.text.as_ptr(), flags) }
        })?;
        let owner = Owner::OtherProcess(key.text.clone());
        // SAFETY: the runtime checks each access against the exported size; any bytes are a `T`.
        Ok(unsafe { DeviceBuffer::<T, Imported>::own(context, block, key.len, owner) })
    }
}

/// Number of this process for lists of those who may open a buffer (`aclrtDeviceGetBareTgid`).
///
/// # Errors
/// Those of the C function.
#[track_caller]
pub fn process_number(context: &Context) -> Result<i32> {
    let mut number = 0;
    context.call("aclrtDeviceGetBareTgid", |table| {
        // SAFETY: the place is valid.
        unsafe { (table.aclrtDeviceGetBareTgid)(&raw mut number) }
    })?;
    Ok(number)
}
