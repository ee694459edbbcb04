//! Physical memory for other processes: aclrtMemExportToShareableHandle,
//! aclrtMemSetPidToShareableHandle, aclrtMemImportFromShareableHandle, and their second versions.

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use cannery_abi as abi;
use cannery_observe::PageKind;

use super::backing::Backing;
use super::physical::no_file;
use super::properties::Home;
use super::reservation::refuse_on_soc;
use super::state::{Physical, State};
use crate::error::{Error, Result};
use crate::memory::guard;
use crate::memory::sharing::exports::{About, Export};
use crate::memory::sharing::key::{Key, Kind};
use crate::memory::sharing::{blocks, connections};
use crate::os::{conversion, host};
use crate::process::{Runtime, current};

/// How a shareable handle is passed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A number of 64 bits.
    Number,
    /// 128 bytes (A3).
    Fabric,
}

impl Form {
    /// Bytes of a shareable handle of this form.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Form::Number => 8,
            Form::Fabric => 128,
        }
    }

    /// The form of an aclrtMemSharedHandleType.
    ///
    /// # Errors
    /// 107000 for anything but DEFAULT (1) and FABRIC (2).
    pub fn of(share_type: i32) -> Result<Form> {
        match share_type {
            abi::ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT => Ok(Form::Number),
            abi::ACL_MEM_SHARE_HANDLE_TYPE_FABRIC => Ok(Form::Fabric),
            _ => Err(Error::rt_value(
                "handleType",
                share_type,
                "1 (ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT) or 2 (FABRIC)",
            )),
        }
    }

    fn kind(self) -> Kind {
        match self {
            Form::Number => Kind::Handle,
            Form::Fabric => Kind::Fabric,
        }
    }
}

/// A shareable handle: of the first 8 bytes, or of all 128.
pub type Shareable = [u8; 128];

fn write(key: &Key) -> Shareable {
    match key.kind {
        Kind::Fabric => key.bytes(),
        _ => {
            let mut bytes = [0; 128];
            bytes[..8].copy_from_slice(&key.number().to_le_bytes());
            bytes
        }
    }
}

fn number(bytes: &Shareable) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(number)
}

fn read(form: Form, bytes: &Shareable) -> Option<Key> {
    match form {
        Form::Number => Key::from_number(number(bytes)),
        Form::Fabric => Key::from_bytes(bytes),
    }
}

/// A shareable handle in a text.
fn show(form: Form, bytes: &Shareable) -> String {
    match form {
        Form::Number => format!("{:#x}", number(bytes)),
        Form::Fabric => "a fabric handle".to_owned(),
    }
}

fn runtime_with(form: Form) -> Result<&'static Runtime> {
    let runtime = current()?;
    refuse_on_soc(runtime)?;
    let profile = runtime.settings.profile;
    if form == Form::Fabric && profile.name != "A3" {
        return Err(Error::unsupported(format!(
            "profile {} has no fabric handles; A3 has; use ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT (1)",
            profile.name
        )));
    }
    Ok(runtime)
}

/// aclrtMemExportToShareableHandle (V2): lets other processes of this user have the memory of a handle.
/// Once for each handle. Flags 1: without a white list.
///
/// # Errors
/// 107000 for flags other than 0 and 1, for what is no handle, for one that was imported and for one that
/// was exported before; 207000 for a form that the product lacks; 207001 when the system refuses.
pub fn export(handle: u64, form: Form, flags: u64) -> Result<Shareable> {
    if flags > 1 {
        return Err(Error::rt_value("flags", flags, "0 or 1"));
    }
    let runtime = runtime_with(form)?;
    let mut state = runtime.virtual_memory.state();
    let physical = state.held(handle)?;
    if physical.imported {
        return Err(Error::address(
            "handle",
            handle,
            "was imported; only the process that allocated the memory can export it",
        ));
    }
    if let Some(key) = physical.key {
        return Err(Error::address(
            "handle",
            handle,
            format!(
                "was exported already, as {}; a handle can be exported once: pass that on",
                show(
                    match key.kind {
                        Kind::Fabric => Form::Fabric,
                        _ => Form::Number,
                    },
                    &write(&key)
                )
            ),
        ));
    }
    let memory = state.own_file(runtime, handle)?;
    let physical = state.held(handle)?;
    let (device, home) = match physical.home {
        Home::Device(device) => (runtime.devices[device].physical(), 0),
        Home::Host => (u32::MAX, 1),
        Home::Numa(node) => (u32::MAX, 2 | u64::from(node) << 32),
    };
    let about = About {
        bytes: physical.bytes,
        requested: physical.bytes,
        device,
        pages: physical.pages as u32,
        more: [home, u64::from(physical.attribute.cast_unsigned())],
    };
    let export = Export::new(Arc::new(memory), about, flags == 1).of(handle);
    let key = runtime
        .sharing
        .publish(form.kind(), export)
        .map_err(|error| blocks::no_broker(&error))?;
    physical.key = Some(key);
    Ok(write(&key))
}

impl State {
    /// Moves the bytes of a handle to a file that holds nothing else, once, under all its mappings;
    /// one more descriptor of that file.
    fn own_file(&mut self, runtime: &Runtime, handle: u64) -> Result<OwnedFd> {
        let distance = runtime.window.distance();
        let places: Vec<u64> = self
            .mappings
            .iter()
            .filter(|(_, mapping)| mapping.handle == handle)
            .flat_map(|(at, mapping)| {
                let seen = (mapping.host && distance != 0).then_some(*at);
                std::iter::once(at.wrapping_add(distance)).chain(seen)
            })
            .collect();
        let physical = self.held(handle)?;
        let bytes = physical.bytes;
        let refused = |error: std::io::Error| no_file(bytes, &error);
        if let Backing::Own(file) = &physical.backing {
            return file.try_clone().map_err(refused);
        }
        guard::commit(bytes)?;
        let Some(physical) = self.handles.get(&handle) else {
            return Err(refused(std::io::ErrorKind::NotFound.into()));
        };
        let (old, offset) = self.files.place(&physical.backing);
        let own = conversion::move_to_own_file(old, offset, bytes, &places).map_err(refused)?;
        let more = own.as_fd().try_clone_to_owned().map_err(refused);
        if let Some(physical) = self.handles.get_mut(&handle) {
            let old = std::mem::replace(&mut physical.backing, Backing::Own(own));
            self.files.give(old, bytes);
        }
        more
    }
}

/// aclrtMemSetPidToShareableHandle (V2): lets these processes import a shareable handle of this process.
///
/// # Errors
/// 107000 for what this process does not export; 207000 for a form that the product lacks.
pub fn allow(form: Form, shareable: &Shareable, pids: &[i32]) -> Result<()> {
    let runtime = runtime_with(form)?;
    let allowed =
        read(form, shareable).is_some_and(|key| runtime.sharing.exports.allow(&key, pids));
    if allowed {
        return Ok(());
    }
    Err(Error::rt_cause(
        "shareableHandle",
        show(form, shareable),
        "is none that this process exports; pass what aclrtMemExportToShareableHandle gave, while its \
         handle is not freed",
    ))
}

/// aclrtMemImportFromShareableHandle (V2): a handle of this process's own for the memory of another one, on
/// `device`; without one on the device where it is.
///
/// # Errors
/// 107001 for a device that does not exist; 107000 for what nobody exports (any more), for what this process
/// exports itself or has imported already, and where its pid is not listed; 207000 for a form that the
/// product lacks.
pub fn import(form: Form, shareable: &Shareable, device: Option<i32>) -> Result<u64> {
    let runtime = runtime_with(form)?;
    let device = match device {
        Some(id) => Some(runtime.device_index("deviceId", id)?),
        None => None,
    };
    let refuse = |why: String| Error::rt_cause("shareableHandle", show(form, shareable), why);
    let key = read(form, shareable).ok_or_else(|| {
        refuse("is no shareable handle that a process of this machine exported".to_owned())
    })?;
    if key.pid == host::pid() && runtime.sharing.exports.has(&key) {
        return Err(refuse(
            "was exported by this process, which has the memory already: importing it here is not \
             supported; use the handle that was exported"
                .to_owned(),
        ));
    }
    if let Some(handle) = runtime.virtual_memory.state().imported_by(&key) {
        return Err(already(&refuse, handle));
    }
    let explain = |refusal: connections::Refusal| {
        refuse(refusal.explain(&key, "aclrtMemSetPidToShareableHandle"))
    };
    let (about, memory) = runtime.sharing.connections.fetch(&key).map_err(explain)?;
    let physical = adopt(runtime, key, &about, memory, device).ok_or_else(|| {
        refuse("leads to memory that is not what the exporter says of it".to_owned())
    })?;
    let mut state = runtime.virtual_memory.state();
    // Another thread may have been faster.
    match state.imported_by(&key) {
        Some(handle) => Err(already(&refuse, handle)),
        None => Ok(state.insert(physical)),
    }
}

fn already(refuse: &impl Fn(String) -> Error, handle: u64) -> Error {
    refuse(format!(
        "was imported already, as handle {handle:#x}; a process has one handle for it: use that one"
    ))
}

/// The memory as physical memory of this process; `None` when it is not what it should be.
fn adopt(
    runtime: &Runtime,
    key: Key,
    about: &About,
    memory: OwnedFd,
    device: Option<usize>,
) -> Option<Physical> {
    let pages = PageKind::from_number(u8::try_from(about.pages).ok()?);
    let whole = about.bytes > 0 && about.bytes.is_multiple_of(pages.bytes());
    if !whole || conversion::length(&memory).is_none_or(|len| len < about.bytes) {
        return None;
    }
    let home = match about.more[0] & 0xffff_ffff {
        0 => {
            let same = |index: &usize| runtime.devices[*index].physical() == about.device;
            let there = || (0..runtime.devices.len()).find(same);
            Home::Device(device.or_else(there).unwrap_or(0))
        }
        1 => Home::Host,
        _ => Home::Numa((about.more[0] >> 32) as u32),
    };
    Some(Physical {
        home,
        pages,
        bytes: about.bytes,
        attribute: (about.more[1] as u32).cast_signed(),
        backing: Backing::Own(memory),
        imported: true,
        key: Some(key),
        references: 1,
        mappings: 0,
    })
}
