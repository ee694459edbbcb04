//! What the other process does.

use std::ffi::c_void;

use cannery_abi::*;
use cannery_test_calls::peer;

use crate::api::*;
use crate::{handles, hostile, memory, system};

pub(crate) use peer::Peer;

/// What a comparison answers that found a difference.
pub(crate) const DIFFERENT: aclError = -5;

/// Serves until its input ends.
pub(crate) fn serve() {
    peer::serve(|line| act(&line.split(' ').collect::<Vec<_>>()));
}

/// Starts one, with device 0.
pub(crate) fn start() -> Peer {
    let mut peer = start_bare();
    peer.must("device 0");
    peer
}

/// Starts one, without a device.
pub(crate) fn start_bare() -> Peer {
    Peer::start(["--play", "peer"])
}

fn act(words: &[&str]) -> (aclError, String) {
    let number = |at: usize| -> u64 {
        let word = words.get(at).copied().unwrap_or_default();
        word.parse()
            .unwrap_or_else(|_| panic!("a number in {words:?}"))
    };
    let address = |at: usize| number(at) as usize as *mut c_void;
    let plain = |code: aclError| match code {
        0 => (0, String::new()),
        code => (code, said()),
    };
    match words[0] {
        "device" => plain(aclrtSetDevice(number(1) as i32)),
        "reset" => plain(aclrtResetDevice(number(1) as i32)),
        "malloc" => {
            let block = memory::filled(number(1) as usize, number(2));
            (0, (block as usize).to_string())
        }
        "free" => plain(aclrtFree(address(1))),
        "export" => match memory::export(address(1), number(2) as usize, number(3)) {
            Ok(key) => (0, key),
            Err(code) => plain(code),
        },
        "allow" => plain(memory::allow(words[1], &[number(2) as i32])),
        "import" => match memory::import(words[1], number(2)) {
            Ok(block) => (0, (block as usize).to_string()),
            Err(code) => plain(code),
        },
        "close" => plain(memory::close(words[1])),
        "fill" => {
            memory::upload(address(1), &memory::random(number(2) as usize, number(3)));
            (0, String::new())
        }
        "holds" => match memory::holds(address(1), number(2) as usize, number(3)) {
            Ok(()) => (0, String::new()),
            Err(text) => (DIFFERENT, text),
        },
        "counts" => {
            let (descriptors, maps) = system::counts();
            (0, format!("{descriptors} {maps}"))
        }
        // Imports, compares and closes, so many times.
        "rounds" => rounds(words[1], number(2), number(3) as usize, number(4)),
        // Physical handles: by number, or by 128 bytes in hexadecimal.
        "handle-import" => match handles::import(words[1], number(2) as i32) {
            Ok(handle) => (0, handle.to_string()),
            Err(code) => plain(code),
        },
        "handle-make" => (0, handles::make(number(1) as usize).to_string()),
        "handle-export" => match handles::export(number(1), false, number(2)) {
            Ok(text) => (0, text),
            Err(code) => plain(code),
        },
        "handle-free" => plain(handles::free(number(1))),
        "map" => match handles::map(number(1), number(2) as usize) {
            Ok(at) => (0, (at as usize).to_string()),
            Err(code) => plain(code),
        },
        "unmap" => plain(handles::unmap(address(1))),
        "handle-rounds" => handles::rounds(words[1], number(2), number(3) as usize, number(4)),
        // A forked child imports, with a runtime of its own.
        "fork-import" => {
            let key = words[1].to_owned();
            let child = system::fork(move || {
                let begun = aclInit(std::ptr::null()) == 0 && aclrtSetDevice(0) == 0;
                match memory::import(&key, 0) {
                    _ if !begun => 2,
                    Ok(_) => 0,
                    Err(107_000) => 1,
                    Err(_) => 3,
                }
            });
            (system::wait_for(child), String::new())
        }
        // Asks the broker itself, without the library.
        "raw" => {
            let from_child = number(3) == 1;
            (
                hostile::ask_raw(words[1], words[2], from_child),
                String::new(),
            )
        }
        // A forked child stays when this process is gone.
        "fork-stay" => {
            let child = system::fork(|| {
                std::thread::sleep(std::time::Duration::from_secs(30));
                0
            });
            (0, child.to_string())
        }
        "nobody" => {
            system::become_nobody();
            (0, String::new())
        }
        _ => panic!("what is {words:?}?"),
    }
}

fn rounds(key: &str, count: u64, bytes: usize, seed: u64) -> (aclError, String) {
    for _ in 0..count {
        let block = match memory::import(key, 0) {
            Ok(block) => block,
            Err(code) => return (code, said()),
        };
        if let Err(text) = memory::holds(block, bytes, seed) {
            return (DIFFERENT, text);
        }
        let code = memory::close(key);
        if code != 0 {
            return (code, said());
        }
    }
    (0, String::new())
}
