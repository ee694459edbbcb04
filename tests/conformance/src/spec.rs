//! The lines of `spec/conformance.jsonl`, with the chapter of their function.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde_json::Value;

const CONFORMANCE: &str = include_str!("../../../spec/conformance.jsonl");
const FUNCTIONS: &str = include_str!("../../../spec/functions.jsonl");

/// One line: a function, what is given, the call, and what must happen.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Name of the case.
    pub(crate) id: String,
    /// Function under test.
    pub(crate) function: String,
    /// Chapter of the function.
    pub(crate) chapter: String,
    /// State before the call.
    pub(crate) given: String,
    /// The call; when it lists several, the last one is judged.
    pub(crate) call: String,
    /// Expected code; `None` for functions that return no code.
    pub(crate) expect_code: Option<i64>,
    /// What else must hold.
    pub(crate) expect_effect: String,
    /// Tokens that the error text must contain.
    pub(crate) err_msg: String,
}

/// Chapter of the cases whose id starts with `x.`.
pub(crate) const OWN: &str = "own";

/// All lines, in file order.
pub(crate) fn lines() -> &'static [Line] {
    static LINES: OnceLock<Vec<Line>> = OnceLock::new();
    LINES.get_or_init(|| {
        let chapters = chapters();
        objects(CONFORMANCE)
            .map(|o| {
                let text = |key: &str| o[key].as_str().unwrap_or_default().to_owned();
                let function = text("function");
                let chapter = chapters.get(&function).cloned();
                Line {
                    id: text("id"),
                    chapter: chapter.unwrap_or_else(|| "unknown".to_owned()),
                    function,
                    given: text("given"),
                    call: text("call"),
                    expect_code: o["expect_code"].as_i64(),
                    expect_effect: text("expect_effect"),
                    err_msg: text("err_msg"),
                }
            })
            .collect()
    })
}

/// The line with this id.
pub(crate) fn line(id: &str) -> Option<&'static Line> {
    lines().iter().find(|line| line.id == id)
}

/// Functions of the chapters whose every function is part of the foundation:
/// a program that uses them must link.
pub(crate) fn foundation_functions() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let foundation = ["init", "device", "context", "device memory", "DVPP memory"];
        let mut names: Vec<String> = chapters()
            .into_iter()
            .filter(|(_, chapter)| foundation.contains(&chapter.as_str()))
            .map(|(name, _)| name)
            .collect();
        names.sort_unstable();
        names
    })
}

fn chapters() -> HashMap<String, String> {
    objects(FUNCTIONS)
        .filter_map(|o| {
            let name = o["name"].as_str()?.to_owned();
            let chapter = o["chapter"].as_str()?.to_owned();
            Some((name, chapter))
        })
        .collect()
}

fn objects(text: &'static str) -> impl Iterator<Item = Value> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| match serde_json::from_str(line) {
            Ok(value) => value,
            Err(error) => panic!("spec line is not JSON: {error}: {line}"),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_an_id_and_a_chapter() {
        assert_eq!(lines().len(), 615);
        for line in lines() {
            assert!(!line.id.is_empty());
            assert_ne!(line.chapter, "unknown", "{}", line.id);
            assert!(!line.call.is_empty(), "{}", line.id);
        }
    }

    #[test]
    fn ids_are_unique() {
        let mut ids: Vec<&str> = lines().iter().map(|l| l.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), lines().len());
    }
}
