//! The chapters. A new one is a file with a `run` and a line in the table.

mod copies;
mod device_memory;
mod faces;
mod host_memory;
pub(crate) mod instructions;
mod pools;
mod python;
mod queries;
mod rust;
mod sharing;
mod startup;
mod streams;
mod threads;
mod utilisation;
mod virtual_memory;

use crate::bench::Bench;

/// Rows about one subject.
pub(crate) struct Chapter {
    pub(crate) title: &'static str,
    /// Measures and adds the rows that are asked for. Device 0 is set on the calling thread.
    pub(crate) run: fn(&mut Bench<'_>),
}

/// What a run measures, in this order.
pub(crate) const TIMED: [Chapter; 14] = [
    Chapter {
        title: "Device memory: aclrtMalloc + aclrtFree",
        run: device_memory::run,
    },
    Chapter {
        title: "Two threads",
        run: threads::run,
    },
    Chapter {
        title: "Host memory: aclrtMallocHost + aclrtFreeHost",
        run: host_memory::run,
    },
    Chapter {
        title: "Copies: aclrtMemcpy",
        run: copies::run,
    },
    Chapter {
        title: "Questions about addresses",
        run: queries::run,
    },
    Chapter {
        title: "Virtual memory",
        run: virtual_memory::run,
    },
    Chapter {
        title: "Streams and events",
        run: streams::run,
    },
    // After the streams: while there are pools, events cost a little more.
    Chapter {
        title: "Stream-ordered pools: aclrtMemPoolMallocAsync + aclrtMemPoolFreeAsync",
        run: pools::run,
    },
    Chapter {
        title: "Memory of another process",
        run: sharing::run,
    },
    Chapter {
        title: "Use of the memory",
        run: utilisation::run,
    },
    Chapter {
        title: "Start",
        run: startup::run,
    },
    Chapter {
        title: "Before a program begins",
        run: faces::run,
    },
    Chapter {
        title: "Rust",
        run: rust::run,
    },
    Chapter {
        title: "Python",
        run: python::run,
    },
];

/// What a run counts with `--instructions`.
pub(crate) const COUNTED: [Chapter; 1] = [Chapter {
    title: "Instructions",
    run: instructions::run,
}];
