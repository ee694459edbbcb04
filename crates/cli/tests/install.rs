//! `cannery install`: a copy that works wherever it is put, and that never
//! touches files of others.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Scratch, assert_refused, finish, prefix, stderr_of, stdout_of, tool_of};

fn install(target: &Path) -> Command {
    let mut command = tool_of(&prefix());
    command.arg("install").arg(target);
    command
}

fn install_well(command: &mut Command) {
    let output = finish(command);
    assert!(output.status.success(), "{}", stderr_of(&output));
    assert!(
        stderr_of(&output).contains("set_env.sh"),
        "says how to go on"
    );
}

fn manifest(root: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(root.join("share/cannery/manifest")).expect("a manifest");
    text.lines().map(PathBuf::from).collect()
}

/// Every file and link below a directory, as relative paths.
fn tree(root: &Path) -> Vec<PathBuf> {
    fn walk(directory: &Path, root: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).expect("readable") {
            let entry = entry.expect("an entry");
            if entry.file_name() == "__pycache__" {
                continue; // what Python leaves beside modules that it imported
            }
            if entry.file_type().expect("a type").is_dir() {
                walk(&entry.path(), root, found);
            } else {
                found.push(
                    entry
                        .path()
                        .strip_prefix(root)
                        .expect("below")
                        .to_path_buf(),
                );
            }
        }
    }
    let mut found = Vec::new();
    walk(root, root, &mut found);
    found.sort();
    found
}

#[test]
fn the_manifest_lists_exactly_what_is_there() {
    let mut listed = manifest(&prefix());
    listed.sort();
    assert_eq!(listed, tree(&prefix()));
}

#[test]
fn a_copy_is_complete_and_keeps_links() {
    let scratch = Scratch::new("fresh");
    let target = scratch.path().join("new");
    install_well(&mut install(&target));
    assert_eq!(tree(&target), tree(&prefix()));
    for file in manifest(&target) {
        let (from, to) = (prefix().join(&file), target.join(&file));
        let kind = fs::symlink_metadata(&from).expect("there");
        if kind.is_symlink() {
            let place = fs::read_link(&to).expect("still a link");
            assert!(place.is_relative(), "{}", to.display());
            assert_eq!(place, fs::read_link(&from).expect("a link"));
            assert!(
                to.canonicalize()
                    .expect("it leads somewhere")
                    .starts_with(&target)
            );
        } else {
            assert_eq!(
                fs::read(&from).expect("readable"),
                fs::read(&to).expect("readable")
            );
            let mode = |path: &Path| fs::metadata(path).expect("there").permissions();
            assert_eq!(mode(&from), mode(&to));
        }
    }
    let left: Vec<_> = fs::read_dir(scratch.path()).expect("readable").collect();
    assert_eq!(left.len(), 1, "nothing else is left behind");
}

#[test]
fn a_copy_works_and_can_be_moved() {
    let scratch = Scratch::new("moving");
    let (first, second) = (scratch.path().join("first"), scratch.path().join("second"));
    install_well(&mut install(&first));
    let home = |root: &Path| {
        stdout_of(tool_of(root).args(["run", "-q", "--", "sh", "-c", "echo $ASCEND_HOME_PATH"]))
    };
    assert_eq!(home(&first).trim(), first.to_string_lossy());
    fs::rename(&first, &second).expect("moved");
    assert_eq!(home(&second).trim(), second.to_string_lossy());
}

/// Nothing in a toolkit names its place: programs are built against a copy that was moved, and run
/// with it, in C and in Python.
#[test]
fn programs_are_built_and_run_with_a_copy_that_was_moved() {
    let scratch = Scratch::new("programs");
    let (first, copy) = (scratch.path().join("first"), scratch.path().join("a copy"));
    install_well(&mut install(&first));
    fs::rename(&first, &copy).expect("moved");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let program = scratch.path().join("mission");
    let built = finish(
        Command::new("cc")
            .args(["-std=c99", "-o"])
            .arg(&program)
            .arg(examples.join("c/mission.c"))
            .arg(format!("-I{}", copy.join("include").display()))
            .arg(format!("-L{}", copy.join("lib64").display()))
            .args(["-lascendcl", "-lacl_dvpp", "-lacl_dvpp_mpi"]),
    );
    assert!(built.status.success(), "{}", stderr_of(&built));
    let text = stdout_of(tool_of(&copy).args(["run", "-q", "--"]).arg(&program));
    assert!(text.contains("all equal"), "{text}");
    let maps = stdout_of(
        tool_of(&copy)
            .args(["run", "-q", "--", "python3", "-c"])
            .arg("import acl; assert acl.init() == 0; print(open('/proc/self/maps').read())"),
    );
    let library = copy.join("lib64/libascendcl.so");
    assert!(maps.contains(&*library.to_string_lossy()), "{maps}");
    assert!(!maps.contains(&*prefix().to_string_lossy()), "{maps}");
    let text = stdout_of(
        tool_of(&copy)
            .args(["run", "-q", "--", "python3"])
            .arg(examples.join("python/mission.py")),
    );
    assert!(text.contains("all equal"), "{text}");
}

#[test]
fn an_empty_directory_and_a_relative_name_will_do() {
    let scratch = Scratch::new("relative");
    fs::create_dir(scratch.path().join("empty")).expect("made");
    install_well(install(Path::new("empty")).current_dir(scratch.path()));
    assert!(scratch.path().join("empty/bin/cannery").is_file());
    install_well(install(Path::new("./a/b/c")).current_dir(scratch.path()));
    assert!(scratch.path().join("a/b/c/bin/cannery").is_file());
}

#[test]
fn files_of_others_are_not_touched_without_force() {
    let scratch = Scratch::new("foreign");
    scratch.file("precious.txt", "mine");
    fs::create_dir(scratch.path().join("include")).expect("made");
    scratch.file("include/other.h", "theirs");
    let before = tree(scratch.path());
    assert_refused(&mut install(scratch.path()), 2, &["--force"]);
    assert_eq!(tree(scratch.path()), before);

    install_well(install(scratch.path()).arg("--force"));
    assert_eq!(
        fs::read_to_string(scratch.path().join("precious.txt")).expect("kept"),
        "mine"
    );
    assert_eq!(
        fs::read_to_string(scratch.path().join("include/other.h")).expect("kept"),
        "theirs"
    );
    assert!(scratch.path().join("lib64/libascendcl.so").is_file());
}

#[test]
fn an_older_toolkit_is_replaced() {
    let scratch = Scratch::new("older");
    let target = scratch.path().join("kit");
    install_well(&mut install(&target));
    // What an older version had, and what the user put beside it.
    fs::create_dir_all(target.join("old/deep")).expect("made");
    fs::write(target.join("old/deep/gone.h"), "old").expect("written");
    fs::write(target.join("include/user.h"), "mine").expect("written");
    fs::write(target.join("set_env.sh"), "outdated").expect("written");
    let list = target.join("share/cannery/manifest");
    let text = fs::read_to_string(&list).expect("readable");
    fs::write(&list, text + "old/deep/gone.h\n").expect("written");

    install_well(&mut install(&target));
    assert!(
        !target.join("old").exists(),
        "old files and their empty directories go"
    );
    assert_eq!(
        fs::read_to_string(target.join("include/user.h")).expect("kept"),
        "mine"
    );
    assert_eq!(
        fs::read(target.join("set_env.sh")).expect("readable"),
        fs::read(prefix().join("set_env.sh")).expect("readable")
    );
}

#[test]
fn a_link_in_the_way_is_not_followed() {
    let scratch = Scratch::new("links");
    let (target, elsewhere) = (scratch.path().join("kit"), scratch.path().join("elsewhere"));
    fs::create_dir_all(&target).expect("made");
    fs::create_dir_all(&elsewhere).expect("made");
    symlink(&elsewhere, target.join("lib64")).expect("linked");
    assert_refused(install(&target).arg("--force"), 2, &["lib64", "in the way"]);
    assert!(
        tree(&elsewhere).is_empty(),
        "nothing was written through the link"
    );
}

#[test]
fn a_manifest_that_leads_outside_is_refused() {
    let scratch = Scratch::new("evil");
    let target = scratch.path().join("kit");
    install_well(&mut install(&target));
    let victim = scratch.file("victim.txt", "keep me");
    let list = target.join("share/cannery/manifest");
    let text = fs::read_to_string(&list).expect("readable");
    fs::write(&list, text + "../victim.txt\n").expect("written");
    assert_refused(&mut install(&target), 2, &["outside"]);
    assert!(victim.exists());
}

#[test]
fn a_toolkit_cannot_be_installed_into_itself() {
    for place in [prefix(), prefix().join("below"), prefix().join("share/x")] {
        assert_refused(&mut install(&place), 2, &["inside each other"]);
    }
    assert!(!prefix().join("below").exists());
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let scratch = Scratch::new("blocked");
    let file = scratch.file("file", "in the way");
    assert_refused(&mut install(&file), 2, &["file"]);
    assert_refused(&mut install(&file.join("below")), 2, &["below"]);
}
