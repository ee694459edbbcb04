//! Colours, only where a person reads them.

use std::env;
use std::io::{self, IsTerminal};

/// How a piece of text stands out on a terminal; plain everywhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// A heading.
    Heading,
    /// Something that works.
    Good,
    /// Something to look at.
    Doubtful,
    /// Something that fails.
    Bad,
}

/// Whether text may carry colours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Palette {
    coloured: bool,
}

impl Palette {
    /// For standard output.
    pub(crate) fn of_output() -> Self {
        Self::of(io::stdout().is_terminal())
    }

    /// For standard error.
    pub(crate) fn of_errors() -> Self {
        Self::of(io::stderr().is_terminal())
    }

    /// Colours on a terminal that has them, unless `NO_COLOR` is set to anything but nothing.
    fn of(terminal: bool) -> Self {
        let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|value| value == "dumb");
        Self {
            coloured: terminal && !refused && !dumb,
        }
    }

    /// Whether there are colours.
    pub(crate) fn coloured(self) -> bool {
        self.coloured
    }

    /// The text in a style.
    pub(crate) fn paint(self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Heading => "1",
            Style::Good => "32",
            Style::Doubtful => "33",
            Style::Bad => "1;31",
        };
        if self.coloured {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Palette, Style};

    #[test]
    fn text_is_plain_without_a_terminal() {
        let plain = Palette { coloured: false };
        assert_eq!(plain.paint(Style::Bad, "fail"), "fail");
        let coloured = Palette { coloured: true };
        assert_eq!(coloured.paint(Style::Bad, "fail"), "\x1b[1;31mfail\x1b[0m");
    }
}
