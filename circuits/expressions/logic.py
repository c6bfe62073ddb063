"""AND, OR and NOT in three-valued logic."""
