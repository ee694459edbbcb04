//! The result, as text, as Markdown, as JSON.

use serde_json::{Value, json};

use crate::machine::{Machine, Spent};
use crate::options::Options;
use crate::rounds::{Effort, Samples};
use crate::row::{Aim, Row};

/// Prints rows as they come and keeps them.
pub(crate) struct Report {
    /// Standard output belongs to the tables.
    quiet: bool,
    machine: Machine,
    effort: Effort,
    quick: bool,
    began: Spent,
    rows: Vec<(&'static str, Row)>,
}

impl Report {
    pub(crate) fn new(options: &Options, machine: Machine, effort: Effort) -> Report {
        Report {
            quiet: options.markdown,
            machine,
            effort,
            quick: options.quick,
            began: Spent::now(),
            rows: Vec::new(),
        }
    }

    /// Says what is measured where.
    pub(crate) fn begin(&self) {
        let quick = if self.quick {
            " (quick: figures are rough)"
        } else {
            ""
        };
        self.say(&format!("machine   {}", self.machine.describe()));
        self.say(&format!("settings  {}", self.settings()));
        self.say(&format!(
            "rounds    {} or more of every side, in turns; medians{quick}",
            self.effort.rounds
        ));
    }

    /// Takes a row and prints it.
    pub(crate) fn row(&mut self, chapter: &'static str, row: Row) {
        if self.rows.last().is_none_or(|(last, _)| *last != chapter) {
            self.say(&format!("\n{chapter}"));
        }
        self.say(&as_text(&row));
        self.rows.push((chapter, row));
    }

    /// Prints the sums.
    pub(crate) fn end(&self, disturbed: f64) {
        let aims = || self.rows.iter().flat_map(|(_, row)| &row.aims);
        let (met, all) = (aims().filter(|aim| aim.met).count(), aims().count());
        let (others, stolen) = self.others();
        let not_run = self
            .rows
            .iter()
            .filter(|(_, row)| row.figures.is_err())
            .count();
        self.say(&format!(
            "\n{met} aims met, {} missed; {not_run} rows not run; meanwhile other programs used {others:.0} % of the \
             machine, other virtual machines took {stolen:.0} %, and {disturbed:.0} % of the rounds \
             were disturbed in every try",
            all - met,
        ));
        for (chapter, row) in &self.rows {
            for aim in row.aims.iter().filter(|aim| !aim.met) {
                let verdict = verdict(row, aim).replace("**", "");
                self.say(&format!("  {chapter}: {}: {verdict}", row.name));
            }
        }
    }

    fn others(&self) -> (f64, f64) {
        Spent::now().others_since(&self.began)
    }

    fn say(&self, line: &str) {
        if self.quiet {
            eprintln!("{line}");
        } else {
            println!("{line}");
        }
    }

    /// The tables, with what they were measured on.
    pub(crate) fn markdown(&self, disturbed: f64) -> String {
        let (others, stolen) = self.others();
        let mut text = format!(
            "Machine: {}. Settings: {}. While this was measured, other programs used {others:.0} % of the \
             machine, other virtual machines took {stolen:.0} %, and {disturbed:.0} % of the rounds were \
             disturbed in every try.\n",
            self.machine.describe(),
            self.settings(),
        );
        if self.quick {
            text.push_str("\nA quick run: the figures are rough.\n");
        }
        for rows in self.rows.chunk_by(|(a, _), (b, _)| a == b) {
            let chapter = rows.first().map_or("", |(chapter, _)| chapter);
            text.push_str(&format!(
                "\n### {chapter}\n\n| what | Cannery | reference | ratio | aim |\n|---|---:|---|---|---|\n"
            ));
            let mut notes: Vec<&str> = Vec::new();
            for (_, row) in rows {
                text.push_str(&as_markdown(row));
                notes.extend(row.note.as_deref().filter(|note| !notes.contains(note)));
            }
            for note in notes {
                text.push_str(&format!("\n{note}\n"));
            }
        }
        text
    }

    fn settings(&self) -> String {
        match self.machine.settings.as_slice() {
            [] => "defaults".to_owned(),
            some => some.join(" "),
        }
    }

    /// Every figure, for programs.
    pub(crate) fn json(&self, disturbed: f64) -> String {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|(chapter, row)| as_json(chapter, row))
            .collect();
        let machine = &self.machine;
        let (others, stolen) = self.others();
        let whole = json!({
            "machine": {
                "processor": machine.processor,
                "cores": machine.cores,
                "virtual_machine": machine.virtual_machine,
                "memory_gib": machine.memory_gib,
                "kernel": machine.kernel,
                "transparent_huge_pages": machine.huge_pages,
            },
            "settings": machine.settings,
            "quick": self.quick,
            "used_by_other_programs_percent": others,
            "stolen_percent": stolen,
            "disturbed_rounds_percent": disturbed,
            "rows": rows,
        });
        format!("{whole:#}\n")
    }
}

/// A text with tables in place of those between its marks.
///
/// # Errors
/// The marks that it lacks.
pub(crate) fn with_tables(text: &str, name: &str, tables: &str) -> Result<String, String> {
    let (begin, end) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let parts = text.split_once(&begin).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(&end)?;
        Some((before, after))
    });
    match parts {
        Some((before, after)) => Ok(format!("{before}{begin}\n{tables}\n{end}{after}")),
        None => Err(format!("no `{}` and `{end}`", begin.trim())),
    }
}

fn as_markdown(row: &Row) -> String {
    let figure = match &row.figures {
        Ok(_) => row.unit.show(row.value()),
        Err(reason) => format!("not run: {reason}"),
    };
    let join = |parts: Vec<String>| parts.join("<br>");
    let references = row.references.iter();
    let shown = references
        .clone()
        .map(|given| format!("{} {}", given.name, row.unit.show(given.samples.median())));
    let ratios = references.map(|given| row.ratio(given));
    let aims = row.aims.iter().map(|aim| verdict(row, aim));
    format!(
        "| {} | {figure} | {} | {} | {} |\n",
        row.name,
        join(shown.collect()),
        join(ratios.collect()),
        join(aims.collect())
    )
}

/// The aim, the figure where it is another than the row's, and met or missed.
fn verdict(row: &Row, aim: &Aim) -> String {
    let figure = aim.measured.clone();
    let figure = figure.or_else(|| (!aim.met).then(|| row.unit.show(row.value())));
    let met = if aim.met { "met" } else { "**missed**" };
    match figure {
        Some(figure) => format!("{}: {met} ({figure})", aim.text),
        None => format!("{}: {met}", aim.text),
    }
}

fn as_text(row: &Row) -> String {
    let mut text = match &row.figures {
        Ok(_) => format!("  {:<48} {:>10}", row.name, row.unit.show(row.value())),
        Err(reason) => format!("  {:<48} not run: {reason}", row.name),
    };
    for reference in &row.references {
        text.push_str(&format!(
            "  | {} {} ({})",
            reference.name,
            row.unit.show(reference.samples.median()),
            row.ratio(reference)
        ));
    }
    for aim in &row.aims {
        text.push_str(&format!("\n  {:<48} {:>10}  {}", "", "", verdict(row, aim)));
    }
    text.replace("**", "")
}

fn figures(samples: &Samples) -> Value {
    let (low, high) = samples.quartiles();
    json!({
        "median": samples.median(),
        "quartiles": [low, high],
        "rounds": samples.rounds(),
    })
}

fn as_json(chapter: &str, row: &Row) -> Value {
    let references: Vec<Value> = row
        .references
        .iter()
        .map(|given| json!({"name": given.name, "figures": figures(&given.samples)}))
        .collect();
    let aims: Vec<Value> = row
        .aims
        .iter()
        .map(|aim| json!({"aim": aim.text, "measured": aim.measured, "met": aim.met}))
        .collect();
    json!({
        "chapter": chapter,
        "name": row.name,
        "unit": row.unit.name(),
        "cannery": row.figures.as_ref().ok().map(figures),
        "not_run": row.figures.as_ref().err(),
        "references": references,
        "aims": aims,
        "note": row.note,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_go_between_their_marks() {
        let text = "a\n<!-- times -->\nold\n<!-- end of times -->\nb\n";
        let new = with_tables(text, "times", "new").expect("marks");
        assert_eq!(new, "a\n<!-- times -->\n\nnew\n<!-- end of times -->\nb\n");
        assert_eq!(with_tables(&new, "times", "new").as_ref(), Ok(&new));
        assert!(with_tables(text, "instructions", "new").is_err());
    }
}
