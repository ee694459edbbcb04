//! aclrtMallocHost and aclrtFreeHost, recycled, next to pinning by system calls.

use crate::bench::Bench;
use crate::replacement::hot;
use crate::rounds::Side;
use crate::row::{Row, Unit};
use crate::subjects::{HostMemory, LockedMapping, Malloc, Subject};

const MAPPING: &str = "mmap + mlock + munmap";

pub(crate) fn run(bench: &mut Bench<'_>) {
    for (size, text) in [(4 << 10, "4 KiB"), (1 << 20, "1 MiB")] {
        let name = format!("{text}, recycled");
        if !bench.wants(&name) {
            continue;
        }
        let pairs = bench.effort.calls(1 << 13);
        let calls = bench.effort.calls((64 << 20) / size).min(256);
        let (ours, malloc) = (HostMemory(bench.api), Malloc::c_library());
        let mapping = LockedMapping(size);
        let locks = mapping.works();
        // A second block, so that the memory behind the first is never given back.
        let kept = ours.alloc(size);
        let mut sides: Vec<Side<'_>> = vec![
            Box::new(|| hot(ours, size, pairs)),
            Box::new(|| hot(malloc, size, pairs)),
        ];
        if locks {
            sides.push(Box::new(|| hot(mapping, size, calls)));
        }
        let mut samples = bench.take_turns(sides).into_iter();
        ours.free(kept);
        let mut next = || samples.next().unwrap_or_default();
        let mut row = Row::new(name, Unit::Nanoseconds, next()).at_most(100.0);
        let malloc = next();
        if locks {
            row = row.against(MAPPING, next());
            if size == 1 << 20 {
                row = row.times_faster(MAPPING, 1000.0);
            }
        } else {
            row =
                row.note("The lock limit (ulimit -l) forbids mlock of so much: no such reference.");
        }
        bench.row(row.against("malloc", malloc));
    }
}
