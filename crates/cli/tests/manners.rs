//! Help that teaches, completions, manual pages, and colours on terminals only.

mod common;

use std::fs;
use std::process::Command;

use common::{Scratch, cannery, finish, prefix, script, stderr_of, stdout_of};

const COMMANDS: [&str; 9] = [
    "run",
    "env",
    "info",
    "smi",
    "explain",
    "doctor",
    "install",
    "completions",
    "man",
];

#[test]
fn every_subcommand_has_help_with_examples() {
    let all = stdout_of(&mut cannery(["--help"]));
    for command in COMMANDS {
        assert!(
            all.contains(&format!("\n  {command} ")),
            "{command} in {all}"
        );
        let help = stdout_of(&mut cannery([command, "--help"]));
        assert!(help.contains("Examples:"), "{command}: {help}");
        assert!(
            help.contains(&format!("cannery {command}")),
            "{command}: {help}"
        );
        assert!(!help.contains('\x1b'), "no colours into a pipe");
    }
    assert!(all.contains("Exit codes:") && !all.contains("__report") && !all.contains("__walk"));
}

#[test]
fn a_misspelt_subcommand_is_answered_with_the_right_one() {
    let output = finish(&mut cannery(["explian", "0"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr_of(&output).contains("explain"),
        "{}",
        stderr_of(&output)
    );
}

#[test]
fn completions_are_scripts_that_their_shells_accept() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = stdout_of(&mut cannery(["completions", shell]));
        for word in COMMANDS.iter().chain(&["--profile", "--json"]) {
            let word = word.trim_start_matches("--");
            assert!(text.contains(word), "{word} for {shell}");
        }
    }
    // What bash would offer behind `cannery ex`.
    let line = "eval \"$(\"$CANNERY\" completions bash)\"; COMP_WORDS=(cannery ex); COMP_CWORD=1; \
                _cannery cannery ex cannery; echo \"${COMPREPLY[@]}\"";
    assert_eq!(stdout_of(&mut script("bash", line)), "explain\n");
    assert_eq!(
        finish(&mut cannery(["completions", "tcsh"])).status.code(),
        Some(2)
    );
}

#[test]
fn manual_pages_exist_for_the_tool_and_each_subcommand() {
    let scratch = Scratch::new("man");
    let place = scratch.path().join("man1");
    stdout_of(cannery(["man", "--dir"]).arg(&place));
    let mut names: Vec<_> = fs::read_dir(&place)
        .expect("a directory")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    let mut wanted: Vec<_> = COMMANDS
        .iter()
        .map(|command| format!("cannery-{command}.1"))
        .collect();
    wanted.push("cannery.1".to_owned());
    wanted.sort();
    assert_eq!(names, wanted);
    let page = fs::read_to_string(place.join("cannery-doctor.1")).expect("a page");
    assert!(
        page.contains(".TH") && page.contains("PROGRAM") && page.contains("Exit codes"),
        "{page}"
    );
    let printed = stdout_of(&mut cannery(["man"]));
    assert_eq!(
        printed,
        fs::read_to_string(place.join("cannery.1")).expect("a page")
    );
}

#[test]
fn the_prefix_carries_pages_completions_and_the_table() {
    let share = prefix().join("share");
    for name in [
        "man/man1/cannery.1",
        "man/man1/cannery-explain.1",
        "bash-completion/completions/cannery",
        "zsh/site-functions/_cannery",
        "fish/vendor_completions.d/cannery.fish",
        "cannery/knowledge/codes.jsonl",
        "cannery/knowledge/functions.jsonl",
    ] {
        assert!(share.join(name).is_file(), "{name}");
    }
}

/// What the tool shows on a terminal: `script` makes one.
fn on_a_terminal(line: &str, setting: Option<(&str, &str)>) -> Option<String> {
    let tool = prefix().join("bin/cannery");
    let mut command = Command::new("script");
    command.env("TERM", "xterm").env_remove("NO_COLOR");
    command.args(["-qec", &format!("{} {line}", tool.display()), "/dev/null"]);
    command.envs(setting);
    let output = command.output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn colours_appear_on_a_terminal_and_not_with_no_color() {
    for line in ["explain 107002", "--help", "doctor", "explain aclrtMaloc"] {
        // Without util-linux there is no terminal to try it on.
        let Some(shown) = on_a_terminal(line, None) else {
            return;
        };
        assert!(shown.contains("\x1b["), "{line}: {shown}");
        for setting in [("NO_COLOR", "1"), ("TERM", "dumb")] {
            let plain = on_a_terminal(line, Some(setting)).expect("as before");
            assert!(!plain.contains("\x1b["), "{line} with {setting:?}: {plain}");
        }
        let empty = on_a_terminal(line, Some(("NO_COLOR", ""))).expect("as before");
        assert!(
            empty.contains("\x1b["),
            "an empty NO_COLOR counts as not set"
        );
    }
}

/// What an error says is wholly Chinese; names and numbers stay.
#[test]
fn errors_speak_chinese_to_the_end() {
    let judge = |command: &mut Command| {
        let text = stderr_of(&finish(command.env("CANNERY_LANG", "zh")));
        assert!(text.starts_with("cannery: ") && !text.is_ascii(), "{text}");
        let small = |word: &&str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase());
        let said = text.replace("os error", "");
        let left: Vec<&str> = said.split_whitespace().filter(small).collect();
        assert!(left.is_empty(), "{left:?} in {text}");
    };
    for arguments in ["explain 207001", "smi", "env", "man", "doctor"] {
        judge(&mut script(
            "sh",
            &format!("exec \"$CANNERY\" {arguments} > /dev/full"),
        ));
    }
    judge(&mut cannery(["man", "--dir", "/proc/x"]));
    judge(&mut cannery(["man", "--dir", "/dev/null"]));
    judge(&mut cannery(["install", "/proc/x"]));
    let scratch = Scratch::new("toolkit");
    let place = scratch.path().join("NPU");
    judge(cannery(["install"]).arg(&place));
    let mut doctor = cannery(["doctor", "--profile", "zz"]);
    let output = finish(doctor.env("CANNERY_LANG", "zh"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!text.contains("refused"), "{text}");
}
