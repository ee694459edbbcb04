//! C programs that a row needs as processes of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::scratch::Scratch;

/// Compiles a program of one file. It lives as long as its directory.
pub(crate) fn build(name: &str, text: &str) -> Result<(Scratch, PathBuf), String> {
    let directory = Scratch::new(name)?;
    let source = directory.path().join(format!("{name}.c"));
    let program = directory.path().join(name);
    std::fs::write(&source, text).map_err(|error| error.to_string())?;
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let output = Command::new(&compiler)
        .args(["-std=c99", "-D_POSIX_C_SOURCE=200809L", "-O2", "-o"])
        .args([&program, &source])
        .arg("-ldl")
        .output()
        .map_err(|error| format!("{}: {error}", Path::new(&compiler).display()))?;
    if output.status.success() {
        Ok((directory, program))
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}
