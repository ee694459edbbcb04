//! The command that runs one seed again.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::arguments::RunOptions;
use crate::shell;

/// The command, as a line for a POSIX shell: the caller's own options and
/// program, with the seed in place of the options about seeds.
pub(super) fn command(tool: Option<OsString>, options: &RunOptions, seed: u64) -> Vec<u8> {
    let mut words = vec![tool.unwrap_or_else(|| "cannery".into()), "run".into()];
    if options.quiet {
        words.push("--quiet".into());
    }
    for setting in options.settings.given() {
        if setting.option != "--schedule" {
            words.push(setting.option.into());
            words.push(setting.value.into());
        }
    }
    words.push("--schedule".into());
    words.push(format!("random:{seed}").into());
    words.push("--".into());
    let words = words.iter().chain(&options.program);
    words
        .map(|word| quoted_if_needed(word))
        .collect::<Vec<_>>()
        .join(&b' ')
}

/// A word that shells take as it is stays readable.
fn quoted_if_needed(word: &OsStr) -> Vec<u8> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:=,+@%".contains(byte);
    let bytes = word.as_bytes();
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return bytes.to_vec();
    }
    shell::quoted(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command};
    use clap::Parser;

    fn line(words: &[&str]) -> String {
        let words = ["cannery", "run"].iter().chain(words);
        let Ok(Command::Run(options)) = Arguments::try_parse_from(words).map(|all| all.command)
        else {
            panic!("a run command");
        };
        String::from_utf8(command(Some("bin/cannery".into()), &options, 12)).expect("UTF-8")
    }

    #[test]
    fn what_matters_stays_and_what_is_about_seeds_goes() {
        assert_eq!(
            line(&[
                "-q",
                "--seeds",
                "9",
                "--devices",
                "2",
                "--schedule",
                "random",
                "--jobs",
                "3",
                "--timeout",
                "5",
                "--limits",
                "lock=64K",
                "--first-seed",
                "7",
                "--",
                "./prog",
                "-q",
            ]),
            "bin/cannery run --quiet --devices 2 --limits lock=64K --schedule random:12 -- ./prog -q"
        );
    }

    #[test]
    fn words_survive_the_shell() {
        assert_eq!(
            line(&[
                "--schedule",
                "random",
                "prog",
                "two words",
                "",
                "it's",
                "$x",
                "--",
                "a=b"
            ]),
            r"bin/cannery run --schedule random:12 -- prog 'two words' '' 'it'\''s' '$x' -- a=b"
        );
    }
}
