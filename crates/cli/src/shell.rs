//! `cannery env`: the environment as lines for a POSIX shell.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use crate::arguments::EnvOptions;
use crate::error::Error;
use crate::report::Inquiry;

/// Prints one `export NAME='value'` line for each variable.
///
/// # Errors
///
/// A refused setting; nothing is printed then, so `eval` changes nothing.
pub(crate) fn print_exports(options: &EnvOptions) -> Result<(), Error> {
    let inquiry = Inquiry::new(&options.settings)?;
    let mut lines = Vec::new();
    for (name, value) in &inquiry.variables {
        lines.extend_from_slice(b"export ");
        lines.extend_from_slice(name.as_bytes());
        lines.push(b'=');
        lines.extend_from_slice(&quoted(value));
        lines.push(b'\n');
    }
    let mut out = io::stdout().lock();
    out.write_all(&lines)?;
    Ok(out.flush()?)
}

/// A value in single quotes. Inside them a POSIX shell takes every byte as it
/// is, except the single quote, which is written outside as `\'`.
pub(crate) fn quoted(value: &OsStr) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for &byte in value.as_bytes() {
        if byte == b'\'' {
            quoted.extend_from_slice(br"'\''");
        } else {
            quoted.push(byte);
        }
    }
    quoted.push(b'\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::quoted;
    use std::ffi::OsStr;

    #[test]
    fn quotes_survive() {
        assert_eq!(quoted(OsStr::new("")), b"''");
        assert_eq!(quoted(OsStr::new("a b$c`d\"e\\")), br#"'a b$c`d"e\'"#);
        assert_eq!(quoted(OsStr::new("it's")), br"'it'\''s'");
    }
}
