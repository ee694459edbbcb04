//! Everything that the runtime and the doctor say has a Chinese form: the sentences are taken from their
//! source.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cannery_knowledge::{functions, in_chinese};

/// Files and sentences that are no text for a reader of error texts, and why.
const NO_TEXTS: [(&str, &str); 12] = [
    // Has its own Chinese form, beside the English one.
    ("error/shortage.rs", ""),
    ("error/language.rs", "[repeated "),
    // Beginnings, whose end comes from elsewhere: `{} failed earlier on this thread: {}` is known.
    ("error/no_device.rs", " failed earlier on this thread: "),
    ("error/fault.rs", "setting {bad}"),
    // What a model holds, for programs and people.
    ("graph/print.rs", ""),
    ("graph/trace.rs", ""),
    // Names and details of tasks in traces, which programs compare, as is what the log tells of copies.
    ("stream/task.rs", ""),
    ("kernel/run.rs", " with grid "),
    ("kernel/run.rs", "{bytes} bytes at {at:#x}"),
    ("log.rs", ""),
    // Names of inner operations that the contract demands.
    ("memory/async_copy.rs", "Memory copy type conversion"),
    ("memory/copy.rs", "Memory copy type conversion"),
];
const NO_TEXTS_EITHER: [(&str, &str); 11] = [
    // Has its own Chinese form.
    ("seeds/progress.rs", ""),
    ("memory/copy2d.rs", "Checking the synchronous memory copy"),
    // Attributes and assembler.
    ("ascendcl/src/face.rs", "Pointers are NULL or valid"),
    ("ascendcl/src/other.rs", "jmp {}"),
    // Put together with what follows or goes before; the whole is known.
    ("settings/parse.rs", " but {only}"),
    ("settings/parse.rs", "this part is not built yet"),
    ("doctor/loader.rs", ", the entries before have none"),
    ("cli/src/report.rs", "{count} devices"),
    ("cli/src/report.rs", "devices unknown"),
    ("cli/src/report.rs", " visible)"),
    ("cli/src/report.rs", "profile {}, {}, {} mode"),
];

fn sources(below: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(below).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
}

/// The string literals of a Rust file, without its tests and comments.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap();
    let mut found = Vec::new();
    let mut rest = source.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '/' if rest.peek() == Some(&'/') => {
                rest.by_ref().find(|&c| c == '\n');
            }
            '\'' => {
                // A character, or a lifetime: only quotes and backslashes matter here.
                let mut ahead = rest.clone();
                match (ahead.next(), ahead.next()) {
                    (Some('\\'), Some(_)) => {
                        rest.next();
                        rest.next();
                    }
                    (Some('"'), Some('\'')) => {
                        rest.next();
                    }
                    _ => {}
                }
            }
            '"' => found.push(literal(&mut rest)),
            _ => {}
        }
    }
    found
}

/// The rest of a literal, up to its closing quote.
fn literal(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(c) = rest.next() {
        match c {
            '"' => break,
            '\\' => match rest.next() {
                Some('\n') => while rest.next_if(|c| c.is_whitespace()).is_some() {},
                Some('n') => text.push('\n'),
                Some(other) => text.push(other),
                None => break,
            },
            other => text.push(other),
        }
    }
    text
}

/// A literal as the text that it makes: `{...}` becomes a value.
fn with_values(literal: &str) -> String {
    let literal = literal.replace("{{", "<").replace("}}", ">");
    let mut text = String::new();
    let mut rest = literal.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        text.push('7');
        rest = after.split_once('}').map_or("", |(_, behind)| behind);
    }
    text.push_str(rest);
    text
}

/// Words in small letters that stand alone, and not in quotes.
fn small_words(text: &str) -> Vec<String> {
    let unquoted: String = text
        .split(['"', '`'])
        .step_by(2)
        .collect::<Vec<_>>()
        .join(" ");
    let part_of_name = |c: char| c.is_ascii_alphanumeric() || "_-./=".contains(c);
    unquoted
        .split(|c: char| !part_of_name(c))
        .filter(|word| !word.starts_with('-'))
        .map(|word| word.trim_matches(['.', '-', '/']))
        .filter(|word| word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'))
        .map(str::to_owned)
        .collect()
}

/// Words that Chinese texts may keep.
fn kept() -> BTreeSet<String> {
    let terms = include_str!("../../../knowledge/terms.txt");
    let terms = terms.lines().filter(|line| !line.starts_with('#'));
    let arguments = functions().iter().flat_map(|function| {
        let words = function
            .signature
            .split(|c: char| !c.is_ascii_alphanumeric());
        words.map(str::to_owned)
    });
    terms.map(str::to_owned).chain(arguments).collect()
}

#[test]
fn every_sentence_has_its_chinese_form() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for below in [
        "runtime/src",
        "ascendcl/src",
        "cli/src/doctor",
        "cli/src/seeds",
    ] {
        sources(&crates.join(below), &mut files);
    }
    files.extend(
        ["prefix", "library", "report", "run", "error", "manners"]
            .map(|name| crates.join(format!("cli/src/{name}.rs"))),
    );
    let kept = kept();
    let mut judged = 0;
    let mut lacking = Vec::new();
    for path in files {
        let place = path.display().to_string();
        for literal in literals(&fs::read_to_string(&path).unwrap()) {
            let left_out = NO_TEXTS
                .iter()
                .chain(&NO_TEXTS_EITHER)
                .any(|(file, text)| place.ends_with(file) && literal.contains(text));
            let english = with_values(&literal);
            // A sentence has a space and small words of its own.
            let words = small_words(&english);
            if left_out || !english.trim().contains(' ') || words.iter().all(|w| kept.contains(w)) {
                continue;
            }
            judged += 1;
            let chinese = in_chinese(&english);
            let left: Vec<_> = small_words(&chinese)
                .into_iter()
                .filter(|word| !kept.contains(word))
                .collect();
            if !left.is_empty() {
                lacking.push(format!("{place}: {literal:?}: {left:?} of {chinese:?}"));
            }
        }
    }
    assert!(judged > 600, "only {judged} sentences were found");
    assert!(lacking.is_empty(), "{}", lacking.join("\n"));
}
