//! `cannery explain`: offline answers, in two languages, for people and for machines.

mod common;

use common::{assert_refused, cannery, finish, stderr_of, stdout_of};
use serde_json::Value;

fn json(command: &mut std::process::Command) -> Value {
    serde_json::from_slice(&finish(command).stdout).expect("JSON")
}

fn is_chinese(text: &str) -> bool {
    text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
}

#[test]
fn a_code_is_explained_by_number_by_name_and_by_the_short_name() {
    let by_number = stdout_of(&mut cannery(["explain", "107002"]));
    for word in [
        "ACL_ERROR_RT_CONTEXT_NULL (107002)",
        "1. ",
        "aclrtSetDevice",
        "docs/devices-and-contexts.md",
    ] {
        assert!(by_number.contains(word), "{word}: {by_number}");
    }
    assert!(!by_number.contains('\x1b'), "no colours into a pipe");
    for name in [
        "ACL_ERROR_RT_CONTEXT_NULL",
        "rt_context_null",
        "context_null",
    ] {
        assert_eq!(stdout_of(&mut cannery(["explain", name])), by_number);
    }
}

#[test]
fn every_code_message_and_function_of_the_contract_has_an_answer() {
    let spec = |name: &str| -> Vec<Value> {
        let path = format!("{}/../../spec/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("the contract");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    };
    let mut names: Vec<String> = Vec::new();
    for row in spec("errors").iter().chain(&spec("functions")) {
        names.push(row["name"].as_str().expect("a name").to_owned());
    }
    assert_eq!(names.len(), 254 + 82 + 475);
    // All in one text: every word of it that is a name is explained, once.
    let mut command = cannery(["explain", "--json"]);
    let answer = json(command.arg(names.join(" ")));
    let results = answer["results"].as_array().expect("a list");
    let found: Vec<&str> = results
        .iter()
        .filter_map(|entry| entry["name"].as_str())
        .collect();
    for name in &names {
        assert!(found.contains(&name.as_str()), "{name}");
    }
    assert_eq!(found.len(), names.len());
    // Nothing of the contract is lost on the way: every rule, with the products that it names, every
    // product, in the answer for programs and on the page for people.
    for row in spec("functions") {
        let name = row["name"].as_str().expect("a name");
        let entry = results.iter().find(|entry| entry["name"] == name);
        let entry = entry.unwrap_or_else(|| panic!("{name}"));
        let told: Vec<&Value> = entry["rules"].as_array().expect("rules").iter().collect();
        let rules = row["constraints"].as_array().expect("constraints");
        assert_eq!(told.len(), rules.len(), "{name}");
        for rule in rules {
            let same = told.iter().find(|told| told["text"] == *rule);
            let same = same.unwrap_or_else(|| panic!("{name}: {rule}"));
            let products = same["products"].as_array().expect("products");
            let named = rule.as_str().is_some_and(|rule| rule.contains("IPV350"));
            assert_eq!(
                products.iter().any(|product| product == "IPV350"),
                named,
                "{rule}"
            );
        }
        for (product, has) in row["products"].as_object().expect("products") {
            let told = &entry["products"][product.to_uppercase()];
            assert_eq!(told, has, "{name} on {product}");
        }
    }
}

#[test]
fn message_codes_that_only_the_library_uses_are_explained_too() {
    // Seen at the head of texts, and in no list of the interface.
    for code in ["EL0004", "EH9999"] {
        for language in ["en", "zh"] {
            let page = stdout_of(&mut cannery(["explain", "--lang", language, code]));
            assert!(page.contains(code), "{page}");
            assert_eq!(is_chinese(&page), language == "zh", "{page}");
        }
    }
}

/// What stands in a page, whatever its line breaks.
fn flat(page: &str) -> String {
    page.split_whitespace().collect()
}

#[test]
fn the_page_of_a_function_has_every_rule() {
    let path = format!("{}/../../spec/functions.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the contract");
    let rows: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    let pages = flat(&stdout_of(cannery(["explain"]).arg(names.join(" "))));
    for row in &rows {
        for rule in row["constraints"].as_array().expect("constraints") {
            let rule = flat(rule.as_str().expect("a text"));
            assert!(pages.contains(&rule), "{}: {rule}", row["name"]);
        }
    }
}

#[test]
fn the_language_is_an_option_a_setting_or_the_locale() {
    let english = stdout_of(&mut cannery(["explain", "--lang", "en", "207001"]));
    assert!(!is_chinese(&english));
    let chinese = stdout_of(&mut cannery(["explain", "--lang", "zh", "207001"]));
    assert!(is_chinese(&chinese));
    for (name, value) in [("CANNERY_LANG", "zh"), ("LC_ALL", "zh_CN.UTF-8")] {
        let mut command = cannery(["explain", "207001"]);
        assert_eq!(stdout_of(command.env(name, value)), chinese, "{name}");
    }
    let mut command = cannery(["explain", "207001"]);
    command
        .env("LC_ALL", "zh_CN.UTF-8")
        .env("CANNERY_LANG", "en");
    assert_eq!(stdout_of(&mut command), english);
    // What both must carry.
    for word in [
        "207001",
        "CANNERY_QUOTA",
        "ulimit -l",
        "cannery smi",
        "docs/memory.md",
    ] {
        assert!(english.contains(word) && chinese.contains(word), "{word}");
    }
    assert_refused(
        &mut cannery(["explain", "--lang", "fr", "0"]),
        2,
        &["en or zh"],
    );
}

#[test]
fn a_function_tells_its_products_rules_and_codes() {
    let text = stdout_of(&mut cannery(["explain", "acl.rt.malloc_cached"]));
    for word in [
        "aclrtMallocCached",
        "Products",
        "Rules",
        "#include \"acl/acl_rt.h\"",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let answer = json(&mut cannery(["explain", "--json", "aclrtMalloc"]));
    let function = &answer["results"][0];
    assert_eq!(function["kind"], "function");
    assert_eq!(function["products"]["310B"], true);
    assert_eq!(function["state"], "full");
    let rules = function["rules"].as_array().expect("a list");
    assert!(
        rules
            .iter()
            .any(|rule| rule["products"] == serde_json::json!(["IPV350"]))
    );
    assert_eq!(function["codes"], serde_json::json!([207_001]));
}

#[test]
fn json_has_one_shape_for_every_answer() {
    let answer = json(&mut cannery([
        "explain", "EE1018", "--json", "--lang", "zh",
    ]));
    assert_eq!(
        (&answer["query"], &answer["language"]),
        (&"EE1018".into(), &"zh".into())
    );
    let message = &answer["results"][0];
    assert_eq!(message["kind"], "message");
    assert_eq!(message["codes"][0], 107_002);
    assert!(is_chinese(message["causes"][0].as_str().expect("a text")));
    let answer = json(&mut cannery(["explain", "0", "--json"]));
    assert_eq!(answer["results"].as_array().map(Vec::len), Some(3));
    let mut command = cannery(["explain", "--json", "aclrtMaloc"]);
    let output = finish(&mut command);
    assert_eq!(output.status.code(), Some(1));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON also then");
    assert_eq!(answer["results"], serde_json::json!([]));
    assert_eq!(answer["suggestions"][0], "aclrtMalloc");
}

#[test]
fn a_typo_is_answered_with_what_was_meant_and_exit_code_1() {
    assert_refused(
        &mut cannery(["explain", "--lang", "en", "aclrtMemcpyAsnc"]),
        1,
        &["did you mean aclrtMemcpyAsync"],
    );
    assert_refused(
        &mut cannery(["explain", "--lang", "zh", "contex_null"]),
        1,
        &["ACL_ERROR_RT_CONTEXT_NULL"],
    );
    assert_refused(
        &mut cannery(["explain", "xyzzyplugh"]),
        1,
        &["nothing is known", "107002"],
    );
    assert_refused(&mut cannery(["explain"]), 2, &["CODE|NAME|FUNCTION|TEXT"]);
}

#[test]
fn a_text_of_the_library_can_be_pasted_whole() {
    let program =
        "import acl, sys; acl.rt.malloc(16, 0); sys.stdout.write(acl.get_recent_err_msg())";
    let text = stdout_of(&mut cannery(["run", "-q", "--", "python3", "-c", program]));
    assert!(text.contains("107002"), "{text}");
    let answer = json(cannery(["explain", "--json"]).arg(&text));
    let names: Vec<_> = answer["results"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|entry| &entry["name"])
        .collect();
    for name in ["EE1018", "aclrtMalloc", "ACL_ERROR_RT_CONTEXT_NULL"] {
        assert!(
            names.iter().any(|found| *found == name),
            "{name} of {names:?}"
        );
    }
}

#[test]
fn no_toolkit_is_needed() {
    let scratch = common::Scratch::new("alone");
    let alone = scratch.path().join("cannery");
    common::copy_tool(&alone);
    let output = finish(std::process::Command::new(&alone).args(["explain", "107000"]));
    assert!(output.status.success(), "{}", stderr_of(&output));
}
