"""The documentation site, made of the tree: `make docs`."""
