//! Text laid out for a terminal: headings, paragraphs, lists. Chinese characters take two columns.

use crate::style::{Palette, Style};

/// Columns that a line may take.
const WIDTH: usize = 92;

/// A text that grows from top to bottom.
pub(crate) struct Page {
    text: String,
    palette: Palette,
}

impl Page {
    /// An empty page.
    pub(crate) fn new(palette: Palette) -> Self {
        Self {
            text: String::new(),
            palette,
        }
    }

    /// A title: at the margin, after an empty line unless it is the first.
    pub(crate) fn title(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text += &self.palette.paint(Style::Heading, text);
        self.text.push('\n');
    }

    /// A heading between parts.
    pub(crate) fn heading(&mut self, text: &str) {
        self.text += "\n  ";
        self.text += &self.palette.paint(Style::Heading, text);
        self.text.push('\n');
    }

    /// A paragraph.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.item("  ", text);
    }

    /// A paragraph whose first line begins with `mark` and whose others stand below its text.
    pub(crate) fn item(&mut self, mark: &str, text: &str) {
        let indent = columns(mark);
        let lines = wrapped(text, WIDTH.saturating_sub(indent));
        for (number, line) in lines.iter().enumerate() {
            if number == 0 {
                self.text += mark;
            } else {
                self.text += &" ".repeat(indent);
            }
            self.text += line;
            self.text.push('\n');
        }
    }

    /// As [`Self::item`], with a painted word (not counted in columns, four wide) before the mark.
    pub(crate) fn marked(&mut self, painted: &str, mark: &str, text: &str) {
        let before = self.text.len();
        self.item(&format!("  ....  {mark}"), text);
        self.text.replace_range(before + 2..before + 6, painted);
    }

    /// The whole text.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// Columns that a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(width).sum()
}

fn width(character: char) -> usize {
    match u32::from(character) {
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff => 2,
        0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 => 2,
        _ => 1,
    }
}

/// Punctuation that must not begin a line.
fn closes(character: char) -> bool {
    "，。；：、）！？”".contains(character)
}

/// Pieces between which a line may end: words, spaces, and wide characters. What stands between
/// backticks is one piece, so that it can be copied.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut open = false;
    let mut quoted = false;
    for character in text.chars() {
        let wide = width(character) == 2;
        match pieces.last_mut() {
            Some(last) if quoted || closes(character) || (open && !wide && character != ' ') => {
                last.push(character);
            }
            _ => pieces.push(character.to_string()),
        }
        quoted ^= character == '`';
        open = quoted || (!wide && character != ' ');
    }
    pieces
}

/// The text in lines of at most `room` columns where its words allow it.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for piece in pieces(text) {
        let needed = columns(&line) + columns(piece.trim_end());
        if needed > room && !line.is_empty() {
            lines.push(line.trim_end().to_owned());
            line = String::new();
        }
        if !(line.is_empty() && piece == " ") {
            line += &piece;
        }
    }
    lines.push(line.trim_end().to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::{columns, wrapped};

    #[test]
    fn english_breaks_between_words_and_loses_none() {
        let text = "one two three four five six seven";
        let lines = wrapped(text, 11);
        assert!(lines.iter().all(|line| columns(line) <= 11), "{lines:?}");
        assert_eq!(lines.join(" "), text);
    }

    #[test]
    fn chinese_breaks_between_characters_but_not_before_a_full_stop() {
        let text = "调用线程没有当前上下文，请先调用 aclrtSetDevice。再试一次。";
        let lines = wrapped(text, 12);
        assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
        assert!(
            lines.iter().all(|line| !line.starts_with(['，', '。'])),
            "{lines:?}"
        );
        assert!(lines.iter().all(|line| columns(line) <= 18), "{lines:?}");
    }

    #[test]
    fn what_is_quoted_stays_on_one_line() {
        let lines = wrapped("run `cannery run -- ./x` now", 9);
        assert_eq!(lines, ["run", "`cannery run -- ./x`", "now"]);
    }

    #[test]
    fn a_word_longer_than_the_line_stays_whole() {
        assert_eq!(wrapped("a abcdefghij b", 4), ["a", "abcdefghij", "b"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
