//! Error texts of the runtime in Chinese.
//!
//! The runtime words every text in English. `knowledge/phrases.jsonl` has sentences, clauses and
//! frames of it as patterns (`{}` stands for a value) with their Chinese form (`{0}`, `{1}`: the
//! values, in any order). A text is turned around by the longest pattern that fits it, its values in
//! the same way; where none fits the whole, clause by clause. What no pattern knows stays English, so
//! nothing is ever lost: names, codes, numbers and addresses are values, and stay as they are.

use std::sync::LazyLock;

use serde_json::Value;

const PHRASES: &str = include_str!("../../../knowledge/phrases.jsonl");

/// How deep values may hold phrases, and how many clauses follow each other.
const DEPTH: u32 = 8;
/// Longer texts carry something of the user's (a list, a path) and are not searched.
const LONGEST: usize = 8192;

struct Phrase {
    /// What stands between the values.
    pieces: Vec<String>,
    /// The Chinese form, with numbered places.
    chinese: String,
    /// Whether it frames other text: only then may a value hold several clauses. Else `{} made by
    /// {}` would swallow the clauses around it.
    frame: bool,
}

impl Phrase {
    /// Whether these values may stand in it, or are clauses of other phrases that it would swallow.
    fn takes(&self, values: &[&str]) -> bool {
        let one_clause = |value: &&str| !value.contains("; ") && !value.contains(": ");
        // Between `argument` and what is said of it stands a name.
        let named = self.pieces[0] != "argument " || values.first().is_some_and(is_name);
        named && (self.frame || values.iter().all(one_clause))
    }
}

fn is_name(value: &&str) -> bool {
    !value.contains(' ') && !value.ends_with(':')
}

/// The most specific first: the one with the most fixed characters.
static TABLE: LazyLock<Vec<Phrase>> = LazyLock::new(|| {
    let mut table: Vec<Phrase> = PHRASES
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter_map(|row| {
            let english = row["en"].as_str()?;
            Some(Phrase {
                pieces: english.split("{}").map(str::to_owned).collect(),
                chinese: row["zh"].as_str()?.to_owned(),
                frame: ["; ", ": ", "expected "]
                    .iter()
                    .any(|mark| english.contains(mark)),
            })
        })
        .collect();
    let fixed = |phrase: &Phrase| phrase.pieces.iter().map(String::len).sum::<usize>();
    table.sort_by_key(|phrase| std::cmp::Reverse(fixed(phrase)));
    table
});

/// An error text of the runtime in Chinese; the parts that the table does not know in English.
#[must_use]
pub fn in_chinese(text: &str) -> String {
    let known = (text.len() <= LONGEST).then(|| translated(text, DEPTH));
    known.flatten().unwrap_or_else(|| text.to_owned())
}

/// `None` when nothing of the text is known.
fn translated(text: &str, depth: u32) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    for phrase in TABLE.iter() {
        if let Some(values) = matched(&phrase.pieces, text)
            && phrase.takes(&values)
        {
            return Some(filled(&phrase.chinese, &values, depth));
        }
    }
    let (first, rest) = text.split_once("; ")?;
    let (front, back) = (translated(first, depth), translated(rest, depth));
    if front.is_none() && back.is_none() {
        return None;
    }
    let front = front.unwrap_or_else(|| first.to_owned());
    Some(format!(
        "{front}；{}",
        back.unwrap_or_else(|| rest.to_owned())
    ))
}

/// The values of a text that fits: each as short as it can be, and none empty.
fn matched<'a>(pieces: &[String], text: &'a str) -> Option<Vec<&'a str>> {
    let (first, others) = pieces.split_first()?;
    let mut rest = text.strip_prefix(first.as_str())?;
    let Some((last, middle)) = others.split_last() else {
        return rest.is_empty().then(Vec::new);
    };
    let mut values = Vec::with_capacity(others.len());
    for piece in middle {
        // A value has one character at least, so the search begins behind it.
        let skip = rest.chars().next()?.len_utf8();
        let at = skip + rest.get(skip..)?.find(piece.as_str())?;
        values.push(rest.get(..at)?);
        rest = rest.get(at + piece.len()..)?;
    }
    let value = rest.strip_suffix(last.as_str())?;
    (!value.is_empty()).then(|| {
        values.push(value);
        values
    })
}

/// The Chinese form with its values.
fn filled(form: &str, values: &[&str], depth: u32) -> String {
    let mut text = String::with_capacity(form.len());
    let mut rest = form;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let Some((number, behind)) = after.split_once('}') else {
            break;
        };
        let value = number.parse().ok().and_then(|at: usize| values.get(at));
        if let Some(value) = value {
            let known = translated(value, depth);
            text.push_str(known.as_deref().unwrap_or(value));
        }
        rest = behind;
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::{in_chinese, matched};

    fn pieces(pattern: &str) -> Vec<String> {
        pattern.split("{}").map(str::to_owned).collect()
    }

    #[test]
    fn values_are_the_shortest_that_fit_and_never_empty() {
        let fits = |pattern: &str, text| matched(&pieces(pattern), text);
        assert_eq!(fits("a {} b {}", "a 1 b 2 b 3"), Some(vec!["1", "2 b 3"]));
        assert_eq!(fits("{}; x", "y; x"), Some(vec!["y"]));
        assert_eq!(fits("plain", "plain"), Some(vec![]));
        assert_eq!(fits("plain", "plainer"), None);
        assert_eq!(fits("a {} b", "a  b"), None);
        assert_eq!(fits("a {}", "a "), None);
        assert_eq!(fits("{} x {}", "é x ü"), Some(vec!["é", "ü"]));
    }

    #[test]
    fn frames_hold_phrases_and_clauses_stand_alone() {
        assert_eq!(
            in_chinese("argument size is 0: must be greater than 0"),
            "参数 size 的值为 0：必须大于 0"
        );
        assert_eq!(
            in_chinese(
                "argument devPtr is HOST: pinned host memory made by aclrtMallocHost; release it with aclrtFreeHost"
            ),
            "参数 devPtr 的值为 HOST：由 aclrtMallocHost 分配的锁页主机内存；请用 aclrtFreeHost 释放"
        );
    }

    #[test]
    fn what_is_not_known_stays_as_it_is() {
        assert_eq!(
            in_chinese("something quite new: 12"),
            "something quite new: 12"
        );
        assert_eq!(
            in_chinese("argument size is 7: something quite new"),
            "参数 size 的值为 7：something quite new"
        );
        assert_eq!(
            in_chinese("argument size is 64: must be 0 when data is NULL"),
            "参数 size 的值为 64：data 为 NULL 时必须为 0"
        );
        for count in [100, 100_000] {
            let long = "; x".repeat(count);
            assert_eq!(in_chinese(&long), long);
        }
    }
}
