//! What the figures were measured on. No names of hosts or people.

use std::fs;

/// The machine, as far as it decides the figures.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) virtual_machine: bool,
    pub(crate) memory_gib: u64,
    pub(crate) kernel: String,
    pub(crate) huge_pages: String,
    /// Settings of Cannery that are not the defaults, as `NAME=value`.
    pub(crate) settings: Vec<String>,
}

impl Machine {
    pub(crate) fn look() -> Machine {
        let processors = read("/proc/cpuinfo");
        let field = |name: &str| {
            let line = processors.lines().find(|line| line.starts_with(name));
            let value = line.and_then(|line| line.split_once(':'));
            value.map_or("", |(_, value)| value.trim())
        };
        let memory = read("/proc/meminfo");
        let kib = memory.split_whitespace().nth(1).unwrap_or("");
        let release = read("/proc/sys/kernel/osrelease");
        let release: Vec<&str> = release.trim().split(['.', '-']).take(2).collect();
        let choices = read("/sys/kernel/mm/transparent_hugepage/enabled");
        let chosen = choices.split(['[', ']']).nth(1).unwrap_or("none");
        let mut settings: Vec<String> = std::env::vars()
            .filter(|(name, _)| {
                (name.starts_with("CANNERY_") && name != "CANNERY_PREFIX")
                    || name == "ASCEND_RT_VISIBLE_DEVICES"
            })
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        settings.sort();
        let family = match (field("vendor_id"), field("cpu family"), field("model\t")) {
            ("", ..) => String::new(),
            (vendor, family, model) => format!(" ({vendor}, family {family}, model {model})"),
        };
        Machine {
            processor: format!("{}{family}", field("model name")),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            virtual_machine: field("flags").split(' ').any(|flag| flag == "hypervisor"),
            memory_gib: (kib.parse::<u64>().unwrap_or(0) + (1 << 19)) >> 20,
            kernel: release.join("."),
            huge_pages: chosen.to_owned(),
            settings,
        }
    }

    /// The machine in one line.
    pub(crate) fn describe(&self) -> String {
        format!(
            "{}, {} cores{}, {} GiB, Linux {}, transparent huge pages: {}",
            self.processor,
            self.cores,
            if self.virtual_machine {
                " of a virtual machine"
            } else {
                ""
            },
            self.memory_gib,
            self.kernel,
            self.huge_pages,
        )
    }
}

/// Processor time so far, in clock ticks of the system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    all: u64,
    busy: u64,
    stolen: u64,
    own: u64,
}

impl Spent {
    pub(crate) fn now() -> Spent {
        let text = read("/proc/stat");
        let first = text.lines().next().unwrap_or("");
        // user nice system idle iowait irq softirq steal
        let ticks: Vec<u64> = first
            .split_whitespace()
            .skip(1)
            .take(8)
            .map(|ticks| ticks.parse().unwrap_or(0))
            .collect();
        let at = |index: usize| ticks.get(index).copied().unwrap_or(0);
        let all = ticks.iter().sum();
        Spent {
            all,
            busy: all - at(3) - at(4) - at(7),
            stolen: at(7),
            own: own_ticks(),
        }
    }

    /// Shares of the machine, in percent, that other programs used since `earlier`, and that other
    /// virtual machines took away.
    pub(crate) fn others_since(&self, earlier: &Spent) -> (f64, f64) {
        let all = (self.all - earlier.all).max(1) as f64;
        let own = self.own - earlier.own;
        let others = (self.busy - earlier.busy).saturating_sub(own);
        let share = |ticks: u64| ticks as f64 * 100.0 / all;
        (share(others), share(self.stolen - earlier.stolen))
    }
}

/// What this process and its ended children used.
fn own_ticks() -> u64 {
    let used = |who| {
        // SAFETY: all zero is a valid value, and the place is valid.
        let usage: libc::rusage = unsafe {
            let mut usage = std::mem::zeroed();
            libc::getrusage(who, &raw mut usage);
            usage
        };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        seconds(usage.ru_utime) + seconds(usage.ru_stime)
    };
    // SAFETY: no pointers.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
    ((used(libc::RUSAGE_SELF) + used(libc::RUSAGE_CHILDREN)) * per_second) as u64
}

/// Bytes that could be used without swapping.
pub(crate) fn available_bytes() -> u64 {
    let memory = read("/proc/meminfo");
    let line = memory.lines().find(|line| line.starts_with("MemAvailable"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    kib.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) << 10
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
