//! The directory in which processes of one user share cards, notifies and events.

use std::env;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process;

use super::verdict::Verdict;

const ELSEWHERE: &str =
    "choose a directory of your own with mode 700, such as CANNERY_RUNTIME_DIR=$HOME/.cannery";

/// Whether the library can use it: the same rule as the library's own, and a file made there.
pub(super) fn examine() -> Verdict {
    let name = "runtime directory";
    let user = user();
    let path = place(user);
    let shown = path.display().to_string();
    match fs::symlink_metadata(&path) {
        Ok(about) if !about.is_dir() => Verdict::fail(name, shown)
            .because("something else than a directory has this name")
            .remedy(ELSEWHERE),
        Ok(about) if about.uid() != user => Verdict::fail(name, shown)
            .because(format!(
                "it belongs to user {}, and this is user {user}",
                about.uid()
            ))
            .remedy(ELSEWHERE),
        Ok(about) if about.mode() & 0o022 != 0 => {
            let remedy = mend(&path, about.mode());
            Verdict::fail(name, shown)
                .because(format!(
                    "others may write into it (mode {:o})",
                    about.mode() & 0o777
                ))
                .remedy(remedy)
        }
        Ok(about) => match try_file(&path) {
            Ok(()) => Verdict::ok(name, shown),
            Err(cause) => {
                // Root writes whatever the mode says: then the mode is not what is wrong.
                let remedy = if user != 0 && about.mode() & 0o300 != 0o300 {
                    mend(&path, about.mode())
                } else {
                    ELSEWHERE.to_owned()
                };
                Verdict::fail(name, shown)
                    .because(format!("no file can be made in it: {cause}"))
                    .remedy(remedy)
            }
        },
        Err(_) => match try_above(&path) {
            Ok(()) => Verdict::ok(name, format!("{shown} (made on first use)")),
            Err(cause) => Verdict::fail(name, shown)
                .because(format!("it does not exist and cannot be made: {cause}"))
                .remedy(ELSEWHERE),
        },
    }
}

/// What to do about wrong rights of a directory of one's own. One with the sticky bit, as /tmp has, is
/// meant for everybody and stays as it is.
fn mend(path: &Path, mode: u32) -> String {
    if mode & 0o1000 != 0 {
        return ELSEWHERE.to_owned();
    }
    format!(
        "set CANNERY_RUNTIME_DIR to a directory of your own with mode 700, or mend this one: chmod 700 {}",
        path.display()
    )
}

fn place(user: u32) -> PathBuf {
    let set = |name: &str| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    set("CANNERY_RUNTIME_DIR")
        .or_else(|| {
            set("XDG_RUNTIME_DIR")
                .filter(|dir| dir.is_dir())
                .map(|dir| dir.join("cannery"))
        })
        .unwrap_or_else(|| PathBuf::from(format!("/tmp/cannery-{user}")))
}

/// Makes a file in a directory and removes it: file systems such as /proc refuse what their rights allow.
fn try_file(directory: &Path) -> io::Result<()> {
    let path = directory.join(format!(".cannery-doctor-{}", process::id()));
    File::create_new(&path)?;
    fs::remove_file(&path)
}

/// Whether a missing directory can be made: tried in the nearest one above that exists.
fn try_above(path: &Path) -> io::Result<()> {
    let mut above = path.ancestors().skip(1).filter(|above| above.exists());
    // The path of one name only lies in the current directory.
    try_file(above.next().unwrap_or(Path::new(".")))
}

fn user() -> u32 {
    fs::metadata("/proc/self").map_or(0, |about| about.uid())
}
