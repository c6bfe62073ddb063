"""Structs, arrays and maps: building them and reaching into them."""
