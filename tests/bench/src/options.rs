//! The command line.

use std::path::PathBuf;

pub(crate) const HELP: &str = "\
usage: cannery-bench [--quick] [--filter NAME] [--json FILE] [--markdown]
                     [--into FILE] [--instructions]

Measures Cannery next to references, both sides in one run, and prints ratios.

  --quick         a few short rounds: figures are rough, but everything runs
  --filter NAME   only rows whose chapter or name contains NAME
  --json FILE     also write every figure to FILE
  --markdown      print tables instead of text (progress goes to stderr)
  --into FILE     put the tables into FILE (docs/performance.md), in place of the old ones
  --instructions  count instructions instead of time (exact and repeatable)

The library is taken from CANNERY_PREFIX (default target/prefix).
";

/// What to measure and how to print it.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) quick: bool,
    /// In lower case.
    pub(crate) filter: Option<String>,
    pub(crate) json: Option<PathBuf>,
    pub(crate) markdown: bool,
    pub(crate) into: Option<PathBuf>,
    pub(crate) instructions: bool,
}

/// What this process is for.
#[derive(Debug)]
pub(crate) enum Task {
    Measure(Options),
    /// Repeat one operation for the parent process that counts its instructions.
    Repeat {
        name: String,
        count: usize,
    },
    Help,
}

/// Reads the arguments, without the program's name.
///
/// # Errors
/// A text that names the argument.
pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Task, String> {
    let mut options = Options::default();
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or_else(|| format!("{argument} needs a value"))
        };
        match argument.as_str() {
            "--quick" => options.quick = true,
            "--filter" => options.filter = Some(value()?.to_lowercase()),
            "--json" => options.json = Some(value()?.into()),
            "--into" => options.into = Some(value()?.into()),
            "--markdown" => options.markdown = true,
            "--instructions" => options.instructions = true,
            "--help" | "-h" => return Ok(Task::Help),
            "--repeat" => {
                let name = value()?;
                let count = value()?.parse().map_err(|_| "--repeat NAME COUNT")?;
                return Ok(Task::Repeat { name, count });
            }
            other => return Err(format!("unknown argument {other}; see --help")),
        }
    }
    Ok(Task::Measure(options))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(arguments: &[&str]) -> Result<Task, String> {
        parse(arguments.iter().map(|&argument| argument.to_owned()))
    }

    #[test]
    fn filters_do_not_mind_the_case() {
        let Ok(Task::Measure(options)) = given(&["--quick", "--filter", "MiXed"]) else {
            panic!("not understood")
        };
        assert_eq!(options.filter.as_deref(), Some("mixed"));
        assert!(options.quick && !options.markdown);
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(given(&["--fast"]).expect_err("unknown").contains("--fast"));
        assert!(given(&["--json"]).expect_err("no file").contains("--json"));
    }
}
