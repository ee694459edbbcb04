//! What error texts must carry, after reports from users (docs/field-cases.md lists them): numbers and
//! names, never wording. Each case runs in English and in Chinese.

use super::support::*;

/// Registers a body once in each language.
macro_rules! both {
    ($list:ident, $id:literal, $setup:expr, $body:expr) => {
        for (id, language) in [(concat!($id, ".en"), "en"), (concat!($id, ".zh"), "zh")] {
            $list.push(case(id, $setup.env("CANNERY_LANG", language), $body));
        }
    };
}
pub(super) use both;

impl T {
    /// The pending text, which must carry all of this, as words of its own.
    pub(super) fn carries(&self, what: &str, tokens: &[&dyn std::fmt::Display]) -> String {
        let text = self.pending_text(what);
        for token in tokens {
            let token = token.to_string();
            let there = crate::expect::has_word(&text, &token);
            self.check(there, &format!("{what}: {token} is not in {text:?}"));
        }
        text
    }

    /// The pending text is one line, which came so many times.
    pub(super) fn folded(&self, what: &str, times: usize, tokens: &[&dyn std::fmt::Display]) {
        let text = self.carries(what, tokens);
        self.eq(text.lines().count(), 1, what);
        let end = text.rsplit('[').next().unwrap_or_default();
        self.check(
            crate::expect::has_word(end, &times.to_string()),
            &format!("{what}: the count {times} is not at the end of {text:?}"),
        );
    }

    /// A code that must come, without reading the text.
    pub(super) fn code(&self, code: aclError, want: i64, what: &str) {
        self.eq(i64::from(code), want, what);
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = super::text_shortages::cases();
    cases.extend(super::text_owners::cases());
    cases.extend(super::text_arguments::cases());
    cases
}
