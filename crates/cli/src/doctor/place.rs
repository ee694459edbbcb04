//! The directory in which processes of one user share cards, notifies and events.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::verdict::Verdict;

/// Whether the library can use it: the same rule as the library's own.
pub(super) fn examine() -> Verdict {
    let name = "runtime directory";
    let user = user();
    let path = place(user);
    let shown = path.display().to_string();
    let remedy = format!(
        "set CANNERY_RUNTIME_DIR to a directory of your own with mode 700, or mend this one: chmod 700 {shown}"
    );
    match fs::symlink_metadata(&path) {
        Ok(about) if !about.is_dir() => Verdict::fail(name, shown)
            .because("something else than a directory has this name")
            .remedy(remedy),
        Ok(about) if about.uid() != user => Verdict::fail(name, shown)
            .because(format!(
                "it belongs to user {}, and this is user {user}",
                about.uid()
            ))
            .remedy(remedy),
        Ok(about) if about.mode() & 0o022 != 0 => Verdict::fail(name, shown)
            .because(format!(
                "others may write into it (mode {:o})",
                about.mode() & 0o777
            ))
            .remedy(remedy),
        Ok(_) => Verdict::ok(name, shown),
        Err(_) => match writable_above(&path) {
            Some(_) => Verdict::ok(name, format!("{shown} (made on first use)")),
            None => Verdict::fail(name, shown)
                .because("it does not exist and cannot be made")
                .remedy(remedy),
        },
    }
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

/// The nearest directory above that exists, when this user may write there.
fn writable_above(path: &Path) -> Option<PathBuf> {
    let above = path.ancestors().skip(1).find(|above| above.exists())?;
    super::machine::may_write(above).then(|| above.to_path_buf())
}

fn user() -> u32 {
    fs::metadata("/proc/self").map_or(0, |about| about.uid())
}
