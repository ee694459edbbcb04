//! The prefix the tool belongs to.

use std::env;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Names the toolkit of a tool that lies alone.
const VARIABLE: &str = "CANNERY_PREFIX";

/// A directory with the library in `lib64/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prefix {
    root: PathBuf,
}

impl Prefix {
    /// Finds the prefix around the running executable: `PREFIX/bin/cannery`,
    /// or the build tree (`target/release/cannery` beside `target/prefix`). A
    /// tool that lies alone (`cargo install`) takes that of `CANNERY_PREFIX`.
    ///
    /// # Errors
    ///
    /// When no place holds the library; the text names all, and how to get one.
    pub(crate) fn of_this_tool() -> Result<Self, Error> {
        let tool = env::current_exe()
            .and_then(|path| path.canonicalize())
            .map_err(|cause| Error::io("cannot find my own executable", &cause))?;
        let above = tool.parent().and_then(Path::parent).unwrap_or(&tool);
        let mut places = vec![above.to_path_buf(), above.join("prefix")];
        if let Some(named) = env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
            let named = PathBuf::from(named);
            places.push(named.canonicalize().unwrap_or(named));
        }
        places
            .iter()
            .map(|root| Self { root: root.clone() })
            .find(|prefix| prefix.library().is_file())
            .ok_or_else(|| Error::refusal(nothing_found(&tool, &places)))
    }

    /// The directory itself.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The directory of the shared libraries.
    pub(crate) fn libraries(&self) -> PathBuf {
        self.root.join("lib64")
    }

    /// The library that holds the runtime.
    pub(crate) fn library(&self) -> PathBuf {
        self.libraries().join("libascendcl.so")
    }

    /// The directory of the Python module.
    pub(crate) fn python(&self) -> PathBuf {
        self.root.join("python")
    }

    /// The place of an operator package; there are no operators in it.
    pub(crate) fn operators(&self) -> PathBuf {
        self.root.join("opp")
    }

    /// The libraries that refuse every operator.
    pub(crate) fn refusing_libraries(&self) -> PathBuf {
        self.operators().join("lib64")
    }

    /// The directory of this tool.
    pub(crate) fn tools(&self) -> PathBuf {
        self.root.join("bin")
    }
}

/// The text of a tool without a library: where it looked, and how to get one.
fn nothing_found(tool: &Path, places: &[PathBuf]) -> String {
    let looked: Vec<String> = places
        .iter()
        .map(|place| place.join("lib64").display().to_string())
        .collect();
    format!(
        "no libascendcl.so belongs to this tool ({}): looked in {}. To get one: `make build` in a \
         checkout of Cannery (then use target/prefix/bin/cannery, or copy all of it with \
         `target/prefix/bin/cannery install DIR`), or `pip install .` there. To use one that \
         exists: {VARIABLE}=DIR, the directory with lib64 in it",
        tool.display(),
        looked.join(", "),
    )
}
