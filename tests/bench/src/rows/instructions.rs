//! Instructions of one call, counted: the same in every run, however busy the machine is.

use std::ffi::c_void;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::process::{Command, Stdio};
use std::ptr;

use cannery_abi as abi;

use crate::api::{self, Api};
use crate::bench::Bench;
use crate::replacement::{Replacement, Sizes, hot};
use crate::rounds::Samples;
use crate::row::{Row, Unit};
use crate::single_step::{count, mark};
use crate::subjects::{DeviceMemory, HostMemory, Malloc, Subject};

/// Calls that are counted.
const CALLS: usize = 200;

/// An operation of Cannery, and the references for it, by the names that [`repeat`] knows.
const ROWS: [(&str, &[(&str, &str)]); 9] = [
    (
        "aclrtMalloc + aclrtFree, 64 B, hot",
        &[("mimalloc", "mimalloc, 64 B"), ("malloc", "malloc, 64 B")],
    ),
    (
        "aclrtMalloc + aclrtFree, 4 KiB, hot",
        &[("mimalloc", "mimalloc, 4 KiB"), ("malloc", "malloc, 4 KiB")],
    ),
    ("aclrtMalloc + aclrtFree, 2 MiB, hot", &[]),
    (
        "aclrtMalloc + aclrtFree, mixed, 1k live",
        &[
            ("mimalloc", "mimalloc, mixed, 1k"),
            ("malloc", "malloc, mixed, 1k"),
        ],
    ),
    (
        "aclrtMalloc + aclrtFree, mixed, 16k live",
        &[
            ("mimalloc", "mimalloc, mixed, 16k"),
            ("malloc", "malloc, mixed, 16k"),
        ],
    ),
    ("aclrtMallocHost + aclrtFreeHost, 4 KiB", &[]),
    ("aclrtMemcpy H2D, 64 B", &[("memcpy", "memcpy, 64 B")]),
    ("aclrtPointerGetAttributes", &[]),
    ("aclrtMemGetAddressRange", &[]),
];

pub(crate) fn run(bench: &mut Bench<'_>) {
    for (name, references) in ROWS {
        if !bench.wants(name) {
            continue;
        }
        bench.row(match instructions(name) {
            Err(reason) => Row::not_run(name, reason),
            Ok(ours) => {
                let row = Row::new(name, Unit::Instructions, ours).note(
                    "Instructions of a pair or a call, with the loop around it, mean of 200.",
                );
                references.iter().fold(row, |row, (label, reference)| {
                    row.against(label, instructions(reference).unwrap_or_default())
                })
            }
        });
    }
}

fn instructions(name: &str) -> Result<Samples, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command
        .args(["--repeat", name, &CALLS.to_string()])
        .stdout(Stdio::null());
    let counted = count(&mut command)?;
    Ok(Samples::exactly(counted as f64 / CALLS as f64))
}

/// The child's part: makes ready, then does `count` operations between marks.
///
/// # Errors
/// An unknown name, or what the library says.
pub(crate) fn repeat(name: &str, count: usize) -> Result<(), String> {
    let api = Api::open(&api::library())?;
    api.start()?;
    let (operation, size) = name.split_once(", ").unwrap_or((name, ""));
    match operation {
        "aclrtMalloc + aclrtFree" => allocate(DeviceMemory(api), size, count),
        "aclrtMallocHost + aclrtFreeHost" => allocate(HostMemory(api), size, count),
        "mimalloc" => allocate(Malloc::mimalloc(), size, count),
        "malloc" => allocate(Malloc::c_library(), size, count),
        "aclrtMemcpy H2D" | "memcpy" => copy(api, operation == "memcpy", count),
        "aclrtPointerGetAttributes" => attributes(api, count),
        "aclrtMemGetAddressRange" => range(api, count),
        _ => return Err(format!("nothing is called {name}")),
    }
    Ok(())
}

/// Calls `act(count)` between marks, after it ran once.
fn between_marks(count: usize, mut act: impl FnMut(usize)) {
    act(count);
    for part in [0, 0, count] {
        mark();
        act(part);
    }
    mark();
}

fn allocate(subject: impl Subject, what: &str, count: usize) {
    let bytes = match what {
        _ if what.starts_with("64 B") => 64,
        _ if what.starts_with("4 KiB") => 4 << 10,
        _ if what.starts_with("2 MiB") => 2 << 20,
        _ => {
            let live = if what.contains("16k") {
                1 << 14
            } else {
                1 << 10
            };
            let mut replacement = Replacement::new(subject, live, Sizes::Mixed, 1);
            replacement.draw(count);
            return between_marks(count, |count| replacement.play(0..count));
        }
    };
    between_marks(count, |count| {
        black_box(hot(subject, bytes, count));
    });
}

fn copy(api: Api, plain: bool, count: usize) {
    const SIZE: usize = 64;
    let memory = DeviceMemory(api);
    let to = memory.alloc(SIZE);
    let (from, mut other) = ([1_u8; SIZE], [0_u8; SIZE]);
    let memcpy: unsafe extern "C" fn(_, _, _) -> *mut c_void = black_box(libc::memcpy);
    between_marks(count, |count| {
        for _ in 0..count {
            let source = from.as_ptr().cast::<c_void>();
            if plain {
                // SAFETY: both have SIZE bytes.
                black_box(unsafe { memcpy(other.as_mut_ptr().cast(), source, SIZE) });
            } else {
                let kind = abi::ACL_MEMCPY_HOST_TO_DEVICE;
                // SAFETY: both have SIZE bytes.
                let code = unsafe { (api.aclrtMemcpy)(to, SIZE, source, SIZE, kind) };
                api.check("aclrtMemcpy", code);
            }
        }
    });
    memory.free(to);
}

fn attributes(api: Api, count: usize) {
    let memory = DeviceMemory(api);
    let block = memory.alloc(4096);
    between_marks(count, |count| {
        for _ in 0..count {
            let mut found = MaybeUninit::uninit();
            // SAFETY: the place is valid.
            let code = unsafe { (api.aclrtPointerGetAttributes)(block, found.as_mut_ptr()) };
            api.check("aclrtPointerGetAttributes", code);
            black_box(&found);
        }
    });
    memory.free(block);
}

fn range(api: Api, count: usize) {
    let memory = DeviceMemory(api);
    let block = memory.alloc(4096);
    between_marks(count, |count| {
        for _ in 0..count {
            let (mut base, mut size) = (ptr::null_mut(), 0);
            // SAFETY: both places are valid.
            let code =
                unsafe { (api.aclrtMemGetAddressRange)(block, &raw mut base, &raw mut size) };
            api.check("aclrtMemGetAddressRange", code);
            black_box((base, size));
        }
    });
    memory.free(block);
}
