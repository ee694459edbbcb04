//! `cannery env` and `set_env.sh`: the same environment for a whole shell.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::{
    Scratch, assert_refused, cannery, finish, prefix, script, stderr_of, stdout_of, tool_of,
};

/// A copy of the toolkit in a directory whose name needs quoting.
fn odd_copy() -> (Scratch, std::path::PathBuf) {
    let scratch = Scratch::new("it's a \"$HOME\" `dir` \\ &;");
    let copy = scratch.path().join("tool kit");
    let output = finish(tool_of(&prefix()).arg("install").arg(&copy));
    assert!(output.status.success(), "{}", stderr_of(&output));
    (scratch, copy)
}

fn shell_exists(shell: &str) -> bool {
    Command::new(shell)
        .args(["-c", "exit 0"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// What a shell says of the variables that were set.
const SHOW: &str = r#"printf '%s\n' "$ASCEND_HOME_PATH" "$ASCEND_TOOLKIT_HOME" "$LD_LIBRARY_PATH" "$PYTHONPATH" "${PATH%%:*}""#;

fn shown(root: &Path, library_path: &str, python_path: &str) -> String {
    let root = root.display();
    format!(
        "{root}\n{root}\n{root}/lib64{library_path}:{root}/opp/lib64\n{root}/python{python_path}\n{root}/bin\n"
    )
}

#[test]
fn exports_survive_every_character() {
    let (_scratch, copy) = odd_copy();
    let mut command = script("sh", &format!("eval \"$(\"$TOOL\" env)\" && {SHOW}"));
    command
        .env("TOOL", copy.join("bin/cannery"))
        .env("LD_LIBRARY_PATH", "/odd 'path'/lib:/$x");
    assert_eq!(
        stdout_of(&mut command),
        shown(&copy, ":/odd 'path'/lib:/$x", "")
    );
}

#[test]
fn exports_can_be_repeated() {
    let line = format!("eval \"$($CANNERY env)\"; eval \"$($CANNERY env)\"; {SHOW}");
    assert_eq!(
        stdout_of(&mut script("sh", &line)),
        shown(&prefix(), "", "")
    );
}

#[test]
fn options_are_exported_and_judged() {
    let text = stdout_of(&mut cannery(["env", "--devices", "4", "--profile", "310P"]));
    assert!(text.contains("export CANNERY_DEVICES='4'\n"), "{text}");
    assert!(text.contains("export CANNERY_PROFILE='310P'\n"), "{text}");
    assert!(
        !text.contains("CANNERY_MODE"),
        "only what was given: {text}"
    );
    assert_refused(
        &mut cannery(["env", "--profile", "banana"]),
        2,
        &["CANNERY_PROFILE", "banana"],
    );
}

#[test]
fn set_env_finds_itself_or_is_told() {
    let (_scratch, copy) = odd_copy();
    // In bash and zsh a sourced file knows its name; a caller's own arguments
    // must not confuse it. Other shells are told.
    let itself = format!("set -eu; . \"$COPY/set_env.sh\"; {SHOW}");
    let told = format!("set -eu; set -- \"$COPY\"; . \"$COPY/set_env.sh\"; {SHOW}");
    let variable = format!("set -eu; CANNERY_HOME=$COPY; . \"$COPY/set_env.sh\"; {SHOW}");
    let here = format!("set -eu; cd \"$COPY\"; . ./set_env.sh; {SHOW}");
    let mut checked = 0;
    for (shell, lines) in [
        ("bash", vec![&itself, &told, &here]),
        ("zsh", vec![&itself, &told, &here]),
        ("ksh", vec![&itself, &told, &here]),
        ("dash", vec![&told, &variable, &here]),
        ("sh", vec![&told, &variable, &here]),
    ] {
        if !shell_exists(shell) {
            continue;
        }
        for line in lines {
            let mut command = script(shell, line);
            command
                .arg("name")
                .arg("/somewhere/else")
                .env("COPY", &copy);
            command.env("LD_LIBRARY_PATH", "/mine/lib");
            assert_eq!(
                stdout_of(&mut command),
                shown(&copy, ":/mine/lib", ""),
                "{shell}: {line}"
            );
            checked += 1;
        }
    }
    assert!(checked >= 6, "a POSIX shell and bash are always there");
}

#[test]
fn set_env_can_be_sourced_twice_and_leaves_no_names() {
    let line = format!(
        ". \"$COPY/set_env.sh\" && . \"$COPY/set_env.sh\" && {SHOW} && {{ compgen -v; compgen -A function; }} | grep -c _cannery_ || true"
    );
    let mut command = script("bash", &line);
    command.env("COPY", prefix());
    assert_eq!(stdout_of(&mut command), shown(&prefix(), "", "") + "0\n");
}

#[test]
fn set_env_says_when_it_is_lost() {
    let mut command = script("sh", ". \"$COPY/set_env.sh\" && echo never");
    command.env("COPY", prefix()).env("PWD", "/");
    if stdout_of(&mut script("sh", "echo \"${BASH_VERSION:-}\""))
        .trim()
        .is_empty()
    {
        let output = finish(command.current_dir("/"));
        assert!(!output.status.success());
        assert!(
            stderr_of(&output).contains("set -- /path/to"),
            "{}",
            stderr_of(&output)
        );
        assert!(output.stdout.is_empty());
    } else {
        // This system's sh is bash, which always knows.
        assert_eq!(stdout_of(&mut command), "never\n");
    }
}
