"""Exists so that `import acl.fv` works; empty."""
