//! `cannery doctor`: what will fail on this machine, what works but not as asked, and how to mend it.
//!
//! The verdict comes from doing: a child walks through the library (initialise, open a device,
//! allocate, copy both ways, end) under exactly this environment. The other lines explain.

mod elf;
mod loader;
mod machine;
mod place;
mod verdict;

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::arguments::DoctorOptions;
use crate::error::Error;
use cannery_knowledge::Language;

use crate::language::{language, said};
use crate::page::{Page, columns};
use crate::prefix::Prefix;
use crate::report::{self, Inquiry, Report};
use crate::style::{Palette, Style};
use verdict::{Status, Verdict};

/// Examines, and prints what was found.
///
/// # Errors
///
/// Something will fail (exit code 1). The findings are on standard output all the same.
pub(crate) fn examine(options: &DoctorOptions) -> Result<(), Error> {
    let findings = findings(options);
    let failing = findings
        .iter()
        .filter(|found| found.status == Status::Fail)
        .count();
    let text = if options.json {
        let checks: Vec<Value> = findings.iter().map(Verdict::as_json).collect();
        format!("{:#}\n", json!({ "ok": failing == 0, "checks": checks }))
    } else {
        as_text(&findings)
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    match failing {
        0 => Ok(()),
        1 => Err(Error::with_code("doctor: 1 check fails", Error::NEGATIVE)),
        _ => Err(Error::with_code(
            format!("doctor: {failing} checks fail"),
            Error::NEGATIVE,
        )),
    }
}

fn findings(options: &DoctorOptions) -> Vec<Verdict> {
    let mut found = Vec::new();
    let prefix = match Prefix::of_this_tool() {
        Ok(prefix) => {
            found.push(Verdict::ok("toolkit", prefix.root().display()));
            Some(prefix)
        }
        Err(error) => {
            found.push(
                Verdict::fail("toolkit", "none around this tool")
                    .because(error.to_string())
                    .remedy("install the wheel, or run `make build` in the source tree and use target/prefix/bin/cannery"),
            );
            None
        }
    };
    let report = prefix
        .is_some()
        .then(|| settings(options, &mut found))
        .flatten();
    if report.is_some() {
        found.push(walk(options));
    }
    found.extend(loader::examine(prefix.as_ref(), options.program.as_deref()));
    found.extend(machine::examine(report.as_ref()));
    found.push(place::examine());
    found
}

/// Has the library judge the settings.
fn settings(options: &DoctorOptions, found: &mut Vec<Verdict>) -> Option<Report> {
    match Inquiry::new(&options.settings) {
        Ok(inquiry) => {
            found.push(Verdict::ok("settings", inquiry.report.banner()));
            Some(inquiry.report)
        }
        Err(error) => {
            found.push(
                Verdict::fail("settings", "refused")
                    .because(error.to_string())
                    .remedy("correct or unset it; docs/settings.md lists all settings"),
            );
            None
        }
    }
}

/// The proof: the calls that every program makes.
fn walk(options: &DoctorOptions) -> Verdict {
    let name = "first calls";
    let remedy = "the lines below may tell why; `cannery explain` tells what the code means";
    match report::walk(&options.settings) {
        Ok(answer) => match answer["failed"].as_str() {
            Some(call) => Verdict::fail(name, format!("{call} answers {}", answer["code"]))
                .because(answer["text"].as_str().unwrap_or_default())
                .remedy(remedy),
            None => Verdict::ok(
                name,
                "init, device 0, 1 MiB of each memory, copied both ways, end",
            ),
        },
        Err(error) => Verdict::fail(name, "the library stopped")
            .because(error.to_string())
            .remedy(remedy),
    }
}

/// What was looked at, in Chinese. The names themselves are keys for programs (`--json`).
fn in_chinese_too(name: &'static str) -> &'static str {
    match name {
        "toolkit" => "工具包",
        "settings" => "设置",
        "first calls" => "最初的调用",
        "library" => "库",
        "program" => "程序",
        "kernel" => "内核",
        "lock limit" => "锁页上限",
        "memory limit" => "内存上限",
        "memory" => "内存",
        "address space" => "地址空间",
        "overcommit" => "超额承诺",
        "huge pages" => "大页",
        "open files" => "打开文件数",
        "file size" => "文件大小",
        "mappings" => "映射数",
        "runtime directory" => "运行时目录",
        _ => name,
    }
}

fn as_text(findings: &[Verdict]) -> String {
    let palette = Palette::of_output();
    let mut page = Page::new(palette);
    page.title(concat!("cannery doctor ", env!("CARGO_PKG_VERSION")));
    for finding in findings {
        let (word, chinese, style) = match finding.status {
            Status::Ok => ("ok  ", "正常", Style::Good),
            Status::Note => ("note", "提示", Style::Heading),
            Status::Warn => ("warn", "警告", Style::Doubtful),
            Status::Fail => ("fail", "失败", Style::Bad),
        };
        let (word, name) = match language() {
            Language::English => (word, finding.name),
            Language::Chinese => (chinese, in_chinese_too(finding.name)),
        };
        let gap = " ".repeat(18_usize.saturating_sub(columns(name)));
        page.marked(
            &palette.paint(style, word),
            &format!("{name}{gap}"),
            &said(&finding.found),
        );
        if !finding.why.is_empty() {
            page.item("        ", &said(&finding.why));
        }
        if !finding.remedy.is_empty() {
            page.item("        -> ", &said(&finding.remedy));
        }
    }
    page.finish()
}
