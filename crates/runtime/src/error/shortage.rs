//! The text of an out-of-memory error: enough to see why, and what to do next.

use std::fmt;

use cannery_knowledge::in_chinese;
use cannery_observe::PageKind;

/// Bytes of one owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerShare {
    /// Who: the function that made the blocks, or a module.
    pub name: String,
    /// How many blocks; 0 where blocks are not what is counted.
    pub blocks: u64,
    /// How many bytes, as charged.
    pub bytes: u64,
}

/// Bytes of a module, which the program names when it allocates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleShare {
    /// Its number.
    pub module: u8,
    /// How many bytes, as charged.
    pub bytes: u64,
    /// The most that it held at one time.
    pub peak: u64,
}

/// Another process that holds memory of the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherShare {
    /// Its process id.
    pub pid: i32,
    /// Name of its program.
    pub name: String,
    /// How many bytes.
    pub bytes: u64,
    /// It is stopped, and the bytes may include some that it does not use.
    pub stopped: bool,
}

/// Why a device had no memory. All numbers in bytes, read in one moment.
#[derive(Debug, Clone)]
pub struct Shortage {
    /// Device (user id).
    pub device: u32,
    /// What the caller asked for.
    pub asked: u64,
    /// What that comes to in pages of the pool.
    pub rounded: u64,
    /// The pool that was asked last.
    pub pages: PageKind,
    /// Free bytes of that pool.
    pub free: u64,
    /// All bytes of that pool.
    pub total: u64,
    /// Largest run that could be given out.
    pub largest: u64,
    /// Free bytes of the other pool: 2 MiB pages when normal ones were asked for, else normal.
    pub other_free: u64,
    /// Owners in this process, largest first.
    pub owners: Vec<OwnerShare>,
    /// What the modules hold that the program names itself, largest first.
    pub modules: Vec<ModuleShare>,
    /// Bytes that pools hold and nobody uses.
    pub idle: u64,
    /// Bytes that were freed on streams that have not come so far.
    pub pending: u64,
    /// Other processes on the device, largest first.
    pub others: Vec<OtherShare>,
    /// Bytes that this process may charge (`CANNERY_QUOTA`), and what is left of them.
    pub quota: Option<(u64, u64)>,
    /// What to do.
    pub next: String,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pool, other) = match self.pages {
            PageKind::Normal => ("normal (4 KiB)", "huge (2 MiB)"),
            PageKind::Huge => ("huge (2 MiB)", "normal (4 KiB)"),
            PageKind::Giant => ("giant (1 GiB)", "normal (4 KiB)"),
        };
        write!(
            f,
            "out of memory on device {}: asked {}, rounded {} in {pool} pages; {pool} pool free {} \
             of {}, largest free run {}; {other} free {}",
            self.device,
            Bytes(self.asked),
            Bytes(self.rounded),
            Bytes(self.free),
            Bytes(self.total),
            Bytes(self.largest),
            Bytes(self.other_free),
        )?;
        if self.owners.is_empty() {
            write!(f, "; this process holds nothing on the device")?;
        } else {
            write!(f, "; held by this process:")?;
            for (i, owner) in self.owners.iter().enumerate() {
                let comma = if i == 0 { "" } else { "," };
                write!(f, "{comma} {} {}", owner.name, Bytes(owner.bytes))?;
                match owner.blocks {
                    0 => {}
                    1 => write!(f, " (1 block)")?,
                    blocks => write!(f, " ({blocks} blocks)")?,
                }
            }
        }
        for (i, share) in self.modules.iter().enumerate() {
            let start = if i == 0 { "; of it by module:" } else { "," };
            let (bytes, peak) = (Bytes(share.bytes), Bytes(share.peak));
            write!(f, "{start} {} {bytes} (peak {peak})", share.module)?;
        }
        if self.idle > 0 {
            write!(f, "; free inside of pools {}", Bytes(self.idle))?;
        }
        if self.pending > 0 {
            let bytes = Bytes(self.pending);
            write!(
                f,
                "; freed but not yet usable {bytes} (their streams have not come so far)"
            )?;
        }
        if let Some((quota, left)) = self.quota {
            write!(
                f,
                "; quota of this process (CANNERY_QUOTA) {}, {} of it left",
                Bytes(quota),
                Bytes(left)
            )?;
        }
        for (i, other) in self.others.iter().take(SHOWN).enumerate() {
            let (pid, name, bytes) = (other.pid, &other.name, Bytes(other.bytes));
            let start = if i == 0 {
                "; held by other processes: "
            } else {
                ", "
            };
            let stopped = if other.stopped { ", stopped" } else { "" };
            write!(f, "{start}pid {pid} ({name}{stopped}) {bytes}")?;
        }
        if self.others.len() > SHOWN {
            let rest = &self.others[SHOWN..];
            let bytes = rest.iter().map(|other| other.bytes).sum();
            write!(f, ", {} more {}", rest.len(), Bytes(bytes))?;
        }
        write!(f, ". Next: {}", self.next)
    }
}

/// How many other processes are named; the rest is summed up.
const SHOWN: usize = 8;

impl Shortage {
    /// As the text itself, in Chinese.
    pub(super) fn in_chinese(&self) -> String {
        let (pool, other) = match self.pages {
            PageKind::Normal => ("普通页（4 KiB）", "大页（2 MiB）"),
            PageKind::Huge => ("大页（2 MiB）", "普通页（4 KiB）"),
            PageKind::Giant => ("巨页（1 GiB）", "普通页（4 KiB）"),
        };
        let mut text = format!(
            "设备 {} 内存不足：申请 {}，按{pool}取整为 {}；{pool}池空闲 {}，共 {}，最大空闲块 {}；{other}空闲 {}",
            self.device,
            Bytes(self.asked),
            Bytes(self.rounded),
            Bytes(self.free),
            Bytes(self.total),
            Bytes(self.largest),
            Bytes(self.other_free),
        );
        let owners = self.owners.iter().map(|owner| {
            let blocks = match owner.blocks {
                0 => String::new(),
                blocks => format!("（{blocks} 块）"),
            };
            let name = in_chinese(&owner.name);
            format!("{name} {}{blocks}", Bytes(owner.bytes))
        });
        let owners: Vec<String> = owners.collect();
        text += &match owners.as_slice() {
            [] => "；本进程在该设备上没有占用".to_owned(),
            owners => format!("；本进程占用：{}", owners.join("，")),
        };
        for (i, share) in self.modules.iter().enumerate() {
            let start = if i == 0 {
                "；其中按模块："
            } else {
                "，"
            };
            let (bytes, peak) = (Bytes(share.bytes), Bytes(share.peak));
            text += &format!("{start}{} {bytes}（峰值 {peak}）", share.module);
        }
        if self.idle > 0 {
            text += &format!("；内存池中空闲 {}", Bytes(self.idle));
        }
        if self.pending > 0 {
            let bytes = Bytes(self.pending);
            text += &format!("；已释放但尚不可用 {bytes}（所在 stream 尚未执行到）");
        }
        if let Some((quota, left)) = self.quota {
            text += &format!(
                "；本进程配额（CANNERY_QUOTA）{}，剩余 {}",
                Bytes(quota),
                Bytes(left)
            );
        }
        let named = self.others.iter().take(SHOWN).map(|other| {
            let stopped = if other.stopped { "，已暂停" } else { "" };
            format!(
                "pid {}（{}{stopped}）{}",
                other.pid,
                other.name,
                Bytes(other.bytes)
            )
        });
        let mut others: Vec<String> = named.collect();
        let rest = self.others.get(SHOWN..).unwrap_or_default();
        if !rest.is_empty() {
            let bytes = rest.iter().map(|other| other.bytes).sum();
            others.push(format!("另外 {} 个进程 {}", rest.len(), Bytes(bytes)));
        }
        if !others.is_empty() {
            text += &format!("；其他进程占用：{}", others.join("，"));
        }
        text + "。下一步：" + &in_chinese(&self.next)
    }
}

/// Bytes as "3 MiB (3145728 bytes)": a round figure for people, the exact one for searching.
pub(crate) struct Bytes(pub(crate) u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, name) in [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
            if self.0 >= unit {
                let whole = self.0 / unit;
                let tenth = self.0 % unit * 10 / unit;
                return if self.0.is_multiple_of(unit) {
                    write!(f, "{whole} {name} ({} bytes)", self.0)
                } else {
                    write!(f, "{whole}.{tenth} {name} ({} bytes)", self.0)
                };
            }
        }
        write!(f, "{} bytes", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Bytes;

    #[test]
    fn bytes_read_well() {
        let show = |n| Bytes(n).to_string();
        assert_eq!(show(96), "96 bytes");
        assert_eq!(show(3 << 20), "3 MiB (3145728 bytes)");
        assert_eq!(show((3 << 20) + (1 << 19)), "3.5 MiB (3670016 bytes)");
        assert_eq!(show((64 << 30) - 1), "63.9 GiB (68719476735 bytes)");
    }
}
