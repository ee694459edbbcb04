//! The address space of the devices.
//!
//! ```text
//! device window   16 TiB .. 32 TiB, no access (EP): a device pointer on the CPU faults
//!   device i      0x12c0_0000_0000 + i * stride:  [ normal pages | huge pages ]
//!   the rest      what areas take (see [`crate::memory::areas`])
//! alias window    at 60 TiB or anywhere, as long: readable and writable where devices are open
//! ```
//!
//! `alias = device pointer + distance`, with one distance for the process; translation is one add.
//! In RC mode the device window is the readable and writable one and the distance is 0.
//!
//! A device has more addresses than memory. Memory is what counts (see [`crate::memory::store`]);
//! the spare addresses keep fragmentation of addresses from ever mattering, as page tables do on a
//! card.

use crate::error::{Error, Fault, Result};
use crate::os::{host, map, tool};
use crate::settings::{Mode, Settings};

const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;
/// Where the window begins when nothing is in the way.
const BASE: u64 = 16 * TIB;
/// How large it is then.
const FULL: u64 = 16 * TIB;
/// Where users are used to seeing the pointers of device 0.
const FIRST_DEVICE: u64 = 0x12c0_0000_0000;
/// Where the memory of the window is touched, when nothing is in the way: clear of the places where
/// programs, their heaps and their libraries lie, also after the distance is taken from those.
const ALIAS: u64 = 60 * TIB;
/// What areas have under Valgrind.
const NARROW_REST: u64 = 16 * GIB;
/// Addresses of a device when there is room.
const STRIDE: u64 = 256 * GIB;

/// Where everything is.
#[derive(Debug)]
pub(crate) struct Window {
    base: u64,
    bytes: u64,
    first: u64,
    stride_shift: u32,
    devices: u64,
    /// Added, wrapping, to a device pointer gives the alias.
    distance: u64,
    moved: bool,
    memory: MemoryPlan,
}

/// How the memory of each device is divided, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryPlan {
    /// All memory.
    pub(crate) capacity: u64,
    /// In 2 MiB pages, the reserved giant part included.
    pub(crate) huge: u64,
    /// Kept for 1 GiB pages.
    pub(crate) giant: u64,
    /// The rest, in 4 KiB pages.
    pub(crate) normal: u64,
    /// Whether a source or a setting says so; where not, the host's memory bounds the device.
    pub(crate) known: bool,
}

impl MemoryPlan {
    fn new(settings: &Settings) -> Self {
        let unknown = || (host::total_memory().unwrap_or(8 * GIB) / 2) & !(2 * GIB - 1);
        let capacity = settings.capacity.unwrap_or_else(unknown).max(1 << 20);
        let huge = settings
            .huge
            .unwrap_or_else(|| crate::settings::default_huge(capacity));
        let huge = huge.min(capacity);
        MemoryPlan {
            capacity,
            huge,
            giant: settings.giant.min(huge),
            normal: capacity - huge,
            known: settings.capacity.is_some(),
        }
    }
}

/// Addresses of one device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DevicePlan {
    /// First address.
    pub(crate) base: u64,
    /// All addresses.
    pub(crate) bytes: u64,
    /// Of these, for normal pages; the rest is for huge ones.
    pub(crate) normal_bytes: u64,
    /// Distance to the alias.
    pub(crate) distance: u64,
    /// The memory behind them.
    pub(crate) memory: MemoryPlan,
}

impl Window {
    /// Reserves the windows.
    pub(crate) fn open(settings: &Settings) -> Result<Window> {
        let memory = MemoryPlan::new(settings);
        let devices = u64::from(settings.devices);
        let roomy = (memory.capacity + memory.capacity / 4 + 2 * GIB).next_power_of_two();
        let least = memory.capacity.next_multiple_of(GIB).next_power_of_two();
        let stride = if host::overcommit_mode() == 2 {
            roomy
        } else {
            STRIDE.max(roomy)
        };
        let alias_needed = settings.mode == Mode::Ep;
        let narrow = tool::is_valgrind();
        if narrow && let Ok(window) = Self::open_narrow(settings, least, memory) {
            return Ok(window);
        }

        let home = settings.window.unwrap_or(BASE);
        let first = if settings.window.is_some() {
            home
        } else {
            FIRST_DEVICE
        };
        if !narrow
            && first - home + devices * stride <= FULL
            && let Ok(window) = Self::try_at(
                Some(home),
                FULL,
                first - home,
                stride,
                devices,
                alias_needed,
                memory,
            )
        {
            return Ok(window);
        }
        if let Some(base) = settings.window {
            let cause = format!(
                "CANNERY_WINDOW={base:#x}: 16 TiB from there are not free, or {devices} devices of \
                 {} bytes do not fit",
                memory.capacity
            );
            return Err(Fault::NoWindow { cause }.into());
        }
        // The place is taken or a tool forbids it: anywhere, and smaller until it is allowed.
        let mut bytes = if narrow {
            (devices * least + NARROW_REST).next_power_of_two()
        } else {
            FULL
        };
        let mut last = String::from("too small");
        while bytes / devices >= least {
            let stride = (bytes / devices).min(stride);
            let stride = 1u64 << (63 - stride.leading_zeros());
            match Self::try_at(None, bytes, 0, stride, devices, alias_needed, memory) {
                Ok(window) => {
                    return Ok(Window {
                        moved: true,
                        ..window
                    });
                }
                Err(error) => last = error.to_string(),
            }
            bytes /= 2;
        }
        let advice = if narrow {
            "Valgrind has little;"
        } else {
            "raise the address-space limit (ulimit -v), or"
        };
        let cause = format!(
            "no address space for {devices} devices of {} bytes, even after halving ({last}); {advice} \
             choose fewer or smaller devices with CANNERY_DEVICES and CANNERY_HBM_BYTES",
            memory.capacity
        );
        Err(Error::from(Fault::NoWindow { cause }))
    }

    /// Under Valgrind: it keeps a record of every 64 KiB of address space, hands out little where it may
    /// choose, and takes any place that it is told. So no more than the memory needs, at the usual place.
    fn open_narrow(
        settings: &Settings,
        stride: u64,
        memory: MemoryPlan,
    ) -> std::io::Result<Window> {
        let devices = u64::from(settings.devices);
        let home = settings.window.unwrap_or(FIRST_DEVICE);
        // Devices start on whole GiB, wherever the window does.
        let bytes = devices * stride + home.next_multiple_of(GIB) - home + NARROW_REST;
        let alias_needed = settings.mode == Mode::Ep;
        Self::try_at(Some(home), bytes, 0, stride, devices, alias_needed, memory)
    }

    fn try_at(
        at: Option<u64>,
        bytes: u64,
        offset: u64,
        stride: u64,
        devices: u64,
        alias_needed: bool,
        memory: MemoryPlan,
    ) -> std::io::Result<Window> {
        let base = map::reserve(at, bytes, map::Access::None)?;
        // Devices start on whole GiB, so that giant pages are aligned.
        let first = (base + offset).next_multiple_of(GIB);
        let stride = if first + devices * stride > base + bytes {
            stride / 2
        } else {
            stride
        };
        let distance = if alias_needed {
            let home = map::reserve(Some(ALIAS), bytes + GIB, map::Access::None);
            match home.or_else(|_| map::reserve(None, bytes + GIB, map::Access::None)) {
                Ok(alias) => {
                    map::keep_private(alias, bytes + GIB);
                    // Same position within a GiB: huge pages line up on both sides.
                    (alias + (base.wrapping_sub(alias) % GIB)).wrapping_sub(base)
                }
                Err(error) => {
                    map::release(base, bytes);
                    return Err(error);
                }
            }
        } else {
            0
        };
        map::keep_private(base, bytes);
        Ok(Window {
            base,
            bytes,
            first,
            stride_shift: stride.trailing_zeros(),
            devices,
            distance,
            moved: false,
            memory,
        })
    }

    /// Plan of device `index`.
    pub(crate) fn device_plan(&self, index: usize) -> DevicePlan {
        let bytes = 1u64 << self.stride_shift;
        let MemoryPlan {
            capacity,
            normal,
            huge,
            ..
        } = self.memory;
        // Whole GiB where there is room, so that giant pages are aligned.
        let roomy = bytes >= 8 * GIB && bytes - capacity >= 2 * GIB;
        let grain = if roomy { GIB } else { 2 << 20 };
        // In proportion, but never less than what each part holds.
        let share = (u128::from(bytes) * u128::from(normal) / u128::from(capacity)) as u64;
        let least = if normal == 0 {
            0
        } else {
            normal.next_multiple_of(grain)
        };
        let most = bytes
            - if huge == 0 {
                0
            } else {
                huge.next_multiple_of(grain)
            };
        let normal_bytes = (share / grain * grain).max(least).min(most);
        DevicePlan {
            base: self.first + ((index as u64) << self.stride_shift),
            bytes,
            normal_bytes,
            distance: self.distance,
            memory: self.memory,
        }
    }

    /// Index of the device whose addresses include `address`; `None` outside of them.
    #[inline]
    pub(crate) fn device_of(&self, address: u64) -> Option<usize> {
        let index = address.wrapping_sub(self.first) >> self.stride_shift;
        (index < self.devices).then_some(index as usize)
    }

    /// The position that `address` would have in an endless row of devices; large numbers before the
    /// first one.
    #[inline(always)]
    pub(crate) fn position(&self, address: u64) -> usize {
        (address.wrapping_sub(self.first) >> self.stride_shift) as usize
    }

    /// Whether an address lies in the window: then the host must not touch it (EP).
    #[inline]
    pub(crate) fn contains(&self, address: u64) -> bool {
        address.wrapping_sub(self.base) < self.bytes
    }

    /// Addresses of the window that devices have: the first, and the one behind the last.
    pub(crate) fn devices_span(&self) -> (u64, u64) {
        (self.first, self.first + (self.devices << self.stride_shift))
    }

    /// Whether an address is where the runtime touches device memory.
    pub(crate) fn alias_contains(&self, at: u64) -> bool {
        self.contains(at.wrapping_sub(self.distance))
    }

    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn stride(&self) -> u64 {
        1 << self.stride_shift
    }

    /// Added, wrapping, to a device pointer gives the address that the runtime may touch.
    #[inline]
    pub(crate) fn distance(&self) -> u64 {
        self.distance
    }

    /// Whether the window is not at its usual place.
    pub(crate) fn moved(&self) -> bool {
        self.moved
    }

    pub(crate) fn memory(&self) -> MemoryPlan {
        self.memory
    }
}
