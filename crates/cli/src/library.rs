//! Asking the library itself. Runs in a child process of the tool, which has
//! the environment set already; nothing else happens in that process.

// The library is reached through its C ABI: loading it and calling two
// functions of it cannot be expressed without `unsafe`.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char};
use std::io::{self, Write};

use libloading::Library;

use crate::error::Error;
use crate::prefix::Prefix;

/// `int32_t cannery_info(char *buffer, size_t size, size_t *needed)`; `cannery_cards` is alike.
type InfoFunction = unsafe extern "C" fn(*mut c_char, usize, *mut usize) -> i32;
/// `const char *aclGetRecentErrMsg(void)`.
type RecentTextFunction = unsafe extern "C" fn() -> *const c_char;

/// Room for a report, in bytes; the library says when it needs more.
const FIRST_SIZE: usize = 64 * 1024;

/// Prints the library's report (JSON) on standard output; a refusal goes there
/// too, as standard error also carries what the library logs.
///
/// # Errors
///
/// The library cannot be loaded, or refuses: then its own text.
pub(crate) fn print_report() -> Result<(), Error> {
    print("cannery_info")
}

/// As [`print_report`]: the cards and the processes on them.
///
/// # Errors
///
/// As [`print_report`].
pub(crate) fn print_cards() -> Result<(), Error> {
    print("cannery_cards")
}

fn print(function: &str) -> Result<(), Error> {
    let answer = load_and_ask(function);
    let mut out = io::stdout().lock();
    match &answer {
        Ok(report) => out.write_all(report)?,
        Err(error) => write!(out, "{error}")?,
    }
    out.flush()?;
    answer.map(drop)
}

fn load_and_ask(function: &str) -> Result<Vec<u8>, Error> {
    report(&load()?, function)
}

/// Loads the library of this toolkit.
///
/// # Errors
///
/// There is none, or the loader refuses it.
pub(crate) fn load() -> Result<Library, Error> {
    let prefix = Prefix::of_this_tool()?;
    let path = prefix.library();
    // SAFETY: loading runs the library's initialisers. It is this toolkit's own
    // library, and this process has one thread and no other work.
    unsafe { Library::new(&path) }.map_err(|cause| {
        // The words of the loader are in the source.
        let words = std::error::Error::source(&cause)
            .map_or_else(|| cause.to_string(), ToString::to_string);
        Error::refusal(format!("cannot load {}: {words}", path.display()))
    })
}

fn report(library: &Library, function: &str) -> Result<Vec<u8>, Error> {
    // SAFETY: both names have exactly this signature in the library's header.
    let info = unsafe { library.get::<InfoFunction>(function) }.map_err(|cause| {
        Error::refusal(format!(
            "the library has no {function}, so it is not this toolkit's: {cause}"
        ))
    })?;
    let (mut code, mut report, needed) = call(*info, FIRST_SIZE);
    if needed > report.len() {
        (code, report, _) = call(*info, needed);
    }
    if code != 0 {
        return Err(Error::refusal(recent_text(library).unwrap_or_else(|| {
            format!("the library refuses with code {code}")
        })));
    }
    let end = report
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(report.len());
    report.truncate(end);
    Ok(report)
}

/// One call with room for `size` bytes: the code, the buffer, and the room that
/// the whole report needs.
fn call(info: InfoFunction, size: usize) -> (i32, Vec<u8>, usize) {
    let mut buffer = vec![0_u8; size];
    let mut needed = 0_usize;
    // SAFETY: the buffer has `size` writable bytes and `needed` is a valid
    // output; both outlive the call.
    let code = unsafe { info(buffer.as_mut_ptr().cast(), size, &raw mut needed) };
    (code, buffer, needed)
}

/// The library's text on its last failure in this thread.
pub(crate) fn recent_text(library: &Library) -> Option<String> {
    // SAFETY: the name has exactly this signature in the library's header.
    let function = unsafe { library.get::<RecentTextFunction>(b"aclGetRecentErrMsg\0") }.ok()?;
    // SAFETY: takes nothing; the answer is NULL or a string that stays valid
    // until the next failing call of this thread, and none follows.
    let text = unsafe { function() };
    if text.is_null() {
        return None;
    }
    // SAFETY: not NULL, so a terminated string, see above.
    let text = unsafe { CStr::from_ptr(text) };
    Some(undecorated(&text.to_string_lossy()).to_owned())
}

/// A text of the library without the codes and the function name around it,
/// which serve programs: `[EH0001] cannery_info: THE TEXT [NAME 100000]`.
fn undecorated(text: &str) -> &str {
    let text = text.trim();
    let name = "] cannery_info: ";
    let text = match text
        .split_once(name)
        .or(text.split_once("] cannery_cards: "))
    {
        Some((code, rest)) if code.starts_with('[') => rest,
        _ => text,
    };
    match text.rsplit_once(" [ACL_") {
        Some((rest, code)) if code.ends_with(']') => rest,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::undecorated;

    #[test]
    fn only_the_decoration_goes() {
        for (text, plain) in [
            (
                "[EH0001] cannery_info: A=b: no [x] [ACL_ERROR_INVALID_PARAM 100000]",
                "A=b: no [x]",
            ),
            ("A=b: no", "A=b: no"),
            ("[x] stays [y]", "[x] stays [y]"),
        ] {
            assert_eq!(undecorated(text), plain);
        }
    }
}
