//! The other process: does what it is told on its standard input, one line a call, and answers each
//! with a line: the code, and what the call gave.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::ptr::null_mut;

use cannery_abi::*;

use crate::api::*;
use crate::make;

/// Room for a key.
pub(crate) const KEY: usize = 65;
/// Flag of an export for everybody.
pub(crate) const FOR_ALL: u64 = ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION;

/// Exports a notify; its key.
pub(crate) fn export(notify: aclrtNotify, flags: u64) -> String {
    let mut key = [0; KEY];
    let code = aclrtNotifyGetExportKey(notify, key.as_mut_ptr(), KEY, flags);
    ok(code, "aclrtNotifyGetExportKey");
    let bytes = key.iter().take_while(|byte| **byte != 0);
    bytes.map(|byte| char::from(*byte as u8)).collect()
}

/// Imports a notify.
pub(crate) fn import(key: &str) -> Result<aclrtNotify, aclError> {
    let text = std::ffi::CString::new(key).expect("a key without NUL");
    let mut notify = null_mut();
    match aclrtNotifyImportByKey(&raw mut notify, text.as_ptr(), 0) {
        0 => Ok(notify),
        code => Err(code),
    }
}

/// Name of an event as text.
pub(crate) fn event_name(event: aclrtEvent) -> String {
    let mut handle = aclrtIpcEventHandle { reserved: [0; 64] };
    let code = aclrtIpcGetEventHandle(event, &raw mut handle);
    ok(code, "aclrtIpcGetEventHandle");
    let hex = handle
        .reserved
        .iter()
        .map(|byte| format!("{:02x}", *byte as u8));
    hex.collect()
}

fn open_event(name: &str, event: &mut aclrtEvent) -> aclError {
    let mut handle = aclrtIpcEventHandle { reserved: [0; 64] };
    for (i, byte) in handle.reserved.iter_mut().enumerate() {
        let digits = name.get(i * 2..i * 2 + 2).unwrap_or("00");
        *byte = u8::from_str_radix(digits, 16).unwrap_or(0) as std::ffi::c_char;
    }
    aclrtIpcOpenEventHandle(handle, event)
}

/// Serves until its input ends.
pub(crate) fn serve() {
    ok(aclrtSetDevice(0), "aclrtSetDevice");
    let stream = make::stream();
    let mut event = null_mut();
    let mut notifies: Vec<aclrtNotify> = Vec::new();
    for line in std::io::stdin().lines() {
        let line = line.expect("a line of text");
        let mut words = line.split(' ');
        let verb = words.next().unwrap_or_default();
        let word = words.next().unwrap_or_default();
        let number: i32 = word.parse().unwrap_or(-77);
        let notify = || notifies[number as usize];
        let mut more = String::new();
        let code = match verb {
            "import" => match import(word) {
                Ok(notify) => {
                    notifies.push(notify);
                    0
                }
                Err(code) => code,
            },
            "export" => {
                notifies.push(make::notify());
                more = export(notifies[notifies.len() - 1], FOR_ALL);
                0
            }
            "record" => aclrtRecordNotify(notify(), stream),
            "wait" => aclrtWaitAndResetNotify(notify(), stream, 0),
            "sync" => aclrtSynchronizeStreamWithTimeout(stream, number),
            "open" => open_event(word, &mut event),
            "event-record" => aclrtRecordEvent(event, stream),
            "event-wait" => aclrtStreamWaitEvent(stream, event),
            "event-sync" => aclrtSynchronizeEventWithTimeout(event, number),
            "event-query" => {
                let mut status = -77;
                let code = aclrtQueryEventStatus(event, &raw mut status);
                more = status.to_string();
                code
            }
            _ => panic!("what is {line:?}?"),
        };
        let _ = recent_text();
        println!("{code} {more}");
        // The other end may be gone already.
        let _ = std::io::stdout().flush();
    }
}

/// Another process that serves.
pub(crate) struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts it, with the settings of this process.
    pub(crate) fn start() -> Self {
        let program = std::env::current_exe().expect("the path of this program");
        let mut child = Command::new(program)
            .args(["--child", "peer"])
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
