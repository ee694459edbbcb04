//! `cannery install`: a copy of the prefix elsewhere.
//!
//! A prefix is relocatable (every link and every script in it is relative to
//! itself), so a plain copy is an installation. `share/cannery/manifest` lists
//! what belongs to the toolkit: it makes a directory recognisable as ours, and
//! tells which files of an older version may be removed.

use std::collections::BTreeSet;
use std::fs::{self, FileType};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};
use std::process;

use crate::arguments::InstallOptions;
use crate::error::Error;
use crate::prefix::Prefix;

/// The list of the toolkit's files, one relative path a line.
const MANIFEST: &str = "share/cannery/manifest";

/// Copies the prefix of this tool to `options.directory`.
///
/// # Errors
///
/// The directory holds files of others (without `--force`), lies inside the
/// prefix, or cannot be written.
pub(crate) fn install(options: &InstallOptions) -> Result<(), Error> {
    let prefix = Prefix::of_this_tool()?;
    let target = absolute(&options.directory)?;
    let files = read_manifest(prefix.root())?.ok_or_else(|| {
        Error::refusal(format!(
            "{} has no {MANIFEST}: not a complete toolkit",
            prefix.root().display()
        ))
    })?;
    if overlaps(prefix.root(), &target) {
        return Err(Error::refusal(format!(
            "{} and the toolkit {} lie inside each other",
            target.display(),
            prefix.root().display()
        )));
    }
    match state(&target)? {
        State::Fresh => copy_fresh(prefix.root(), &target, &files)?,
        State::Ours(old) => {
            copy_into(prefix.root(), &target, &files)?;
            remove_stale(&target, &old, &files)?;
        }
        State::Foreign if options.force => copy_into(prefix.root(), &target, &files)?,
        State::Foreign => {
            return Err(Error::refusal(format!(
                "{} holds files that are not cannery's; --force copies in between them \
                 (none is removed, files of the same name are replaced)",
                target.display()
            )));
        }
    }
    let done = format!(
        "installed in {}; use it with: . {}/set_env.sh",
        target.display(),
        target.display()
    );
    crate::complain(&format!("cannery: {}\n", crate::language::said(&done)));
    Ok(())
}

/// What is at the target.
enum State {
    /// Nothing, or an empty directory.
    Fresh,
    /// A toolkit, with these files.
    Ours(BTreeSet<PathBuf>),
    /// Something else.
    Foreign,
}

fn state(target: &Path) -> Result<State, Error> {
    let cannot_read =
        |cause: &io::Error| Error::io(format!("cannot read {}", target.display()), cause);
    let mut entries = match fs::read_dir(target) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(State::Fresh),
        Err(cause) => return Err(cannot_read(&cause)),
    };
    if entries.next().is_none() {
        return Ok(State::Fresh);
    }
    Ok(read_manifest(target)?.map_or(State::Foreign, State::Ours))
}

/// The files that a prefix lists as its own; `None` when it has no list.
fn read_manifest(root: &Path) -> Result<Option<BTreeSet<PathBuf>>, Error> {
    let path = root.join(MANIFEST);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(Error::io(format!("cannot read {}", path.display()), &cause)),
    };
    let files: BTreeSet<PathBuf> = text
        .lines()
        .filter(|line| !line.is_empty())
        .map(PathBuf::from)
        .collect();
    // The list decides what is overwritten and removed: it must not point outside.
    match files.iter().find(|file| !stays_inside(file)) {
        Some(file) => Err(Error::refusal(format!(
            "{} names {}, which is outside the toolkit",
            path.display(),
            file.display()
        ))),
        None => Ok(Some(files)),
    }
}

fn stays_inside(file: &Path) -> bool {
    file.components()
        .all(|part| matches!(part, Component::Normal(_)))
}

/// A new directory: copied beside its place and moved there, so that it is
/// either complete or absent.
fn copy_fresh(from: &Path, target: &Path, files: &BTreeSet<PathBuf>) -> Result<(), Error> {
    let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
        return copy_into(from, target, files);
    };
    let staging = parent.join(format!(
        ".{}.cannery-{}",
        name.to_string_lossy(),
        process::id()
    ));
    let moved = copy_into(from, &staging, files).and_then(|()| {
        // Moving onto an empty directory replaces it.
        fs::rename(&staging, target)
            .map_err(|cause| Error::io(format!("cannot create {}", target.display()), &cause))
    });
    if moved.is_err() {
        // What the failed copy left; the failure itself is what gets told.
        let _ = fs::remove_dir_all(&staging);
    }
    moved
}

/// Copies the listed files. Each one replaces its predecessor in one step, so
/// that programs that run on the old files are not disturbed.
fn copy_into(from: &Path, target: &Path, files: &BTreeSet<PathBuf>) -> Result<(), Error> {
    make_directory(target)?;
    for file in files {
        make_parents(target, file)?;
        copy_one(&from.join(file), &target.join(file))?;
    }
    Ok(())
}

/// Makes the directories above `file`. None of them may be a link: it could
/// lead out of the target, into somebody else's files.
fn make_parents(target: &Path, file: &Path) -> Result<(), Error> {
    let mut directory = target.to_path_buf();
    for part in file.parent().into_iter().flat_map(Path::components) {
        directory.push(part);
        match fs::symlink_metadata(&directory) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => {
                return Err(Error::refusal(format!(
                    "{} is in the way: a directory is needed there",
                    directory.display()
                )));
            }
            Err(_) => make_directory(&directory)?,
        }
    }
    Ok(())
}

fn make_directory(directory: &Path) -> Result<(), Error> {
    fs::create_dir_all(directory)
        .map_err(|cause| Error::io(format!("cannot create {}", directory.display()), &cause))
}

fn copy_one(from: &Path, to: &Path) -> Result<(), Error> {
    let kind = fs::symlink_metadata(from)
        .map_err(|cause| Error::io(format!("cannot read {}", from.display()), &cause))?
        .file_type();
    let new = sibling(to);
    let copied = copy_as(kind, from, &new).and_then(|()| fs::rename(&new, to));
    copied.map_err(|cause| {
        // Best effort: the copy itself is what failed and what gets told.
        let _ = fs::remove_file(&new);
        Error::io(format!("cannot write {}", to.display()), &cause)
    })
}

fn copy_as(kind: FileType, from: &Path, to: &Path) -> io::Result<()> {
    if kind.is_symlink() {
        symlink(fs::read_link(from)?, to)
    } else {
        fs::copy(from, to).map(drop)
    }
}

/// A name beside `file` that nothing else uses.
fn sibling(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".{name}.cannery-{}", process::id()))
}

/// Removes what an older toolkit had and this one has not.
fn remove_stale(
    target: &Path,
    old: &BTreeSet<PathBuf>,
    new: &BTreeSet<PathBuf>,
) -> Result<(), Error> {
    for file in old.difference(new) {
        let path = target.join(file);
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
            Err(cause) => {
                return Err(Error::io(
                    format!("cannot remove {}", path.display()),
                    &cause,
                ));
            }
        }
        // Directories go when they are empty; one that is not stays, silently.
        let mut above = file.parent();
        while let Some(directory) = above.filter(|directory| !directory.as_os_str().is_empty()) {
            if fs::remove_dir(target.join(directory)).is_err() {
                break;
            }
            above = directory.parent();
        }
    }
    Ok(())
}

/// The target with links in its existing part resolved.
fn absolute(directory: &Path) -> Result<PathBuf, Error> {
    let cannot =
        |cause: &io::Error| Error::io(format!("cannot use {}", directory.display()), cause);
    if directory.as_os_str().is_empty() {
        return Err(Error::refusal("the directory to install in has no name"));
    }
    let full = std::path::absolute(directory).map_err(|cause| cannot(&cause))?;
    if let Ok(found) = full.canonicalize() {
        return Ok(found);
    }
    match (full.parent().map(Path::canonicalize), full.file_name()) {
        (Some(Ok(parent)), Some(name)) => Ok(parent.join(name)),
        (Some(Err(_)), Some(_)) => Ok(full),
        _ => Err(Error::refusal(format!(
            "cannot install in {}",
            directory.display()
        ))),
    }
}

fn overlaps(prefix: &Path, target: &Path) -> bool {
    target.starts_with(prefix) || prefix.starts_with(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_cannot_lead_outside() {
        assert!(stays_inside(Path::new("lib64/libascendcl.so")));
        for bad in ["/etc/passwd", "../x", "lib64/../../x", "./x"] {
            assert!(!stays_inside(Path::new(bad)), "{bad}");
        }
    }

    #[test]
    fn prefix_and_target_must_be_apart() {
        let prefix = Path::new("/p/q");
        assert!(overlaps(prefix, Path::new("/p/q")));
        assert!(overlaps(prefix, Path::new("/p/q/r")));
        assert!(overlaps(prefix, Path::new("/p")));
        assert!(!overlaps(prefix, Path::new("/p/qq")));
    }
}
