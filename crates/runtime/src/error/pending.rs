//! What a thread remembers of refused calls: the last error and the pending texts.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use cannery_abi as abi;
use cannery_observe::{Event, emit};

use super::fault::Layer;
use super::{Error, Fault, language};

/// Texts kept until they are read; the oldest go first.
const KEPT: usize = 32;

thread_local! {
    static LAST: Cell<i32> = const { Cell::new(0) };
    static PENDING: RefCell<Pending> = const { RefCell::new(Pending::new()) };
    /// The text that the last reader got a pointer to.
    static SHOWN: RefCell<Option<CString>> = const { RefCell::new(None) };
}

/// `err_msg_mode` "1": texts belong to the process.
static PROCESS_MODE: AtomicBool = AtomicBool::new(false);
static SHARED: Mutex<Pending> = Mutex::new(Pending::new());

/// Texts, in the order in which each came last.
struct Pending {
    texts: Vec<Text>,
}

struct Text {
    text: String,
    /// How often it came.
    times: u32,
    rank: Rank,
}

/// Where a text stands: those of the first rank before all others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rank {
    Fault,
    /// What a loop hears that asks again and again, and has nothing to do with the failure that
    /// another thread looks for.
    Idle,
}

impl Rank {
    /// That of a code, where texts belong to the process. A thread's own are ranked by age alone.
    fn of(code: i32) -> Self {
        let idle = matches!(
            code,
            abi::ACL_ERROR_RT_REPORT_TIMEOUT
                | abi::ACL_ERROR_RT_THREAD_SUBSCRIBE
                | abi::ACL_ERROR_RT_QUEUE_EMPTY
        );
        if idle && PROCESS_MODE.load(Ordering::Relaxed) {
            Rank::Idle
        } else {
            Rank::Fault
        }
    }
}

impl Pending {
    const fn new() -> Self {
        Self { texts: Vec::new() }
    }

    /// A text that is pending already is counted and becomes the newest, so that a loop of failing
    /// calls does not push the others out.
    fn push(&mut self, text: String, rank: Rank) {
        let same = self.texts.iter().position(|pending| pending.text == text);
        let times = match same {
            Some(at) => self.texts.remove(at).times.saturating_add(1),
            None => 1,
        };
        if self.texts.len() == KEPT {
            let idle = self
                .texts
                .iter()
                .position(|pending| pending.rank == Rank::Idle);
            self.texts.remove(idle.unwrap_or(0));
        }
        self.texts.push(Text { text, times, rank });
    }

    /// Everything pending, newest first in each rank.
    fn take(&mut self) -> Option<String> {
        if self.texts.is_empty() {
            return None;
        }
        let (faults, idle): (Vec<_>, Vec<_>) = self
            .texts
            .drain(..)
            .rev()
            .partition(|pending| pending.rank == Rank::Fault);
        let lines = faults
            .into_iter()
            .chain(idle)
            .map(|pending| match pending.times {
                1 => pending.text,
                times => format!("{} {}", pending.text, language::repeated(times)),
            });
        Some(lines.collect::<Vec<_>>().join("\n"))
    }
}

fn with_pending<R>(act: impl FnOnce(&mut Pending) -> R) -> Option<R> {
    if PROCESS_MODE.load(Ordering::Relaxed) {
        return crate::patient::lock(&SHARED).map(|mut pending| act(&mut pending));
    }
    // A thread that is ending has no storage any more: then there is nobody to read either.
    PENDING
        .try_with(|pending| act(&mut pending.borrow_mut()))
        .ok()
}

/// Texts are shared by all threads from now on (init file: `err_msg_mode` "1"), or not.
pub fn set_process_mode(on: bool) {
    PROCESS_MODE.store(on, Ordering::Relaxed);
}

/// Records a refused call: text, last error, event. Returns the code for the caller.
#[cold]
pub fn record(api: &'static str, error: &Error) -> i32 {
    let code = error.code();
    if error.fault().layer() == Layer::Runtime {
        let _ = LAST.try_with(|last| last.set(code));
    }
    keep_text(api, error);
    code
}

/// As [`record`], for the few paths that do not store the last error.
#[cold]
pub fn record_silently(api: &'static str, error: &Error) -> i32 {
    keep_text(api, error);
    error.code()
}

fn keep_text(api: &'static str, error: &Error) {
    let code = error.code();
    if matches!(error.fault(), Fault::RepeatInit) {
        return;
    }
    let mut text = format!("[{}] {api}", error.fault().message_code());
    if let Some(stage) = error.stage() {
        text.push_str(" (");
        text.push_str(stage);
        text.push(')');
    }
    text.push_str(": ");
    text.push_str(&language::words_about(error.fault()));
    text.push_str(&format!(" [{} {code}]", code_name(code)));
    emit(|| Event::Refused { api, code });
    let _ = with_pending(|pending| pending.push(text, Rank::of(code)));
}

/// Name of a return code as programs write it.
#[must_use]
pub fn code_name(code: i32) -> &'static str {
    abi::code_name(code).unwrap_or("aclError")
}

/// The thread's last error of the lower layers; 0 when there is none.
#[must_use]
pub fn last_error() -> i32 {
    LAST.try_with(Cell::get).unwrap_or(0)
}

/// As [`last_error`], and forgets it.
pub fn take_last_error() -> i32 {
    LAST.try_with(|last| last.replace(0)).unwrap_or(0)
}

/// All pending texts, newest first, one a line; reading clears them. Where they belong to the process,
/// what waiting loops heard comes last. `None` when nothing is
/// pending. The pointer stays valid until the same thread reads again.
#[must_use]
pub fn recent_message() -> Option<*const core::ffi::c_char> {
    let text = with_pending(Pending::take).flatten()?;
    // A NUL inside a text could only come from a user's string; it must not cut the rest off.
    let text = CString::new(text.replace('\0', "?")).ok()?;
    SHOWN
        .try_with(|shown| {
            let mut shown = shown.borrow_mut();
            *shown = Some(text);
            shown.as_deref().map(CStr::as_ptr)
        })
        .ok()
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::{KEPT, Pending, Rank};

    #[test]
    fn repeats_are_counted_also_when_others_come_between() {
        let mut pending = Pending::new();
        for round in 0..1000 {
            pending.push("no memory".to_owned(), Rank::Fault);
            if round % 2 == 0 {
                pending.push("not captured".to_owned(), Rank::Fault);
            }
        }
        let text = pending.take().unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].starts_with("no memory") && lines[0].contains("1000"));
        assert!(lines[1].starts_with("not captured") && lines[1].contains("500"));
        assert_eq!(pending.take(), None);
    }

    #[test]
    fn the_oldest_text_goes_first() {
        let mut pending = Pending::new();
        for number in 0..KEPT + 2 {
            pending.push(format!("text {number}"), Rank::Fault);
        }
        pending.push("text 2".to_owned(), Rank::Fault);
        let text = pending.take().unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), KEPT);
        assert!(lines[0].starts_with("text 2 ["), "{text}");
        assert_eq!(lines.last(), Some(&"text 3"));
    }

    #[test]
    fn what_waiting_loops_heard_comes_last_and_goes_first() {
        let mut pending = Pending::new();
        pending.push("the cause".to_owned(), Rank::Fault);
        for number in 0..KEPT {
            pending.push(format!("nothing came {number}"), Rank::Idle);
        }
        pending.push("another".to_owned(), Rank::Fault);
        let text = pending.take().unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), KEPT);
        assert_eq!(lines[..3], ["another", "the cause", "nothing came 31"]);
        assert_eq!(lines.last(), Some(&"nothing came 2"));
    }
}
