//! A row: figures, ratios, aims.

use crate::rounds::Samples;

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Nanoseconds,
    Bytes,
    Percent,
    /// How many times as much as one thread.
    Times,
    Instructions,
}

impl Unit {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "ns",
            Unit::Bytes => "bytes",
            Unit::Percent => "percent",
            Unit::Times => "times",
            Unit::Instructions => "instructions",
        }
    }

    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Unit::Nanoseconds if value.abs() < 999.5 => format!("{value:.1} ns"),
            Unit::Nanoseconds if value.abs() < 999_500.0 => format!("{:.2} µs", value / 1e3),
            Unit::Nanoseconds => format!("{:.2} ms", value / 1e6),
            Unit::Bytes => format!("{:.2} MB", value / 1e6),
            Unit::Percent => format!("{value:.2} %"),
            Unit::Times => format!("{value:.2}x"),
            Unit::Instructions => format!("{value:.1}"),
        }
    }
}

/// What a row should reach.
#[derive(Clone, Debug)]
pub(crate) struct Aim {
    pub(crate) text: String,
    /// The figure that is compared, where it is not the row's own.
    pub(crate) measured: Option<String>,
    pub(crate) met: bool,
}

/// What something else needed for the same work.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) name: &'static str,
    pub(crate) samples: Samples,
}

/// One line of the result.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) unit: Unit,
    /// `Err`: why there are no figures.
    pub(crate) figures: Result<Samples, String>,
    pub(crate) references: Vec<Reference>,
    pub(crate) aims: Vec<Aim>,
    pub(crate) note: Option<String>,
}

impl Row {
    pub(crate) fn new(name: impl Into<String>, unit: Unit, ours: Samples) -> Row {
        Row {
            name: name.into(),
            unit,
            figures: Ok(ours),
            references: Vec::new(),
            aims: Vec::new(),
            note: None,
        }
    }

    pub(crate) fn not_run(name: impl Into<String>, reason: impl Into<String>) -> Row {
        Row {
            figures: Err(reason.into()),
            ..Row::new(name, Unit::Nanoseconds, Samples::default())
        }
    }

    /// What Cannery needed; not a number where it was not measured.
    pub(crate) fn value(&self) -> f64 {
        self.figures.as_ref().map_or(f64::NAN, Samples::median)
    }

    fn reference(&self, name: &str) -> f64 {
        let found = self.references.iter().find(|given| given.name == name);
        found.map_or(f64::NAN, |given| given.samples.median())
    }

    pub(crate) fn against(mut self, name: &'static str, samples: Samples) -> Row {
        self.references.push(Reference { name, samples });
        self
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Row {
        self.note = Some(note.into());
        self
    }

    /// Aim: no more than `bound`.
    pub(crate) fn at_most(mut self, bound: f64) -> Row {
        self.aims.push(Aim {
            text: format!(
                "<= {}",
                self.unit.show(bound).replace(".00", "").replace(".0 ", " ")
            ),
            measured: None,
            met: self.value() <= bound,
        });
        self
    }

    /// Aim: no less than `bound`.
    pub(crate) fn at_least(mut self, bound: f64) -> Row {
        self.aims.push(Aim {
            text: format!(">= {}", self.unit.show(bound).replace(".00", "")),
            measured: None,
            met: self.value() >= bound,
        });
        self
    }

    /// Aim: no more than `times` what the reference needs.
    pub(crate) fn times_at_most(mut self, name: &str, times: f64) -> Row {
        let measured = self.value() / self.reference(name);
        self.aims.push(Aim {
            text: format!("<= {times}x {name}"),
            measured: Some(format!("{measured:.2}x")),
            met: measured <= times,
        });
        self
    }

    /// Aim: at least `times` as fast as the reference.
    pub(crate) fn times_faster(mut self, name: &str, times: f64) -> Row {
        let measured = self.reference(name) / self.value();
        self.aims.push(Aim {
            text: format!(">= {times}x faster than {name}"),
            measured: Some(format!("{measured:.0}x")),
            met: measured >= times,
        });
        self
    }

    /// Aim: no more than `bound` nanoseconds on top of the reference.
    pub(crate) fn above_at_most(mut self, name: &str, bound: f64) -> Row {
        let measured = self.value() - self.reference(name);
        self.aims.push(Aim {
            text: format!("<= {name} + {bound} ns"),
            measured: Some(format!("+ {}", self.unit.show(measured))),
            met: measured <= bound,
        });
        self
    }

    /// Aim: at least this share of the reference's speed.
    pub(crate) fn speed_at_least(mut self, name: &str, share: f64) -> Row {
        let measured = self.reference(name) / self.value();
        self.aims.push(Aim {
            text: format!(">= {:.0} % of {name}'s speed", share * 100.0),
            measured: Some(format!("{:.1} %", measured * 100.0)),
            met: measured >= share,
        });
        self
    }

    /// How Cannery stands to a reference.
    pub(crate) fn ratio(&self, reference: &Reference) -> String {
        let (ours, theirs) = (self.value(), reference.samples.median());
        match self.unit {
            Unit::Percent => format!("{:+.2} pt", ours - theirs),
            _ => match ours / theirs {
                ratio if ratio < 0.01 => format!("1/{:.0}", 1.0 / ratio),
                ratio => format!("{ratio:.2}"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ours: f64, reference: f64) -> Row {
        let samples = Samples::exactly;
        Row::new("row", Unit::Nanoseconds, samples(ours)).against("other", samples(reference))
    }

    fn met(row: &Row) -> Vec<bool> {
        row.aims.iter().map(|aim| aim.met).collect()
    }

    #[test]
    fn aims_compare_with_the_right_side() {
        let aims = |ours, reference| {
            let row = row(ours, reference).at_most(60.0);
            let row = row.times_at_most("other", 2.5).times_faster("other", 2.0);
            met(&row
                .above_at_most("other", 30.0)
                .speed_at_least("other", 0.95))
        };
        assert_eq!(aims(50.0, 20.0), [true, true, false, true, false]);
        assert_eq!(aims(61.0, 20.0), [false, false, false, false, false]);
        assert_eq!(aims(40.0, 80.0), [true, true, true, true, true]);
        assert_eq!(aims(100.0, 95.0), [false, true, false, true, true]);
    }

    #[test]
    fn a_reference_that_is_missing_meets_nothing() {
        let row = row(1.0, 1.0)
            .times_at_most("nobody", 1e9)
            .times_faster("nobody", 0.0);
        assert_eq!(met(&row), [false, false]);
    }

    #[test]
    fn figures_are_shown_in_fitting_units() {
        assert_eq!(Unit::Nanoseconds.show(59.96), "60.0 ns");
        assert_eq!(Unit::Nanoseconds.show(1234.0), "1.23 µs");
        assert_eq!(Unit::Nanoseconds.show(7_340_000.0), "7.34 ms");
        assert_eq!(Unit::Bytes.show(2_840_000.0), "2.84 MB");
        let slow = row(1.0, 5000.0).at_most(100.0);
        assert_eq!(slow.ratio(&slow.references[0]), "1/5000");
        assert_eq!(slow.aims[0].text, "<= 100 ns");
    }
}
