"""What is said of a result's state, and the column that says it."""

STATE = "__state"
EARLY, COMPLETE, FINAL = "early", "complete", "final"
