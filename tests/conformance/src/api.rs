//! The C functions under test; every text that a body reads is judged.

pub(crate) use cannery_test_calls::api::*;

use crate::texts;

/// The pending error text of this thread, which reading clears.
pub(crate) fn recent_text() -> Option<String> {
    let text = cannery_test_calls::api::recent_text();
    if let Some(text) = &text {
        texts::note(text);
    }
    text
}
