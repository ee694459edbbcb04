//! The prefix the tool belongs to.

use std::env;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A directory with the library in `lib64/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prefix {
    root: PathBuf,
}

impl Prefix {
    /// Finds the prefix around the running executable: `PREFIX/bin/cannery`,
    /// or the build tree (`target/release/cannery` beside `target/prefix`).
    ///
    /// # Errors
    ///
    /// When neither place holds the library; the text names both.
    pub(crate) fn of_this_tool() -> Result<Self, Error> {
        let tool = env::current_exe()
            .and_then(|path| path.canonicalize())
            .map_err(|cause| Error::io("cannot find my own executable", &cause))?;
        let above = tool.parent().and_then(Path::parent).unwrap_or(&tool);
        let places = [above.to_path_buf(), above.join("prefix")];
        places
            .iter()
            .map(|root| Self { root: root.clone() })
            .find(|prefix| prefix.library().is_file())
            .ok_or_else(|| {
                Error::refusal(format!(
                    "no toolkit around {}: looked for lib64/libascendcl.so in {} and {} \
                     (in a source tree, `make build` makes one)",
                    tool.display(),
                    places[0].display(),
                    places[1].display(),
                ))
            })
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
