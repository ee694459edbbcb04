//! What every error text must have, whatever it says: which function failed, in a form that people
//! and programs find again, which code it returned, and words in the language of the process.
//!
//! Every text that a case reads is judged, and what is still pending at its end. The run with `--texts zh`
//! makes the cases fail in Chinese and judges the texts alone, those that threads leave behind as well:
//! bodies may look for English words, which is then no failure.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use serde_json::Value;

use crate::api;
use crate::expect::is_message_code;

const FUNCTIONS: &str = include_str!("../../../spec/functions.jsonl");
const STRUCTS: &str = include_str!("../../../spec/structs.jsonl");
const EXTRA: &str = include_str!("../../../spec/extra_exports.jsonl");
/// Words that Chinese texts keep.
const TERMS: &str = include_str!("../../../knowledge/terms.txt");

/// Names that cases give to what they make or look for, and that of this program, which texts repeat.
const GIVEN: [&str; 11] = [
    "add",
    "banana",
    "cannery-conform",
    "cleaner",
    "environ",
    "first",
    "malloc",
    "no",
    "second",
    "such",
    "variable",
];

static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Remembers the lines of a text that was read.
pub(crate) fn note(text: &str) {
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    seen.extend(text.lines().map(str::to_owned));
}

/// Whether texts are all that is judged.
static ALONE: AtomicBool = AtomicBool::new(false);

/// Texts are all that is judged: threads read what they leave behind, which bodies could notice.
pub(crate) fn judge_alone() {
    ALONE.store(true, Ordering::Relaxed);
}

/// A thread of a body ends.
pub(crate) fn thread_ends() {
    if ALONE.load(Ordering::Relaxed) {
        drain();
    }
}

/// Reads what is pending on this thread.
fn drain() {
    if api::is_open() {
        api::recent_text();
    }
}

/// The language of this process's texts, as the cases choose it.
pub(crate) fn language() -> &'static str {
    match std::env::var("CANNERY_LANG").as_deref() {
        Ok("zh") => "zh",
        _ => "en",
    }
}

/// Number of different texts, and what they lack.
pub(crate) fn judge() -> (usize, Vec<String>) {
    drain();
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let lacking = seen.iter().filter_map(|text| {
        let what = complaint(text, language())?;
        Some(format!("a text {what}: {text:?}"))
    });
    (seen.len(), lacking.collect())
}

/// What is wrong with a text: `[EE1011] FUNCTION (STAGE): WORDS [NAME CODE]`.
fn complaint(text: &str, language: &str) -> Option<String> {
    let Some((code, rest)) = text
        .strip_prefix('[')
        .and_then(|text| text.split_once("] "))
    else {
        return Some("does not begin with a message code".to_owned());
    };
    if !is_message_code(code) {
        return Some(format!("has the message code {code}"));
    }
    let Some((head, rest)) = rest.split_once(": ") else {
        return Some("names no function".to_owned());
    };
    let function = head.split(' ').next().unwrap_or_default();
    if !NAMES.contains(function) && !function.starts_with("cannery_") {
        return Some(format!("names {function:?}, which is no function"));
    }
    let mut words = rest;
    let mut times = "";
    for mark in [" [repeated ", " [重复 "] {
        if let Some((before, after)) = words.rsplit_once(mark) {
            (words, times) = (before, after);
        }
    }
    let Some((words, end)) = words.rsplit_once(" [") else {
        return Some("does not end with its return code".to_owned());
    };
    let end = end.trim_end_matches(']').split_once(' ');
    let Some((name, number)) = end.filter(|(_, number)| number.parse::<i32>().is_ok()) else {
        return Some("does not end with its return code".to_owned());
    };
    let named = number
        .parse()
        .ok()
        .and_then(cannery_abi::code_name)
        .unwrap_or("aclError");
    if named != name {
        return Some(format!("calls {number} {name}"));
    }
    if words.trim().is_empty() {
        return Some("says nothing".to_owned());
    }
    let chinese = words.chars().any(is_chinese);
    match language {
        "zh" if !chinese || times.contains("times") => Some("is not Chinese".to_owned()),
        "zh" => {
            let left = english(words);
            (!left.is_empty()).then(|| format!("keeps {left:?} in English"))
        }
        _ if chinese => Some("has Chinese in it".to_owned()),
        _ => None,
    }
}

fn is_chinese(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

/// Words in small letters that are neither quoted, nor part of a name, nor kept in Chinese.
fn english(text: &str) -> Vec<&str> {
    let part_of_name = |c: char| c.is_ascii_alphanumeric() || "_-./=\\".contains(c);
    let unquoted = text.split(['"', '“', '”']).step_by(2);
    unquoted
        .flat_map(|text| text.split(move |c: char| !part_of_name(c)))
        .map(|word| word.trim_matches(['.', '-', '/']))
        .filter(|word| word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'))
        .filter(|word| !KEPT.contains(*word) && !GIVEN.contains(word))
        .collect()
}

fn objects(file: &'static str) -> impl Iterator<Item = Value> {
    file.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
}

/// Every function that may fail.
static NAMES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let rows = objects(FUNCTIONS).chain(objects(EXTRA));
    rows.filter_map(|row| row["name"].as_str().map(str::to_owned))
        .collect()
});

/// Terms, and the names of arguments and members.
static KEPT: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let terms = TERMS.lines().filter(|line| !line.starts_with('#'));
    let names = objects(FUNCTIONS)
        .flat_map(|row| names_in(&row["params"]))
        .chain(objects(STRUCTS).flat_map(|row| names_in(&row["fields"])));
    terms.map(str::to_owned).chain(names).collect()
});

/// The words of the names in a list.
fn names_in(list: &Value) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items
        .filter_map(|item| item["name"].as_str())
        .flat_map(|name| name.split(|c: char| !c.is_ascii_alphanumeric()))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::complaint;

    const GOOD: &str =
        "[EE1011] aclrtFree: argument devPtr is 0x1000: wild [ACL_ERROR_RT_PARAM_INVALID 107000]";
    const CHINESE: &str =
        "[EE1011] aclrtFree: 参数 devPtr 的值为 0x1000：野指针 [ACL_ERROR_RT_PARAM_INVALID 107000]";

    #[test]
    fn a_text_with_everything_is_good_in_its_language_only() {
        assert_eq!(complaint(GOOD, "en"), None);
        assert_eq!(complaint(CHINESE, "zh"), None);
        assert_eq!(complaint(&format!("{CHINESE} [重复 3 次]"), "zh"), None);
        assert!(complaint(GOOD, "zh").is_some());
        assert!(complaint(CHINESE, "en").is_some());
        assert!(complaint(&format!("{CHINESE} [repeated 3 times]"), "zh").is_some());
    }

    #[test]
    fn what_a_text_lacks_is_told() {
        for (good, bad, what) in [
            ("[EE1011] ", "", "message code"),
            ("EE1011", "E1011", "message code"),
            ("aclrtFree", "aclrtFrei", "no function"),
            (" [ACL_ERROR_RT_PARAM_INVALID 107000]", "", "return code"),
            ("107000", "107001", "calls 107001"),
            ("argument devPtr is 0x1000: wild", " ", "says nothing"),
        ] {
            let told = complaint(&GOOD.replace(good, bad), "en").unwrap_or_default();
            assert!(told.contains(what), "{bad:?}: {told}");
        }
        let mixed = CHINESE.replace("野指针", "野指针, freed already");
        let told = complaint(&mixed, "zh").unwrap_or_default();
        assert!(told.contains("freed") && told.contains("already"), "{told}");
    }
}
