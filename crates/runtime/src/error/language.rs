//! The language of error texts.
//!
//! Chosen once for the process, by `CANNERY_LANG` or the locale. Codes, names of functions and
//! arguments, numbers and addresses are the same in both.

use std::sync::OnceLock;

use cannery_knowledge::{Language, in_chinese};

use super::Fault;

/// The language of this process. The first call reads the environment.
pub(crate) fn language() -> Language {
    static CHOSEN: OnceLock<Language> = OnceLock::new();
    *CHOSEN.get_or_init(|| Language::of_environment(|name| std::env::var(name).ok()))
}

/// What happened and what to do, in the language of this process.
pub(super) fn words_about(fault: &Fault) -> String {
    let mut words = String::new();
    fault.explain(&mut words);
    match (language(), fault) {
        (Language::English, _) => words,
        (Language::Chinese, Fault::Shortage(shortage)) => shortage.in_chinese(),
        (Language::Chinese, _) => in_chinese(&words),
    }
}

/// What is said of a text that came several times.
pub(super) fn repeated(times: u32) -> String {
    match language() {
        Language::English => format!("[repeated {times} times]"),
        Language::Chinese => format!("[重复 {times} 次]"),
    }
}
