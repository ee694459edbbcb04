//! aclrtMalloc and aclrtFree through the C interface, next to mimalloc and the C library's malloc.

use crate::bench::Bench;
use crate::machine;
use crate::replacement::{Replacement, Sizes, empty_tail, hot};
use crate::rounds::Side;
use crate::row::{Row, Unit};
use crate::subjects::{DeviceMemory, Malloc};

const HUGE: usize = 2 << 20;
/// Pairs of a round of replacement: enough that what the other sides left in the caches does not count.
const PAIRS: usize = 1 << 15;
/// Pairs of a hot round.
const HOT_PAIRS: usize = 1 << 13;
const LIVE: [(usize, &str); 2] = [(1 << 10, "1k"), (1 << 14, "16k")];

pub(crate) fn run(bench: &mut Bench<'_>) {
    for (size, text) in [(64, "64 B"), (4096, "4 KiB"), (HUGE, "2 MiB")] {
        hot_row(bench, size, text);
        for (live, live_text) in LIVE {
            let name = format!("{text}, {live_text} live");
            replacement_rows(bench, &name, live, Sizes::One(size));
        }
    }
    for (live, live_text) in LIVE {
        let name = format!("mixed, {live_text} live");
        replacement_rows(bench, &name, live, Sizes::Mixed);
    }
}

fn hot_row(bench: &mut Bench<'_>, size: usize, text: &str) {
    let name = format!("{text}, hot");
    if !bench.wants(&name) {
        return;
    }
    let pairs = bench.effort.calls(HOT_PAIRS);
    let ours = DeviceMemory(bench.api);
    let (mimalloc, malloc) = (Malloc::mimalloc(), Malloc::c_library());
    let sides: Vec<Side<'_>> = vec![
        Box::new(|| hot(ours, size, pairs)),
        Box::new(|| hot(mimalloc, size, pairs)),
        Box::new(|| hot(malloc, size, pairs)),
    ];
    let [ours, mimalloc, malloc] = results(bench, sides);
    bench.row(
        Row::new(name, Unit::Nanoseconds, ours)
            .against("mimalloc", mimalloc)
            .against("malloc", malloc)
            .at_most(60.0),
    );
}

fn results<const N: usize>(bench: &Bench<'_>, sides: Vec<Side<'_>>) -> [crate::rounds::Samples; N] {
    let samples = bench.take_turns(sides);
    samples.try_into().expect("one for each side")
}

fn replacement_rows(bench: &mut Bench<'_>, name: &str, live: usize, sizes: Sizes) {
    let tail_name = format!("{name}: p99.9 of a call");
    let mixed = matches!(sizes, Sizes::Mixed);
    if !bench.wants(name) && !bench.wants(&tail_name) {
        return;
    }
    let pairs = bench.effort.calls(PAIRS);
    let clock = bench.clock;
    let device = DeviceMemory(bench.api);
    // A reference writes next to its blocks, so each costs it a page, or a whole huge page.
    let without_references = match sizes {
        Sizes::One(HUGE) => (live * HUGE) as u64 * 5 / 2 > machine::available_bytes(),
        _ => false,
    };
    if let Sizes::One(HUGE) = sizes {
        // Two huge pages for a block: the padding makes it a little larger than one. Whatever finds
        // no huge pages gets normal ones.
        let (normal, huge) = bench.api.free_bytes();
        let room = huge / (2 * HUGE) + normal / (HUGE + 4096);
        if live > room {
            bench.row(Row::not_run(
                name,
                format!("the device has room for {room} blocks"),
            ));
            return;
        }
    }
    let mut ours = Replacement::new(device, live, sizes, 1);
    if without_references {
        let sides: Vec<Side<'_>> = vec![Box::new(|| ours.round(pairs))];
        let [time] = results(bench, sides);
        let mut row = Row::new(name, Unit::Nanoseconds, time).at_most(60.0);
        row.note = Some(format!(
            "{live} blocks of 2 MiB: the references write into their blocks and would need more memory than this machine has; Cannery writes nothing there."
        ));
        bench.row(row);
        return;
    }
    let mut mimalloc = Replacement::new(Malloc::mimalloc(), live, sizes, 1);
    let mut malloc = Replacement::new(Malloc::c_library(), live, sizes, 1);
    let sides: Vec<Side<'_>> = vec![
        Box::new(|| ours.round(pairs)),
        Box::new(|| mimalloc.round(pairs)),
        Box::new(|| malloc.round(pairs)),
    ];
    let [time, of_mimalloc, of_malloc] = results(bench, sides);
    let mut row = Row::new(name, Unit::Nanoseconds, time)
        .against("mimalloc", of_mimalloc)
        .against("malloc", of_malloc)
        .at_most(60.0);
    if mixed {
        row = row.times_at_most("mimalloc", 2.5).note(
            "mixed: 64 B to 128 KiB, every magnitude alike, random replacement; all sides the same sequence. \
             The figures include the loop and its access to the table of live blocks.",
        );
    }
    bench.row(row);
    if !mixed {
        return;
    }
    let mut empty = Vec::new();
    let sides: Vec<Side<'_>> = vec![
        Box::new(|| ours.tail(&clock, pairs)),
        Box::new(|| mimalloc.tail(&clock, pairs)),
        Box::new(|| malloc.tail(&clock, pairs)),
        Box::new(|| empty_tail(&clock, &mut empty, 2 * pairs)),
    ];
    let [time, of_mimalloc, of_malloc, of_nothing] = results(bench, sides);
    bench.row(
        Row::new(tail_name, Unit::Nanoseconds, time)
            .against("mimalloc", of_mimalloc)
            .against("malloc", of_malloc)
            .against("nothing", of_nothing)
            .at_most(500.0)
            .note(format!(
                "p99.9: every call is timed alone with the time stamp counter; what an empty interval \
                 shows ({:.1} ns) is taken off. \"nothing\" is the same for empty intervals: the \
                 machine's own tail.",
                f64::from(clock.own_ticks) / clock.ticks_per_ns
            )),
    );
}
