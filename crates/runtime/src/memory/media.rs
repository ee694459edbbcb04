//! Manual chapter: media memory. acldvppMalloc/acldvppFree and hi_mpi_dvpp_malloc/hi_mpi_dvpp_free:
//! two families, each released by its own function only.

use std::sync::atomic::Ordering;

use cannery_observe::{Event, Family, PageKind, emit};

use super::config::APP_MODULE;
use super::store::{Refusal, Request, charge_of, families};
use super::{free, locate, malloc};
use crate::error::{Error, Result, show_bytes};
use crate::process::{current, here};
use crate::settings::profile;

/// First or second generation of the media functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Generation {
    /// acldvppMalloc, acldvppFree.
    First,
    /// hi_mpi_dvpp_malloc, hi_mpi_dvpp_free.
    Second,
}

impl Generation {
    fn family(self) -> Family {
        match self {
            Generation::First => Family::Dvpp,
            Generation::Second => Family::HiMpi,
        }
    }

    fn parameter(self) -> &'static str {
        match self {
            Generation::First => "devPtr",
            Generation::Second => "dev_ptr",
        }
    }
}

/// Media memory on the current device: huge pages, ALIGN_UP(size, 32) + 32 bytes, at a multiple of
/// 128, at most 16 GiB in a process.
///
/// # Errors
/// 100000 for no place, size 0 and sizes that wrap; 107002 without a context; 207000 where the
/// product lacks the generation; 207001 when huge pages or the 16 GiB run out.
pub fn malloc(out: Option<&mut u64>, size: u64, generation: Generation) -> Result<()> {
    let family = generation.family();
    let Some(out) = out else {
        return Err(Error::null(generation.parameter()));
    };
    if size == 0 {
        return Err(Error::zero("size"));
    }
    if size.checked_add(64).is_none() {
        return Err(Error::cause(
            "size",
            size,
            "wraps when it is padded by up to 64 bytes",
        ));
    }
    let here = here()?;
    check_product(here.runtime.settings.profile, family.made_by())?;
    let request = Request {
        pages: PageKind::Huge,
        size: size.next_multiple_of(32) + 32,
        requested: size,
        room: size.next_multiple_of(32) + 32,
        family,
        module: APP_MODULE,
    };
    let settings = &here.runtime.settings;
    let limit = settings
        .limits
        .media
        .map_or(settings.profile.media_limit, |lowered| {
            lowered.min(settings.profile.media_limit)
        });
    let charge = if request.size > limit {
        u64::MAX
    } else {
        charge_of(PageKind::Huge, request.size)
    };
    let fits = |used: u64| used.checked_add(charge).filter(|sum| *sum <= limit);
    if let Err(used) =
        here.runtime
            .media_used
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, fits)
    {
        return Err(crate::error::Fault::HostShortage {
            asked: size,
            cause: format!(
                "media memory of a process is limited to {}, {} are used; release blocks with {}",
                show_bytes(limit),
                show_bytes(used),
                family.freed_by()
            ),
        }
        .into());
    }
    let store = here.store()?;
    match store.alloc(here.arena, &request) {
        Ok(address) => {
            emit(|| Event::Alloc {
                address,
                requested: size,
                charged: charge,
                family,
                pages: PageKind::Huge,
                device: here.device().index() as i32,
            });
            *out = address;
            Ok(())
        }
        Err(refusal) => {
            here.runtime.media_used.fetch_sub(charge, Ordering::AcqRel);
            store.count_failure();
            // Media memory has huge pages only, so no other policy is suggested.
            Err(malloc::shortage(
                here.device().index() as u32,
                store,
                &request,
                true,
                &refusal_of(refusal),
            ))
        }
    }
}

fn refusal_of(refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::Addresses => Refusal::Addresses,
        _ => Refusal::Memory,
    }
}

fn check_product(product: &crate::settings::Profile, function: &'static str) -> Result<()> {
    if product.is_in(profile::products_of(function)) {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "profile {} lacks {function}; these have it: {}",
        product.name,
        profile::products_with(function)
    )))
}

/// Releases media memory of this generation. Needs no context.
///
/// # Errors
/// 100000 for NULL; 207000 where the product lacks the generation; 107000 for everything that is not
/// the first byte of such a block.
pub fn free(address: u64, generation: Generation) -> Result<()> {
    let family = generation.family();
    let param = generation.parameter();
    if address == 0 {
        return Err(Error::null(param));
    }
    let runtime = current()?;
    check_product(runtime.settings.profile, family.freed_by())?;
    let device = runtime
        .window
        .device_of(address)
        .and_then(|index| runtime.devices.get(index));
    let mask = families(&[family]);
    let Some(released) = device.and_then(|device| {
        let store = device.store()?;
        store.release(address, mask, |released| released)
    }) else {
        return Err(
            match locate::exact(runtime, param, address, |other| other == family) {
                Ok(_) => free::freed_meanwhile(param, address),
                Err(error) => error,
            },
        );
    };
    runtime
        .media_used
        .fetch_sub(released.charge, Ordering::AcqRel);
    emit(|| Event::Free { address, family });
    Ok(())
}
