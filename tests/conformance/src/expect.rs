//! What a line or a case demands of an error text.
//!
//! Lines and cases name a message code and facts that the text must carry:
//! `EH0007 func=aclrtMallocHost value=0 param=size expect 'must be greater than 0'`.
//! Whatever a case writes without a key is demanded as well: a word as it is, or
//! a phrase in quotes. The contract's lines have no such words. Their authors'
//! remarks, in round brackets at the end or one of [`REMARKS`], are not looked for.
//! What is neither of this is an error, never skipped: a demand that nobody
//! understands would be a demand that nobody checks.

/// What two of the contract's lines say in words without brackets: that the
/// vendor's text has nothing but the code, and that there is none.
const REMARKS: [&str; 2] = ["class inner text only", "no text is reported for this one"];

/// Kind of a need for a message code.
const CODE: &str = "message code";
/// Kind of a need for a function or stage.
const FUNCTION: &str = "function";

/// One thing that the text must contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Need {
    /// What it is, for the report.
    kind: &'static str,
    /// What must stand in the text, with no word going on at either end.
    text: String,
}

/// The needs of one line or of one call of a case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextRule {
    needs: Vec<Need>,
}

/// Whose demands are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Line,
    Case,
}

impl TextRule {
    /// Reads the `err_msg` field of a line.
    pub(crate) fn of_line(field: &str) -> Result<Self, String> {
        Self::parse(field, From::Line)
    }

    /// Reads the tokens of a case, of which there must be some.
    pub(crate) fn of_case(tokens: &str) -> Result<Self, String> {
        let rule = Self::parse(tokens, From::Case)?;
        if rule.is_empty() {
            return Err("nothing is demanded of the text".to_owned());
        }
        Ok(rule)
    }

    fn parse(field: &str, from: From) -> Result<Self, String> {
        let mut rule = Self::default();
        let mut rest = field.trim();
        while !rest.is_empty() {
            rest = match from {
                From::Line if REMARKS.contains(&rest) || is_remark(rest) => "",
                _ => rule.take(rest, from)?.trim_start(),
            };
        }
        Ok(rule)
    }

    /// Reads one demand; the rest of the field comes back.
    fn take<'a>(&mut self, field: &'a str, from: From) -> Result<&'a str, String> {
        if let Some(rest) = field.strip_prefix("func=") {
            self.add(FUNCTION, rest)
        } else if let Some(rest) = field.strip_prefix("param=") {
            let mut rest = self.add("parameter", rest)?;
            while let Some(more) = rest.trim_start().strip_prefix("and ") {
                rest = self.add("parameter", more)?;
            }
            Ok(rest)
        } else if let Some(rest) = field.strip_prefix("value=") {
            self.add("value", rest)
        } else if let Some(rest) = field.strip_prefix("expect ") {
            self.add("expectation", rest)
        } else if let Some(rest) = field.strip_prefix("range ") {
            let begins = rest.starts_with(['[', '(']);
            let end = rest.find([']', ')']).filter(|_| begins);
            let end = end.ok_or_else(|| format!("{rest:?} is no range"))? + 1;
            self.need("range", &rest[..end]);
            Ok(&rest[end..])
        } else {
            self.add_bare(field, from)
        }
    }

    /// Reads what has no key: a message code, or a word or phrase of a case.
    fn add_bare<'a>(&mut self, field: &'a str, from: From) -> Result<&'a str, String> {
        let (word, rest) = token(field)?;
        let kind = match from {
            _ if is_message_code(word) => CODE,
            From::Line => return Err(format!("{field:?} is not understood")),
            From::Case if field.starts_with('\'') => "phrase",
            From::Case
                if word.starts_with('(')
                    || word.contains('=')
                    || ["and", "expect", "range"].contains(&word) =>
            {
                return Err(format!(
                    "{word:?} is not understood; in quotes the text must have it"
                ));
            }
            From::Case => "word",
        };
        self.need(kind, word);
        Ok(rest)
    }

    /// Reads one token as a need.
    fn add<'a>(&mut self, kind: &'static str, field: &'a str) -> Result<&'a str, String> {
        let (text, rest) = token(field)?;
        self.need(kind, text);
        Ok(rest)
    }

    fn need(&mut self, kind: &'static str, text: &str) {
        self.needs.push(Need {
            kind,
            text: text.to_owned(),
        });
    }

    /// True when nothing is demanded of the text.
    pub(crate) fn is_empty(&self) -> bool {
        self.needs.is_empty()
    }

    /// What the text lacks, in words.
    pub(crate) fn missing(&self, text: &str) -> Vec<String> {
        let words: Vec<&str> = text.lines().map(words).collect();
        let words = words.join("\n");
        let unmet = self.needs.iter().filter(|need| {
            let place = match need.kind {
                CODE | FUNCTION => text,
                _ => words.as_str(),
            };
            !has_word(place, &need.text)
        });
        unmet
            .map(|Need { kind, text }| format!("{kind} '{text}'"))
            .collect()
    }
}

/// What a line of a text says, without the code and the function before it and the return code behind it:
/// every text has these, so no demand for a word may be met by them.
fn words(line: &str) -> &str {
    let behind_code = line
        .strip_prefix('[')
        .and_then(|line| line.split_once("] "));
    let behind_head = behind_code.and_then(|(_, line)| line.split_once(": "));
    let words = behind_head.map_or(line, |(_, words)| words);
    let end = words
        .rfind(" [ACL_ERROR_")
        .or_else(|| words.rfind(" [aclError "));
    &words[..end.unwrap_or(words.len())]
}

/// Splits off one token: a quoted phrase without its quotes, or a word.
fn token(field: &str) -> Result<(&str, &str), String> {
    let (token, rest) = match field.strip_prefix('\'') {
        Some(quoted) => quoted
            .split_once('\'')
            .ok_or_else(|| format!("the quote of {field:?} has no end"))?,
        None => field.split_at(field.find(char::is_whitespace).unwrap_or(field.len())),
    };
    if token.trim().is_empty() {
        return Err(format!("there is nothing before {rest:?}"));
    }
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
        return Err(format!("{rest:?} follows without a space"));
    }
    Ok((token, rest))
}

/// Whether all of this is a remark. It may hold an interval such as
/// `[0, count)`, so brackets do not come in pairs, and it is the end of a field.
fn is_remark(field: &str) -> bool {
    field.starts_with('(') && field.ends_with(')')
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

/// Whether `word`, which may be a phrase, stands in `text` with no letter or digit going on before or
/// after a letter or digit of it.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let (first, last) = (word.chars().next(), word.chars().next_back());
    let goes_on = |inner: Option<char>, outer: Option<char>| {
        inner.is_some_and(is_word_char) && outer.is_some_and(is_word_char)
    };
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !goes_on(first, before) && !goes_on(last, after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(field: &str) -> TextRule {
        TextRule::of_line(field).expect("the field is understood")
    }

    fn case(tokens: &str) -> TextRule {
        TextRule::of_case(tokens).expect("the tokens are understood")
    }

    #[test]
    fn code_function_and_parameter() {
        let rule = line("EH0008 func=aclrtMemcpy param=dst");
        assert!(rule.missing("[EH0008] aclrtMemcpy: dst is NULL").is_empty());
        assert_eq!(
            rule.missing("[EH0008] aclrtMemcpyAsync: dst is NULL"),
            ["function 'aclrtMemcpy'"]
        );
        assert_eq!(rule.missing("nothing").len(), 3);
    }

    #[test]
    fn quoted_value_expectation_and_range() {
        let rule =
            line("EH0007 func=aclrtMallocHost value=0 param=size expect 'must be greater than 0'");
        let text = "EH0007: aclrtMallocHost: value 0 of size is bad, must be greater than 0";
        assert!(rule.missing(text).is_empty());
        assert_eq!(rule.missing("EH0007 aclrtMallocHost 0 size").len(), 1);

        let rule = line("EE1003 param=cnt range (0, 63]");
        assert!(rule.missing("EE1003 cnt 64, expected (0, 63]").is_empty());
        assert_eq!(rule.missing("EE1003 cnt 64, expected (0, 64]").len(), 1);
    }

    #[test]
    fn a_stage_name_is_a_phrase() {
        let rule = line("EH0007 func='Memory copy type conversion' param=kind");
        let text = "EH0007 Memory copy type conversion: kind 9";
        assert!(rule.missing(text).is_empty());
        assert_eq!(rule.missing("EH0007 aclrtMemcpy: kind 9").len(), 1);
    }

    #[test]
    fn remarks_are_not_demanded() {
        let rule = line("EE1018 (no usable context on this thread)");
        assert!(rule.missing("EE1018").is_empty());
        let rule = line("EE1003 (device id, range [0, count))");
        assert!(rule.missing("EE1003").is_empty());
        let rule = line("no text is reported for this one");
        assert!(rule.is_empty());
    }

    #[test]
    fn several_parameters() {
        let rule = line("EE1022 param=pbase and psize");
        assert!(rule.missing("EE1022 pbase and psize are NULL").is_empty());
        assert_eq!(rule.missing("EE1022 pbase").len(), 1);
    }

    #[test]
    fn bare_words_of_a_case_are_demanded() {
        let rule = case("EH0007 params.size timeout -2 'host function' 0x7f00");
        let text = "[EH0007] f: params.size, timeout -2 of host function 0x7f00";
        assert!(rule.missing(text).is_empty());
        assert_eq!(
            rule.missing("[EH0008] f: params.sizes, timeouts -25, host functions, 0x7f001"),
            [
                "message code 'EH0007'",
                "word 'params.size'",
                "word 'timeout'",
                "word '-2'",
                "phrase 'host function'",
                "word '0x7f00'",
            ]
        );
    }

    #[test]
    fn what_every_text_has_meets_no_demand_for_words() {
        let text =
            "[EH0007] aclrtFree: argument p is 7: must be 0 [ACL_ERROR_INVALID_PARAM 100000]";
        let rule = case("EH0007 func=aclrtFree param=p value=7 'must be 0'");
        assert!(rule.missing(text).is_empty());
        for tokens in ["aclrtFree", "param=aclrtFree", "100000", "value=100000"] {
            assert_eq!(case(tokens).missing(text).len(), 1, "{tokens}");
        }
        let text =
            "[EE1011] f: a [aclError 5] [repeated 2 times]\n[EE1011] g: b [0, 4] c [aclError 6]";
        for (tokens, lacking) in [("a b '[0, 4] c'", 0), ("5 2 6 f g", 5)] {
            assert_eq!(case(tokens).missing(text).len(), lacking, "{tokens}");
        }
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for field in [
            "EH0007 size",
            "EH0007 parm=size",
            "EH0007 'size'",
            "EH0007 (a remark) param=size",
            "EH0007 (a remark",
            "class inner text",
            "no text is reported",
        ] {
            assert!(TextRule::of_line(field).is_err(), "{field}");
        }
        for tokens in ["", " ", "parm=size", "(a remark)", "size=0"] {
            assert!(TextRule::of_case(tokens).is_err(), "{tokens}");
        }
        for either in [
            "param=",
            "func= param=size",
            "value=''",
            "expect ",
            "expect 'no end",
            "expect 'end'less",
            "range 0, 63]",
            "range (0, 63",
            "param=size and ",
        ] {
            assert!(TextRule::of_line(either).is_err(), "{either}");
            assert!(TextRule::of_case(either).is_err(), "{either}");
        }
    }

    #[test]
    fn every_line_of_the_contract_is_understood() {
        for line in crate::spec::lines() {
            let rule = match TextRule::of_line(&line.err_msg) {
                Ok(rule) => rule,
                Err(reason) => panic!("{}: {reason}", line.id),
            };
            // Nothing is lost: a need for every word that is no remark.
            let remark = REMARKS.iter().find_map(|remark| line.err_msg.find(remark));
            let remark = remark
                .or_else(|| line.err_msg.find(" ("))
                .filter(|_| !line.err_msg.contains("range ("));
            let demands = &line.err_msg[..remark.unwrap_or(line.err_msg.len())];
            let outside = demands.split('\'').step_by(2).collect::<String>();
            let keys = ["expect", "range", "and", "63]"];
            let words = outside
                .split_whitespace()
                .filter(|word| !keys.contains(word));
            let quoted = demands.matches("expect '").count();
            assert_eq!(rule.needs.len(), words.count() + quoted, "{}", line.id);
        }
    }

    #[test]
    fn words_need_boundaries() {
        assert!(has_word("cfg->attrs is NULL", "attrs"));
        assert!(!has_word("attributes", "attr"));
        assert!(has_word("size=0", "0"));
        assert!(!has_word("size=10", "0"));
        assert!(has_word("is 1 GiB.", "1 GiB"));
        assert!(!has_word("is 31 GiB", "1 GiB"));
        assert!(has_word("range(0, 63]", "(0, 63]"));
    }
}
