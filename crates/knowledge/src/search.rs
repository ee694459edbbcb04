//! From what somebody types to entries.

use crate::entry::Entry;
use crate::table::{codes, functions, messages};

/// Beginnings of names that may be left out, the longest first.
const PREFIXES: [&str; 5] = [
    "acl_error_rt_",
    "acl_error_ge_",
    "acl_error_",
    "acl_",
    "rt_",
];

/// How alike two names must be to be offered (0 nothing in common, 1 equal).
const ALIKE: f64 = 0.75;

/// Everything that the query names exactly: the whole of it, else each word of it (a pasted error
/// text), in its order and once. Empty when it names nothing.
#[must_use]
pub fn find(query: &str) -> Vec<Entry> {
    let whole = exact(query.trim());
    if !whole.is_empty() {
        return whole;
    }
    let mut found: Vec<Entry> = Vec::new();
    let words = query.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
    for word in words {
        let word = word.trim_matches('.');
        if !names_something_alone(word) {
            continue;
        }
        for entry in exact(word) {
            if found.iter().all(|seen| seen.name() != entry.name()) {
                found.push(entry);
            }
        }
    }
    found
}

/// Inside a text only full names and numbers of codes count: `0`, `free` and `timeout` are words
/// there.
fn names_something_alone(word: &str) -> bool {
    let number = word.len() == 6 && word.bytes().all(|byte| byte.is_ascii_digit());
    let lower = word.to_ascii_lowercase();
    number
        || lower.starts_with("acl")
        || lower.starts_with("hi_mpi")
        || messages().iter().any(|message| message.name == word)
}

/// Entries with exactly this name or number.
fn exact(word: &str) -> Vec<Entry> {
    if word.is_empty() {
        return Vec::new();
    }
    if let Ok(value) = word.parse::<i32>() {
        let same = codes().iter().filter(|code| code.value == value);
        return same.map(Entry::Code).collect();
    }
    let wanted = word.to_ascii_lowercase();
    let wanted = wanted.strip_suffix("()").unwrap_or(&wanted);
    let by_name: Vec<Entry> = all()
        .filter(|entry| entry.name().eq_ignore_ascii_case(wanted))
        .collect();
    if !by_name.is_empty() {
        return by_name;
    }
    let by_python: Vec<Entry> = functions()
        .iter()
        .filter(|function| function.python.iter().any(|name| name == wanted))
        .map(Entry::Function)
        .collect();
    if !by_python.is_empty() {
        return by_python;
    }
    all()
        .filter(|entry| short_names(entry.name()).any(|short| short == wanted))
        .collect()
}

/// Longer than any name.
const LONGEST: usize = 128;

/// The names that look most like the query, at most `count`, the most alike first.
#[must_use]
pub fn suggest(query: &str, count: usize) -> Vec<&'static str> {
    let wanted = query.trim().to_ascii_lowercase();
    // Nothing of that length looks like a name, and to find that out would take a time that grows with it.
    if wanted.len() > LONGEST {
        return Vec::new();
    }
    let mut scored: Vec<(f64, &'static str)> = Vec::new();
    let mut offer = |name: &'static str, likeness: f64| {
        if likeness >= ALIKE && scored.iter().all(|(_, seen)| *seen != name) {
            scored.push((likeness, name));
        }
    };
    for entry in all() {
        let names =
            std::iter::once(entry.name().to_ascii_lowercase()).chain(short_names(entry.name()));
        let best = names.map(|name| strsim::normalized_damerau_levenshtein(&wanted, &name));
        offer(entry.name(), best.fold(0.0, f64::max));
    }
    for function in functions() {
        for name in &function.python {
            offer(name, strsim::normalized_damerau_levenshtein(&wanted, name));
        }
    }
    if wanted.parse::<u64>().is_ok() {
        for code in codes() {
            let likeness = strsim::normalized_damerau_levenshtein(&wanted, &code.value.to_string());
            offer(&code.name, likeness);
        }
    }
    scored.sort_by(|left, right| right.0.total_cmp(&left.0));
    scored
        .into_iter()
        .take(count)
        .map(|(_, name)| name)
        .collect()
}

fn all() -> impl Iterator<Item = Entry> {
    let functions = functions().iter().map(Entry::Function);
    let messages = messages().iter().map(Entry::Message);
    codes()
        .iter()
        .map(Entry::Code)
        .chain(messages)
        .chain(functions)
}

/// Lower-case forms of a name with its beginning left out.
fn short_names(name: &str) -> impl Iterator<Item = String> {
    let lower = name.to_ascii_lowercase();
    let of_codes = PREFIXES.into_iter().filter_map({
        let lower = lower.clone();
        move |prefix| lower.strip_prefix(prefix).map(str::to_owned)
    });
    let of_functions = ["aclrt", "aclmdl", "acltdt", "acl"]
        .into_iter()
        .filter_map(move |prefix| lower.strip_prefix(prefix).map(str::to_owned))
        .filter(|short| !short.starts_with('_') && !short.is_empty());
    of_codes.chain(of_functions)
}
