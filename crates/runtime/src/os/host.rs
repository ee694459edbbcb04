//! What this machine and this process have.

use std::fs;
use std::path::{Path, PathBuf};

/// Process id, asked of the kernel (a cached one would be wrong after a fork).
pub(crate) fn pid() -> i32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::getpid() }
}

/// Memory that could be used without swapping: the smaller of what the system and the control
/// group leave, in bytes.
pub(crate) fn available_memory() -> Option<u64> {
    let system = meminfo("MemAvailable:");
    match (system, cgroup_headroom()) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Installed memory in bytes.
pub(crate) fn total_memory() -> Option<u64> {
    meminfo("MemTotal:")
}

fn meminfo(key: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let kib: u64 = line.trim().trim_end_matches(" kB").trim().parse().ok()?;
    Some(kib * 1024)
}

fn cgroup_headroom() -> Option<u64> {
    headroom_in(
        Path::new("/sys/fs/cgroup"),
        &fs::read_to_string("/proc/self/cgroup").ok()?,
    )
}

/// What the control groups of `list` (as in /proc/self/cgroup) leave; they lie in `root`.
fn headroom_in(root: &Path, list: &str) -> Option<u64> {
    let read = |path: PathBuf| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let mut best: Option<u64> = None;
    for line in list.lines() {
        let mut parts = line.splitn(3, ':');
        let (id, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let path = path.trim_start_matches('/');
        let (dir, limit, used, files) = if id == "0" {
            (
                root.join(path),
                "memory.max",
                "memory.current",
                "inactive_file ",
            )
        } else if controllers.split(',').any(|c| c == "memory") {
            let (limit, used) = ("memory.limit_in_bytes", "memory.usage_in_bytes");
            (
                root.join("memory").join(path),
                limit,
                used,
                "total_inactive_file ",
            )
        } else {
            continue;
        };
        // The limit of every ancestor binds too.
        for at in dir.ancestors().take_while(|at| at.starts_with(root)) {
            if let (Some(limit), Some(used)) = (read(at.join(limit)), read(at.join(used))) {
                // Pages of files that nobody uses count as used, and the kernel takes them back.
                let stat = fs::read_to_string(at.join("memory.stat")).unwrap_or_default();
                let idle = stat.lines().find_map(|line| line.strip_prefix(files));
                let idle = idle.and_then(|n| n.trim().parse().ok()).unwrap_or(0);
                let left = limit.saturating_sub(used.saturating_sub(idle));
                best = Some(best.map_or(left, |b| b.min(left)));
            }
        }
    }
    best
}

/// Bytes that this process may lock into memory; `None` when nothing limits it.
pub(crate) fn lock_limit() -> Option<u64> {
    if may_lock_without_limit() {
        return None;
    }
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid place for the answer.
    let code = unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) };
    (code == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Pages of `[at, at + bytes)` by size: 4 KiB pages, and pages of 2 MiB and more. What is not in memory
/// counts as 4 KiB pages. Where huge pages cover a part of a mapping, they are taken to lie in the
/// range.
pub(crate) fn pages_of(at: u64, bytes: u64) -> (u64, u64) {
    const HUGE: u64 = 2 << 20;
    let end = at + bytes;
    let Ok(text) = fs::read_to_string("/proc/self/smaps") else {
        return (bytes / 4096, 0);
    };
    let mut here = 0; // bytes of the mapping at hand that lie in the range
    let (mut huge_bytes, mut huge_pages) = (0, 0);
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { continue };
        let Some(name) = first.strip_suffix(':') else {
            let ends = first.split_once('-').and_then(|(from, to)| {
                let hex = |text| u64::from_str_radix(text, 16).ok();
                Some((hex(from)?, hex(to)?))
            });
            let (from, to) = ends.unwrap_or((0, 0));
            here = to.min(end).saturating_sub(from.max(at));
            continue;
        };
        if here == 0 {
            continue;
        }
        let kib: u64 = words.next().and_then(|n| n.parse().ok()).unwrap_or(0);
        let bytes = kib * 1024;
        match name {
            "KernelPageSize" if bytes > 4096 => {
                huge_bytes += here;
                huge_pages += here.div_ceil(bytes);
                here = 0;
            }
            "AnonHugePages" | "ShmemPmdMapped" | "FilePmdMapped" => {
                let inside = bytes.min(here) / HUGE * HUGE;
                huge_bytes += inside;
                huge_pages += inside / HUGE;
            }
            _ => {}
        }
    }
    ((bytes - huge_bytes.min(bytes)) / 4096, huge_pages)
}

/// The NUMA node that the calling thread runs on.
pub(crate) fn numa_node() -> u16 {
    let (mut processor, mut node) = (0u32, 0u32);
    // SAFETY: both places are valid; the third argument is unused since Linux 2.6.24.
    unsafe {
        libc::syscall(
            libc::SYS_getcpu,
            &raw mut processor,
            &raw mut node,
            std::ptr::null_mut::<libc::c_void>(),
        )
    };
    node as u16
}

/// Whether this machine has a NUMA node; node 0 always exists.
pub(crate) fn has_numa_node(node: u16) -> bool {
    node == 0 || fs::exists(format!("/sys/devices/system/node/node{node}")).unwrap_or(false)
}

/// CAP_IPC_LOCK in the effective set.
fn may_lock_without_limit() -> bool {
    const CAP_IPC_LOCK: u32 = 14;
    let Ok(text) = fs::read_to_string("/proc/self/status") else {
        return false;
    };
    text.lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .is_some_and(|set| set >> CAP_IPC_LOCK & 1 == 1)
}

/// Kernel's rule about promised memory: 2 refuses to promise more than there is.
pub(crate) fn overcommit_mode() -> u32 {
    fs::read_to_string("/proc/sys/vm/overcommit_memory")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(0)
}

/// What tells this machine from others; empty where nothing does.
pub(crate) fn machine_id() -> String {
    fs::read_to_string("/etc/machine-id")
        .or_else(|_| fs::read_to_string("/proc/sys/kernel/hostname"))
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}

/// Name of the calling thread, for texts.
pub(crate) fn thread_name() -> String {
    let mut name = [0 as libc::c_char; 16];
    // SAFETY: PR_GET_NAME writes at most 16 bytes including the end.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    let bytes: Vec<u8> = name
        .iter()
        .take_while(|c| **c != 0)
        .map(|c| c.cast_unsigned())
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Kernel id of the calling thread.
pub(crate) fn thread_id() -> i32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::gettid() }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::headroom_in;

    /// A scratch directory with files.
    struct Files(PathBuf);

    impl Files {
        fn new(name: &str, files: &[(&str, &str)]) -> Files {
            let root = std::env::temp_dir().join(format!("cannery-{name}-{}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                fs::write(path, text).expect("a file");
            }
            Files(root)
        }
    }

    impl Drop for Files {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn idle_file_pages_count_as_free() {
        let files = Files::new(
            "cgroup-v2",
            &[
                ("user/job/memory.max", "1000000\n"),
                ("user/job/memory.current", "900000\n"),
                (
                    "user/job/memory.stat",
                    "anon 100000\nfile 800000\nactive_file 50000\ninactive_file 700000\n",
                ),
            ],
        );
        assert_eq!(headroom_in(&files.0, "0::/user/job\n"), Some(800_000));
    }

    #[test]
    fn the_tightest_ancestor_binds() {
        let files = Files::new(
            "cgroup-above",
            &[
                ("user/memory.max", "500000\n"),
                ("user/memory.current", "450000\n"),
                ("user/memory.stat", "inactive_file 20000\n"),
                ("user/job/memory.max", "max\n"),
                ("user/job/memory.current", "400000\n"),
            ],
        );
        assert_eq!(headroom_in(&files.0, "0::/user/job\n"), Some(70_000));
        assert_eq!(headroom_in(&files.0, "0::/elsewhere\n"), None);
    }

    #[test]
    fn the_older_hierarchy_counts_its_subtree() {
        let files = Files::new(
            "cgroup-v1",
            &[
                ("memory/job/memory.limit_in_bytes", "1000\n"),
                ("memory/job/memory.usage_in_bytes", "900\n"),
                (
                    "memory/job/memory.stat",
                    "inactive_file 1\ntotal_inactive_file 300\n",
                ),
            ],
        );
        let list = "5:cpu,cpuacct:/other\n4:memory:/job\n";
        assert_eq!(headroom_in(&files.0, list), Some(400));
        assert_eq!(headroom_in(Path::new("/nowhere"), list), None);
    }
}
