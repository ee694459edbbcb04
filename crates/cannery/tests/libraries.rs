//! Which library: one by its path, two side by side, one that lacks functions, files that are none.

#![allow(clippy::unwrap_used)] // a test that cannot go on fails

mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cannery::{Code, Context, Device, DeviceBuffer, Library, PinnedBuffer, Pool, Stream};
use common::{library, random};

const COUNT: usize = 300_007; // 1.2 MB, and no round number

/// A directory of its own, removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("cannery-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Everything goes through the functions of this library, and nothing through another's.
fn round_trip(library: Library, seed: u64) {
    let context = Device::new(library, 0).unwrap().new_context().unwrap();
    let stream = Stream::new(&context).unwrap();
    let numbers = random(COUNT, seed);
    let sent = PinnedBuffer::from_slice(&context, &numbers).unwrap();
    let device = DeviceBuffer::<u32>::uninit(&context, COUNT).unwrap();
    let (_, device) = stream.copy(sent, device).unwrap().wait().unwrap();
    assert_eq!(device.to_vec().unwrap(), numbers);
}

#[test]
fn a_second_library_is_opened_by_its_path() {
    let first = library();
    let folder = Folder::new("second");
    let copy = folder.0.join("libascendcl.so");
    fs::copy(first.path(), &copy).unwrap();
    let second = Library::open(&copy).unwrap();
    assert_ne!(first, second);
    assert_eq!(second, Library::open(&copy).unwrap());
    assert_eq!(first, Library::open(first.path()).unwrap());
    assert_ne!(
        first.table().aclrtMalloc as usize,
        second.table().aclrtMalloc as usize
    );
    round_trip(first, 1);
    round_trip(second, 2);
    round_trip(first, 3);
}

/// A library that has some of the functions only and passes them on, as an older release would have fewer.
fn older(folder: &Path, real: &Path, without: &[&str]) -> PathBuf {
    let functions = [
        ("aclInit", "const char *a", "a"),
        ("aclrtGetDeviceCount", "unsigned *a", "a"),
        ("aclrtSetDevice", "int a", "a"),
        ("aclrtResetDevice", "int a", "a"),
        ("aclrtGetCurrentContext", "void **a", "a"),
        ("aclrtSetCurrentContext", "void *a", "a"),
        ("aclrtMalloc", "void **a, unsigned long b, int c", "a, b, c"),
        ("aclrtFree", "void *a", "a"),
        (
            "aclrtMemcpy",
            "void *a, unsigned long b, const void *c, unsigned long d, int e",
            "a, b, c, d, e",
        ),
    ];
    let mut source = String::from("#include <dlfcn.h>\nstatic void *real(const char *name)\n{\n");
    writeln!(
        source,
        "    void *at = dlopen(\"{}\", RTLD_NOW);",
        real.display()
    )
    .unwrap();
    writeln!(source, "    return at ? dlsym(at, name) : 0;\n}}").unwrap();
    for (name, takes, gives) in functions {
        if !without.contains(&name) {
            writeln!(
                source,
                "int {name}({takes}) {{ return ((int (*)({takes}))real(\"{name}\"))({gives}); }}"
            )
            .unwrap();
        }
    }
    let text = "aclGetRecentErrMsg";
    writeln!(
        source,
        "const char *{text}(void) {{ return ((const char *(*)(void))real(\"{text}\"))(); }}"
    )
    .unwrap();
    let (code, built) = (folder.join("older.c"), folder.join("libolder.so"));
    fs::write(&code, source).unwrap();
    let done = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&built, &code])
        .arg("-ldl")
        .status()
        .expect("a C compiler");
    assert!(done.success());
    built
}

#[test]
fn what_an_older_library_lacks_is_an_error_that_names_it() {
    let folder = Folder::new("older");
    let old = Library::open(older(&folder.0, library().path(), &[])).unwrap();
    assert!(old.missing().contains(&"aclrtMallocHost"));
    assert!(!old.missing().contains(&"aclrtMalloc"));

    let context = Device::new(old, 0).unwrap().context().unwrap();
    let numbers = random(COUNT, 4);
    let device = DeviceBuffer::from_slice(&context, &numbers).unwrap();
    assert_eq!(device.to_vec().unwrap(), numbers);

    let lacking = [
        ("aclrtCreateStream", Stream::new(&context).err()),
        (
            "aclrtMallocHost",
            PinnedBuffer::<u32>::zeroed(&context, 4).err(),
        ),
        (
            "aclrtMemset",
            DeviceBuffer::<u32>::zeroed(&context, 4).err(),
        ),
        (
            "aclrtMallocHost",
            Pool::pinned(&context).zeroed::<u32>(4).err(),
        ),
        ("aclrtSynchronizeDevice", context.synchronize().err()),
        ("aclrtGetSocName", old.soc_name().err()),
    ];
    for (function, error) in lacking {
        let error =
            error.unwrap_or_else(|| panic!("{function} is missing, but there was no error"));
        assert_eq!((error.code(), error.api()), (Code::NotSupported, function));
        assert!(error.message().contains(function), "{error}");
        assert!(error.message().contains("libolder.so"), "{error}");
    }
    // What was there still works.
    assert_eq!(device.to_vec().unwrap(), numbers);
}

#[test]
fn a_library_without_contexts_gives_none() {
    let folder = Folder::new("without");
    let path = older(&folder.0, library().path(), &["aclrtSetDevice"]);
    let old = Library::open(path).unwrap();
    let error = Device::new(old, 0).unwrap().context().unwrap_err();
    assert_eq!(
        (error.code(), error.api()),
        (Code::NotSupported, "aclrtSetDevice")
    );
    let error: cannery::Error = Device::new(old, 0).unwrap().new_context().unwrap_err();
    assert_eq!(error.api(), "aclrtCreateContext");
    let _: fn(Device) -> cannery::Result<std::sync::Arc<Context>> = |device| device.context();
}

#[test]
fn files_that_are_no_library_are_refused() {
    let folder = Folder::new("files");
    let text = folder.0.join("text.so");
    fs::write(&text, "not a library").unwrap();
    let libc = if Path::new("/lib/x86_64-linux-gnu/libm.so.6").exists() {
        "/lib/x86_64-linux-gnu/libm.so.6"
    } else {
        "libm.so.6"
    };
    for (path, words) in [
        (text.as_path(), "file too short"),
        (Path::new("/etc/passwd"), "invalid ELF header"),
        (&folder.0, "Is a directory"),
        (&folder.0.join("nothing.so"), "No such file"),
        (Path::new(libc), "no aclInit"),
    ] {
        let error = Library::open(path).unwrap_err();
        assert_eq!(error.code(), Code::LibraryNotFound);
        assert!(
            error.message().contains(&path.display().to_string()),
            "{error}"
        );
        // The words of the loader.
        assert!(error.message().contains(words), "{error}");
        assert!(error.location().file().ends_with("libraries.rs"));
    }
}
