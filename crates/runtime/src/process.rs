//! The runtime of this process: started once, on the first call that needs it, and again in a
//! forked child only when aclInit asks for it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::context::{Context, Contexts};
use crate::device::Device;
use crate::error::no_device::{self, NoDevice};
use crate::error::{Error, Fault, Result};
use crate::init::Init;
use crate::memory::areas::Areas;
use crate::memory::host::HostMemory;
use crate::memory::managed::Managed;
use crate::memory::pins::Budget;
use crate::memory::registered::Registered;
use crate::memory::sharing::Sharing;
use crate::memory::store::Store;
use crate::memory::virtual_memory::VirtualMemory;
use crate::os::{canary, host, tool};
use crate::settings::profile::ALL_PRODUCTS;
use crate::settings::{Mode, Settings};
use crate::thread::{self, Caller, Me};
use crate::visible::BadList;
use crate::window::Window;

/// No machine has more devices.
const MOST_DEVICES: usize = 16;

/// Everything that belongs to one start. Never freed: calls may be under way in other threads, and
/// it must outlive every static destructor of the program.
pub(crate) struct Runtime {
    epoch: u32,
    pub(crate) settings: Settings,
    pub(crate) window: Window,
    pub(crate) devices: Vec<Device>,
    /// Memory of the devices by position, so that an address leads to it with one load. NULL until
    /// somebody asked, and where there is no device. See [`Runtime::memory_at`].
    stores: [AtomicPtr<Store>; MOST_DEVICES],
    /// Why there are no devices, when the visible list is at fault.
    pub(crate) no_devices: Option<BadList>,
    /// Whether `ASCEND_RT_VISIBLE_DEVICES` gives devices other ids.
    pub(crate) renumbered: bool,
    pub(crate) contexts: Contexts,
    pub(crate) host: OnceLock<HostMemory>,
    /// Addresses outside of the ordinary memory of the devices.
    pub(crate) areas: Areas,
    pub(crate) virtual_memory: VirtualMemory,
    /// See [`Runtime::lock_budget`].
    pub(crate) lock_budget: OnceLock<Arc<Budget>>,
    /// Host memory of the program that the device may reach.
    pub(crate) registered: Registered,
    pub(crate) managed: Managed,
    pub(crate) init: Init,
    /// Set implicitly for threads without a binding; -1: none.
    pub(crate) default_device: AtomicI32,
    /// Bytes of media memory, as charged.
    pub(crate) media_used: AtomicU64,
    /// What other processes may have, and what they gave.
    pub(crate) sharing: Sharing,
}

/// Bit of the running product in the function masks; 0 before the start.
static PRODUCT: AtomicU8 = AtomicU8::new(0);
static CURRENT: AtomicPtr<Runtime> = AtomicPtr::new(std::ptr::null_mut());
static EPOCH: AtomicU32 = AtomicU32::new(0);
/// Process id of whoever is starting the runtime; 0: nobody. A lock that a forked child can see
/// through: an id that is not its own stands for a thread that does not exist here.
static STARTING: AtomicI32 = AtomicI32::new(0);

/// Who calls: the runtime and the context bound to the thread.
#[derive(Clone, Copy)]
pub(crate) struct Here {
    pub(crate) runtime: &'static Runtime,
    pub(crate) context: &'static Context,
    /// The memory of the context's device, as it was found when the thread was bound.
    store: Option<&'static Store>,
    /// The arena of the thread.
    pub(crate) arena: usize,
}

impl Here {
    #[inline]
    pub(crate) fn device(&self) -> &'static Device {
        &self.runtime.devices[self.context.device_index()]
    }

    #[inline(always)]
    pub(crate) fn store(&self) -> Result<&'static Store> {
        match self.store {
            Some(store) => Ok(store),
            None => self.find_store(),
        }
    }

    #[cold]
    fn find_store(&self) -> Result<&'static Store> {
        self.device()
            .store()
            .ok_or_else(|| no_context(self.runtime))
    }
}

#[inline]
fn published() -> Option<&'static Runtime> {
    crate::os::published(&CURRENT)
}

/// The runtime if it runs in this very process.
#[inline(always)]
pub(crate) fn running() -> Option<&'static Runtime> {
    canary::runtime()
}

/// Whether the running product is known to have a function of this mask. False before the start.
#[inline]
#[must_use]
pub fn product_has(products: u8) -> bool {
    PRODUCT.load(Ordering::Relaxed) & products != 0
}

/// Whether this process was forked from one that had started the runtime, and has none of its own.
pub(crate) fn is_forked() -> bool {
    published().is_some() && running().is_none()
}

/// The runtime, started when it is not.
#[inline(never)]
pub(crate) fn current() -> Result<&'static Runtime> {
    let runtime = match running() {
        Some(runtime) => runtime,
        None => start_or_refuse()?,
    };
    let products = thread::wanted();
    if products == ALL_PRODUCTS || runtime.settings.profile.is_in(products) {
        Ok(runtime)
    } else {
        Err(lacks(runtime))
    }
}

/// As [`current`], for a function whose products are known beforehand (best to the compiler): it
/// looks at the thread only to name the function in a refusal.
#[inline(always)]
pub(crate) fn current_of(products: u8) -> Result<&'static Runtime> {
    if let Some(runtime) = running()
        && (products == ALL_PRODUCTS || runtime.settings.profile.is_in(products))
    {
        return Ok(runtime);
    }
    current()
}

#[cold]
fn lacks(runtime: &Runtime) -> Error {
    let function = thread::function();
    let names = crate::settings::profile::names_of(thread::wanted());
    let have = match names.len() {
        0 => "no product has it".to_owned(),
        _ => format!("these have it: {names}"),
    };
    Error::unsupported(format!(
        "profile {} lacks {function}; {have}",
        runtime.settings.profile.name,
    ))
}

#[cold]
fn start_or_refuse() -> Result<&'static Runtime> {
    if is_forked() {
        return Err(Fault::Forked.into());
    }
    start(&BTreeMap::new())
}

/// Starts the runtime with the settings of the environment and of `file`. In a forked child it
/// starts afresh. Returns the running one when there is one.
pub(crate) fn start(file: &BTreeMap<String, String>) -> Result<&'static Runtime> {
    let me = host::pid();
    loop {
        match STARTING.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => break,
            Err(holder) if holder != me => {
                let taken =
                    STARTING.compare_exchange(holder, me, Ordering::Acquire, Ordering::Relaxed);
                if taken.is_ok() {
                    break;
                }
            }
            Err(_) => std::thread::yield_now(),
        }
    }
    let result = match running() {
        Some(runtime) => Ok(runtime),
        None => start_locked(file),
    };
    STARTING.store(0, Ordering::Release);
    if let Err(error) = &result {
        let mut text = String::new();
        error.fault().explain(&mut text);
        crate::log::error(format_args!("{text}"));
    }
    result
}

fn start_locked(file: &BTreeMap<String, String>) -> Result<&'static Runtime> {
    let settings = Settings::load(file).map_err(Fault::Setting)?;
    crate::log::set_level(settings.log);
    crate::error::language::language();
    crate::stream::engine::set_schedule(settings.schedule);
    crate::stream::timing::set(settings.timing);
    crate::os::shared_page::choose_directory(settings.directory.as_deref());
    if published().is_some() {
        no_device::forget();
        crate::memory::janitor::forget();
        crate::stream::engine::forget();
        crate::kernel::forget();
        crate::custom_allocator::forget();
        crate::snapshot::gate::forget();
    }
    let window = Window::open(&settings)?;
    if window.moved() {
        crate::log::warn(format_args!(
            "the device window is at {:#x} instead of its usual place, {} GiB a device",
            window.base(),
            window.stride() >> 30
        ));
    }
    if tool::is_valgrind() {
        crate::log::warn(format_args!(
            "under Valgrind each device has {}",
            crate::error::show_bytes(window.memory().capacity)
        ));
    }
    let list = std::env::var("ASCEND_RT_VISIBLE_DEVICES").ok();
    let (ids, no_devices) = match crate::visible::parse(list.as_deref(), settings.devices) {
        Ok(ids) => (ids, None),
        Err(bad) => (Vec::new(), Some(bad)),
    };
    let devices = ids
        .iter()
        .enumerate()
        .map(|(index, id)| Device::new(index, *id))
        .collect();
    let epoch = EPOCH.fetch_add(1, Ordering::Relaxed) + 1;
    let runtime: &'static Runtime = Box::leak(Box::new(Runtime {
        epoch,
        areas: Areas::new(&window, settings.mode == Mode::Rc),
        virtual_memory: VirtualMemory::default(),
        window,
        devices,
        stores: Default::default(),
        no_devices,
        renumbered: list.is_some(),
        contexts: Contexts::default(),
        host: OnceLock::new(),
        lock_budget: OnceLock::new(),
        registered: Registered::default(),
        managed: Managed::default(),
        init: Init::default(),
        default_device: AtomicI32::new(-1),
        media_used: AtomicU64::new(0),
        sharing: Sharing::default(),
        settings,
    }));
    crate::log::info(format_args!("{}", runtime.banner()));
    PRODUCT.store(runtime.settings.profile.mask(), Ordering::Release);
    CURRENT.store(std::ptr::from_ref(runtime).cast_mut(), Ordering::Release);
    canary::set(runtime);
    Ok(runtime)
}

/// The runtime and the thread's context.
#[inline(always)]
pub(crate) fn here() -> Result<Here> {
    here_and_me().map(|(here, _)| here)
}

/// As [`here`], with the thread's own state, which must stay on the thread.
#[inline(always)]
pub(crate) fn here_and_me() -> Result<(Here, Me)> {
    loop {
        if let Some(runtime) = running()
            && let Some(Caller {
                me,
                context,
                store,
                arena,
            }) = thread::caller(runtime)
        {
            let here = Here {
                runtime,
                context,
                store,
                arena,
            };
            return Ok((here, me));
        }
        // Answers yes or no instead of making a `Here`, which would then lie in memory for
        // everybody: the usual call keeps it in registers.
        arrive()?;
    }
}

/// Starts the runtime and binds the thread, where that is needed and allowed.
#[cold]
fn arrive() -> Result<()> {
    let runtime = current()?;
    match thread::bound(runtime.epoch) {
        Some(_) => Ok(()),
        None => runtime.bind_default().map(|_| ()),
    }
}

/// Index of the device that the thread is bound to, for argument checks that come before the
/// check of the product.
pub(crate) fn bound_device() -> Option<usize> {
    running()
        .and_then(|runtime| thread::bound(runtime.epoch))
        .map(Context::device_index)
}

#[cold]
pub(crate) fn no_context(runtime: &Runtime) -> Error {
    let (name, id) = (host::thread_name(), host::thread_id());
    let state = if thread::lost_binding(runtime.epoch) {
        format!(
            "the context of this thread ({name}, id {id}) is gone: it was destroyed, or its device was \
             reset; call aclrtSetDevice or aclrtSetCurrentContext in this thread again"
        )
    } else {
        format!(
            "this thread ({name}, id {id}) has no device; call aclrtSetDevice or \
             aclrtSetCurrentContext in it (a device chosen in another thread does not carry over)"
        )
    };
    let cause = match no_device::why() {
        Some(NoDevice::Failed(earlier)) => format!("{earlier}; therefore: {state}"),
        Some(NoDevice::Ended(earlier)) => format!(
            "{earlier}, so the thread ({name}, id {id}) has no device; call aclrtSetDevice or \
             aclrtSetCurrentContext in it again"
        ),
        None => state,
    };
    Fault::NoContext { cause }.into()
}

impl Runtime {
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Every store that has idle memory to give back.
    pub(crate) fn stores(&self) -> impl Iterator<Item = &Store> {
        let devices = self.devices.iter().filter_map(Device::store);
        devices.chain(self.host.get().map(HostMemory::store))
    }

    pub(crate) fn is_rc(&self) -> bool {
        self.settings.mode == Mode::Rc
    }

    /// The memory behind a device address and the position of its device, once it was opened.
    #[inline(always)]
    pub(crate) fn memory_at(&self, address: u64) -> Option<(usize, &Store)> {
        let index = self.window.position(address);
        let place = self.stores.get(index)?;
        match crate::os::published(place) {
            Some(store) => Some((index, store)),
            None => self.find_memory(index),
        }
    }

    #[cold]
    fn find_memory(&self, index: usize) -> Option<(usize, &Store)> {
        let store = self.devices.get(index)?.store()?;
        // Runtimes are never freed, and a store stays where it is.
        let place = std::ptr::from_ref(store).cast_mut();
        self.stores[index].store(place, Ordering::Release);
        Some((index, store))
    }

    #[cold]
    fn bind_default(&'static self) -> Result<&'static Context> {
        let device = self.default_device.load(Ordering::Acquire);
        if device < 0 || thread::lost_binding(self.epoch) {
            return Err(no_context(self));
        }
        self.bind_implicitly(device)
    }

    /// One line that names what was chosen.
    pub(crate) fn banner(&self) -> String {
        let memory = self.window.memory();
        let capacity = if memory.known {
            crate::error::show_bytes(memory.capacity)
        } else {
            "unknown capacity".to_owned()
        };
        format!(
            "profile {} ({}), mode {}, {} device(s) of {capacity}",
            self.settings.profile.name,
            self.settings.soc.name,
            self.settings.mode.name(),
            self.devices.len(),
        )
    }
}
