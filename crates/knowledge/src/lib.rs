//! What every return code, message code and function means, offline.
//!
//! # Glossary
//!
//! * **Table**: the files of `knowledge/`, built in. `codes.jsonl` and `messages.jsonl` are written
//!   by hand, as is `phrases.jsonl` (what the runtime says, in Chinese); `functions.jsonl` and
//!   `coverage.jsonl` are made from the contract and the code.
//! * **Entry**: one line of it: a return code under one name, a message code, or a function.
//! * **Query**: what somebody types or pastes: a number, a name with or without its prefix, in any
//!   case, a Python name, or a whole error text.
//!
//! # Contract
//!
//! * [`find`] answers exact matches in the order of the query; only where there is none,
//!   [`suggest`] offers names that look alike, the most alike first.
//! * Nothing here reads a file, the environment or the network. Any thread may call; the table is
//!   read once, on first use.
//! * Words about codes exist in every [`Language`]; those about functions in English only.

mod entry;
mod language;
mod phrases;
mod search;
mod table;

pub use entry::{Code, Entry, Function, Message, Rule, Words};
pub use language::Language;
pub use phrases::in_chinese;
pub use search::{find, suggest};
pub use table::{code, codes, function, functions, message, messages};

/// Products in the order of the documentation: the key of the table, and the name shown.
pub const PRODUCTS: [(&str, &str); 7] = [
    ("910", "910"),
    ("310p", "310P"),
    ("310b", "310B"),
    ("910b", "910B"),
    ("A3", "A3"),
    ("950", "950"),
    ("IPV350", "IPV350"),
];
