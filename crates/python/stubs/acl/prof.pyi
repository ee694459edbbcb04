"""Exists so that `import acl.prof` works; empty."""
