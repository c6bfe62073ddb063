"""CAST: which pairs of types there are, and the kernel for each."""
