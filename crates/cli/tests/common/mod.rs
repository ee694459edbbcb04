//! What the tests of the tool share: the prefix under test, and scratch space.

// Each test program uses its own part of this.
#![allow(dead_code)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The prefix under test: `CANNERY_PREFIX`, else `target/prefix`.
///
/// # Panics
///
/// When there is none: these tests are about a built toolkit.
pub(crate) fn prefix() -> PathBuf {
    let prefix = env::var_os("CANNERY_PREFIX").map_or_else(
        || Path::new(env!("CARGO_TARGET_TMPDIR")).join("../prefix"),
        PathBuf::from,
    );
    prefix
        .canonicalize()
        .ok()
        .filter(|path| path.join("bin/cannery").is_file())
        .unwrap_or_else(|| {
            panic!(
                "no toolkit in {}: run `make build` first, or set CANNERY_PREFIX",
                prefix.display()
            )
        })
}

/// Copies the tool, and nothing else of the toolkit.
pub(crate) fn copy_tool(to: &Path) {
    // By a process of its own: a copy that this one has open for writing while another test starts a
    // program could not be executed.
    let copied = finish(Command::new("cp").arg(prefix().join("bin/cannery")).arg(to));
    assert!(copied.status.success(), "{}", stderr_of(&copied));
}

/// A command that runs the tool of `prefix`, free of the caller's settings.
pub(crate) fn tool_of(prefix: &Path) -> Command {
    clean(Command::new(prefix.join("bin/cannery")))
}

/// The tool under test with these arguments.
pub(crate) fn cannery<const N: usize>(arguments: [&str; N]) -> Command {
    let mut command = tool_of(&prefix());
    command.args(arguments);
    command
}

/// A shell script, free of the caller's settings. `$CANNERY` is the tool.
pub(crate) fn script(shell: &str, text: &str) -> Command {
    let mut command = clean(Command::new(shell));
    command
        .arg("-c")
        .arg(text)
        .env("CANNERY", prefix().join("bin/cannery"));
    command
}

/// Removes every variable that the toolkit reads or sets.
fn clean(mut command: Command) -> Command {
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("CANNERY_") || name.starts_with("ASCEND_") {
            command.env_remove(name);
        }
    }
    command
        .env_remove("LD_LIBRARY_PATH")
        .env_remove("PYTHONPATH")
        // Texts are asserted in English unless a test says otherwise.
        .env("LC_ALL", "C");
    command
}

/// Runs a command to its end.
pub(crate) fn finish(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|cause| panic!("cannot run {command:?}: {cause}"))
}

/// Standard output of a command that must succeed.
pub(crate) fn stdout_of(command: &mut Command) -> String {
    let output = finish(command);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Standard error as text.
pub(crate) fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Checks a refusal: the exit code, a text with our prefix and these words, and
/// nothing on standard output.
pub(crate) fn assert_refused(command: &mut Command, code: i32, words: &[&str]) {
    let output = finish(command);
    let text = stderr_of(&output);
    assert_eq!(output.status.code(), Some(code), "{command:?}: {text}");
    assert!(text.starts_with("cannery: "), "prefixed: {text}");
    for word in words {
        assert!(text.contains(word), "{word:?} in: {text}");
    }
    assert!(
        output.stdout.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

/// A directory that vanishes with its owner.
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// A new, empty directory whose last part is `name`.
    pub(crate) fn new(name: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!(
                "{}-{}",
                std::process::id(),
                COUNT.fetch_add(1, Ordering::Relaxed)
            ))
            .join(name);
        fs::create_dir_all(&path).expect("a scratch directory");
        // The form in which the tool reports it.
        let path = path.canonicalize().expect("it exists");
        Self { path }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A file in it with this content.
    pub(crate) fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path.join(name);
        fs::write(&path, content).expect("a scratch file");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is below target/, where `make clean` gets it.
        let _ = fs::remove_dir_all(self.path.parent().unwrap_or(&self.path));
    }
}
