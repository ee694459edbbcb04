//! What the other process does.

use std::ptr::null_mut;

use cannery_abi::*;
use cannery_test_calls::peer::{self, Peer};

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

/// Starts one.
pub(crate) fn start() -> Peer {
    Peer::start(["--child", "peer"])
}

/// Serves until its input ends.
pub(crate) fn serve() {
    ok(aclrtSetDevice(0), "aclrtSetDevice");
    let stream = make::stream();
    let mut event = null_mut();
    let mut notifies: Vec<aclrtNotify> = Vec::new();
    peer::serve(|line| {
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
        (code, more)
    });
}
