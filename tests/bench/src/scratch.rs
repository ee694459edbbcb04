//! Directories that go away again.

use std::path::{Path, PathBuf};

/// Removed with everything in it when it goes.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// A new directory for temporary files.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn new(what: &str) -> Result<Scratch, String> {
        let name = format!("cannery-bench-{what}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        match std::fs::create_dir_all(&path) {
            Ok(()) => Ok(Scratch(path)),
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Left behind at worst.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
