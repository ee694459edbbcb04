//! What physical memory can be: attributes, locations, granularity.

use cannery_abi as abi;
use cannery_observe::PageKind;

use super::reservation::refuse_on_soc;
use crate::error::{Error, Result};
use crate::process::{Runtime, current};
use crate::settings::profile::Profile;

/// Where physical memory is and of which kind, as the caller wrote it.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // the fields of aclrtPhysicalMemProp
pub struct Property {
    pub handle_type: i32,
    pub allocation_type: i32,
    pub attribute: i32,
    pub location_type: i32,
    pub location_id: u32,
}

/// Whose memory it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Home {
    Device(usize),
    Host,
    /// Of one NUMA node of the host. The node is kept, not enforced.
    Numa(u32),
}

impl Home {
    pub(crate) fn device(self) -> Option<usize> {
        match self {
            Home::Device(device) => Some(device),
            Home::Host | Home::Numa(_) => None,
        }
    }
}

/// Memory that an attribute names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Hbm,
    Ddr,
    /// Whatever the location has.
    Any,
}

fn decode(attribute: i32) -> Option<(Kind, PageKind, bool)> {
    use Kind::{Any, Ddr, Hbm};
    Some(match attribute {
        abi::ACL_MEM_NORMAL => (Any, PageKind::Normal, false),
        abi::ACL_MEM_HUGE => (Any, PageKind::Huge, false),
        abi::ACL_MEM_HUGE1G => (Any, PageKind::Giant, false),
        abi::ACL_MEM_P2P_NORMAL => (Any, PageKind::Normal, true),
        abi::ACL_MEM_P2P_HUGE => (Any, PageKind::Huge, true),
        abi::ACL_MEM_P2P_HUGE1G => (Any, PageKind::Giant, true),
        abi::ACL_HBM_MEM_NORMAL => (Hbm, PageKind::Normal, false),
        abi::ACL_HBM_MEM_HUGE => (Hbm, PageKind::Huge, false),
        abi::ACL_HBM_MEM_HUGE1G => (Hbm, PageKind::Giant, false),
        abi::ACL_DDR_MEM_NORMAL => (Ddr, PageKind::Normal, false),
        abi::ACL_DDR_MEM_HUGE => (Ddr, PageKind::Huge, false),
        abi::ACL_DDR_MEM_P2P_NORMAL => (Ddr, PageKind::Normal, true),
        abi::ACL_DDR_MEM_P2P_HUGE => (Ddr, PageKind::Huge, true),
        _ => return None,
    })
}

fn attribute_of(kind: Kind, pages: PageKind, peer: bool) -> i32 {
    match (kind, pages, peer) {
        (Kind::Ddr, PageKind::Normal, false) => abi::ACL_DDR_MEM_NORMAL,
        (Kind::Ddr, PageKind::Normal, true) => abi::ACL_DDR_MEM_P2P_NORMAL,
        (Kind::Ddr, _, false) => abi::ACL_DDR_MEM_HUGE,
        (Kind::Ddr, _, true) => abi::ACL_DDR_MEM_P2P_HUGE,
        (_, PageKind::Normal, false) => abi::ACL_HBM_MEM_NORMAL,
        (_, PageKind::Normal, true) => abi::ACL_HBM_MEM_P2P_NORMAL,
        (_, PageKind::Huge, false) => abi::ACL_HBM_MEM_HUGE,
        (_, PageKind::Huge, true) => abi::ACL_HBM_MEM_P2P_HUGE,
        (_, PageKind::Giant, false) => abi::ACL_HBM_MEM_HUGE1G,
        (_, PageKind::Giant, true) => abi::ACL_HBM_MEM_P2P_HUGE1G,
    }
}

/// A property that was understood.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoded {
    /// Kind of pages as charged and rounded to.
    pub(crate) pages: PageKind,
    /// What is read back from a handle.
    pub(crate) attribute: i32,
    /// For access by other devices.
    pub(crate) peer: bool,
}

impl Property {
    fn is_host(&self) -> bool {
        [
            abi::ACL_MEM_LOCATION_TYPE_HOST,
            abi::ACL_MEM_LOCATION_TYPE_HOST_NUMA,
        ]
        .contains(&self.location_type)
    }

    /// What the attribute means at this location.
    ///
    /// # Errors
    /// 100000 for attributes that cannot be allocated, or not there.
    pub(crate) fn decode(&self) -> Result<Decoded> {
        let Some((kind, pages, peer)) = decode(self.attribute) else {
            return Err(Error::cause(
                "memAttr",
                self.attribute,
                "memory of this attribute can only be asked about; pass ACL_HBM_MEM_HUGE (4), \
                 ACL_MEM_HUGE (13) or another one with a page kind and without HBM-P2P",
            ));
        };
        let host = self.is_host();
        if kind == Kind::Ddr && !host {
            return Err(Error::value(
                "memAttr",
                self.attribute,
                "must be an HBM attribute (4, 5, 10) or one without a memory kind (12 to 17): DDR attributes are for \
                 host locations",
            ));
        }
        if host && (kind == Kind::Hbm || pages == PageKind::Giant) {
            return Err(Error::value(
                "memAttr",
                self.attribute,
                "must be a DDR attribute (2, 3, 6, 7) or one without a memory kind (12, 13, 15, 16) for a host \
                 location",
            ));
        }
        let kind = if host { Kind::Ddr } else { Kind::Hbm };
        Ok(Decoded {
            // Normal pages of a device are served with huge ones.
            pages: if host || pages != PageKind::Normal {
                pages
            } else {
                PageKind::Huge
            },
            attribute: attribute_of(kind, pages, peer),
            peer,
        })
    }

    /// Checks of aclrtMallocPhysical before the runtime is asked.
    pub(super) fn check(&self) -> Result<()> {
        if self.handle_type != abi::ACL_MEM_HANDLE_TYPE_NONE {
            return Err(Error::value(
                "prop->handleType",
                self.handle_type,
                "must be ACL_MEM_HANDLE_TYPE_NONE (0)",
            ));
        }
        if self.allocation_type != abi::ACL_MEM_ALLOCATION_TYPE_PINNED {
            return Err(Error::value(
                "prop->allocationType",
                self.allocation_type,
                "must be ACL_MEM_ALLOCATION_TYPE_PINNED (0)",
            ));
        }
        if !self.is_host() && self.location_type != abi::ACL_MEM_LOCATION_TYPE_DEVICE {
            return Err(Error::cause(
                "prop->location.type",
                self.location_type,
                "must be HOST (0), DEVICE (1) or HOST_NUMA (4)",
            ));
        }
        Ok(())
    }

    /// Whose memory is meant.
    ///
    /// # Errors
    /// 107001 for a device that does not exist.
    pub(super) fn home(&self, runtime: &Runtime) -> Result<Home> {
        match self.location_type {
            abi::ACL_MEM_LOCATION_TYPE_DEVICE => {
                let id = i32::try_from(self.location_id).unwrap_or(-1);
                let index = runtime.device_index("prop->location.id", id)?;
                Ok(Home::Device(index))
            }
            abi::ACL_MEM_LOCATION_TYPE_HOST_NUMA => Ok(Home::Numa(self.location_id)),
            _ => Ok(Home::Host),
        }
    }
}

/// Whether the product has such memory.
pub(super) fn check_product(profile: &Profile, decoded: &Decoded) -> Result<()> {
    if decoded.pages == PageKind::Giant && !profile.giant_pages {
        return Err(Error::unsupported(format!(
            "profile {} has no 1 GiB pages; 910B, A3 and 950 have",
            profile.name
        )));
    }
    if decoded.peer && !profile.peer_access {
        return Err(Error::unsupported(format!(
            "profile {} has no peer access, so the P2P attributes do not exist there; use ACL_MEM_HUGE (13)",
            profile.name
        )));
    }
    Ok(())
}

/// aclrtMemGetAllocationGranularity: the unit of sizes and addresses, in bytes: 4 KiB for normal host
/// memory, 2 MiB, 1 GiB. Minimum and recommended unit are the same.
///
/// # Errors
/// 100000 for NULL and for attributes that cannot be allocated; 107000 for an unknown option; 107001
/// for a device that does not exist; 207000 where the product lacks such pages.
pub fn granularity(
    property: Option<&Property>,
    option: i32,
    out: Option<&mut usize>,
) -> Result<()> {
    let Some(property) = property else {
        return Err(Error::null("prop"));
    };
    let Some(out) = out else {
        return Err(Error::null("granularity"));
    };
    let decoded = property.decode()?;
    let known = [
        abi::ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM,
        abi::ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED,
    ];
    if !known.contains(&option) {
        return Err(Error::rt_value(
            "option",
            option,
            "0 (minimum) or 1 (recommended)",
        ));
    }
    let runtime = current()?;
    refuse_on_soc(runtime)?;
    property.home(runtime)?;
    check_product(runtime.settings.profile, &decoded)?;
    *out = decoded.pages.bytes() as usize;
    Ok(())
}
