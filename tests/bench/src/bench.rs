//! One run: chapter by chapter.

use crate::api::{self, Api};
use crate::clock::Clock;
use crate::machine::Machine;
use crate::options::Options;
use crate::report::{self, Report};
use crate::rounds::Effort;
use crate::row::Row;
use crate::rows;

/// What every chapter needs.
pub(crate) struct Bench<'a> {
    pub(crate) api: Api,
    pub(crate) clock: Clock,
    pub(crate) effort: Effort,
    filter: Option<&'a str>,
    chapter: &'static str,
    report: &'a mut Report,
}

impl Bench<'_> {
    /// Whether a row of this name is asked for.
    pub(crate) fn wants(&self, name: &str) -> bool {
        let asked = |filter: &str| {
            name.to_lowercase().contains(filter) || self.chapter.to_lowercase().contains(filter)
        };
        self.filter.is_none_or(asked)
    }

    /// Adds a row that is asked for, and prints it.
    pub(crate) fn row(&mut self, row: Row) {
        if self.wants(&row.name) {
            self.report.row(self.chapter, row);
        }
    }
}

/// Runs the chapters and prints the result.
///
/// # Errors
/// Why nothing could be measured, or why the result could not be written.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let effort = if options.quick {
        Effort::QUICK
    } else {
        Effort::FULL
    };
    let style = if options.markdown {
        report::Style::Markdown
    } else {
        report::Style::Text
    };
    let api = Api::open(&api::library())?;
    api.start()?;
    let clock = Clock::calibrate();
    let mut report = Report::new(style, Machine::look(), effort, options.quick);
    report.begin();
    let chapters: &[rows::Chapter] = if options.instructions {
        &rows::COUNTED
    } else {
        &rows::TIMED
    };
    for chapter in chapters {
        let mut bench = Bench {
            api,
            clock,
            effort,
            filter: options.filter.as_deref(),
            chapter: chapter.title,
            report: &mut report,
        };
        (chapter.run)(&mut bench);
    }
    report.end();
    match &options.json {
        Some(path) => std::fs::write(path, report.json())
            .map_err(|error| format!("cannot write {}: {error}", path.display())),
        None => Ok(()),
    }
}
