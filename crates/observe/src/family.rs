//! Families of memory and kinds of pages.

/// Which function a block came from. Decides which function may release it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum Family {
    /// aclrtMalloc
    Malloc = 0,
    /// aclrtMallocCached
    Cached = 1,
    /// aclrtMallocAlign32
    Align32 = 2,
    /// aclrtMallocWithCfg
    WithCfg = 3,
    /// aclrtMallocForTaskScheduler
    TaskScheduler = 4,
    /// acldvppMalloc
    Dvpp = 5,
    /// hi_mpi_dvpp_malloc
    HiMpi = 6,
    /// aclrtMallocHost
    Host = 7,
    /// aclrtMallocHostWithCfg
    HostWithCfg = 8,
    /// aclrtMapMem and aclrtMemMapNoAccess
    Mapping = 9,
    /// aclrtMemPoolMallocAsync
    Pool = 10,
    /// aclrtMemAllocManaged
    Managed = 11,
    /// aclrtIpcMemImportByKey
    Imported = 12,
    /// What the runtime takes for kernels: binaries, device variables, launch arguments
    Kernel = 13,
    /// aclmdlRICondHandleCreate
    Condition = 14,
    /// What goes with a context or device: aclrtCtxGetFloatOverflowAddr, aclrtGetHardwareSyncAddr
    Status = 15,
}

impl Family {
    /// Every family, in order of its number.
    pub const ALL: [Family; 16] = [
        Family::Malloc,
        Family::Cached,
        Family::Align32,
        Family::WithCfg,
        Family::TaskScheduler,
        Family::Dvpp,
        Family::HiMpi,
        Family::Host,
        Family::HostWithCfg,
        Family::Mapping,
        Family::Pool,
        Family::Managed,
        Family::Imported,
        Family::Kernel,
        Family::Condition,
        Family::Status,
    ];

    /// The family with this number; unknown numbers are plain device memory.
    #[inline]
    #[must_use]
    pub fn from_number(number: u8) -> Family {
        Self::ALL
            .get(usize::from(number))
            .copied()
            .unwrap_or(Family::Malloc)
    }

    /// The function that made the block.
    #[must_use]
    pub fn made_by(self) -> &'static str {
        match self {
            Family::Malloc => "aclrtMalloc",
            Family::Cached => "aclrtMallocCached",
            Family::Align32 => "aclrtMallocAlign32",
            Family::WithCfg => "aclrtMallocWithCfg",
            Family::TaskScheduler => "aclrtMallocForTaskScheduler",
            Family::Dvpp => "acldvppMalloc",
            Family::HiMpi => "hi_mpi_dvpp_malloc",
            Family::Host => "aclrtMallocHost",
            Family::HostWithCfg => "aclrtMallocHostWithCfg",
            Family::Mapping => "aclrtMapMem",
            Family::Pool => "aclrtMemPoolMallocAsync",
            Family::Managed => "aclrtMemAllocManaged",
            Family::Imported => "aclrtIpcMemImportByKey",
            Family::Kernel => "aclrtBinaryLoad",
            Family::Condition => "aclmdlRICondHandleCreate",
            Family::Status => "aclrtCtxGetFloatOverflowAddr or aclrtGetHardwareSyncAddr",
        }
    }

    /// The function that releases the block.
    #[must_use]
    pub fn freed_by(self) -> &'static str {
        match self {
            Family::Dvpp => "acldvppFree",
            Family::HiMpi => "hi_mpi_dvpp_free",
            Family::Host | Family::HostWithCfg => "aclrtFreeHost",
            Family::Kernel => "aclrtBinaryUnLoad",
            Family::Condition => "aclmdlRIDestroy",
            Family::Status => "aclrtResetDevice",
            Family::Mapping => "aclrtUnmapMem",
            Family::Pool => "aclrtMemPoolFreeAsync or aclrtFree",
            Family::Imported => "aclrtIpcMemClose",
            _ => "aclrtFree",
        }
    }

    /// Host memory rather than device memory.
    #[inline]
    #[must_use]
    pub fn is_host(self) -> bool {
        matches!(self, Family::Host | Family::HostWithCfg)
    }

    /// Media memory.
    #[inline]
    #[must_use]
    pub fn is_media(self) -> bool {
        matches!(self, Family::Dvpp | Family::HiMpi)
    }
}

/// Kind of the pages behind a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum PageKind {
    /// 4 KiB
    Normal = 0,
    /// 2 MiB
    Huge = 1,
    /// 1 GiB
    Giant = 2,
}

impl PageKind {
    /// The kind with this number; unknown numbers are normal pages.
    #[inline]
    #[must_use]
    pub fn from_number(number: u8) -> PageKind {
        match number {
            1 => PageKind::Huge,
            2 => PageKind::Giant,
            _ => PageKind::Normal,
        }
    }

    /// Bytes of a page.
    #[inline]
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            PageKind::Normal => 4096,
            PageKind::Huge => 2 << 20,
            PageKind::Giant => 1 << 30,
        }
    }

    /// Name for texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PageKind::Normal => "4 KiB",
            PageKind::Huge => "2 MiB",
            PageKind::Giant => "1 GiB",
        }
    }
}
