//! The object that a body talks to: it judges codes and texts and collects
//! what went wrong.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::expect::TextRule;
use crate::spec::Line;

/// Code of a repeated initialisation, the one failure without a text.
const REPEAT_INITIALIZE: i64 = 100_002;

/// Unwinds to the harness: the rest of the body makes no sense.
pub(crate) struct Abort(pub(crate) String);

/// Ends the body with this reason.
pub(crate) fn abort(reason: &str) -> ! {
    std::panic::panic_any(Abort(reason.to_owned()))
}

/// What the line expects and what has been seen so far.
pub(crate) struct T {
    line: Option<Line>,
    rule: TextRule,
    /// Reads and clears the calling thread's error text.
    text: fn() -> Option<String>,
    dir: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    failures: Vec<String>,
    judged: bool,
    random: u64,
}

/// Most failures that are kept of one case.
const MOST_FAILURES: usize = 20;

impl T {
    /// The object for one case. `line` is `None` for own cases; `dir` is the
    /// case's scratch directory.
    pub(crate) fn new(
        id: &str,
        line: Option<Line>,
        text: fn() -> Option<String>,
        dir: &Path,
    ) -> Self {
        let rule = TextRule::of_line(line.as_ref().map_or("", |l| &l.err_msg));
        let (rule, failures) = match rule {
            Ok(rule) => (rule, Vec::new()),
            Err(reason) => (TextRule::default(), vec![format!("err_msg: {reason}")]),
        };
        // Bytes differ between cases and repeat between runs.
        let seed = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self {
            line,
            rule,
            text,
            dir: dir.to_owned(),
            state: Mutex::new(State {
                failures,
                random: seed | 1,
                ..State::default()
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a failure; the body goes on.
    pub(crate) fn fail(&self, reason: impl Into<String>) {
        let mut state = self.state();
        if state.failures.len() < MOST_FAILURES {
            state.failures.push(reason.into());
        }
    }

    /// The failures so far, for the harness.
    pub(crate) fn finish(&self) -> Vec<String> {
        let mut failures = self.state().failures.clone();
        if self.line.is_some() && !self.state().judged && failures.is_empty() {
            failures.push("the body recorded no result for the line".to_owned());
        }
        failures
    }

    /// Judges the line's last call: its code, and its text on this thread.
    pub(crate) fn ret(&self, code: impl Into<i64>) {
        let code = code.into();
        let text = (self.text)();
        self.value(code);
        self.judge_text(code, text.as_deref(), &self.rule, "the call");
    }

    /// Judges a returned value that is no failure report (so no text is due),
    /// like the answer of `aclrtGetLastError`.
    pub(crate) fn value(&self, code: impl Into<i64>) {
        let code = code.into();
        self.state().judged = true;
        let Some(line) = &self.line else {
            return self.fail("an own case has no line to judge by");
        };
        match line.expect_code {
            Some(expected) if expected == code => {}
            Some(expected) => self.fail(format!(
                "{} returned {code}, expected {expected}",
                line.function
            )),
            None => self.fail(format!("{} has no code to judge", line.function)),
        }
    }

    /// Judges a text that the line's call itself returned.
    pub(crate) fn text(&self, text: Option<&str>) {
        self.state().judged = true;
        match text {
            Some(text) => {
                for missing in self.rule.missing(text) {
                    self.fail(format!("the text lacks {missing}: {text:?}"));
                }
            }
            None if !self.rule.is_empty() => self.fail("the text is NULL"),
            None => {}
        }
    }

    /// Says that the checks of the body are the result (for lines without a
    /// code).
    pub(crate) fn judged(&self) {
        self.state().judged = true;
    }

    fn judge_text(&self, code: i64, text: Option<&str>, rule: &TextRule, what: &str) {
        if code == 0 {
            return;
        }
        let Some(text) = text else {
            if code == REPEAT_INITIALIZE && rule.is_empty() {
                return;
            }
            return self.fail(format!("{what} failed with {code} and left no text"));
        };
        if text.trim().is_empty() {
            self.fail(format!("{what} failed with {code} and left an empty text"));
        }
        for missing in rule.missing(text) {
            self.fail(format!("the text of {what} lacks {missing}: {text:?}"));
        }
    }

    /// A call that must succeed, or nothing after it makes sense.
    pub(crate) fn ok(&self, code: impl Into<i64>, what: &str) {
        let code = code.into();
        if code != 0 {
            let text = (self.text)().unwrap_or_else(|| "no text".to_owned());
            abort(&format!("{what} returned {code}, expected 0 ({text})"));
        }
    }

    /// A call that must fail with this code and leave a text.
    pub(crate) fn fails(&self, code: impl Into<i64>, want: i64, what: &str) {
        self.fails_by(code.into(), want, &TextRule::default(), what);
    }

    /// A call that must fail with this code and a text with these tokens: what
    /// the lines' `err_msg` may have, and any other word or quoted phrase.
    pub(crate) fn fails_with(&self, code: impl Into<i64>, want: i64, tokens: &str, what: &str) {
        let rule = TextRule::of_case(tokens).unwrap_or_else(|reason| {
            self.fail(format!("the tokens {tokens:?} of {what}: {reason}"));
            TextRule::default()
        });
        self.fails_by(code.into(), want, &rule, what);
    }

    fn fails_by(&self, code: i64, want: i64, rule: &TextRule, what: &str) {
        let text = (self.text)();
        if want == 0 {
            self.fail(format!(
                "{what} is expected to fail with 0, which is success"
            ));
        }
        if code != want {
            let text = text.as_deref().unwrap_or("no text");
            self.fail(format!("{what} returned {code}, expected {want} ({text})"));
        }
        self.judge_text(code, text.as_deref(), rule, what);
    }

    /// The pending text, which must exist.
    pub(crate) fn pending_text(&self, what: &str) -> String {
        (self.text)().unwrap_or_else(|| abort(&format!("{what} left no text")))
    }

    /// Records a failure unless the condition holds.
    pub(crate) fn check(&self, holds: bool, what: &str) {
        if !holds {
            self.fail(what.to_owned());
        }
    }

    /// Records a failure unless both are equal.
    pub(crate) fn eq<V: PartialEq + Debug>(&self, got: V, want: V, what: &str) {
        if got != want {
            self.fail(format!("{what}: {got:?}, expected {want:?}"));
        }
    }

    /// Records a failure with the first difference unless the bytes are equal.
    pub(crate) fn same_bytes(&self, got: &[u8], want: &[u8], what: &str) {
        if got.len() != want.len() {
            self.fail(format!("{what}: {} of {} bytes", got.len(), want.len()));
        } else if let Some(at) = (0..got.len()).find(|&i| got[i] != want[i]) {
            self.fail(format!(
                "{what}: byte {at} is {:#04x}, expected {:#04x}",
                got[at], want[at]
            ));
        }
    }

    /// Scratch directory of the case, removed afterwards.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// A pseudo-random number, the same in every run.
    pub(crate) fn random(&self) -> u64 {
        let mut state = self.state();
        let mut x = state.random;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        state.random = x;
        x.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Pseudo-random bytes.
    pub(crate) fn random_bytes(&self, len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len + 8);
        while bytes.len() < len {
            bytes.extend_from_slice(&self.random().to_le_bytes());
        }
        bytes.truncate(len);
        bytes
    }
}
