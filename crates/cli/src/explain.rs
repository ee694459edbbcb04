//! `cannery explain`: what a code, a name, a function or a whole error text means.

use std::io::{self, Write};

use cannery_knowledge as knowledge;
use knowledge::{Code, Entry, Function, Language, Message, PRODUCTS};
use serde_json::{Value, json};

use crate::arguments::ExplainOptions;
use crate::error::Error;
use crate::language;
use crate::page::Page;
use crate::style::Palette;

/// The page of the manual that lists the return codes.
const CODE_MANUAL: &str = "api_ref/25-01_aclError.md";
/// Names offered when nothing fits.
const OFFERED: usize = 5;
/// Functions listed under a code before the rest is counted.
const LISTED: usize = 12;

/// Prints what the table knows.
///
/// # Errors
///
/// Nothing is known under this name (exit code 1; with `--json` the answer is printed all the same).
pub(crate) fn explain(options: &ExplainOptions) -> Result<(), Error> {
    let query = options.query.join(" ");
    let language = options.language.unwrap_or_else(language::language);
    let entries = knowledge::find(&query);
    let offers = if entries.is_empty() {
        knowledge::suggest(&query, OFFERED)
    } else {
        Vec::new()
    };
    let mut out = io::stdout().lock();
    if options.json {
        let results: Vec<Value> = entries
            .iter()
            .map(|entry| as_json(entry, language))
            .collect();
        let answer = json!({
            "query": query,
            "language": language.tag(),
            "results": results,
            "suggestions": offers,
        });
        writeln!(out, "{answer:#}")?;
    } else {
        let mut page = Page::new(Palette::of_output());
        for entry in &entries {
            match entry {
                Entry::Code(code) => code_page(&mut page, code, language),
                Entry::Message(message) => message_page(&mut page, message, language),
                Entry::Function(function) => function_page(&mut page, function, language),
            }
        }
        out.write_all(page.finish().as_bytes())?;
    }
    out.flush()?;
    if entries.is_empty() {
        return Err(Error::with_code(
            unknown(&query, &offers, language),
            Error::NEGATIVE,
        ));
    }
    Ok(())
}

fn unknown(query: &str, offers: &[&str], language: Language) -> String {
    let query = query.trim();
    match (language, offers.is_empty()) {
        (Language::English, true) => format!(
            "nothing is known about {query:?}; give a return code (107002), its name, a message code \
             (EE1018), a function (aclrtMalloc, acl.rt.malloc), or a whole error text in quotes"
        ),
        (Language::English, false) => {
            format!(
                "nothing is known about {query:?}; did you mean {}?",
                offers.join(", ")
            )
        }
        (Language::Chinese, true) => format!(
            "没有关于 {query:?} 的内容；请给出返回码（107002）、返回码名称、消息码（EE1018）、函数名\
             （aclrtMalloc、acl.rt.malloc），或用引号括起的完整错误文本"
        ),
        (Language::Chinese, false) => {
            format!(
                "没有关于 {query:?} 的内容；您是否要找 {}？",
                offers.join("、")
            )
        }
    }
}

/// A label in the language of the reader.
fn label(language: Language, english: &'static str, chinese: &'static str) -> &'static str {
    match language {
        Language::English => english,
        Language::Chinese => chinese,
    }
}

/// Functions whose rules name this code.
fn functions_naming(value: i32) -> Vec<&'static str> {
    let all = knowledge::functions().iter();
    all.filter(|function| function.codes.contains(&value))
        .map(|function| function.name.as_str())
        .collect()
}

fn code_page(page: &mut Page, code: &Code, language: Language) {
    let words = code.words(language);
    page.title(&format!("{} ({})", code.name, code.value));
    page.paragraph(&words.meaning);
    causes(page, &words.causes, language);
    page.heading(label(language, "What to do", "处理方法"));
    page.paragraph(&words.remedy);
    let functions = functions_naming(code.value);
    if !functions.is_empty() {
        page.heading(label(
            language,
            "Functions whose rules name it (others may answer it too)",
            "规则中提到它的函数（其他函数也可能返回）",
        ));
        page.paragraph(&shortened(&functions, language));
    }
    page.heading(label(language, "Read on", "更多信息"));
    page.paragraph(&format!(
        "docs/{}; {}",
        code.guide,
        manual(CODE_MANUAL, language)
    ));
}

fn causes(page: &mut Page, causes: &[String], language: Language) {
    page.heading(label(
        language,
        "Usual causes, the most likely first",
        "常见原因（按可能性排序）",
    ));
    for (number, cause) in causes.iter().enumerate() {
        page.item(&format!("  {}. ", number + 1), cause);
    }
}

fn shortened(names: &[&str], language: Language) -> String {
    let listed = names.get(..LISTED).unwrap_or(names).join(", ");
    match names.len().saturating_sub(LISTED) {
        0 => listed,
        more => format!(
            "{listed} {}",
            match language {
                Language::English => format!("and {more} more"),
                Language::Chinese => format!("等，另有 {more} 个"),
            }
        ),
    }
}

fn manual(page: &str, language: Language) -> String {
    match language {
        Language::English => format!("manual: {page}"),
        Language::Chinese => format!("手册：{page}"),
    }
}

/// The causes of the return codes that come with a message, those of the usual one first.
fn causes_of(message: &Message, language: Language) -> Vec<String> {
    let usual = message
        .codes
        .first()
        .and_then(|value| knowledge::code(*value));
    usual
        .map(|code| code.words(language).causes.clone())
        .unwrap_or_default()
}

fn message_page(page: &mut Page, message: &Message, language: Language) {
    let words = message.words(language);
    page.title(&message.name);
    page.paragraph(&words.meaning);
    let usual = causes_of(message, language);
    if !usual.is_empty() {
        causes(page, &usual, language);
    }
    page.heading(label(language, "What to do", "处理方法"));
    page.paragraph(&words.remedy);
    if !message.params.is_empty() {
        page.heading(label(language, "The text carries", "文本中包含"));
        page.paragraph(&message.params.join(", "));
    }
    if !message.codes.is_empty() {
        page.heading(label(language, "Comes with", "伴随的返回码"));
        codes(page, &message.codes, language);
    }
    if !message.manual.is_empty() {
        page.heading(label(language, "Read on", "更多信息"));
        page.paragraph(&manual(&message.manual, language));
    }
}

/// An item for each code.
fn codes(page: &mut Page, values: &[i32], language: Language) {
    for code in values.iter().filter_map(|value| knowledge::code(*value)) {
        page.item(
            "  ",
            &format!(
                "{} {}: {}",
                code.value,
                code.name,
                code.words(language).meaning
            ),
        );
    }
}

fn function_page(page: &mut Page, function: &Function, language: Language) {
    page.title(&function.name);
    page.paragraph(&function.summary);
    page.heading(label(language, "Declaration", "声明"));
    page.paragraph(&format!("{};", function.signature));
    page.paragraph(&format!("#include \"{}\"", include_path(&function.header)));
    if !function.python.is_empty() {
        page.paragraph(&format!("Python: {}", function.python.join(", ")));
    }
    page.heading(label(language, "Products", "产品支持"));
    page.paragraph(&products(function, language));
    for (set, english, chinese) in [
        (
            function.experimental,
            "Experimental: it may change.",
            "试验接口，后续可能变化。",
        ),
        (
            function.deprecated,
            "Deprecated: new code uses another function.",
            "已废弃，新代码请使用其他接口。",
        ),
    ] {
        if set {
            page.paragraph(label(language, english, chinese));
        }
    }
    page.heading(label(language, "In Cannery", "在 Cannery 中"));
    page.paragraph(&state(function, language));
    rules(page, function, language);
    if !function.codes.is_empty() {
        page.heading(label(
            language,
            "Return codes that the contract names (others are possible)",
            "规则中提到的返回码（也可能返回其他值）",
        ));
        codes(page, &function.codes, language);
    }
    page.heading(label(language, "Read on", "更多信息"));
    let chapter = match language {
        Language::English => format!("docs/coverage.md, chapter {}", function.chapter),
        Language::Chinese => format!("docs/coverage.md，章节 {}", function.chapter),
    };
    if function.manual.is_empty() {
        page.paragraph(&chapter);
    } else {
        page.paragraph(&format!(
            "{chapter}; {}",
            manual(&function.manual, language)
        ));
    }
}

fn include_path(header: &str) -> String {
    if header.starts_with("acl/") {
        header.to_owned()
    } else {
        format!("acl/{header}")
    }
}

fn products(function: &Function, language: Language) -> String {
    let with = |wanted: Option<bool>| -> Vec<&str> {
        let all = PRODUCTS.iter().zip(function.products);
        all.filter(|(_, has)| *has == wanted)
            .map(|((_, name), _)| *name)
            .collect()
    };
    let mut parts = Vec::new();
    for (wanted, english, chinese) in [
        (Some(true), "on", "支持"),
        (Some(false), "not on", "不支持"),
        (None, "no source says for", "没有资料说明"),
    ] {
        let names = with(wanted);
        if !names.is_empty() {
            parts.push(format!(
                "{} {}",
                label(language, english, chinese),
                names.join(", ")
            ));
        }
    }
    parts.join("; ")
}

fn state(function: &Function, language: Language) -> String {
    let state = match function.state.as_str() {
        "full" => label(language, "built", "已实现"),
        "partial" => label(language, "built in part", "部分实现"),
        "untested" => label(
            language,
            "built, without a case of its own yet",
            "已实现，尚无专门用例",
        ),
        _ => label(language, "not built: answers 207000", "未实现：返回 207000"),
    };
    if function.note.is_empty() {
        state.to_owned()
    } else {
        format!("{state}: {}", function.note)
    }
}

/// General rules first, then those that name products, under the names they give.
fn rules(page: &mut Page, function: &Function, language: Language) {
    let (general, special): (Vec<_>, Vec<_>) = function
        .rules
        .iter()
        .partition(|rule| rule.products.is_empty());
    if !general.is_empty() {
        page.heading(label(language, "Rules", "规则（英文）"));
    }
    for rule in general {
        page.item("  - ", &rule.text);
    }
    if !special.is_empty() {
        page.heading(label(
            language,
            "Rules that name products",
            "涉及具体产品的规则（英文）",
        ));
    }
    for rule in special {
        let names: Vec<&str> = PRODUCTS
            .iter()
            .filter(|(key, _)| rule.products.iter().any(|product| product == key))
            .map(|(_, name)| *name)
            .collect();
        page.item("  - ", &format!("[{}] {}", names.join(", "), rule.text));
    }
}

fn as_json(entry: &Entry, language: Language) -> Value {
    match entry {
        Entry::Code(code) => {
            let words = code.words(language);
            json!({
                "kind": "code",
                "code": code.value,
                "name": code.name,
                "meaning": words.meaning,
                "causes": words.causes,
                "remedy": words.remedy,
                "functions": functions_naming(code.value),
                "guide": format!("docs/{}", code.guide),
                "manual": CODE_MANUAL,
            })
        }
        Entry::Message(message) => {
            let words = message.words(language);
            json!({
                "kind": "message",
                "name": message.name,
                "meaning": words.meaning,
                "causes": causes_of(message, language),
                "remedy": words.remedy,
                "params": message.params,
                "codes": message.codes,
                "manual": or_null(&message.manual),
            })
        }
        Entry::Function(function) => function_json(function),
    }
}

fn function_json(function: &Function) -> Value {
    let products: serde_json::Map<String, Value> = PRODUCTS
        .iter()
        .zip(function.products)
        .map(|((_, name), has)| ((*name).to_owned(), Value::from(has)))
        .collect();
    let rules: Vec<Value> = function
        .rules
        .iter()
        .map(|rule| json!({ "products": rule.products, "text": rule.text }))
        .collect();
    json!({
        "kind": "function",
        "name": function.name,
        "summary": function.summary,
        "signature": function.signature,
        "header": include_path(&function.header),
        "python": function.python,
        "products": products,
        "rules": rules,
        "codes": function.codes,
        "experimental": function.experimental,
        "deprecated": function.deprecated,
        "chapter": function.chapter,
        "manual": or_null(&function.manual),
        "state": function.state,
        "note": function.note,
    })
}

fn or_null(text: &str) -> Value {
    if text.is_empty() {
        Value::Null
    } else {
        text.into()
    }
}
