"""Exists so that `import acl.op` works; empty."""
