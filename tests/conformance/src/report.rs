//! The table, the failing ids and the list.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;

use crate::case::Case;
use crate::options::Options;
use crate::runner::{self, Outcome, Plan};
use crate::{api, cases, spec};

/// Prints one line; a closed pipe is no reason to fail.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Counts of one chapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Row {
    total: usize,
    passed: usize,
    failed: usize,
    not_built: usize,
}

impl Row {
    fn add(&mut self, other: Self) {
        self.total += other.total;
        self.passed += other.passed;
        self.failed += other.failed;
        self.not_built += other.not_built;
    }
}

fn chapter_of(id: &str) -> &'static str {
    spec::line(id).map_or(spec::OWN, |line| line.chapter.as_str())
}

/// Registered cases that the options select.
fn selected(options: &Options) -> Vec<Case> {
    cases::all()
        .into_iter()
        .filter(|case| options.selects(case.id, chapter_of(case.id)))
        .collect()
}

/// Ids of lines that no case implements, with their chapters.
fn not_built(options: &Options) -> Vec<(&'static str, &'static str)> {
    let cases = cases::all();
    spec::lines()
        .iter()
        .filter(|line| !cases.iter().any(|case| case.id == line.id))
        .filter(|line| options.selects(&line.id, &line.chapter))
        .map(|line| (line.id.as_str(), line.chapter.as_str()))
        .collect()
}

/// Prints every selected id with its chapter and state.
pub(crate) fn list(options: &Options) -> ExitCode {
    let built = selected(options);
    let missing = not_built(options);
    for case in &built {
        line(&format!(
            "built          {:24} {}",
            chapter_of(case.id),
            case.id
        ));
    }
    for (id, chapter) in &missing {
        line(&format!("not built yet  {chapter:24} {id}"));
    }
    line(&format!(
        "{} built, {} not built yet",
        built.len(),
        missing.len()
    ));
    ExitCode::SUCCESS
}

/// Runs the selected cases and prints table, failures and the last line.
pub(crate) fn run(options: &Options) -> ExitCode {
    let prefix = match std::path::absolute(&options.prefix) {
        Ok(prefix) => prefix,
        Err(error) => return cannot_start(&format!("bad prefix: {error}")),
    };
    let library = api::main_library(&prefix);
    if !library.exists() {
        return cannot_start(&format!("there is no {}", library.display()));
    }
    let cases = selected(options);
    let missing = not_built(options);
    if cases.is_empty() && missing.is_empty() {
        return cannot_start("no id is selected");
    }
    let plan = Plan {
        prefix,
        jobs: options.jobs,
        timeout: options.timeout,
        texts: options.texts.clone(),
    };
    let outcomes = match runner::run_all(&cases, &plan, |outcome| {
        if options.verbose {
            print_outcome(outcome);
        }
    }) {
        Ok(outcomes) => outcomes,
        Err(message) => return cannot_start(&message),
    };
    print_table(&outcomes, &missing);
    print_failures(&outcomes);
    let failed = outcomes.iter().filter(|o| !o.passed()).count();
    line(&format!(
        "{} not built yet (--list names them)",
        missing.len()
    ));
    let texts: usize = outcomes.iter().map(|outcome| outcome.texts).sum();
    line(&format!("{texts} error texts judged"));
    line(&summary(&outcomes));
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn cannot_start(message: &str) -> ExitCode {
    eprintln!("cannery-conformance: {message}");
    ExitCode::from(2)
}

/// `N passed, N failed`.
fn summary(outcomes: &[Outcome]) -> String {
    let passed = outcomes.iter().filter(|o| o.passed()).count();
    format!("{passed} passed, {} failed", outcomes.len() - passed)
}

fn print_outcome(outcome: &Outcome) {
    let verdict = if outcome.passed() { "pass" } else { "FAIL" };
    line(&format!(
        "{verdict}  {:6.0} ms  {}",
        outcome.elapsed.as_secs_f64() * 1e3,
        outcome.id
    ));
}

fn print_table(outcomes: &[Outcome], missing: &[(&'static str, &'static str)]) {
    let rows = rows(outcomes, missing);
    let mut sum = Row::default();
    line(&format!(
        "{:24} {:>6} {:>8} {:>8} {:>14}",
        "chapter", "total", "passing", "failing", "not built yet"
    ));
    for (chapter, row) in &rows {
        if *chapter != spec::OWN {
            sum.add(*row);
            print_row(chapter, row);
        }
    }
    print_row("all lines", &sum);
    if let Some(own) = rows.get(spec::OWN) {
        print_row(spec::OWN, own);
    }
}

fn print_row(name: &str, row: &Row) {
    line(&format!(
        "{name:24} {:>6} {:>8} {:>8} {:>14}",
        row.total, row.passed, row.failed, row.not_built
    ));
}

fn rows(
    outcomes: &[Outcome],
    missing: &[(&'static str, &'static str)],
) -> BTreeMap<&'static str, Row> {
    let mut rows: BTreeMap<&'static str, Row> = BTreeMap::new();
    for outcome in outcomes {
        let row = rows.entry(chapter_of(outcome.id)).or_default();
        row.total += 1;
        if outcome.passed() {
            row.passed += 1;
        } else {
            row.failed += 1;
        }
    }
    for (_, chapter) in missing {
        let row = rows.entry(chapter).or_default();
        row.total += 1;
        row.not_built += 1;
    }
    rows
}

fn print_failures(outcomes: &[Outcome]) {
    for outcome in outcomes.iter().filter(|o| !o.passed()) {
        line(&format!("\nFAILED {}", outcome.id));
        if let Some(l) = spec::line(outcome.id) {
            line(&format!("  given   {}", l.given));
            line(&format!("  call    {}", l.call));
            let code = l.expect_code.map_or("-".to_owned(), |c| c.to_string());
            line(&format!(
                "  expect  {code}  {}  {}",
                l.expect_effect, l.err_msg
            ));
        }
        for failure in &outcome.failures {
            line(&format!("  - {failure}"));
        }
        for text in outcome
            .output
            .lines()
            .rev()
            .take(6)
            .collect::<Vec<_>>()
            .iter()
            .rev()
        {
            line(&format!("  | {text}"));
        }
    }
    line("");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn outcome(id: &'static str, failures: &[&str]) -> Outcome {
        Outcome {
            id,
            failures: failures.iter().map(|f| (*f).to_owned()).collect(),
            texts: 0,
            output: String::new(),
            elapsed: Duration::ZERO,
        }
    }

    #[test]
    fn rows_count_passing_failing_and_not_built() {
        let outcomes = [
            outcome("memory.malloc.null_ptr", &[]),
            outcome("memory.free.twice", &["wrong"]),
            outcome("x.some.thing", &[]),
        ];
        let rows = rows(&outcomes, &[("stream.x", "stream")]);
        let device = rows["device memory"];
        assert_eq!((device.total, device.passed, device.failed), (2, 1, 1));
        assert_eq!(rows["own"].passed, 1);
        assert_eq!(rows["stream"].not_built, 1);
        assert_eq!(summary(&outcomes), "2 passed, 1 failed");
    }

    #[test]
    fn every_line_is_registered_or_counted_as_not_built() {
        let options = crate::options::parse(std::iter::empty()).expect("valid");
        let missing = not_built(&options);
        let lines = selected(&options).iter().filter(|c| !c.is_own()).count();
        assert_eq!(lines + missing.len(), spec::lines().len());
    }
}
