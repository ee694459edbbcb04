//! The table against the contract, and queries as people type them.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use cannery_knowledge::{
    Entry, Language, code, codes, find, function, functions, message, messages, suggest,
};
use serde_json::Value;

fn spec(name: &str) -> Vec<Value> {
    let path = format!("{}/../../spec/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn names(query: &str) -> Vec<&'static str> {
    find(query).iter().map(Entry::name).collect()
}

#[test]
fn every_return_code_is_explained_in_both_languages_by_number_and_by_name() {
    let rows: Vec<_> = spec("errors")
        .into_iter()
        .filter(|row| !row["value"].is_null())
        .collect();
    assert_eq!((rows.len(), codes().len()), (254, 254));
    for row in rows {
        let name = row["name"].as_str().unwrap();
        let value = row["value"].as_i64().unwrap();
        assert_eq!(names(name), [name]);
        assert!(names(&value.to_string()).contains(&name), "{value}");
        let Entry::Code(found) = find(name)[0] else {
            panic!("{name} is no code")
        };
        assert_eq!(i64::from(found.value), value);
        for language in [Language::English, Language::Chinese] {
            let words = found.words(language);
            assert!(
                !words.meaning.is_empty() && !words.remedy.is_empty(),
                "{name}"
            );
            assert!(!words.causes.is_empty(), "{name}");
        }
        assert_ne!(
            found.words(Language::English),
            found.words(Language::Chinese)
        );
    }
}

#[test]
fn every_message_code_is_explained_and_its_return_codes_exist() {
    let rows: Vec<_> = spec("errors")
        .into_iter()
        .filter(|row| row["value"].is_null())
        .collect();
    assert_eq!(rows.len(), 82);
    for row in &rows {
        let name = row["name"].as_str().unwrap();
        assert_eq!(names(name), [name]);
    }
    for entry in messages() {
        assert!(
            !entry.words(Language::Chinese).meaning.is_ascii(),
            "{}",
            entry.name
        );
        assert!(
            !entry.words(Language::English).meaning.is_empty(),
            "{}",
            entry.name
        );
        assert!(
            entry.codes.iter().all(|value| code(*value).is_some()),
            "{}",
            entry.name
        );
    }
    assert_eq!(message("EE1018").unwrap().codes[0], 107_002);
}

#[test]
fn every_function_has_its_rules_products_and_state() {
    let rows = spec("functions");
    assert_eq!((rows.len(), functions().len()), (475, 475));
    for row in rows {
        let name = row["name"].as_str().unwrap();
        let found = function(name).unwrap();
        let rules: BTreeSet<_> = found.rules.iter().map(|rule| rule.text.as_str()).collect();
        let wanted = row["constraints"].as_array().unwrap();
        assert_eq!(
            rules,
            wanted.iter().map(|rule| rule.as_str().unwrap()).collect(),
            "{name}"
        );
        for ((key, _), has) in cannery_knowledge::PRODUCTS.iter().zip(found.products) {
            assert_eq!(row["products"][key].as_bool(), has, "{name} on {key}");
        }
        assert!(
            ["full", "partial", "untested", "no"].contains(&found.state.as_str()),
            "{name}"
        );
        assert_eq!(names(name), [name]);
    }
    let align = function("aclrtMalloc").unwrap();
    let named = |product: &str| align.rules.iter().any(|rule| rule.products == [product]);
    assert!(named("950") && named("IPV350") && !named("310b"));
}

#[test]
fn short_names_python_names_and_any_case_are_understood() {
    assert_eq!(names("rt_context_null"), ["ACL_ERROR_RT_CONTEXT_NULL"]);
    assert_eq!(names("CONTEXT_NULL"), ["ACL_ERROR_RT_CONTEXT_NULL"]);
    assert_eq!(names("ACLRTMALLOC"), ["aclrtMalloc"]);
    assert_eq!(names("aclrtMalloc()"), ["aclrtMalloc"]);
    assert_eq!(names("acl.rt.malloc"), ["aclrtMalloc"]);
    assert_eq!(names("mallocHost"), ["aclrtMallocHost"]);
    assert_eq!(names("ee1018"), ["EE1018"]);
    assert_eq!(names("0").last(), Some(&"ACL_SUCCESS"));
}

#[test]
fn a_pasted_text_is_explained_part_by_part() {
    let text = "[EE1018] aclrtMalloc: this thread has no device; call aclrtSetDevice \
                [ACL_ERROR_RT_CONTEXT_NULL 107002]";
    assert_eq!(
        names(text),
        [
            "EE1018",
            "aclrtMalloc",
            "aclrtSetDevice",
            "ACL_ERROR_RT_CONTEXT_NULL"
        ]
    );
    assert!(names("the timeout was 0 and free 1000").is_empty());
}

#[test]
fn typos_find_their_name_first_and_nonsense_finds_nothing() {
    for (typo, meant) in [
        ("aclrtMaloc", "aclrtMalloc"),
        ("aclrtMemcyp", "aclrtMemcpy"),
        ("aclrtSetDevcie", "aclrtSetDevice"),
        ("ACL_ERROR_RT_CONTEX_NULL", "ACL_ERROR_RT_CONTEXT_NULL"),
        ("contxt_null", "ACL_ERROR_RT_CONTEXT_NULL"),
        ("acl.rt.maloc", "acl.rt.malloc"),
    ] {
        assert!(find(typo).is_empty(), "{typo}");
        assert_eq!(suggest(typo, 5).first(), Some(&meant), "{typo}");
    }
    assert!(
        suggest("107999", 5)
            .iter()
            .all(|name| !find(name).is_empty())
    );
    assert!(suggest("xyzzyplugh", 5).is_empty());
    assert_eq!(suggest("aclrtMallo", 2).len(), 2);
    // Of any length, at once.
    assert!(suggest(&"aclrtMalloc".repeat(1 << 16), 3).is_empty());
}

#[test]
fn every_name_is_found_with_a_letter_missing_doubled_or_two_in_the_wrong_order() {
    let all = codes().iter().map(|code| code.name.as_str());
    let all = all.chain(functions().iter().map(|function| function.name.as_str()));
    // One typo a name, in turns: there are many names.
    for (turn, name) in all.filter(|name| name.len() > 8).enumerate() {
        let middle = name.len() / 2;
        let (front, back) = name.split_at(middle);
        let letter = &back[..1];
        let typos = [
            format!("{front}{}", &back[1..]),
            format!("{front}{letter}{back}"),
            format!("{front}{}{letter}{}", &back[1..2], &back[2..]),
        ];
        let typo = &typos[turn % typos.len()];
        // A few typos are another name.
        if names(typo).is_empty() {
            let offered = suggest(typo, 5);
            assert!(
                offered.contains(&name),
                "{typo} offers {offered:?}, not {name}"
            );
        }
    }
}
