//! The environment that makes a program find and configure the library.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::arguments::SettingOptions;
use crate::prefix::Prefix;

/// The variables to set, in the order in which they are printed.
///
/// `LD_LIBRARY_PATH`, `PYTHONPATH` and `PATH` get the prefix in front of what
/// they hold already; the prefix's place is given, not added twice. The
/// libraries that refuse operators come last in `LD_LIBRARY_PATH`, and an
/// `ASCEND_OPP_PATH` of the user stays: real operators win.
pub(crate) fn variables(prefix: &Prefix, settings: &SettingOptions) -> Vec<(String, OsString)> {
    let root = prefix.root().as_os_str().to_os_string();
    let mut variables = vec![
        ("ASCEND_HOME_PATH".to_owned(), root.clone()),
        ("ASCEND_TOOLKIT_HOME".to_owned(), root),
    ];
    for (name, directory) in [
        ("LD_LIBRARY_PATH", prefix.libraries()),
        ("PYTHONPATH", prefix.python()),
        ("PATH", prefix.tools()),
    ] {
        let mut value = in_front(directory, env::var_os(name).as_deref());
        if name == "LD_LIBRARY_PATH" {
            value = behind(value, prefix.refusing_libraries());
        }
        variables.push((name.to_owned(), value));
    }
    if env::var_os("ASCEND_OPP_PATH").is_none_or(|path| path.is_empty()) {
        variables.push(("ASCEND_OPP_PATH".to_owned(), prefix.operators().into()));
    }
    for setting in settings.given() {
        variables.push((setting.variable.to_owned(), setting.value.into()));
    }
    variables
}

/// A search path with `directory` first and the other entries behind it.
///
/// An unset or empty path stays free of empty entries: the loader and Python
/// would read them as the current directory.
fn in_front(directory: PathBuf, path: Option<&OsStr>) -> OsString {
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        return directory.into_os_string();
    };
    let rest: Vec<PathBuf> = env::split_paths(path)
        .filter(|entry| *entry != directory)
        .collect();
    let mut joined = directory.into_os_string();
    for entry in rest {
        joined.push(":");
        joined.push(entry);
    }
    joined
}

/// A search path with `directory` last.
fn behind(path: OsString, directory: PathBuf) -> OsString {
    let mut joined = OsString::new();
    for entry in env::split_paths(&path).filter(|entry| *entry != directory) {
        joined.push(entry);
        joined.push(":");
    }
    joined.push(directory);
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(path: Option<&str>) -> OsString {
        in_front(PathBuf::from("/p/lib64"), path.map(OsStr::new))
    }

    #[test]
    fn an_unset_path_becomes_the_directory_alone() {
        assert_eq!(joined(None), "/p/lib64");
        assert_eq!(joined(Some("")), "/p/lib64");
    }

    #[test]
    fn the_directory_goes_first_and_is_not_repeated() {
        assert_eq!(joined(Some("/a:/b")), "/p/lib64:/a:/b");
        assert_eq!(joined(Some("/a:/p/lib64:/b")), "/p/lib64:/a:/b");
        assert_eq!(joined(Some("/p/lib64")), "/p/lib64");
    }

    #[test]
    fn the_last_directory_stays_last() {
        let joined = |path: &str| behind(path.into(), PathBuf::from("/p/opp"));
        assert_eq!(joined("/p/lib64"), "/p/lib64:/p/opp");
        assert_eq!(joined("/p/lib64:/p/opp:/a"), "/p/lib64:/a:/p/opp");
    }

    #[test]
    fn entries_of_the_user_keep_their_meaning() {
        assert_eq!(joined(Some("/a::/b")), "/p/lib64:/a::/b");
    }
}
