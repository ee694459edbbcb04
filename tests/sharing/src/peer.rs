//! The other process: does what it is told on its standard input, one line a call, and answers each
//! with a line: the code, and what the call gave.

use std::ffi::c_void;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use cannery_abi::*;

use crate::api::*;
use crate::{handles, hostile, memory, system};

/// What a comparison answers that found a difference.
pub(crate) const DIFFERENT: aclError = -5;

/// Serves until its input ends.
pub(crate) fn serve() {
    for line in std::io::stdin().lines() {
        let line = line.expect("a line of text");
        let words: Vec<&str> = line.split(' ').collect();
        let (code, more) = act(&words);
        println!("{code} {more}");
        // The other end may be gone already.
        let _ = std::io::stdout().flush();
    }
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
        code => (code, recent_text()),
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
            Err(code) => return (code, recent_text()),
        };
        if let Err(text) = memory::holds(block, bytes, seed) {
            return (DIFFERENT, text);
        }
        let code = memory::close(key);
        if code != 0 {
            return (code, recent_text());
        }
    }
    (0, String::new())
}

/// Another process that serves.
pub(crate) struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts it, with device 0.
    pub(crate) fn start() -> Self {
        let mut peer = Self::start_bare();
        peer.must("device 0");
        peer
    }

    /// Starts it, without a device.
    pub(crate) fn start_bare() -> Self {
        let program = std::env::current_exe().expect("the path of this program");
        let mut child = Command::new(program)
            .args(["--play", "peer"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts again");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self {
            child,
            input,
            output,
        }
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Tells it to do something, without waiting for the answer.
    pub(crate) fn tell(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("the peer listens");
    }

    /// Its next answer: the code and the rest.
    pub(crate) fn answer(&mut self) -> (aclError, String) {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the peer answers");
        let (code, more) = line.trim_end().split_once(' ').unwrap_or((line.trim(), ""));
        (code.parse().unwrap_or(-77), more.to_owned())
    }

    /// Tells it to do something and waits for the answer.
    pub(crate) fn ask(&mut self, line: &str) -> (aclError, String) {
        self.tell(line);
        self.answer()
    }

    /// As [`ask`](Self::ask), for what must succeed.
    #[track_caller]
    pub(crate) fn must(&mut self, line: &str) -> String {
        match self.ask(line) {
            (0, more) => more,
            (code, more) => panic!("the peer answered {code} to {line:?}: {more}"),
        }
    }

    /// Ends it at once (`kill -9`).
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("the peer is there");
        self.child.wait().expect("the peer ends");
    }

    /// Lets it end by itself; whether it was content.
    pub(crate) fn end(mut self) -> bool {
        drop(self.input);
        self.child.wait().expect("the peer ends").success()
    }
}
