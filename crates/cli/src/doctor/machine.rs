//! Kernel, memory and limits of the machine.

// Limits are questions to the C library, which cannot be asked without `unsafe`.
#![allow(unsafe_code)]

use std::fs;
use std::path::Path;

use super::verdict::Verdict;
use crate::report::Report;
use crate::size::readable;

const MIB: u64 = 1 << 20;
/// Below this, programs that pin their batches run into the limit.
const COMFORTABLE_LOCK: u64 = 64 * MIB;
/// What the kernel has unless told otherwise.
const USUAL_MAPPINGS: u64 = 65530;
const MOUNT_PROC: &str = "run `mount -t proc proc /proc`, or ask the administrator";

/// Everything about the machine. `report` is what the library says; without it, what depends on
/// settings is left out.
pub(super) fn examine(report: Option<&Report>) -> Vec<Verdict> {
    let mut found = vec![kernel()];
    found.extend(report.map(lock));
    found.extend(memory(report));
    found.push(address_space());
    found.push(overcommit());
    found.push(huge_pages());
    found.push(open_files());
    found.push(file_size());
    found.push(mappings());
    found
}

fn kernel() -> Verdict {
    let release = read("/proc/sys/kernel/osrelease").unwrap_or_default();
    let shown = format!("Linux {release}, {}", std::env::consts::ARCH);
    let mut parts = release
        .split(['.', '-'])
        .map(|part| part.parse().unwrap_or(0_u32));
    let version = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if version < (3, 17) {
        return Verdict::fail("kernel", shown)
            .because("memory files (memfd_create) exist since Linux 3.17")
            .remedy("use a newer kernel");
    }
    if std::env::consts::ARCH == "x86_64" {
        Verdict::ok("kernel", shown)
    } else {
        Verdict::note("kernel", shown)
            .because("Cannery is tested on x86_64 only")
            .remedy("compare with an x86_64 machine where a result surprises")
    }
}

fn lock(report: &Report) -> Verdict {
    let name = "lock limit";
    let pin = report.text("pin").unwrap_or_default();
    let remedy = "raise it: `ulimit -l unlimited` (memlock in /etc/security/limits.conf, LimitMEMLOCK= \
                  for a service, --ulimit memlock=-1 for a container), or choose --pin off";
    match (report.number("lock_limit_bytes"), pin.as_str()) {
        (_, "off") => Verdict::ok(name, "not used (CANNERY_PIN=off)"),
        (None, _) => Verdict::ok(name, "no limit"),
        (Some(limit), "strict") if limit < 64 << 10 => Verdict::fail(name, readable(limit))
            .because("CANNERY_PIN=strict refuses every aclrtMallocHost, with 207001")
            .remedy(remedy),
        (Some(limit), "strict") if limit < COMFORTABLE_LOCK => Verdict::warn(name, readable(limit))
            .because("CANNERY_PIN=strict refuses aclrtMallocHost beyond it, with 207001")
            .remedy(remedy),
        (Some(limit), _) if limit < COMFORTABLE_LOCK => Verdict::warn(name, readable(limit))
            .because(
                "host memory beyond it works unlocked (CANNERY_PIN=auto); a card would refuse it",
            )
            .remedy(remedy),
        (Some(limit), _) => Verdict::ok(name, readable(limit)),
    }
}

/// Memory of the machine, the limit of the control group, and the devices against both.
fn memory(report: Option<&Report>) -> Vec<Verdict> {
    let total = meminfo("MemTotal:");
    let available = meminfo("MemAvailable:");
    let mut found = Vec::new();
    let shown = |bytes: Option<u64>| bytes.map_or("unknown".to_owned(), readable);
    let machine = format!("{} available of {}", shown(available), shown(total));
    let group = group_limit();
    if let Some((limit, used, place)) = &group {
        let room = limit.saturating_sub(*used);
        let text = format!("{} used of {} ({place})", readable(*used), readable(*limit));
        found.push(if room < 64 * MIB {
            Verdict::warn("memory limit", text)
                .because("the kernel ends processes of this control group when it is reached")
                .remedy("raise the limit of the container or service, or end what uses it")
        } else {
            Verdict::ok("memory limit", text)
        });
    }
    let devices = report.and_then(|report| {
        report
            .number("capacity_bytes")?
            .checked_mul(report.number("devices")?)
    });
    let room = [
        available,
        group.map(|(limit, used, _)| limit.saturating_sub(used)),
    ];
    let room = room.into_iter().flatten().min();
    found.push(match (devices, room) {
        (Some(devices), Some(room)) if devices > room => Verdict::note("memory", machine)
            .because(format!(
                "the devices have {}; their memory takes the machine's only as it is written, so a \
                 program can allocate it all and cannot write it all",
                readable(devices)
            ))
            .remedy(format!(
                "choose smaller devices for programs that fill them, such as --hbm {}",
                suggested(room)
            )),
        _ => Verdict::ok("memory", machine),
    });
    found
}

/// Half of what is there, as a value for `--hbm`.
fn suggested(room: u64) -> String {
    match room / 2 / (1 << 30) {
        0 => format!("{}M", (room / 2 / MIB).max(1)),
        whole => format!("{whole}G"),
    }
}

fn address_space() -> Verdict {
    match limit(libc::RLIMIT_AS) {
        None => Verdict::ok("address space", "no limit"),
        Some(bytes) => Verdict::warn("address space", readable(bytes))
            .because("devices take up addresses, 256 GiB or more each; below that a smaller window is tried, or 507033")
            .remedy("ulimit -v unlimited"),
    }
}

fn overcommit() -> Verdict {
    let name = "overcommit";
    match read("/proc/sys/vm/overcommit_memory").as_deref() {
        Some("2") => {
            let left = meminfo("CommitLimit:").zip(meminfo("Committed_AS:"));
            let left = left.map_or(0, |(limit, used)| limit.saturating_sub(used));
            Verdict::warn(
                name,
                format!("vm.overcommit_memory=2, {} left to promise", readable(left)),
            )
            .because("the kernel counts every writable byte; allocations fail when that is used up")
            .remedy("sysctl vm.overcommit_memory=0, or smaller devices (--hbm)")
        }
        Some(mode) => Verdict::ok(name, format!("vm.overcommit_memory={mode}")),
        None => Verdict::note(name, "unknown")
            .because("/proc/sys/vm cannot be read")
            .remedy(MOUNT_PROC),
    }
}

fn huge_pages() -> Verdict {
    let name = "huge pages";
    let text = read("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let mode = text
        .split(['[', ']'])
        .nth(1)
        .unwrap_or("unknown")
        .to_owned();
    match mode.as_str() {
        "always" | "madvise" => Verdict::ok(name, format!("transparent: {mode}")),
        _ => Verdict::note(name, format!("transparent: {mode}"))
            .because("the first touch of large blocks and copies between them are slower")
            .remedy("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (as root)"),
    }
}

fn open_files() -> Verdict {
    match limit(libc::RLIMIT_NOFILE) {
        Some(count) if count < 256 => Verdict::warn("open files", count)
            .because("shared memory and events of other processes take a file each")
            .remedy("ulimit -n 4096"),
        Some(count) => Verdict::ok("open files", count),
        None => Verdict::ok("open files", "no limit"),
    }
}

fn file_size() -> Verdict {
    match limit(libc::RLIMIT_FSIZE) {
        None => Verdict::ok("file size", "no limit"),
        Some(bytes) => Verdict::warn("file size", readable(bytes))
            .because(
                "memory that processes share lies in files without a name, which this limit bounds",
            )
            .remedy("ulimit -f unlimited"),
    }
}

fn mappings() -> Verdict {
    let name = "mappings";
    let count = read("/proc/sys/vm/max_map_count").and_then(|text| text.parse::<u64>().ok());
    match count {
        Some(count) if count < USUAL_MAPPINGS => {
            Verdict::warn(name, format!("vm.max_map_count={count}"))
                .because(
                    "each mapped handle of virtual memory takes one, as does each released range",
                )
                .remedy("sysctl vm.max_map_count=65530 or more")
        }
        Some(count) => Verdict::ok(name, format!("vm.max_map_count={count}")),
        None => Verdict::note(name, "unknown")
            .because("/proc/sys/vm cannot be read")
            .remedy(MOUNT_PROC),
    }
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path)
        .ok()
        .map(|text| text.trim().to_owned())
}

/// A line of `/proc/meminfo`, in bytes.
fn meminfo(key: &str) -> Option<u64> {
    let text = read("/proc/meminfo")?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    line.split_whitespace()
        .nth(1)?
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

/// The tightest memory limit of the control groups of this process: limit, used, where.
fn group_limit() -> Option<(u64, u64, String)> {
    let list = read("/proc/self/cgroup")?;
    let mut found: Vec<(u64, u64, String)> = Vec::new();
    for line in list.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (kinds, path) = (fields.next()?, fields.next()?);
        let (root, limit_file, used_file) = match kinds {
            "" => ("/sys/fs/cgroup", "memory.max", "memory.current"),
            kinds if kinds.split(',').any(|kind| kind == "memory") => (
                "/sys/fs/cgroup/memory",
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
            ),
            _ => continue,
        };
        // In a container the path of the host may lead nowhere: then the root is the group.
        for group in Path::new(path.trim_start_matches('/')).ancestors() {
            let place = Path::new(root).join(group);
            let limit = read(place.join(limit_file)).and_then(|text| text.parse().ok());
            let used = read(place.join(used_file)).and_then(|text| text.parse().ok());
            if let (Some(limit), Some(used)) = (limit, used) {
                found.push((limit, used, place.join(limit_file).display().to_string()));
            }
        }
    }
    // Version 1 writes "no limit" as a number near 2^63.
    found.retain(|(limit, ..)| *limit < 1 << 60);
    found
        .into_iter()
        .min_by_key(|(limit, used, _)| limit.saturating_sub(*used))
}

/// A soft limit; `None` when there is none.
#[allow(clippy::needless_pass_by_value)] // the type differs between C libraries
fn limit(resource: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the pointer is to a live structure that the call fills.
    let code = unsafe { libc::getrlimit(resource, &raw mut limit) };
    (code == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}
