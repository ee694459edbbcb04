//! A tool without a library beside it, as `cargo install` leaves it.

mod common;

use std::fs;
use std::path::PathBuf;

use common::{Scratch, assert_refused, prefix, stdout_of, tool_of};

/// A directory with nothing but `bin/cannery`.
fn lonely() -> (Scratch, PathBuf) {
    let scratch = Scratch::new("lonely");
    fs::create_dir(scratch.path().join("bin")).expect("made");
    common::copy_tool(&scratch.path().join("bin"));
    let root = scratch.path().to_path_buf();
    (scratch, root)
}

#[test]
fn it_says_where_it_looked_and_how_to_get_one() {
    let (_scratch, root) = lonely();
    let beside = root.join("lib64").display().to_string();
    for arguments in [
        &["run", "--", "true"][..],
        &["env"],
        &["info"],
        &["smi"],
        &["install", "elsewhere"],
    ] {
        assert_refused(
            tool_of(&root).args(arguments).current_dir(&root),
            2,
            &[
                "libascendcl.so",
                &beside,
                "make build",
                "pip install .",
                "CANNERY_PREFIX",
            ],
        );
    }
    assert!(!root.join("elsewhere").exists());
}

#[test]
fn what_needs_no_library_works() {
    let (_scratch, root) = lonely();
    assert!(stdout_of(tool_of(&root).arg("--help")).contains("cannery"));
    assert!(stdout_of(tool_of(&root).args(["explain", "107002"])).contains("107002"));
}

#[test]
fn it_takes_the_toolkit_that_is_named() {
    let (_scratch, root) = lonely();
    let home = stdout_of(
        tool_of(&root)
            .args(["run", "-q", "--", "sh", "-c", "echo $ASCEND_HOME_PATH"])
            .env("CANNERY_PREFIX", prefix()),
    );
    assert_eq!(home.trim(), prefix().to_string_lossy());
    assert!(stdout_of(tool_of(&root).arg("info").env("CANNERY_PREFIX", prefix())).contains("910B"));
    assert_refused(
        tool_of(&root)
            .arg("info")
            .env("CANNERY_PREFIX", "/no/such/toolkit"),
        2,
        &["/no/such/toolkit/lib64"],
    );
}
