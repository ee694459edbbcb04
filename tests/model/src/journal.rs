//! What a world has done: its calls, and the kinds of answers that came.

use std::collections::BTreeSet;

use crate::api;
use crate::model::Code;

/// Most calls that a failure shows.
const SHOWN: usize = 30;

/// See the module.
#[derive(Default)]
pub(crate) struct Journal {
    calls: Vec<String>,
    seen: BTreeSet<(String, Code)>,
}

impl Journal {
    /// Notes a call. Ends the run when the code is not right, or a failure has no text; the first word of `what`
    /// is the kind of the call.
    pub(crate) fn judge(&mut self, what: String, got: Code, right: Code) {
        let text = (got != 0).then(api::recent_text).flatten();
        self.calls.push(format!("{what} = {got}"));
        let call = what.split(' ').next().unwrap_or_default();
        self.seen.insert((call.to_owned(), got));
        assert!(
            got == right && (got == 0 || text.as_ref().is_some_and(|text| !text.is_empty())),
            "{what} answered {got}, right is {right}; its text: {text:?}\nlast steps:\n{}",
            self.last()
        );
    }

    /// The last calls, a line each.
    pub(crate) fn last(&self) -> String {
        self.calls[self.calls.len().saturating_sub(SHOWN)..].join("\n")
    }

    /// Kinds of answers.
    pub(crate) fn kinds(&self) -> usize {
        self.seen.len()
    }
}
