//! The prefix as build scripts see it: the usual places, pkg-config, linking.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{Scratch, finish, prefix, stderr_of, stdout_of, tool_of};

/// A program that links by the usual names and checks that it got this runtime.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <string.h>
#include "acl/acl.h"

int main(void)
{
    const char *name = aclrtGetSocName();

    if (name == NULL || strcmp(name, "Ascend910B3") != 0) {
        return 1;
    }
    puts(name);
    return 0;
}
"#;

/// Compiles and links `PROGRAM` with these flags, and runs it.
fn build_and_run(flags: &[String]) {
    let scratch = Scratch::new("link");
    let source = scratch.file("program.c", PROGRAM);
    let program = scratch.path().join("program");
    let output = finish(
        Command::new("cc")
            .arg("-std=c99")
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .args(flags),
    );
    assert!(output.status.success(), "{flags:?}: {}", stderr_of(&output));
    let text = stdout_of(tool_of(&prefix()).args(["run", "-q", "--"]).arg(&program));
    assert_eq!(text, "Ascend910B3\n", "{flags:?}");
}

fn flags_of(root: &str, include: &str, libraries: &str, name: &str) -> Vec<String> {
    vec![
        format!("-I{root}/{include}"),
        format!("-L{root}/{libraries}"),
        format!("-l{name}"),
    ]
}

/// The dynamic section of a library.
fn dynamic(library: &Path) -> String {
    stdout_of(Command::new("readelf").arg("-d").arg(library))
}

#[test]
fn every_usual_place_links() {
    let root = prefix();
    let root = root.to_str().expect("UTF-8");
    let machine = format!("{}-linux", std::env::consts::ARCH);
    for (include, libraries) in [
        ("include".to_owned(), "lib64".to_owned()),
        ("include".to_owned(), "lib64/stub".to_owned()),
        ("include".to_owned(), "devlib".to_owned()),
        ("acllib/include".to_owned(), "acllib/lib64".to_owned()),
        ("fwkacllib/include".to_owned(), "fwkacllib/lib64".to_owned()),
        (
            "runtime/include".to_owned(),
            "runtime/lib64/stub".to_owned(),
        ),
        (format!("{machine}/include"), format!("{machine}/lib64")),
        (format!("{machine}/include"), format!("{machine}/devlib")),
    ] {
        build_and_run(&flags_of(root, &include, &libraries, "ascendcl"));
    }
}

#[test]
fn both_names_of_the_runtime_are_one_library() {
    let root = prefix();
    build_and_run(&flags_of(
        root.to_str().expect("UTF-8"),
        "include",
        "lib64",
        "acl_rt",
    ));
    assert_eq!(
        root.join("lib64/libacl_rt.so")
            .canonicalize()
            .expect("there"),
        root.join("lib64/libascendcl.so")
    );
    let text = dynamic(&root.join("lib64/libascendcl.so"));
    assert!(text.contains("soname: [libascendcl.so]"), "{text}");
}

#[test]
fn companions_lean_on_the_runtime() {
    for name in [
        "libacl_dvpp.so",
        "libacl_dvpp_mpi.so",
        "libacl_op_compiler.so",
        "libacl_tdt_channel.so",
        "libacl_tdt_queue.so",
        "libascend_dump.so",
        "libhccl.so",
        "libmsprofiler.so",
    ] {
        let text = dynamic(&prefix().join("lib64").join(name));
        for line in [
            format!("soname: [{name}]"),
            "Shared library: [libascendcl.so]".to_owned(),
            "[$ORIGIN]".to_owned(),
        ] {
            assert!(text.contains(&line), "{name}: {line} in\n{text}");
        }
    }
}

#[test]
fn the_runtime_needs_only_the_system() {
    let text = dynamic(&prefix().join("lib64/libascendcl.so"));
    for line in text.lines().filter(|line| line.contains("(NEEDED)")) {
        let known = [
            "libc.so",
            "libm.so",
            "libgcc_s.so",
            "libpthread.so",
            "libdl.so",
            "librt.so",
            "ld-linux",
        ];
        assert!(known.iter().any(|name| line.contains(name)), "{line}");
    }
    assert!(
        !text.contains("RUNPATH") && !text.contains("RPATH"),
        "no path of the build machine: {text}"
    );
}

#[test]
fn pkg_config_flags_link() {
    let root = prefix();
    let place = root.join("lib/pkgconfig");
    let text = fs::read_to_string(place.join("ascendcl.pc")).expect("readable");
    // Read as pkg-config does, which a bare machine may lack.
    let mut variables = vec![("pcfiledir".to_owned(), place.to_string_lossy().into_owned())];
    let expand = |value: &str, variables: &[(String, String)]| {
        variables
            .iter()
            .fold(value.to_owned(), |value, (name, with)| {
                value.replace(&format!("${{{name}}}"), with)
            })
    };
    let mut flags = Vec::new();
    for line in text.lines() {
        if let Some((name, value)) = line.split_once('=').filter(|(name, _)| !name.contains(':')) {
            let value = expand(value, &variables);
            variables.push((name.to_owned(), value));
        } else if let Some((_, value)) = line
            .split_once(": ")
            .filter(|(key, _)| matches!(*key, "Cflags" | "Libs"))
        {
            flags.extend(
                expand(value, &variables)
                    .split_whitespace()
                    .map(str::to_owned),
            );
        }
    }
    assert_eq!(flags.len(), 3, "{flags:?}");
    build_and_run(&flags);
}

#[test]
fn cmake_files_are_relative_and_name_what_exists() {
    let place = prefix().join("lib/cmake/AscendCL");
    let config = fs::read_to_string(place.join("AscendCLConfig.cmake")).expect("readable");
    assert!(config.contains("${CMAKE_CURRENT_LIST_DIR}/../../.."));
    assert_eq!(
        place.join("../../..").canonicalize().expect("there"),
        prefix()
    );
    let version = fs::read_to_string(place.join("AscendCLConfigVersion.cmake")).expect("readable");
    assert!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
}

#[test]
fn no_file_names_the_build_machine() {
    let root = prefix();
    let root = root.to_string_lossy();
    for file in [
        "set_env.sh",
        "lib/pkgconfig/ascendcl.pc",
        "lib/cmake/AscendCL/AscendCLConfig.cmake",
        "version.info",
    ] {
        let text = fs::read_to_string(prefix().join(file)).expect("readable");
        assert!(!text.contains(root.as_ref()), "{file}");
    }
}

#[test]
fn the_python_module_loads_from_both_places() {
    let line = "import acl; print(acl.__file__)";
    let text = stdout_of(tool_of(&prefix()).args(["run", "-q", "--", "python3", "-c", line]));
    assert_eq!(
        text.trim(),
        prefix().join("python/acl.abi3.so").to_string_lossy()
    );
    let packages = prefix().join("python/site-packages");
    let text = stdout_of(
        Command::new("python3")
            .args(["-c", line])
            .env("PYTHONPATH", &packages),
    );
    assert_eq!(text.trim(), packages.join("acl.abi3.so").to_string_lossy());
}
