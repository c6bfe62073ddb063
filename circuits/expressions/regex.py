"""Java regular expressions as RE2 patterns of the same meaning, or the reason why there is none."""
