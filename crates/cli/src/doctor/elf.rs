//! What a program file tells the loader: the libraries it names and the places it wants searched.

use std::path::{Path, PathBuf};

const DYNAMIC: u32 = 2;
const LOAD: u32 = 1;
const NEEDED: u64 = 1;
const STRING_TABLE: u64 = 5;
const RPATH: u64 = 15;
const RUNPATH: u64 = 29;

/// The parts of a dynamic section that decide which library is loaded.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Dynamic {
    /// Libraries named.
    pub(super) needed: Vec<String>,
    /// Searched before `LD_LIBRARY_PATH`, unless there is a RUNPATH.
    pub(super) rpath: Vec<PathBuf>,
    /// Searched after it.
    pub(super) runpath: Vec<PathBuf>,
}

/// Reads a 64-bit little-endian file; `None` when it is anything else, or damaged.
pub(super) fn dynamic(file: &[u8], origin: &Path) -> Option<Dynamic> {
    if file.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let table = usize::try_from(number(file, 32, 8)?).ok()?;
    let size = usize::try_from(number(file, 54, 2)?).ok()?;
    let count = usize::try_from(number(file, 56, 2)?).ok()?;
    let headers: Vec<usize> = (0..count)
        .map(|index| table.checked_add(index.checked_mul(size)?))
        .collect::<Option<_>>()?;
    let kind = |at: usize| number(file, at, 4).and_then(|kind| u32::try_from(kind).ok());
    let Some(section) = headers
        .iter()
        .copied()
        .find(|at| kind(*at) == Some(DYNAMIC))
    else {
        return Some(Dynamic::default());
    };
    let start = usize::try_from(number(file, section + 8, 8)?).ok()?;
    let length = usize::try_from(number(file, section + 32, 8)?).ok()?;
    let entries: Vec<(u64, u64)> = (0..length / 16)
        .map_while(|index| {
            let at = start.checked_add(index * 16)?;
            Some((number(file, at, 8)?, number(file, at + 8, 8)?))
        })
        .take_while(|(tag, _)| *tag != 0)
        .collect();
    let (_, address) = entries.iter().find(|(tag, _)| *tag == STRING_TABLE)?;
    let strings = headers
        .iter()
        .filter(|at| kind(**at) == Some(LOAD))
        .find_map(|at| {
            let (offset, from) = (number(file, at + 8, 8)?, number(file, at + 16, 8)?);
            let within = address.checked_sub(from)?;
            (within < number(file, at + 32, 8)?).then_some(offset.checked_add(within)?)
        })?;
    let mut found = Dynamic::default();
    for (tag, value) in entries {
        match tag {
            NEEDED => found.needed.push(text(file, strings, value)?),
            RPATH => found.rpath = places(&text(file, strings, value)?, origin),
            RUNPATH => found.runpath = places(&text(file, strings, value)?, origin),
            _ => {}
        }
    }
    Some(found)
}

/// A little-endian number of `size` bytes.
fn number(file: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = file.get(at..at.checked_add(size)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
    )
}

fn text(file: &[u8], strings: u64, at: u64) -> Option<String> {
    let rest = file.get(usize::try_from(strings.checked_add(at)?).ok()?..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    Some(String::from_utf8_lossy(rest.get(..end)?).into_owned())
}

/// The directories of a search path, with `$ORIGIN` filled in.
fn places(path: &str, origin: &Path) -> Vec<PathBuf> {
    let origin = origin.to_string_lossy();
    path.split(':')
        .map(|place| {
            place
                .replace("${ORIGIN}", &origin)
                .replace("$ORIGIN", &origin)
        })
        .map(PathBuf::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::dynamic;
    use std::path::Path;

    #[test]
    fn this_test_program_names_the_c_library() {
        let tool = std::env::current_exe().expect("a path");
        let file = std::fs::read(&tool).expect("readable");
        let found = dynamic(&file, Path::new("/x")).expect("an ELF file");
        assert!(
            found.needed.iter().any(|name| name.starts_with("libc.so")),
            "{found:?}"
        );
    }

    #[test]
    fn damaged_files_are_no_reason_to_stop() {
        let tool = std::env::current_exe().expect("a path");
        let file = std::fs::read(&tool).expect("readable");
        assert_eq!(dynamic(b"#!/bin/sh\n", Path::new("/")), None);
        for length in [0, 5, 6, 40, 64, 100, 1000] {
            let _ = dynamic(&file[..length], Path::new("/"));
        }
        let mut wild = file[..4096].to_vec();
        wild[24..].fill(0xff);
        assert_eq!(dynamic(&wild, Path::new("/")), None);
    }
}
