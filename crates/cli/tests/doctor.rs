//! `cannery doctor`: what it finds on this machine, and under limits that make programs fail.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use common::{Scratch, cannery, finish, prefix, script, stderr_of};
use serde_json::Value;

struct Answer {
    code: Option<i32>,
    checks: Vec<Value>,
}

impl Answer {
    fn of(output: &Output) -> Self {
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|cause| panic!("{cause}: {}", stderr_of(output)));
        let checks = report["checks"].as_array().expect("a list").clone();
        let failing = checks.iter().any(|check| check["status"] == "fail");
        assert_eq!(report["ok"], !failing);
        // Whatever is not well has something that can be done.
        for check in checks.iter().filter(|check| check["status"] != "ok") {
            assert_ne!(check["remedy"], "", "{check:#}");
        }
        assert_eq!(output.status.code(), Some(i32::from(failing)), "{report:#}");
        Self {
            code: output.status.code(),
            checks,
        }
    }

    fn check(&self, name: &str) -> &Value {
        let found = self.checks.iter().find(|check| check["name"] == name);
        found.unwrap_or_else(|| panic!("no check {name} in {:#?}", self.checks))
    }
}

fn doctor(command: &mut Command) -> Answer {
    Answer::of(&finish(command))
}

/// A shell line without the right to lock memory beyond the limit (root has it).
fn without_rights(line: &str) -> Command {
    script(
        "sh",
        &format!(
            "if [ \"$(id -u)\" = 0 ]; then drop='setpriv --inh-caps=-all --bounding-set=-all'; else drop=; fi; {line}"
        ),
    )
}

#[test]
fn a_machine_that_runs_these_tests_is_well() {
    let scratch = Scratch::new("runtime");
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o700)).expect("rights");
    let mut command = cannery(["doctor", "--json", "--hbm", "64M"]);
    let answer = doctor(command.env("CANNERY_RUNTIME_DIR", scratch.path()));
    assert_eq!(answer.code, Some(0));
    for name in [
        "toolkit",
        "settings",
        "first calls",
        "kernel",
        "runtime directory",
    ] {
        assert_eq!(answer.check(name)["status"], "ok", "{name}");
    }
    for check in &answer.checks {
        for key in ["name", "status", "found", "why", "remedy"] {
            assert!(check[key].is_string(), "{key} in {check:#}");
        }
        if check["status"] == "fail" || check["status"] == "warn" {
            assert_ne!(check["why"], "", "{check:#}");
        }
    }
}

#[test]
fn a_tiny_lock_limit_warns_and_fails_under_strict() {
    let mut command = without_rights("ulimit -l 64; $drop \"$CANNERY\" doctor --json");
    let answer = doctor(&mut command);
    let lock = answer.check("lock limit");
    assert_eq!(
        (&lock["status"], &lock["found"]),
        (&"warn".into(), &"64 KiB".into())
    );
    assert!(
        lock["remedy"]
            .as_str()
            .expect("a text")
            .contains("ulimit -l unlimited")
    );
    assert_eq!(answer.check("first calls")["status"], "ok");

    let mut command = without_rights("ulimit -l 0; $drop \"$CANNERY\" doctor --json --pin strict");
    let answer = doctor(&mut command);
    assert_eq!(answer.code, Some(1));
    assert_eq!(answer.check("lock limit")["status"], "fail");
    let calls = answer.check("first calls");
    assert_eq!(calls["status"], "fail");
    assert!(
        calls["found"]
            .as_str()
            .expect("a text")
            .contains("aclrtMallocHost answers 207001"),
        "{calls}"
    );

    let off = doctor(&mut without_rights(
        "ulimit -l 0; $drop \"$CANNERY\" doctor --json --pin off",
    ));
    assert_eq!(off.check("lock limit")["status"], "ok");
}

#[test]
fn limits_of_the_shell_are_named() {
    let answer = doctor(&mut script(
        "bash",
        "ulimit -n 100; ulimit -f 1000000; \"$CANNERY\" doctor --json",
    ));
    assert_eq!(answer.check("open files")["status"], "warn");
    assert_eq!(answer.check("open files")["found"], "100");
    assert_eq!(answer.check("file size")["status"], "warn");
    let answer = doctor(&mut script(
        "bash",
        "ulimit -v 4000000; \"$CANNERY\" doctor --json",
    ));
    let space = answer.check("address space");
    assert_eq!(space["status"], "warn");
    assert!(
        space["remedy"]
            .as_str()
            .expect("a text")
            .contains("ulimit -v")
    );
}

#[test]
fn a_refused_setting_fails_in_the_words_of_the_library() {
    let mut command = cannery(["doctor", "--json", "--pin", "yes"]);
    let answer = doctor(&mut command);
    assert_eq!(answer.code, Some(1));
    let settings = answer.check("settings");
    assert_eq!(settings["status"], "fail");
    assert!(
        settings["why"].as_str().expect("a text").contains("strict"),
        "{settings}"
    );
}

#[test]
fn the_library_of_a_shell_is_found_in_the_order_of_the_loader() {
    let scratch = Scratch::new("loader");
    let foreign = scratch.path().join("foreign");
    fs::create_dir(&foreign).expect("a directory");
    fs::write(foreign.join("libascendcl.so"), "not ours").expect("a file");
    let ours = prefix().join("lib64");
    let with = |path: String| doctor(cannery(["doctor", "--json"]).env("LD_LIBRARY_PATH", path));

    let found = with(format!("{}:{}", foreign.display(), ours.display()));
    let library = found.check("library");
    assert_eq!(library["status"], "warn");
    assert!(
        library["found"]
            .as_str()
            .expect("a text")
            .starts_with(&*foreign.to_string_lossy())
    );
    assert!(
        library["why"]
            .as_str()
            .expect("a text")
            .contains("entry 1 of LD_LIBRARY_PATH")
    );

    let found = with(format!("{}:{}", scratch.path().display(), ours.display()));
    let library = found.check("library");
    assert_eq!(library["status"], "ok", "{library:#}");
    assert!(
        library["why"]
            .as_str()
            .expect("a text")
            .contains("entry 2 of LD_LIBRARY_PATH")
    );
}

/// A program that names the library, linked with this flag for its search path.
fn program(scratch: &Path, place: &Path, flag: &str) -> String {
    let source = scratch.join("p.c");
    fs::write(
        &source,
        "int aclFinalize(void); int main(void) { return aclFinalize() == 1; }",
    )
    .expect("a file");
    let out = scratch.join(flag.trim_start_matches('-'));
    let output = finish(
        Command::new("cc")
            .arg(&source)
            .arg("-o")
            .arg(&out)
            .arg(format!("-L{}", prefix().join("lib64").display()))
            .args(["-Wl,--no-as-needed", "-lascendcl"])
            .arg(format!("-Wl,{flag},-rpath,{}", place.display())),
    );
    assert!(output.status.success(), "{}", stderr_of(&output));
    out.to_string_lossy().into_owned()
}

#[test]
fn an_rpath_to_another_library_fails_and_a_runpath_does_not() {
    let scratch = Scratch::new("rpath");
    let foreign = scratch.path().join("foreign");
    fs::create_dir(&foreign).expect("a directory");
    fs::write(foreign.join("libascendcl.so"), "not ours").expect("a file");

    let fixed = program(scratch.path(), &foreign, "--disable-new-dtags");
    let answer = doctor(cannery(["doctor", "--json"]).arg(&fixed));
    let found = answer.check("program");
    assert_eq!(
        (answer.code, &found["status"]),
        (Some(1), &"fail".into()),
        "{found:#}"
    );
    assert!(found["why"].as_str().expect("a text").contains("RPATH"));
    // The proof that it is so: the loader takes the foreign file and refuses it.
    assert!(
        !finish(cannery(["run", "-q", "--"]).arg(&fixed))
            .status
            .success()
    );

    let open = program(scratch.path(), &foreign, "--enable-new-dtags");
    let answer = doctor(cannery(["doctor", "--json"]).arg(&open));
    assert_eq!(
        answer.check("program")["status"],
        "ok",
        "{:#}",
        answer.check("program")
    );
    assert!(
        finish(cannery(["run", "-q", "--"]).arg(&open))
            .status
            .success()
    );
}

#[test]
fn a_runtime_directory_that_others_may_write_fails() {
    let scratch = Scratch::new("open");
    let place = scratch.path().join("shared");
    fs::create_dir(&place).expect("a directory");
    fs::set_permissions(&place, fs::Permissions::from_mode(0o777)).expect("rights");
    let answer = doctor(cannery(["doctor", "--json"]).env("CANNERY_RUNTIME_DIR", &place));
    let found = answer.check("runtime directory");
    assert_eq!((answer.code, &found["status"]), (Some(1), &"fail".into()));
    assert!(found["why"].as_str().expect("a text").contains("777"));
    fs::set_permissions(&place, fs::Permissions::from_mode(0o700)).expect("rights");
    let answer = doctor(cannery(["doctor", "--json"]).env("CANNERY_RUNTIME_DIR", &place));
    assert_eq!(answer.check("runtime directory")["status"], "ok");
}

#[test]
fn a_runtime_directory_that_cannot_be_used_is_not_to_be_mended_but_replaced() {
    let scratch = Scratch::new("sticky");
    let everybodys = scratch.path().join("sticky");
    fs::create_dir(&everybodys).expect("a directory");
    fs::set_permissions(&everybodys, fs::Permissions::from_mode(0o1777)).expect("rights");
    for place in [
        "/etc/passwd",
        "/dev/null",
        "/etc/passwd/below",
        "/proc",
        "/proc/cannery",
        "/sys",
        everybodys.to_str().expect("a name"),
    ] {
        for (language, advice) in [("en", "choose a directory"), ("zh", "请选用您自己的")] {
            let ask = |arguments: &[&str]| {
                let mut command = cannery(["doctor"]);
                command.args(arguments);
                command.env("CANNERY_LANG", language);
                finish(command.env("CANNERY_RUNTIME_DIR", place))
            };
            let answer = Answer::of(&ask(&["--json"]));
            let found = answer.check("runtime directory");
            assert_eq!(found["status"], "fail", "{found:#}");
            let text = String::from_utf8_lossy(&ask(&[]).stdout).into_owned();
            assert!(text.contains(advice), "{text}");
            assert!(text.contains("CANNERY_RUNTIME_DIR="), "{text}");
            assert!(!text.contains("chmod"), "{text}");
        }
    }
}

#[test]
fn the_file_that_it_tries_is_gone_afterwards() {
    let scratch = Scratch::new("tried");
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o700)).expect("rights");
    let missing = scratch.path().join("a/b");
    for place in [scratch.path(), missing.as_path()] {
        let answer = doctor(cannery(["doctor", "--json"]).env("CANNERY_RUNTIME_DIR", place));
        assert_eq!(answer.check("runtime directory")["status"], "ok");
        let entries = fs::read_dir(place.ancestors().find(|place| place.exists()).expect("one"));
        for entry in entries.expect("a directory") {
            let name = entry.expect("an entry").file_name();
            assert!(!name.to_string_lossy().contains("doctor"), "{name:?}");
        }
    }
}

#[test]
fn whatever_is_not_well_has_a_remedy() {
    let scratch = Scratch::new("remedies");
    let script = scratch.path().join("script");
    fs::write(&script, "#!/bin/sh\n").expect("written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("rights");
    let script = script.to_str().expect("a name");
    for program in ["/etc/passwd", "/tmp", "/bin/sh", script, "/no/such/program"] {
        let mut command = cannery(["doctor", "--json", program]);
        // `Answer::of` looks at the remedies.
        let answer = doctor(command.env("LD_PRELOAD", "libm.so.6"));
        assert_ne!(answer.check("program")["status"], "ok", "{program}");
        assert_eq!(answer.check("LD_PRELOAD")["status"], "note");
    }
}

#[test]
fn a_tool_without_its_toolkit_says_how_to_get_one() {
    let scratch = Scratch::new("alone");
    let alone = scratch.path().join("cannery");
    common::copy_tool(&alone);
    let mut command = Command::new(&alone);
    let answer = doctor(
        command
            .args(["doctor", "--json"])
            .env_remove("CANNERY_PREFIX"),
    );
    let found = answer.check("toolkit");
    assert_eq!((answer.code, &found["status"]), (Some(1), &"fail".into()));
    assert!(
        found["remedy"]
            .as_str()
            .expect("a text")
            .contains("make build")
    );
}

#[test]
fn the_text_marks_each_line_and_has_no_colours_in_a_pipe() {
    let output = finish(cannery(["doctor"]).env("CLICOLOR_FORCE", "1"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("\n  ok    kernel"), "{text}");
    assert!(!text.contains('\x1b'), "{text}");
}

#[test]
fn it_speaks_chinese_where_the_texts_do() {
    // Under every limit that it has something to say about.
    let line = "ulimit -l 64; ulimit -n 60; $drop \"$CANNERY\" doctor --hbm 1T /bin/sh";
    let mut command = without_rights(line);
    command
        .env("CANNERY_LANG", "zh")
        .env("CANNERY_PIN", "strict");
    let output = finish(&mut command);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = stderr_of(&output);
    assert_eq!(output.status.code(), Some(1), "{text}{errors}");
    for word in [
        "64 KiB",
        "CANNERY_PIN=strict",
        "207001",
        "ulimit -l unlimited",
        "--hbm",
        "/bin/sh",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    // Sentences, and not names, are Chinese: no three small words of English in a row.
    for line in text.lines().chain(errors.lines()) {
        let small = |word: &str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase());
        let words: Vec<&str> = line.split(' ').collect();
        let sentence = words
            .windows(3)
            .any(|three| three.iter().all(|word| small(word)));
        assert!(!sentence, "{line}");
    }
    let chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    assert!(errors.chars().any(chinese), "{errors}");
    assert!(
        text.lines()
            .filter(|line| line.chars().any(chinese))
            .count()
            > 10,
        "{text}"
    );
    // What programs read stays as it is.
    let mut command = cannery(["doctor", "--json", "--hbm", "64M"]);
    let output = finish(command.env("CANNERY_LANG", "zh"));
    assert!(!String::from_utf8_lossy(&output.stdout).chars().any(chinese));
}
