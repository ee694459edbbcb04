//! The table, read once.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::PRODUCTS;
use crate::entry::{Code, Function, Message, Rule, Words};

const CODES: &str = include_str!("../../../knowledge/codes.jsonl");
const MESSAGES: &str = include_str!("../../../knowledge/messages.jsonl");
const FUNCTIONS: &str = include_str!("../../../knowledge/functions.jsonl");
const COVERAGE: &str = include_str!("../../../knowledge/coverage.jsonl");

static CODE_TABLE: LazyLock<Vec<Code>> = LazyLock::new(|| lines(CODES).map(read_code).collect());
static MESSAGE_TABLE: LazyLock<Vec<Message>> =
    LazyLock::new(|| lines(MESSAGES).map(read_message).collect());
static FUNCTION_TABLE: LazyLock<Vec<Function>> = LazyLock::new(|| {
    let states: HashMap<String, Value> = lines(COVERAGE)
        .map(|row| (text(&row, "function"), row))
        .collect();
    lines(FUNCTIONS)
        .map(|row| read_function(&row, states.get(&text(&row, "function"))))
        .collect()
});

/// All return codes; a number with several names comes once for each.
#[must_use]
pub fn codes() -> &'static [Code] {
    &CODE_TABLE
}

/// All message codes.
#[must_use]
pub fn messages() -> &'static [Message] {
    &MESSAGE_TABLE
}

/// All functions.
#[must_use]
pub fn functions() -> &'static [Function] {
    &FUNCTION_TABLE
}

/// A return code by its number: under its current name when it has several.
#[must_use]
pub fn code(value: i32) -> Option<&'static Code> {
    codes().iter().rfind(|code| code.value == value)
}

/// A message code by its name.
#[must_use]
pub fn message(name: &str) -> Option<&'static Message> {
    messages().iter().find(|message| message.name == name)
}

/// A function by its name in C.
#[must_use]
pub fn function(name: &str) -> Option<&'static Function> {
    functions().iter().find(|function| function.name == name)
}

/// The objects of a file. The files are part of this program; a line that is no JSON does not
/// pass `tools/gen_knowledge.py --check` and the tests of this crate, and is left out.
fn lines(file: &'static str) -> impl Iterator<Item = Value> {
    file.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
}

fn text(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap_or_default().to_owned()
}

fn texts(row: &Value, key: &str) -> Vec<String> {
    let items = row[key].as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn number(value: &Value) -> Option<i32> {
    value.as_i64().and_then(|value| i32::try_from(value).ok())
}

fn numbers(row: &Value, key: &str) -> Vec<i32> {
    let items = row[key].as_array().into_iter().flatten();
    items.filter_map(number).collect()
}

fn words(row: &Value, language: &str) -> Words {
    let row = &row[language];
    Words {
        meaning: text(row, "meaning"),
        causes: texts(row, "causes"),
        remedy: text(row, "remedy"),
    }
}

fn read_code(row: Value) -> Code {
    Code {
        value: number(&row["code"]).unwrap_or_default(),
        name: text(&row, "name"),
        guide: text(&row, "guide"),
        english: words(&row, "en"),
        chinese: words(&row, "zh"),
    }
}

fn read_message(row: Value) -> Message {
    Message {
        name: text(&row, "message"),
        params: texts(&row, "params"),
        codes: numbers(&row, "codes"),
        manual: text(&row, "manual"),
        english: words(&row, "en"),
        chinese: words(&row, "zh"),
    }
}

fn read_function(row: &Value, state: Option<&Value>) -> Function {
    let rules = row["rules"].as_array().into_iter().flatten();
    Function {
        name: text(row, "function"),
        chapter: text(row, "chapter"),
        summary: text(row, "summary"),
        signature: text(row, "signature"),
        header: text(row, "header"),
        python: texts(row, "python"),
        products: PRODUCTS.map(|(key, _)| row["products"][key].as_bool()),
        rules: rules
            .map(|rule| Rule {
                products: texts(rule, "products"),
                text: text(rule, "text"),
            })
            .collect(),
        codes: numbers(row, "codes"),
        experimental: row["experimental"].as_bool().unwrap_or_default(),
        deprecated: row["deprecated"].as_bool().unwrap_or_default(),
        manual: text(row, "manual"),
        state: state.map(|state| text(state, "state")).unwrap_or_default(),
        note: state.map(|state| text(state, "note")).unwrap_or_default(),
    }
}
