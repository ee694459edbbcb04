//! The command line.

use std::path::PathBuf;
use std::time::Duration;

/// Printed by `--help` and after a usage error.
pub(crate) const USAGE: &str = "\
usage: cannery-conformance [--filter PATTERN]... [--chapter NAME] [--case ID]
                           [--list] [--verbose] [--jobs N] [--timeout SECONDS]
                           [--prefix DIR] [--texts LANGUAGE] [--self-test]

  --filter PATTERN   only ids that begin with PATTERN; a * matches anything
  --chapter NAME     only ids of one chapter (\"own\" for the x. ids)
  --case ID          one case, with the output of its process
  --list             print every id with its chapter and whether it is built
  --verbose          print every case as it ends
  --jobs N           processes at a time (default: two for each core)
  --timeout SECONDS  limit of one case (default 20)
  --prefix DIR       where lib64/libascendcl.so lies
                     (default: CANNERY_PREFIX, else target/prefix)
  --texts LANGUAGE   en or zh: judge nothing but what every error text must have
  --self-test        check the harness itself with cases that must fail";

/// What the program is asked to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Run the selected cases and print the table.
    Run,
    /// Print the ids.
    List,
    /// Run the harness against its own deliberately wrong cases.
    SelfTest,
    /// Run one body in this process (used by the harness on itself).
    Child {
        /// The case.
        id: String,
        /// File that receives the outcome.
        result: PathBuf,
        /// Texts alone are judged.
        texts: bool,
    },
    /// Print the usage.
    Help,
}

/// Parsed command line.
#[derive(Debug)]
pub(crate) struct Options {
    /// What to do.
    pub(crate) mode: Mode,
    /// Patterns, any of which selects an id; empty selects all.
    pub(crate) filters: Vec<String>,
    /// Only this chapter.
    pub(crate) chapter: Option<String>,
    /// Print each case.
    pub(crate) verbose: bool,
    /// Processes at a time.
    pub(crate) jobs: usize,
    /// Limit of one case.
    pub(crate) timeout: Duration,
    /// The language in which the cases fail, when texts alone are judged.
    pub(crate) texts: Option<String>,
    /// Directory with `lib64/libascendcl.so`.
    pub(crate) prefix: PathBuf,
}

impl Options {
    /// Whether an id of a chapter is selected.
    pub(crate) fn selects(&self, id: &str, chapter: &str) -> bool {
        let by_chapter = self.chapter.as_deref().is_none_or(|c| c == chapter);
        let by_id = self.filters.is_empty() || self.filters.iter().any(|f| matches(f, id));
        by_chapter && by_id
    }
}

/// Prefix match; `*` stands for any run of characters, and then the whole id
/// must match.
fn matches(pattern: &str, id: &str) -> bool {
    if !pattern.contains('*') {
        return id.starts_with(pattern);
    }
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = id.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Reads the command line (without the program name).
pub(crate) fn parse(args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        mode: Mode::Run,
        filters: Vec::new(),
        chapter: None,
        verbose: false,
        jobs: 2 * std::thread::available_parallelism().map_or(1, usize::from),
        timeout: Duration::from_secs(20),
        texts: None,
        prefix: default_prefix(),
    };
    let mut args = args;
    let mut child = None;
    let mut result = None;
    while let Some(arg) = args.next() {
        let mut value = |name: &str| args.next().ok_or(format!("{name} needs a value"));
        match arg.as_str() {
            "--filter" => options.filters.push(value("--filter")?),
            "--chapter" => options.chapter = Some(value("--chapter")?),
            "--case" => {
                let id = value("--case")?;
                options.filters.push(id.clone());
                options.verbose = true;
                child = Some(id);
            }
            "--result" => result = Some(PathBuf::from(value("--result")?)),
            "--list" => options.mode = Mode::List,
            "--self-test" => options.mode = Mode::SelfTest,
            "--verbose" | "-v" => options.verbose = true,
            "--jobs" => options.jobs = number(&value("--jobs")?)?.max(1),
            "--timeout" => {
                options.timeout = Duration::from_secs(number(&value("--timeout")?)? as u64);
            }
            "--texts" => options.texts = Some(language(&value("--texts")?)?),
            "--prefix" => options.prefix = PathBuf::from(value("--prefix")?),
            "--help" | "-h" => options.mode = Mode::Help,
            other => return Err(format!("unknown argument {other}")),
        }
    }
    if let (Some(id), Some(result)) = (child, result) {
        let texts = options.texts.is_some();
        options.mode = Mode::Child { id, result, texts };
    }
    Ok(options)
}

fn language(text: &str) -> Result<String, String> {
    match text {
        "en" | "zh" => Ok(text.to_owned()),
        _ => Err(format!("{text} is no language of the texts: en or zh")),
    }
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("{text} is not a number"))
}

fn default_prefix() -> PathBuf {
    std::env::var_os("CANNERY_PREFIX").map_or_else(|| PathBuf::from("target/prefix"), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<Options, String> {
        parse(args.iter().map(|s| (*s).to_owned()))
    }

    #[test]
    fn a_pattern_is_a_prefix_or_a_glob() {
        assert!(matches("memory.free", "memory.free.twice"));
        assert!(!matches("free", "memory.free.twice"));
        assert!(matches("*free*", "memory.free.twice"));
        assert!(matches("memory.*.null", "memory.flush.null"));
        assert!(!matches("memory.*.null", "memory.flush.null_both"));
        assert!(matches("*", "x"));
    }

    #[test]
    fn a_case_runs_in_the_harness_unless_a_result_file_is_named() {
        let options = parsed(&["--case", "a.b"]).expect("valid");
        assert_eq!(options.mode, Mode::Run);
        assert_eq!(options.filters, ["a.b"]);
        let options = parsed(&["--case", "a.b", "--result", "r"]).expect("valid");
        assert!(matches!(options.mode, Mode::Child { .. }));
    }

    #[test]
    fn unknown_arguments_and_missing_values_are_refused() {
        assert!(parsed(&["--frobnicate"]).is_err());
        assert!(parsed(&["--filter"]).is_err());
        assert!(parsed(&["--jobs", "two"]).is_err());
    }
}
