"""Exists so that `import acl.blas` works; empty."""
