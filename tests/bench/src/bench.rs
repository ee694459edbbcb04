//! One run: chapter by chapter.

use std::fmt::Display;
use std::path::Path;

use crate::api::{self, Api};
use crate::clock::Clock;
use crate::core::Core;
use crate::machine::Machine;
use crate::options::Options;
use crate::report::{self, Report};
use crate::rounds::{Effort, Samples, Side, take_turns};
use crate::row::Row;
use crate::rows;

/// What every chapter needs.
pub(crate) struct Bench<'a> {
    pub(crate) api: Api,
    pub(crate) clock: Clock,
    pub(crate) effort: Effort,
    core: &'a Core,
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

    /// Rounds of every side in turn.
    pub(crate) fn take_turns(&self, sides: Vec<Side<'_>>) -> Vec<Samples> {
        take_turns(self.effort, self.core, sides)
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
    let api = Api::open(&api::library())?;
    api.start()?;
    let clock = Clock::calibrate();
    let core = Core::new(effort.patience);
    let mut report = Report::new(options, Machine::look(), effort);
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
            core: &core,
            filter: options.filter.as_deref(),
            chapter: chapter.title,
            report: &mut report,
        };
        (chapter.run)(&mut bench);
    }
    report.end(core.disturbed());
    if options.markdown {
        print!("{}", report.markdown(core.disturbed()));
    }
    if let Some(path) = &options.into {
        let name = if options.instructions {
            "instructions"
        } else {
            "times"
        };
        let old = std::fs::read_to_string(path).map_err(|error| at(path, error))?;
        let new = report::with_tables(&old, name, &report.markdown(core.disturbed()))
            .map_err(|text| at(path, text))?;
        std::fs::write(path, new).map_err(|error| at(path, error))?;
    }
    if let Some(path) = &options.json {
        std::fs::write(path, report.json(core.disturbed())).map_err(|error| at(path, error))?;
    }
    Ok(())
}

fn at(path: &Path, what: impl Display) -> String {
    format!("{}: {what}", path.display())
}
