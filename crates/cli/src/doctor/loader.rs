//! Which `libascendcl.so` a program loads, and why.
//!
//! The order is the loader's: the program's RPATH (when it has no RUNPATH), `LD_LIBRARY_PATH`, its
//! RUNPATH, the cache of ldconfig, the directories of the system.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::elf::{self, Dynamic};
use super::verdict::Verdict;
use crate::prefix::Prefix;
use crate::run;

/// The names under which programs ask for it.
const NAMES: [&str; 2] = ["libascendcl.so", "libacl_rt.so"];
/// A name that only this project's library holds.
const MARK: &[u8] = b"cannery_info";
const SYSTEM: [&str; 6] = [
    "/lib64",
    "/usr/lib64",
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib",
    "/usr/lib",
];

/// A library, and the reason why the loader takes it.
struct Choice {
    path: PathBuf,
    reason: String,
}

/// The library of this shell, that of a program, and what is loaded before either.
pub(super) fn examine(prefix: Option<&Prefix>, program: Option<&Path>) -> Vec<Verdict> {
    let mut found = vec![in_this_shell(prefix)];
    if let Some(preloaded) = env::var_os("LD_PRELOAD").filter(|value| !value.is_empty()) {
        found.push(Verdict::note("LD_PRELOAD", preloaded.display()).because(
            "these are loaded first; names of AscendCL that they define are taken from them",
        ).remedy("unset LD_PRELOAD unless that is wanted"));
    }
    if let Some(program) = program {
        found.push(of_program(prefix, program));
    }
    found
}

fn in_this_shell(prefix: Option<&Prefix>) -> Verdict {
    let name = "library";
    let use_run = "start programs with `cannery run`, or source set_env.sh of the toolkit";
    let Some(choice) = choose(NAMES[0], &Dynamic::default(), &library_path()) else {
        return Verdict::note(name, "none in the search path of this shell")
            .because("a program that is started without cannery does not find libascendcl.so")
            .remedy(use_run);
    };
    let found = choice.path.display().to_string();
    match owner(prefix, &choice.path) {
        Owner::This => Verdict::ok(name, found).because(choice.reason),
        Owner::Other => Verdict::note(name, found)
            .because(format!("{}: Cannery, but of another toolkit than this tool's", choice.reason))
            .remedy(use_run),
        Owner::Foreign => Verdict::warn(name, found)
            .because(format!(
                "{}: not Cannery, so programs started without `cannery run` load the vendor's library or a stub",
                choice.reason
            ))
            .remedy(use_run),
    }
}

fn of_program(prefix: Option<&Prefix>, program: &Path) -> Verdict {
    let name = "program";
    let Some(path) = run::found(program.as_os_str()) else {
        return Verdict::fail(name, format!("{} is not there", program.display()))
            .remedy("give its path, or the name of a command in PATH");
    };
    let shown = path.display().to_string();
    let (file, mode) = match (fs::read(&path), fs::metadata(&path)) {
        (Ok(file), Ok(about)) => (file, about.permissions().mode()),
        (Err(cause), _) | (_, Err(cause)) => {
            return Verdict::warn(name, shown)
                .because(format!("cannot be read: {cause}"))
                .remedy("give a program file that this user may read");
        }
    };
    if mode & 0o6000 != 0 {
        return Verdict::fail(name, shown)
            .because("it is set-user-id or set-group-id, so the loader ignores LD_LIBRARY_PATH")
            .remedy("run a copy without that bit");
    }
    if file.starts_with(b"#!") {
        let line = file.split(|byte| *byte == b'\n').next().unwrap_or_default();
        return Verdict::note(name, shown)
            .because(format!(
                "a script ({}); its interpreter loads the library, see the lines before",
                String::from_utf8_lossy(line)
            ))
            .remedy("have the interpreter examined: give it as the program");
    }
    let origin = path.canonicalize().ok();
    let origin = origin
        .as_deref()
        .and_then(Path::parent)
        .unwrap_or(Path::new("/"));
    let Some(dynamic) = elf::dynamic(&file, origin) else {
        return Verdict::warn(name, shown)
            .because("no 64-bit program file for this machine")
            .remedy("give the program itself, built for this machine");
    };
    let Some(wanted) = NAMES
        .into_iter()
        .find(|name| dynamic.needed.iter().any(|n| n == name))
    else {
        return Verdict::note(name, shown).because(
            "it does not name libascendcl.so; if it loads it later (dlopen), LD_LIBRARY_PATH decides",
        ).remedy("start it with `cannery run`, which sets LD_LIBRARY_PATH");
    };
    with_needed(prefix, shown, wanted, &dynamic)
}

/// A program that names the library: what it loads under `cannery run`.
fn with_needed(prefix: Option<&Prefix>, shown: String, wanted: &str, dynamic: &Dynamic) -> Verdict {
    let name = "program";
    let mut path = library_path();
    if let Some(prefix) = prefix {
        path.insert(0, prefix.libraries());
    }
    let Some(choice) = choose(wanted, dynamic, &path) else {
        return Verdict::fail(name, shown).because(format!("no {wanted} anywhere it looks")).remedy("install the wheel, or run `make build` in the source tree, and start it with `cannery run`");
    };
    let loads = format!("{shown} loads {}", choice.path.display());
    match owner(prefix, &choice.path) {
        Owner::This => Verdict::ok(name, loads).because(format!("under `cannery run`: {}", choice.reason)),
        Owner::Other => Verdict::warn(name, loads)
            .because(format!("{}: Cannery of another toolkit, even under `cannery run`", choice.reason))
            .remedy("take the RPATH out of the program (patchelf --remove-rpath), or use that toolkit's tool"),
        Owner::Foreign => Verdict::fail(name, loads)
            .because(format!(
                "{}: that goes before LD_LIBRARY_PATH, so even `cannery run` cannot put Cannery in its place",
                choice.reason
            ))
            .remedy(
                "take the RPATH out (patchelf --remove-rpath PROGRAM), or link with \
                 -Wl,--enable-new-dtags, which makes it a RUNPATH",
            ),
    }
}

enum Owner {
    This,
    Other,
    Foreign,
}

fn owner(prefix: Option<&Prefix>, path: &Path) -> Owner {
    let real = path.canonicalize().ok();
    let ours = prefix.and_then(|prefix| prefix.library().canonicalize().ok());
    if real.is_some() && real == ours {
        return Owner::This;
    }
    let file = fs::read(path).unwrap_or_default();
    if file.windows(MARK.len()).any(|window| window == MARK) {
        Owner::Other
    } else {
        Owner::Foreign
    }
}

/// The entries of `LD_LIBRARY_PATH`; an empty one is the current directory.
fn library_path() -> Vec<PathBuf> {
    let Some(path) = env::var_os("LD_LIBRARY_PATH").filter(|path| !path.is_empty()) else {
        return Vec::new();
    };
    env::split_paths(&path)
        .map(|entry| {
            if entry.as_os_str().is_empty() {
                PathBuf::from(".")
            } else {
                entry
            }
        })
        .collect()
}

fn choose(wanted: &str, dynamic: &Dynamic, library_path: &[PathBuf]) -> Option<Choice> {
    let rpath: &[PathBuf] = if dynamic.runpath.is_empty() {
        &dynamic.rpath
    } else {
        &[]
    };
    let system: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    in_list(wanted, rpath, "RPATH of the program")
        .or_else(|| in_list(wanted, library_path, "LD_LIBRARY_PATH"))
        .or_else(|| in_list(wanted, &dynamic.runpath, "RUNPATH of the program"))
        .or_else(|| in_cache(wanted))
        .or_else(|| in_list(wanted, &system, "the directories of the system"))
}

/// The first of these directories that has the library.
fn in_list(wanted: &str, places: &[PathBuf], what: &str) -> Option<Choice> {
    let has = |place: &PathBuf| place.join(wanted).is_file();
    let index = places.iter().position(has)?;
    let earlier = match index {
        0 => String::new(),
        _ => ", the entries before have none".to_owned(),
    };
    Some(Choice {
        path: places.get(index)?.join(wanted),
        reason: format!("entry {} of {what}{earlier}", index + 1),
    })
}

/// What ldconfig's cache names.
fn in_cache(wanted: &str) -> Option<Choice> {
    let output = ["/sbin/ldconfig", "/usr/sbin/ldconfig"]
        .into_iter()
        .filter(|tool| Path::new(tool).is_file())
        .find_map(|tool| {
            Command::new(tool)
                .arg("-p")
                .stdin(Stdio::null())
                .output()
                .ok()
        })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let path = text.lines().find_map(|line| {
        let (name, path) = line.trim().split_once(" => ")?;
        (name.split(' ').next() == Some(wanted)).then(|| PathBuf::from(path))
    })?;
    Some(Choice {
        path,
        reason: "the cache of ldconfig (/etc/ld.so.conf)".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_loader() {
        let scratch = env::temp_dir().join(format!("cannery-loader-{}", std::process::id()));
        let places: Vec<PathBuf> = ["empty", "rpath", "env", "runpath"]
            .iter()
            .map(|name| scratch.join(name))
            .collect();
        for place in &places {
            fs::create_dir_all(place).expect("a directory");
        }
        for place in &places[1..] {
            fs::write(place.join("libascendcl.so"), "x").expect("a file");
        }
        let path = [places[0].clone(), places[2].clone()];
        let chosen = |dynamic: &Dynamic, path: &[PathBuf]| {
            choose("libascendcl.so", dynamic, path).map(|choice| (choice.path, choice.reason))
        };
        let old = Dynamic {
            rpath: vec![places[1].clone()],
            ..Dynamic::default()
        };
        let new = Dynamic {
            runpath: vec![places[3].clone()],
            rpath: vec![places[1].clone()],
            ..Dynamic::default()
        };
        let (first, reason) = chosen(&old, &path).expect("one");
        assert!(
            first.starts_with(&places[1]) && reason.contains("RPATH"),
            "{reason}"
        );
        let (first, reason) = chosen(&new, &path).expect("one");
        assert!(
            first.starts_with(&places[2]) && reason.contains("entry 2"),
            "{reason}"
        );
        let (first, reason) = chosen(&new, &path[..1]).expect("one");
        assert!(
            first.starts_with(&places[3]) && reason.contains("RUNPATH"),
            "{reason}"
        );
        fs::remove_dir_all(scratch).expect("removed");
    }
}
