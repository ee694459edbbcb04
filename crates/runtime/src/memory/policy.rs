//! Which pages a policy asks for. The mission pages rank first: a value outside the enumeration
//! asks for huge pages from 2 MiB of requested size up, for normal ones below.

use cannery_abi as abi;
use cannery_observe::PageKind;

use crate::error::{Error, Result};
use crate::settings::Profile;

const MIB: u64 = 1 << 20;

/// Pages to take, and whether normal ones will do when huge ones run out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pages {
    pub(crate) kind: PageKind,
    pub(crate) or_normal: bool,
}

const fn only(kind: PageKind) -> Pages {
    Pages {
        kind,
        or_normal: false,
    }
}

const HUGE_OR_NORMAL: Pages = Pages {
    kind: PageKind::Huge,
    or_normal: true,
};

/// Above 1 MiB of padded size: huge pages first.
fn huge_first(padded: u64) -> Pages {
    if padded > MIB {
        HUGE_OR_NORMAL
    } else {
        only(PageKind::Normal)
    }
}

/// The rule for values outside the enumeration.
fn default_rule(requested: u64) -> Pages {
    if requested >= 2 * MIB {
        HUGE_OR_NORMAL
    } else {
        only(PageKind::Normal)
    }
}

fn giant(profile: &Profile) -> Result<Pages> {
    if profile.giant_pages {
        return Ok(only(PageKind::Giant));
    }
    Err(Error::unsupported(format!(
        "profile {} has no 1 GiB pages; use ACL_MEM_MALLOC_HUGE_FIRST (0), or a product that has them: \
         910B, A3, 950",
        profile.name
    )))
}

fn peer(profile: &Profile) -> Result<()> {
    if profile.peer_access {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "profile {} has no peer access, so the P2P policies (3, 4, 5, 7) do not exist there; use 0, 1 or 2",
        profile.name
    )))
}

/// aclrtMalloc and aclrtMallocAlign32: one enumerator exactly.
pub(crate) fn plain(profile: &Profile, policy: i32, requested: u64, padded: u64) -> Result<Pages> {
    let policy = if profile.bandwidth_policies {
        without_bandwidth(policy)
    } else {
        policy
    };
    match policy {
        abi::ACL_MEM_MALLOC_HUGE_FIRST => Ok(huge_first(padded)),
        abi::ACL_MEM_MALLOC_HUGE_ONLY => Ok(only(PageKind::Huge)),
        abi::ACL_MEM_MALLOC_NORMAL_ONLY => Ok(only(PageKind::Normal)),
        // Through these functions huge P2P policies get normal pages.
        abi::ACL_MEM_MALLOC_HUGE_FIRST_P2P
        | abi::ACL_MEM_MALLOC_HUGE_ONLY_P2P
        | abi::ACL_MEM_MALLOC_NORMAL_ONLY_P2P => {
            peer(profile)?;
            Ok(only(PageKind::Normal))
        }
        abi::ACL_MEM_MALLOC_HUGE1G_ONLY => giant(profile),
        abi::ACL_MEM_MALLOC_HUGE1G_ONLY_P2P => {
            peer(profile)?;
            giant(profile)
        }
        _ => Ok(default_rule(requested)),
    }
}

/// IPV350 takes a bandwidth flag or-ed to a policy; alone it means huge pages first.
fn without_bandwidth(policy: i32) -> i32 {
    let flags = abi::ACL_MEM_TYPE_LOW_BAND_WIDTH | abi::ACL_MEM_TYPE_HIGH_BAND_WIDTH;
    match policy & flags {
        0 => policy,
        _ if matches!(policy & !flags, 0..=2) => policy & !flags,
        _ => policy,
    }
}

/// aclrtMallocCached: P2P policies are not translated.
pub(crate) fn cached(profile: &Profile, policy: i32, requested: u64, padded: u64) -> Result<Pages> {
    if profile.cached_normal_only && policy != abi::ACL_MEM_MALLOC_NORMAL_ONLY {
        return Err(Error::unsupported(format!(
            "on profile {} cached memory takes ACL_MEM_MALLOC_NORMAL_ONLY (2) only",
            profile.name
        )));
    }
    match policy {
        abi::ACL_MEM_MALLOC_HUGE_FIRST => Ok(huge_first(padded)),
        abi::ACL_MEM_MALLOC_HUGE_ONLY => Ok(only(PageKind::Huge)),
        abi::ACL_MEM_MALLOC_NORMAL_ONLY => Ok(only(PageKind::Normal)),
        abi::ACL_MEM_MALLOC_HUGE1G_ONLY => giant(profile),
        _ => Ok(default_rule(requested)),
    }
}

/// The WithCfg calls: a basic policy, at most one bandwidth flag, and the read-only flag. P2P
/// policies get the pages they name.
pub(crate) fn with_config(
    profile: &Profile,
    policy: i32,
    requested: u64,
    padded: u64,
) -> Result<Pages> {
    let bands = abi::ACL_MEM_TYPE_LOW_BAND_WIDTH | abi::ACL_MEM_TYPE_HIGH_BAND_WIDTH;
    if policy & bands == bands {
        return Ok(default_rule(requested));
    }
    match policy & !(bands | abi::ACL_MEM_ACCESS_USER_SPACE_READONLY) {
        abi::ACL_MEM_MALLOC_HUGE_FIRST => Ok(huge_first(padded)),
        abi::ACL_MEM_MALLOC_HUGE_ONLY => Ok(only(PageKind::Huge)),
        abi::ACL_MEM_MALLOC_NORMAL_ONLY => Ok(only(PageKind::Normal)),
        abi::ACL_MEM_MALLOC_HUGE_FIRST_P2P => {
            peer(profile)?;
            Ok(huge_first(padded))
        }
        abi::ACL_MEM_MALLOC_HUGE_ONLY_P2P => {
            peer(profile)?;
            Ok(only(PageKind::Huge))
        }
        abi::ACL_MEM_MALLOC_NORMAL_ONLY_P2P => {
            peer(profile)?;
            Ok(only(PageKind::Normal))
        }
        abi::ACL_MEM_MALLOC_HUGE1G_ONLY => giant(profile),
        abi::ACL_MEM_MALLOC_HUGE1G_ONLY_P2P => {
            peer(profile)?;
            giant(profile)
        }
        _ => Ok(default_rule(requested)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::profile::find;

    #[test]
    fn sizes_around_the_limits() {
        let (a2, _) = find("910B").expect("profile");
        let kind = |policy, requested, padded| {
            plain(a2, policy, requested, padded)
                .map(|pages| (pages.kind, pages.or_normal))
                .ok()
        };
        let normal = Some((PageKind::Normal, false));
        let first = Some((PageKind::Huge, true));
        assert_eq!(kind(0, MIB - 64, MIB - 32), normal);
        assert_eq!(kind(0, MIB, MIB + 32), first);
        assert_eq!(kind(0, MIB, MIB), normal);
        assert_eq!(kind(77, 2 * MIB - 1, 2 * MIB + 32), normal);
        assert_eq!(kind(77, 2 * MIB, 2 * MIB + 32), first);
        assert_eq!(kind(2 | 256, 4 * MIB, 4 * MIB + 32), first);
        assert_eq!(kind(-1, 1536 << 10, 1536 << 10), normal);
        assert_eq!(kind(3, 4 * MIB, 4 * MIB + 32), normal);
    }

    #[test]
    fn flags_of_the_configured_call() {
        let (a2, _) = find("910B").expect("profile");
        let kind = |policy, size| {
            with_config(a2, policy, size, size)
                .map(|pages| pages.kind)
                .ok()
        };
        assert_eq!(kind(0x1000, 4 * MIB), Some(PageKind::Huge));
        assert_eq!(kind(0x1000 | 2, 4 * MIB), Some(PageKind::Normal));
        assert_eq!(kind(0x10_0000 | 2, 4 * MIB), Some(PageKind::Normal));
        assert_eq!(kind(0x1100 | 2, 4 * MIB), Some(PageKind::Huge));
        assert_eq!(kind(0x55, 1536 << 10), Some(PageKind::Normal));
        assert_eq!(kind(4, 1024), Some(PageKind::Huge));
    }
}
