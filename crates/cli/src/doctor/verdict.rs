//! One finding.

use std::fmt::Display;

use serde_json::{Value, json};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// Nothing to say.
    Ok,
    /// Good to know.
    Note,
    /// Works, but not as asked, or not for every program.
    Warn,
    /// Something will fail.
    Fail,
}

/// What was looked at, what was found, why that matters, and what to do.
#[derive(Debug, Clone)]
pub(super) struct Verdict {
    pub(super) name: &'static str,
    pub(super) status: Status,
    pub(super) found: String,
    pub(super) why: String,
    pub(super) remedy: String,
}

impl Verdict {
    fn new(name: &'static str, status: Status, found: impl Display) -> Self {
        Self {
            name,
            status,
            found: found.to_string(),
            why: String::new(),
            remedy: String::new(),
        }
    }

    pub(super) fn ok(name: &'static str, found: impl Display) -> Self {
        Self::new(name, Status::Ok, found)
    }

    pub(super) fn note(name: &'static str, found: impl Display) -> Self {
        Self::new(name, Status::Note, found)
    }

    pub(super) fn warn(name: &'static str, found: impl Display) -> Self {
        Self::new(name, Status::Warn, found)
    }

    pub(super) fn fail(name: &'static str, found: impl Display) -> Self {
        Self::new(name, Status::Fail, found)
    }

    /// Adds why it matters.
    pub(super) fn because(mut self, why: impl Into<String>) -> Self {
        self.why = why.into();
        self
    }

    /// Adds what to do.
    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }

    /// For a machine.
    pub(super) fn as_json(&self) -> Value {
        let status = match self.status {
            Status::Ok => "ok",
            Status::Note => "note",
            Status::Warn => "warn",
            Status::Fail => "fail",
        };
        json!({
            "name": self.name,
            "status": status,
            "found": self.found,
            "why": self.why,
            "remedy": self.remedy,
        })
    }
}
