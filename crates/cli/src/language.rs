//! The language that this tool speaks: `CANNERY_LANG`, else the locale, as the library and `explain`
//! choose it. Help, errors of usage and tables (`info`, `smi`) are in English.

use std::borrow::Cow;
use std::env;

use cannery_knowledge::{Language, in_chinese};

/// The language of the environment.
pub(crate) fn language() -> Language {
    Language::of_environment(|name| env::var(name).ok())
}

/// A sentence in that language.
pub(crate) fn said(english: &str) -> Cow<'_, str> {
    match language() {
        Language::English => Cow::Borrowed(english),
        Language::Chinese => Cow::Owned(in_chinese(english)),
    }
}
