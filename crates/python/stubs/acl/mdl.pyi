"""Exists so that `import acl.mdl` works; empty."""
