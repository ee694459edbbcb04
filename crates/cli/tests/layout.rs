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
        "libge_runner.so",
        "libgraph.so",
        "libhccl.so",
        "libmsprofiler.so",
        "libruntime.so",
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

/// What a program that names one companion and nothing else includes, and calls through it.
const ALONE: [(&str, &str, &str); 8] = [
    (
        "acl_tdt_queue",
        "acl/acl_tdt_queue.h",
        "acltdtQueueRoute *route = acltdtCreateQueueRoute(7, 9); uint32_t to = 0; size_t size = 0; \
         good = acltdtGetQueueRouteParam(route, ACL_TDT_QUEUE_ROUTE_DST_UINT32, 4, &size, &to) == 0 \
         && to == 9 && size == 4;",
    ),
    (
        "acl_tdt_channel",
        "acl/acl_tdt.h",
        "int64_t shape[2] = {3, 5}, got[2] = {0, 0}; char data[15]; \
         acltdtDataItem *item = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, shape, 2, ACL_INT8, data, 15); \
         good = acltdtGetDimsFromItem(item, got, 2) == 0 && got[0] == 3 && got[1] == 5 \
         && acltdtGetDataAddrFromItem(item) == data;",
    ),
    (
        "ascend_dump",
        "acl/acl_dump.h",
        "good = acldumpGetPath(0) == NULL && acldumpRegCallback(NULL, 0) == 207000;",
    ),
    (
        "acl_op_compiler",
        "stddef.h",
        "extern size_t aclGetCompileoptSize(int); extern int aclGetCompileopt(int, char *, size_t); \
         char text[16] = \"\"; good = aclGetCompileoptSize(10) == 8 && aclGetCompileopt(10, text, 16) == 0 \
         && strcmp(text, \"disable\") == 0;",
    ),
    (
        "acl_dvpp",
        "acl/ops/acl_dvpp.h",
        "void *block = NULL; good = acldvppMalloc(&block, 0) != 0 && acldvppFree(NULL) != 0;",
    ),
    (
        "acl_dvpp_mpi",
        "hi_dvpp.h",
        "void *block = NULL; good = hi_mpi_dvpp_malloc(0, &block, 0) != 0 && hi_mpi_dvpp_free(NULL) != 0;",
    ),
    (
        "hccl",
        "stdint.h",
        "union value { int64_t number; } none = {0}; extern int32_t HcclSetConfig(int32_t, union value); \
         good = HcclSetConfig(0, none) == 0; \
         extern int32_t HcclAllReduce(void); \
         good = good && HcclAllReduce() == 207000;",
    ),
    (
        "graph",
        "stdint.h",
        "extern int32_t _ZN2ge10GEFinalizeEv(void); extern void _ZN2ge5GraphC1EPKc(void *, const char *); \
         void *made[2] = {&good, &good}; _ZN2ge5GraphC1EPKc(made, \"graph\"); \
         good = made[0] == NULL && _ZN2ge10GEFinalizeEv() == 207000;",
    ),
];

#[test]
fn each_companion_links_alone() {
    let root = prefix();
    let root = root.to_str().expect("UTF-8");
    for (name, header, calls) in ALONE {
        let scratch = Scratch::new("alone");
        let text = format!(
            "#include <stdio.h>\n#include <string.h>\n#include \"{header}\"\nint main(void)\n{{\n\
             int good = 0;\n{{ {calls} }}\nputs(good ? \"good\" : \"bad\");\nreturn 0;\n}}\n"
        );
        let source = scratch.file("program.c", &text);
        let program = scratch.path().join("program");
        let output = finish(
            Command::new("cc")
                .args(["-std=c99", "-Wl,-z,defs", "-Wl,-z,now"])
                .arg(&source)
                .arg("-o")
                .arg(&program)
                .args(flags_of(root, "include", "lib64", name)),
        );
        assert!(output.status.success(), "{name}: {}", stderr_of(&output));
        let needed = dynamic(&program);
        let own = format!("Shared library: [lib{name}.so]");
        assert!(needed.contains(&own), "{name}: {needed}");
        assert!(!needed.contains("libascendcl"), "{name}: {needed}");
        let said = stdout_of(tool_of(&prefix()).args(["run", "-q", "--"]).arg(&program));
        assert_eq!(said, "good\n", "{name}");
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
