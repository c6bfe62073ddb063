"""Strings and bytes as digits, digests and other encodings."""
