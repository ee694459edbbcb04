//! Product profiles: what the products differ in. Facts only; what no source says is `None`.

use super::products::FUNCTIONS;
use crate::stream::timing::Bandwidths;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// One product family.
#[derive(Debug)]
pub struct Profile {
    /// Name as in `CANNERY_PROFILE`.
    pub name: &'static str,
    /// Bit of this product in the function table.
    bit: u8,
    /// Names of its chips; the first is the default.
    pub socs: &'static [Soc],
    /// Value of ACL_DEV_ATTR_NPU_ARCH.
    pub npu_arch: i64,
    /// Kind of the device memory.
    pub memory: MemoryKind,
    /// Bytes that aclrtMalloc adds after rounding up to 32.
    pub malloc_padding: u64,
    /// Whether aclrtMalloc knows 1 GiB pages.
    pub giant_pages: bool,
    /// Whether peer access between devices exists.
    pub peer_access: bool,
    /// Whether device-to-device copies need peer access switched on first.
    pub peer_access_needed: bool,
    /// Whether host and device can be one (RC form).
    pub rc_mode: bool,
    /// Whether media memory is ordinary device memory for aclrtCheckMemType.
    pub media_is_ordinary: bool,
    /// Whether aclrtMallocCached takes ACL_MEM_MALLOC_NORMAL_ONLY alone.
    pub cached_normal_only: bool,
    /// Whether or-ed bandwidth flags are legal policies of aclrtMalloc.
    pub bandwidth_policies: bool,
    /// Whether the same-address flag of aclrtMallocHostWithCfg exists.
    pub same_address_flag: bool,
    /// L2 cache in bytes.
    pub l2_bytes: Option<u64>,
    /// Address space for media memory of a process, in bytes.
    pub media_limit: u64,
    /// Bandwidth of the link to the host and of the device memory, in bytes a second.
    pub(crate) bandwidths: Option<Bandwidths>,
    /// How many streams exist.
    pub streams: Option<u32>,
    /// How many events exist.
    pub events: Option<u32>,
    /// How many notifies exist.
    pub notifies: Option<u32>,
}

/// Kind of device memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryKind {
    /// High-bandwidth memory.
    Hbm,
    /// DDR.
    Ddr,
    /// No source says; answered as HBM.
    Unknown,
}

/// A chip of a family.
#[derive(Debug)]
pub struct Soc {
    /// Name that aclrtGetSocName answers.
    pub name: &'static str,
    /// Device memory in bytes, where a source says.
    pub capacity: Option<u64>,
}

const fn soc(name: &'static str, capacity: u64) -> Soc {
    Soc {
        name,
        capacity: Some(capacity),
    }
}

/// Every profile, in the order in which they are listed to users.
pub static PROFILES: &[Profile] = &[
    Profile {
        name: "910",
        bit: 5,
        socs: &[
            soc("Ascend910A", 32 * GIB),
            soc("Ascend910ProB", 32 * GIB),
            soc("Ascend910B", 32 * GIB),
        ],
        npu_arch: 1001,
        memory: MemoryKind::Hbm,
        malloc_padding: 32,
        giant_pages: false,
        peer_access: true,
        peer_access_needed: true,
        rc_mode: false,
        media_is_ordinary: false,
        cached_normal_only: false,
        bandwidth_policies: false,
        same_address_flag: false,
        l2_bytes: Some(32 * MIB),
        media_limit: 16 * GIB,
        bandwidths: None,
        streams: Some(2048),
        events: Some(65535),
        notifies: Some(1024),
    },
    Profile {
        name: "310P",
        bit: 4,
        socs: &[
            soc("Ascend310P3", 24_000_000_000),
            soc("Ascend310P1", 24_000_000_000),
        ],
        npu_arch: 2002,
        memory: MemoryKind::Ddr,
        malloc_padding: 32,
        giant_pages: false,
        peer_access: true,
        peer_access_needed: true,
        rc_mode: true,
        media_is_ordinary: false,
        cached_normal_only: false,
        bandwidth_policies: false,
        same_address_flag: false,
        l2_bytes: Some(16 * MIB),
        media_limit: 16 * GIB,
        bandwidths: None,
        streams: Some(1024),
        events: Some(1023),
        notifies: Some(1024),
    },
    Profile {
        name: "310B",
        bit: 3,
        socs: &[soc("Ascend310B1", 32 * GIB), soc("Ascend310B4", 4 * GIB)],
        npu_arch: 3002,
        memory: MemoryKind::Ddr,
        malloc_padding: 32,
        giant_pages: false,
        peer_access: false,
        peer_access_needed: true,
        rc_mode: true,
        media_is_ordinary: false,
        cached_normal_only: false,
        bandwidth_policies: false,
        same_address_flag: false,
        l2_bytes: Some(4 * MIB),
        media_limit: 16 * GIB,
        bandwidths: None,
        streams: Some(512),
        events: Some(65536),
        notifies: Some(2048),
    },
    Profile {
        name: "910B",
        bit: 2,
        socs: &[
            soc("Ascend910B3", 64 * GIB),
            soc("Ascend910B1", 64 * GIB),
            soc("Ascend910B2", 64 * GIB),
            soc("Ascend910B4", 32 * GIB),
        ],
        npu_arch: 2201,
        memory: MemoryKind::Hbm,
        malloc_padding: 32,
        giant_pages: true,
        peer_access: true,
        peer_access_needed: true,
        rc_mode: false,
        media_is_ordinary: false,
        cached_normal_only: false,
        bandwidth_policies: false,
        same_address_flag: true,
        l2_bytes: Some(192 * MIB),
        media_limit: 16 * GIB,
        bandwidths: Some(Bandwidths {
            link: 25_000_000_000,
            memory: 1_600_000_000_000,
        }),
        streams: Some(1984),
        events: Some(65536),
        notifies: Some(8192),
    },
    Profile {
        name: "A3",
        bit: 1,
        socs: &[
            soc("Ascend910_9392", 64 * GIB),
            soc("Ascend910_9391", 64 * GIB),
        ],
        npu_arch: 2201,
        memory: MemoryKind::Hbm,
        malloc_padding: 32,
        giant_pages: true,
        peer_access: true,
        peer_access_needed: false,
        rc_mode: false,
        media_is_ordinary: false,
        cached_normal_only: false,
        bandwidth_policies: false,
        same_address_flag: true,
        l2_bytes: Some(192 * MIB),
        media_limit: 16 * GIB,
        bandwidths: None,
        streams: Some(1984),
        events: Some(65536),
        notifies: Some(8192),
    },
    Profile {
        name: "950",
        bit: 0,
        socs: &[soc("Ascend950PR", 128 * GIB), soc("Ascend950DT", 144 * GIB)],
        npu_arch: 3510,
        memory: MemoryKind::Hbm,
        malloc_padding: 0,
        giant_pages: true,
        peer_access: true,
        peer_access_needed: true,
        rc_mode: false,
        media_is_ordinary: true,
        cached_normal_only: false,
        bandwidth_policies: false,
        same_address_flag: false,
        l2_bytes: Some(128 * MIB),
        media_limit: 16 * GIB,
        bandwidths: None,
        streams: Some(1984),
        events: Some(65536),
        notifies: Some(65535),
    },
    Profile {
        name: "IPV350",
        bit: 6,
        socs: &[Soc {
            name: "Ascend035",
            capacity: None,
        }],
        npu_arch: 3505,
        memory: MemoryKind::Unknown,
        malloc_padding: 32,
        giant_pages: false,
        peer_access: false,
        peer_access_needed: true,
        rc_mode: false,
        media_is_ordinary: false,
        cached_normal_only: true,
        bandwidth_policies: true,
        same_address_flag: false,
        l2_bytes: Some(0),
        media_limit: 16 * GIB,
        bandwidths: None,
        streams: None,
        events: None,
        notifies: None,
    },
];

/// The profile with this name (any case), or the one whose chip has it.
///
/// "910B" is the A2 family; the chip "Ascend910B" belongs to the 910 family.
#[must_use]
pub fn find(name: &str) -> Option<(&'static Profile, &'static Soc)> {
    let by_family = PROFILES
        .iter()
        .find(|profile| profile.name.eq_ignore_ascii_case(name))
        .and_then(|profile| Some((profile, profile.socs.first()?)));
    by_family.or_else(|| {
        PROFILES.iter().find_map(|profile| {
            let soc = profile
                .socs
                .iter()
                .find(|soc| soc.name.eq_ignore_ascii_case(name))?;
            Some((profile, soc))
        })
    })
}

/// All names that [`find`] takes, for texts.
#[must_use]
pub fn choices() -> String {
    let families = PROFILES.iter().map(|profile| profile.name);
    let socs = PROFILES
        .iter()
        .flat_map(|profile| profile.socs.iter().map(|soc| soc.name));
    families.chain(socs).collect::<Vec<_>>().join(", ")
}

/// The family of a chip.
pub(crate) fn of_chip(name: &str) -> Option<&'static Profile> {
    let is_its = |soc: &Soc| soc.name.eq_ignore_ascii_case(name);
    PROFILES
        .iter()
        .find(|profile| profile.socs.iter().any(is_its))
}

/// Names of all chips, for texts.
pub(crate) fn chips() -> String {
    let all = PROFILES.iter().flat_map(|profile| profile.socs);
    all.map(|soc| soc.name).collect::<Vec<_>>().join(", ")
}

/// Every product.
pub const ALL_PRODUCTS: u8 = 0x7f;

/// Which products have a function, as a mask; all of them for names outside the manual. Meant to be
/// evaluated by the compiler.
#[must_use]
pub const fn products_of(function: &str) -> u8 {
    let mut at = 0;
    while at < FUNCTIONS.len() {
        if same(FUNCTIONS[at].0.as_bytes(), function.as_bytes()) {
            return FUNCTIONS[at].1;
        }
        at += 1;
    }
    ALL_PRODUCTS
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Names of the products that have a function, for texts.
#[must_use]
pub fn products_with(function: &str) -> String {
    names_of(products_of(function))
}

/// Names of the products of a mask, for texts.
pub(crate) fn names_of(mask: u8) -> String {
    let names = PROFILES
        .iter()
        .filter(|profile| mask >> profile.bit & 1 == 1);
    names
        .map(|profile| profile.name)
        .collect::<Vec<_>>()
        .join(", ")
}

impl Profile {
    /// This product as a mask.
    #[must_use]
    pub fn mask(&self) -> u8 {
        1 << self.bit
    }

    /// Whether a product mask includes this product.
    #[inline]
    #[must_use]
    pub fn is_in(&self, mask: u8) -> bool {
        mask >> self.bit & 1 == 1
    }
}

/// Reads "8G", "512M", "64K", "1T" (powers of 1024, also with "iB" or "B") or plain bytes.
#[must_use]
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text.get(..digits)?.parse().ok()?;
    let unit = text.get(digits..)?.trim().to_ascii_uppercase();
    let factor = match unit.trim_end_matches('B').trim_end_matches('I') {
        "" if unit.is_empty() || unit == "B" => 1,
        "K" => KIB,
        "M" => MIB,
        "G" => GIB,
        "T" => 1024 * GIB,
        _ => return None,
    };
    number.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_resolve_as_users_write_them() {
        let name = |text| find(text).map(|(profile, soc)| (profile.name, soc.name));
        assert_eq!(name("910b"), Some(("910B", "Ascend910B3")));
        assert_eq!(name("Ascend910B"), Some(("910", "Ascend910B")));
        assert_eq!(name("Ascend910B4"), Some(("910B", "Ascend910B4")));
        assert_eq!(name("ascend310p3"), Some(("310P", "Ascend310P3")));
        assert_eq!(name("H100"), None);
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_size("8G"), Some(8 * GIB));
        assert_eq!(parse_size("8GiB"), Some(8 * GIB));
        assert_eq!(parse_size("512m"), Some(512 * MIB));
        assert_eq!(parse_size("4096"), Some(4096));
        for bad in ["", "G", "-1", "1.5G", "8X", "99999999999G", "8I"] {
            assert_eq!(parse_size(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_function_table_is_sorted_and_knows_gaps() {
        assert!(FUNCTIONS.is_sorted_by(|a, b| a.0 < b.0));
        let (profile, _) = find("310B").expect("profile");
        assert!(!profile.is_in(products_of("aclrtMemcpyBatch")));
        assert!(profile.is_in(products_of("aclrtMalloc")));
        assert_eq!(products_with("aclrtMemcpyBatch"), "910B, A3, 950");
    }
}
