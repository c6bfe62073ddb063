"""Parts of strings by position."""
