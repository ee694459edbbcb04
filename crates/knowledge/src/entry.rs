//! The kinds of entries.

use crate::language::Language;

/// What a code means, in one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// What happened.
    pub meaning: String,
    /// Usual causes, the most likely first. Empty for message codes.
    pub causes: Vec<String>,
    /// What to do.
    pub remedy: String,
}

/// A return code under one of its names.
#[derive(Debug, Clone)]
pub struct Code {
    /// The number that a function returns.
    pub value: i32,
    /// The name in the headers.
    pub name: String,
    /// The page of `docs/` about its subject, such as `memory.md`.
    pub guide: String,
    pub(crate) english: Words,
    pub(crate) chinese: Words,
}

/// The code at the head of an error text.
#[derive(Debug, Clone)]
pub struct Message {
    /// Such as `EE1018`.
    pub name: String,
    /// What the placeholders of the text carry, in order.
    pub params: Vec<String>,
    /// Return codes that come with it, the usual one first; empty when Cannery has no such text.
    pub codes: Vec<i32>,
    /// The page of the manual; empty for codes that it does not have.
    pub manual: String,
    pub(crate) english: Words,
    pub(crate) chinese: Words,
}

/// A rule of a function, and the products that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Keys of [`crate::PRODUCTS`]; empty when the rule names none.
    pub products: Vec<String>,
    /// The rule.
    pub text: String,
}

/// A function of the interface.
#[derive(Debug, Clone)]
pub struct Function {
    /// The name in C.
    pub name: String,
    /// The chapter of the contract.
    pub chapter: String,
    /// One sentence.
    pub summary: String,
    /// The declaration in C.
    pub signature: String,
    /// The header that declares it.
    pub header: String,
    /// Its names in Python.
    pub python: Vec<String>,
    /// For each of [`crate::PRODUCTS`]: whether it has the function; `None` when no source says.
    pub products: [Option<bool>; 7],
    /// What the contract demands and promises.
    pub rules: Vec<Rule>,
    /// Return codes that the contract names for it; every function may answer others as well.
    pub codes: Vec<i32>,
    /// Whether the contract calls it experimental.
    pub experimental: bool,
    /// Whether the contract calls it deprecated.
    pub deprecated: bool,
    /// The page of the manual; empty when it has none.
    pub manual: String,
    /// `full`, `partial`, `untested` or `no`, as in `docs/coverage.md`.
    pub state: String,
    /// What is missing here, if anything.
    pub note: String,
}

impl Code {
    /// The words about it.
    #[must_use]
    pub fn words(&self, language: Language) -> &Words {
        match language {
            Language::English => &self.english,
            Language::Chinese => &self.chinese,
        }
    }
}

impl Message {
    /// The words about it.
    #[must_use]
    pub fn words(&self, language: Language) -> &Words {
        match language {
            Language::English => &self.english,
            Language::Chinese => &self.chinese,
        }
    }
}

/// One answer.
#[derive(Debug, Clone, Copy)]
pub enum Entry {
    /// A return code.
    Code(&'static Code),
    /// A message code.
    Message(&'static Message),
    /// A function.
    Function(&'static Function),
}

impl Entry {
    /// The name of the entry.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Code(code) => &code.name,
            Self::Message(message) => &message.name,
            Self::Function(function) => &function.name,
        }
    }
}
