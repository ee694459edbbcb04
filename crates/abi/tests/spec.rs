//! Compares every item of this crate with `spec/`, line by line, in both directions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cannery_abi::{
    CALLBACKS, CODES, ENUMS, HANDLES, LAYOUTS, MESSAGES, SCALARS, code_fact, code_name,
    message_fact,
};
use serde_json::Value;

/// The objects of one spec file, by name. Names are unique in every file.
fn spec(file: &str) -> BTreeMap<String, Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../spec")
        .join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut rows = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let row: Value =
            serde_json::from_str(line).unwrap_or_else(|e| panic!("{file}:{}: {e}", number + 1));
        let name = text_of(&row, "name").to_owned();
        assert!(
            rows.insert(name, row).is_none(),
            "{file}:{}: name twice",
            number + 1
        );
    }
    rows
}

/// Rows of structs.jsonl of the given kinds.
fn types(kinds: &[&str]) -> BTreeMap<String, Value> {
    let mut rows = spec("structs.jsonl");
    rows.retain(|_, row| kinds.contains(&text_of(row, "kind")));
    rows
}

fn text_of<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key]
        .as_str()
        .unwrap_or_else(|| panic!("{key} of {row}"))
}

fn number_of(row: &Value, key: &str) -> usize {
    let number = row[key]
        .as_u64()
        .unwrap_or_else(|| panic!("{key} of {row}"));
    usize::try_from(number).expect("fits")
}

/// The include path of a row's header.
fn header_of(row: &Value) -> String {
    match row["header"].as_str() {
        None => "manual only".to_owned(),
        Some(header) if header.starts_with("acl/") => header.to_owned(),
        Some(header) => format!("acl/{header}"),
    }
}

/// Fails unless the table's names are exactly those of the spec, each once.
fn same_names<'a>(
    table: impl Iterator<Item = &'a str>,
    rows: &BTreeMap<String, Value>,
    count: usize,
) {
    let names: Vec<&str> = table.collect();
    let unique: BTreeSet<&str> = names.iter().copied().collect();
    let wanted: BTreeSet<&str> = rows.keys().map(String::as_str).collect();
    assert_eq!(
        names.len(),
        unique.len(),
        "a name stands twice in the table"
    );
    assert_eq!(unique, wanted);
    assert_eq!(names.len(), count);
}

#[test]
fn enum_values_and_constants_equal_the_spec() {
    let rows = spec("enums.jsonl");
    same_names(ENUMS.iter().map(|e| e.name), &rows, 528);
    for fact in &ENUMS {
        let row = &rows[fact.name];
        assert_eq!(Some(fact.value), row["value"].as_i64(), "{}", fact.name);
        assert_eq!(fact.group, text_of(row, "enum"), "{}", fact.name);
        assert_eq!(fact.c_type, text_of(row, "type"), "{}", fact.name);
        assert_eq!(fact.meaning, text_of(row, "meaning"), "{}", fact.name);
        assert_eq!(fact.header, header_of(row), "{}", fact.name);
    }
    let enumerators = ENUMS.iter().filter(|e| e.c_type == "enum").count();
    assert_eq!((enumerators, ENUMS.len() - enumerators), (437, 91));
}

#[test]
fn codes_equal_the_spec() {
    let mut rows = spec("errors.jsonl");
    rows.retain(|_, row| !row["value"].is_null());
    same_names(CODES.iter().map(|c| c.name), &rows, 254);
    for fact in &CODES {
        let row = &rows[fact.name];
        assert_eq!(
            Some(i64::from(fact.value)),
            row["value"].as_i64(),
            "{}",
            fact.name
        );
        assert_eq!(Some(fact.old), row["deprecated"].as_bool(), "{}", fact.name);
        assert_eq!(fact.meaning, text_of(row, "meaning"), "{}", fact.name);
        assert_eq!(
            fact.remedy,
            row["remedy"].as_str().unwrap_or(""),
            "{}",
            fact.name
        );
        assert_eq!(fact.header, header_of(row), "{}", fact.name);
    }
}

#[test]
fn every_code_has_one_name_to_print() {
    let mut canonical = BTreeMap::new();
    for fact in CODES.iter().filter(|c| !c.alias) {
        let earlier = canonical.insert(fact.value, fact.name);
        assert_eq!(earlier, None, "{} has two names to print", fact.value);
    }
    for fact in &CODES {
        assert_eq!(code_name(fact.value), Some(canonical[&fact.value]));
        let found = code_fact(fact.value).expect("a known code");
        assert_eq!(found.value, fact.value);
    }
    assert_eq!(code_name(0), Some("ACL_SUCCESS"));
    assert_eq!(code_name(207001), Some("ACL_ERROR_RT_MEMORY_ALLOCATION"));
    for unknown in [-1, 1, 99_999, 100_999, i32::MIN, i32::MAX] {
        assert_eq!(code_name(unknown), None);
        assert_eq!(code_fact(unknown), None);
    }
}

#[test]
fn message_codes_equal_the_spec() {
    let mut rows = spec("errors.jsonl");
    rows.retain(|_, row| row["value"].is_null());
    same_names(MESSAGES.iter().map(|m| m.name), &rows, 82);
    for fact in MESSAGES {
        let row = &rows[fact.name];
        assert_eq!(fact.group, text_of(row, "group"), "{}", fact.name);
        assert_eq!(fact.meaning, text_of(row, "meaning"), "{}", fact.name);
        assert_eq!(
            fact.remedy,
            row["remedy"].as_str().unwrap_or(""),
            "{}",
            fact.name
        );
        let params: Vec<&str> = row["params"]
            .as_array()
            .expect("params")
            .iter()
            .map(|p| p.as_str().expect("text"))
            .collect();
        assert_eq!(fact.params, params, "{}", fact.name);
        assert_eq!(message_fact(fact.name), Some(fact));
    }
    assert_eq!(message_fact("EE9999999"), None);
}

#[test]
fn layouts_equal_the_spec() {
    let rows = types(&["struct", "union"]);
    same_names(LAYOUTS.iter().map(|l| l.name), &rows, 60);
    for fact in &LAYOUTS {
        let row = &rows[fact.name];
        assert_eq!(fact.kind, text_of(row, "kind"), "{}", fact.name);
        assert_eq!(fact.size, number_of(row, "size"), "size of {}", fact.name);
        assert_eq!(
            fact.align,
            number_of(row, "align"),
            "align of {}",
            fact.name
        );
        assert_eq!(fact.header, header_of(row), "{}", fact.name);
        let fields = row["fields"].as_array().expect("fields");
        assert_eq!(fact.fields.len(), fields.len(), "fields of {}", fact.name);
        for (have, want) in fact.fields.iter().zip(fields) {
            let place = format!("{}.{}", fact.name, have.name);
            assert_eq!(have.name, text_of(want, "name"), "{place}");
            assert_eq!(have.c_type, text_of(want, "type"), "{place}");
            assert_eq!(have.offset, number_of(want, "offset"), "offset of {place}");
            assert_eq!(have.size, number_of(want, "size"), "size of {place}");
        }
    }
}

#[test]
fn handles_equal_the_spec() {
    let rows = types(&["opaque"]);
    same_names(HANDLES.iter().map(|h| h.name), &rows, 35);
    for fact in &HANDLES {
        let row = &rows[fact.name];
        assert_eq!(fact.target, text_of(row, "target"), "{}", fact.name);
        assert_eq!(fact.header, header_of(row), "{}", fact.name);
        // A pointer type has a size in the spec, an incomplete struct has none.
        assert_eq!(
            fact.target == "void *",
            row["size"].as_u64() == Some(8),
            "{}",
            fact.name
        );
    }
    assert_eq!(size_of::<cannery_abi::aclrtStream>(), 8);
    assert_eq!(size_of::<*mut cannery_abi::aclDataBuffer>(), 8);
}

#[test]
fn scalars_equal_the_spec() {
    let rows = types(&["scalar"]);
    same_names(SCALARS.iter().map(|s| s.name), &rows, 6);
    for fact in SCALARS {
        let row = &rows[fact.name];
        assert_eq!(fact.target, text_of(row, "target"), "{}", fact.name);
        assert_eq!(fact.header, header_of(row), "{}", fact.name);
        if row["size"].is_null() {
            assert_eq!(fact.name, "hi_void", "only this one has no size in C");
        } else {
            assert_eq!(fact.size, number_of(row, "size"), "{}", fact.name);
            assert_eq!(fact.align, number_of(row, "align"), "{}", fact.name);
        }
    }
}

/// The Rust spelling that a C type of a callback must have; a list of its own, so that a slip
/// of the generator's mapping shows.
fn rust_spelling(c_type: &str) -> &str {
    match c_type {
        "void" => "",
        "void *" => "*mut c_void",
        "const char *" => "*const c_char",
        "size_t" => "usize",
        "int32_t" => "i32",
        "uint32_t" => "u32",
        "aclrtExceptionInfo *" => "*mut aclrtExceptionInfo",
        named if named.starts_with("acl") && !named.contains(['*', ' ']) => named,
        other => panic!("C type {other} is new to this test"),
    }
}

#[test]
fn callbacks_equal_the_spec() {
    let rows = types(&["fnptr"]);
    same_names(CALLBACKS.iter().map(|c| c.name), &rows, 14);
    for fact in CALLBACKS {
        let row = &rows[fact.name];
        assert_eq!(fact.size, number_of(row, "size"), "{}", fact.name);
        assert_eq!(fact.header, header_of(row), "{}", fact.name);
        assert_eq!(
            fact.returns,
            rust_spelling(text_of(row, "returns")),
            "{}",
            fact.name
        );
        let params: Vec<(&str, &str)> = row["params"]
            .as_array()
            .expect("params")
            .iter()
            .map(|p| (text_of(p, "name"), rust_spelling(text_of(p, "type"))))
            .collect();
        assert_eq!(fact.params, params, "{}", fact.name);
    }
}
