//! What a line demands of an error text.
//!
//! The lines name a message code and facts that the text must carry, never its
//! wording: `EH0007 func=aclrtMallocHost value=0 param=size expect 'must be
//! greater than 0'`. Words in round brackets are remarks of the contract's
//! authors and are not looked for.

/// One thing that the text must contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Message code, like EE1003.
    Code(String),
    /// A name or value that must stand as a word of its own.
    Word(&'static str, String),
    /// A phrase, verbatim.
    Phrase(&'static str, String),
}

impl Need {
    fn is_met(&self, text: &str) -> bool {
        match self {
            Self::Code(code) => has_word(text, code),
            Self::Word(_, word) => has_word(text, word),
            Self::Phrase(_, phrase) => text.contains(phrase.as_str()),
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Code(code) => format!("message code {code}"),
            Self::Word(kind, word) | Self::Phrase(kind, word) => format!("{kind} '{word}'"),
        }
    }
}

/// The needs of one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextRule {
    needs: Vec<Need>,
}

impl TextRule {
    /// Reads the `err_msg` field of a line.
    pub(crate) fn parse(field: &str) -> Self {
        let mut needs = Vec::new();
        let mut rest = field.trim_start();
        while !rest.is_empty() {
            if rest.starts_with('(') {
                rest = after_brackets(rest);
            } else if let Some(r) = rest.strip_prefix("func=") {
                let (name, r) = token(r);
                needs.push(phrase_or_word("function", name));
                rest = r;
            } else if let Some(r) = rest.strip_prefix("param=") {
                let (name, mut r) = token(r);
                needs.push(phrase_or_word("parameter", name));
                while let Some(more) = r.trim_start().strip_prefix("and ") {
                    let (name, after) = token(more);
                    needs.push(phrase_or_word("parameter", name));
                    r = after;
                }
                rest = r;
            } else if let Some(r) = rest.strip_prefix("value=") {
                let (value, r) = token(r);
                needs.push(Need::Word("value", value.to_owned()));
                rest = r;
            } else if let Some(r) = rest.strip_prefix("expect ") {
                let (phrase, r) = token(r);
                needs.push(phrase_or_word("expectation", phrase));
                rest = r;
            } else if let Some(r) = rest.strip_prefix("range ") {
                let end = r.find([']', ')']).map_or(r.len(), |at| at + 1);
                needs.push(Need::Phrase("range", r[..end].to_owned()));
                rest = &r[end..];
            } else {
                let (word, r) = token(rest);
                if is_message_code(word) {
                    needs.push(Need::Code(word.to_owned()));
                }
                rest = r;
            }
            rest = rest.trim_start();
        }
        Self { needs }
    }

    /// True when the line demands nothing of the text.
    pub(crate) fn is_empty(&self) -> bool {
        self.needs.is_empty()
    }

    /// What the text lacks, in words.
    pub(crate) fn missing(&self, text: &str) -> Vec<String> {
        let unmet = self.needs.iter().filter(|need| !need.is_met(text));
        unmet.map(Need::describe).collect()
    }
}

/// Splits off one token: a quoted phrase without its quotes, or a word.
fn token(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    if let Some(quoted) = text.strip_prefix('\'') {
        let end = quoted.find('\'').unwrap_or(quoted.len());
        return (&quoted[..end], quoted.get(end + 1..).unwrap_or_default());
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], &text[end..])
}

fn phrase_or_word(kind: &'static str, text: &str) -> Need {
    if text.chars().all(is_word_char) {
        Need::Word(kind, text.to_owned())
    } else {
        Need::Phrase(kind, text.to_owned())
    }
}

/// Skips a remark, nested brackets and half-open ranges included.
fn after_brackets(text: &str) -> &str {
    // A remark may hold an interval such as `[0, count)`, so the remark ends
    // with the last closing bracket.
    text.rfind(')').map_or("", |end| &text[end + 1..])
}

/// Two capital letters and four digits.
pub(crate) fn is_message_code(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() == 6
        && bytes[..2].iter().all(u8::is_ascii_uppercase)
        && bytes[2..].iter().all(u8::is_ascii_digit)
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether `word` stands in `text` with no letter or digit on either side.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_word_char) && !after.is_some_and(is_word_char)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_function_and_parameter() {
        let rule = TextRule::parse("EH0008 func=aclrtMemcpy param=dst");
        assert!(rule.missing("[EH0008] aclrtMemcpy: dst is NULL").is_empty());
        assert_eq!(
            rule.missing("[EH0008] aclrtMemcpyAsync: dst is NULL"),
            ["function 'aclrtMemcpy'"]
        );
        assert_eq!(rule.missing("nothing").len(), 3);
    }

    #[test]
    fn quoted_value_expectation_and_range() {
        let rule = TextRule::parse(
            "EH0007 func=aclrtMallocHost value=0 param=size expect 'must be greater than 0'",
        );
        let text = "EH0007: aclrtMallocHost: value 0 of size is bad, must be greater than 0";
        assert!(rule.missing(text).is_empty());
        assert_eq!(rule.missing("EH0007 aclrtMallocHost 0 size").len(), 1);

        let rule = TextRule::parse("EE1003 param=cnt range (0, 63]");
        assert!(rule.missing("EE1003 cnt 64, expected (0, 63]").is_empty());
        assert_eq!(rule.missing("EE1003 cnt 64, expected (0, 64]").len(), 1);
    }

    #[test]
    fn a_stage_name_is_a_phrase() {
        let rule = TextRule::parse("EH0007 func='Memory copy type conversion' param=kind");
        let text = "EH0007 Memory copy type conversion: kind 9";
        assert!(rule.missing(text).is_empty());
        assert_eq!(rule.missing("EH0007 aclrtMemcpy: kind 9").len(), 1);
    }

    #[test]
    fn remarks_are_not_demanded() {
        let rule = TextRule::parse("EE1018 (no usable context on this thread)");
        assert!(rule.missing("EE1018").is_empty());
        let rule = TextRule::parse("EE1003 (device id, range [0, count))");
        assert!(rule.missing("EE1003").is_empty());
        let rule = TextRule::parse("no text is reported for this one");
        assert!(rule.is_empty());
    }

    #[test]
    fn several_parameters() {
        let rule = TextRule::parse("EE1022 param=pbase and psize");
        assert!(rule.missing("EE1022 pbase and psize are NULL").is_empty());
        assert_eq!(rule.missing("EE1022 pbase").len(), 1);
    }

    #[test]
    fn every_line_of_the_contract_parses() {
        for line in crate::spec::lines() {
            let rule = TextRule::parse(&line.err_msg);
            let first = line.err_msg.split(' ').next().unwrap_or_default();
            if is_message_code(first) {
                assert_eq!(rule.needs[0], Need::Code(first.to_owned()), "{}", line.id);
            }
            for key in ["func=", "param=", "value=", "expect ", "range "] {
                let remark = line.err_msg.find('(').unwrap_or(line.err_msg.len());
                if line.err_msg[..remark].contains(key) {
                    assert!(rule.needs.len() > 1, "{}: {key} is lost", line.id);
                }
            }
        }
    }

    #[test]
    fn words_need_boundaries() {
        assert!(has_word("cfg->attrs is NULL", "attrs"));
        assert!(!has_word("attributes", "attr"));
        assert!(has_word("size=0", "0"));
        assert!(!has_word("size=10", "0"));
    }
}
