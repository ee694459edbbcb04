//! What shells and readers of manuals get: completions and man pages, made from the command line
//! definition itself.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::arguments::{Arguments, CompletionsOptions, ManOptions};
use crate::error::Error;

/// Prints the completion script of a shell.
///
/// # Errors
///
/// Standard output cannot be written.
pub(crate) fn completions(options: &CompletionsOptions) -> Result<(), Error> {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    clap_complete::generate(options.shell, &mut command, "cannery", &mut script);
    let mut out = io::stdout().lock();
    out.write_all(&script)?;
    Ok(out.flush()?)
}

/// Prints the man page, or writes one for the tool and one for each subcommand into a directory.
///
/// # Errors
///
/// The directory or standard output cannot be written.
pub(crate) fn man(options: &ManOptions) -> Result<(), Error> {
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    if let Some(directory) = &options.directory {
        fs::create_dir_all(directory)
            .map_err(|cause| Error::io(format!("cannot make {}", directory.display()), &cause))?;
        return write_pages(&command, directory);
    }
    let mut out = io::stdout().lock();
    out.write_all(&page(command)?)?;
    Ok(out.flush()?)
}

fn write_pages(command: &clap::Command, directory: &Path) -> Result<(), Error> {
    let subcommands = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    for command in std::iter::once(command).chain(subcommands) {
        let name = command
            .get_display_name()
            .unwrap_or_else(|| command.get_name());
        let path = directory.join(format!("{name}.1"));
        let text = page(command.clone())?;
        fs::write(&path, text)
            .map_err(|cause| Error::io(format!("cannot write {}", path.display()), &cause))?;
    }
    Ok(())
}

fn page(command: clap::Command) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    Man::new(command).render(&mut text)?;
    Ok(text)
}
